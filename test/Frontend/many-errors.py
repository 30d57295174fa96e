# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s > %t.net
# RUN: not timeout 60 netc --check %t.net 2>&1 | FileCheck %s

# An error in each line takes time linear in their number: 20,000 names, each looked up among as many others for
# what was meant, would take minutes.
# CHECK: 1:10: error: unknown name `wanted0` [unknown-name]{{$}}
# CHECK: 20:11: error: unknown name `wanted19`
# CHECK-NOT: error:
# CHECK: 20000 errors, of which the first 20 are shown (`--max-errors`)

for i in range(20_000):
    print(f"given{i} = wanted{i}")
