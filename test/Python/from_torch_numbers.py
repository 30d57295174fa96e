# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: torch, onnx
# RUN: env PYTHONPATH=%source_dir/python %python %s

# Numbers that a module computes with besides weights: the result is that of PyTorch.

import numpy
import torch
from onnx.reference import ReferenceEvaluator
from torch import nn

import netc


class Of(nn.Module):
    """A function, and buffers."""

    def __init__(self, forward, **buffers):
        super().__init__()
        self.call = forward
        for name, buffer in buffers.items():
            self.register_buffer(name, buffer)

    def forward(self, x, *others):
        return self.call(self, x, *others)


def same(text, module, *args, axes=None):
    """The specification has this text, and computes what PyTorch does."""
    spec = netc.from_torch(module, args, axes=axes)
    assert text in spec, spec
    model = netc.to_onnx(spec)
    data = {given.name: arg.numpy() for given, arg in zip(model.graph.input, args)}
    numpy.testing.assert_allclose(ReferenceEvaluator(model).run(None, data)[0], module(*args), rtol=1e-5, atol=1e-6)


def refused(text, module, *args, **rest):
    try:
        netc.from_torch(module, args, **rest)
    except netc.NetcError as problem:
        assert text in str(problem), problem
    else:
        raise AssertionError(f"{text}: it was imported")


# The size of a free axis.
x, free = torch.rand(3, 5, 4) + 0.1, {"x": {0: "N", 1: "T"}}
for function, text in (
    (lambda self, x: x.sum(1) / x.shape[1], "/ sum(zeros(T) + 1)"),
    (lambda self, x: x / x.shape[1] ** 0.5, "(sum(zeros(T) + 1) ^ 0.5)"),
    (lambda self, x: x * -(x.shape[1] ** 0.5), "(sum(zeros(T) + 1) ^ 0.5) |> neg"),
    (lambda self, x: x * (1 / x.shape[1]), "* (1 / sum(zeros(T) + 1))"),
    (lambda self, x: x / (2 * x.shape[1] + 1.5), "/ (sum(zeros(2 * T) + 1) + 1.5)"),
    (lambda self, x: x.shape[1] - x, "sum(zeros(T) + 1) - x"),
    (lambda self, x: x / torch.tensor(x.shape[1]), "/ sum(zeros(T) + 1)"),
    (lambda self, x: x.sum(1) / torch.full((1,), x.shape[1]), "sum(zeros(T) + 1)"),
    (lambda self, x: torch.where(x > 0.5, x, x.shape[1]), "where(x > 0.5, x, sum(zeros(T) + 1))"),
    (lambda self, x: nn.functional.kl_div(x.log(), x * x, reduction="batchmean"), "/ sum(zeros(N) + 1)"),
):
    same(text, Of(function), x, axes=free)
refused("a size, `(T//2)`, is no polynomial of free axes; `axes` says which are free", Of(lambda self, x: x / (x.shape[1] // 2)), x, axes=free)
refused("`max` is `T`, and must be a number here; `axes` says which axes are free", Of(lambda self, x: x.clamp(max=x.shape[1])), x, axes=free)
refused("netc has no number `Max(2.0, ", Of(lambda self, x: x / torch.sym_max(x.shape[1] ** 0.5, 2.0)), x, axes=free)
