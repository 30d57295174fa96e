// RUN: netc-opt %s --split-input-file --verify-diagnostics

// The attributes that passes read of any op.

// expected-error@+1 {{has 3 : i64 as `net.phase`, expected a phase}}
%a = net.constant 0.0 {net.phase = 3} : tensor<f32>

// -----

// expected-error@+1 {{has "first" as `net.draw`, expected a number}}
%a = net.constant 0.0 {net.draw = "first"} : tensor<f32>

// -----

// expected-error@+1 {{has unit as `net.recomputed`, expected a number}}
%a = net.constant 0.0 {net.recomputed} : tensor<f32>

// -----

// expected-error@+1 {{has 1 : i64 as `net.copy`, expected the path of an instance}}
%a = net.constant 0.0 {net.copy = 1} : tensor<f32>

// -----

// expected-error@+1 {{has i8 as `net.gradient_format`, expected a float type}}
%a = net.constant 0.0 {net.gradient_format = i8} : tensor<f32>

// -----

// expected-error@+1 {{has "i8" as `net.state_format`, expected a number type}}
%a = net.constant 0.0 {net.state_format = "i8"} : tensor<f32>

// -----

// expected-error@+1 {{has 1 : i64 as `net.weight`, expected no value}}
%a = net.constant 0.0 {net.weight = 1} : tensor<f32>

// -----

// expected-error@+1 {{has 94 : i64 as `net.rolled`, expected numbers of copies from 1}}
%a = net.constant 0.0 {net.rolled = 94} : tensor<f32>

// -----

// expected-error@+1 {{has {trunk.1 = 0 : i64} as `net.rolled`, expected numbers of copies from 1}}
%a = net.constant 0.0 {net.rolled = {trunk.1 = 0}} : tensor<f32>

// -----

%a = net.constant 0.0 : tensor<f32>
// expected-error@+1 {{has [{trunk.1 = 0 : i64}] as `net.rolled_operands`, expected numbers of copies from 1, of each operand}}
%y = net.global_norm %a {net.rolled_operands = [{trunk.1 = 0}]} : (tensor<f32>) -> tensor<f32>

// -----

%a = net.constant 0.0 : tensor<f32>
// expected-error@+1 {{has [] as `net.rolled_operands`, expected numbers of copies from 1, of each operand}}
%y = net.global_norm %a {net.rolled_operands = []} : (tensor<f32>) -> tensor<f32>

// -----

%a = net.constant 0.0 : tensor<f32>
%y = net.global_norm %a, %a {net.rolled_operands = [{}, {trunk.1 = 94}]} : (tensor<f32>, tensor<f32>) -> tensor<f32>

// -----

%a = net.constant 0.0 {net.copy = "trunk.1", net.draw = 1, net.phase = #net<phase update>, net.recomputed = 0,
                       net.gradient_format = f8E5M2, net.state_format = i8, net.weight, net.rolled = {trunk.1 = 94}} : tensor<f32>
