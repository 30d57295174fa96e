# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import fcntl
import os
import pty
import struct
import subprocess
import termios


def run_on_terminal(command, streams, columns=80, **options):
    """The exit status of a command, and what a terminal shows that is these streams of it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(command, **{stream: theirs for stream in streams}, **options)
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 4096):
            text += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return process.wait(), text
