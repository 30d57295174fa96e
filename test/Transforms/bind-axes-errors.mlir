// RUN: netc-opt %s --net-bind-axes=axes=N=8 --split-input-file --verify-diagnostics
// RUN: not netc-opt %s --net-bind-axes=axes=N=10000000000000,S=2,T=3 --split-input-file 2>&1 | FileCheck %s
// CHECK: error: `free` would read 240000000000000 bytes of `x` a step; a size is a whole number from 1 to 2^40
// RUN: not netc-opt %s --net-bind-axes=axes=N=1000000000000000000,S=1000000000000,T=1000000000000 --split-input-file 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: `free` would read over 2^63 bytes of `x` a step; a size is a whole number from 1 to 2^40

// expected-error@+2 {{`free` leaves axis `S` free; its dataset can give it a size, as in `S = 128`}}
// expected-error@+1 {{`free` leaves axis `T` free; its dataset can give it a size, as in `T = 128`}}
net.step @free attributes {inputs = ["x"], network = "M"} {
^bb0(%x: tensor<?x?x?xf32, #net.axes<"N", "T", "S">>):
  net.return %x : tensor<?x?x?xf32, #net.axes<"N", "T", "S">> ["y"]
}

// -----

// A network may be without a run that says so.
net.network @free attributes {inputs = ["x"]} {
^bb0(%x: tensor<?x?x?xf32, #net.axes<"N", "T", "S">>):
  net.return %x : tensor<?x?x?xf32, #net.axes<"N", "T", "S">> ["y"]
}

// -----

// What does not fit together says at which sizes.
// expected-note@+1 {{in `thirds`, where `N` is 8}}
net.step @thirds attributes {inputs = ["x"], network = "M"} {
^bb0(%x: tensor<?x3xf32, #net.axes<"N", "3">>):
  // expected-error@+1 {{cannot slice: positions 8/3 to 17/3 of axis 0, which is 8}}
  %y = net.slice %x {axis = 0, start = #net.poly<"1/3*N">} : (tensor<?x3xf32, #net.axes<"N", "3">>) -> tensor<?x3xf32, #net.axes<"1/3*N", "3">>
  net.return %y : tensor<?x3xf32, #net.axes<"1/3*N", "3">> ["y"]
}

// -----

// A tensor that no op can make is said as such, and of the network only what
// its steps do not say.
net.network @flat attributes {inputs = ["x"], axes = {T = #net.moments<fixed "2199023255552">}} {
// expected-note@-1 {{in `flat`, where `N` is 8, `T` is 2199023255552}}
// expected-error@+1 {{a tensor here has size 2199023255552 along axis 1; a size is a whole number from 1 to 2^40}}
^bb0(%x: tensor<?x?xf32, #net.axes<"N", "T">>):
  net.return %x : tensor<?x?xf32, #net.axes<"N", "T">> ["y"]
}

// -----

// expected-note@+1 {{in `flat`, where `N` is 8}}
net.step @flat attributes {inputs = ["x"], network = "M"} {
^bb0(%x: tensor<?x1099511627776xf32, #net.axes<"N", "1099511627776">>):
  // expected-error@+1 {{a tensor here has size 8796093022208 along axis 0; a size is a whole number from 1 to 2^40}}
  %y = net.reshape %x : (tensor<?x1099511627776xf32, #net.axes<"N", "1099511627776">>) -> tensor<?xf32, #net.axes<"1099511627776*N">>
  net.return %y : tensor<?xf32, #net.axes<"1099511627776*N">> ["y"]
}
