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

// Loops that add rows to the rows of a table that `ids` name: threads differ in the column, along which alone iterations
// write different elements, and each adds its numbers in the order of the rows. Counters are added to in any order.
// CHECK-LABEL: func.func private @rows
// CHECK-SAME: net.threads = 16 :
// CHECK: scf.if
// CHECK: arith.remui
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func private @rows(%ids: memref<8xindex>, %dy: memref<8x16xf32>, %table: memref<100x16xf32>, %counter: memref<1xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1 : i64
  scf.for %t = %c0 to %c8 step %c1 {
    scf.for %c = %c0 to %c16 step %c1 {
      %row = memref.load %ids[%t] : memref<8xindex>
      %old = memref.load %table[%row, %c] : memref<100x16xf32>
      %more = memref.load %dy[%t, %c] : memref<8x16xf32>
      %new = arith.addf %old, %more : f32
      memref.store %new, %table[%row, %c] : memref<100x16xf32>
      %count = memref.atomic_rmw addi %one, %counter[%c0] : (i64, memref<1xi64>) -> i64
    }
  }
  return
}

// Places sorted by row: a thread for each place and column, of which the first of a row does all of the row.
// CHECK-LABEL: func.func private @sorted
// CHECK-SAME: net.threads = 128 :
// CHECK: %[[ROW:.*]] = memref.load %{{.*}} : memref<8xi64>
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq
// CHECK: %[[DIFFERS:.*]] = arith.cmpi ne, %[[ROW]]
// CHECK: %[[BEGINS:.*]] = arith.ori %[[IS_FIRST]], %[[DIFFERS]]
// CHECK: scf.if %[[BEGINS]]
// CHECK: scf.while
// CHECK: arith.cmpi eq, %[[ROW]]
// CHECK: scf.condition
// CHECK: memref.store %{{.*}} : memref<100x16xf32>
func.func private @sorted(%rows: memref<8xi64>, %dy: memref<8x16xf32>, %table: memref<100x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %t = %c0 to %c8 step %c1 {
    scf.for %c = %c0 to %c16 step %c1 {
      %number = memref.load %rows[%t] : memref<8xi64>
      %row = arith.index_cast %number : i64 to index
      %old = memref.load %table[%row, %c] : memref<100x16xf32>
      %more = memref.load %dy[%t, %c] : memref<8x16xf32>
      %new = arith.addf %old, %more : f32
      memref.store %new, %table[%row, %c] : memref<100x16xf32>
    }
  } {net.segments}
  return
}

// What an iteration reads of the results of others keeps its loop in order, here that of the choices of a row; rows are spread.
// CHECK-LABEL: func.func private @choices
// CHECK-SAME: net.threads = 8 :
// CHECK: scf.if
// CHECK: scf.for
// CHECK: scf.for
func.func private @choices(%scores: memref<8x4xf32>, %choices: memref<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %t = %c0 to %c8 step %c1 {
    scf.for %k = %c0 to %c4 step %c1 {
      %sum = scf.for %before = %c0 to %k step %c1 iter_args(%s = %zero) -> (f32) {
        %taken = memref.load %choices[%t, %before] : memref<8x4xf32>
        %more = arith.addf %s, %taken : f32
        scf.yield %more : f32
      }
      %score = memref.load %scores[%t, %k] : memref<8x4xf32>
      %choice = arith.subf %score, %sum : f32
      memref.store %choice, %choices[%t, %k] : memref<8x4xf32>
    }
  }
  return
}

// A loop of which iterations write one element is one thread's, unless its iterations are known to be independent.
// CHECK-LABEL: func.func private @loop
// CHECK-SAME: net.threads = 1 :
// CHECK-NOT: nvvm.read
// CHECK-LABEL: func.func private @turns
// CHECK-SAME: net.threads = 8 :
// CHECK: scf.if
// CHECK-NOT: scf.for
func.func private @loop(%ids: memref<8xindex>, %a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %at = memref.load %ids[%i] : memref<8xindex>
    memref.store %x, %a[%at] : memref<8xf32>
  }
  return
}
func.func private @turns(%ids: memref<8xindex>, %a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %at = memref.load %ids[%i] : memref<8xindex>
    memref.store %x, %a[%at] : memref<8xf32>
  } {net.independent}
  return
}
