# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir/examples

# netc does not verify the step that it counts, to save time. Here it is verified, for every
# example, by reading it.

import pathlib
import subprocess
import sys

failed = False
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.net")):
    step = subprocess.run(["netc", "--emit=step", path], capture_output=True, text=True)
    done = subprocess.run(["netc-opt", "-o", "/dev/null"], input=step.stdout, capture_output=True, text=True)
    if step.returncode or done.returncode or not step.stdout:
        print(f"{path}:\n{step.stderr}{done.stderr}"[:2000])
        failed = True
sys.exit(failed)
