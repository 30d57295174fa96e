# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Lets netc crash, and gives it too little memory."""

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

limit = 1 << 30  # bytes, of which the stack takes half
layers = "x |> repeat i in 0..layers { Linear(8) }"
run = "loss = mean(result); batch = 1; duration = 1 step; optimizer = SGD(lr = 0.1)"
for text in (
    f"net Big(x: f32[N, 8]; layers = 200_000) = {layers}\n",
    f"net Big(x: f32[N, 8]; layers) = {layers}\ndataset D {{ examples = 1 }}\n"
    f"train Big(200_000) on D as big {{ {run} }}\n",
):
    netc = subprocess.run(
        ["netc", "--check", "-"],
        input=text.encode(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    print("status", netc.returncode, flush=True)


def started_with(bytes):
    """The status of `netc --version` in an address space of this size, and whether it says that this is too little."""
    netc = subprocess.run(
        ["netc", "--version"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes)),
    )
    return netc.returncode, "netc: error: out of memory" in netc.stderr


# Below some size the loader of the system refuses; above some, netc runs.
started = {started_with(size << 20) for size in range(16, 128, 4)}
assert started - {(127, False)} == {(3, True), (0, False)}, started
print("started with too little memory: status 3")
