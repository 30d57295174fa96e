// RUN: netc-opt --net-plan-memory %s | FileCheck %s

// Slots first; then %b, the largest; then %a and %c in one place, since %a is not
// used any more when %c is made: a view of it was the last.
// CHECK: module attributes {net.memory = #net.memory<arena = 1216, buffers = 1728>
// CHECK-SAME: net.slots = [#net.slot<name = "w", role = parameter, type = memref<16xf32>>, #net.slot<name = "x", role = input, upperBound = 7, type = memref<3xi64>, offset = 64>]
// CHECK-NOT: memref.global
memref.global "private" @parameter.w : memref<16xf32> = uninitialized {net.slot = #net.slot<name = "w", role = parameter>}
memref.global "private" @input.x : memref<3xi64> = uninitialized {net.slot = #net.slot<name = "x", role = input, upperBound = 7>}

// CHECK: func.func @netc_step(%[[ARENA:.*]]: memref<1216xi8>)
// CHECK: %[[C:.*]] = arith.constant 704 : index
// CHECK: memref.view %[[ARENA]][%[[C]]][] : memref<1216xi8> to memref<128xf32>
// CHECK: memref.view %[[ARENA]][%c128][] : memref<1216xi8> to memref<130xf32>
// CHECK: %[[A:.*]] = arith.constant 704 : index
// CHECK: memref.view %[[ARENA]][%[[A]]][] : memref<1216xi8> to memref<128xf32>
// CHECK-NOT: memref.alloc
func.func @netc_step() {
  %zero = arith.constant 0.0 : f32
  %w = memref.get_global @parameter.w : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%w : memref<16xf32>)
  %a = memref.alloc() : memref<128xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<128xf32>)
  %b = memref.alloc() : memref<130xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<130xf32>)
  %part = memref.subview %a[0] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1]>>
  linalg.fill ins(%zero : f32) outs(%part : memref<64xf32, strided<[1]>>)
  %c = memref.alloc() : memref<128xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<128xf32>)
  linalg.fill ins(%zero : f32) outs(%b : memref<130xf32>)
  return
}
