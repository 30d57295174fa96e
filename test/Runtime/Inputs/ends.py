# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# ends.py STATUS COMMAND..: the command ends with this status; 130: when it is interrupted.

import re
import signal
import subprocess
import sys
import time


def handles_interrupts(pid):
    with open(f"/proc/{pid}/status") as file:
        caught = int(re.search(r"^SigCgt:\s*(\w+)", file.read(), re.M).group(1), 16)
    return caught >> (signal.SIGINT - 1) & 1


status = int(sys.argv[1])
process = subprocess.Popen(sys.argv[2:], stderr=subprocess.STDOUT)
if status == 130:
    while process.poll() is None and not handles_interrupts(process.pid):
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
ended = process.wait(timeout=60)
sys.exit(ended != status and f"it ended with {ended}")
