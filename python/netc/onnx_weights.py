# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The weights of an ONNX model: from files, from arrays, or initialized."""

import math
import os
import pathlib

import numpy

from .errors import ExportRefused
from .onnx_types import numpy_type

MOST_BYTES = 2**31 - 2**20  # of a message of protobuf: a tensor, or a file


def initial(shape, how, random, theta=1e4):
    """A tensor with the values of the `init` of a parameter or table; docs/Language.md lists them."""
    size = math.prod(shape)
    fan = size / shape[0] if shape else 1
    if how in ("zeros", "ones"):
        return numpy.full(shape, how == "ones", "f4")
    if how == "normal":
        return random.normal(0, 0.02, shape).astype("f4")
    if how in ("fan_in", "uniform"):
        bound = math.sqrt((3 if how == "fan_in" else 1) / fan)
        return random.uniform(-bound, bound, shape).astype("f4")
    rows, features = shape[-2:] if len(shape) > 1 else (shape[0], 1)
    place, feature = numpy.mgrid[:rows, :features]
    if how == "identity":
        table = place == feature
    elif how == "alibi":
        table = feature * numpy.exp2(-8 * (place + 1) / rows)
    else:
        even = feature - feature % 2 if how == "sinusoid" else feature
        angle = place * theta ** (-even / features)
        table = numpy.cos(angle) if how == "cosine" else numpy.sin(angle) if how == "sine" else numpy.where(feature % 2, numpy.cos(angle), numpy.sin(angle))
    return numpy.broadcast_to(table, shape).astype("f4")


class Weights:
    def __init__(self, given, seed):
        self.random = numpy.random.default_rng(seed)
        self.folder = pathlib.Path(given) if isinstance(given, (str, os.PathLike)) else None
        self.arrays = given if isinstance(given, dict) else {}

    def check(self, names):
        """Arrays of other names are mistakes."""
        if wrong := next((name for name in self.arrays if name not in names), None):
            raise ExportRefused(f"`weights` has {wrong!r}, and the network has no such weight; it has {', '.join(f'`{name}`' for name in names) or 'none'}")

    def of(self, value):
        name, shape, kind = value["name"], value["shape"], value["type"]
        path = self.folder / f"{name}.npy" if self.folder else None
        if name in self.arrays:
            found = numpy.asarray(self.arrays[name])
        elif path and path.exists():
            found = numpy.load(path)
            if kind == "bf16" and found.dtype == numpy.uint16:
                found = (found.astype("u4") << 16).view("f4")
        elif path and not value.get("state"):
            raise ExportRefused(f"`{path}` is missing")
        else:
            if free := next((size for size in shape if not isinstance(size, int)), None):
                raise ExportRefused(f"`{name}` has the size `{free}`, which is free; give its `weights`, or the axis a size")
            found = initial(shape, value.get("init", "fan_in"), self.random)
        if list(found.shape) != shape:
            raise ExportRefused(f"`{name}` is {list(found.shape)}, and {shape} in the graph")
        if numpy.iscomplexobj(found):
            raise ExportRefused(f"`{name}` is of the type {found.dtype}, and {kind} in the graph")
        stored = numpy.dtype("f4" if kind == "bf16" else numpy_type(kind))
        if found.size * stored.itemsize > MOST_BYTES:
            raise ExportRefused(f"`{name}` takes {found.size * stored.itemsize / 1e9:.1f} GB, and a tensor of ONNX has at most 2.1 GB")
        return found.astype(stored)
