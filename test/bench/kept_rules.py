# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: torch
# RUN: %python %s %source_dir/tools/bench netc | FileCheck %s
# CHECK: 9 differences have a reason, and each of 19 others is found

# What PyTorch keeps beside netc has a reason only where PyTorch's graph has it: not every tensor of the type and size does.

import json
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
import torch
from torch import nn
from torch.nn import functional as F

from kept_against_pytorch import compare
from kept_by_pytorch import TYPES, kept_by

N, T, D, HEADS = 2, 6, 8, 2


class Attention(nn.Module):
    """One layer, with rotary positions and one head for keys and values, on top of a frozen layer."""

    def __init__(self, of_data=False):
        super().__init__()
        self.of_data = of_data  # whether the tables depend on the data
        self.frozen = nn.Linear(D, D, bias=False).requires_grad_(False)
        self.query, self.key, self.gate = (nn.Linear(D, n, bias=False) for n in (D, D // HEADS, D))
        self.norm = nn.LayerNorm(D)

    def forward(self, x):
        x = self.norm(self.frozen(x))
        angles = torch.outer(torch.arange(T).float(), torch.arange(D // HEADS).float())
        if self.of_data:
            angles = angles * x.mean().float()
        turned = lambda y: y * angles.cos()
        q = turned(self.query(x).view(N, T, HEADS, -1).transpose(1, 2))
        k = turned(self.key(x).view(N, T, 1, -1).transpose(1, 2)).expand(N, HEADS, T, -1)
        y = (q @ k.transpose(2, 3)).softmax(-1) @ k
        return y.transpose(1, 2).reshape(N, T, D) * self.gate(x).exp()


def made(of_data=False):
    def make():
        data = torch.randn(N, T, D), torch.randint(D, (N, T))
        return Attention(of_data), data, lambda model, x, y: F.cross_entropy(model(x).flatten(0, 1), y.flatten())

    return make


class Netc(list):
    """What netc keeps of it, written by hand; `without` one op."""

    def __init__(self, low, without=None):
        def keep(op, type, *sizes):
            if op != without:
                elements = torch.Size(sizes).numel()
                bytes = elements * (4 if type == "f32" else 2)
                self.append({"op": op, "type": type, "elements": elements, "bytes": bytes, "steps": 1})

        keep("normalize", "f32", N, T, D)
        keep("std", "f32", N, T)
        for op in "x", "q", "attended":
            keep(op, low, N, T, D)
        keep("k", low, N, T, D // HEADS)
        keep("softmax", "f32", N, HEADS, T, T)
        if low != "f32":
            keep("weights", low, N, HEADS, T, T)
        keep("exp", "f32", N, T, D)
        keep("loss", "f32", N * T, D)


reasons, found = 0, 0
for low in "f32", "bf16":
    kept = kept_by(made(), None if low == "f32" else torch.bfloat16)
    explained, left = compare("attention", Netc(low), kept)
    assert not left, left
    assert sum(v.bytes for v in kept) - sum(v["bytes"] for v in Netc(low)) == sum(explained.values())
    reasons += len(explained)
    # Whatever netc forgets is found, of whichever type and size.
    for value in Netc(low):
        _, left = compare("attention", Netc(low, without=value["op"]), kept)
        assert [each[:2] for each in left] == [(value["bytes"], value["type"])], (value, left)
        found += 1
# A table that depends on the data is none of positions.
_, left = compare("attention", Netc("f32"), kept_by(made(of_data=True)))
assert sum(bytes == 4 * T * D // HEADS and "Mul.other" in what for bytes, _, what in left) >= 2, left
# netc names types as the comparison does.
text = """net A(x: f32[N, C = 8, H = 8, W = 8], t: i32[N]) {
  y = x |> Conv(8, 3) |> relu |> MaxPool(2) |> flatten |> Linear(8) |> Dropout(0.5) |> Linear(8)
  return loss = cross_entropy(y, t)
}
train A as run { batch = 2; duration = 1 step; optimizer = SGD(lr = 0.1); precision = bf16 }"""
report = json.loads(subprocess.run([sys.argv[2], "--format=json", "-"], input=text, text=True, check=True, stdout=subprocess.PIPE).stdout)
types = {value["type"] for value in report["runs"][0]["kept"]}
assert len(types) == 4 and types <= set(TYPES.values()), types
print(reasons, "differences have a reason, and each of", found, "others is found")
