// RUN: netc-opt --net-lower-kernels=isa=avx512 %s | FileCheck %s

#rows = affine_map<(m, n) -> (m, n)>
#columns = affine_map<(m, n) -> (n)>

// A large element-wise op prefetches a line of each large operand, and of the
// result, as far ahead of the vector at hand.
// CHECK-LABEL: func.func @large
// CHECK-SAME:      %[[X:[a-z0-9]*]]: memref<8192x64xf32>, %[[M:[a-z0-9]*]]: memref<64xf32>, %[[Y:[a-z0-9]*]]: memref<8192x64xf32>
// CHECK-DAG:   %[[IN:.*]] = memref.reinterpret_cast %[[X]]
// CHECK-DAG:   %[[MEANS:.*]] = memref.reinterpret_cast %[[M]]
// CHECK-DAG:   %[[OUT:.*]] = memref.reinterpret_cast %[[Y]]
// CHECK:       scf.parallel {{.*}} to (%c8192{{.*}}) step (%c1{{.*}})
// CHECK:         scf.for {{.*}} to %c64{{.*}} step %c16
// CHECK:           arith.addi %{{.*}}, %c[[AHEAD:[0-9]+]]
// CHECK:           memref.prefetch %[[IN]]{{.*}}, read, locality<2>
// CHECK:           vector.load %[[IN]]
// CHECK-NOT:       memref.prefetch
// CHECK:           vector.load %[[MEANS]]
// CHECK:           memref.prefetch %[[OUT]]{{.*}}, write, locality<3>
// CHECK:           arith.subf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK:           vector.store %{{.*}}, %[[OUT]]
func.func @large(%x: memref<8192x64xf32>, %m: memref<64xf32>, %y: memref<8192x64xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : memref<8192x64xf32>, memref<64xf32>) outs(%y : memref<8192x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// What a cache holds is left to LLVM.
// CHECK-LABEL: func.func @small
// CHECK-NOT:   vector
// CHECK:       arith.subf %{{.*}}, %{{.*}} : f32
func.func @small(%x: memref<1024x64xf32>, %m: memref<64xf32>, %y: memref<1024x64xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : memref<1024x64xf32>, memref<64xf32>) outs(%y : memref<1024x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// Sums of rows do likewise, by whole rows.
// CHECK-LABEL: func.func @sums
// CHECK:       scf.parallel
// CHECK:         iter_args
// CHECK:           arith.addi %{{.*}}, %c[[AHEAD]]
// CHECK:           memref.prefetch %{{.*}}, read, locality<2>
// CHECK:           vector.load
// CHECK:           arith.addf
func.func @sums(%x: memref<8192x64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<8192x64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  }
  return
}
