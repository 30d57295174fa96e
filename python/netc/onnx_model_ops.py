# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops of PyTorch in an ONNX model: a function has what goes in, what comes out, and the settings."""

import numpy
from onnx import helper

from .handlers import Handlers
from .onnx_types import ONNX_TYPES

LAST = 2**63 - 1  # of an axis
# Ops with the same meaning under another name.
SAME = {
    "aten.abs": "Abs", "aten.cos": "Cos", "aten.detach": "Identity", "aten.exp": "Exp", "aten.hardswish": "HardSwish",
    "aten.log": "Log", "aten.neg": "Neg", "aten.relu": "Relu", "aten.sigmoid": "Sigmoid", "aten.sign": "Sign",
    "aten.sin": "Sin", "aten.softplus": "Softplus", "aten.sqrt": "Sqrt", "aten.tanh": "Tanh",
}  # fmt: skip
# Ops with two operands that broadcast.
BROADCAST = {
    "aten.add": "Add", "aten.div": "Div", "aten.eq": "Equal", "aten.ge": "GreaterOrEqual", "aten.gt": "Greater",
    "aten.le": "LessOrEqual", "aten.lt": "Less", "aten.maximum": "Max", "aten.minimum": "Min", "aten.mul": "Mul",
    "aten.sub": "Sub",
}  # fmt: skip

OPS = Handlers()


def _axis(model, name, given):
    return given["dim"] % len(model.shape(name))


def broadcast(model, op, ins, out, given):
    if ins[0] in model.masks:  # of dropout, which does nothing here
        model.masks[out] = True
        return
    if any(each in model.masks for each in ins):
        model.add("Identity", [model.whole(next(each for each in ins if each not in model.masks))], [out])
        return
    kind, shape = model.values[ins[0]]["type"], model.at["out"][0]["shape"]
    if len(ins) == 1:
        number = model.scalar(given.get("self", given.get("other")), kind)
        pair = [number, model.whole(ins[0])] if "self" in given else [model.whole(ins[0]), number]
    else:
        full = [each for each in ins if each not in model.expanded and model.values[each].get("what") != "number" and model.shape(each) == shape]
        largest = full[0] if full else next((each for each in ins if model.shape(each) == shape), ins[0])
        pair = [model.whole(each) if each == largest else model.small(each) for each in ins]
        kinds = [model.values[each]["type"] for each in ins]
        widest = min(kinds, key=list(ONNX_TYPES).index)
        pair = [model.cast(each, kind, widest) for each, kind in zip(pair, kinds)]
    model.add(op, pair, [out])


@OPS.of("ne")
def ne(model, ins, outs, given):
    equal = model.unique(outs[0] + ".equal")
    broadcast(model, "Equal", ins, equal, given)
    model.add("Not", [equal], outs)


@OPS.of("bernoulli")
def bernoulli(model, ins, outs, given):
    model.masks[outs[0]] = True


@OPS.of("dropout")
def dropout(model, ins, outs, given):
    model.add("Dropout", [model.whole(ins[0]), model.constant(given["p"], "f4")], outs)


@OPS.of("hardtanh")
def hardtanh(model, ins, outs, given):
    kind = model.values[ins[0]]["type"]
    model.add("Clip", [model.whole(ins[0]), model.scalar(given["min_val"], kind), model.scalar(given["max_val"], kind)], outs)


@OPS.of("silu")
def silu(model, ins, outs, given):
    x = model.whole(ins[0])
    model.add("Mul", [x, model.add("Sigmoid", [x])], outs)


@OPS.of("gelu")
def gelu(model, ins, outs, given):
    model.add("Gelu", [model.whole(ins[0])], outs, approximate=given.get("approximate", "none"))


@OPS.of("hardsigmoid")
def hardsigmoid(model, ins, outs, given):
    model.add("HardSigmoid", [model.whole(ins[0])], outs, alpha=1 / 6, beta=0.5)


@OPS.of("leaky_relu")
def leaky_relu(model, ins, outs, given):
    model.add("LeakyRelu", [model.whole(ins[0])], outs, alpha=given["negative_slope"])


@OPS.of("elu")
def elu(model, ins, outs, given):
    model.add("Elu", [model.whole(ins[0])], outs, alpha=float(given["alpha"]))


@OPS.of("softshrink")
def softshrink(model, ins, outs, given):
    model.add("Shrink", [model.whole(ins[0])], outs, lambd=given["lambd"], bias=given["lambd"])


@OPS.of("pow")
def power(model, ins, outs, given):
    model.add("Pow", [model.whole(ins[0]), model.scalar(given["exponent"], model.values[ins[0]]["type"])], outs)


@OPS.of("to")
def to(model, ins, outs, given):
    model.add("Cast", [model.whole(ins[0])], outs, to=ONNX_TYPES[model.values[outs[0]]["type"]])


@OPS.of("where")
def where(model, ins, outs, given):
    condition, one, other = model.whole(ins[0]), model.small(ins[1]), model.small(ins[2])
    if model.values[outs[0]]["type"] != "bool":
        model.add("Where", [condition, one, other], outs)
    elif ins[2] == ins[0]:  # both, either, or one of two conditions, between which onnxruntime does not choose
        model.add("And", [condition, one], outs)
    elif ins[1] == ins[0]:
        model.add("Or", [condition, other], outs)
    else:
        model.add("Or", [model.add("And", [condition, one]), model.add("And", [model.add("Not", [condition]), other])], outs)


@OPS.of("masked_fill")
def masked_fill(model, ins, outs, given):
    value = model.scalar(given["value"], model.values[ins[0]]["type"])
    model.add("Where", [model.small(ins[1]), value, model.whole(ins[0])], outs)


@OPS.of("linear")
def linear(model, ins, outs, given):
    turned = model.add("Transpose", [model.whole(ins[1])], perm=[1, 0])
    product = model.add("MatMul", [model.whole(ins[0]), turned], 1 if len(ins) > 2 else outs)
    if len(ins) > 2:
        model.add("Add", [product, model.whole(ins[2])], outs)


@OPS.of("einsum")
def einsum(model, ins, outs, given):
    model.add("Einsum", [model.whole(each) for each in ins], outs, equation=given["equation"])


def _read(model, op, ins, outs, axis, features, goes_in=False):
    """Reads rows or elements by numbers. The rows have so many axes of their own."""
    numbers, are = model.existing(ins[1], model.shape(ins[0])[axis], goes_in)
    read = model.add(op, [model.whole(ins[0]), numbers], 1 if are else outs, axis=axis)
    if are:
        model.only(are, read, model.values[outs[0]]["type"], outs, features)


@OPS.of("embedding", "index")
def embedding(model, ins, outs, given):
    _read(model, "Gather", ins, outs, axis=0, features=len(model.shape(ins[0])) - 1, goes_in=model.at["op"] == "aten.embedding")


@OPS.of("index_add")
def index_add(model, ins, outs, given):
    rows, kind = model.whole(ins[2]), model.values[ins[2]]["type"]
    numbers, are = model.existing(ins[1], model.shape(ins[0])[0])
    if are:
        rows = model.only(are, rows, kind, 1, features=len(model.shape(ins[2])) - 1)
    places = model.add("Unsqueeze", [model.cast(numbers, model.values[ins[1]]["type"], "i64"), model.integers([-1])])
    model.add("ScatterND", [model.whole(ins[0]), places, rows], outs, reduction="add")


@OPS.of("gather")
def gather(model, ins, outs, given):
    _read(model, "GatherElements", ins, outs, axis=_axis(model, ins[0], given), features=0)


@OPS.of("topk")
def topk(model, ins, outs, given):
    _, places = model.add("TopK", [model.whole(ins[0]), model.integers([given["k"]])], [outs[0], model.unique(outs[1] + ".i64")], axis=_axis(model, ins[0], given))
    model.add("Cast", [places], [outs[1]], to=ONNX_TYPES[model.values[outs[1]]["type"]])
    model.rows.add(outs[1])


def _reduce(model, op, ins, outs, given):
    dims = given["dim"] or list(range(len(model.shape(ins[0]))))
    model.add(op, [model.whole(ins[0]), model.integers(dims)], outs, keepdims=int(given.get("keepdim", False)))


@OPS.of("sum")
def total(model, *node):
    _reduce(model, "ReduceSum", *node)


@OPS.of("mean")
def mean(model, *node):
    _reduce(model, "ReduceMean", *node)


@OPS.of("amax")
def amax(model, *node):
    _reduce(model, "ReduceMax", *node)


@OPS.of("amin")
def amin(model, *node):
    _reduce(model, "ReduceMin", *node)


@OPS.of("softmax")
def softmax(model, ins, outs, given):
    model.add("Softmax", [model.whole(ins[0])], outs, axis=_axis(model, ins[0], given))


@OPS.of("log_softmax")
def log_softmax(model, ins, outs, given):
    model.add("LogSoftmax", [model.whole(ins[0])], outs, axis=_axis(model, ins[0], given))


@OPS.of("var")
def var(model, ins, outs, given):
    if given["correction"]:
        model.refuse("its divisor is not the number of elements")
    x = model.whole(ins[0])
    off = model.add("Sub", [x, model.add("ReduceMean", [x, model.integers(given["dim"])])])
    model.add("ReduceMean", [model.add("Mul", [off, off]), model.integers(given["dim"])], outs, keepdims=int(given["keepdim"]))


@OPS.of("cross_entropy_loss")
def cross_entropy_loss(model, ins, outs, given):
    """ONNX has it of class numbers, without smoothing. A number that is of no class is ignored."""
    logits, shape, kind = model.whole(ins[0]), model.shape(ins[0]), model.values[ins[0]]["type"]
    smoothing, axis, of = float(given.get("label_smoothing", 0)), min(1, len(shape) - 1), model.values[ins[1]]["type"]
    if model.shape(ins[1]) == shape:
        likely = model.add("Mul", [_smoothed(model, model.whole(ins[1]), kind, axis, smoothing), model.add("LogSoftmax", [logits], axis=axis)])
        model.add("Neg", [model.add("ReduceMean", [model.add("ReduceSum", [likely, model.integers([axis])], keepdims=0)], keepdims=0)], outs)
        return
    target = model.cast(model.whole(ins[1]), of, "i64")
    are = model.are_of(target, "i64", shape[axis])
    if not smoothing:
        model.add("SoftmaxCrossEntropyLoss", [logits, model.add("Where", [are, target, model.integers(-1)])], outs, ignore_index=-1)
        return
    numbers = model.add("Reshape", [model.places(shape[axis]), model.integers([-1] + [1] * (len(shape) - axis - 1))])
    is_class = model.add("Equal", [model.add("Unsqueeze", [target, model.integers([axis])]), numbers])
    wanted = _smoothed(model, model.add("Cast", [is_class], to=ONNX_TYPES[kind]), kind, axis, smoothing)
    likely = model.add("ReduceSum", [model.add("Mul", [wanted, model.add("LogSoftmax", [logits], axis=axis)]), model.integers([axis])], keepdims=0)
    labels = model.add("ReduceSum", [model.add("Cast", [are], to=ONNX_TYPES[kind])], keepdims=0)
    total = model.add("ReduceSum", [model.only(are, likely, kind, 1)], keepdims=0)
    model.add("Neg", [model.add("Div", [total, labels])], outs)


def _smoothed(model, target, kind, axis, smoothing):
    """A distribution of classes, some of which is spread evenly."""
    if not smoothing:
        return target
    spread = model.add("ReduceMean", [target, model.integers([axis])])
    return model.add("Add", [model.add("Mul", [target, model.scalar(1 - smoothing, kind)]), model.add("Mul", [spread, model.scalar(smoothing, kind)])])


@OPS.of("cumprod")
def cumprod(model, ins, outs, given):
    """A loop over the axis, since ONNX has no such op."""
    axis, kind, shape = _axis(model, ins[0], given), ONNX_TYPES[model.values[ins[0]]["type"]], model.shape(ins[0])
    rest = shape[:axis] + shape[axis + 1 :]
    before, each, product, element = (model.unique(f"{outs[0]}.{what}") for what in ("before", "factor", "product", "element"))
    info = lambda name: helper.make_tensor_value_info(name, kind, rest)
    nodes = [helper.make_node("Mul", [before, each], [product]), helper.make_node("Identity", [product], [element])]
    body = helper.make_graph(nodes, outs[0], [info(before), info(each)], [info(product), info(element)])
    one = model.add("Expand", [model.scalar(1, model.values[ins[0]]["type"]), model.sizes(rest)])
    first = model.add("Transpose", [model.whole(ins[0])], perm=[axis, *(each for each in range(len(shape)) if each != axis)])
    products = model.add("Scan", [one, first], 2, body=body, num_scan_inputs=1)[1]
    model.add("Transpose", [products], outs, perm=[*range(1, axis + 1), 0, *range(axis + 1, len(shape))])


@OPS.of("cumsum")
def cumsum(model, ins, outs, given):
    model.add("CumSum", [model.whole(ins[0]), model.constant(_axis(model, ins[0], given), "i8")], outs)


def _by_root(model, x, given, outs):
    """Makes x divided by the root of its mean square."""
    kind = model.values[outs[0]]["type"]
    axes = model.integers(list(range(-len(given["normalized_shape"]), 0)))
    mean = model.add("ReduceMean", [model.add("Mul", [x, x]), axes], keepdims=1)
    root = model.add("Sqrt", [model.add("Add", [mean, model.scalar(given["eps"], kind)])])
    model.add("Div", [x, root], outs)


@OPS.of("rms_norm")
def rms_norm(model, ins, outs, given):
    _by_root(model, model.whole(ins[0]), given, outs)


@OPS.of("layer_norm")
def layer_norm(model, ins, outs, given):
    x, sizes = model.whole(ins[0]), given["normalized_shape"]
    if all(isinstance(size, int) for size in sizes):
        ones = model.typed(numpy.ones(sizes), model.values[outs[0]]["type"])
        model.add("LayerNormalization", [x, ones], outs, axis=-len(sizes), epsilon=given["eps"])
    else:
        mean = model.add("ReduceMean", [x, model.integers(list(range(-len(sizes), 0)))], keepdims=1)
        _by_root(model, model.add("Sub", [x, mean]), given, outs)


@OPS.of("batch_norm")
def batch_norm(model, ins, outs, given):
    channels, kind = model.shape(ins[0])[1], model.values[outs[0]]["type"]
    scale, shift = (model.typed(numpy.full(channels, value), kind) for value in (1, 0))
    running = [model.cast(each, model.values[each]["type"], kind) for each in ins[3:]]
    model.add("BatchNormalization", [model.whole(ins[0]), scale, shift, *running], outs, epsilon=given["eps"])


def _windows(model, given):
    found = {"strides": given["stride"], "pads": given["padding"] * 2}
    return {**found, "dilations": given["dilation"]} if "dilation" in given else found


@OPS.of("conv")
def conv(model, ins, outs, given):
    model.add("Conv", [model.whole(ins[0]), model.whole(ins[1])], outs, group=given["groups"], **_windows(model, given))


@OPS.of("conv_transpose")
def conv_transpose(model, ins, outs, given):
    model.add("ConvTranspose", [model.whole(ins[0]), model.whole(ins[1])], outs, group=given["groups"], output_padding=given["output_padding"], **_windows(model, given))


@OPS.of("max_pool")
def max_pool(model, ins, outs, given):
    model.add("MaxPool", [model.whole(ins[0])], outs, kernel_shape=given["kernel_size"], ceil_mode=int(given["ceil_mode"]), **_windows(model, given))


@OPS.of("avg_pool")
def avg_pool(model, ins, outs, given):
    """A window that is partly outside at the end is divided by all of it, and padded to be so, since runtimes differ there."""
    x, pads = model.whole(ins[0]), given["padding"] * 2
    windows = len(given["padding"])
    if given["ceil_mode"]:
        sizes = zip(model.shape(ins[0])[2:], model.shape(outs[0])[2:], given["kernel_size"], given["stride"], given["padding"])
        last = [(after - 1) * stride + kernel - before - low for before, after, kernel, stride, low in sizes]
        x = model.add("Pad", [x, model.integers([0, 0, *given["padding"], 0, 0, *last]), model.scalar(0, model.values[ins[0]]["type"])])
        pads = [0] * 2 * windows
    model.add("AveragePool", [x], outs, kernel_shape=given["kernel_size"], strides=given["stride"], pads=pads, count_include_pad=1)


@OPS.of("adaptive_avg_pool")
def adaptive_avg_pool(model, ins, outs, given):
    x, wanted = model.whole(ins[0]), given["output_size"]
    if all(size == 1 for size in wanted):
        model.add("GlobalAveragePool", [x], outs)
        return
    # Each axis is contracted with a matrix of the shares of positions in the means.
    letters = "xyz"[: len(wanted)]
    for i, (before, after) in enumerate(zip(model.shape(ins[0])[2:], wanted)):
        if not isinstance(before, int):
            model.refuse("its windows depend on sizes")
        shares = numpy.zeros((after, before))
        for j in range(after):
            start, end = j * before // after, -(-(j + 1) * before // after)
            shares[j, start:end] = 1 / (end - start)
        result = letters.replace(letters[i], "w")
        x = model.add("Einsum", [x, model.typed(shares, model.values[ins[0]]["type"])], outs if i + 1 == len(wanted) else 1, equation=f"nc{letters},w{letters[i]}->nc{result}")


@OPS.of("view")
def view(model, ins, outs, given):
    sizes = model.shape(outs[0])
    are_free = [not isinstance(size, int) for size in sizes]
    wanted = model.integers([-1 if free else size for size, free in zip(sizes, are_free)]) if sum(are_free) < 2 else model.sizes(sizes)
    model.add("Reshape", [model.whole(ins[0]), wanted], outs)


@OPS.of("expand")
def expand(model, ins, outs, given):
    model.expand(outs[0], model.whole(ins[0]))


@OPS.of("permute")
def permute(model, ins, outs, given):
    model.add("Transpose", [model.whole(ins[0])], outs, perm=given["dims"])


@OPS.of("flip")
def flip(model, ins, outs, given):
    count = len(given["dims"])
    model.add("Slice", [model.whole(ins[0]), *map(model.integers, ([-1] * count, [-LAST] * count, given["dims"], [-1] * count))], outs)


@OPS.of("cat")
def cat(model, ins, outs, given):
    model.add("Concat", [model.whole(each) for each in ins], outs, axis=_axis(model, ins[0], given))


@OPS.of("stack")
def stack(model, ins, outs, given):
    axis = given["dim"]
    model.add("Concat", [model.add("Unsqueeze", [model.whole(each), model.integers([axis])]) for each in ins], outs, axis=axis)


@OPS.of("split_with_sizes")
def split_with_sizes(model, ins, outs, given):
    model.add("Split", [model.whole(ins[0]), model.sizes(given["split_sizes"])], outs, axis=_axis(model, ins[0], given))


@OPS.of("unfold")
def unfold(model, ins, outs, given):
    axis, rank = given["dimension"], len(model.shape(ins[0]))
    starts = model.places(model.shape(outs[0])[axis])
    if given["step"] != 1:
        starts = model.add("Mul", [starts, model.integers([given["step"]])])
    places = model.add("Add", [model.add("Unsqueeze", [starts, model.integers([1])]), model.places(given["size"])])
    windows = model.add("Gather", [model.whole(ins[0]), places], axis=axis)
    model.add("Transpose", [windows], outs, perm=[*range(axis + 1), *range(axis + 2, rank + 1), axis + 1])


@OPS.of("higher_order.scan")
def scan(model, ins, outs, given):
    body = model.body(outs[0], model.at["body"])
    model.add("Scan", [model.whole(each) for each in ins], outs, body=body, num_scan_inputs=len(ins) - given["carried"])


@OPS.of("slice")
def slices(model, ins, outs, given):
    start, end = (model.size(given[key]) for key in ("start", "end"))
    model.add("Slice", [model.whole(ins[0]), start, end, model.integers([given["dim"]])], outs)


@OPS.of("constant_pad_nd")
def constant_pad_nd(model, ins, outs, given):
    rank, amounts = len(model.shape(ins[0])), given["pad"]
    low, high = [0] * rank, [0] * rank
    for i in range(len(amounts) // 2):
        low[rank - 1 - i], high[rank - 1 - i] = amounts[2 * i], amounts[2 * i + 1]
    model.add("Pad", [model.whole(ins[0]), model.integers(low + high), model.scalar(given["value"], model.values[ins[0]]["type"])], outs)
