# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %t.net

# After a second a bar on the terminal says what is counted. It is gone before other
# text, and never there where stderr is no terminal.

import subprocess
import sys

from Inputs.terminal import run_on_terminal

NET = """
net Net(x: f32[N, 8]; layers = 200) { return loss = mean(x |> repeat layers { Linear(8) |> relu }) }
train Net as run {
  batch    = 10
  duration = 10 steps
  sweep batch in [i for i in 1..%d]
}
expect Net.params == 1
"""


def stderr_of(points):
    with open(sys.argv[1], "w") as file:
        file.write(NET % (points + 1))
    status, text = run_on_terminal(
        ["netc", "--check", "--max-sweep=1000000", sys.argv[1], sys.argv[1]], ["stderr"], stdout=subprocess.DEVNULL
    )
    assert status == 1, text
    return text.decode()


# As many points as it takes: machines differ.
points = 50
while "\r\033[K" not in (text := stderr_of(points)):
    points *= 2
    assert points < 500_000, text
drawn = text.split("\r\033[K")
assert f"] point {points} of {points} of the sweep of `run`" in text, text
bars = [line for line in drawn if line.startswith("[")]
assert all(line[25] == "]" and set(line[1:25]) <= {"#", "."} for line in bars), bars
assert len(bars) > 1 and "expected Net.params" in text
assert not any("error" in line for line in bars), bars

quiet = subprocess.run(["netc", "--check", sys.argv[1]], capture_output=True, text=True)
assert "[" not in quiet.stderr.split("error")[0], quiet.stderr
