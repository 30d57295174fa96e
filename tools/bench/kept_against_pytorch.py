#!/usr/bin/env python3
# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares the tensors that netc counts as saved for the backward pass with those that PyTorch saves, and prints a table.

Where the two differ by design, a rule below says, from PyTorch's graph alone, what netc keeps in the place of a tensor. After
that both must have the same tensors, of each type and number of elements: a difference without a rule, and a rule that promises
a tensor that netc does not keep, are listed. PyTorch decides as on a GPU, but computes nothing (kept_by_pytorch.py). Attention
is written out in both, except where the name of a network ends in `_flash`. Needs PyTorch, torchvision and transformers, from PyPI.
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

from kept_by_pytorch import TYPES, kept_by

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LOW = {"f32": None, "bf16": torch.bfloat16, "f16": torch.float16}

# The networks whose description leaves out the masks of stochastic depth.
WITHOUT_STOCHASTIC_DEPTH = {"swin_t"}
# Those with another mask of scores than the causal one, which netc makes again.
WITH_MASKS = {"swin_t"}


def is_constant(made):
    return not made.depends_on("data") and not made.depends_on("weight")


def as_type(made):
    return TYPES[made.type], made.elements


def before_copies(made):
    """What was converted, or moved to another place in memory."""
    while made.op in ("_to_copy", "clone"):
        (made,) = made.sources
    return made


def masks_added(made):
    """The constants that were added to the scores of a softmax."""
    work, masks = list(made.sources), []
    while work:
        made = work.pop()
        if made.op == "add" and any(is_constant(source) and source.elements > 1 for source in made.sources):
            masks += [source for source in made.sources if is_constant(source)]
        if made.op in ("add", "_to_copy"):
            work += made.sources
    return masks


def starts_lstm(made):
    """Whether it is zeros that the states of an LSTM start with, or a copy of them."""
    zeros = before_copies(made)
    users = [*zeros.users, *(user for copy in zeros.users for user in copy.users)]
    return zeros.op == "zeros" and any(user.op == "_thnn_fused_lstm_cell" for user in users)


class Rules:
    """What netc keeps in the place of a tensor of PyTorch, and why. A rule reads PyTorch's graph, never what netc keeps."""

    def __init__(self, network, kept):
        self.network, self.kept = network, {id(value.made) for value in kept}
        self.copies = set()  # those of one value that were met

    def of(self, value):
        """The types and numbers of elements that netc keeps, and the reason; the tensor itself without a reason."""
        made, same = value.made, (value.type, value.elements)
        only = lambda pattern: all(re.fullmatch(pattern, reader) for reader in value.readers)
        if only(r"(Native|Cudnn)(BatchNorm|LayerNorm|GroupNorm)\.result1"):
            return [], "norm: the mean beside 1 / std"
        if only(r"(Native|Cudnn)BatchNorm\.weight") and made.op == "repeat" and not made.depends_on("data"):
            return [], "instance normalization: its scale for each example"
        if only(r"NllLoss\.total_weight"):
            return [], "loss: the sum of weights of classes"
        if only(r"NllLoss\.target") and made.op == "roll":
            return [], "loss: the next tokens, moved by one place"
        if only(r"LogSoftmax\.result") and any(copy.op == "_to_copy" and id(copy) in self.kept for copy in made.users):
            return [], "loss: log-probabilities in 16 bits beside those in f32"
        if only(r"Hardtanh\.self") and self.keeps_result(made, "hardtanh"):
            return [], "relu6: its input beside its result"
        if only(r"(AdaptiveAvgPool2D|AvgPool2D)\.self"):
            return [], "average pooling: its input"
        if only(r"Elu\.self") and self.keeps_result(made, "elu"):
            return [], "ELU: its input beside its result"
        if only(r"Softshrink\.self") and self.keeps_result(made, "softshrink"):
            return [], "softshrink: its input beside its result"
        if only(r"MaxPool2DWithIndices\.self") and made.op != "cat":
            return [], "max pooling: its input beside the indices"
        if only(r"MaskedFill\.mask") and is_constant(made):
            return [], "attention: a causal mask for each layer"
        if only(r"Mul\.other") and made.op in ("cos", "sin") and is_constant(made):
            return [], "rotary positions: their tables for each layer"
        if only(r"Embedding\.indices") and not made.depends_on("data"):
            return [], "embedding: numbers of positions"
        if only(r"ScaledDotProductFlashAttention\.logsumexp"):
            return [], "flash attention: the log of each row's sum"
        if only(r"ScaledDotProductFlashAttention\.(rng_state|unused)"):
            return [], "flash attention: the state of random numbers"
        if only(r"Div\.self"):
            quotient = next(user for user in made.users if user.op == "div")
            if id(quotient) in self.kept:
                return [], "quotient: the dividend beside the quotient"
            return [as_type(quotient)], "quotient: the dividend in its format, not the quotient"
        if only(r"Cumprod\.self"):
            result = next(user for user in made.users if user.op == "cumprod")
            return [(TYPES[result.type], value.elements)], "cumprod: its input in 16 bits, not in f32"
        if "bernoulli" in made.changed:
            if self.network in WITHOUT_STOCHASTIC_DEPTH:
                return [], "stochastic depth, which the example leaves out"
            return [("bool", value.elements)], "dropout: a mask in numbers, not in truth values"
        if starts_lstm(made) or any(reader.startswith("ThnnFusedLstmCell") for reader in value.readers):
            return self.of_lstm(value)
        if before_copies(made).op == "zeros":
            return [], "recurrences of cells: the zeros that a state starts with"
        if any(reader.endswith("Norm.input") for reader in value.readers):
            return self.of_norm(value)
        if self.network in WITH_MASKS and made.op == "_softmax" and masks_added(made):
            masks = [("bool", mask.elements) for mask in masks_added(made)]
            return [same, *masks], "a mask of scores, to which PyTorch adds numbers"
        if only(r"(Addmm\.mat1|Mm\.self|Convolution\.input|MaxPool2DWithIndices\.self)"):
            return self.of_product(value)
        if only(r"Bmm\.(self|mat2)"):
            source, new = before_copies(made), self.is_new(value)
            instead = [(value.type, source.elements)] if new else []
            if source.elements < value.elements:
                return instead, "attention: keys and values for each head of a group"
            if not new:
                return [], "a copy of one value for each product that reads it"
        return [same], None

    def keeps_result(self, made, op):
        """Whether PyTorch also keeps what `op` makes of a value, which may have changed it in place."""
        results = [user for user in made.users if user.op == op]
        if made.op == "clone" and op in made.sources[0].changed:
            results.append(made.sources[0])
        return any(id(result) in self.kept for result in results)

    def of_norm(self, value):
        """netc keeps what each norm makes, and its input only if other ops read it."""
        norms = sum(reader.endswith("Norm.input") for reader in value.readers)
        others = norms < len(value.readers)
        return [(value.type, value.elements)] * (norms + others), "norm: the normalized value beside its input"

    def of_product(self, value):
        """What a product reads."""
        made, same = value.made, (value.type, value.elements)
        source = before_copies(made)
        if source.op == "cat" and all(id(part) in self.kept for part in source.sources):
            return [], "concatenation: the whole beside its parts"
        if source.op == "upsample_nearest2d" and id(before_copies(source.sources[0])) in self.kept:
            return [], "upsampling: the whole beside what it repeats"
        if made.op == "_to_copy" and not self.is_new(value):
            return [], "a copy of one value for each product that reads it"
        return [same], None

    def is_new(self, value):
        """Whether no other copy of the same part in this type was met before. netc keeps one."""
        parts, made = [], value.made
        while made.op in ("_to_copy", "clone"):
            parts.append(made.part[0])
            (made,) = made.sources
        copy = id(made), value.type, sum(parts)
        known = copy in self.copies
        self.copies.add(copy)
        return not known

    def of_lstm(self, value):
        """netc keeps what the ops of a cell read: the gates, the states before it, and tanh of the one after it."""
        same, readers = (value.type, value.elements), set(value.readers)
        if readers <= {"ThnnFusedLstmCell.input_gates", "ThnnFusedLstmCell.hidden_gates"}:
            return [], "LSTM: sums of the gates, by input and by state, beside the gates"
        if readers == {"ThnnFusedLstmCell.result2"}:
            return [same, (value.type, value.elements // 4)], "LSTM: tanh of the cell state of each step"
        if readers == {"ThnnFusedLstmCell.result1"}:
            return [], "LSTM: the cell state after the last step"
        if starts_lstm(value.made) and len(readers) > 1:
            return [same] * len(readers), "LSTM: one tensor of zeros for both first states"
        return [same], None


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


def regroup(ours, theirs, steps):
    """Removes groups of tensors that the other side has as a single tensor: queries, keys and values, the gates of an
    LSTM, the parts of a concatenation, the `steps` of a loop."""
    for few, many in ((ours, theirs), (theirs, ours)):
        for type, elements in list(few.elements()):
            for parts in sorted({2, 3, 4, *steps}):
                part = type, elements // parts
                if elements % parts == 0 and many[part] >= parts:
                    few[type, elements] -= 1
                    many[part] -= parts
                    break


def compare(name, ours, theirs):
    """The bytes that PyTorch saves more than netc (negative: less), by reason, and the tensors without a reason."""
    reasons, names = collections.Counter(), collections.defaultdict(set)
    size = {value["type"]: value["bytes"] // value["elements"] for value in ours} | {value.type: value.bytes // value.elements for value in theirs}
    steps = {value["steps"] for value in ours} - {1}
    rules = Rules(name, theirs)
    expected, kept = collections.Counter(), collections.Counter()
    for value in ours:
        kept[value["type"], value["elements"]] += 1
        names[value["type"], value["elements"]].add("netc: " + value["op"])
    for value in theirs:
        instead, reason = rules.of(value)
        bytes = sum(elements * size[type] for type, elements in instead)
        if reason and bytes != value.bytes:
            reasons[reason] += value.bytes - bytes
        for like in instead:
            expected[like] += 1
            names[like].add("PyTorch: " + " ".join(sorted(set(value.readers))) + (f" ({reason})" if reason else ""))
    both = kept & expected
    kept, expected = kept - both, expected - both
    regroup(kept, expected, steps)
    unexplained = []
    for sign, left in (1, expected), (-1, kept):
        for (type, elements), count in (+left).items():
            who = "PyTorch: " if sign > 0 else "netc: "
            what = "; ".join(sorted(each for each in names[type, elements] if each.startswith(who)))
            unexplained += [(sign * elements * size[type], type, what)] * count
    return reasons, unexplained


def main():
    # Here, since it needs torchvision and transformers.
    from kept_models import FLASH_MODELS, MODELS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(MODELS) + " (default: all)")
    parser.add_argument("--netc", default=os.path.join(ROOT, "build", "release", "bin", "netc"))
    parser.add_argument("--formats", default=",".join(LOW), help="default: %(default)s")
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
