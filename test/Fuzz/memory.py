# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: release
# RUN: %python %s netc %t.net

# An estimate takes at most 21 kB of memory for each layer, so that 100,000 layers fit into 2 GiB, and 1.5 kB for each
# element of a list.

import os
import subprocess
import sys

netc, path = sys.argv[1:]


def peak(text):
    """The peak memory of an estimate, in bytes."""
    with open(path, "w") as file:
        file.write(text)
    child = subprocess.Popen([netc, "--estimate", path], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    return usage.ru_maxrss * 1024


def deep(layers):
    return peak("net Deep(x: f32[N, 64]) {\n" + "  x = x |> Linear(64)\n" * layers + "  return x\n}\n")


def long(elements):
    return peak("numbers = [" + "1, " * elements + "1]\nrequire len(numbers) > 0\nnet A(x: f32[N, 4]) { return x |> relu }\n")


a_layer = (deep(8000) - deep(4000)) / 4000
an_element = (long(100_000) - long(0)) / 100_000
print(f"{a_layer:.0f} bytes a layer, {an_element:.0f} an element")
sys.exit(a_layer > 21_000 or an_element > 1_500)
