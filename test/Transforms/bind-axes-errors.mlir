// RUN: netc-opt %s --net-bind-axes=axes=N=8 --split-input-file --verify-diagnostics

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
