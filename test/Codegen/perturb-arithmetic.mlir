// RUN: netc-opt --net-perturb-arithmetic %s | FileCheck %s

// What may be rounded passes through the function, in f64; choosing a larger
// one, an absolute value and f32 do not.
// CHECK: func.func private @netc_perturb(f64, f64, f64) -> f64
// CHECK: func.func @kernel(%[[X:.*]]: f64, %[[Y:.*]]: f32)
// CHECK-NEXT: %[[E:.*]] = math.exp %[[X]] : f64
// CHECK-NEXT: %[[UNIT:.*]] = arith.constant 5.9604644775390625E-8 : f64
// CHECK-NEXT: %[[LEAST:.*]] = arith.constant 7.0064923216240854E-46 : f64
// CHECK-NEXT: %[[P:.*]] = call @netc_perturb(%[[E]], %[[UNIT]], %[[LEAST]])
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[X]] : f64
// CHECK-NEXT: %[[UNIT:.*]] = arith.constant 5.9604644775390625E-8 : f64
// CHECK-NEXT: %[[LEAST:.*]] = arith.constant 7.0064923216240854E-46 : f64
// CHECK-NEXT: %[[Q:.*]] = call @netc_perturb(%[[S]], %[[UNIT]], %[[LEAST]])
// CHECK-NEXT: %[[M:.*]] = arith.maximumf %[[Q]], %[[P]] : f64
// CHECK-NEXT: %[[A:.*]] = math.absf %[[M]] : f64
// CHECK-NEXT: %[[F:.*]] = arith.mulf %[[Y]], %[[Y]] : f32
// CHECK-NEXT: return %[[A]], %[[F]]
func.func @kernel(%x: f64, %y: f32) -> (f64, f32) {
  %e = math.exp %x : f64
  %s = arith.addf %e, %x : f64
  %m = arith.maximumf %s, %e : f64
  %a = math.absf %m : f64
  %f = arith.mulf %y, %y : f32
  return %a, %f : f64, f32
}

// A rounding to 16 bits may go either way next to zero.
// CHECK-LABEL: func.func @halves(
// CHECK-SAME: %[[X:.*]]: f64
// CHECK-NEXT: %[[UNIT:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[LEAST:.*]] = arith.constant 2.9802322387695313E-8 : f64
// CHECK-NEXT: %[[P:.*]] = call @netc_perturb(%[[X]], %[[UNIT]], %[[LEAST]])
// CHECK-NEXT: arith.truncf %[[P]] : f64 to f16
func.func @halves(%x: f64) -> f16 {
  %r = arith.truncf %x : f64 to f16
  return %r : f16
}
