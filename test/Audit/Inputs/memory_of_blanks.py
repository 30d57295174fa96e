# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Audits a trace as it is and with blanks in front of its events, and compares the memory that this takes.

    memory_of_blanks.py NETC TRACE COPY
"""

import os
import pathlib
import subprocess
import sys

program, trace, copy = sys.argv[1:]
MB = 1 << 20


def memory(file):
    """Bytes of the program at its largest, and what it prints."""
    process = subprocess.Popen([program, "--audit", "--format=csv", f"--trace={file}"], stdout=subprocess.PIPE)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, status
    return usage.ru_maxrss * 1024, printed


text = pathlib.Path(trace).read_text()
pathlib.Path(copy).write_text(text.replace('"traceEvents": ', '"traceEvents": ' + " " * (64 * MB)))
(before, expected), (after, printed) = memory(trace), memory(copy)
assert after < before + 32 * MB, (before, after)
assert printed.splitlines()[1].split(b",")[1:] == expected.splitlines()[1].split(b",")[1:]
