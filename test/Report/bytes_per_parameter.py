# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s netc %S/Inputs/bytes_per_parameter.csv | FileCheck %s
# CHECK: 22 rows as published, 4 but for what is named

# Weights, master, gradients and states, in bytes a parameter, come out of `precision` and the optimizer. What is spread over
# n devices is compared for one, since a device holds the whole network here.

import csv
import json
import subprocess
import sys

netc, table = sys.argv[1:]

# Where frameworks have a gradient in 16 bits and a copy of it in f32, which their update makes for itself.
COPY = "an f32 copy of the gradients"
# What each row is in the language, with the optimizer where it is not Adam.
ROWS = {
    "f32, Adam": "f32",
    "f32, SGD": ("f32", "SGD(lr = 0.1)"),
    "f32, SGD with momentum": ("f32", "SGD(lr = 0.1, momentum = 0.9)"),
    "PyTorch autocast, Adam": "mixed(bf16)",
    "Apex O1, Adam": "mixed(f16)",
    "Apex O2, Adam": "megatron(f16, gradients = f16)",
    "Apex O3, Adam": "pure(f16)",
    "ZeRO, mixed f16 Adam": "megatron(f16, gradients = f16)",
    "Megatron f16, f16 gradients": "megatron(f16, gradients = f16)",
    "Megatron bf16, f32 gradients": "megatron(bf16)",
    "Megatron f32": "f32",
    "Megatron bf16, distributed optimizer over d": "megatron(bf16)",
    "Megatron f16, distributed optimizer over d": "megatron(f16, gradients = f16)",
    "Megatron f32, distributed optimizer over d": "f32",
    "DeepSpeed ZeRO-2 estimate over n": "megatron(f16, gradients = f16)",
    "DeepSpeed ZeRO-3 estimate over n": "megatron(f16, gradients = f16)",
    "EleutherAI cookbook, mixed": "megatron(bf16)",
    "Hugging Face, mixed with AdamW": ("mixed(bf16)", "AdamW(lr = 1e-3)"),
    "FSDP1 MixedPrecision(param = bf16), over n": "mixed(bf16)",
    "FSDP2 MixedPrecisionPolicy(param = bf16), over n": "mixed(bf16)",
    "pure bf16, Adam in bf16": "pure(bf16)",
    "Transformer Engine FP8, f32 weights": "fp8(DelayedScaling)",
    "torchao float8": "fp8(Float8CurrentScaling)",
    "DeepSeek-V3 (derived)": "{ products = f8e4m3, residual = bf16, weights = f8e4m3, master = f32, gradients = f32, states = bf16 }",
    "JAX / T5X, bf16 activations, Adafactor": ("mixed(bf16)", "Adafactor(lr = 1e-3)"),
    "8-bit Adam on f32 weights": "mixed(f32, states = i8)",
}

with open(table) as file:
    rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
assert [row["policy"] for row in rows] == list(ROWS), "a row has no words, or words have no row"

# Large matrices, so that what is there once, or once a row, does not show. The last layer is never in 8 bits.
SIZE = 8192
PARAMETERS = SIZE**2 + SIZE
text = f"net M(x: f32[N, {SIZE}]) {{ return loss = mean((x |> Linear({SIZE}, bias = false) |> Linear(1, bias = false)) ^ 2) }}\n"
for i, words in enumerate(ROWS.values()):
    precision, optimizer = words if isinstance(words, tuple) else (words, "Adam(lr = 1e-3)")
    text += f"train M as r{i} {{ batch = 16; duration = 1 step; optimizer = {optimizer}; precision = {precision} }}\n"
report = subprocess.run([netc, "--format=json", "-"], input=text, text=True, check=True, stdout=subprocess.PIPE).stdout
memory = {run["name"]: run["memory_per_device"] for run in json.loads(report)["runs"]}


def at_one(formula):
    """Of `6 + 12/d`, 18."""
    return sum(float(term.split("/")[0]) for term in formula.split("+"))


published = named = 0
for i, (row, words) in enumerate(zip(rows, ROWS.values())):
    found = memory[f"r{i}"]
    a_parameter = lambda *parts: sum(found[part] for part in parts) / PARAMETERS
    # Hugging Face counts the copy as a weight.
    weights = a_parameter("weights", "copies") if row["weights"] == "6" else a_parameter("weights")
    seen = [weights, a_parameter("master"), a_parameter("gradients"), a_parameter("optimizer")]
    stated = [row[part] for part in ("weights", "master", "gradients", "states")]
    if all(stated):  # else there is only the sum
        expected = [at_one(part) for part in stated]
        assert all(abs(a - b) < 0.002 for a, b in zip(expected, seen)), (row["policy"], expected, seen)
    difference = at_one(row["total"]) - sum(seen)
    if abs(difference) < 0.002:
        published += 1
    else:
        reason = {4: COPY, 2: COPY + ", instead of those in f16"}[round(difference, 2)]
        print(f"{row['policy']}: {difference:+.0f}, {reason}")
        named += 1
print(f"{published} rows as published, {named} but for what is named")
