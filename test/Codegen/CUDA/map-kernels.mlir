// RUN: netc-opt --net-map-kernels %s | FileCheck %s

// A thread for each element of the result, which starts it and adds up.
// CHECK-LABEL: func.func private @product
// CHECK-SAME: net.threads = 15
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[IS_ONE:.*]] = arith.cmpi ult
// CHECK: scf.if %[[IS_ONE]]
// CHECK: memref.store %{{.*}} : memref<3x5xf32>
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: arith.mulf
// CHECK: memref.store %{{.*}} : memref<3x5xf32>
func.func private @product(%a: memref<3x4xf32>, %b: memref<4x5xf32>, %c: memref<3x5xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<3x5xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<3x4xf32>, memref<4x5xf32>) outs(%c : memref<3x5xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Where iterations meet in an element, as those of overlapping windows, only what
// keeps them apart is spread: here the rows.
// CHECK-LABEL: func.func private @windows
// CHECK-SAME: net.threads = 2
// CHECK: scf.if
// CHECK: scf.for
// CHECK: scf.for
func.func private @windows(%dy: memref<2x3xf32>, %shape: memref<3xf32>, %dx: memref<2x5xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, o, k) -> (n, o)>, affine_map<(n, o, k) -> (k)>, affine_map<(n, o, k) -> (n, o + k)>],
                  iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%dy, %shape : memref<2x3xf32>, memref<3xf32>) outs(%dx : memref<2x5xf32>) {
  ^bb0(%more: f32, %none: f32, %sum: f32):
    %s = arith.addf %sum, %more : f32
    linalg.yield %s : f32
  }
  return
}

// A loop is one thread's, unless its iterations are known to be independent.
// CHECK-LABEL: func.func private @loop
// CHECK-SAME: net.threads = 1 :
// CHECK-NOT: nvvm.read
// CHECK-LABEL: func.func private @turns
// CHECK-SAME: net.threads = 8 :
// CHECK: scf.if
// CHECK-NOT: scf.for
func.func private @loop(%a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %a[%i] : memref<8xf32>
  }
  return
}
func.func private @turns(%a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %a[%i] : memref<8xf32>
  } {net.independent}
  return
}
