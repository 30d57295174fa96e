// RUN: netc-opt --net-count-arithmetic %s | FileCheck %s

// Of op 1, which is other: an exponential, which is transcendental too, and a
// comparison; choosing is free.
// CHECK: memref.global @netc_counts : memref<6xi64> = dense<0>
// CHECK: scf.for
// CHECK: %[[COUNTS:.*]] = memref.get_global @netc_counts
// CHECK: %[[OTHER:.*]] = arith.constant 4 : index
// CHECK: memref.load %[[COUNTS]][%[[OTHER]]]
// CHECK: arith.constant 2 : i64
// CHECK: memref.store
// CHECK: %[[TRANSCENDENTAL:.*]] = arith.constant 5 : index
// CHECK: memref.load %[[COUNTS]][%[[TRANSCENDENTAL]]]
// CHECK: arith.constant 1 : i64
// CHECK: memref.store
module attributes {net.ops = [#net.op_row<name = "a", op = "linear", phase = forward, matmul = 2, other = 0, transcendental = 0, bytes = 0>,
                               #net.op_row<name = "b", op = "exp", phase = forward, matmul = 0, other = 1, transcendental = 1, bytes = 0>]} {
  func.func @kernel(%x: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.load %x[%i] : memref<8xf32>
      %e = math.exp %a : f32 loc(#op)
      %is = arith.cmpf ogt, %a, %zero : f32 loc(#op)
      %y = arith.select %is, %e, %zero : f32 loc(#op)
      memref.store %y, %x[%i] : memref<8xf32>
    }
    return
  }
}
#unknown = loc(unknown)
#op = loc(fused<1 : i64>[#unknown])
