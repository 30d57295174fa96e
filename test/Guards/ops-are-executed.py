# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %build_dir/dialect/Ops.md %source_dir/test/Execution

# Every op occurs in a step that test/Execution runs, so it has a lowering, its count is
# what is executed, and its gradient is right.

import pathlib
import re
import subprocess
import sys

# What holds a step, what the passes take up before there is one, and what nobody can execute.
NOT_IN_STEPS = {"net.network", "net.step", "net.job", "net.optimizer", "net.gradient", "net.opaque"}

ops = set(re.findall(r"^### `(net\.\w+)`", pathlib.Path(sys.argv[1]).read_text(), re.MULTILINE))
executed = set()
for path in sorted(pathlib.Path(sys.argv[2]).glob("*.net")):
    text = subprocess.run(["netc", "--emit=step", path], check=True, capture_output=True, text=True).stdout
    for graph in re.split(r"^  (?=net\.(?:network|step) )", text, flags=re.MULTILINE):
        if graph.startswith("net.step "):
            executed.update(re.findall(r"(?<![\w.])net\.\w+(?= )", graph))
missing = sorted(ops - NOT_IN_STEPS - executed)
for op in missing:
    print(f"no step of test/Execution executes `{op}`")
sys.exit(not ops or bool(missing))
