#!/usr/bin/env python3
# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Says by counts how good kernels for a GPU are, without one.

    tools/bench/cuda_counts.py [--netc=NETC] [--batch=N] FILE.net:RUN ...

Each run's step is executed on netc's simulator. By run: launches of a step; sectors of global memory and passes over the banks of
shared memory, beside the fewest that hold as many bytes; FLOP executed beside those counted; and a bound: no H200 takes less time for
what each kernel executes, beside what the step's own FLOP and bytes would take. If `ptxas` is in PATH or /usr/local/cuda/bin: spills.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile

# Of an H200: multiprocessors, cycles a second, FLOP of f32 a second, bytes a second.
MULTIPROCESSORS, CLOCK, FLOPS, BANDWIDTH = 132, 1.83e9, 67e12, 4.8e12


def seconds(counted):
    """No kernel is faster than what it does most of."""
    return max(counted["sectors"] * 32 / BANDWIDTH,
               counted["flop"] / FLOPS,
               counted["wavefronts"] / (MULTIPROCESSORS * CLOCK),
               counted["warp_instructions"] / (4 * MULTIPROCESSORS * CLOCK))


def spills(ptx):
    """Bytes that all kernels of a file spill, and the most registers of one; None without ptxas."""
    path = os.environ.get("PATH", "") + ":/usr/local/cuda/bin"
    ptxas = shutil.which("ptxas", path=path)
    if not ptxas:
        return None
    said = subprocess.run([ptxas, "-v", "-arch=sm_90a", ptx, "-o", os.devnull], check=True, capture_output=True, text=True).stderr
    words = said.split()
    stores = sum(int(words[i - 2]) for i, word in enumerate(words) if word == "spill" and words[i + 1].startswith("stores"))
    registers = max(int(words[i - 1]) for i, word in enumerate(words) if word.startswith("registers"))
    return stores, registers


def ratio(a, b):
    return f"{a / b:.2f}" if b else "-"


def row(netc, batch, subject, folder):
    file, run = subject.rsplit(":", 1)
    program, ptx = os.path.join(folder, "program"), os.path.join(folder, "code.ptx")
    given = [f"--run={run}", file] + ([f"--set={run}.batch={batch}"] if batch else [])
    subprocess.run([netc, "--emit=exe", "--target=cuda", "-o", program] + given, check=True, stderr=subprocess.DEVNULL)
    # What an emission says beside its result is no news here.
    subprocess.run([netc, "--emit=ptx", "--target=cuda", "--arch=sm_90a", "-o", ptx] + given, check=True, stderr=subprocess.DEVNULL)
    said = subprocess.run([program, "--steps=1", "--simulate", "--json"], check=True, capture_output=True, text=True).stdout
    report = json.loads(said)["simulator"]
    counted = json.loads(subprocess.run([netc, "--estimate", "--format=json"] + given, check=True, capture_output=True, text=True).stdout)
    step = next(r for r in counted["runs"] if r["name"] == run)["step"]
    flop = sum(step[phase]["total"] for phase in ("forward", "backward", "optimizer", "recompute"))
    bound = sum(seconds(kernel) for kernel in report["kernels"].values())
    roofline = max(flop / FLOPS, report["ideal_sectors"] * 32 / BANDWIDTH)
    spilled = spills(ptx)
    return [subject, str(report["launches"]), ratio(report["sectors"], report["ideal_sectors"]),
            ratio(report["wavefronts"], report["ideal_wavefronts"]), ratio(report["flop"], flop),
            "-" if spilled is None else f"{spilled[0]} bytes, {spilled[1]} registers",
            f"{bound * 1e6:.1f} us", f"{roofline * 1e6:.1f} us", str(len(report["findings"]))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--netc", default="build/release/bin/netc")
    parser.add_argument("--batch", type=int)
    parser.add_argument("subjects", nargs="+", metavar="FILE.net:RUN")
    options = parser.parse_args()
    head = ["run", "launches", "sectors : ideal", "wavefronts : ideal", "FLOP : counted", "spills", "at least", "roofline", "findings"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    with tempfile.TemporaryDirectory() as folder:
        for subject in options.subjects:
            print("| " + " | ".join(row(options.netc, options.batch, subject, folder)) + " |", flush=True)


if __name__ == "__main__":
    main()
