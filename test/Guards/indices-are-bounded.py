# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir

# Every op of a step that reads integers as places occurs in bounds.net, where they may point anywhere.

import pathlib
import re
import subprocess
import sys


def amounts(dialect):
    """The names of the ops that read integers as amounts, or compute places of them, but look up none."""
    text = "".join(path.read_text() for path in dialect.glob("*.td"))
    ops = re.findall(r'^def Net_\w+ : (Net_\w+)<"(\w+)"(.*)> {$', text, re.MULTILINE)
    return {"net." + name for kind, name, traits in ops
            if kind == "Net_BinaryOp" or "Net_Amounts" in traits or "Net_ElementByElement" in traits}


def readers(path):
    """The names of the ops with an operand of integers."""
    text = subprocess.run(["netc", "--emit=step", path], check=True, capture_output=True, text=True).stdout
    ops = re.findall(r"(?<![\w.])(net\.\w+) .* : \((.*)\) ->", text)
    return {name for name, operands in ops if re.search(r"[<x]i\d+[>,]", operands)}


root = pathlib.Path(sys.argv[1])
folder = root / "test/Execution"
watched = readers(folder / "bounds.net")
used = set().union(*(readers(path) for path in folder.glob("*.net")))
missing = sorted(used - watched - amounts(root / "dialect"))
for op in missing:
    print(f"no step of bounds.net executes `{op}`, which reads integers")
sys.exit("net.embedding" not in watched or bool(missing))
