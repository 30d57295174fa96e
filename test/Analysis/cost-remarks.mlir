// RUN: netc-opt %s --net-cost-remarks --split-input-file --verify-diagnostics

// Each iteration of each loop around an op counts.
net.network @nested attributes {inputs = ["x"]} {
^bb0(%x: tensor<?x5x3xf32, #net.axes<"T", "5", "3">>):
  %y = net.scan <"T"> over %x [0] out [0] {
  ^bb0(%xt: tensor<5x3xf32>):
    %yt = net.scan <"5"> over %xt [0] out [0] {
    ^bb0(%e: tensor<3xf32>):
      // T * 5 * 3
      // expected-remark@+1 {{matmul 0, other 15*T, transcendental 15*T}}
      %f = net.tanh %e : (tensor<3xf32>) -> tensor<3xf32>
      net.yield %f : tensor<3xf32>
    } : (tensor<5x3xf32>) -> tensor<5x3xf32>
    net.yield %yt : tensor<5x3xf32>
  } : (tensor<?x5x3xf32, #net.axes<"T", "5", "3">>) -> tensor<?x5x3xf32, #net.axes<"T", "5", "3">>
  net.return %y : tensor<?x5x3xf32, #net.axes<"T", "5", "3">> ["y"]
}
