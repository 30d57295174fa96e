# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Lets netc crash, and gives it too little memory."""

import pathlib
import resource
import signal
import subprocess
import tempfile
import time


def end_by(sent):
    """Sends a signal to a netc that catches it and waits for a file, until netc has ended."""

    # What a shell starts in the background ignores some signals, and netc would, too.
    def as_in_foreground():
        signal.signal(sent, signal.SIG_DFL)

    netc = subprocess.Popen(["netc", "--check", "-"], stdin=subprocess.PIPE, preexec_fn=as_in_foreground)
    status = pathlib.Path(f"/proc/{netc.pid}/status")

    def is_reading():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        caught = int(fields["SigCgt"], 16) >> (sent - 1) & 1
        return caught and fields["State"].strip().startswith("S")

    end = time.monotonic() + 60
    while not is_reading():
        assert time.monotonic() < end, f"netc does not catch {sent}"
        time.sleep(0.01)
    while netc.poll() is None:
        netc.send_signal(sent)
        time.sleep(0.01)
    print("signal", -netc.returncode, flush=True)


# The first SIGSEGV is reported. What caused it would happen again, and has its effect then.
end_by(signal.SIGSEGV)
end_by(signal.SIGQUIT)
end_by(signal.SIGXCPU)

# A file may not grow beyond a limit.
with tempfile.TemporaryFile() as file:
    netc = subprocess.run(
        ["netc", "--hardware"],
        stdout=file,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
print("status", netc.returncode, flush=True)

limit = 3 << 28  # bytes, of which the stack takes two thirds
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
