// RUN: netc-opt %s --net-cost-remarks --split-input-file --verify-diagnostics

// The limits themselves are possible.
%scalar = net.constant 0.0 : tensor<f32>
%long = net.constant 0.0 : tensor<1099511627776xi1>
%deep = net.constant 0.0 : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf8E4M3FN>

// -----

// expected-error@+1 {{result #0 must be a tensor of numbers with 64 axes at most, each of 1 to 2^40 elements}}
%x = net.constant 0.0 : tensor<?x4xf32>

// -----

// expected-error@+1 {{result #0 must be a tensor of numbers with 64 axes at most, each of 1 to 2^40 elements}}
%x = net.constant 0.0 : tensor<0x4xf32>

// -----

// expected-error@+1 {{result #0 must be a tensor of numbers with 64 axes at most, each of 1 to 2^40 elements}}
%x = net.constant 0.0 : tensor<1099511627777xf32>

// -----

// expected-error@+1 {{result #0 must be a tensor of numbers with 64 axes at most, each of 1 to 2^40 elements}}
%x = net.constant 0.0 : tensor<?xf32, #net.axes<"1/2">>

// -----

// expected-error@+1 {{result #0 must be a tensor of numbers with 64 axes at most, each of 1 to 2^40 elements}}
%x = net.constant 0.0 : tensor<4xcomplex<f32>>

// -----

// expected-error@+1 {{result #0 must be a tensor of numbers with 64 axes at most, each of 1 to 2^40 elements}}
%x = net.constant 0.0 : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>

// -----

// expected-error@+1 {{encoding lists 1 axes, the tensor has 2}}
%x = net.constant 0.0 : tensor<?x4xf32, #net.axes<"N">>

// -----

// expected-error@+1 {{axis of size `5` does not agree with the tensor's dimension}}
%x = net.constant 0.0 : tensor<?x4xf32, #net.axes<"N", "5">>

// -----

// expected-error@+1 {{`2 +` is not a polynomial}}
%x = net.constant 0.0 : tensor<?xf32, #net.axes<"2 +">>
