# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir/test

# What netc-opt prints it reads again, locations included, and prints the same. The
# parts of a file that expect an error are left out.

import pathlib
import subprocess
import sys

MARKER = "// -----\n"


def print_ir(text):
    command = ["netc-opt", "--split-input-file", "--mlir-print-debuginfo", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr)
    return done.stdout


failed = False
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.mlir")):
    parts = path.read_text().split(MARKER)
    text = MARKER.join(part for part in parts if "expected-error" not in part)
    if not text:
        continue
    printed = print_ir(text)
    if not printed or print_ir(printed) != printed:
        print(f"{path}: changes on a round trip through text")
        failed = True
sys.exit(failed)
