// RUN: netc-opt %s --split-input-file --verify-diagnostics

// What passes rely on is verified where a step begins.

// expected-error@+1 {{gives the axis `N` the size 3 : i64, expected moments of a size above 0}}
net.step @step attributes {network = "net", axes = {N = 3 : i64}, inputs = [], run = #net.run<batch = "1">} {
  %x = net.constant 0.0 : tensor<f32>
  net.return %x : tensor<f32> ["x"]
}

// -----

// expected-error@+1 {{gives the axis `T` the size #net.moments<"0", "1">, expected moments of a size above 0}}
net.network @network attributes {axes = {T = #net.moments<"0", "1">}, inputs = []} {
  %x = net.constant 0.0 : tensor<f32>
  net.return %x : tensor<f32> ["x"]
}

// -----

// expected-error@+1 {{`batch` of a run is -1, expected a number from 0}}
net.step @step attributes {network = "net", axes = {}, inputs = [], run = #net.run<batch = "-1">} {
}

// -----

// expected-error@+1 {{`recompute_every` of a run is 0, expected a whole number from 1}}
net.step @step attributes {network = "net", axes = {}, inputs = [], run = #net.run<recompute = "full", recompute_every = "0">} {
}

// -----

// expected-error@+1 {{`accumulate` of a run is 1/2, expected a whole number from 1}}
net.step @step attributes {network = "net", axes = {}, inputs = [], run = #net.run<accumulate = "1/2">} {
}

// -----

// expected-error@+1 {{a dynamic scale of the loss lacks its start, growth or backoff}}
net.step @step attributes {network = "net", axes = {}, inputs = [], run = #net.run<loss_scale = "1", loss_scale_interval = "2">} {
}

// -----

// expected-error@+1 {{invalid recompute specification: some}}
net.step @step attributes {network = "net", axes = {}, inputs = [], run = #net.run<recompute = "some">} {
}

// -----

// expected-error@+1 {{"f17" is no number format}}
net.step @step attributes {network = "net", axes = {}, inputs = [], run = #net.run<peak_format = "f17">} {
}
