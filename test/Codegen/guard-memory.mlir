// RUN: netc-opt --net-plan-memory=apart=true --net-guard-memory --canonicalize %s | FileCheck %s

// Before and behind each tensor lie as many bytes as it has, in lines of 64, and only
// what is a tensor's may be used while the step runs.
// CHECK: net.slots = [#net.slot<name = "x", role = input, upperBound = 7, type = memref<3xi64>, offset = 64>]
memref.global "private" @input.x : memref<3xi64> = uninitialized {net.slot = #net.slot<name = "x", role = input, upperBound = 7>}

// CHECK: func.func @netc_step(%[[ARENA:.*]]: memref<2688xi8>)
// CHECK: %[[START:.*]] = memref.extract_aligned_pointer_as_index %[[ARENA]]
// CHECK: call @__asan_poison_memory_region(%[[START]], %c2688)
// CHECK-DAG: %[[X:.*]] = arith.addi %[[START]], %c64 : index
// CHECK-DAG: call @__asan_unpoison_memory_region(%[[X]], %c24)
// CHECK-DAG: %[[A:.*]] = arith.addi %[[START]], %c704 : index
// CHECK-DAG: call @__asan_unpoison_memory_region(%[[A]], %c512)
// CHECK-DAG: %[[B:.*]] = arith.addi %[[START]], %c2048 : index
// CHECK-DAG: call @__asan_unpoison_memory_region(%[[B]], %c260)
// CHECK: linalg.fill
// CHECK: linalg.fill
// CHECK: call @__asan_unpoison_memory_region(%[[START]], %c2688)
// CHECK-NEXT: return
func.func @netc_step() {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : i64
  %x = memref.get_global @input.x : memref<3xi64>
  linalg.fill ins(%one : i64) outs(%x : memref<3xi64>)
  %a = memref.alloc() : memref<128xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<128xf32>)
  // Its place could be that of %a, which is not used any more.
  %b = memref.alloc() : memref<65xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<65xf32>)
  return
}
