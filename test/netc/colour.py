# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %S/Inputs/failing.net

# Colour is for terminals that want it, for the report and for messages.

import os
import subprocess
import sys

from Inputs.terminal import run_on_terminal

PLAIN = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
PLAIN["TERM"] = "xterm-256color"


def on_terminal(environment):
    return run_on_terminal(["netc", sys.argv[1]], ["stdin", "stdout", "stderr"], env=environment)[1]


def in_pipe(environment):
    done = subprocess.run(
        ["netc", sys.argv[1]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    )
    return done.stdout


coloured = on_terminal(PLAIN)
assert b"\033[1mCopy\033[0m" in coloured, coloured
assert b"\033[31m" in coloured, coloured
assert b"\033[0;1;31merror: \033[0m" in coloured, coloured
for environment in {**PLAIN, "NO_COLOR": "1"}, {**PLAIN, "TERM": "dumb"}:
    text = on_terminal(environment)
    assert b"\033" not in text and b"Copy" in text, text
assert b"\033" in on_terminal({**PLAIN, "NO_COLOR": ""})
assert b"\033" not in in_pipe(PLAIN)
