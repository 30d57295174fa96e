#!/usr/bin/env python3
# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints what torch.profiler and FlopCounterMode count for single ops, beside the exact count of their products.

Each op runs forward and backward alone. F is the exact count of its forward pass, with 2 FLOP for a multiply-add. Counts are
printed as multiples of F, forward and backward apart. They are the source of the table in docs/Auditing.md. Needs PyTorch,
from PyPI.
"""

import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

warnings.filterwarnings("ignore")
torch.manual_seed(0)


def leaf(*sizes):
    return torch.randn(*sizes, requires_grad=True)


def layer(module, *sizes):
    x = leaf(*sizes)
    return lambda: module(x)


def attention(**settings):
    q, k, v = (leaf(2, 4, 16, 16) for _ in range(3))
    return lambda: F.scaled_dot_product_attention(q, k, v, **settings)


def function(op, *shapes):
    tensors = [leaf(*shape) for shape in shapes]
    return lambda: op(*tensors)


def conv(kind, channels, made, sizes, **settings):
    """A convolution with this number of channels and 3 taps per axis. `made` is the number of points of its result over
    all axes and examples."""
    module = kind(channels, channels, 3, **settings)
    return layer(module, *sizes), 2 * made * module.weight.numel()


def by_math():
    with sdpa_kernel(SDPBackend.MATH):
        return attention()()


def rnn(kind, gates, projected=0):
    module = kind(32, 64, batch_first=True, **(dict(proj_size=projected) if projected else {}))
    x = leaf(4, 10, 32)
    return lambda: module(x)[0], 2 * 4 * 10 * 64 * (gates * (32 + (projected or 64)) + projected)


def encoder_evaluated():
    """A layer of 16 features, 2 heads and 32 hidden features. In evaluation, PyTorch runs it as one op."""
    module = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    x = torch.randn(2, 6, 16)

    def run():
        with torch.no_grad():
            return module(x)

    return run, 2 * 2 * 6 * (4 * 16 * 16 + 2 * 16 * 32) + 4 * 2 * 6 * 6 * 16


OPS = [
    ("Linear", layer(nn.Linear(32, 48), 16, 32), 2 * 16 * 32 * 48),
    ("matmul of matrices", function(torch.matmul, (3, 5, 7), (3, 7, 6)), 2 * 3 * 5 * 7 * 6),
    ("matrix times vector", function(torch.mv, (8, 7), (7,)), 2 * 8 * 7),
    ("dot product", function(torch.dot, (7,), (7,)), 2 * 7),
    ("addbmm", function(torch.addbmm, (5, 6), (3, 5, 7), (3, 7, 6)), 2 * 3 * 5 * 7 * 6),
    ("Bilinear", function(nn.Bilinear(8, 7, 6), (4, 8), (4, 7)), 2 * 4 * 6 * 7 * (8 + 1)),
    # The squares of the rows are two columns more of each matrix.
    ("cdist", function(torch.cdist, (40, 8), (50, 8)), 2 * 40 * 50 * (8 + 2)),
    ("Conv1d", *conv(nn.Conv1d, 16, 2 * 18, (2, 16, 20))),
    ("Conv2d", *conv(nn.Conv2d, 16, 2 * 64, (2, 16, 10, 10))),
    ("Conv2d, stride 2", *conv(nn.Conv2d, 16, 2 * 16, (2, 16, 10, 10), stride=2)),
    ("Conv2d, padding='same'", *conv(nn.Conv2d, 16, 2 * 100, (2, 16, 10, 10), padding="same")),
    ("Conv2d, no batch", *conv(nn.Conv2d, 16, 64, (16, 10, 10))),
    ("Conv2d, 4 groups", *conv(nn.Conv2d, 16, 2 * 64, (2, 16, 10, 10), groups=4)),
    ("Conv2d, depthwise, 16", *conv(nn.Conv2d, 16, 2 * 64, (2, 16, 10, 10), groups=16)),
    ("Conv3d", *conv(nn.Conv3d, 8, 2 * 64, (2, 8, 6, 6, 6))),
    ("ConvTranspose2d", *conv(nn.ConvTranspose2d, 16, 2 * 100, (2, 16, 10, 10))),
    ("attention, fused", attention(), 4 * 2 * 4 * 16 * 16 * 16),
    ("attention, fused, causal", attention(is_causal=True), 4 * 2 * 4 * 16 * 16 * 16),
    ("attention, math", by_math, 4 * 2 * 4 * 16 * 16 * 16),
    ("encoder layer, evaluation", *encoder_evaluated()),
    ("RNN", *rnn(nn.RNN, 1)),
    ("GRU", *rnn(nn.GRU, 3)),
    ("LSTM", *rnn(nn.LSTM, 4)),
    ("LSTM, projected", *rnn(nn.LSTM, 4, projected=32)),
    ("a + b, 128 elements", function(torch.add, (8, 16), (8, 16)), None),
    ("row + a", function(torch.add, (16,), (8, 16)), None),
    ("ReLU, softmax, LayerNorm", layer(nn.Sequential(nn.ReLU(), nn.Softmax(-1), nn.LayerNorm(16)), 8, 16), None),
]


def profiled(work):
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True) as prof:
        work()
    return sum(event.flops or 0 for event in prof.events())


def counted(work):
    counter = FlopCounterMode(display=False)
    with counter:
        work()
    return counter.get_total_flops()


def both(count, run):
    """The counts of the forward and of the backward pass."""
    results = []
    forward = count(lambda: results.append(run()))
    if not results[0].requires_grad:
        return forward, None
    gradient = torch.ones_like(results[0])
    return forward, count(lambda: results[0].backward(gradient))


def text(flop, exact):
    if flop is None:
        return "·"
    return f"{flop}" if exact is None else f"{flop / exact:.4g} F" if flop else "0"


def main():
    print(f"PyTorch {torch.__version__}; exact: F forward, 2 F backward\n")
    print("| op | F | torch.profiler, forward | backward | FlopCounterMode, forward | backward |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, run, exact in OPS:
        cells = [text(flop, exact) for count in (profiled, counted) for flop in both(count, run)]
        print(f"| {name} | {exact or '·'} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
