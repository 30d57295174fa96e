// RUN: netc-opt --net-join-updates %s | FileCheck %s

// What is done alike with several tensors is one kernel, of which a table has first blocks, extents, and places of the operands.
// CHECK: func.func private @updates_1(%{{.*}}: !llvm.ptr) attributes {net.threads = 256 : i64}
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-4: arith.mulf
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
// CHECK: } else {
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: memref.global "private" constant @updates_1_table : memref<10xi64> = dense<[0, 1, 16, 20, 64, 128, 512, 512, 0, 256]>
// It stands where the last of them stood. What is written in between by another op is not waited with.
// CHECK-LABEL: func.func @netc_step
// CHECK-COUNT-2: linalg.generic
// CHECK: call @updates_1
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @netc_step(%arena: memref<1024xi8>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %a = memref.view %arena[%c0][] : memref<1024xi8> to memref<16xf32>
  %b = memref.view %arena[%c64][] : memref<1024xi8> to memref<16xf32>
  %x = memref.view %arena[%c128][] : memref<1024xi8> to memref<4x5xf32>
  %y = memref.view %arena[%c256][] : memref<1024xi8> to memref<4x5xf32>
  %factor = memref.view %arena[%c512][] : memref<1024xi8> to memref<f32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%b, %factor : memref<16xf32>, memref<f32>) outs(%a : memref<16xf32>) {
  ^bb0(%in: f32, %by: f32, %old: f32):
    %p = arith.mulf %in, %by : f32
    linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%b : memref<16xf32>) outs(%a : memref<16xf32>) {
  ^bb0(%in: f32, %old: f32):
    %p = arith.negf %in : f32
    linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%b, %factor : memref<16xf32>, memref<f32>) outs(%a : memref<16xf32>) {
  ^bb0(%in: f32, %by: f32, %old: f32):
    %p = arith.mulf %in, %by : f32
    linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %factor : memref<4x5xf32>, memref<f32>) outs(%y : memref<4x5xf32>) {
  ^bb0(%in: f32, %by: f32, %old: f32):
    %p = arith.mulf %in, %by : f32
    linalg.yield %p : f32
  }
  return
}
