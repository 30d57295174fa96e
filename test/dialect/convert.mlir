// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

%x = net.constant 0.0 : tensor<?x8xf32, #net.axes<"N", "8">>
// Converting is no arithmetic.
%y = net.convert %x : tensor<?x8xf32, #net.axes<"N", "8">> -> tensor<?x8xbf16, #net.axes<"N", "8">>

// -----

// Back to the element type of x.
// CHECK-LABEL: net.network @convert
//       CHECK:   net.constant 1{{.*}} : tensor<5x5xbf16>
//       CHECK:   net.convert %{{.*}} : tensor<5x5xbf16> -> tensor<5x5xf32>
net.network @convert attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  %y = net.convert %x : tensor<5x5xf32> -> tensor<5x5xbf16>
  net.return %y : tensor<5x5xbf16> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<2x8xf32>
// expected-error@+1 {{changes the shape from 'tensor<2x8xf32>' to 'tensor<16xf32>'}}
%y = net.convert %x : tensor<2x8xf32> -> tensor<16xf32>
