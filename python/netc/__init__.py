# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Exact costs of neural networks and their training runs.

    import netc
    spec = netc.from_torch(model, example)     # the specification of a module of PyTorch
    spec = netc.from_onnx("model.onnx")        # or of a file
    report = netc.estimate(spec)
    report.networks[0].parameters.total

It runs the program `netc`, which the environment variable `NETC` names, else one on the path.
"""

from .command import check, compare, estimate, from_config, from_graph, measure
from .errors import ImportRefused, NetcError, Problem
from .report import Report


def from_torch(module, args=(), kwargs=None, name=None, axes=None, opaque=()):
    """The specification of a module of PyTorch, as text; see `netc.torch_graph.export` and `netc.from_graph`."""
    from .torch_graph import export

    return from_graph(export(module, args, kwargs, name=name, axes=axes), opaque=opaque)


def from_onnx(model, name=None, opaque=()):
    """The specification of an ONNX model, as text; see `netc.onnx_graph.export` and `netc.from_graph`."""
    from .onnx_graph import export

    return from_graph(export(model, name=name), opaque=opaque)


__all__ = [
    "ImportRefused",
    "NetcError",
    "Problem",
    "Report",
    "check",
    "compare",
    "estimate",
    "from_config",
    "from_graph",
    "from_onnx",
    "from_torch",
    "measure",
]
