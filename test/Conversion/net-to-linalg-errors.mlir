// RUN: not netc-opt --split-input-file --convert-net-to-linalg=run=run %s 2>&1 | FileCheck %s
// RUN: not netc-opt --split-input-file --convert-net-to-linalg %s 2>&1 | FileCheck --check-prefix=ANY %s

// What is no step that can be run is refused, and why.
// CHECK: error: positions made one by one are counted, and not run yet; leave `decode` out
net.step @run attributes {inputs = ["x"], network = "N", run = #net.run<decode = "2", decode_axis = "T">} {
^bb0(%x: tensor<2xf32>):
  net.return %x : tensor<2xf32> ["y"]
}

// -----

// CHECK: error: a training run is run with an `optimizer`, which this one does not give
net.step @run attributes {inputs = ["x"], network = "N"} {
^bb0(%x: tensor<2xf32>):
  %w = net.parameter "w" "zeros" : tensor<2xf32>
  net.gradient %w, %x : tensor<2xf32>, tensor<2xf32>
  net.return %x : tensor<2xf32> ["y"]
}

// -----

// CHECK: error: a program cannot read or give `i16` yet
net.step @run attributes {inputs = ["x"], network = "N"} {
^bb0(%x: tensor<2xi16>):
  net.return %x : tensor<2xi16> ["y"]
}

// -----

// CHECK: error: `run` is the sum of its jobs; run one of them, as in `--run=run.a`
net.job @run ["run.a", "run.b"] attributes {network = "N"}

// -----

// Not the run that is asked for, of which there is none.
// CHECK: error: there is no run here
net.step @other attributes {inputs = ["x"], network = "N"} {
^bb0(%x: tensor<2xf32>):
  net.return %x : tensor<2xf32> ["y"]
}

// -----

// ANY: error: there are several runs; say which one, as in `--run=run`
net.step @run attributes {inputs = ["x"], network = "N"} {
^bb0(%x: tensor<2xf32>):
  net.return %x : tensor<2xf32> ["y"]
}
net.step @other attributes {inputs = ["x"], network = "N"} {
^bb0(%x: tensor<2xf32>):
  net.return %x : tensor<2xf32> ["y"]
}
