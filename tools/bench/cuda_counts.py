#!/usr/bin/env python3
# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Evaluates kernels for a GPU by counts, without a GPU.

    tools/bench/cuda_counts.py [--netc=NETC] [--batch=N] [--set=KEY=VALUE] [--products] FILE.net:RUN ...

Executes the step of each run on netc's simulator. Prints for each run: the launches of a step; the sectors of global memory and
the passes over the banks of shared memory, beside the fewest that hold as many bytes; the executed FLOP beside the counted
ones; and lower bounds of the time on an H200, for what the kernels execute, and for the counted FLOP and the fewest sectors. Prints
spills, too, if `ptxas` is in PATH or /usr/local/cuda/bin.

With `--products`, nothing is executed, so networks may be large. Prints from the schedules what the products by matrix
instructions execute, beside what is counted, and their share in the FLOP of all tiled products.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile

# What the code is for.
TARGET = ["--target=cuda", "--arch=sm_90a"]
# An H200: multiprocessors, cycles per second, FLOP per second for f32 and for products of bf16 and of tf32, bytes per second.
MULTIPROCESSORS, CLOCK, FLOPS, BANDWIDTH = 132, 1.83e9, 67e12, 4.8e12
TENSOR_FLOPS = {"bf16": 989e12, "f16": 989e12, "tf32": 494.5e12}


def seconds(counted, tensor_flops):
    """A lower bound of the time of a kernel: that of its slowest unit."""
    return max(counted["sectors"] * 32 / BANDWIDTH,
               counted["flop"] / FLOPS,
               counted["tensor_flop"] / tensor_flops,
               counted["wavefronts"] / (MULTIPROCESSORS * CLOCK),
               counted["warp_instructions"] / (4 * MULTIPROCESSORS * CLOCK))


def spills(ptx):
    """The bytes that all kernels of a file spill, and the most registers of a kernel. None without ptxas."""
    path = os.environ.get("PATH", "") + ":/usr/local/cuda/bin"
    ptxas = shutil.which("ptxas", path=path)
    if not ptxas:
        return None
    said = subprocess.run([ptxas, "-v", "-arch=sm_90a", ptx, "-o", os.devnull], check=True, capture_output=True, text=True).stderr
    if "C75" in said:
        raise SystemExit(f"ptxas serializes products of warpgroups:\n{said}")
    words = said.split()
    stores = sum(int(words[i - 2]) for i, word in enumerate(words) if word == "spill" and words[i + 1].startswith("stores"))
    registers = max(int(words[i - 1]) for i, word in enumerate(words) if word.startswith("registers"))
    return stores, registers


def products(netc, given):
    """The number of products by matrix instructions, their executed and counted FLOP, the counted FLOP of those by
    warpgroups, and the FLOP of other tiled products."""
    said = subprocess.run([netc, "--emit=schedule"] + TARGET + given, check=True, capture_output=True, text=True).stdout
    executed = counted = by_groups = others = count = 0
    for line in said.splitlines():
        if by_matrices := re.search(r"executes (\d+) of (\d+) FLOP", line):
            count += 1
            executed += int(by_matrices[1])
            counted += int(by_matrices[2])
            by_groups += int(by_matrices[2]) if "warpgroups" in line else 0
        elif by_tiles := re.search(r"product (\d+) x (\d+) x (\d+)(?:, (\d+) times)?", line):
            m, n, k, times = (int(number or 1) for number in by_tiles.groups())
            others += 2 * m * n * k * times
    return count, executed, counted, by_groups, others


def ratio(a, b):
    return f"{a / b:.2f}" if b else "-"


def given_for(options, subject):
    file, run = subject.rsplit(":", 1)
    values = [f"{run}.{value}" for value in options.set]
    if options.batch:
        values.append(f"{run}.batch={options.batch}")
    return run, [f"--run={run}", file] + [f"--set={value}" for value in values]


def row_of_products(options, subject):
    _, given = given_for(options, subject)
    count, executed, counted, by_groups, others = products(options.netc, given)
    share = [f"{100 * part / (counted + others or 1):.1f} %" for part in (counted, by_groups)]
    return [subject, str(count), ratio(executed, counted)] + share


def row(options, subject, folder):
    netc = options.netc
    run, given = given_for(options, subject)
    program, ptx = os.path.join(folder, "program"), os.path.join(folder, "code.ptx")
    subprocess.run([netc, "--emit=exe", "-o", program] + TARGET + given, check=True, stderr=subprocess.DEVNULL)
    # Diagnostics of the compilation are not shown.
    subprocess.run([netc, "--emit=ptx", "-o", ptx] + TARGET + given, check=True, stderr=subprocess.DEVNULL)
    said = subprocess.run([program, "--steps=1", "--simulate", "--json"], check=True, capture_output=True, text=True).stdout
    report = json.loads(said)["simulator"]
    counted = json.loads(subprocess.run([netc, "--estimate", "--format=json"] + given, check=True, capture_output=True, text=True).stdout)
    step = next(r for r in counted["runs"] if r["name"] == run)["step"]
    phases = ("forward", "backward", "optimizer", "recompute")
    flop = sum(step[phase]["total"] for phase in phases)
    tensor_flop = {form: sum(step["by_format"][form][phase]["matmul"] for phase in phases)
                   for form in TENSOR_FLOPS if form in step["by_format"]}
    # The simulator counts matrix instructions of all formats together.
    tensor_flops = TENSOR_FLOPS[max(tensor_flop, key=tensor_flop.get, default="bf16")]
    bound = sum(seconds(kernel, tensor_flops) for kernel in report["kernels"].values())
    roofline = max((flop - sum(tensor_flop.values())) / FLOPS,
                   sum(count / TENSOR_FLOPS[form] for form, count in tensor_flop.items()),
                   report["ideal_sectors"] * 32 / BANDWIDTH)
    spilled = spills(ptx)
    return [subject, str(report["launches"]), ratio(report["sectors"], report["ideal_sectors"]),
            ratio(report["wavefronts"], report["ideal_wavefronts"]), ratio(report["flop"] + report["tensor_flop"], flop),
            "-" if spilled is None else f"{spilled[0]} bytes, {spilled[1]} registers",
            f"{bound * 1e6:.1f} us", f"{roofline * 1e6:.1f} us", str(len(report["findings"]))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--netc", default="build/release/bin/netc")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of each run, such as precision=bf16")
    parser.add_argument("--products", action="store_true")
    parser.add_argument("subjects", nargs="+", metavar="FILE.net:RUN")
    options = parser.parse_args()
    if options.products:
        head = ["run", "products by matrices", "FLOP : counted", "of all tiled products' FLOP", "by warpgroups"]
        print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
        for subject in options.subjects:
            print("| " + " | ".join(row_of_products(options, subject)) + " |", flush=True)
        return
    head = ["run", "launches", "sectors : ideal", "wavefronts : ideal", "FLOP : counted", "spills", "at least", "roofline", "findings"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    with tempfile.TemporaryDirectory() as folder:
        for subject in options.subjects:
            print("| " + " | ".join(row(options, subject, folder)) + " |", flush=True)


if __name__ == "__main__":
    main()
