# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Recurrences of ONNX, with PyTorch's weights."""

import numpy

from .handlers import Handlers
from .onnx_shapes import refused
from .onnx_types import TYPES

OPS = Handlers()


def _is_whole(file, length, x, attributes):
    """Whether all sequences have all steps."""
    steps = 1 if attributes.get("layout") else 0
    return all(length in sample.values and (sample.values[length] == sample.shapes[x][steps]).all() for sample in file.samples)


@OPS.of("LSTM", "GRU", "RNN")
def recurrence(file, graph, node, attributes):
    """Writes a recurrence with PyTorch's weights for each direction. ONNX's results have an axis for the
    directions, so PyTorch's results are reshaped."""
    x, w, r, b, length, *states, peepholes = [*node.input, *[""] * 8][:8]
    forward = attributes.get("direction", "forward")
    without = {
        "direction": forward if forward == "reverse" else None, "clip": attributes.get("clip"), "input_forget": attributes.get("input_forget"),
        "linear_before_reset": "0" if node.op_type == "GRU" and not attributes.get("linear_before_reset") else None,
        "P": peepholes, "sequence_lens": length if length and not _is_whole(file, length, x, attributes) else None,
    }  # fmt: skip
    if wrong := next((f"`{key}` is {value}" for key, value in without.items() if value), None):
        raise refused(node, f"{wrong}; netc has it forward or in both directions, over all steps, as PyTorch has it")
    usual = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}[node.op_type]
    activations = attributes.get("activations", usual)
    is_relu = node.op_type == "RNN" and set(activations) == {"Relu"}
    if not is_relu and activations != usual * (len(activations) // len(usual)):
        raise refused(node, f"its activations are {', '.join(activations)}")
    sources = {name: _sources(file, name) for name in (w, r, b) if name}
    if any(not found or sum(file.count(each) for each in found) != file.count(name) for name, found in sources.items()):
        raise refused(node, "its weights are computed")
    directions, cells = file.samples[0].shapes[w][0], attributes["hidden_size"]
    has_state_biases = bool(b) and not _is_half(file, b)
    is_batch_first, batch_at = bool(attributes.get("layout")), 0 if attributes.get("layout") else 1
    swapped = lambda tensor, name: {**tensor, "name": f"{node.output[0]}.{name}", "shape": [*tensor["shape"][1::-1], *tensor["shape"][2:]]}
    ins, batch = [x], file.shape(x)[batch_at]
    if is_batch_first:
        ins = [swapped(file.tensor(x), "turned")]
        graph.add(node, "onnx.Transpose", [x], ins, dims=[1, 0, 2])
    for i, state in enumerate(states[: 2 if node.op_type == "LSTM" else 1]):
        if state and _is_zero(file, state):
            file.weights.pop(state, None)
            state = ""
        if state and is_batch_first:
            ins.append(swapped(file.tensor(state), f"first{i}"))
            graph.add(node, "onnx.Transpose", [state], ins[-1:], dims=[1, 0, 2])
            continue
        if state:
            ins.append(state)
            continue
        zero = f"{node.output[0]}.state{i}"
        graph.known[zero] = {"name": zero, "type": "f32", "shape": [directions, batch, cells], "what": "number", "value": 0}
        ins.append(graph.known[zero])
    for side in range(directions):
        for name in (w, r):
            _part(file, x, ins, f"{name}[{side}]", file.samples[0].shapes[name][1:])
        if b:
            half = file.samples[0].shapes[b][1] // 2
            _part(file, x, ins, f"{b}[{side}]", (half,))
            if has_state_biases:
                _part(file, x, ins, f"{b}[{side}].state", (half,))
    for name in {each for found in sources.values() for each in found}:
        file.weights.pop(name, None)
    steps = file.shape(x)[1 - batch_at]
    kind = TYPES[file.samples[0].types[x]]
    flat, split = ({"name": f"{node.output[0]}.{text}", "type": kind, "shape": shape} for text, shape in (("flat", [steps, batch, directions * cells]), ("split", [steps, batch, directions, cells])))
    state = {"type": kind, "shape": [directions, batch, cells]}
    outs = [flat, *[{**state, "name": f"{node.output[0]}.{i}"} if is_batch_first or not out else out for i, out in enumerate(node.output[1:])]]
    graph.add(node, f"onnx.{node.op_type}", ins, outs, has_biases=bool(b), has_state_biases=has_state_biases, bidirectional=directions == 2, num_layers=1, batch_first=False, nonlinearity="relu" if is_relu else None)
    if node.output[0]:
        graph.add(node, "onnx.Reshape", [flat], [split])
        graph.add(node, "onnx.Transpose", [split], [node.output[0]], dims=[1, 0, 2, 3] if is_batch_first else [0, 2, 1, 3])
    for made, out in zip(outs[1:], node.output[1:]) if is_batch_first else ():
        if out:
            graph.add(node, "onnx.Transpose", [made], [out], dims=[1, 0, 2])


def _is_zero(file, state):
    """Whether a first state is zeros, which PyTorch's exporter writes as a weight where none is given."""
    values = file.values(state)
    return values is not None and not values.any()


def _is_half(file, biases):
    """Whether the biases of the state are zeros, as exporters write those that a recurrence does not have."""
    values = file.values(biases)
    return values is not None and not numpy.split(values, 2, axis=1)[1].any()


def _sources(file, name):
    """The weights that a value consists of, if it is made from them by moving elements alone; else None."""
    if name in file.weights:
        return {name}
    maker = file.producers.get(name)
    if maker is None or maker.op_type not in ("Concat", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"):
        return None
    found = [_sources(file, each) for each in (maker.input if maker.op_type == "Concat" else maker.input[:1])]
    return set().union(*found) if all(found) else None


def _part(file, x, ins, name, shape):
    file.types[name] = file.samples[0].types[x]
    file.weights[name] = tuple(shape)
    ins.append({"name": name})
