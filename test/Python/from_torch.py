# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: torch
# RUN: env PYTHONPATH=%source_dir/python %python %s

# What modules of PyTorch say besides their ops: what learns, what is free, and what is known.

import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import netc


class Of(nn.Module):
    """Parts, and a function of them and of arguments."""

    def __init__(self, forward, **parts):
        super().__init__()
        self.call = forward
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x):
        return self.call(self, x)


def costs(module, *args, **rest):
    network = netc.estimate(netc.from_torch(module, args, **rest)).networks[-1]
    return network.forward.matmul, network.backward.matmul


def refused(text, module, *args, **rest):
    try:
        netc.from_torch(module, args, **rest)
    except netc.NetcError as problem:
        assert text in str(problem), problem
    else:
        raise AssertionError(f"{text}: it was imported")


def without_gradients(self, x):
    with torch.no_grad():
        x = self.body(x)
    return self.head(x)


# Gradients stop where PyTorch stops them.
body = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16))
x = torch.zeros(4, 8)
for forward in without_gradients, lambda self, x: self.head(self.body(x).detach()):
    assert costs(Of(forward, body=body, head=nn.Linear(16, 4)), x) == (2 * (8 * 16 + 16 * 16 + 16 * 4), 2 * 16 * 4)
again = Of(lambda self, x: self.head(checkpoint(self.body, x, use_reentrant=True)), body=body, head=nn.Linear(16, 4))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    refused("torch.export loses the gradients of a checkpoint with `use_reentrant=True`; use `use_reentrant=False`", again, x)

# A weight norm takes nothing but weights.
norm = nn.utils.parametrizations.weight_norm
assert costs(nn.Sequential(norm(nn.Linear(8, 8)), norm(nn.Linear(8, 8))), x)[0] == 2 * 2 * 8 * 8

# The module is as it was.
body[1].eval()
netc.from_torch(body, x)
assert body[0].training and not body[1].training
