# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops of ONNX in the graph that `netc import` reads."""

import re

import numpy

from .handlers import Handlers
from .onnx_shapes import integer, refused
from .onnx_types import TYPES
from .sizes import plus

OPS = Handlers()
TO_THE_END = 2**30  # exporters slice to the end by such numbers, or larger ones


def _norm(file, graph, op, ins, node, **arguments):
    """Adds a norm without a shift of zeros, and without a scale of ones."""
    while len(ins) > 1 and (not ins[-1] or file.holds(ins[-1], len(ins) == 2) or _is_of_exporter(file, node, ins[-1], len(ins) == 2)):
        file.weights.pop(ins.pop(), None)
    graph.add(node, op, ins, [node.output[0]], **arguments)


@OPS.of("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile", "Identity", "Cast", "CastLike")
def view(file, graph, node, _):
    graph.add(node, f"onnx.{node.op_type}", [node.input[0]], [node.output[0]])


def _windows(file, node, attributes):
    """The arguments of windows over images. Their padding is that of the first ends of all axes, and then that of the others."""
    x = node.input[0]
    count = file.rank(x) - 2
    pads, auto = attributes.get("pads", [0] * 2 * count), attributes.get("auto_pad", "NOTSET")
    low, high = pads[:count], pads[count:]
    same = {"stride": attributes.get("strides", [1] * count), "dilation": attributes.get("dilations", [1] * count)}
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        kernel = attributes.get("kernel_shape") or list(file.samples[0].shapes[node.input[1]][2:])
        sizes = [file.shape(x)[2 + i] for i in range(count)]
        if any(isinstance(size, str) for size in sizes):
            raise refused(node, "its padding depends on sizes")
        for i, size in enumerate(sizes):
            total = max(0, (-(-size // same["stride"][i]) - 1) * same["stride"][i] + (kernel[i] - 1) * same["dilation"][i] + 1 - size)
            small, large = total // 2, total - total // 2
            low[i], high[i] = (small, large) if auto == "SAME_UPPER" else (large, small)
    return {**same, "padding": low + high}


@OPS.of("Conv")
def conv(file, graph, node, attributes):
    """If both ends have different padding, the input is padded here."""
    x, arguments = node.input[0], _windows(file, node, attributes)
    count = file.rank(x) - 2
    low, high = arguments["padding"][:count], arguments["padding"][count:]
    if low != high:
        padded = {**file.tensor(x), "name": f"{node.output[0]}.padded"}
        for i in range(count):
            padded["shape"][2 + i] = plus(padded["shape"][2 + i], low[i] + high[i])
        graph.add(node, "onnx.Pad", [x], [padded], pad=[each for pair in zip(reversed(low), reversed(high)) for each in pair], mode="constant")
        x, low = padded, [0] * count
    arguments["padding"] = low
    ins = [x, *node.input[1:]]
    if len(ins) == 3 and file.holds(ins[2], 0):
        ins.pop()  # a bias of zeros that no one learns
    graph.add(node, "onnx.Conv", ins, [node.output[0]], groups=attributes.get("group", 1), **arguments)


@OPS.of("ConvTranspose")
def conv_transpose(file, graph, node, attributes):
    count, first = file.rank(node.input[0]) - 2, file.samples[0].shapes
    pads, extra = attributes.get("pads", [0] * 2 * count), attributes.get("output_padding", [0] * count)
    stride, dilation = attributes.get("strides", [1] * count), attributes.get("dilations", [1] * count)
    low, high = pads[:count], pads[count:]
    if attributes.get("auto_pad", "NOTSET") != "NOTSET" or "output_shape" in attributes:
        for i, (size, made, kernel) in enumerate(zip(*(first[name][2:] for name in (node.input[0], node.output[0], node.input[1])))):
            total = stride[i] * (size - 1) + extra[i] + (kernel - 1) * dilation[i] + 1 - made
            if total < 0:
                raise refused(node, "it makes positions that no window reaches")
            low[i] = total // 2 if attributes.get("auto_pad") == "SAME_UPPER" else total - total // 2
            high[i] = total - low[i]
    # What is cut off at one end only is cut off behind it.
    both = [min(pair) for pair in zip(low, high)]
    x, rest = {**file.tensor(node.output[0]), "name": f"{node.output[0]}.whole"}, [i for i in range(count) if low[i] != high[i]]
    x["shape"] = x["shape"][:2] + [plus(size, low[i] + high[i] - 2 * both[i]) for i, size in enumerate(x["shape"][2:])]
    arguments = {"groups": attributes.get("group", 1), "stride": stride, "dilation": dilation, "padding": both, "output_padding": extra}
    graph.add(node, "onnx.ConvTranspose", list(node.input), [x if rest else node.output[0]], **arguments)
    for i in rest:
        cut = {**x, "name": f"{node.output[0]}.{i}", "shape": list(x["shape"])}
        cut["shape"][2 + i] = file.shape(node.output[0])[2 + i]
        graph.add(node, "onnx.Slice", [x], [node.output[0] if i == rest[-1] else cut], dim=2 + i, start=low[i] - both[i], step=1)
        x = cut


@OPS.of("MaxPool", "AveragePool")
def pool(file, graph, node, attributes, x=None, op=None, out=None):
    """`x`, `op` and `out`: what is pooled, how, and what is made, where it is not as the node says."""
    arguments = _windows(file, node, attributes)
    op = op or node.op_type
    if op == "AveragePool":
        if set(arguments.pop("dilation")) != {1}:
            raise refused(node, "netc averages what lies side by side")
        arguments["count_include_pad"] = node.op_type == "LpPool" or bool(attributes.get("count_include_pad", 0))
    graph.add(node, f"onnx.{op}", [x or node.input[0]], [out or node.output[0]], kernel_size=attributes["kernel_shape"], ceil_mode=bool(attributes.get("ceil_mode", 0)), **arguments)


@OPS.of("GlobalAveragePool")
def global_average_pool(file, graph, node, _):
    graph.add(node, "onnx.GlobalAveragePool", [node.input[0]], [node.output[0]], output_size=1)


@OPS.of("GlobalMaxPool")
def global_max_pool(file, graph, node, _):
    graph.add(node, "onnx.ReduceMax", [node.input[0]], [node.output[0]], dim=list(range(2, file.rank(node.input[0]))), keepdim=True)


@OPS.of("Gemm")
def gemm(file, graph, node, attributes):
    """If its parts are scaled, they are several nodes."""
    (x, matrix, *shift), out = node.input, node.output[0]
    alpha, beta = (attributes.get(key, 1) for key in ("alpha", "beta"))
    if attributes.get("transA", 0):
        turned = {**file.tensor(x, file.shape(x)[::-1]), "name": f"{out}.turned"}
        graph.add(node, "onnx.Transpose", [x], [turned], dims=[1, 0])
        x = turned
    turn, shift = bool(attributes.get("transB", 0)), shift[0] if shift else ""
    if alpha == 1 and (not shift or beta == 1):
        return graph.add(node, "onnx.Gemm", [x, matrix, shift], [out], transB=turn)
    product, scaled = ({**file.tensor(out, file.shape(out)), "name": f"{out}.{text}"} for text in ("product", "scaled"))
    graph.add(node, "onnx.Gemm", [x, matrix], [product], transB=turn)
    graph.add(node, "aten.mul", [product], [scaled if shift else out], other=alpha)
    if shift:
        part = {**file.tensor(shift), "name": f"{out}.shift"}
        graph.add(node, "aten.mul", [shift], [part], other=beta)
        graph.add(node, "onnx.Add", [scaled, part], [out])


def matrix(file, node):
    """The matrix of a product, and whether it is that of a layer, [out, in]."""
    maker = file.producers.get(node.input[1])
    is_turned = maker is not None and maker.op_type == "Transpose" and maker.input[0] in file.weights and file.rank(maker.input[0]) == 2
    return (maker.input[0] if is_turned else node.input[1]), is_turned


@OPS.of("MatMul")
def mat_mul(file, graph, node, _):
    x = node.input[0]
    w, is_turned = matrix(file, node)
    if w not in file.weights or file.rank(w) != 2:
        return graph.add(node, "onnx.MatMul", list(node.input), [node.output[0]])
    # Include the bias that is added next, if nothing else reads the product.
    out, bias = node.output[0], None
    users = file.users.get(out, [])
    if len(users) == 1 and users[0].op_type == "Add":
        other = next(name for name in users[0].input if name != out)
        if other in file.weights and len(file.weights[other]) == 1 and file.samples[0].shapes[users[0].output[0]] == file.samples[0].shapes[out]:
            bias, out = other, users[0].output[0]
            graph.skipped.add(id(users[0]))
    return graph.add(node, "onnx.Gemm", [x, w, bias], [out], transB=is_turned)


@OPS.of("BatchNormalization")
def batch_normalization(file, graph, node, attributes):
    for name in node.input[3:5]:
        if not any(name in user.input[:3] for user in file.users[name]):  # exporters join what is equal
            file.weights.pop(name, None)  # statistics, which do not learn
    _norm(file, graph, "onnx.BatchNormalization", list(node.input[:3]), node, eps=attributes.get("epsilon", 1e-5))


@OPS.of("LayerNormalization")
def layer_normalization(file, graph, node, attributes):
    shape = file.shape(node.input[0])
    _norm(file, graph, "onnx.LayerNormalization", list(node.input), node, eps=attributes.get("epsilon", 1e-5), normalized_shape=shape[attributes.get("axis", -1) :])


@OPS.of("GroupNormalization")
def group_normalization(file, graph, node, attributes):
    if any(file.samples[0].shapes[name] != file.samples[0].shapes[node.input[0]][1:2] for name in node.input[1:]):
        raise refused(node, "it scales groups and not channels, as opsets before 21 do")
    graph.add(node, "onnx.GroupNormalization", list(node.input), [node.output[0]], eps=attributes.get("epsilon", 1e-5), num_groups=attributes["num_groups"])


@OPS.of("InstanceNormalization")
def instance_normalization(file, graph, node, attributes):
    x, *own = node.input
    maker = file.producers.get(x)
    # Of a group norm, whose scale and shift follow, or without any.
    is_apart = maker is not None and maker.op_type == "Reshape"
    is_made = _is_filled if is_apart else _is_of_exporter
    if all(is_made(file, node, name, number) for name, number in zip(own, (1, 0))):
        for name in own:
            file.weights.pop(name, None)
        own = []
    graph.add(node, "onnx.GroupNormalization", [x, *own], [node.output[0]], eps=attributes.get("epsilon", 1e-5), num_groups=file.shape(x)[1])


def _is_filled(file, node, name, number):
    """Whether an initializer has this number in all elements, and only such norms read it."""
    values = file.values(name)
    return values is not None and all(user.op_type == node.op_type for user in file.users[name]) and (values == number).all()


def _is_of_exporter(file, node, name, number):
    """Whether an exporter wrote it for a norm that has none: exporters that name weights do not name these."""
    return re.fullmatch(r"val_\d+", name) is not None and _is_filled(file, node, name, number)


@OPS.of("RMSNormalization")
def rms_normalization(file, graph, node, attributes):
    if attributes.get("axis", -1) not in (-1, file.rank(node.input[0]) - 1):
        raise refused(node, "it is over several axes")
    graph.add(node, "onnx.RMSNormalization", list(node.input), [node.output[0]], eps=attributes.get("epsilon", 1e-5))


@OPS.of("Softmax", "LogSoftmax")
def softmax(file, graph, node, attributes):
    rank = file.rank(node.input[0])
    at = attributes.get("axis", -1 if file.opset >= 13 else 1) % rank
    if file.opset < 13 and at != rank - 1:
        raise refused(node, "it is over several axes")
    graph.add(node, f"onnx.{node.op_type}", [node.input[0]], [node.output[0]], dim=at)


@OPS.of("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def class_loss(file, graph, node, attributes):
    (x, classes, *weights), out = node.input, node.output[0]
    if any(weights):
        raise refused(node, "its classes have weights")
    ignored, reduction, scores = attributes.get("ignore_index", -1), attributes.get("reduction", "mean"), x
    if node.op_type == "SoftmaxCrossEntropyLoss":
        named = node.output[1] if len(node.output) > 1 and file.is_read(node.output[1]) else ""
        scores = named or {**file.tensor(x), "name": f"{out}.scores"}
        if reduction == "mean" and not named:
            return graph.add(node, "aten.cross_entropy_loss", [x, classes], [out], reduction=1, ignore_index=ignored)
        graph.add(node, "aten.log_softmax", [x], [scores], dim=1)
    if ignored >= 0:
        raise refused(node, "netc ignores rows in a mean alone")
    batch, *rest = file.shape(classes)
    column = {**file.tensor(classes, [batch, 1, *rest]), "name": f"{out}.classes"}
    taken, negative = ({**file.tensor(x, shape), "name": f"{out}.{name}"} for name, shape in (("taken", column["shape"]), ("rows", file.shape(classes))))
    losses = out if reduction == "none" else {**negative, "name": f"{out}.losses"}
    graph.add(node, "aten.view", [classes], [column])
    graph.add(node, "aten.gather", [scores, column], [taken], dim=1)
    graph.add(node, "aten.view", [taken], [negative])
    graph.add(node, "aten.neg", [negative], [losses])
    if reduction != "none":
        graph.add(node, f"aten.{reduction}", [losses], [out])
    return None


@OPS.of("Gelu")
def gelu(file, graph, node, attributes):
    graph.add(node, "onnx.Gelu", [node.input[0]], [node.output[0]], approximate=attributes.get("approximate", "none"))


@OPS.of("Transpose")
def transpose(file, graph, node, attributes):
    rank = file.rank(node.input[0])
    graph.add(node, "onnx.Transpose", [node.input[0]], [node.output[0]], dims=attributes.get("perm", list(range(rank))[::-1]))


@OPS.of("Concat")
def concat(file, graph, node, attributes):
    graph.add(node, "onnx.Concat", list(node.input), [node.output[0]], dim=attributes["axis"])


@OPS.of("Split")
def split(file, graph, node, attributes):
    graph.add(node, "onnx.Split", [node.input[0]], list(node.output), dim=attributes.get("axis", 0))


@OPS.of("SplitToSequence")
def split_to_sequence(file, graph, node, attributes):
    pass


@OPS.of("SequenceAt")
def sequence_at(file, graph, node, _):
    split = file.producers[node.input[0]]
    axis = integer(split, "axis", 0)
    start = [sum(part[axis] for part in sample.parts[node.input[0]][: int(sample.values[node.input[1]])]) for sample in file.samples]
    graph.add(node, "onnx.Slice", [split.input[0]], [node.output[0]], dim=axis, start=file.size(node, start))


def _limit_slice(file, node, at, sizes, *places):
    """Notes from which size on a free axis is cut at a fixed place, or up to which one it is not; and up to which size a fixed
    axis is as long as a free one."""
    if len(set(sizes)) == 1:
        end = places[-1]
        if len(set(end)) > 1 and all(0 < each <= sizes[0] for each in end):
            part = file.polynomial(end) or "the part"
            file.limit(node, f"it takes {part} of an axis of {sizes[0]}, so that {part} is at most {sizes[0]}")
        return
    for place in places:
        number = abs(place[0])
        if len(set(place)) != 1 or number in (0, 1) or number >= TO_THE_END:
            continue
        if number >= max(sizes):
            file.limit(node, f"it cuts an axis of {file.shape(node.input[0])[at]} at {place[0]}; this holds where that is no longer")
        elif number > 2:
            file.limit(node, f"it cuts an axis of {file.shape(node.input[0])[at]} at {place[0]}; this holds where that is no shorter")


@OPS.of("Slice")
def slices(file, graph, node, attributes):
    x, rank = node.input[0], file.rank(node.input[0])
    starts, axes, steps = file.by_sample(node, attributes, "starts", 1), file.given(node, attributes, "axes", 3), file.given(node, attributes, "steps", 4)
    axes = [a % rank for a in axes] if axes else list(range(len(starts[0])))
    ends = file.by_sample(node, attributes, "ends", 2)
    shape = file.shape(x)
    for i, at in enumerate(axes):
        sizes = [sample.shapes[node.input[0]][at] for sample in file.samples]
        _limit_slice(file, node, at, sizes, [each[i] for each in starts], [each[i] for each in ends])
        step = steps[i] if steps else 1
        is_whole = file.shape(node.output[0])[at] == shape[at]
        if step < 0 and not (step == -1 and is_whole):
            raise refused(node, "it goes backward over a part of an axis")
        start = file.size(node, [min(max(s[i] + (n if s[i] < 0 else 0), 0), n) for s, n in zip(starts, sizes)])
        shape = [*shape[:at], file.shape(node.output[0])[at], *shape[at + 1 :]]
        out = node.output[0] if i + 1 == len(axes) else {"name": f"{node.output[0]}.{i}", "type": TYPES[file.samples[0].types[node.input[0]]], "shape": shape}
        if step < 0:
            graph.add(node, "aten.flip", [x], [out], dims=[at])
        else:
            graph.add(node, "onnx.Slice", [x], [out], dim=at, start=start, step=step)
        x = out


@OPS.of("CumSum")
def cum_sum(file, graph, node, attributes):
    if attributes.get("exclusive") or attributes.get("reverse"):
        raise refused(node, "it is exclusive or goes backward")
    (axis,) = file.given(node, attributes, "axis", 1)
    graph.add(node, "aten.cumsum", [node.input[0]], [node.output[0]], dim=axis)


@OPS.of("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceLogSumExp")
def reduce(file, graph, node, attributes, x=None, op=None, out=None):
    """`x`, `op` and `out`: what is reduced, how, and what is made, where it is not as the node says."""
    axes = file.given(node, attributes, "axes", 1)
    x, op, out = x or node.input[0], op or node.op_type, out or node.output[0]
    if not axes and attributes.get("noop_with_empty_axes"):
        return graph.add(node, "aten.abs" if op in ("ReduceL1", "ReduceL2") else "onnx.Identity", [x], [out])
    return graph.add(node, f"onnx.{op}", [x], [out], dim=axes or None, keepdim=bool(attributes.get("keepdims", 1)))


@OPS.of("ArgMax", "ArgMin")
def extreme(file, graph, node, attributes):
    if attributes.get("select_last_index"):
        raise refused(node, "of equal elements, netc takes the first")
    graph.add(node, f"onnx.{node.op_type}", [node.input[0]], [node.output[0]], dim=attributes.get("axis", 0))


# Of n pixels of a resized axis, the places of the old one at which they lie. `ratio`: between the two sizes.
PLACES = {
    "align_corners": lambda n, old, ratio: numpy.arange(n) * (old - 1) / max(n - 1, 1),
    "asymmetric": lambda n, old, ratio: numpy.arange(n) / ratio,
    "half_pixel": lambda n, old, ratio: (numpy.arange(n) + 0.5) / ratio - 0.5,
    "half_pixel_symmetric": lambda n, old, ratio: old / 2 * (1 - n / (ratio * old)) + (numpy.arange(n) + 0.5) / ratio - 0.5,
    "pytorch_half_pixel": lambda n, old, ratio: (numpy.arange(n) + 0.5) / ratio - 0.5 if n > 1 else numpy.zeros(1),
    "tf_half_pixel_for_nn": lambda n, old, ratio: (numpy.arange(n) + 0.5) / ratio,
}
ROUNDED = {"round_prefer_floor": lambda x: numpy.ceil(x - 0.5), "round_prefer_ceil": lambda x: numpy.floor(x + 0.5), "floor": numpy.floor, "ceil": numpy.ceil}


@OPS.of("Resize")
def resize(file, graph, node, attributes):
    mode, way = attributes.get("mode", "nearest"), attributes.get("coordinate_transformation_mode", "half_pixel" if file.opset > 10 else "asymmetric")
    if mode == "cubic" or attributes.get("antialias") or attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise refused(node, "netc takes the nearest pixel, or lines between the two nearest")
    rounded = attributes.get("nearest_mode", "round_prefer_floor" if file.opset > 10 else "floor")
    for sample in file.samples:
        old, new = (sample.shapes[name] for name in (node.input[0], node.output[0]))
        given = sample.values.get(node.input[1 if file.opset < 11 else 2]) if len(node.input) < 4 else None
        ratios = dict(zip(attributes.get("axes") or range(len(old)), given if given is not None else ()))
        for axis, (n, size) in enumerate(zip(new, old)):
            if way in PLACES and _is_resized(mode, PLACES[way](n, size, ratios.get(axis, n / size)), ROUNDED[rounded], n, size, way):
                continue
            ours = f"takes the pixel where each new one starts, and not `{rounded}` of" if mode == "nearest" else "spreads pixels by their centers or by the corners, and not by"
            raise refused(node, f"netc {ours} `{way}`")
    graph.add(node, "onnx.Resize", [node.input[0]], [node.output[0]], mode=mode, align_corners=mode == "linear" and way == "align_corners")


def _is_resized(mode, places, rounded, n, size, way):
    """Whether these places on an axis are those of netc."""
    inside = lambda x: numpy.clip(x, 0, size - 1)
    if mode == "nearest":
        return numpy.array_equal(inside(rounded(numpy.round(places, 5))), numpy.arange(n) * size // n)
    return numpy.allclose(inside(places), inside(PLACES["align_corners" if way == "align_corners" else "half_pixel"](n, size, n / size)), atol=1e-5)


@OPS.of("DepthToSpace")
def depth_to_space(file, graph, node, attributes):
    factor = attributes["blocksize"]
    if attributes.get("mode", "DCR") == "CRD":
        return graph.add(node, "aten.pixel_shuffle", [node.input[0]], [node.output[0]], upscale_factor=factor)
    batch, _, height, width = file.shape(node.input[0])
    channels = file.shape(node.output[0])[1]
    parts = {**file.tensor(node.output[0], [batch, factor, factor, channels, height, width]), "name": f"{node.output[0]}.parts"}
    turned = {**parts, "shape": [batch, channels, height, factor, width, factor], "name": f"{node.output[0]}.turned"}
    graph.add(node, "aten.view", [node.input[0]], [parts])
    graph.add(node, "aten.permute", [parts], [turned], dims=[0, 3, 4, 1, 5, 2])
    return graph.add(node, "aten.view", [turned], [node.output[0]])


@OPS.of("SpaceToDepth")
def space_to_depth(file, graph, node, attributes):
    factor = attributes["blocksize"]
    batch, channels = file.shape(node.input[0])[:2]
    height, width = file.shape(node.output[0])[2:]
    parts = {**file.tensor(node.output[0], [batch, channels, height, factor, width, factor]), "name": f"{node.output[0]}.parts"}
    turned = {**parts, "shape": [batch, factor, factor, channels, height, width], "name": f"{node.output[0]}.turned"}
    graph.add(node, "aten.view", [node.input[0]], [parts])
    graph.add(node, "aten.permute", [parts], [turned], dims=[0, 3, 5, 1, 2, 4])
    graph.add(node, "aten.view", [turned], [node.output[0]])


@OPS.of("Pow")
def power(file, graph, node, _):
    numbers = {key: file.number(name) for key, name in zip(("self", "exponent"), node.input)}
    ins = [name for name, number in zip(node.input, numbers.values()) if number is None]
    graph.add(node, "onnx.Pow", ins, [node.output[0]], **numbers)


@OPS.of("Pad")
def pad(file, graph, node, attributes):
    pads, rank = file.given(node, attributes, "pads", 1), file.rank(node.input[0])
    axes = file.given(node, attributes, "axes", 3)
    low, high = [0] * rank, [0] * rank
    for i, at in enumerate(axes if axes else range(rank)):
        low[at], high[at] = pads[i], pads[len(pads) // 2 + i]
    amounts = [each for pair in zip(reversed(low), reversed(high)) for each in pair]
    mode = {"edge": "replicate", "wrap": "circular"}.get(attributes.get("mode"), attributes.get("mode", "constant"))
    value = attributes.get("value", 0)
    if len(node.input) > 2 and node.input[2]:
        value = file.number(node.input[2])
        if value is None:
            raise refused(node, "what it is filled with depends on data")
    graph.add(node, "onnx.Pad", [node.input[0]], [node.output[0]], pad=amounts, mode=mode, value=value)


@OPS.of("Dropout")
def dropout(file, graph, node, attributes):
    given = node.input[1] if len(node.input) > 1 else ""
    ratio = attributes.get("ratio", file.number(given) if given else 0.5)
    if ratio is None:
        raise refused(node, "its ratio is no number that is known")
    graph.add(node, "onnx.Dropout", [node.input[0]], [node.output[0]], p=ratio)


@OPS.of("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
def random(file, graph, node, _):
    graph.drawn.append(file.tensor(node.output[0]))
    graph.made.add(node.output[0])


@OPS.of("IsNaN")
def is_nan(file, graph, node, _):
    """Accepts only tests for NaN that exporters write to replace NaN by zeros, or to keep it."""
    if node.output[0] in file.results or not all(_repairs(file, user) for user in file.users[node.output[0]]):
        raise refused(node, "netc has no test for NaN, but for one whose NaN are replaced by zeros, or kept")


def _repairs(file, node):
    maker = file.producers.get(node.input[0])
    tested = maker.input[0] if node.op_type == "Where" and maker is not None and maker.op_type == "IsNaN" else None
    return tested is not None and (tested == node.input[1] or tested == node.input[2] and file.number(node.input[1]) == 0)


@OPS.of("Where")
def where(file, graph, node, _):
    condition, x, other = node.input
    if file.number(condition) is not None:
        return graph.add(node, "onnx.Expand", [x if file.number(condition) else other], [node.output[0]])
    if _repairs(file, node):
        return graph.add(node, "onnx.Identity", [other], [node.output[0]])
    if file.number(other) is not None and file.number(x) is None:
        return graph.add(node, "onnx.Where", [condition, x], [node.output[0]], other=file.number(other))
    if file.number(x) is not None and file.number(other) is None:
        return graph.add(node, "onnx.Where", [condition, other], [node.output[0]], **{"self": file.number(x)})
    return graph.add(node, "onnx.Where", [condition, x, other], [node.output[0]])


@OPS.of("TopK")
def top_k(file, graph, node, attributes):
    count = file.given(node, attributes, "k", 1)
    (count,) = count if isinstance(count, list) else [count]
    graph.add(node, "onnx.TopK", [node.input[0]], list(node.output), k=count, dim=attributes.get("axis", -1), largest=bool(attributes.get("largest", 1)))


@OPS.of("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
def compare(file, graph, node, _):
    """Writes a comparison with the number on the right."""
    turned = {"Greater": "Less", "GreaterOrEqual": "LessOrEqual", "Less": "Greater", "LessOrEqual": "GreaterOrEqual"}
    (a, b), op = node.input, node.op_type
    if file.number(a) is not None:
        a, b, op = b, a, turned.get(op, op)
    number = file.number(b)
    graph.add(node, f"onnx.{op}", [a, b] if number is None else [a], [node.output[0]], other=number)


@OPS.of("Constant")
def constant(file, graph, node, _):
    raise refused(node, "its value is no tensor")
