# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s netc %source_dir/examples

# Of each example, the smallest run becomes kernels. Runs that keep more values than MOST are left out, since deep networks
# take long and have the kernels of shallow ones. What has no program at all says why.

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

MOST = 100
NOT_RUN = {"decode-not-run", "free-axis", "precision-not-run", "run-without-optimizer", "sum-of-jobs"}

netc, examples = sys.argv[1], sorted(pathlib.Path(sys.argv[2]).glob("*.net"))


def output_of(*arguments):
    return subprocess.run([netc, *map(str, arguments)], capture_output=True, text=True)


def runs_of(path):
    """The names of a file's runs, those that keep fewest values first."""
    runs = json.loads(output_of("--estimate", "--format=json", path).stdout)["runs"]
    return [run["name"] for run in sorted(runs, key=lambda run: len(run.get("kept", []))) if len(run.get("kept", [])) <= MOST]


def emit(path):
    """Whether a run of the file became kernels, and what went wrong."""
    errors = []
    for run in runs_of(path):
        done = output_of("--emit=ptx", "--target=cuda", f"--run={run}", path)
        if done.returncode == 0:
            return True, [] if ".visible .entry kernel_1(" in done.stdout else [f"{path}: {run} has no kernels"]
        if not NOT_RUN.intersection(re.findall(r"\[([a-z-]+)\]$", done.stderr, re.M)):
            errors.append(f"{path}: {run}: {done.stderr}")
    return False, errors


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(emit, examples))
errors = [error for _, of_file in results for error in of_file]
print(*errors, sep="\n")
assert sum(is_emitted for is_emitted, _ in results) > 10
sys.exit(len(errors) > 0)
