# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %S/Inputs/digits.net

# On a terminal, a bar says what is done; it is gone before the report.

import subprocess
import sys

from Inputs.terminal import run_on_terminal


def stderr_of(*options):
    command = ["netc", "--measure", "--batch=1,4", *options, sys.argv[1]]
    status, text = run_on_terminal(command, ["stderr"], stdout=subprocess.DEVNULL)
    assert status == 0, text
    return text.decode()


lines = stderr_of("--seconds=0.2").split("\r\033[K")
assert lines[-1] == "", lines
first, last = lines[0], lines[-2]
assert first == f"[{'.' * 24}] compiling `run` with batch 1 · at most 0 s to measure", first
assert last.startswith("[" + "#" * 18), last
assert "] measuring `run` with batch 4 · at most 0 s to measure" in last, last
