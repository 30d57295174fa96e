# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Runs a command many times while reading the JSON file that it writes.

import json
import pathlib
import subprocess
import sys

path, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
for _ in range(5):
    running = subprocess.Popen(command)
    while running.poll() is None:
        if path.exists():
            json.loads(path.read_text())
    assert running.returncode == 0
json.loads(path.read_text())
