# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: release
# RUN: %python %s netc %t.net

# An estimate takes at most 18 kB of memory for each layer of a net, so that 100,000 layers fit into 2 GiB; 25 kB with a
# run that trains them; and 1.4 kB for each element of a list.

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


def deep(layers, run=""):
    return peak("net Deep(x: f32[N, 64]) {\n" + "  x = x |> Linear(64)\n" * layers + "  return x\n}\n" + run)


def long(elements):
    return peak("numbers = [" + "1, " * elements + "1]\nrequire len(numbers) > 0\nnet A(x: f32[N, 4]) { return x |> relu }\n")


run = """dataset Data { examples = 1M; target = f32[64] }
train Deep on Data as run { loss = mse(x, target); batch = 32; duration = 1 epoch; optimizer = Adam(lr = 1e-3) }
"""
a_layer = (deep(8000) - deep(4000)) / 4000
a_trained_layer = (deep(8000, run) - deep(4000, run)) / 4000
an_element = (long(100_000) - long(0)) / 100_000
print(f"{a_layer:.0f} bytes a layer, {a_trained_layer:.0f} with a run, {an_element:.0f} an element")
sys.exit(a_layer > 18_000 or a_trained_layer > 25_000 or an_element > 1_400)
