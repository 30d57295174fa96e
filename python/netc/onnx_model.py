# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Makes an ONNX model of a graph that `netc --emit=graph` writes, docs/graph.schema.json.

The model is for inference: it has no dropout, and batch norms use their running statistics. Free axes stay free. The model
computes sizes that depend on them, and tensors that depend on sizes alone.
"""

import ast
import fractions
import math
import os
import pathlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from .errors import ExportRefused

OPSET = 20  # the first with Gelu
TYPES = {
    "f64": TensorProto.DOUBLE, "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16,
    "i64": TensorProto.INT64, "i32": TensorProto.INT32, "i16": TensorProto.INT16, "i8": TensorProto.INT8,
    "u8": TensorProto.UINT8, "bool": TensorProto.BOOL,
}  # fmt: skip
MOST_BYTES = 2**31 - 2**20  # of a file of protobuf; weights of more are beside it
LAST = 2**63 - 1

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


def convert(graph, weights=None, seed=0):
    """Returns a graph as an `onnx.ModelProto`.

    Args:
        graph: an object of docs/graph.schema.json.
        weights: a folder of npy files, as `--dump` of a program of netc writes them, or arrays by name. Missing weights
            are initialized as the specification says.
        seed: of the initialization.

    Raises:
        ExportRefused: ONNX has no op for one of the graph's ops.
    """
    return _Model(graph, weights, seed).proto()


def save(model, path):
    """Writes a model. Its weights go to a file next to it if they are too large for one file."""
    path = os.fspath(path)
    size = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    apart = {"save_as_external_data": True, "location": os.path.basename(path) + ".data"} if size > MOST_BYTES else {}
    onnx.save(model, path, **apart)


def _number(value):
    return float(value) if isinstance(value, str) else value


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


class _Model:
    def __init__(self, graph, weights, seed):
        self.graph = graph
        self.nodes, self.initializers, self.constants = [], [], {}
        self.values = {value["name"]: value for key in ("inputs", "weights", "known") for value in graph[key]}
        self.values.update((out["name"], out) for node in graph["nodes"] for out in node["out"])
        self.taken = set(self.values)
        self.at = None  # the node of the graph that is converted
        self.expanded = {}  # name -> the tensor that it repeats, of a shape that broadcasts to its own
        self.masks = {}  # what `aten.bernoulli` draws
        self.held = set()  # known tensors that are there as a whole
        self.axes = {}  # symbol -> an input, and its axis of that size
        for value in graph["inputs"]:
            for axis, size in enumerate(value["shape"]):
                if isinstance(size, str) and size.isidentifier():
                    self.axes.setdefault(size, (value["name"], axis))
        self.given = _Weights(weights, seed)

    def proto(self):
        for value in self.graph["weights"]:
            array = self.given.of(value)
            self.initializers.append(numpy_helper.from_array(array, value["name"]) if value["type"] != "bf16" else self.bfloat(array, value["name"]))
        for node in self.graph["nodes"]:
            self.at = node
            name = node["op"]
            handler = getattr(self, "on_" + name.removeprefix("aten.").removesuffix("1d").removesuffix("2d").removesuffix("3d"), None)
            outs = [out["name"] for out in node["out"]]
            if name in SAME:
                self.add(SAME[name], [self.whole(each) for each in node["in"]], outs)
            elif name in BROADCAST:
                self.broadcast(BROADCAST[name], node["in"], outs[0], node["with"])
            elif handler:
                handler(node["in"], outs, node["with"])
            else:
                self.refuse("ONNX has no such op")
        outputs = []
        for output in self.graph["outputs"]:
            name = output["name"] if output["name"] not in self.taken else output["name"] + "_out"
            self.add("Identity", [self.whole(output["value"])], [name])
            outputs.append(self.info({**self.values[output["value"]], "name": name}))
        inputs = [self.info(value) for value in self.graph["inputs"]]
        made = helper.make_graph([*self.constants.values(), *self.nodes], self.graph["name"], inputs, outputs, self.initializers)
        opset = helper.make_opsetid("", OPSET)
        producer, _, version = self.graph["from"].partition(" ")
        return helper.make_model(made, opset_imports=[opset], ir_version=helper.find_min_ir_version_for([opset]), producer_name=producer, producer_version=version)

    def refuse(self, why):
        raise ExportRefused(f"`{self.at['op']}` of `{self.at['out'][0]['name']}`, {self.at.get('line', 'of no line')}: {why}")

    # Tensors.

    @staticmethod
    def bfloat(array, name):
        bits = (array.astype("f4").view("u4") + 0x8000 >> 16).astype("u2")
        return helper.make_tensor(name, TensorProto.BFLOAT16, array.shape, bits.tobytes(), raw=True)

    @staticmethod
    def info(value):
        return helper.make_tensor_value_info(value["name"], TYPES[value["type"]], value["shape"])

    def unique(self, name):
        made, count = name, 2
        while made in self.taken:
            made, count = f"{name}_{count}", count + 1
        self.taken.add(made)
        return made

    def add(self, op, ins, outs=1, **attributes):
        """Adds a node. `outs` are names, or the number of results. Returns the name of the first result, or all names
        of several."""
        if isinstance(outs, int):
            near = self.at["out"][0]["name"] if self.at else "sizes"
            outs = [self.unique(f"{near}.{op}") for _ in range(outs)]
        self.nodes.append(helper.make_node(op, ins, outs, name=self.unique("/" + outs[0].replace(".", "/")), **attributes))
        return outs[0] if len(outs) == 1 else outs

    def constant(self, value, kind=None):
        """A constant as a node, since it is no parameter. Equal constants share a node."""
        array = numpy.asarray(value, dtype=kind)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            name = self.unique(f"constant_{len(self.constants)}")
            self.constants[key] = helper.make_node("Constant", [], [name], name=self.unique(f"/{name}"), value=numpy_helper.from_array(array))
        return self.constants[key].output[0]

    def integers(self, values):
        return self.constant(values, "i8")

    def typed(self, value, kind):
        """A constant with a type of netc."""
        if kind == "bf16":
            return self.add("Cast", [self.constant(value, "f4")], to=TensorProto.BFLOAT16)
        return self.constant(value, helper.tensor_dtype_to_np_dtype(TYPES[kind]))

    def scalar(self, value, kind):
        return self.typed(_number(value), kind)

    def shape(self, name):
        return self.values[name]["shape"]

    def whole(self, name):
        """The tensor with its full shape; "" for an operand that is left out."""
        if name is None:
            return ""
        value = self.values[name]
        if name in self.expanded or value.get("what") == "number":
            if name not in self.held:
                self.held.add(name)
                self.add("Expand", [self.small(name), self.sizes(value["shape"])], [name])
            return name
        return self.small(name)

    def small(self, name):
        """The tensor, or a smaller one that broadcasts to it."""
        value = self.values[name]
        if name in self.expanded:
            return self.expanded[name]
        if "what" in value and value["what"] == "number":
            return self.scalar(value["value"], value["type"])
        if "what" in value and name not in self.held:
            self.held.add(name)
            self.known(value)
        return name

    # Sizes.

    def size(self, size):
        """A list with a size as its only element. The model computes it."""
        if isinstance(size, int):
            return self.integers([size])
        if size in self.axes:
            name, axis = self.axes[size]
            key = f"size.{size}"
            if key not in self.taken:
                self.taken.add(key)
                self.add("Shape", [name], [key], start=axis, end=axis + 1)
            return key
        found, below = self.evaluate(ast.parse(size.replace("^", "**"), mode="eval").body)
        return self.add("Div", [found, self.integers([below])]) if below != 1 else found

    def evaluate(self, tree):
        """The numerator of a polynomial, and its denominator."""
        if isinstance(tree, ast.Constant):
            return self.integers([tree.value]), 1
        if isinstance(tree, ast.Name):
            if tree.id not in self.axes:
                self.refuse(f"no input has an axis of the size `{tree.id}`")
            return self.size(tree.id), 1
        if isinstance(tree, ast.UnaryOp):
            found, below = self.evaluate(tree.operand)
            return self.add("Neg", [found]), below
        if isinstance(tree, ast.Call):
            pairs = [self.evaluate(each) for each in tree.args]
            return self.add("Min", [self.add("Div", [a, self.integers([b])]) for a, b in pairs]), 1
        if isinstance(tree.op, ast.Pow):
            found, below = self.evaluate(tree.left)
            return self.add("Pow", [found, self.integers([tree.right.value])]), below**tree.right.value
        left, below = self.evaluate(tree.left)
        if isinstance(tree.op, ast.Div):
            return left, below * tree.right.value
        right, other = self.evaluate(tree.right)
        if isinstance(tree.op, ast.Mult):
            return self.add("Mul", [left, right]), below * other
        common = math.lcm(below, other)
        left, right = (self.add("Mul", [each, self.integers([common // own])]) if own != common else each for each, own in ((left, below), (right, other)))
        return self.add("Add" if isinstance(tree.op, ast.Add) else "Sub", [left, right]), common

    def sizes(self, sizes):
        if all(isinstance(size, int) for size in sizes):
            return self.integers(sizes)
        return self.add("Concat", [self.size(size) for size in sizes], axis=0) if len(sizes) > 1 else self.size(sizes[0])

    def places(self, size, kind="i64"):
        """The positions 0, 1, 2, .. along an axis."""
        if isinstance(size, int):
            return self.constant(numpy.arange(size), helper.tensor_dtype_to_np_dtype(TYPES[kind]))
        count = self.add("Squeeze", [self.size(size), self.integers([0])])
        found = self.add("Range", [self.constant(0, "i8"), count, self.constant(1, "i8")])
        return found if kind == "i64" else self.add("Cast", [found], to=TYPES[kind])

    def known(self, value):
        """Makes a tensor that depends on sizes alone."""
        what, name, shape, kind = value["what"], value["name"], value["shape"], value["type"]
        if what == "range" and len(shape) == 1:
            start = self.scalar(value.get("start", 0), kind)
            return self.add("Add", [self.places(shape[0], kind), start], [name])
        if what.removeprefix("not ") in ("causal", "band") and len(shape) == 2:
            row = self.add("Unsqueeze", [self.places(shape[0]), self.integers([1])])
            column = self.add("Unsqueeze", [self.places(shape[1]), self.integers([0])])
            hidden = self.add("Greater", [column, row])
            if what.endswith("band"):
                last = self.add("Sub", [row, self.constant(value["width"], "i8")])
                hidden = self.add("Or", [hidden, self.add("LessOrEqual", [column, last])])
            return self.add("Identity" if what.startswith("not ") else "Not", [hidden], [name])
        if what == "bucket" and len(shape) == 2:
            row = self.add("Unsqueeze", [self.places(shape[0]), self.integers([1])])
            ahead = self.add("Sub", [self.add("Unsqueeze", [self.places(shape[1]), self.integers([0])]), row])
            distance = self.add("Max", [self.add("Neg", [ahead]), self.constant(0, "i8")]) if value["causal"] else self.add("Abs", [ahead])
            reached = self.add("GreaterOrEqual", [self.add("Unsqueeze", [distance, self.integers([-1])]), self.integers(value["thresholds"])])
            bucket = self.add("ReduceSum", [self.add("Cast", [reached], to=TensorProto.INT64), self.integers([-1])], keepdims=0)
            if not value["causal"]:
                is_ahead = self.add("Cast", [self.add("Greater", [ahead, self.constant(0, "i8")])], to=TensorProto.INT64)
                bucket = self.add("Add", [bucket, self.add("Mul", [is_ahead, self.constant(len(value["thresholds"]) + 1, "i8")])])
            return self.add("Cast", [bucket], [name], to=TYPES[kind])
        dtype = helper.tensor_dtype_to_np_dtype(TYPES[kind]) if kind != "bf16" else numpy.dtype("f4")
        if "values" in value:
            made = self.constant(numpy.array([_number(each) for each in value["values"]]).reshape(shape), dtype)
        elif "init" not in value:
            self.refuse(f"the graph does not tell what `{name}` holds")
        elif all(isinstance(size, int) for size in shape):
            made = self.constant(initial(shape, value["init"], None, value.get("theta", 1e4)), dtype)
        else:
            made, dtype = self.angles(value, shape), numpy.dtype("f4")
        if dtype == "f4" and kind != "f32":
            return self.add("Cast", [made], [name], to=TYPES[kind])
        return self.add("Identity", [made], [name])

    def angles(self, value, shape):
        """Makes a table with as many rows as there are positions."""
        how, features = value["init"], shape[-1]
        if how not in ("sine", "cosine", "sinusoid", "alibi") or len(shape) != 2 or isinstance(shape[how == "alibi"], int) or not isinstance(shape[how != "alibi"], int):
            self.refuse(f"of the table `{value['name']}`, more than positions is free")
        if how == "alibi":
            slopes = self.constant(numpy.exp2(-8 * (numpy.arange(shape[0]) + 1) / shape[0])[:, None], "f4")
            return self.add("Mul", [slopes, self.places(features, "f32")])
        feature = numpy.arange(features)
        even = feature - feature % 2 if how == "sinusoid" else feature
        speed = self.constant(value.get("theta", 1e4) ** (-even / features), "f4")
        angle = self.add("Mul", [self.add("Unsqueeze", [self.places(shape[0], "f32"), self.integers([1])]), speed])
        if how != "sinusoid":
            return self.add("Sin" if how == "sine" else "Cos", [angle])
        return self.add("Where", [self.constant(feature % 2 == 1), self.add("Cos", [angle]), self.add("Sin", [angle])])

    # Ops: what goes in, what comes out, settings.

    def axis(self, name, given):
        return given["dim"] % len(self.shape(name))

    def broadcast(self, op, ins, out, given):
        if ins[0] in self.masks:  # of dropout, which does nothing here
            self.masks[out] = True
            return
        if any(each in self.masks for each in ins):
            self.add("Identity", [self.whole(next(each for each in ins if each not in self.masks))], [out])
            return
        kind, shape = self.values[ins[0]]["type"], self.at["out"][0]["shape"]
        if len(ins) == 1:
            number = self.scalar(given.get("self", given.get("other")), kind)
            pair = [number, self.whole(ins[0])] if "self" in given else [self.whole(ins[0]), number]
        else:
            full = [each for each in ins if each not in self.expanded and self.values[each].get("what") != "number" and self.shape(each) == shape]
            pair = [self.small(each) for each in ins] if full else [self.whole(ins[0]), self.small(ins[1])]
            kinds = [self.values[each]["type"] for each in ins]
            widest = min(kinds, key=list(TYPES).index)
            pair = [self.cast(each, kind, widest) for each, kind in zip(pair, kinds)]
        self.add(op, pair, [out])

    def cast(self, name, kind, wanted):
        """The same in another type. netc and PyTorch mix types, and ONNX does not."""
        return name if kind == wanted else self.add("Cast", [name], to=TYPES[wanted])

    def on_ne(self, ins, outs, given):
        equal = self.unique(outs[0] + ".equal")
        self.broadcast("Equal", ins, equal, given)
        self.add("Not", [equal], outs)

    def on_bernoulli(self, ins, outs, given):
        self.masks[outs[0]] = True

    def on_dropout(self, ins, outs, given):
        self.add("Dropout", [self.whole(ins[0]), self.constant(given["p"], "f4")], outs)

    def on_hardtanh(self, ins, outs, given):
        kind = self.values[ins[0]]["type"]
        self.add("Clip", [self.whole(ins[0]), self.scalar(given["min_val"], kind), self.scalar(given["max_val"], kind)], outs)

    def on_silu(self, ins, outs, given):
        x = self.whole(ins[0])
        self.add("Mul", [x, self.add("Sigmoid", [x])], outs)

    def on_gelu(self, ins, outs, given):
        self.add("Gelu", [self.whole(ins[0])], outs, approximate=given.get("approximate", "none"))

    def on_hardsigmoid(self, ins, outs, given):
        self.add("HardSigmoid", [self.whole(ins[0])], outs, alpha=1 / 6, beta=0.5)

    def on_leaky_relu(self, ins, outs, given):
        self.add("LeakyRelu", [self.whole(ins[0])], outs, alpha=given["negative_slope"])

    def on_elu(self, ins, outs, given):
        self.add("Elu", [self.whole(ins[0])], outs, alpha=float(given["alpha"]))

    def on_softshrink(self, ins, outs, given):
        self.add("Shrink", [self.whole(ins[0])], outs, lambd=given["lambd"], bias=given["lambd"])

    def on_pow(self, ins, outs, given):
        self.add("Pow", [self.whole(ins[0]), self.scalar(given["exponent"], self.values[ins[0]]["type"])], outs)

    def on_to(self, ins, outs, given):
        self.add("Cast", [self.whole(ins[0])], outs, to=TYPES[self.values[outs[0]]["type"]])

    def on_where(self, ins, outs, given):
        self.add("Where", [self.whole(ins[0]), self.small(ins[1]), self.small(ins[2])], outs)

    def on_masked_fill(self, ins, outs, given):
        value = self.scalar(given["value"], self.values[ins[0]]["type"])
        self.add("Where", [self.small(ins[1]), value, self.whole(ins[0])], outs)

    def on_linear(self, ins, outs, given):
        turned = self.add("Transpose", [self.whole(ins[1])], perm=[1, 0])
        product = self.add("MatMul", [self.whole(ins[0]), turned], 1 if len(ins) > 2 else outs)
        if len(ins) > 2:
            self.add("Add", [product, self.whole(ins[2])], outs)

    def on_einsum(self, ins, outs, given):
        self.add("Einsum", [self.whole(each) for each in ins], outs, equation=given["equation"])

    def on_embedding(self, ins, outs, given):
        self.add("Gather", [self.whole(ins[0]), self.whole(ins[1])], outs, axis=0)

    on_index = on_embedding

    def on_gather(self, ins, outs, given):
        self.add("GatherElements", [self.whole(ins[0]), self.whole(ins[1])], outs, axis=self.axis(ins[0], given))

    def on_topk(self, ins, outs, given):
        _, places = self.add("TopK", [self.whole(ins[0]), self.integers([given["k"]])], [outs[0], self.unique(outs[1] + ".i64")], axis=self.axis(ins[0], given))
        self.add("Cast", [places], [outs[1]], to=TYPES[self.values[outs[1]]["type"]])

    # Sums and norms.

    def reduce(self, op, ins, outs, given):
        dims = given["dim"] or list(range(len(self.shape(ins[0]))))
        self.add(op, [self.whole(ins[0]), self.integers(dims)], outs, keepdims=int(given.get("keepdim", False)))

    def on_sum(self, *node):
        self.reduce("ReduceSum", *node)

    def on_mean(self, *node):
        self.reduce("ReduceMean", *node)

    def on_amax(self, *node):
        self.reduce("ReduceMax", *node)

    def on_amin(self, *node):
        self.reduce("ReduceMin", *node)

    def on_softmax(self, ins, outs, given):
        self.add("Softmax", [self.whole(ins[0])], outs, axis=self.axis(ins[0], given))

    def on_log_softmax(self, ins, outs, given):
        self.add("LogSoftmax", [self.whole(ins[0])], outs, axis=self.axis(ins[0], given))

    def on_cumsum(self, ins, outs, given):
        self.add("CumSum", [self.whole(ins[0]), self.constant(self.axis(ins[0], given), "i8")], outs)

    def by_root(self, x, given, outs):
        """Makes x divided by the root of its mean square."""
        kind = self.values[outs[0]]["type"]
        axes = self.integers(list(range(-len(given["normalized_shape"]), 0)))
        mean = self.add("ReduceMean", [self.add("Mul", [x, x]), axes], keepdims=1)
        root = self.add("Sqrt", [self.add("Add", [mean, self.scalar(given["eps"], kind)])])
        self.add("Div", [x, root], outs)

    def on_rms_norm(self, ins, outs, given):
        self.by_root(self.whole(ins[0]), given, outs)

    def on_layer_norm(self, ins, outs, given):
        x, sizes = self.whole(ins[0]), given["normalized_shape"]
        if all(isinstance(size, int) for size in sizes):
            ones = self.typed(numpy.ones(sizes), self.values[outs[0]]["type"])
            self.add("LayerNormalization", [x, ones], outs, axis=-len(sizes), epsilon=given["eps"])
        else:
            mean = self.add("ReduceMean", [x, self.integers(list(range(-len(sizes), 0)))], keepdims=1)
            self.by_root(self.add("Sub", [x, mean]), given, outs)

    def on_batch_norm(self, ins, outs, given):
        channels, kind = self.shape(ins[0])[1], self.values[outs[0]]["type"]
        scale, shift = (self.typed(numpy.full(channels, value), kind) for value in (1, 0))
        running = [self.cast(each, self.values[each]["type"], kind) for each in ins[3:]]
        self.add("BatchNormalization", [self.whole(ins[0]), scale, shift, *running], outs, epsilon=given["eps"])

    # Windows.

    def windows(self, given):
        found = {"strides": given["stride"], "pads": given["padding"] * 2}
        return {**found, "dilations": given["dilation"]} if "dilation" in given else found

    def on_conv(self, ins, outs, given):
        self.add("Conv", [self.whole(ins[0]), self.whole(ins[1])], outs, group=given["groups"], **self.windows(given))

    def on_conv_transpose(self, ins, outs, given):
        self.add("ConvTranspose", [self.whole(ins[0]), self.whole(ins[1])], outs, group=given["groups"], output_padding=given["output_padding"], **self.windows(given))

    def on_max_pool(self, ins, outs, given):
        self.add("MaxPool", [self.whole(ins[0])], outs, kernel_shape=given["kernel_size"], ceil_mode=int(given["ceil_mode"]), **self.windows(given))

    def on_avg_pool(self, ins, outs, given):
        self.add("AveragePool", [self.whole(ins[0])], outs, kernel_shape=given["kernel_size"], ceil_mode=int(given["ceil_mode"]), count_include_pad=1, **self.windows(given))

    def on_adaptive_avg_pool(self, ins, outs, given):
        x, wanted = self.whole(ins[0]), given["output_size"]
        if all(size == 1 for size in wanted):
            self.add("GlobalAveragePool", [x], outs)
            return
        # Each axis is contracted with a matrix of the shares of positions in the means.
        letters = "xyz"[: len(wanted)]
        for i, (before, after) in enumerate(zip(self.shape(ins[0])[2:], wanted)):
            if not isinstance(before, int):
                self.refuse("its windows depend on sizes")
            shares = numpy.zeros((after, before))
            for j in range(after):
                start, end = j * before // after, -(-(j + 1) * before // after)
                shares[j, start:end] = 1 / (end - start)
            result = letters.replace(letters[i], "w")
            x = self.add("Einsum", [x, self.typed(shares, self.values[ins[0]]["type"])], outs if i + 1 == len(wanted) else 1, equation=f"nc{letters},w{letters[i]}->nc{result}")

    # Moves.

    def on_view(self, ins, outs, given):
        sizes = self.shape(outs[0])
        are_free = [not isinstance(size, int) for size in sizes]
        wanted = self.integers([-1 if free else size for size, free in zip(sizes, are_free)]) if sum(are_free) < 2 else self.sizes(sizes)
        self.add("Reshape", [self.whole(ins[0]), wanted], outs)

    def on_expand(self, ins, outs, given):
        self.expanded[outs[0]] = self.whole(ins[0])

    def on_permute(self, ins, outs, given):
        self.add("Transpose", [self.whole(ins[0])], outs, perm=given["dims"])

    def on_flip(self, ins, outs, given):
        count = len(given["dims"])
        self.add("Slice", [self.whole(ins[0]), *map(self.integers, ([-1] * count, [-LAST] * count, given["dims"], [-1] * count))], outs)

    def on_cat(self, ins, outs, given):
        self.add("Concat", [self.whole(each) for each in ins], outs, axis=self.axis(ins[0], given))

    def on_stack(self, ins, outs, given):
        axis = given["dim"]
        self.add("Concat", [self.add("Unsqueeze", [self.whole(each), self.integers([axis])]) for each in ins], outs, axis=axis)

    def on_split_with_sizes(self, ins, outs, given):
        self.add("Split", [self.whole(ins[0]), self.sizes(given["split_sizes"])], outs, axis=self.axis(ins[0], given))

    def on_slice(self, ins, outs, given):
        start, end = (self.size(given[key]) for key in ("start", "end"))
        self.add("Slice", [self.whole(ins[0]), start, end, self.integers([given["dim"]])], outs)

    def on_constant_pad_nd(self, ins, outs, given):
        rank, amounts = len(self.shape(ins[0])), given["pad"]
        low, high = [0] * rank, [0] * rank
        for i in range(len(amounts) // 2):
            low[rank - 1 - i], high[rank - 1 - i] = amounts[2 * i], amounts[2 * i + 1]
        self.add("Pad", [self.whole(ins[0]), self.integers(low + high), self.scalar(given["value"], self.values[ins[0]]["type"])], outs)


class _Weights:
    """The values of weights: from files, from arrays, or initialized."""

    def __init__(self, given, seed):
        self.random = numpy.random.default_rng(seed)
        self.folder = pathlib.Path(given) if isinstance(given, (str, os.PathLike)) else None
        self.arrays = given if isinstance(given, dict) else {}

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
            found = initial(shape, value.get("init", "fan_in"), self.random)
        if list(found.shape) != shape:
            raise ExportRefused(f"`{name}` is {list(found.shape)}, and {shape} in the graph")
        return found.astype("f4" if kind == "bf16" else helper.tensor_dtype_to_np_dtype(TYPES[kind]))
