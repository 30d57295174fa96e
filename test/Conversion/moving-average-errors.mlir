// RUN: not netc-opt --convert-net-to-linalg %s 2>&1 | FileCheck %s

// CHECK: error: a moving average takes a buffer, this is a value that the step computes
net.step @run attributes {inputs = ["x"], network = "N"} {
^bb0(%x: tensor<2xf32>):
  %y = net.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  net.moving_average %y, %x {momentum = 0.1} : (tensor<2xf32>, tensor<2xf32>) -> ()
  %loss = net.constant 0.0 : tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}
