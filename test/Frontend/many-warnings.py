# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s > %t.net
# RUN: netc --check --max-warnings=2 %t.net 2>&1 | FileCheck %s

# CHECK: 1:1: warning: `B0` is not used
# CHECK: 2:1: warning: `B1` is not used
# CHECK-NOT: warning:
# CHECK: 1000 warnings, of which the first 2 are shown (`--max-warnings`)

for i in range(1000):
    print(f"block B{i}(x) = relu(x)")
print("net A(x: f32[N, 8]) { return y = x |> Linear(4) }")
