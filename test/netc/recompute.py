# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %S/Inputs/recompute.net %t

# Recomputation takes less memory, as planned and in the program, executes the FLOP more that the report says, and trains
# to the same weights.

import filecmp
import json
import os
import shutil
import subprocess
import sys

RUNS = ["kept", "full", "every", "together", "selective", "flash", "flash_full"]
STEPS = 2

file, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)


def capture(*command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def execute(run, lowering):
    """Trains; returns the program's report, and where its weights are."""
    program = os.path.join(folder, f"{run}.{lowering}")
    command = ["netc", "--emit=exe", "--lowering=" + lowering, "--run=" + run, "-o", program, file]
    subprocess.run(command, check=True)
    weights = program + ".weights"
    return capture(program, f"--steps={STEPS}", "--threads=1", "--quiet", "--json", "--dump=" + weights), weights


estimate = capture("netc", "--estimate", "--target=cpu", "--format=json", file)
runs = {run["name"]: run for run in estimate["runs"]}
arena, saved = {}, {}
for run in RUNS:
    arena[run] = runs[run]["plan"]["arena"]
    saved[run] = int(runs[run]["memory_per_device"]["activations"])
    fast, _ = execute(run, "fast")
    assert fast["memory"]["arena"] == arena[run], (run, fast["memory"], arena[run])

    # Of the reference, which counts what it executes.
    reference, weights = execute(run, "reference")
    cost = runs[run]["step"]["recompute"]
    again = [op["counts"] for op in reference["ops"] if op["phase"] == "recompute"]
    for kind in ("matmul", "other"):
        executed = sum(counts[kind] for counts in again)
        assert executed == STEPS * int(cost[kind]), (run, kind, executed, cost)
    flop = reference["flop"]
    assert flop["hardware"] - flop["model"] == int(cost["matmul"]) + int(cost["other"]), (run, flop, cost)
    if run == "kept":
        first = weights
        assert not again
    else:
        assert again and flop["model"] == model, (run, flop)
        same, different, errors = filecmp.cmpfiles(first, weights, os.listdir(first), shallow=False)
        assert same and not different and not errors, (run, different, errors)
    model = flop["model"]

# What is planned falls as what is kept does; for a while a part that is run again is there, too.
assert arena["full"] < arena["every"] < arena["kept"], arena
assert arena["full"] < arena["together"] < arena["kept"], arena
assert arena["full"] < arena["selective"] < arena["kept"], arena
assert saved["flash"] == saved["selective"] and arena["flash"] < arena["kept"], (arena, saved)
# Of a part that is run again whole, the scores are held one time less.
assert saved["flash_full"] < saved["full"] and arena["flash_full"] <= arena["full"], (arena, saved)
for run in RUNS[1:]:
    part = (saved["kept"] - saved["full"]) * {"together": 3}.get(run, 1) / 4
    assert arena["kept"] - arena[run] >= saved["kept"] - saved[run] - 2 * part, (run, arena, saved)
