# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: release
# RUN: %python %s netc %t.net

# An estimate takes at most 21 kB of memory for each layer, so that 100,000 layers fit into 2 GiB.

import os
import subprocess
import sys

netc, path = sys.argv[1:]


def peak(layers):
    """The peak memory of an estimate, in bytes."""
    with open(path, "w") as file:
        file.write("net Deep(x: f32[N, 64]) {\n" + "  x = x |> Linear(64)\n" * layers + "  return x\n}\n")
    child = subprocess.Popen([netc, "--estimate", path], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    return usage.ru_maxrss * 1024


a_layer = (peak(8000) - peak(4000)) / 4000
print(f"{a_layer:.0f} bytes a layer")
sys.exit(a_layer > 21_000)
