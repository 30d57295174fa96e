# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# ends.py STATUS COMMAND..: the command ends with this status; from 129 on, when it gets the
# signal of this number less 128.

import re
import signal
import subprocess
import sys
import time


def handles(pid, number):
    with open(f"/proc/{pid}/status") as file:
        caught = int(re.search(r"^SigCgt:\s*(\w+)", file.read(), re.M).group(1), 16)
    return caught >> (number - 1) & 1


def by_default(number):
    return lambda: number > 0 and signal.signal(number, signal.SIG_DFL)


status = int(sys.argv[1])
number = status - 128
process = subprocess.Popen(
    sys.argv[2:], stderr=subprocess.STDOUT, preexec_fn=by_default(number)
)
if number > 0:
    while process.poll() is None and not handles(process.pid, number):
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(number)
ended = process.wait(timeout=60)
sys.exit(ended != status and f"it ended with {ended}")
