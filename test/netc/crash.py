# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s 2>&1 | FileCheck %s

# A crash says what to report; memory that is not there is an error of the environment.

import pathlib
import resource
import signal
import subprocess
import time

netc = subprocess.Popen(["netc", "--check", "-"], stdin=subprocess.PIPE)
status = pathlib.Path(f"/proc/{netc.pid}/status")


def is_reading():
    """netc catches the signal, and waits for the file."""
    fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
    caught = int(fields["SigCgt"], 16) >> (signal.SIGSEGV - 1) & 1
    return caught and fields["State"].strip().startswith("S")


while not is_reading():
    time.sleep(0.01)
# The first one is reported. What caused it would happen again, and has its effect then.
while netc.poll() is None:
    netc.send_signal(signal.SIGSEGV)
    time.sleep(0.01)
print("signal", -netc.returncode, flush=True)
# CHECK: netc {{[0-9.]+}} crashed, which is a mistake in netc, whatever the input is. Please report it
# CHECK: Program arguments: netc --check -
# CHECK-NEXT: counting `-`
# CHECK-NEXT: reading `-`
# CHECK: signal 11

big = "net Big(x: f32[N, 8]) = x |> repeat 200_000 { Linear(8) }\n"
limit = 1 << 30  # bytes, of which the stack takes half
netc = subprocess.run(
    ["netc", "--check", "-"],
    input=big.encode(),
    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
)
print("status", netc.returncode)
# CHECK: netc: error: out of memory, of which {{[0-9]+}} MiB were used; `--max-ops` limits what a file expands to; this was elaborating the net `Big`
# CHECK: status 3
