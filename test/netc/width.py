# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir/examples/llama.net

# A table is as wide as the terminal: on 80 columns no line is longer, on 160 bars are; what
# is piped is the same wherever it is.

import os
import subprocess
import sys

from Inputs.terminal import run_on_terminal

command = ["netc", sys.argv[1]]


def on_terminal(columns):
    environment = {**os.environ, "NO_COLOR": "1"}
    status, text = run_on_terminal(command, ["stdout"], columns, env=environment, stderr=subprocess.DEVNULL)
    assert status == 0
    return text.decode().replace("\r\n", "\n")


piped = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
narrow, wide = on_terminal(80), on_terminal(160)


def longest(text):
    # What an expect is, and where it stands, may be one long word.
    lines = text[: text.index("\nexpect ")].split("\n")
    return max(lines, key=len)


def words(text):
    return sorted(word for word in text.split() if not set(word) & set("─█▏▎▍▌▋▊▉"))


assert len(longest(narrow)) <= 80, longest(narrow)
assert 80 < len(longest(wide)) <= 160, longest(wide)
assert max(map(len, piped.split("\n"))) > 160
assert "T×8192" in wide and "T×8192" not in narrow
bars = lambda text: max(line.count("█") for line in text.split("\n"))
assert bars(narrow) < bars(piped) < bars(wide)
assert words(wide) == words(piped)
