// RUN: not netc-opt --net-widen-float16 -split-input-file %s | FileCheck %s
// RUN: not netc-opt --net-widen-float16=perturbed -split-input-file %s | FileCheck %s --check-prefix=PERTURBED
// RUN: not netc-opt --net-widen-float16=inputs -split-input-file %s | FileCheck %s --check-prefix=INPUTS
// RUN: not netc-opt --net-widen-float16 -split-input-file %s 2>&1 | FileCheck %s --check-prefix=ERROR

// Slots, tensors and constants are f64, and what was rounded is as exact as it
// was computed.
// CHECK: memref.global @parameter.w : memref<4xf64>
// CHECK: func.func @step(%[[X:.*]]: tensor<4xf64>, %[[OUT:.*]]: tensor<4xf64>) -> tensor<4xf64>
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[E:.*]]: f64, %{{.*}}: f64):
// CHECK-NEXT: %[[C:.*]] = arith.constant 5.000000e-01 : f64
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[E]], %[[C]] : f64
// CHECK-NEXT: linalg.yield %[[Y]] : f64
// A half unit of bf16, whose mantissa has 8 bits, is 2^-8 of a number.
// PERTURBED: func.func private @netc_perturb(f64, f64, f64) -> f64
// PERTURBED: %[[Y:.*]] = arith.mulf
// PERTURBED-NEXT: %[[UNIT:.*]] = arith.constant 3.906250e-03 : f64
// PERTURBED-NEXT: %[[LEAST:.*]] = arith.constant 4.59{{[0-9]*}}E-41 : f64
// PERTURBED-NEXT: %[[P:.*]] = func.call @netc_perturb(%[[Y]], %[[UNIT]], %[[LEAST]])
// PERTURBED-NEXT: linalg.yield %[[P]] : f64
#id = affine_map<(d0) -> (d0)>
memref.global @parameter.w : memref<4xbf16>
func.func @step(%x: tensor<4xbf16>, %out: tensor<4xbf16>) -> tensor<4xbf16> {
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xbf16>) outs(%out : tensor<4xbf16>) {
  ^bb0(%e: bf16, %o: bf16):
    %wide = arith.extf %e : bf16 to f64
    %c = arith.constant 0.5 : bf16
    %d = arith.extf %c : bf16 to f64
    %p = arith.mulf %wide, %d : f64
    %r = arith.truncf %p : f64 to bf16
    linalg.yield %r : bf16
  } -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// -----

func.func @f32(%x: f32) -> bf16 {
  // ERROR: error: rounds what is not in f64
  %r = arith.truncf %x : f32 to bf16
  return %r : bf16
}

// -----

// An operand of a product in tf32, whose half unit is 2^-11 of a number, is
// perturbed once, not for each product.
// INPUTS-LABEL: func.func @product(
// INPUTS-SAME: %[[X:.*]]: tensor<2x3xf64>, %[[Y:.*]]: tensor<3x4xf64>
// INPUTS: %[[P:.*]] = linalg.map ins(%[[X]] : tensor<2x3xf64>)
// INPUTS: arith.constant 4.8828125E-4 : f64
// INPUTS: func.call @netc_perturb
// INPUTS: %[[Q:.*]] = linalg.map ins(%[[Y]] : tensor<3x4xf64>)
// INPUTS: linalg.generic {{.*}} ins(%[[P]], %[[Q]] : tensor<2x3xf64>, tensor<3x4xf64>)
func.func @product(%x: tensor<2x3xf64>, %y: tensor<3x4xf64>, %out: tensor<2x4xf64>) -> tensor<2x4xf64> {
  %z = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<2x3xf64>, tensor<3x4xf64>) outs(%out : tensor<2x4xf64>) {
  ^bb0(%a: f64, %b: f64, %sum: f64):
    %p = arith.mulf %a, %b {net.input_precision = tf32} : f64
    %s = arith.addf %sum, %p : f64
    linalg.yield %s : f64
  } -> tensor<2x4xf64>
  return %z : tensor<2x4xf64>
}
