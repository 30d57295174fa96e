# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s netc %source_dir/examples

# What each example expects of itself holds.

import concurrent.futures
import os
import pathlib
import subprocess
import sys

netc, examples = sys.argv[1], sorted(pathlib.Path(sys.argv[2]).glob("*.net"))
assert len(examples) > 40


def check(path):
    return subprocess.run([netc, "--check", str(path)], capture_output=True, text=True)


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    failed = [done for done in pool.map(check, examples) if done.returncode]
for done in failed:
    print(done.args[-1], done.stderr, sep="\n")
sys.exit(len(failed) > 0)
