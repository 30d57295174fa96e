// RUN: netc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: net.job @run ["run.a", "run.b"] attributes {network = "Net", run = #net.run<steps = "5">}
net.job @run ["run.a", "run.b"] attributes {network = "Net", run = #net.run<steps = "5">}

// -----

// Every kind of fact is printed as it is read.
// CHECK: run = #net.run<steps = "15/2", decode_axis = "T", decode_together = "4", shared = ["a", "b"], device = "A100", own_device, peaks = {bf16 = "100", f32 = "10"},
// CHECK-SAME: assumed = [<"precision", "f16", "as most", "1/2", "2">], tuning, places = {took = #loc}>}
net.job @run [] attributes {network = "", run = #net.run<
  tuning, places = {took = loc("a.net":3:7)}, assumed = [<"precision", "f16", "as most", "1/2", "2">],
  own_device, device = "A100", peaks = {f32 = "10", bf16 = "100"}, shared = ["a", "b"], decode_axis = "T",
  decode_together = "4", steps = "15/2">}

// -----

// Nothing is what it is without being said.
// CHECK: net.job @run [] attributes {network = ""}
net.job @run [] attributes {network = "", run = #net.run<decode_together = "1">}

// -----

// expected-error@+1 {{a run has no `step`}}
net.job @run [] attributes {network = "", run = #net.run<step = "5">}

// -----

// expected-error@+1 {{`many` is not a number}}
net.job @run [] attributes {network = "", run = #net.run<steps = "many">}
