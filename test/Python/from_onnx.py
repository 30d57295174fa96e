# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: onnx
# RUN: env PYTHONPATH=%source_dir/python %python %s

# What files say in different ways, by opset and exporter, is one graph; what netc cannot know is refused by name.

import itertools
import math
import pathlib
import warnings

import numpy
import onnx.version_converter
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import netc
from netc.onnx_graph import export


def model(nodes, inputs, outputs=("y",), weights=(), constants=(), opset=18):
    """`weights`: sizes by name; `constants`: arrays by name."""
    held = [numpy_helper.from_array(numpy.random.rand(*size).astype("f4"), name) for name, size in dict(weights).items()]
    held += [numpy_helper.from_array(numpy.asarray(value), name) for name, value in dict(constants).items()]
    shaped = lambda values: [helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in values.items()]
    graph = helper.make_graph(nodes, "Small", shaped(inputs), [helper.make_empty_tensor_value_info(name) for name in outputs], held)
    for out in graph.output:
        out.type.tensor_type.elem_type = TensorProto.FLOAT
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def node(op, ins, outs, **attributes):
    return helper.make_node(op, ins.split(), outs.split(), **attributes)


def only(graph, op):
    found = [each for each in graph["nodes"] if each["op"] == f"onnx.{op}"]
    assert len(found) == 1, graph["nodes"]
    return found[0]


def refused(text, made):
    try:
        netc.from_onnx(made)
    except netc.ImportRefused as problem:
        assert text in str(problem), problem
    else:
        raise AssertionError(f"{text}: it was imported")


# Axes are attributes, or inputs.
axes = numpy.array([1])
old = model([node("ReduceMean", "x", "y", axes=[1], keepdims=0)], {"x": ["N", 8, 4]}, ["y"], opset=13)
new = model([node("ReduceMean", "x axes", "y", keepdims=0)], {"x": ["N", 8, 4]}, ["y"], constants={"axes": axes})
assert export(old)["nodes"] == export(new)["nodes"]
assert only(export(old), "ReduceMean")["with"] == {"dim": [1], "keepdim": False}

# Sizes that are computed: N x T x 6 as (N T) x 6.
flat = [node("Shape", "x", "s"), node("Gather", "s zero", "n"), node("Gather", "s one", "t"), node("Mul", "n t", "rows"), node("Unsqueeze", "rows first", "r"), node("Concat", "r six", "p", axis=0), node("Reshape", "x p", "y")]
constants = {"zero": numpy.array(0), "one": numpy.array(1), "first": numpy.array([0]), "six": numpy.array([6])}
graph = export(model(flat, {"x": ["batch", "time", 6]}, ["y"], constants=constants))
assert graph["symbols"] == {"N": {"min": 2}, "T": {"min": 2}} and only(graph, "Reshape")["out"][0]["shape"] == ["N*T", 6]

# Padding that is different at both ends is an op of its own.
same = [node("Conv", "x w", "y", auto_pad="SAME_UPPER", strides=[2, 2])]
graph = export(model(same, {"x": ["N", 3, 8, 8]}, ["y"], {"w": (4, 3, 3, 3)}))
assert only(graph, "Pad")["with"]["pad"] == [0, 1, 0, 1] and only(graph, "Conv")["with"]["padding"] == [0, 0]
assert "Conv(4, 3, stride = 2, bias = false)" in netc.from_onnx(model(same, {"x": ["N", 3, 8, 8]}, ["y"], {"w": (4, 3, 3, 3)}))

# GELU as exporters write it, in both orders.
root, one, half = (numpy.float32(number) for number in (math.sqrt(2), 1, 0.5))
constants = {"root": root, "one": one, "half": half, "inverse": numpy.float32(math.sqrt(0.5))}
head = [node("Div", "x root", "a"), node("Erf", "a", "b"), node("Add", "b one", "c")]
for scaled in head[0], node("Mul", "x inverse", "a"), node("Mul", "inverse x", "a"):
    for tail in [node("Mul", "x c", "d"), node("Mul", "d half", "y")], [node("Mul", "x half", "d"), node("Mul", "d c", "y")], [node("Mul", "half x", "d"), node("Mul", "d c", "y")]:
        text = netc.from_onnx(model([scaled, *head[1:], *tail], {"x": ["N", 8]}, ["y"], constants=constants))
        assert "return y = x |> gelu\n" in text, text
refused("it computes with an `erf` that is in no GELU", model(head, {"x": ["N", 8]}, ["c"], constants=constants))

# A recurrence in both directions: PyTorch's weights, and the parameters of the file.
lstm = [node("LSTM", "x w r b", "s", hidden_size=4, direction="bidirectional")]
graph = export(model(lstm, {"x": [5, "N", 8]}, ["s"], {"w": (2, 16, 8), "r": (2, 16, 4), "b": (2, 32)}))
assert sum(math.prod(weight["shape"]) for weight in graph["weights"]) == 2 * (16 * 8 + 16 * 4 + 32)
text = netc.from_onnx(model(lstm, {"x": [5, "N", 8]}, ["s"], {"w": (2, 16, 8), "r": (2, 16, 4), "b": (2, 32)}))
assert text.count("LSTM(4, state_bias = true)") == 2
assert netc.estimate(text).networks[0].parameters.total == 2 * (16 * 8 + 16 * 4 + 32)

# Biases of the state that are zeros, as tf2onnx writes those that a recurrence of Keras does not have, are no parameters.
zeros = model(lstm, {"x": [5, "N", 8]}, ["s"], {"w": (2, 16, 8), "r": (2, 16, 4)}, {"b": numpy.eye(2, 32, dtype="f4")})
assert netc.estimate(netc.from_onnx(zeros)).networks[0].parameters.total == 2 * (16 * 8 + 16 * 4 + 16)

# A first state of zeros, as PyTorch's exporter writes where none is given, is no parameter; another one is.
for first, more in (numpy.zeros, 0), (numpy.ones, 2 * 3 * 4):
    started = model([node("LSTM", "x w r none none h c", "s", hidden_size=4, direction="bidirectional")], {"x": [5, 3, 8]}, ["s"], {"w": (2, 16, 8), "r": (2, 16, 4)}, {each: first((2, 3, 4), "f4") for each in "hc"})
    started.graph.node[0].input[3:5] = ["", ""]
    assert netc.estimate(netc.from_onnx(started)).networks[0].parameters.total == 2 * (16 * 8 + 16 * 4) + 2 * more

# Rows of a table by numbers that may be negative, as tf2onnx writes them: only the numbers count.
number = [
    node("Add", "x rows", "a"), node("Cast", "x", "f", to=1), node("Less", "f zero", "l"), node("Not", "l", "n"), node("Cast", "n", "p", to=6), node("Mul", "x p", "q"),
    node("Cast", "l", "k", to=6), node("Mul", "k a", "r"), node("Add", "r q", "i"), node("Gather", "w i", "y"),
]  # fmt: skip
wrapped = model(number, {"x": ["N", 6]}, ["y"], {"w": (50, 16)}, {"rows": numpy.int32(50), "zero": numpy.float32(0)})
wrapped.graph.input[0].type.tensor_type.elem_type = TensorProto.INT32
assert [each["op"] for each in export(wrapped)["nodes"]] == ["onnx.Gather"] and "Embedding(50, 16)" in netc.from_onnx(wrapped)
rounded = [node("Cast", "x", "i", to=6), node("Gather", "w i", "y")]
refused("`onnx.Cast`, in the module itself: it rounds to whole numbers", model(rounded, {"x": ["N", 6]}, ["y"], {"w": (50, 16)}))
refused("`onnx.Cast`, in the module itself: it rounds to whole numbers", model([rounded[0], node("Cast", "i", "y", to=1)], {"x": ["N", 6]}, ["y"]))
shifted = [node("Sub", "x rows", "a"), node("Gather", "w a", "y")]
apart = model(shifted, {"x": ["N", 6]}, ["y"], {"w": (50, 16)}, {"rows": numpy.int32(1)})
apart.graph.input[0].type.tensor_type.elem_type = TensorProto.INT32
assert [each["op"] for each in export(apart)["nodes"]] == ["onnx.Sub", "onnx.Gather"]

# A group norm of older opsets: norms of groups, with a scale and a shift that are not learned, and its own behind them.
fixed = {"s": numpy.array([0, 2, -1]), "b": numpy.array([0, 8, 4, 4])}
grouped = [node("Reshape", "x s", "a"), node("InstanceNormalization", "a one none", "n"), node("Reshape", "n b", "c"), node("Mul", "c w", "d"), node("Add", "d v", "y")]
made = model(grouped, {"x": ["N", 8, 4, 4]}, ["y"], {"w": (8, 1, 1), "v": (8, 1, 1)}, {**fixed, "one": numpy.ones(2, "f4"), "none": numpy.zeros(2, "f4")})
assert netc.estimate(netc.from_onnx(made)).networks[0].parameters.total == 16
learned = model([node("InstanceNormalization", "x one none", "y")], {"x": ["N", 8, 4, 4]}, ["y"], constants={"one": numpy.ones(8, "f4"), "none": numpy.zeros(8, "f4")})
assert netc.estimate(netc.from_onnx(learned)).networks[0].parameters.total == 16

# The largest place of all, and a transposed convolution that is cut at one end, or padded, also of a free length.
largest = model([node("GlobalMaxPool", "x", "y")], {"x": ["N", 8, 12]}, ["y"], opset=13)
assert only(export(largest), "ReduceMax")["with"] == {"dim": [2], "keepdim": True} and "max(x" in netc.from_onnx(largest)
for how in {"pads": [0, 0, 1, 1]}, {"auto_pad": "SAME_UPPER"}, {"output_shape": [16, 16], "auto_pad": "SAME_UPPER"}:
    graph = export(model([node("ConvTranspose", "x w", "y", strides=[2, 2], **how)], {"x": ["N", 3, 8, 8]}, ["y"], {"w": (3, 4, 3, 3)}))
    assert [each["out"][0]["shape"][2:] for each in graph["nodes"]] == [[17, 17], [16, 17], [16, 16]], graph
    assert [each["with"].get("start", 0) for each in graph["nodes"]] == [0, 0, 0]
for op, sizes, text in ("ConvTranspose", (3, 4, 3), "ConvT(4, 3, stride = 2, bias = false)"), ("Conv", (4, 3, 3), "Conv(4, 3, stride = 2, bias = false)"):
    sided = model([node(op, "x w", "y", strides=[2], pads=[1, 0])], {"x": ["N", 3, 8]}, ["y"], {"w": sizes})
    assert text in netc.from_onnx(sided)
sided = model([node("Conv", "x w", "y", pads=[2, 0])], {"x": ["N", 3, "T"]}, ["y"], {"w": (4, 3, 3)})
assert only(export(sided), "Pad")["out"][0]["shape"] == ["N", 3, "T + 2"] and "Conv(4, 3, bias = false)" in netc.from_onnx(sided)

# Images with channels last, as Keras has them.
last = model([node("Transpose", "x", "t", perm=[0, 3, 1, 2]), node("Conv", "t w", "y")], {"x": ["N", 16, 12, 3]}, ["y"], {"w": (4, 3, 3, 3)})
text = netc.from_onnx(last)
assert "x: f32[N, H = 16, W = 12, C = 3]" in text and 'x |> rearrange("n h w c -> n c h w") |> conv' in text, text

# Whether batch norms were folded into convolutions, names tell: PyTorch's of biases that are no module's, and those of tf2onnx.
for producer, bias, is_folded in (
    ("pytorch", "onnx::Conv_30", True), ("pytorch", "conv.bias", False),
    ("tf2onnx", "model/bn/FusedBatchNormV3_bias_fused_bn", True), ("tf2onnx", "Squeeze:0", False),
):  # fmt: skip
    folded = model([helper.make_node("Conv", ["x", "w", bias], ["y"])], {"x": ["N", 3, 8, 8]}, ["y"], {"w": (4, 3, 3, 3), bias: (4,)})
    folded.producer_name = producer
    assert ("folded batch norms" in netc.from_onnx(folded)) == is_folded, (producer, bias)

# In files of the newer exporter, the layer is in the module of the batch norm.
scopes = {"name_scopes": "['', 'bn', 'conv2d']", "class_hierarchy": "['Net', 'torch.nn.modules.batchnorm.{}', 'aten.conv2d.default']"}
for op, kind, size, is_folded in ("Conv", "BatchNorm2d", (4, 3, 3, 3), True), ("Gemm", "BatchNorm1d", (3, 4), True), ("Conv", "InstanceNorm2d", (4, 3, 3, 3), False):
    layer = node(op, "x w conv.bias", "y")
    for key, text in scopes.items():
        layer.metadata_props.add(key=f"pkg.torch.onnx.{key}", value=text.format(kind))
    folded = model([layer], {"x": ["N", 3, 8, 8][: len(size)]}, ["y"], {"w": size, "conv.bias": (4,)})
    folded.producer_name = "pytorch"
    assert ("folded batch norms" in netc.from_onnx(folded)) == is_folded, (op, kind)

# Ops that are several ops of netc compute the same, on the way in and out.
image, both = {"x": [2, 5, 7, 7]}, {"x": [3, 8], "z": [8]}
for made in (
    *(model([node(op, "x", "y")], both) for op in ("Softsign", "HardSigmoid", "ThresholdedRelu")),
    *(model([node(op, ins, "y")], both) for op in ("Max", "Mean", "Min", "Sum") for ins in ("x", "x z", "x z x")),
    *(model([node(op, "z z x x", "y")], both) for op in ("Max", "Min")),
    *(model([node("Selu", "x", "y", **how)], both) for how in ({}, {"alpha": 1.67326, "gamma": 1.0507}, {"alpha": 0.5, "gamma": 2.0})),
    *(model([node("Exp", "x", "e"), node("Pow", ins, "y")], both, constants={"two": numpy.float32(2)}) for ins in ("e z", "e two", "two e", "e x")),
    *(model([node("Tile", "x n", "y")], both, constants={"n": numpy.array(times)}) for times in ([1, 3], [2, 1], [2, 3])),
    *(model([node(op, "x axes", "y")], image, constants={"axes": numpy.array([1, -1])}) for op in ("ReduceSumSquare",)),
    *(model([node("Exp", "x", "e"), node(op, "e axes", "y", keepdims=0)], image, constants={"axes": numpy.array([1])}) for op in ("ReduceLogSum",)),
    *(model([node(op, "x", "y", noop_with_empty_axes=1)], image) for op in ("ReduceSum", "ReduceSumSquare", "ReduceL2")),
    *(model([node("LpPool", "x", "y", kernel_shape=[2, 3], strides=[2, 1], p=p)], image) for p in (2, 3)),
    *(model([node("MaxPool", "x", "y", kernel_shape=[2, 2], **how)], image) for how in ({"auto_pad": "SAME_LOWER"}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, {"pads": [0, 1, 1, 0]})),
    model([node("AveragePool", "x", "y", kernel_shape=[2, 2], pads=[1, 0, 0, 1], count_include_pad=1)], image, opset=19),
    *(model([node("Pad", "x p v", "y")], image, constants={"p": numpy.array([0, 0, 1, 0, 0, 0, 2, 1]), "v": numpy.float32(value)}) for value in (0, 1.5, -math.inf)),
    *(model([node("ArgMax", "x", "t", axis=1, keepdims=0), node("OneHot", "t depth values", "y", axis=at)], image, constants={"depth": numpy.array(5), "values": numpy.array([0, 1], "f4")}) for at in (1, -1)),
):
    given = {value.name: numpy.random.randn(*(size.dim_value for size in value.type.tensor_type.shape.dim)).astype("f4") for value in made.graph.input}
    again = netc.to_onnx(netc.from_onnx(made))
    (wanted,) = ReferenceEvaluator(made).run(None, given)
    (found,) = ReferenceEvaluator(again).run(None, {each.name: given[each.name] for each in again.graph.input})
    assert numpy.allclose(found, wanted, rtol=1e-4, atol=1e-5), made.graph.node
for size, low, high in (3, 1, 1), (4, 1, 2):  # not as ReferenceEvaluator, whose LRN is wrong
    again = netc.to_onnx(netc.from_onnx(model([node("LRN", "x", "y", size=size, alpha=0.5)], image)))
    given = numpy.random.randn(2, 5, 7, 7).astype("f4")
    squares = numpy.pad(given**2, [(0, 0), (low, high), (0, 0), (0, 0)])
    wanted = given / (1 + 0.5 / size * sum(squares[:, i : i + 5] for i in range(size))) ** 0.75
    assert numpy.allclose(ReferenceEvaluator(again).run(None, {"x": given})[0], wanted, rtol=1e-4), size
refused("netc has ones among zeros", model([node("OneHot", "x depth values", "y")], {"x": ["N"]}, constants={"depth": numpy.array(5), "values": numpy.array([1, 2], "f4")}))

# Statistics of batch norms are no parameters.
norm = model([node("BatchNormalization", "x a b m v", "y")], {"x": ["N", 4, 8, 8]}, ["y"], {key: (4,) for key in "abmv"})
assert netc.estimate(netc.from_onnx(norm)).networks[0].parameters.total == 8 and [each["name"] for each in export(norm)["weights"]] == ["a", "b"]

# Nor do those that several norms share say that exporters merge weights; weights do.
for shared, again, is_said in ("m", "m", False), ("m", "mm", False), ("a", "a", True), ("a", "aa", True):
    first = "x a b m v"
    second = first.replace("x", "n").replace("a", "c").replace("b", "d").replace("m", "o").replace("v", "p").replace({"m": "o", "a": "c"}[shared], again)
    renamed = [node("Identity", shared, again)] if again != shared else []
    norms = model([*renamed, node("BatchNormalization", first, "n"), node("BatchNormalization", second, "y")], {"x": ["N", 4, 8, 8]}, ["y"], {key: (4,) for key in "abmvcdop"})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = netc.from_onnx(norms)
    assert (len(caught) == 1) == ("Several layers read `a`" in text) == is_said, text
    assert netc.estimate(text).networks[0].parameters.total == 16 - 4 * is_said, text

# What `Constant` nodes hold does not learn, as whole numbers and single numbers; other initializers do.
held = numpy_helper.from_array(numpy.arange(8, dtype="f4"))
shifted = [helper.make_node("Constant", [], ["c"], value=held), node("Add", "x c", "a"), node("Add", "a w", "y")]
assert netc.estimate(netc.from_onnx(model(shifted, {"x": ["N", 8]}, ["y"], {"w": (8,)}))).networks[0].parameters.total == 8

# Comparisons, with a number on either side, and their opposites.
for nodes in [node("Greater", "zero x", "c")], [node("GreaterOrEqual", "x zero", "d"), node("Not", "d", "c")]:
    text = netc.from_onnx(model([*nodes, node("Where", "c x two", "y")], {"x": ["N", 8]}, ["y"], constants={"zero": numpy.float32(0), "two": numpy.float32(2)}))
    assert "where(x < 0, x, 2)" in text, text

# Activations of recurrences are those that netc has.
rnn = lambda *names: model([node("RNN", "x w r", "s", hidden_size=4, activations=list(names))], {"x": [5, "N", 8]}, ["s"], {"w": (1, 4, 8), "r": (1, 4, 4)})
assert "act = relu" in netc.from_onnx(rnn("Relu"))
refused("its activations are Elu", rnn("Elu"))

# A module that is called twice is there twice.
named = [node("Relu", "x", "a"), node("Relu", "a", "y")]
named[0].name, named[1].name = "/body/act/Relu", "/body/act_1/Relu"
assert [each["path"] for each in export(model(named, {"x": ["N", 8]}, ["y"]))["modules"]] == ["body", "body.act", "body.act_1"]

# One square matrix, and its transpose.
turned = [node("MatMul", "x w", "a"), node("Transpose", "w", "t", perm=[1, 0]), node("MatMul", "a t", "y")]
text = netc.from_onnx(model(turned, {"x": ["N", 8]}, ["y"], {"w": (8, 8)}))
assert "y = (x @ w) @ transpose(w)" in text, text
assert netc.estimate(text).networks[0].parameters.total == 64

refused("the model has more than three free axes", model([node("Relu", "x", "y")], {"x": list("ABCDEFGHI")}, ["y"]))
refused("`onnx.NonZero`: the shape of what it makes depends on data", model([node("NonZero", "x", "y")], {"x": ["N", 8]}, ["y"]))
refused("`onnx.BatchNormalization`: its operand `scale` is missing", model([node("BatchNormalization", "x", "y")], {"x": ["N", 8]}, ["y"]))
refused("`onnx.IsNaN`: netc has no test for NaN, but for one whose NaN are replaced by zeros, or kept", model([node("IsNaN", "x", "y")], {"x": ["N", 8]}, ["y"]))
refused("no output depends on what goes in, but for its sizes", model([node("Size", "x", "y"), node("Shape", "x", "z")], {"x": ["N", 8]}, ["y", "z"]))
spec = netc.from_onnx(model([node("Shape", "x", "n"), node("Relu", "x", "y")], {"x": ["N", 8]}, ["n", "y"], opset=22))
assert "# The net is without the output `n`, which depends on sizes alone.\n" in spec and spec.endswith("  return y = x |> relu\n}\n"), spec
assert "# The file is of opset 22, and netc was tried with 13 to 21.\n" in spec and "opset" not in netc.from_onnx(old).split("\n", 1)[1]
refused("`onnx.Foo`: ONNX has no such op in opset 18", model([node("Foo", "x", "y")], {"x": ["N", 8]}, ["y"]))
refused("`onnx.Foo`: it is an op of `mine`", model([node("Foo", "x", "y", domain="mine")], {"x": ["N", 8]}, ["y"]))
refused("netc does not know the op `onnx.Asinh`", model([node("Asinh", "x", "y")], {"x": ["N", 8]}, ["y"]))

# A branch whose condition is known is taken; what a branch reads outside is the model's.
branch = lambda name, op: helper.make_graph([node(op, "x", name)], name, [], [helper.make_empty_tensor_value_info(name)])
chosen = lambda condition: [node("If", condition, "y", then_branch=branch("t", "Relu"), else_branch=branch("e", "Tanh"))]
for truth, op in (True, "relu"), (False, "tanh"):
    assert f"return y = x |> {op}\n" in netc.from_onnx(model(chosen("c"), {"x": ["N", 8]}, ["y"], constants={"c": numpy.array(truth)}))
rank = [node("Shape", "x", "s"), node("Gather", "s first", "n"), node("Greater", "n ten", "c")]
constants = {"first": numpy.array(0), "ten": numpy.array(10)}
refused("which branch it takes depends on sizes", model([*rank, *chosen("c")], {"x": ["N", 8]}, ["y"], constants=constants))
sign = [node("ReduceMax", "x", "m", keepdims=0), node("Greater", "m zero", "c")]
refused("`onnx.If`: which branch it takes depends on data", model([*sign, *chosen("c")], {"x": ["N", 8]}, ["y"], constants={"zero": numpy.float32(0)}))
body = helper.make_graph([node("Identity", "on", "on_2"), node("Relu", "v", "v_2")], "body", [
    helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("v", TensorProto.FLOAT, ["N", 8])
], [helper.make_empty_tensor_value_info(name) for name in ("on_2", "v_2")])  # fmt: skip
loop = [node("Loop", "count on x", "y", body=body)]
refused("netc takes no loop; export the model with a number of steps that is fixed", model(loop, {"x": ["N", 8]}, ["y"], constants={"count": numpy.array(3), "on": numpy.array(True)}))

# A loop over sequences is a scan. Bodies may have the same names, and read what is outside.
vector, state = ["N", 8], {"h": ["N", 8], "e": ["N", 8]}
named = lambda values: [helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in values.items()]
steps = helper.make_graph([node("MatMul", "h w", "m"), node("Add", "m e", "a"), node("Tanh", "a", "n"), node("Exp", "e", "unread")], "body", named(state), [helper.make_empty_tensor_value_info(name) for name in ("n", "a")])
scan = lambda ins, outs, **more: node("Scan", ins, outs, body=steps, num_scan_inputs=1, **more)
twice = [scan("x s", "last all"), scan("last all", "y ys")]
made = model(twice, {"x": vector, "s": ["T", "N", 8]}, ["y", "ys"], weights={"w": [8, 8]})
text = netc.from_onnx(made)
assert text.count("scan xt") == 2 and text.count("@ w + xt") == 2 and "  y_2, y_3 = scan xt in s over T carry h = x {\n" in text, text
network = netc.estimate(text).networks[0]
assert network.parameters.total == 64 and network.forward.matmul == "256*T", network.forward
backward = helper.make_graph([scan("x s", "y ys", scan_input_directions=[1])], "Small", named({"x": vector, "s": ["T", "N", 8]}), [])
refused("`onnx.Scan`: `scan_input_directions` is [1]; netc takes the first axis, in order", model(list(backward.node), {"x": vector, "s": ["T", "N", 8]}, ["y"], weights={"w": [8, 8]}))
outer = helper.make_graph([scan("k f", "l ls")], "body", named({"k": vector, "f": ["T", "N", 8]}), [helper.make_empty_tensor_value_info("l")])
nested = node("Scan", "x s", "y", body=outer, num_scan_inputs=1)
text = netc.from_onnx(model([nested], {"x": vector, "s": ["U", "T", "N", 8]}, ["y"], weights={"w": [8, 8]}))
assert netc.estimate(text).networks[0].forward.matmul == "128*S*T", text

# All elements of a list in order, as PyTorch writes `as_strided`; rows that are listed, of a tensor and of a table.
strided = [node("Shape", "x", "s"), node("ReduceProd", "s", "n", keepdims=0), node("Range", "zero n one", "r"), node("Reshape", "r s", "p"), node("Reshape", "x flat", "f"), node("Gather", "f p", "y")]
constants = {"zero": numpy.array(0), "one": numpy.array(1), "flat": numpy.array([-1])}
text = netc.from_onnx(model(strided, {"x": ["N", 8]}, ["y"], constants=constants))
assert "return y = x |> reshape(N, 8)\n" in text, text
# The same of rows of one element each, as PyTorch's older exporter writes what transformers read of a mask.
rows = [node("ReduceProd", "s", "n", keepdims=0), node("Flatten", "x", "f", axis=2), node("Gather", "f p", "y")]
text = netc.from_onnx(model([strided[0], rows[0], *strided[2:4], *rows[1:]], {"x": ["N", 8]}, ["y"], constants=constants))
assert "return y = x |> reshape(N, 8, 1)\n" in text, text
listed = {"p": numpy.array([[2], [0]])}
assert "positions([2, 0], over = axes(x)[0])" in netc.from_onnx(model([node("GatherND", "x p", "y")], {"x": [4, 8]}, ["y"], constants=listed))
assert netc.estimate(netc.from_onnx(model([node("GatherND", "w p", "a"), node("Add", "x a", "y")], {"x": [2, 8]}, ["y"], {"w": (4, 8)}, listed))).networks[0].parameters.total == 32
pairs = model([node("GatherND", "x p", "y")], {"x": [4, 8, "N"]}, ["y"], constants={"p": numpy.array([[2, 0], [-1, 3]])})
assert "positions([16, 27], over = " in netc.from_onnx(pairs), netc.from_onnx(pairs)
refused("netc reads places of one axis, or fixed ones of several", model([node("GatherND", "x p", "y")], {"x": ["N", 8]}, ["y"], constants={"p": numpy.array([[2, 0]])}))
refused("its places are others for each example", model([node("GatherND", "x p", "y", batch_dims=1)], {"x": [2, 8]}, ["y"], constants={"p": numpy.array([[2], [0]])}))

# A softmax of scores between two sequences, of which a mask hides some, names its axis: the last one is called as positions are.
scores = [
    node("Transpose", "k", "t", perm=[0, 2, 1]), node("MatMul", "q t", "s"), node("Cast", "m", "b", to=9), node("Unsqueeze", "b one", "u"),
    node("And", "u on", "v"), node("Where", "v zero low", "w"), node("Add", "s w", "a"), node("Softmax", "a", "y"),
]  # fmt: skip
constants = {"one": numpy.array([1]), "zero": numpy.array(0, "f4"), "low": numpy.array(-numpy.inf, "f4"), "on": numpy.ones((1, 4, 1), bool)}
text = netc.from_onnx(model(scores, {"k": ["N", "T", 8], "q": ["N", 4, 8], "m": ["N", "T"]}, ["y"], constants=constants))
assert "softmax(over = axes(" in text and netc.estimate(text).networks[0].forward.matmul, text

# Two batches that the shapes do not let differ are one.
joined = [node("Shape", "b", "s", start=0, end=1), node("Concat", "s rest", "p", axis=0), node("Reshape", "a p", "c"), node("Mul", "c b", "y")]
graph = export(model(joined, {"a": ["left", 8], "b": ["right", 2, 4]}, ["y"], constants={"rest": numpy.array([-1, 4])}))
assert [value["shape"] for value in graph["inputs"]] == [["N", 8], ["N", 2, 4]], graph["inputs"]
# So are all axes at the same place where those do not do: a mask beside tokens, read by its places.
cells = [
    node("Shape", "m", "s"), node("Gather", "s zero", "n"), node("Gather", "s one", "t"), node("Range", "zero n one", "i"), node("Range", "zero t one", "j"),
    node("Unsqueeze", "i one", "a"), node("Expand", "a s", "b"), node("Expand", "j s", "c"), node("Unsqueeze", "b last", "d"), node("Unsqueeze", "c last", "e"),
    node("Concat", "d e", "p", axis=-1), node("GatherND", "m p", "r"), node("Shape", "x", "k"), node("Concat", "k tail", "q", axis=0), node("Reshape", "r q", "u"),
    node("Mul", "u v", "y"),
]  # fmt: skip
constants = {"zero": numpy.array(0), "one": numpy.array(1), "last": numpy.array([-1]), "tail": numpy.array([1])}
wide = model(cells, {"x": ["rows", "columns"], "m": ["others", "more"], "v": ["rows", "columns", 1]}, ["y"], constants=constants)
graph = export(wide)
assert [value["shape"] for value in graph["inputs"]] == [["N", "T"], ["N", "T", 1]] and graph["symbols"] == {"N": {"min": 2}, "T": {"min": 2}}, graph

# Settings that netc does not have.
image = {"x": ["N", 3, 8, 8]}
sizes = {"sizes": numpy.array([1, 3, 16, 16]), "roi": numpy.zeros(0, "f4"), "scales": numpy.zeros(0, "f4")}
resized = lambda **how: model([node("Resize", "x roi scales sizes", "y", **how)], {"x": [1, 3, 8, 8]}, ["y"], constants=sizes)
assert only(export(resized()), "Resize")["with"] == {"mode": "nearest", "align_corners": False} and "upsample" in netc.from_onnx(resized(mode="linear"))
refused("netc takes the nearest pixel, or lines between the two nearest", resized(mode="cubic"))
refused("netc spreads pixels by their centers or by the corners, and not by `asymmetric`", resized(mode="linear", coordinate_transformation_mode="asymmetric"))
refused("netc has it forward or in both directions", model([node("LSTM", "x w r", "s", hidden_size=4, direction="reverse")], {"x": [5, "N", 8]}, ["s"], {"w": (1, 16, 8), "r": (1, 16, 4)}))
refused("of equal elements, netc takes the first", model([node("ArgMax", "x", "y", select_last_index=1)], {"x": ["N", 8]}, ["y"]))
padded = model([node("Pad", "x p", "y", mode="edge")], image, ["y"], constants={"p": numpy.array([0, 0, 1, 1, 0, 0, 1, 1])})
assert netc.from_onnx(padded).count('by = "replicate"') == 2

# Files of PyTorch's exporters, a small model of convolution, attention and LSTM: each opset from 13 to 21, as it is written or as onnx
# converts it, has the same parameters and costs.
inputs = pathlib.Path(__file__).parent / "Inputs"
seen = set()
for path in sorted(inputs.glob("*.onnx")):
    file = onnx.load(path)
    own = file.opset_import[0].version
    for version in range(own, 22) if path.name == "torchscript-13.onnx" else [own]:
        network = netc.estimate(netc.from_onnx(file if version == own else onnx.version_converter.convert_version(file, version))).networks[0]
        assert (network.parameters.total, network.forward.matmul) == (583, 9144), (path.name, version, network)
        seen.add(version)
assert seen == set(range(13, 22)), seen

# An output that is an input or an initializer; one that nothing makes.
shaped = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 8])
assert "return x_2 = x\n" in netc.from_onnx(helper.make_model(helper.make_graph([], "Same", [shaped], [shaped]), opset_imports=[helper.make_opsetid("", 18)]))
assert "return w = w_2\n" in netc.from_onnx(model([], {"x": ["N", 8]}, ["w"], {"w": (8,)}))
refused("the output `q` is no input, no initializer, and no result of a node", model([], {"x": ["N", 8]}, ["q"]))

# What is no file of ONNX.
refused("is no ONNX model that can be read", pathlib.Path(__file__))
refused("is no ONNX model that can be read: [Errno 2]", "nowhere.onnx")

# Scales are no weights, though they are floating point, and newer opsets do not infer the shape of a group norm.
image = {"x": ["N", 8, 4, 4]}
larger = model([helper.make_node("Resize", ["x", "", "scales"], ["y"])], image, ["y"], constants={"scales": numpy.array([1, 1, 2, 2], "f4")})
assert export(larger)["nodes"][0]["out"][0]["shape"] == ["N", 8, 8, 8]
grouped = model([node("GroupNormalization", "x w b", "y", num_groups=2)], image, ["y"], weights={"w": [8], "b": [8]}, opset=21)
assert netc.estimate(netc.from_onnx(grouped)).networks[-1].parameters.total == 16

# Statistics that are equal to a weight are one with it.
joined = model([node("BatchNormalization", "x w b b w", "y")], image, ["y"], weights={"w": [8], "b": [8]})
assert netc.estimate(netc.from_onnx(joined)).networks[-1].parameters.total == 16

# Channels become pixels, in either order, and are convolved.
for mode in "DCR", "CRD":
    shuffled = [node("DepthToSpace", "x", "p", blocksize=2, mode=mode), node("Conv", "p w", "y")]
    made = model(shuffled, image, ["y"], weights={"w": [3, 2, 3, 3]})
    assert netc.estimate(netc.from_onnx(made)).networks[-1].forward.matmul == 2 * 3 * 2 * 9 * 36

# Pixels become channels, half of a matrix becomes zeros.
folded = model([node("SpaceToDepth", "x", "p", blocksize=2), node("Conv", "p w", "y")], image, ["y"], weights={"w": [3, 32, 1, 1]})
assert netc.estimate(netc.from_onnx(folded)).networks[-1].forward.matmul == 2 * 3 * 32 * 4
for offset, upper, form in (0, 0, "x |> mask(causal = true, value = 0)"), (1, 1, "x - mask(x, causal = true, value = 0)"):
    half = netc.from_onnx(model([node("Trilu", "x k", "y", upper=upper)], {"x": ["N", 5, 5]}, ["y"], constants={"k": numpy.int64(offset)}))
    assert form in half, half

def same_values(made, **data):
    """What a model computes is what it computes as netc has it."""
    expected = ReferenceEvaluator(made).run(None, data)
    back = netc.to_onnx(netc.from_onnx(made))
    given = {each.name: data[each.name].astype(helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type)) for each in back.graph.input}
    for found, wanted in zip(ReferenceEvaluator(back).run(None, given), expected):
        numpy.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def picked(op, outs, **attributes):
    made = model([node(op, "x c", outs, **attributes)], {"x": ["N", 8, 5]}, outs.split(), opset=18)
    made.graph.input.append(helper.make_tensor_value_info("c", TensorProto.INT64, ["N", 5]))
    return made


# Constants of more axes than what they are combined with, of one number or of several.
for size, one in itertools.product(((1, 1, 8), (3, 1, 8), (1, 1, 1), (3, 1, 1)), (True, False)):
    constant = helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(numpy.full(size, 0.5, "f4") if one else numpy.arange(math.prod(size), dtype="f4").reshape(size) / 8))
    for nodes in [node("Greater", "x c", "b"), node("Where", "b x c", "y")], [node("LessOrEqual", "c x", "b"), node("Where", "b c x", "y")], [node("Add", "c x", "y")], [node("Div", "x c", "d"), node("Clip", "d", "y")]:
        same_values(model([constant, *nodes], {"x": ["N", 8]}), x=numpy.random.rand(2, 8).astype("f4") + 0.1)

# The pixels of a resized image, where they are those that netc takes.
def scaled(factor, **how):
    return model([helper.make_node("Resize", ["x", "", "s"], ["y"], **how)], {"x": ["N", 3, 6, 6]}, ["y"], constants={"s": numpy.array([1, 1, 2, factor], "f4")})


pixels = numpy.random.randn(2, 3, 6, 6).astype("f4")
for factor in 0.5, 1.5, 2, 3:
    same_values(scaled(factor, coordinate_transformation_mode="asymmetric", nearest_mode="floor"), x=pixels)
    same_values(scaled(factor, mode="linear"), x=pixels)
for factor, how in (2, {}), (3, {"nearest_mode": "round_prefer_ceil"}), (0.5, {}):
    same_values(scaled(factor, **how), x=pixels)
for factor, places, rounded in (
    (2, "half_pixel", "floor"), (0.5, "half_pixel", "ceil"), (2, "asymmetric", "ceil"), (1.5, "asymmetric", "round_prefer_floor"),
    (0.5, "align_corners", "round_prefer_floor"), (2, "tf_crop_and_resize", "floor"),
):  # fmt: skip
    how = f"netc takes the pixel where each new one starts, and not `{rounded}` of `{places}`"
    refused(how, scaled(factor, coordinate_transformation_mode=places, nearest_mode=rounded))
refused("netc spreads pixels by their centers", scaled(1.4, mode="linear"))  # of 6 pixels, 8
kept = model([helper.make_node("Resize", ["x", "", "", "n"], ["y"], keep_aspect_ratio_policy="not_larger", axes=[2, 3])], {"x": ["N", 3, 6, 6]}, ["y"], constants={"n": numpy.array([12, 18])})
refused("netc takes the nearest pixel", kept)

random = numpy.random.default_rng(0)
scores, classes = random.standard_normal((2, 8, 5)).astype("f4"), random.integers(0, 8, (2, 5))
same_values(model([node("SpaceToDepth", "x", "y", blocksize=2)], image, ["y"]), x=random.standard_normal((2, 8, 4, 4)).astype("f4"))
for offset, size in itertools.product((-7, -2, -1, 0, 1, 2, 7), (5, "T")):
    for upper in 0, 1:
        half = model([node("Trilu", "x k", "y", upper=upper)], {"x": ["N", size, size]}, ["y"], constants={"k": numpy.int64(offset)})
        same_values(half, x=random.standard_normal((2, 5, 5)).astype("f4"))
same_values(model([node("Trilu", "x", "y")], {"x": ["N", 5, 5]}, ["y"]), x=random.standard_normal((2, 5, 5)).astype("f4"))

# A bound that the model computes, or that is the size of an axis.
mean, row = [node("ReduceMean", "x", "m", keepdims=0)], {"x": ["N", "T"]}
length = [node("Shape", "x", "s"), node("Gather", "s one", "n"), node("Cast", "n", "m", to=TensorProto.FLOAT)]
for before, bounds in itertools.product((mean, length), (["m", "high"], ["low", "m"], ["m", "m"], ["", "m"], ["m"], [], ["low", "high"], ["", "high"])):
    clipped = model([*before, helper.make_node("Clip", ["x", *bounds], ["y"])], row, ["y"], constants={"one": 1, "low": numpy.float32(-0.2), "high": numpy.float32(0.3)})
    same_values(clipped, x=random.standard_normal((3, 4)).astype("f4") * (1 if before is mean else 9))

# Places that a table of any axes lists, of any axis.
for places, axis in itertools.product(([2, 0], [[2, 0], [1, -1]], [[[0], [1]]]), (1, 2, -1)):
    same_values(model([node("Gather", "x k", "y", axis=axis)], {"x": ["N", 4, 3]}, ["y"], constants={"k": numpy.array(places)}), x=random.standard_normal((2, 4, 3)).astype("f4"))
rows = model([node("Gather", "x k", "y", axis=1)], {"x": ["N", 4, 3]}, ["y"])
rows.graph.input.append(helper.make_tensor_value_info("k", TensorProto.INT64, [2]))
refused("`onnx.Gather`: which places it reads of what is no table of weights depends on data", rows)

# Settings that the model computes are no settings that are missing.
for text, op in ("`onnx.Dropout`: its ratio is no number that is known", "Dropout"), ("`onnx.Pad`: what it is filled with depends on data", "Pad"):
    refused(text, model([*mean, node(op, "x m" if op == "Dropout" else "x pads m", "y")], row, ["y"], constants={"pads": [0, 1, 0, 1]}))
for text, op in ("`onnx.CumSum`: `axis` depends on data", "CumSum"), ("`onnx.Trilu`: `k` depends on data", "Trilu"):
    computed = model([node(op, "x k", "y")], row, ["y"])
    computed.graph.input.append(helper.make_tensor_value_info("k", TensorProto.INT64, []))
    refused(text, computed)
assert "Dropout(0.5)" in netc.from_onnx(model([helper.make_node("Dropout", ["x", "", "t"], ["y"])], row, ["y"], constants={"t": True}))

# The scale and shift of groups, which ONNX had before opset 21.
refused("`onnx.GroupNormalization`: it scales groups and not channels", model([node("GroupNormalization", "x s b", "y", num_groups=2)], {"x": ["N", 4, 3]}, ["y"], {"s": (2,), "b": (2,)}))
# Messages along the edges of a graph.
edges = [node("Unsqueeze", "a last", "q"), node("GatherND", "x q", "m"), node("Unsqueeze", "b last", "p"), node("ScatterND", "x p m", "y", reduction="add")]
network = model(edges, {"x": ["N", 8]}, ["y"], constants={"last": numpy.array([-1])})
network.graph.input.extend(helper.make_tensor_value_info(name, TensorProto.INT64, ["E"]) for name in "ab")
same_values(network, x=scores[:, :, 0], a=numpy.array([0, 1, 1]), b=numpy.array([1, 0, 1]))
network.graph.node[3].attribute[0].s = b"mul"
refused("netc adds rows along the first axis", network)
repeated = [*edges[:3], node("Shape", "m", "s"), node("Expand", "p s", "e"), node("ScatterElements", "x e m", "y", axis=0, reduction="add")]
elements = model(repeated, {"x": ["N", 8]}, ["y"], constants={"last": numpy.array([-1])})
elements.graph.input.extend(list(network.graph.input)[1:])
same_values(elements, x=scores[:, :, 0], a=numpy.array([0, 1, 1]), b=numpy.array([1, 0, 1]))
elements.graph.node[5].attribute[0].i = 1
refused("netc adds rows along the first axis", elements)
# Losses of class numbers, with the logarithms of the probabilities where they are read.
for reduction in "mean", "sum", "none":
    same_values(picked("NegativeLogLikelihoodLoss", "y", reduction=reduction), x=scores, c=classes)
    for outs in "y", "y p":
        same_values(picked("SoftmaxCrossEntropyLoss", outs, reduction=reduction), x=scores, c=classes)
assert "cross_entropy(x, c" in netc.from_onnx(picked("SoftmaxCrossEntropyLoss", "y"))
same_values(picked("SoftmaxCrossEntropyLoss", "y", ignore_index=0), x=scores, c=classes)
refused("netc ignores rows in a mean alone", picked("SoftmaxCrossEntropyLoss", "y", reduction="sum", ignore_index=0))
weighted = picked("NegativeLogLikelihoodLoss", "y")
weighted.graph.node[0].input.append("w")
weighted.graph.initializer.append(numpy_helper.from_array(numpy.ones(8, "f4"), "w"))
refused("its classes have weights", weighted)

# A comment says where an average pool divides by other numbers. A last window that is partly outside has no norm.
for how, is_said in ({}, False), ({"count_include_pad": 1, "pads": [1, 1, 1, 1]}, False), ({"pads": [1, 1, 1, 1]}, True):
    averaged = netc.from_onnx(model([node("AveragePool", "x", "y", kernel_shape=[3, 3], **how)], image, ["y"]))
    said = "Average pools divide by all places of a window, where those of the model divide by another number; no count depends on this."
    assert (said in averaged) == is_said, averaged
refused("its last windows may be partly outside", model([node("LpPool", "x", "y", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)], image, ["y"]))
filled = model([node("ReduceMax", "x", "v", keepdims=0), node("Pad", "x p v", "y")], image, ["y"], constants={"p": numpy.zeros(8, "i8")})
refused("what it is filled with depends on data", filled)
both = model([node("Greater", "x zero", "a"), node("Less", "z zero", "b"), node("Xor", "a b", "c"), node("Where", "c x z", "y")], {"x": ["N", 8], "z": ["N", 8]}, ["y"], constants={"zero": numpy.float32(0)})
same_values(both, x=scores[:, :, 0], z=scores[:, :, 1])

# Random numbers go in.
noisy = netc.from_onnx(model([node("RandomNormalLike", "x", "noise"), node("Add", "x noise", "y")], {"x": ["N", 8]}, ["y"]))
assert "# Random numbers go in as arguments, `noise`: no cost depends on them.\n" in noisy and "(x: f32[N, 8], noise: f32[N, 8])" in noisy, noisy

# A result that netc does not have is refused where it is read.
pooled = [node("MaxPool", "x", "y i", kernel_shape=[2, 2], strides=[2, 2])]
assert "MaxPool" in netc.from_onnx(model(pooled, image, ["y"]))
refused("`onnx.MaxPool`: `i` is read, and netc has its first result alone", model([*pooled, node("Cast", "i", "z", to=1)], image, ["y", "z"]))
refused("`onnx.MaxPool`: `i` is read", model(pooled, image, ["y", "i"]))

# What hides scores does not learn, and neither do the scale and shift of a norm without any.
for hidden in -math.inf, -100:
    mask = numpy.triu(numpy.full((5, 5), hidden), 1) if hidden == -100 else numpy.where(numpy.triu(numpy.ones((5, 5)), 1), hidden, 0)
    masked = model([node("Add", "x mask", "a"), node("MatMul", "a w", "y")], {"x": ["N", 5, 5]}, ["y"], {"w": (5, 3)}, {"mask": mask.astype("f4")})
    assert [each["name"] for each in export(masked)["weights"]] == ["w"], hidden
for names, count in ("val_3 val_4", 0), ("norm.weight norm.bias", 16):
    held = dict(zip(names.split(), (numpy.ones(8, "f4"), numpy.zeros(8, "f4"))))
    normed = model([node("InstanceNormalization", f"x {names}", "y")], {"x": ["N", 8, 4, 4]}, ["y"], constants=held)
    assert netc.estimate(netc.from_onnx(normed)).networks[0].parameters.total == count
for names, count in ("val_3 val_4", 0), ("norm.weight norm.bias", 16):
    held = dict(zip(names.split(), (numpy.ones(8, "f4"), numpy.zeros(8, "f4"))))
    normed = model([node("LayerNormalization", f"x {names}", "y")], {"x": ["N", 8]}, ["y"], constants=held)
    assert netc.estimate(netc.from_onnx(normed)).networks[0].parameters.total == count

# The bias of one feature is learned, a number that is added to others is not.
one = {"w": numpy.ones((8, 1), "f4"), "b": numpy.ones(1, "f4")}
for nodes, count in ([node("MatMul", "x w", "a"), node("Add", "a b", "y")], 9), ([node("Add", "x b", "a"), node("MatMul", "a w", "y")], 8):
    assert netc.estimate(netc.from_onnx(model(nodes, {"x": ["N", 5, 8]}, ["y"], constants=one))).networks[0].parameters.total == count
complex_ = model([node("Identity", "x", "y")], {"x": ["N", 8]}, ["y"])
complex_.graph.input[0].type.tensor_type.elem_type = complex_.graph.output[0].type.tensor_type.elem_type = TensorProto.COMPLEX64
refused("netc has no numbers of type `COMPLEX64`", complex_)

# An axis that is turned, sums from its first element on, and biases that are repeated.
turned = model([node("Slice", "x start end axis step", "t"), node("CumSum", "t at", "y")], {"x": ["N", 8]}, ["y"], constants={"start": [-1], "end": [-(2**63)], "axis": [1], "step": [-1], "at": 1})
assert all(part in netc.from_onnx(turned) for part in ("x |> flip(over = axes(x)[1])", "|> cumsum(over = ")), netc.from_onnx(turned)
refused("it goes backward over a part of an axis", model([node("Slice", "x start end axis step", "y")], {"x": ["N", 8]}, ["y"], constants={"start": [5], "end": [1], "axis": [1], "step": [-1]}))
refused("it is exclusive or goes backward", model([node("CumSum", "x at", "y", reverse=1)], {"x": ["N", 8]}, ["y"], constants={"at": 1}))
for size, count in ([1, 5], 45), ([5], 45), ([1], 40):
    made = netc.from_onnx(model([node("Gemm", "x w b", "y")], {"x": ["N", 8]}, ["y"], {"w": (8, 5), "b": size}))
    assert netc.estimate(made).networks[0].parameters.total == count, made

# So does a bias of one number, and a slope that is reshaped.
single = [node("Gemm", "x w b", "g"), node("Reshape", "s shape", "r"), node("PRelu", "g r", "y")]
made = model(single, {"x": ["N", 8]}, ["y"], {"w": (8, 1), "b": (1,), "s": (1,)}, {"shape": numpy.array([1, 1])})
assert netc.estimate(netc.from_onnx(made)).networks[0].parameters.total == 10

# The frequencies of positions do not learn, nor do their sines and cosines.
angles = numpy.arange(6)[:, None] / 100 ** (numpy.arange(4) / 4)
for table, total in ((100 ** -(numpy.arange(4) / 4))[None], 0), (numpy.cos(angles), 0), (numpy.sin(angles), 0), (numpy.random.rand(6, 4), 24), (numpy.ones((6, 4)), 24):
    made = model([node("Mul", "x w", "y")], {"x": ["N", 6, 4]}, ["y"], constants={"w": table.astype("f4")})
    assert netc.estimate(netc.from_onnx(made)).networks[0].parameters.total == total, table


def warned(made):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        text = netc.from_onnx(made)
    assert all(f"# {each.message}\n" in text for each in seen), text
    return [str(each.message) for each in seen]


# What several layers read, and what is there twice, is named: the parameters are those of the file.
norms = [helper.make_node("LayerNormalization", ins.split(), [out], name=f"/norms/norms.{out}/LayerNormalization") for ins, out in (("x norms.a.weight", "a"), ("a norms.a.weight", "b"))]
(said,) = warned(model(norms, {"x": ["N", 8]}, ["b"], {"norms.a.weight": (8,)}))
assert said == "Several layers read `norms.a.weight`: exporters merge equal weights. The parameters are those of the file."
renamed = [node("Identity", "norms.a.weight", "norms.b.weight"), *norms]
renamed[2].input[1] = "norms.b.weight"
assert warned(model(renamed, {"x": ["N", 8]}, ["b"], {"norms.a.weight": (8,)})) == [said]
calls = [helper.make_node("MatMul", ins.split(), [out], name=f"/{path}/MatMul") for ins, out, path in (("x l.w", "a", "l"), ("a l.w", "b", "l_1"))]
assert warned(model(calls, {"x": ["N", 8]}, ["b"], {"l.w": (8, 8)})) == []
table = numpy.random.rand(9, 4).astype("f4")
twice = model([node("Gather", "e i", "a"), node("MatMul", "a h", "y")], {}, ["y"], constants={"e": table, "h": table.T.copy()})
twice.graph.input.append(helper.make_tensor_value_info("i", TensorProto.INT64, ["N", 5]))
assert warned(twice) == ["The file has `e` and `h`, which are equal, twice. The parameters are those of the file."]
# So are the matrices of a layer that is called twice, but not those that are alike by their initialization.
square, zeros = numpy.random.rand(4, 4).astype("f4"), numpy.zeros((4, 4), "f4")
layers = [node("MatMul", "x a", "h"), node("MatMul", "h b", "i"), node("MatMul", "i c", "j"), node("MatMul", "j d", "y")]
called = model(layers, {"x": ["N", 4]}, ["y"], constants={"a": square, "b": square, "c": zeros, "d": zeros.copy()})
assert warned(called) == ["The file has `a` and `b`, which are equal, twice. The parameters are those of the file."]

# A product takes an axis that is gone from what goes in, or a view that is turned back behind it.
parts = [node("Split", "x", "a b", axis=0, num_outputs=2), node("Squeeze", "a first", "c"), node("MatMul", "c w", "m")]
for tail, total, matmul in ([node("Relu", "m", "y")], 32, 384), ([node("Transpose", "m", "y", perm=[0, 2, 1])], 32, 384), ([node("Gather", "m zero", "g", axis=1), node("MatMul", "g v", "y")], 52, 424):
    text = netc.from_onnx(model([*parts, *tail], {"x": [2, "N", 6, 8]}, ["y"], {"w": (8, 4), "v": (4, 5)}, {"first": numpy.array([0]), "zero": numpy.array(0)}))
    found = netc.estimate(text).networks[0]
    assert (found.parameters.total, found.forward.matmul) == (total, matmul), text

# Slopes of a PRelu lie on the last axes, as exporters write those of channels. One slope learns, too.
for shape, slopes, over in [["N", 8], (8,), "[1]"], [["N", 8, 5], (8, 1), "[1]"], [["N", 8, 5, 5], (8, 1, 1), "[1]"], [["N", 8, 5], (5,), "[2]"], [["N", 8, 5], (1,), "over = []"], [["N", 8], (1, 1), "over = []"]:
    text = netc.from_onnx(model([node("PRelu", "x w", "y")], {"x": shape}, ["y"], {"w": slopes}))
    assert over in text and netc.estimate(text).networks[0].parameters.total == math.prod(slopes), text
refused("its slopes are of several axes", model([node("PRelu", "x w", "y")], {"x": ["N", 8, 5]}, ["y"], {"w": (8, 5)}))

# A file that is broken, and what netc has not, are refused by what is wrong.
refused("`onnx.MatMul`: its operand `q` is no input, no initializer, and no result of a node before it", model([node("MatMul", "x q", "y")], {"x": ["N", 8]}, ["y"]))
refused("`onnx.Add`: its operand `z` is no input", model([node("Add", "x z", "y"), node("Relu", "y", "z")], {"x": ["N", 8]}, ["y"]))
refused("netc has no quantized numbers", model([node("DequantizeLinear", "w s", "v"), node("MatMul", "x v", "y")], {"x": ["N", 8]}, ["y"], constants={"w": numpy.ones((8, 4), "i1"), "s": numpy.float32(0.1)}))
weights = {"w": (1, 15, 8), "r": (1, 15, 5)}
refused("`linear_before_reset` is 0; netc has it", model([node("GRU", "x w r", "y", hidden_size=5)], {"x": [6, "N", 8]}, ["y"], weights))
flipped = [node("GRU", "x w r", "y h", hidden_size=5, layout=1, linear_before_reset=1)]
first, last = (netc.estimate(netc.from_onnx(model(flipped, {"x": ["N", 6, 8]}, [out], weights))).networks[0] for out in "yh")
usual = [node("GRU", "x w r", "y h", hidden_size=5, linear_before_reset=1)]
same = netc.estimate(netc.from_onnx(model(usual, {"x": [6, "N", 8]}, ["y"], weights))).networks[0]
assert first.forward.matmul == last.forward.matmul == same.forward.matmul > 0 and first.parameters.total == same.parameters.total

# A weight among the results is a tensor, and rows of what the network makes are read by numbers of it.
text = netc.from_onnx(model([node("MatMul", "x w", "y"), node("Identity", "w", "z")], {"x": ["N", 8]}, ["y", "z"], {"w": (8, 4)}))
assert "w = parameter(8, 4)" in text and netc.estimate(text).networks[0].parameters.total == 32, text
text = netc.from_onnx(model([node("ArgMax", "x", "i", axis=1, keepdims=0), node("Gather", "x i", "y")], {"x": ["N", 8]}, ["y"]))
assert "embedding(" in text, text
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    netc.from_onnx(model([node("Relu", "x", "y")], {"x": ["N", 8]}, ["y"]), opaque=["onnx.FFT"])
assert [str(each.message) for each in seen] == ["`opaque` names `onnx.FFT`, and no op of the model is called so"]

# What netc writes is read again, with its layers and costs, also without a batch.
for given, layers in (
    ("f32[8]", "LayerNorm |> Linear(4) |> softmax"), ("f32[3, 8]", "Linear(16) |> relu |> Linear(4)"), ("f32[N, 8]", "BatchNorm |> Linear(4)"),
    ("f32[3, 5, 8]", "MHA(heads = 2, causal = true) |> RMSNorm"), ("f32[2, C = 3, H = 8, W = 8]", "Conv(4, 3) |> GlobalAvgPool |> Linear(4)"),
):  # fmt: skip
    spec = f"net A(x: {given}) {{ return y = x |> {layers} }}"
    text = netc.from_onnx(netc.to_onnx(spec))
    once, again = (netc.estimate(each).networks[0] for each in (spec, text))
    assert (once.parameters.total, once.forward) == (again.parameters.total, again.forward), text
    assert "Linear(4)" in text or "MHA" in spec, text

# What exporters write of in-place changes, gates and last words, and of x log(y).
sequence = {"x": [3, 4, 5]}
few = numpy.random.rand(3, 4, 5).astype("f4")
for nodes, constants, text in (
    (
        [node("Transpose", "x", "t", perm=[1, 0, 2]), node("Relu", "t", "u"), node("Slice", "u a b", "p"), node("ScatterND", "t places p", "s"), node("Transpose", "s", "y", perm=[1, 0, 2])],
        {"places": numpy.array([[1], [2]]), "a": numpy.array([1]), "b": numpy.array([3])}, "concat(",
    ),
    ([node("ScatterElements", "x places zeros", "y", axis=1)], {"places": numpy.full((3, 1, 5), 2), "zeros": numpy.zeros((3, 1, 5), "f4")}, "concat("),
    ([node("TopK", "x k", "v i"), node("ScatterElements", "none i v", "y", axis=2)], {"k": numpy.array([2]), "none": numpy.zeros((3, 4, 5), "f4")}, '"identity"))'),
    ([node("TopK", "x k", "v i"), node("ScatterElements", "none i ones", "y", axis=-1)], {"k": numpy.array([2]), "none": numpy.zeros((3, 4, 5), "f4"), "ones": numpy.ones((3, 4, 2), "f4")}, '"identity"))'),
    ([node("IsNaN", "x", "n"), node("Log", "x", "l"), node("Mul", "x l", "m"), node("Where", "n x m", "y")], {}, "x * (x |> log)"),
):  # fmt: skip
    made = model(nodes, sequence, ["y"], constants=constants)
    spec = netc.from_onnx(made)
    assert text in spec and netc.estimate(spec).networks[0].parameters.total == 0, spec
    same_values(made, x=few)
made = model([node("Concat", "rows last", "places", axis=-1), node("GatherND", "x places", "y")], sequence, ["y"], constants={"rows": numpy.arange(3)[:, None]})
made.graph.input.append(helper.make_tensor_value_info("last", TensorProto.INT64, [3, 1]))
same_values(made, x=few, last=numpy.array([[1], [3], [0]]))
refused("netc reads places of one axis, or fixed ones of several", model([node("Cast", "x", "i", to=TensorProto.INT64), node("GatherND", "x i", "y")], {"x": [3, 2]}, ["y"]))

# What holds for some sizes of free axes alone says so.
free, cut = {"x": ["N", "T", 8]}, [node("Slice", "x start end axis", "z"), node("MatMul", "z w", "y")]
for end, text in (100, "no longer"), (5, "no shorter"), (2**31 - 1, None):
    spec = netc.from_onnx(model(cut, free, weights={"w": [8, 4]}, constants={"start": numpy.array([0]), "end": numpy.array([end]), "axis": numpy.array([1])}))
    assert (f"# `onnx.Slice`: it cuts an axis of T at {end}; this holds where that is {text}." in spec) == bool(text), spec
sized = [node("Shape", "x", "sizes"), node("Gather", "sizes one", "t"), node("Min", "t hundred", "end"), *cut]
spec = netc.from_onnx(model(sized, free, weights={"w": [8, 4]}, constants={name: numpy.array([value]) for name, value in {"start": 0, "axis": 1, "one": 1, "hundred": 100}.items()}))
assert "# `onnx.Min`: it compares free sizes with others, and this is what it gives for N = 7 and 11 and T = 13 and 17." in spec, spec
then, otherwise = (helper.make_graph([node("MatMul", f"x {weight}", made)], made, [], [helper.make_tensor_value_info(made, TensorProto.FLOAT, None)]) for weight, made in (("w", "a"), ("v", "b")))
for axis in 1, 2:
    branches = [node("Shape", "x", "sizes"), node("Gather", "sizes axis", "t"), node("Greater", "t hundred", "is"), node("If", "is", "y", then_branch=then, else_branch=otherwise)]
    spec = netc.from_onnx(model(branches, free, weights={"w": [8, 4], "v": [8, 6]}, constants={"axis": numpy.array(axis), "hundred": numpy.array(100)}))
    assert ("# `onnx.If`: which branch it takes depends on free sizes, and this is the one for N = 7 and 11 and T = 13 and 17." in spec) == (axis == 1), spec
for lengths in [5, 5], [5, 3]:
    made = model([helper.make_node("LSTM", ["x", "w", "r", "", "lengths"], ["y"], hidden_size=6)], {"x": [5, 2, 8]}, weights={"w": [1, 24, 8], "r": [1, 24, 6]}, constants={"lengths": numpy.array(lengths, "i4")})
    if lengths == [5, 5]:
        assert "LSTM" in netc.from_onnx(made)
    else:
        refused("`sequence_lens` is lengths", made)
made = model([node("MatMul", "x w", "y")], free, weights={"w": [8, 4]})
made.graph.initializer.append(made.graph.initializer[0])
refused("the model has two initializers `w`", made)

# What a file lacks is refused by name.
for tensor in TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[8, 4]), TensorProto(name="w", data_type=99, dims=[8, 4]), TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[8, 4], raw_data=b"1234"):
    made = model([node("MatMul", "x w", "y")], free)
    made.graph.initializer.append(tensor)
    refused("the values of `w` are not those of its type and sizes", made)
for axis in 2**62, -(2**63):
    refused(f"there is no axis {axis}", model([node("Gather", "x i", "y", axis=axis)], free, constants={"i": numpy.array([0, 1])}))

# A Gemm whose parts are scaled, or whose first matrix is transposed, computes what ONNX's does.
from onnx.reference import ReferenceEvaluator

data = {"x": numpy.random.rand(3, 4).astype("f4"), "b": numpy.random.rand(3, 5).astype("f4"), "c": numpy.random.rand(4, 5).astype("f4")}
for settings in {"alpha": 0.5, "beta": 2.0}, {"beta": 0.25}, {"alpha": 3.0}, {}:
    for reads in "x b c", "x b":
        made = model([node("Gemm", reads, "y", transA=1, **settings)], {name: list(data[name].shape) for name in reads.split()}, ["y"])
        given = {name: data[name] for name in reads.split()}
        written = netc.to_onnx(netc.from_onnx(made))
        numpy.testing.assert_allclose(*(ReferenceEvaluator(each).run(None, given)[0] for each in (written, made)), rtol=1e-5)

# What is no model is told to be none.
for given, kind in (None, "a NoneType"), (onnx.TensorProto(), "a TensorProto"):
    try:
        netc.from_onnx(given)
        raise AssertionError("it is no model")
    except TypeError as problem:
        assert str(problem) == f"a model of ONNX is a path or an `onnx.ModelProto`, not {kind}; `netc.from_torch` writes the specification of a module", problem

# A free axis whose name has `batch` is N, and one that is called as a sequence is not; nor is the first axis of what a recurrence takes
# sequences first.
for sizes, text in (["steps_seq", "batch", 6], "x: f32[T, N, 6]"), (["a", "b", 6], "x: f32[T, N, 6]"), (["seq", 2, 6], "x: f32[T, 2, 6]"), ([5, "b", 6], "x: f32[5, N, 6]"):
    spec = netc.from_onnx(model([node("LSTM", "x w r", "h", hidden_size=4)], {"x": sizes}, ["h"], weights={"w": [1, 16, 6], "r": [1, 16, 4]}))
    assert text in spec and netc.estimate(spec).networks[0].parameters.total == 160, spec
steps = model([node("LSTM", "x w r", "h", hidden_size=4)], {"x": ["batch", "seq", 6]}, ["h"], weights={"w": [1, 16, 6], "r": [1, 16, 4]})
refused("a recurrence reads `x` with the steps first, and the model calls this axis `batch`", steps)

# Positions of which a model has few are read for small sizes, and a comment says for which.
tokens = [node("Shape", "x", "n", start=1, end=2), node("Slice", "p zero n one", "own"), node("Add", "x own", "y")]
positions = {"zero": numpy.array([0]), "one": numpy.array([1])}
for length in 8, 32:
    spec = netc.from_onnx(model(tokens, {"x": ["N", "T", 4]}, ["y"], weights={"p": [1, length, 4]}, constants=positions))
    assert f"# `onnx.Slice`: it takes T of an axis of {length}, so that T is at most {length}.\n" in spec, spec

# What a node needs is there, and what it need not have may be missing.
for op, operands, text in ("MatMul", "x", "B"), ("Conv", "x", "W"), ("Gemm", "x", "B"), ("Transpose", "", "data"):
    refused(f"`onnx.{op}`: its operand `{text}` is missing", model([node(op, operands, "y")], {"x": ["N", 8]}, ["y"]))
refused("`onnx.Constant`: it has no value", model([node("Constant", "", "c"), node("Add", "x c", "y")], {"x": ["N", 8]}, ["y"]))
refused("`onnx.Softmax`: its attribute `axis` is of the type STRING, and INT in ONNX", model([node("Softmax", "x", "y", axis="last")], {"x": ["N", 8]}, ["y"]))
refused("`onnx.Softmax`: opset 18 has no attribute `axes` of it", model([node("Softmax", "x", "y", axes=1)], {"x": ["N", 8]}, ["y"]))
wrong = model([node("Conv", "x w", "y", auto_pad="SAME")], {"x": ["N", 3, 8, 8]}, ["y"], {"w": (4, 3, 3, 3)})
refused("`onnx.Conv`: its attribute `auto_pad` is b'SAME', and one of NOTSET, SAME_UPPER, SAME_LOWER, VALID in ONNX", wrong)
refused("`onnx.Scan`: its attribute `num_scan_inputs` is missing", model([node("Scan", "x", "y")], {"x": ["N", 8]}, ["y"]))
body = helper.make_graph([node("Identity", "c", "d")], "b", [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, [])], [helper.make_tensor_value_info("d", TensorProto.BOOL, [])])
refused("`onnx.Loop`: netc takes no loop", model([helper.make_node("Loop", ["", ""], [], body=body), node("Relu", "x", "y")], {"x": ["N", 8]}, ["y"]))
assert "top_k(x, 3)" in netc.from_onnx(model([node("TopK", "x", "v i", k=3)], {"x": ["N", 8]}, ["v"], opset=9))
statistics = {name: [8] for name in "sbmv"}
for opset in 9, 13:
    spec = netc.from_onnx(model([node("BatchNormalization", "x s b m v", "y m1 v1 m2 v2")], {"x": ["N", 8]}, ["y"], weights=statistics, opset=opset))
    assert "BatchNorm()" in spec, spec
