# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Traces and counts in the formats of torch.profiler, written into the folder of the first argument."""

import csv
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


class Trace:
    """Events that follow each other; `within` holds those of a list in one around them."""

    def __init__(self):
        self.events, self.now, self.launches, self.device = [], 0, 0, 0

    def event(self, category, name, duration=10, thread=1, **args):
        self.events.append(
            dict(ph="X", cat=category, name=name, pid=1, tid=thread, ts=self.now, dur=duration, args=args)
        )
        self.now += duration + 1
        return self.events[-1]

    def op(self, name, *dims, values=(), sequence=None, kernels=(), type="float", **rest):
        args = {"Input Dims": list(dims), "Concrete Inputs": list(values), "Input type": [type] * len(dims)}
        if sequence is not None:
            args["Sequence number"] = sequence
        return self.around("cpu_op", name, lambda: [self.launch(*kernel) for kernel in kernels], **args, **rest)

    def launch(self, name, duration):
        self.launches += 1
        self.event("cuda_runtime", "cudaLaunchKernel", 2, correlation=self.launches)
        self.device = max(self.device, self.now)
        kernel = dict(correlation=self.launches, stream=7, device=0, grid=[8, 1, 1], block=[128, 1, 1])
        self.events.append(
            dict(ph="X", cat="kernel", name=name, pid=0, tid=7, ts=self.device, dur=duration, args=kernel)
        )
        self.device += duration

    def around(self, category, name, inner, **args):
        event = self.event(category, name, 0, **args)
        self.now = event["ts"] + 1
        inner()
        event["dur"] = self.now + 3 - event["ts"]
        self.now += 5
        return event

    def node(self, name, sequence, inner):
        args = {"Sequence number": sequence}
        self.around("cpu_op", f"autograd::engine::evaluate_function: {name}", inner, **args)

    def write(self, name, **rest):
        text = json.dumps(dict(schemaVersion=1, traceEvents=self.events, **rest))
        (folder / f"{name}.json").write_text(text)


def counts(name, *rows):
    """What a tool counted, as a user hands it in: op, dims of inputs, FLOP."""
    with open(folder / f"{name}.csv", "w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["order", "name", "input_shapes", "sequence", "parent", "flops"])
        for i, (op, dims, flop) in enumerate(rows):
            lines.writerow([i, op, json.dumps(dims), -1, "", flop])
