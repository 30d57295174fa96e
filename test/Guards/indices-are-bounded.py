# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir/test/Execution

# Every op of a step that reads integers occurs in bounds.net, where they may point anywhere.

import pathlib
import re
import subprocess
import sys

# What reads them as amounts, or computes places of them, but looks up none.
AMOUNTS = {"net.bce", "net.bce_grad", "net.convert", "net.mse", "net.mse_grad", "net.add", "net.sub", "net.mul", "net.minimum",
           "net.maximum", "net.compare", "net.where"}


def readers(path):
    """The names of the ops with an operand of integers."""
    text = subprocess.run(["netc", "--emit=step", path], check=True, capture_output=True, text=True).stdout
    ops = re.findall(r"(?<![\w.])(net\.\w+) .* : \((.*)\) ->", text)
    return {name for name, operands in ops if re.search(r"[<x]i\d+[>,]", operands)}


folder = pathlib.Path(sys.argv[1])
watched = readers(folder / "bounds.net")
used = set().union(*(readers(path) for path in folder.glob("*.net")))
missing = sorted(used - watched - AMOUNTS)
for op in missing:
    print(f"no step of bounds.net executes `{op}`, which reads integers")
sys.exit("net.embedding" not in watched or bool(missing))
