# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tensors that depend on sizes alone, computed in an ONNX model."""

import numpy
from onnx import TensorProto

from .known import read_number
from .onnx_types import ONNX_TYPES, numpy_type
from .onnx_weights import initial


def add_known(model, value):
    """Makes a tensor that depends on sizes alone."""
    what, name, shape, kind = value["what"], value["name"], value["shape"], value["type"]
    if what == "range" and len(shape) == 1:
        start = model.scalar(value.get("start", 0), kind)
        return model.add("Add", [model.places(shape[0], kind), start], [name])
    if what.removeprefix("not ") in ("causal", "band") and len(shape) == 2:
        row = model.add("Unsqueeze", [model.places(shape[0]), model.integers([1])])
        column = model.add("Unsqueeze", [model.places(shape[1]), model.integers([0])])
        hidden = model.add("Greater", [column, row])
        if what.endswith("band"):
            last = model.add("Sub", [row, model.constant(value["width"], "i8")])
            hidden = model.add("Or", [hidden, model.add("LessOrEqual", [column, last])])
        return model.add("Identity" if what.startswith("not ") else "Not", [hidden], [name])
    if what == "bucket" and len(shape) == 2:
        row = model.add("Unsqueeze", [model.places(shape[0]), model.integers([1])])
        ahead = model.add("Sub", [model.add("Unsqueeze", [model.places(shape[1]), model.integers([0])]), row])
        distance = model.add("Max", [model.add("Neg", [ahead]), model.constant(0, "i8")]) if value["causal"] else model.add("Abs", [ahead])
        reached = model.add("GreaterOrEqual", [model.add("Unsqueeze", [distance, model.integers([-1])]), model.integers(value["thresholds"])])
        bucket = model.add("ReduceSum", [model.add("Cast", [reached], to=TensorProto.INT64), model.integers([-1])], keepdims=0)
        if not value["causal"]:
            is_ahead = model.add("Cast", [model.add("Greater", [ahead, model.constant(0, "i8")])], to=TensorProto.INT64)
            bucket = model.add("Add", [bucket, model.add("Mul", [is_ahead, model.constant(len(value["thresholds"]) + 1, "i8")])])
        return model.add("Cast", [bucket], [name], to=ONNX_TYPES[kind])
    dtype = numpy_type(kind) if kind != "bf16" else numpy.dtype("f4")
    if "values" in value:
        made = model.constant(numpy.array([read_number(each) for each in value["values"]]).reshape(shape), dtype)
    elif "init" not in value:
        model.refuse(f"the graph does not tell what `{name}` holds")
    elif all(isinstance(size, int) for size in shape):
        made = model.constant(initial(shape, value["init"], None, value.get("theta", 1e4)), dtype)
    elif value["init"] in ("zeros", "ones"):
        made = model.add("Expand", [model.constant(value["init"] == "ones", dtype), model.sizes(shape)])
    else:
        made, dtype = _angles(model, value, shape), numpy.dtype("f4")
    if dtype == "f4" and kind != "f32":
        return model.add("Cast", [made], [name], to=ONNX_TYPES[kind])
    return model.add("Identity", [made], [name])


def _angles(model, value, shape):
    """Makes a table with as many rows as there are positions."""
    how, features = value["init"], shape[-1]
    if how not in ("sine", "cosine", "sinusoid", "alibi") or len(shape) != 2 or isinstance(shape[how == "alibi"], int) or not isinstance(shape[how != "alibi"], int):
        model.refuse(f"of the table `{value['name']}`, more than positions is free")
    if how == "alibi":
        slopes = model.constant(numpy.exp2(-8 * (numpy.arange(shape[0]) + 1) / shape[0])[:, None], "f4")
        return model.add("Mul", [slopes, model.places(features, "f32")])
    feature = numpy.arange(features)
    even = feature - feature % 2 if how == "sinusoid" else feature
    speed = model.constant(value.get("theta", 1e4) ** (-even / features), "f4")
    angle = model.add("Mul", [model.add("Unsqueeze", [model.places(shape[0], "f32"), model.integers([1])]), speed])
    if how != "sinusoid":
        return model.add("Sin" if how == "sine" else "Cos", [angle])
    return model.add("Where", [model.constant(feature % 2 == 1), model.add("Cos", [angle]), model.add("Sin", [angle])])
