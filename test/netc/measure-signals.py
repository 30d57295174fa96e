# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir -p %t/bin %t/out
# RUN: %python %s %build_dir/bin/netc %S/Inputs/digits.net %t

# A signal ends netc, what it started, and leaves no file: while a program runs, and while it
# is linked.

import os
import pathlib
import signal
import subprocess
import sys
import time

netc, file, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
out, started, path = scratch / "out", scratch / "started", os.environ["PATH"]

# A linker that leaves something, like the real one, and takes long: so does its child.
linker = scratch / "bin" / "c++"
linker.write_text(
    f"#!/bin/sh\ntouch \"$2\" \"$TMPDIR/cc.o\"\necho $$ > {started}.now\n"
    f"mv {started}.now {started}\nsh -c 'sleep 600; true'\n"
)
linker.chmod(0o755)


def wait_for(what, process):
    for _ in range(6000):
        found = what()
        if found:
            return found
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    raise TimeoutError


def pids_in(group):
    for entry in pathlib.Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        # Not those that only wait to be counted as dead.
        if int(fields[2]) == group and fields[0] not in "ZX":
            yield int(entry.name)


def trainer_of(process):
    """The process group of the child, once it is the program and trains."""
    for child in pathlib.Path(f"/proc/{process.pid}/task").glob("*/children"):
        for pid in child.read_text().split():
            try:
                program = os.readlink(f"/proc/{pid}/exe")
            except OSError:
                continue
            if os.path.dirname(program).startswith(str(out)) and "program" in program:
                return int(pid)
    return None


def interrupt(number, arguments, environment, find):
    process = subprocess.Popen(
        [netc, *arguments, file],
        env={**os.environ, "TMPDIR": str(out), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    group = wait_for(lambda: find(process), process)
    assert list(out.iterdir())
    process.send_signal(number)
    said = process.communicate()[1]
    assert process.returncode == -number, (process.returncode, said)
    assert not list(out.iterdir()), list(out.iterdir())
    for _ in range(500):
        if not list(pids_in(group)):
            return
        time.sleep(0.01)
    raise AssertionError(f"still there: {list(pids_in(group))}")


def linking(process):
    return started.exists() and int(started.read_text())


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    interrupt(number, ["--measure", "--seconds=600"], {"PATH": path}, trainer_of)
    for arguments in (["--measure"], ["--emit=exe", "-o", f"{out}/program"]):
        started.unlink(missing_ok=True)
        interrupt(number, arguments, {"PATH": f"{linker.parent}:{path}"}, linking)

# What cannot be caught ends the program, too; the folder goes with the next measurement, or the
# next program of this name. Of others, none goes.
(out / "netc-0123abcd").mkdir()
for arguments, find, environment in (
    (["--measure", "--seconds=600"], trainer_of, {"PATH": path}),
    (["--emit=exe", "-o", f"{out}/netc"], linking, {"PATH": f"{linker.parent}:{path}"}),
):
    started.unlink(missing_ok=True)
    killed = subprocess.Popen([netc, *arguments, file], env={**os.environ, "TMPDIR": str(out), **environment})
    group = wait_for(lambda: find(killed), killed)
    killed.kill()
    killed.wait()
    for _ in range(500):
        if group not in pids_in(group):
            break
        time.sleep(0.01)
    else:
        raise AssertionError(f"still there: {list(pids_in(group))}")
    for pid in pids_in(group):  # what the linker started
        os.kill(pid, signal.SIGKILL)
    assert len(list(out.iterdir())) == 2
    done = subprocess.run(
        [netc, "--measure", "--steps=1", file],
        env={**os.environ, "TMPDIR": str(out)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert [left.name for left in out.iterdir()] == ["netc-0123abcd"]
(out / "netc-0123abcd").rmdir()

# What is ignored, as by nohup, ends nothing: here the linker does.
started.unlink()
ignoring = subprocess.Popen(
    [netc, "--measure", file],
    env={**os.environ, "TMPDIR": str(out), "PATH": f"{linker.parent}:{path}"},
    stderr=subprocess.PIPE,
    text=True,
    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
)
group = wait_for(lambda: linking(ignoring), ignoring)
ignoring.send_signal(signal.SIGHUP)
os.killpg(group, signal.SIGKILL)
assert "cannot link the program" in ignoring.communicate()[1]
assert ignoring.returncode == 3 and not list(out.iterdir())
