// RUN: netc-opt %s --net-apply-optimizer --split-input-file --verify-diagnostics | FileCheck %s
// RUN: netc-opt %s --net-apply-optimizer --split-input-file --verify-diagnostics --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOC

// The schedule is computed once. What depends on the parameter, if only by its size,
// is computed for each, all its elements in one vector.
// CHECK-LABEL: net.step @schedule
//       CHECK:   %[[W:.*]] = net.parameter "w"
//       CHECK:   %[[B:.*]] = net.parameter "b"
//       CHECK:   %[[DW:.*]] = net.constant 1.0
//       CHECK:   %[[DB:.*]] = net.constant 2.0
//   CHECK-NOT:   net.gradient
//  CHECK-NEXT:   %[[STEP:.*]] = net.buffer "step" "step" {net.phase = #net<phase update>} : tensor<f32>
//  CHECK-NEXT:   %[[LR0:.*]] = net.constant 1.0{{.*}}phase update
//  CHECK-NEXT:   %[[LR:.*]] = net.div %[[LR0]], %[[STEP]] {{.*}}phase update
//
//  CHECK-NEXT:   %[[W1:.*]] = net.reshape %[[W]] {{.*}}phase update{{.*}} -> tensor<12xf32>
//  CHECK-NEXT:   %[[DW1:.*]] = net.reshape %[[DW]] {{.*}}phase update{{.*}} -> tensor<12xf32>
//  CHECK-NEXT:   %[[SQUARE:.*]] = net.mul %[[DW1]], %[[DW1]]
//  CHECK-NEXT:   %[[NORM:.*]] = net.sum %[[SQUARE]] {{.*}}over = array<i64: 0>{{.*}} : (tensor<12xf32>) -> tensor<f32>
//  CHECK-NEXT:   %[[NORMS:.*]] = net.broadcast %[[NORM]] {{.*}} -> tensor<12xf32>
//  CHECK-NEXT:   %[[UNIT:.*]] = net.div %[[DW1]], %[[NORMS]]
//  CHECK-NEXT:   %[[V:.*]] = net.buffer "w.velocity" "zeros" {{.*}} : tensor<12xf32>
//  CHECK-NEXT:   %[[STEPPED:.*]] = net.add %[[UNIT]], %[[V]]
//  CHECK-NEXT:   net.sgd %[[W1]], %[[STEPPED]], %[[LR]] {{.*}}phase update
//
//   CHECK-NOT:   net.constant
//   CHECK-NOT:   net.reshape
//       CHECK:   net.mul %[[DB]], %[[DB]] {{.*}} -> tensor<5xf32>
//       CHECK:   net.sgd %[[B]], {{.*}}, %[[LR]] {{.*}}phase update
//  CHECK-NEXT:   net.return
//
// Updates carry the names of their parameters.
//   LOC-LABEL: net.step @schedule
//         LOC:   net.sgd {{.*}} loc("fc.weight")
//         LOC:   net.sgd {{.*}} loc("fc.bias")
net.step @schedule attributes {inputs = [], network = "M"} {
  %w = net.parameter "w" "uniform" : tensor<3x4xf32> loc("fc.weight")
  %b = net.parameter "b" "zeros" : tensor<5xf32> loc("fc.bias")
  // expected-warning@+1 {{`c` is trainable, but the loss does not depend on it}}
  %c = net.parameter "c" "zeros" : tensor<5xf32>
  %frozen = net.parameter "frozen" "zeros" {trainable = false} : tensor<5xf32>
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    %lr0 = net.constant 0.1 : tensor<f32>
    %lr = net.div %lr0, %step : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %square = net.mul %g, %g : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>) -> tensor<?xf32, #net.axes<"P">>
    %norm = net.sum %square {over = array<i64: 0>} : (tensor<?xf32, #net.axes<"P">>) -> tensor<f32>
    %norms = net.broadcast %norm {axes = array<i64>} : (tensor<f32>) -> tensor<?xf32, #net.axes<"P">>
    %unit = net.div %g, %norms : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>) -> tensor<?xf32, #net.axes<"P">>
    %v = net.buffer "velocity" "zeros" : tensor<?xf32, #net.axes<"P">>
    %stepped = net.add %unit, %v : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>) -> tensor<?xf32, #net.axes<"P">>
    net.sgd %p, %stepped, %lr {momentum = 0.9, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>, tensor<f32>) -> ()
  }
  %loss = net.constant 0.0 : tensor<f32>
  %dw = net.constant 1.0 : tensor<3x4xf32>
  %db = net.constant 2.0 : tensor<5xf32>
  net.gradient %w, %dw : tensor<3x4xf32>, tensor<3x4xf32>
  net.gradient %b, %db : tensor<5xf32>, tensor<5xf32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// A half-precision weight is changed in place; its gradient is in the precision of the
// rule. One of a free size keeps it.
// CHECK-LABEL: net.step @types
//       CHECK:   %[[H:.*]] = net.reshape {{.*}} : (tensor<2x2xf16>) -> tensor<4xf16>
//       CHECK:   %[[DH32:.*]] = net.convert {{.*}} : tensor<4xf16> -> tensor<4xf32>
//       CHECK:   net.sgd %[[H]], %[[DH32]]
//       CHECK:   net.sgd {{.*}} : (tensor<?xf32, #net.axes<"8*E">>, tensor<?xf32, #net.axes<"8*E">>, tensor<f32>)
net.step @types attributes {inputs = [], network = "M"} {
  %h = net.parameter "h" "uniform" : tensor<2x2xf16>
  %e = net.parameter "e" "uniform" : tensor<?x8xf32, #net.axes<"E", "8">>
  %dh = net.constant 1.0 : tensor<2x2xf16>
  %de = net.constant 2.0 : tensor<?x8xf32, #net.axes<"E", "8">>
  net.gradient %h, %dh : tensor<2x2xf16>, tensor<2x2xf16>
  net.gradient %e, %de : tensor<?x8xf32, #net.axes<"E", "8">>, tensor<?x8xf32, #net.axes<"E", "8">>
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    %lr = net.constant 0.1 : tensor<f32>
    net.sgd %p, %g, %lr {momentum = 0.0, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>, tensor<f32>) -> ()
  }
  %loss = net.constant 0.0 : tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// A step may do without: then its gradients are what it is for.
// CHECK-LABEL: net.step @no_optimizer
//       CHECK:   net.gradient
//  CHECK-NEXT:   net.constant
//  CHECK-NEXT:   net.return
net.step @no_optimizer attributes {inputs = [], network = "M"} {
  %w = net.parameter "w" "uniform" : tensor<3x4xf32>
  %dw = net.constant 1.0 : tensor<3x4xf32>
  net.gradient %w, %dw : tensor<3x4xf32>, tensor<3x4xf32>
  %loss = net.constant 0.0 : tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// A rule may see matrices: the columns are the last axis, and a vector is one row.
// CHECK-LABEL: net.step @matrices
//       CHECK:   net.buffer "k.rows" {{.*}} : tensor<18xf32>
//       CHECK:   net.sgd {{.*}} : (tensor<18x4xf32>, tensor<18x4xf32>, tensor<f32>)
//       CHECK:   net.buffer "b.rows" {{.*}} : tensor<1xf32>
//       CHECK:   net.sgd {{.*}} : (tensor<1x5xf32>, tensor<1x5xf32>, tensor<f32>)
//       CHECK:   net.buffer "s.rows" {{.*}} : tensor<1xf32>
//       CHECK:   net.sgd {{.*}} : (tensor<1x1xf32>, tensor<1x1xf32>, tensor<f32>)
net.step @matrices attributes {inputs = [], network = "M"} {
  %k = net.parameter "k" "uniform" : tensor<2x3x3x4xf32>
  %b = net.parameter "b" "zeros" : tensor<5xf32>
  %s = net.parameter "s" "zeros" : tensor<f32>
  %dk = net.constant 1.0 : tensor<2x3x3x4xf32>
  %db = net.constant 2.0 : tensor<5xf32>
  %ds = net.constant 3.0 : tensor<f32>
  net.gradient %k, %dk : tensor<2x3x3x4xf32>, tensor<2x3x3x4xf32>
  net.gradient %b, %db : tensor<5xf32>, tensor<5xf32>
  net.gradient %s, %ds : tensor<f32>, tensor<f32>
  net.optimizer {
  ^bb0(%p: tensor<?x?xf32, #net.axes<"R", "C">>, %g: tensor<?x?xf32, #net.axes<"R", "C">>, %step: tensor<f32>):
    %lr = net.constant 0.1 : tensor<f32>
    %rows = net.buffer "rows" "zeros" : tensor<?xf32, #net.axes<"R">>
    %means = net.mean %g {over = array<i64: 1>} : (tensor<?x?xf32, #net.axes<"R", "C">>) -> tensor<?xf32, #net.axes<"R">>
    net.assign %rows, %means : (tensor<?xf32, #net.axes<"R">>, tensor<?xf32, #net.axes<"R">>) -> ()
    net.sgd %p, %g, %lr {momentum = 0.0, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<?x?xf32, #net.axes<"R", "C">>, tensor<?x?xf32, #net.axes<"R", "C">>, tensor<f32>) -> ()
  }
  %loss = net.constant 0.0 : tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// The norm of all gradients stands between what comes before it of every parameter, and what follows.
// CHECK-LABEL: net.step @norm
//       CHECK:   %[[W:.*]] = net.parameter "w"
//       CHECK:   %[[W2:.*]] = net.add {{.*}} : (tensor<12xf32>, tensor<12xf32>)
//       CHECK:   %[[B2:.*]] = net.add {{.*}} : (tensor<5xf32>, tensor<5xf32>)
//  CHECK-NEXT:   %[[NORM:.*]] = net.global_norm %[[W2]], %[[B2]] {{.*}}phase update
//  CHECK-NEXT:   %[[ONE:.*]] = net.constant 1.0{{.*}} : tensor<f32>
//  CHECK-NEXT:   %[[SCALE:.*]] = net.div %[[ONE]], %[[NORM]]
//   CHECK-NOT:   net.div
//   CHECK-NOT:   net.global_norm
//       CHECK:   %[[SCALES:.*]] = net.broadcast %[[SCALE]] {{.*}} -> tensor<12xf32>
//  CHECK-NEXT:   net.mul %[[W2]], %[[SCALES]]
//  CHECK-NEXT:   net.sgd
//       CHECK:   net.mul %[[B2]]
//  CHECK-NEXT:   net.sgd
net.step @norm attributes {inputs = [], network = "M"} {
  %w = net.parameter "w" "uniform" : tensor<3x4xf32>
  %b = net.parameter "b" "zeros" : tensor<5xf32>
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    %twice = net.add %g, %g : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>) -> tensor<?xf32, #net.axes<"P">>
    %norm = net.global_norm %twice : (tensor<?xf32, #net.axes<"P">>) -> tensor<f32>
    %one = net.constant 1.0 : tensor<f32>
    %scale = net.div %one, %norm : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %scales = net.broadcast %scale {axes = array<i64>} : (tensor<f32>) -> tensor<?xf32, #net.axes<"P">>
    %scaled = net.mul %twice, %scales : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>) -> tensor<?xf32, #net.axes<"P">>
    net.sgd %p, %scaled, %one {momentum = 0.0, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>, tensor<f32>) -> ()
  }
  %loss = net.constant 0.0 : tensor<f32>
  %dw = net.constant 1.0 : tensor<3x4xf32>
  %db = net.constant 2.0 : tensor<5xf32>
  net.gradient %w, %dw : tensor<3x4xf32>, tensor<3x4xf32>
  net.gradient %b, %db : tensor<5xf32>, tensor<5xf32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// Updates and buffers keep their states in the format that the parameter states; in 8 bits only if they are large.
// CHECK-LABEL: net.step @states
//       CHECK:   net.buffer "w.average" "zeros" {{.*}}net.state_format = i8} : tensor<4096xf32>
//       CHECK:   net.buffer "w.of_its_own" "zeros" {net.phase = #net<phase update>, typed} : tensor<4096xf32>
//       CHECK:   net.sgd {{.*}}net.state_format = i8
//       CHECK:   net.buffer "b.average" "zeros" {net.phase = #net<phase update>} : tensor<5xf32>
//   CHECK-NOT:   net.state_format
//       CHECK:   net.buffer "h.average" "zeros" {{.*}}net.state_format = f16} : tensor<4xf32>
//       CHECK:   net.sgd {{.*}}momentum
//   CHECK-NOT:   net.state_format
//       CHECK:   net.return
net.step @states attributes {inputs = [], network = "M"} {
  %w = net.parameter "w" "uniform" {net.state_format = i8} : tensor<64x64xf32>
  %b = net.parameter "b" "zeros" {net.state_format = i8} : tensor<5xf32>
  %h = net.parameter "h" "zeros" : tensor<2x2xf16>
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    %lr = net.constant 0.1 : tensor<f32>
    %average = net.buffer "average" "zeros" : tensor<?xf32, #net.axes<"P">>
    %own = net.buffer "of_its_own" "zeros" {typed} : tensor<?xf32, #net.axes<"P">>
    net.assign %average, %g : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>) -> ()
    net.assign %own, %g : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>) -> ()
    net.sgd %p, %g, %lr {momentum = 0.9, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>, tensor<f32>) -> ()
  }
  %dw = net.constant 1.0 : tensor<64x64xf32>
  %db = net.constant 2.0 : tensor<5xf32>
  %dh = net.constant 3.0 : tensor<2x2xf16>
  net.gradient %w, %dw : tensor<64x64xf32>, tensor<64x64xf32>
  net.gradient %b, %db : tensor<5xf32>, tensor<5xf32>
  net.gradient %h, %dh : tensor<2x2xf16>, tensor<2x2xf16>
  %loss = net.constant 0.0 : tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}
