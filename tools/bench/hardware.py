#!/usr/bin/env python3
# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Times products and training steps on a GPU, by netc's programs and by PyTorch, and prints a table.

    hardware.py build FOLDER     # anywhere: makes the programs of hardware.net
    hardware.py run FOLDER       # where the GPU is: needs its driver, the folder, and PyTorch

All are in bf16 but for the products that name a format, steps with autocast. A product's time is that of its op alone, and
cuBLAS's. A step's is the median of whole steps whose data are on the device; PyTorch is eager, and with `--compile` also compiled. Both do as much before they pause, since power
limits the clock of what runs longer. `--steps` of each network are run twice, and must leave the same losses.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PRODUCTS = ("1024", "2048", "4096", "8192", "8192_f16", "8192_tf32", "8192_f32")
TIMED_STEPS = 5  # of a program of netc, in which each op is timed
NETWORKS = ("resnet50", "gpt2", "bert", "dlrm")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("build", "run"))
    parser.add_argument("folder", metavar="FOLDER", help="of the programs")
    runs = [f"product_{n}" for n in PRODUCTS] + list(NETWORKS)
    parser.add_argument("runs", nargs="*", metavar="RUN", default=runs, choices=[*runs, runs], help="such as gpt2 or product_4096 (default: all)")
    parser.add_argument("--netc", default=os.path.join(ROOT, "build", "release", "bin", "netc"))
    parser.add_argument("--arch", default="sm_90a", help="the device to build for (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement at most (default %(default)s)")
    parser.add_argument("--steps", type=int, default=4, help="that are compared bit for bit (default %(default)s; 0: none)")
    parser.add_argument("--timeout", type=float, default=60, help="of a program, in seconds (default %(default)s)")
    parser.add_argument("--compile", action="store_true", help="also time torch.compile")
    parser.add_argument("--driver", help="another driver for netc's programs, to try this without a GPU")
    parser.add_argument("--without-pytorch", action="store_true")
    parser.add_argument("--json", metavar="FILE", help="write all reports to it")
    return parser.parse_args()


def build(arguments):
    os.makedirs(arguments.folder, exist_ok=True)
    for run in arguments.runs:
        source = ["-I", os.path.join(ROOT, "examples"), os.path.join(HERE, "hardware.net"), f"--run={run}"]
        target = ["--target=cuda", f"--arch={arguments.arch}", "--emit=exe", "-o", os.path.join(arguments.folder, run)]
        subprocess.run([arguments.netc, *source, *target], check=True)


def report_of(arguments, run, *options):
    """The report of a program; None after an error, which is printed."""
    command = [os.path.join(arguments.folder, run), "--json", "--quiet", *options]
    if arguments.driver:
        command.append(f"--driver={arguments.driver}")
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=arguments.timeout)
    except subprocess.TimeoutExpired:
        print(f"{run}: no end within {arguments.timeout:g} s", flush=True)
        return None
    if done.returncode:
        print(f"{run}: exit status {done.returncode}", flush=True)
        return None
    return json.loads(done.stdout)


class PyTorch:
    def __init__(self):
        import torch

        self.torch = torch
        self.name = f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}"

    def median(self, run, count):
        """The median time of `count` of `run` behind one another, in seconds."""
        for _ in range(3):
            run()
        events = [self.torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
        events[0].record()
        for event in events[1:]:
            run()
            event.record()
        events[-1].synchronize()
        return statistics.median(before.elapsed_time(after) / 1e3 for before, after in zip(events, events[1:]))

    def product(self, n, precision):
        self.torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        element = {"bf16": self.torch.bfloat16, "f16": self.torch.float16}.get(precision, self.torch.float32)
        a, b = (self.torch.randn(n, n, device="cuda", dtype=element) for _ in range(2))
        return self.median(lambda: a @ b, TIMED_STEPS)

    def step(self, network, is_compiled, count):
        import pytorch_models as models
        import trace_pairs as pairs

        torch = self.torch
        torch.manual_seed(0)
        if network == "gpt2":
            model = models.Decoder(d=768, layers=12, heads=12, length=1024, vocabulary=50_257)
            batch = [torch.randint(50_257, (8, 1024))]
            loss = lambda logits, device: models.next_token_loss(lambda tokens: logits, [batch[0].to(device)])
        else:
            model, batch, loss = pairs.model_of(network, {"resnet50": 256, "bert": 32, "dlrm": 16_384}[network])
        model, batch = model.cuda(), [part.cuda() for part in batch]
        if network in ("gpt2", "bert"):
            optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4)
        else:
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9 * (network == "resnet50"))

        def loss_of(*batch):
            with torch.autocast("cuda", torch.bfloat16):
                y = model(*batch)
            return loss(y.float(), "cuda")

        called = torch.compile(loss_of) if is_compiled else loss_of

        def step():
            optimizer.zero_grad(set_to_none=True)
            called(*batch).backward()
            optimizer.step()

        return self.median(step, count)


def row(name, netc, others):
    cells = [f"{netc * 1e3:.3f}"] + [f"{other * 1e3:.3f}" if other else "" for other in others]
    known = [other for other in others if other]
    print(f"| {name} | {' | '.join(cells)} | {min(known) / netc:.2f} |" if known else f"| {name} | {cells[0]} |", flush=True)


def run(arguments):
    peer = None if arguments.without_pytorch else PyTorch()
    print(peer.name if peer else "without PyTorch", "· ms\n\n| | netc | eager, cuBLAS | compiled | ratio |\n|---|---|---|---|---|")
    reports, failed = {}, False
    for name in arguments.runs:
        report = report_of(arguments, name, f"--seconds={arguments.seconds}")
        if report is None:
            failed = True
            continue
        reports[name] = report
        if name not in NETWORKS:
            n, _, precision = name.removeprefix("product_").partition("_")
            product = next(op for op in report["ops"] if op["op"] == "einsum")
            others = [peer.product(int(n), precision or "bf16") if peer else None, None]
            row(f"{n} x {n} x {n} {precision}".rstrip(), product["mean"], others)
            continue
        modes = (False, True) if arguments.compile else (False,)
        others = [peer.step(name, is_compiled, report["steps"]) for is_compiled in modes] if peer else []
        row(name, report["step"]["median"], others)
        if not arguments.steps:
            continue
        twice = [report_of(arguments, name, f"--steps={arguments.steps}") for _ in range(2)]
        failed |= None in twice
        if None not in twice and twice[0]["losses"] != twice[1]["losses"]:
            print(f"{name}: the losses of two runs differ: {twice[0]['losses']}, {twice[1]['losses']}")
            failed = True
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(reports, file, indent=1)
    return failed


def main():
    arguments = parse_arguments()
    if arguments.action == "build":
        build(arguments)
    else:
        sys.exit(run(arguments))


if __name__ == "__main__":
    main()
