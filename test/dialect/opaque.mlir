// RUN: netc-opt %s --net-differentiate | FileCheck %s

// What an opaque part costs backward is twice what it costs forward, whether or not
// its input learns.

// CHECK-LABEL: net.network @Learns
net.network @Learns attributes {inputs = ["x"]} {
^bb0(%x: tensor<?x4xf32, #net.axes<"N", "4">>):
  %w = net.parameter "w" "fan_in" : tensor<4xf32>
  %v = net.parameter "v" "fan_in" : tensor<6xf32>
  // CHECK: net.opaque <"8*N">(%{{.*}}, %{{.*}})
  %h = net.opaque <"8*N"> (%x, %w) : (tensor<?x4xf32, #net.axes<"N", "4">>, tensor<4xf32>) -> tensor<?x3xf32, #net.axes<"N", "3">>
  // CHECK: net.opaque <"f">(%{{.*}}, %{{.*}})
  %y = net.opaque <"f"> (%h, %v) : (tensor<?x3xf32, #net.axes<"N", "3">>, tensor<6xf32>) -> tensor<f32>
  // Both operands of the second, the weight of the first.
  // CHECK: net.opaque <"f">({{.*}}) {{.*}}phase = {{.*}}input{{.*}} -> tensor<?x3xf32
  // CHECK: net.opaque <"f">({{.*}}) {{.*}}phase = {{.*}}weight{{.*}} -> tensor<6xf32>
  // CHECK: net.opaque <"16*N">({{.*}}) {{.*}}phase = {{.*}}weight{{.*}} -> tensor<4xf32>
  net.return %y : tensor<f32> ["y"]
}
