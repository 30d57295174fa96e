#!/usr/bin/env python3
# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Times training steps of netc's programs and of PyTorch (CPU) in turns, and prints a table.

A step is forward pass, loss, backward pass and update, in f32 or in bf16 with PyTorch's autocast (`--precision`), by SGD
with momentum, on random data that are in memory. PyTorch is eager, and with `--compile` also compiled. Both have the same
number of threads. Median step times are compared; with `--cpu-time`, the user time of steps of one thread, which is less
wrong where other programs take processors away. Image networks are timed in both memory formats of PyTorch, `NCHW` (its
default) and `NHWC` (`channels_last`); the ratio is to the fastest. With a precision netc's own f32 is timed in the same
turns. Needs PyTorch, from PyPI.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import torch

from pytorch_models import MODELS, image_loss

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(MODELS) + " (default: all)")
    parser.add_argument("--netc", default=os.path.join(ROOT, "build", "release", "bin", "netc"))
    parser.add_argument("--batch", type=int, default=8, help="examples of a step (default %(default)s)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="(default: one a core)")
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32", help="(default %(default)s)")
    parser.add_argument("--compile", action="store_true", help="also time torch.compile")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=6, help="of a turn (default %(default)s)")
    parser.add_argument("--cpu-time", action="store_true", help="user time, of one thread")
    parser.add_argument(
        "--steps", type=int, default=4, help="of a turn, at least; with --cpu-time, exactly (default %(default)s)"
    )
    parser.add_argument("--ops", type=int, default=0, metavar="N", help="also print the N slowest ops of each")
    parser.add_argument("--json", metavar="FILE", help="write all times to it")
    arguments = parser.parse_args()
    if arguments.cpu_time:
        arguments.threads = 1
    for name in arguments.networks:
        if name not in MODELS:
            parser.error(f"there is no network `{name}`, but {', '.join(MODELS)}")
    return arguments


def user_time():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


class Netc:
    """A program compiled by netc."""

    def __init__(self, name, precision, arguments, folder):
        self.program = os.path.join(folder, f"{name}-{precision}")
        source = ["-I", os.path.join(ROOT, "examples"), os.path.join(HERE, "networks.net")]
        command = [arguments.netc, f"--run={name}_run", *source, "--set", f"{name}_run.precision={precision}"]
        start = time.perf_counter()
        subprocess.run([*command, f"--batch={arguments.batch}", "--emit=exe", "-o", self.program], check=True)
        self.compile_seconds = time.perf_counter() - start
        estimate = subprocess.run([*command, "--format=json"], check=True, stdout=subprocess.PIPE).stdout
        self.parameters = json.loads(estimate)["runs"][0]["memory_per_device"]["gradients"] // 4  # of f32
        self.report = None  # of the fastest turn
        self.peak = self.bandwidth = 0.0

    def run(self, arguments, *options):
        """The report, and the user time of the whole run. System time is left out: it includes the reclaiming of memory
        that other programs used, which may take longer than a step."""
        command = [self.program, f"--threads={arguments.threads}", "--json", "--quiet", *options]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return json.loads(output), after.ru_utime - before.ru_utime

    def turn(self, arguments):
        if arguments.cpu_time:
            _, few = self.run(arguments, "--steps=2")
            report, many = self.run(arguments, f"--steps={2 + arguments.steps}")
            result = (many - few) / arguments.steps
        else:
            report, _ = self.run(arguments, f"--seconds={arguments.seconds}")
            # The first step touches all memory for the first time, and takes several times as long.
            if report["warmup"] == 0:
                sys.exit(f"no step of {self.program} was left to warm up; give more than --seconds={arguments.seconds:g}")
            result = report["step"]["median"]
        machine = self.run(arguments, "--steps=1", "--peaks")[0]["machine"]
        self.peak = max(self.peak, machine["peak"]["measured"])
        self.bandwidth = max(self.bandwidth, machine["bandwidth"] or 0)
        if not self.report or report["step"]["median"] < self.report["step"]["median"]:
            self.report = report
        return result

    def roof(self):
        """The seconds of a step at its roofs: each op by itself at the peak, or at the memory bandwidth if that takes
        longer. An op that never runs by itself moves no bytes."""
        return sum(
            max((op["matmul"] + op["other"]) / self.peak, op["bytes"] / self.bandwidth if op["calls"] else 0)
            for op in self.report["ops"]
        )


class Steps:
    """Repeated runs of `step`, which subclasses define."""

    def turn(self, arguments):
        for index in range(2):
            self.step(index)
        clock = user_time if arguments.cpu_time else time.perf_counter
        times, end = [], time.perf_counter() + arguments.seconds
        while len(times) < arguments.steps or not arguments.cpu_time and time.perf_counter() < end:
            start = clock()
            self.step(len(times))
            times.append(clock() - start)
        return statistics.median(times)


class PyTorch(Steps):
    def __init__(self, name, arguments, memory_format, is_compiled=False):
        make, data, self.loss = MODELS[name]
        torch.manual_seed(0)
        self.model = make().to(memory_format=memory_format)
        self.is_low = arguments.precision == "bf16"
        if is_compiled:
            self.loss = torch.compile(self.loss)
        self.batches = [data(arguments.batch) for _ in range(4)]
        if MODELS[name][2] is image_loss:
            self.batches = [(x.contiguous(memory_format=memory_format), label) for x, label in self.batches]
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)

    def parameters(self):
        """The number of parameters. Of the two biases that an LSTM only adds (`bias_ih` and `bias_hh`), one counts."""
        return sum(p.numel() for name, p in self.model.named_parameters() if "bias_hh" not in name)

    def step(self, index):
        self.optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.is_low):
            loss = self.loss(self.model, self.batches[index % 4])
        loss.backward()
        self.optimizer.step()
        return loss.item()


class Product(Steps):
    """A product of two square matrices. Its rate is what a well-tuned library reaches on this machine now."""

    SIZE = 2048

    def __init__(self):
        self.a, self.b, self.c = (torch.rand(self.SIZE, self.SIZE) for _ in range(3))

    def step(self, index):
        torch.mm(self.a, self.b, out=self.c)


def measure(name, arguments, folder):
    netc = Netc(name, arguments.precision, arguments, folder)
    others = {"NCHW": PyTorch(name, arguments, torch.contiguous_format)}
    is_image = MODELS[name][2] is image_loss
    if is_image:
        others["NHWC"] = PyTorch(name, arguments, torch.channels_last)
    if arguments.compile:
        memory_format = torch.channels_last if is_image else torch.contiguous_format
        others["compiled"] = PyTorch(name, arguments, memory_format, is_compiled=True)
    for other in others.values():
        assert other.parameters() == netc.parameters, (name, other.parameters(), netc.parameters)
    timed = {"netc": netc, "product": Product(), **others}
    if arguments.precision != "f32":
        timed["f32"] = Netc(name, "f32", arguments, folder)
    turns = {key: [] for key in timed}
    for _ in range(arguments.rounds):
        for key, program in timed.items():
            turns[key].append(program.turn(arguments))
    row = {key: statistics.median(times) for key, times in turns.items()}
    speed = netc.report["flop"]["model"] / row["netc"]
    if not 0 < speed <= netc.peak * (2 if arguments.precision == "bf16" else 1):
        sys.exit(f"{name}: {speed / 1e9:.0f} GFLOP/s of a peak of {netc.peak / 1e9:.0f} were measured, which cannot be")
    return {
        "name": name,
        "turns": turns,
        **row,
        "ratio": min(row[format] for format in others) / row["netc"],
        "flop": netc.report["flop"]["model"],
        "peak": netc.peak,
        "roof": netc.roof(),
        "compile": netc.compile_seconds,
        "matmul": netc.report["matmul"],
        "ops": netc.report["ops"],
    }


def print_slowest(row, count):
    print(f"\n{row['name']}: {row['matmul']['time']:.1%} of the time in matmul ops")
    for op in sorted(row["ops"], key=lambda op: -op["mean"])[:count]:
        flop = op["matmul"] + op["other"]
        speed = flop / op["mean"] / 1e9 if op["mean"] else 0
        print(f"  {op['name']:<44}{op['phase']:<9}{op['mean'] * 1e3:9.2f} ms{speed:9.2f} GFLOP/s")


def print_row(row):
    nhwc, compiled, f32 = (f"{row[key] * 1e3:.1f}" if key in row else "" for key in ("NHWC", "compiled", "f32"))
    speed, product = row["flop"] / row["netc"], 2 * Product.SIZE**3 / row["product"]
    print(
        f"| {row['name']} | {row['netc'] * 1e3:.1f} | {f32} | {row['NCHW'] * 1e3:.1f} | {nhwc} | {compiled} "
        f"| {row['ratio']:.2f} "
        f"| {speed / 1e9:.0f} | {speed / row['peak']:.0%} | {speed / product:.0%} "
        f"| {row['roof'] * 1e3:.1f} | {row['flop'] / row['roof'] / row['peak']:.0%} | {row['compile']:.1f} s |",
        flush=True,
    )


def main():
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    what = "user time of steps" if arguments.cpu_time else "median steps"
    print(
        f"PyTorch {torch.__version__.split('+')[0]} · {arguments.precision} · batch {arguments.batch} · {arguments.threads} threads · "
        f"{what} in ms · load {os.getloadavg()[0]:.1f} at the start\n\n"
        "| network | netc | its f32 | PyTorch NCHW | NHWC | compiled | ratio | GFLOP/s | of the FMA peak | of PyTorch's product | roof "
        "| of the peak there | compiled in |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.networks or MODELS:
            rows.append(measure(name, arguments, folder))
            print_row(rows[-1])
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")
    if arguments.ops:
        for row in rows:
            print_slowest(row, arguments.ops)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
