// RUN: netc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: net.job @run ["run.a", "run.b"] attributes {network = "Net", run = {steps = #net.poly<"5">}}
net.job @run ["run.a", "run.b"] attributes {network = "Net", run = {steps = #net.poly<"5">}}
