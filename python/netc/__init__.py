# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Exact costs of neural networks and their training runs.

    import netc
    spec = netc.from_torch(model, example)     # the specification of a module of PyTorch
    spec = netc.from_onnx("model.onnx")        # or of a file
    spec = netc.from_jax(model.apply, params, example)
    report = netc.estimate(spec)
    report.networks[0].parameters.total
    netc.to_onnx(spec, "out.onnx")             # the network for other tools

The package runs the program `netc`: the one that the environment variable `NETC` names, else the one in the wheel, else the
one on the path.
"""

import os
import pathlib

from .command import check, compare, estimate, from_config, from_graph, measure, to_graph
from .errors import ExportRefused, ImportRefused, NetcError, Problem
from .measurement import Measurement
from .report import Report


def from_torch(module, args=(), kwargs=None, name=None, axes=None, opaque=()):
    """The specification of a module of PyTorch, as text; see `netc.torch_graph.export` and `netc.from_graph`."""
    from .torch_graph import export

    return from_graph(export(module, args, kwargs, name=name, axes=axes), opaque=opaque)


def from_onnx(model, name=None, opaque=()):
    """The specification of an ONNX model, as text; see `netc.onnx_graph.export` and `netc.from_graph`."""
    import onnx

    from .onnx_graph import export

    if not isinstance(model, (str, os.PathLike, onnx.ModelProto)):
        raise TypeError(f"a model of ONNX is a path or an `onnx.ModelProto`, not a {type(model).__name__}; `netc.from_torch` writes the specification of a module")
    return from_graph(export(model, name=name), opaque=opaque)


def to_onnx(spec, path=None, weights=None, net=None, run=None, set=None, define=None):
    """Returns a network as an `onnx.ModelProto`, and writes it to `path` if that is given. See
    `netc.onnx_model.convert` for `weights`, and `netc.to_graph` for the other arguments."""
    from .onnx_model import convert, save

    if not isinstance(weights, (dict, str, os.PathLike, type(None))):
        raise TypeError(f"`weights` is a folder of npy files or a dictionary of arrays by name, not a {type(weights).__name__}")
    if path is not None and not pathlib.Path(path).parent.is_dir():
        raise ExportRefused(f"there is no folder `{pathlib.Path(path).parent}` to write to")
    if path is not None and pathlib.Path(path).is_dir():
        raise ExportRefused(f"`{path}` is a folder; the model is one file in it, such as `{pathlib.Path(path) / 'model.onnx'}`")
    model = convert(to_graph(spec, net=net, run=run, set=set, define=define), weights=weights)
    if path is not None:
        save(model, path)
    return model


def from_jax(function, weights, *inputs, name=None, opaque=()):
    """The specification of a function of JAX, as text; see `netc.jax_graph.export` and `netc.from_graph`."""
    from .jax_graph import export

    return from_graph(export(function, weights, *inputs, name=name), opaque=opaque)


def __getattr__(name):
    """`__version__` is the version of the program."""
    if name == "__version__":
        from .command import version

        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ExportRefused",
    "ImportRefused",
    "Measurement",
    "NetcError",
    "Problem",
    "Report",
    "check",
    "compare",
    "estimate",
    "from_config",
    "from_graph",
    "from_jax",
    "from_onnx",
    "from_torch",
    "measure",
    "to_graph",
    "to_onnx",
]
