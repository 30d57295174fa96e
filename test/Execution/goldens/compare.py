# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""compare.py PROGRAM RUN FOLDER trains with the weights and data of a golden file, which it unpacks into FOLDER, and
compares losses and what batch normalization keeps with PyTorch's.

compare.py --simulate PROGRAM RUN FOLDER does so with a program for a GPU, on the simulator.

compare.py PROGRAM RUN FOLDER FORMAT, of a program that rounds to bf16 or f16, compares its losses with PyTorch's in f64.
rounding.json has how far they may be: `deviation` is the largest distance of eight runs in f64, up to that step, whose
values are each multiplied by 1 + 2^-8 r, with r drawn from -1 to 1. A program's own roundings are as if drawn with 0.74 of
that spread, so that four times the deviation is exceeded in 2 of 10^5 runs. Early deviations are small by chance: the
first three steps have that of the third.
"""

import ast
import json
import os
import shutil
import struct
import subprocess
import sys
import zipfile

TOLERANCE = 1e-4  # relative; of statistics, to the largest: AdamW makes much of rounding


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10 : 10 + length].decode())
    assert header["descr"] == "<f4", header
    return [value for (value,) in struct.iter_unpack("<f", data[10 + length :])]


def compare(what, ours, theirs, scale):
    """The largest difference, relative to `scale`."""
    if len(ours) != len(theirs):
        sys.exit(f"{what}: {len(ours)} values, not {len(theirs)}")
    error = max(abs(one - other) / s for one, other, s in zip(ours, theirs, scale))
    if not error <= TOLERANCE:
        lines = [f"  {one:<12g}{other:<12g}{abs(one - other) / s:g}" for one, other, s in zip(ours, theirs, scale)]
        sys.exit("\n".join([f"{what}: netc, PyTorch, relative difference", *lines]))
    return error


DEVIATIONS = 4
UNITS = {"bf16": 1, "f16": 2**-3}  # of rounding, relative to that of bf16


def compare_rounded(run, losses, format):
    with open(os.path.join(here, "rounding.json")) as file:
        exact = json.load(file)[run]
    worst = 0
    for step, (loss, truth) in enumerate(zip(losses, exact["f64"], strict=True)):
        deviation = exact["deviation"][max(step, 2)] * UNITS[format]
        worst = max(worst, abs(loss - truth) / deviation)
        if not worst <= DEVIATIONS:
            sys.exit(f"step {step + 1}: the loss is {loss}, in f64 {truth}; {worst:.3g} deviations apart")
    if losses == exact["f64"] or worst == 0:
        sys.exit("nothing is rounded")
    print(f"{run} in {format}: {len(losses)} losses, at most {worst:.2g} deviations from those in f64")


simulates = "--simulate" in sys.argv
program, run, folder, *formats = (argument for argument in sys.argv[1:] if argument != "--simulate")
here = os.path.dirname(os.path.abspath(__file__))
shutil.rmtree(folder, ignore_errors=True)
with zipfile.ZipFile(os.path.join(here, run.split("_")[0] + ".npz")) as file:
    file.extractall(folder)
with open(os.path.join(here, "losses.json")) as file:
    golden = json.load(file)[run]

weights, data, end = (os.path.join(folder, name) for name in ("weights", "data", "end"))
command = [
    program,
    f"--steps={len(golden['losses'])}",
    "--simulate" if simulates else "--threads=1",
    "--json",
    "--quiet",
    "--weights=" + weights,
    "--dump=" + end,
]
command += [f"--data={name[:-4]}={os.path.join(data, name)}" for name in sorted(os.listdir(data))]
report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

# What the file lacks would begin at random.
if set(report["weights"]) != {name[:-4] for name in os.listdir(weights)}:
    sys.exit(f"the golden file has not the weights of the program: {report['weights']}")
for format in formats:
    compare_rounded(run, report["losses"], format)
    sys.exit()
error = compare("losses", report["losses"], golden["losses"], golden["losses"])
for name, values in golden["statistics"].items():
    scale = [max(map(abs, values))] * len(values)
    compare(name, read(os.path.join(end, name + ".npy")), values, scale)
print(
    f"{run}: {len(golden['losses'])} losses from {golden['losses'][0]:.4f} to {golden['losses'][-1]:.4f}, "
    f"relative difference {error:.1e}"
)
