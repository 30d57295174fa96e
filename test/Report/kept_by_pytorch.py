# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s netc %source_dir | FileCheck %s
# CHECK: {{[2-9][0-9]}} networks and formats, to the byte

# What netc counts as kept for the backward pass is what PyTorch keeps, but for what has a reason. PyTorch's bytes, and those
# of the reasons, were written by `tools/bench/kept_against_pytorch.py --csv=FILE`.

import collections
import csv
import json
import pathlib
import subprocess
import sys

netc, root = sys.argv[1], pathlib.Path(sys.argv[2])
pytorch, reasons = {}, collections.Counter()
with open(root / "test/Report/Inputs/kept-by-pytorch.csv", newline="") as file:
    for row in csv.DictReader(file):
        key = row["network"], row["format"]
        if row["what"] == "PyTorch":
            pytorch[key] = int(row["bytes"])
        else:
            reasons[key] += int(row["bytes"])

# `like` leads to the precision of the first.
text = (root / "tools/bench/kept.net").read_text()
assert text.count("  optimizer = SGD(lr = 0.1)\n") == 1
for format in sorted({format for _, format in pytorch}):
    source = text.replace("  optimizer = SGD(lr = 0.1)\n", f"  optimizer = SGD(lr = 0.1); precision = {format}\n")
    command = [netc, "-I", str(root / "examples"), "--format=json", "-"]
    report = json.loads(subprocess.run(command, input=source, text=True, check=True, stdout=subprocess.PIPE).stdout)
    for run in report["runs"]:
        memory, key = run["memory_per_device"], (run["name"].removesuffix("_run"), format)
        kept = run["kept"]
        total = sum(value["bytes"] for value in kept)
        # What is run again adds to what is kept, while it is there.
        if run["step"]["recompute"]["total"]:
            assert total <= memory["activations"]
        else:
            assert total == memory["activations"] == sum(memory["activations_by_type"].values())
        if key in pytorch:
            assert total + reasons[key] == pytorch.pop(key), key
assert not pytorch, pytorch
print(len(reasons), "networks and formats, to the byte")
