#!/usr/bin/env python3
# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares the tensors that netc counts as saved for the backward pass with those that PyTorch saves, and prints a table.

Each tensor of netc is matched with one of PyTorch that has the same type and number of elements. For the others, a table below
states the reason of the difference. A tensor without a reason is listed: it is a bug of netc or of PyTorch. PyTorch decides as
on a GPU, but computes nothing (kept_by_pytorch.py). Attention is written out in both. Needs PyTorch, torchvision and
transformers, from PyPI.
"""

import argparse
import collections
import csv
import json
import os
import re
import subprocess
import sys

import torch

from kept_by_pytorch import kept_by
from kept_models import FLASH_MODELS, MODELS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LOW = {"f32": None, "bf16": torch.bfloat16, "f16": torch.float16}

# Tensors that only PyTorch saves: the nodes of its backward pass that save them, their type, the reason.
BESIDE = [
    (r"(Native|Cudnn)(BatchNorm|LayerNorm|GroupNorm)\.result1", "f32", "norm: the mean beside 1 / std"),
    (r"(Native|Cudnn)BatchNorm\.weight", "f32", "instance normalization: its scale for each example"),
    (r"NllLoss\.total_weight", "f32", "loss: the sum of weights of classes"),
    (r"NllLoss\.target", "i64", "loss: the next tokens, moved by one place"),
    (r"LogSoftmax\.result", "low", "loss: log-probabilities in 16 bits beside those in f32"),
    (r"Hardtanh\.self", "any", "relu6: its input beside its result"),
    (r"(AdaptiveAvgPool2D|AvgPool2D)\.self", "any", "average pooling: its input"),
    (r"Elu\.self", "any", "ELU: its input beside its result"),
    (r"Softshrink\.self", "any", "softshrink: its input beside its result"),
    (r"Div\.self", "any", "quotient: the dividend beside the quotient"),
    (r"(Relu\.result|Convolution\.input)", "any", "concatenation: the whole beside its parts"),
    (r"MaxPool2DWithIndices\.self", "any", "max pooling: its input beside the indices"),
    (r"MaskedFill\.mask", "i1", "attention: a causal mask for each layer"),
    (r"Mul\.other", "f32", "rotary positions: their tables for each layer"),
    (r"Embedding\.indices", "i64", "embedding: numbers of positions"),
    (
        r"ThnnFusedLstmCell\.(input|hidden)_gates",
        "any",
        "LSTM: sums of the gates, by input and by state, beside the gates",
    ),
    (r"ScaledDotProductFlashAttention\.logsumexp", "f32", "flash attention: the log of each row's sum"),
    (r"ScaledDotProductFlashAttention\.(rng_state|unused)", "u64", "flash attention: the state of random numbers"),
    (r"(Addmm\.mat1|Mm\.self)", "low", "a copy of one value for each product that reads it"),
    (r"Bmm\.(self|mat2)", "any", "attention: keys and values for each head of a group"),
]
# Tensors that only netc saves: the op, the type, the reason.
BESIDE_OF_NETC = [
    (r".*\bnormalize", "any", "norm: the normalized value beside its input, which another op keeps"),
    (r".*\bcompare|.*where", "i1", "a mask of scores, to which PyTorch adds numbers"),
    (r".*\blstm\b.*scan", "any", "LSTM: tanh of the cell state of each step, for the cell state after the last"),
]
# Tensors that one side saves in a single network.
BESIDE_OF_NETWORK = {
    "upsampled": [(r"Convolution\.input", "any", "upsampling: the whole beside what it repeats")],
    "swin_t": [(r"Mul\.other", "any", "stochastic depth, which examples/swin.net leaves out")],
}
# Values with different types: the node of PyTorch, the op of netc, the reason.
OTHER_TYPE = [
    (r"Mul\.other", r".*dropout", "dropout: a mask of whole examples in numbers, not in truth values"),
    (r"changed in place", r".*dropout", "dropout in place: a mask in numbers, not in truth values"),
    (r"Div\.self", r"(.*\.)?div", "quotient: the dividend in its format, not the quotient"),
    (r"Cumprod\.self", r"(.*\.)?cumprod", "cumprod: its input in 16 bits, not in f32"),
]


def kept_by_netc(netc, name, format):
    """The values that netc saves, as dictionaries of `op`, `type`, `elements` and `bytes`. A value of a loop over time
    is split into one per step, as in PyTorch."""
    command = [netc, "-I", os.path.join(ROOT, "examples"), f"--run={name}_run", "--format=json"]
    command += [f"--set={name}_run.precision={format}", os.path.join(HERE, "kept.net")]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    run = report["runs"][0]
    values = []
    for value in run["kept"]:
        steps = run["axes"]["T"] if value["op"].endswith(".scan") else 1
        part = {key: value[key] // steps for key in ("elements", "bytes")}
        values += [{**value, **part, "steps": steps}] * steps
    return values


def reason_of(table, names, type):
    """The reason for one of `names`, and its position in the table; None if there is none."""
    for place, (pattern, wanted, reason) in enumerate(table):
        if wanted in ("any", type) or wanted == "low" and type in ("bf16", "f16"):
            if any(re.match(pattern, name) for name in names):
                return place, reason
    return None


def regroup(ours, theirs, steps):
    """Removes groups of tensors that the other side has as a single tensor: queries, keys and values, the gates of an
    LSTM, the `steps` of a loop."""

    def may_be_one(value):
        return not any(re.match(r"Mul\.|.*(input|hidden)_gates", name) for name in value[3])

    for few, many in ((ours, theirs), (theirs, ours)):
        for whole in filter(may_be_one, list(few)):
            for parts in sorted({2, 3, 4, *steps}):
                alike = [part for part in many if part[0] == whole[0] and part[1] * parts == whole[1]]
                found = list(filter(may_be_one, alike))[:parts]
                if len(found) == parts:
                    few.remove(whole)
                    for part in found:
                        many.remove(part)
                    break


def compare(name, ours, theirs):
    """The bytes that PyTorch saves more than netc (negative: less), by reason, and the tensors without a reason."""
    reasons, unexplained = collections.Counter(), []
    more = BESIDE_OF_NETWORK.get(name, [])
    beside, beside_of_netc = more + BESIDE, more + BESIDE_OF_NETC
    steps = {value["steps"] for value in ours} - {1}
    ours = [(value["type"], value["elements"], value["bytes"], [value["op"]]) for value in ours]
    theirs = [(value.type, value.elements, value.bytes, value.readers) for value in theirs]

    def count(values, like):
        return sum(value[:2] == like[:2] for value in values)

    # Match a value that has different types on both sides.
    for mine in list(ours):
        for reader, op, reason in OTHER_TYPE:
            if not re.match(op, mine[3][0]) or count(ours, mine) <= count(theirs, mine):
                continue
            found = [
                other
                for other in theirs
                if other[1] == mine[1] and other[0] != mine[0] and any(re.match(reader, name) for name in other[3])
            ]
            if found:
                ours.remove(mine)
                theirs.remove(found[0])
                reasons[reason] += found[0][2] - mine[2]
                break

    # Values with a reason are left unmatched first.
    def surplus(values, others, table):
        left = []
        for like in {value[:2] for value in values}:
            alike = [value for value in values if value[:2] == like]
            alike.sort(key=lambda value: reason_of(table, value[3], value[0]) or (len(table), ""))
            left += alike[: max(0, len(alike) - count(others, like))]
        return left

    ours, theirs = surplus(ours, theirs, beside_of_netc), surplus(theirs, ours, beside)
    regroup(ours, theirs, steps)
    for sign, values, table, who in (1, theirs, beside, "PyTorch"), (-1, ours, beside_of_netc, "netc"):
        for type, _, bytes, names in values:
            if found := reason_of(table, names, type):
                reasons[found[1]] += sign * bytes
            else:
                unexplained.append((sign * bytes, type, f"{who}: " + " ".join(names)))
    return reasons, unexplained


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(MODELS) + " (default: all)")
    parser.add_argument("--netc", default=os.path.join(ROOT, "build", "release", "bin", "netc"))
    parser.add_argument("--formats", default="f32,bf16", help="of %s (default %%(default)s)" % ",".join(LOW))
    parser.add_argument("--csv", metavar="FILE", help="write the bytes of PyTorch and of each reason to it")
    arguments = parser.parse_args()
    for name in arguments.networks:
        if name not in MODELS:
            parser.error(f"there is no network `{name}`, but {', '.join(MODELS)}")
    bugs, written = 0, [("network", "format", "what", "bytes")]
    print("| network | format | netc | PyTorch | of the difference | bytes |\n|---|---|---:|---:|---|---:|")
    for name in arguments.networks or MODELS:
        for format in arguments.formats.split(","):
            if name in FLASH_MODELS and format == "f32":
                continue
            ours = kept_by_netc(arguments.netc, name, format)
            theirs = kept_by(MODELS[name], LOW[format])
            reasons, unexplained = compare(name, ours, theirs)
            sums = sum(value["bytes"] for value in ours), sum(value.bytes for value in theirs)
            assert sums[1] - sums[0] == sum(reasons.values()) + sum(bytes for bytes, *_ in unexplained)
            rows = reasons.most_common()
            written += [(name, format, *row) for row in [("PyTorch", sums[1]), *rows]]
            rows += [(f"**not explained**: {type}, {what}", bytes) for bytes, type, what in unexplained]
            cells = [name, format, *(f"{bytes:,}" for bytes in sums)]
            for reason, bytes in rows:
                print("|", " | ".join(cells), f"| {reason} | {bytes:,} |", flush=True)
                cells = [""] * 4
            bugs += len(unexplained)
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(written)
    if bugs:
        sys.exit(f"{bugs} tensors without an explanation")


if __name__ == "__main__":
    main()
