# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes an ONNX model as the graph that `netc import` reads, docs/graph.schema.json.

The ops keep their names. Their attributes and constant inputs become arguments with PyTorch's names, so the opset of the
model makes no difference. Sizes are found by computing with several sizes of the free axes: values that depend on sizes
alone are evaluated, and each size is a polynomial through the results.
"""

import ast
import copy
import itertools
import math
import os
import re
import warnings

import numpy
import onnx
import onnx.inliner
from google.protobuf.message import DecodeError
from onnx import TensorProto, helper, numpy_helper

from .errors import ImportRefused
from .known import are_frequencies, known, number_of
from .number_types import NoType, NumberTypes
from .onnx_shapes import Sample, integer, refused
from .sizes import NAMES, SIZES, plus, polynomial


class _Types(NumberTypes):
    def named(self, kind):
        return TensorProto.DataType.Name(kind)


TYPES = _Types({
    TensorProto.DOUBLE: "f64", TensorProto.FLOAT: "f32", TensorProto.FLOAT16: "f16", TensorProto.BFLOAT16: "bf16",
    TensorProto.INT64: "i64", TensorProto.INT32: "i32", TensorProto.INT16: "i16", TensorProto.INT8: "i8",
    TensorProto.UINT8: "u8", TensorProto.BOOL: "bool",
})  # fmt: skip
FLOATS = {TensorProto.DOUBLE, TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16}


def export(model, name=None):
    """Returns the graph of a model, an object for JSON.

    Args:
        model: a path, or an `onnx.ModelProto`. Weights in other files are not read.
        name: of the network; by default the name of the graph.

    Raises:
        ImportRefused: the model depends on data, or has shapes that do not follow from its inputs.
    """
    if not isinstance(model, onnx.ModelProto):
        try:
            model = onnx.load(os.fspath(model), load_external_data=False)
        except (OSError, DecodeError) as problem:
            raise ImportRefused(f"`{model}` is no ONNX model that can be read: {problem}") from None
    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
    own = model.graph.name
    name = name or (own if own.isidentifier() and own not in ("main_graph", "torch_jit") else "Model")
    # If the shapes do not fit otherwise, the batches of all inputs are one, such as those of an encoder and a decoder, or all
    # axes at the same place, such as those of tokens and their mask.
    problem = None
    for joined in (-1, 0, math.inf) if len(model.graph.input) > 1 else (-1,):
        try:
            return _Writer(model, joined).graph(name)
        except ImportRefused as found:
            problem = problem or found
    raise problem


class _Writer:
    def __init__(self, model, joined):
        """`joined`: the axes of inputs up to this one are the same in all inputs."""
        graph = model.graph
        self.model, self.opsets, self.nodes = model, model.opset_import, list(graph.node)
        self.opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 1)
        self.constants, self.types, self.shapes = {}, {}, {}
        self.weights, self.held = {}, {}
        # A number is a constant, but for the slope of a PRelu, and in files of netc, which have constants as nodes.
        slopes = {node.input[1] for node in graph.node if node.op_type == "PRelu" and len(node.input) > 1}
        scales = {name for node in graph.node if node.op_type in ("Resize", "Upsample") for name in node.input[1:]}
        for tensor in _initializers(graph):
            self.types[tensor.name], self.shapes[tensor.name] = tensor.data_type, tuple(tensor.dims)
            if tensor.data_type in FLOATS and tensor.name not in scales and (math.prod(tensor.dims) > 1 or tensor.name in slopes or model.producer_name == "netc") and not _is_constant(tensor):
                self.weights[tensor.name] = tuple(tensor.dims)
                self.held[tensor.name] = tensor
            elif tensor.data_location == TensorProto.EXTERNAL:
                raise ImportRefused(f"the values of `{tensor.name}` are in another file; load the model with `onnx.load`")
            else:
                self.constants[tensor.name] = numpy_helper.to_array(tensor)
        self.inputs = [value for value in graph.input if value.name not in self.types]
        places = {}  # of free axes: where the first input that has them has them
        for value in self.inputs:
            if not value.type.HasField("tensor_type") or not value.type.tensor_type.HasField("shape"):
                raise ImportRefused(f"the input `{value.name}` has no shape")
            self.types[value.name] = value.type.tensor_type.elem_type
            for i, size in enumerate(value.type.tensor_type.shape.dim):
                if size.dim_value <= 0:
                    size.dim_param = size.dim_param or f"{value.name}.{i}"
                    places.setdefault(size.dim_param, i)
        groups = [place if place <= joined else name for name, place in places.items()]
        distinct = list(dict.fromkeys(groups))
        if len(distinct) > 3:
            raise ImportRefused("the model has more than three free axes")
        self.free = NAMES[: len(distinct)]
        names = dict(zip(distinct, self.free))
        self.symbols = {name: names[each] for name, each in zip(places, groups)}
        self.samples = self.take_samples()
        self.nodes = self.samples[0].nodes
        if any([n.output for n in sample.nodes] != [n.output for n in self.nodes] for sample in self.samples):
            raise ImportRefused("`onnx.If`: which branch it takes depends on sizes")
        self.known, self.modules, self.open, self.out = {}, [], [], []
        self.producers = {out: node for node in self.nodes for out in node.output if out}
        self.users = {}
        for node in self.nodes:
            for name in node.input:
                self.users.setdefault(name, []).append(node)
        self.skipped = set()  # nodes that are part of another

    # Sizes.

    def take_samples(self):
        samples = []
        for several in itertools.product((0, 1), repeat=len(self.free)):
            sizes = {name: SIZES[2 * i + up] for i, (name, up) in enumerate(zip(self.free, several))}
            samples.append(Sample(self, {symbol: sizes[name] for symbol, name in self.symbols.items()}))
        return samples

    def size(self, node, numbers):
        found = polynomial(numbers, self.free)
        if found is None:
            raise refused(node, "a size of it is no polynomial in free axes")
        return found

    def shape(self, name, node=None):
        shapes = [sample.shapes[name] for sample in self.samples]
        return [self.size(node, numbers) for numbers in zip(*shapes)]

    def constant(self, name):
        """The value with this name if it depends on no size; else None."""
        if not name or name not in self.samples[0].values:
            return None
        values = [sample.values[name] for sample in self.samples]
        return values[0] if all(v.shape == values[0].shape and (v == values[0]).all() for v in values) else None

    def number(self, name):
        value = self.constant(name)
        return number_of(value.reshape(-1)[0]) if value is not None and value.size == 1 else None

    # Values.

    def tensor(self, name, shape=None):
        return {"name": name, "type": TYPES[self.samples[0].types[name]], "shape": self.shape(name) if shape is None else shape}

    def operand(self, name):
        if not name:
            return None
        if name in self.weights or name not in self.samples[0].values:
            return name
        if name not in self.known:
            is_fixed = self.constant(name) is not None
            found = [known(sample.values[name], is_fixed) for sample in self.samples]
            what = found[0] if all(each == found[0] for each in found) else {"what": "table"}
            self.known[name] = {**self.tensor(name), **what}
        return name

    def graph(self, name):
        made = {output.name for output in self.model.graph.output}
        needed, stack = set(), list(made)
        while stack:
            at = stack.pop()
            if at not in needed:
                needed.add(at)
                if at in self.producers and at not in self.samples[0].values:
                    stack += [each for each in self.reads(self.producers[at]) if each]
        for node in self.nodes:
            folded = all(out in self.samples[0].values for out in node.output if out)
            if not folded and id(node) not in self.skipped and any(out in needed for out in node.output):
                try:
                    self.translate(node)
                except NoType as problem:
                    raise refused(node, str(problem)) from None
        results = [out.name for out in self.model.graph.output]
        plain = ["y"] if len(results) == 1 else [f"y{i}" for i in range(len(results))]
        outputs = [{"name": out if out.isidentifier() else other, "value": self.operand(out)} for out, other in zip(results, plain)]
        read = {each for node in self.out for each in node["in"]}
        return {
            "netc_graph": 1,
            "name": name,
            "from": f"ONNX, opset {self.opset}" + (f", {self.model.producer_name} {self.model.producer_version}".rstrip() if self.model.producer_name else ""),
            "notes": self.notes(),
            "symbols": {text: {"min": 2} for text in self.symbols.values()},
            "inputs": [self.tensor(value.name) for value in self.inputs if value.name in read],
            "weights": [{"name": key, "type": TYPES[self.types[key]], "shape": list(shape), "learns": True} for key, shape in self.weights.items()],
            "known": list(self.known.values()),
            "modules": self.modules,
            "nodes": self.out,
            "outputs": outputs,
        }

    def reads(self, node):
        """The inputs of a node that are tensors of the graph. The weights of recurrences are handled separately."""
        if node.op_type == "Gather" and node.input[0] in self.weights:
            return [node.input[0], self.places(node)]
        return [node.input[0], *node.input[5:]] if node.op_type in ("LSTM", "GRU", "RNN") else node.input

    def places(self, node):
        """The numbers by which rows of a table are read, without ops that only make numbers from the end of negative ones."""
        table, places = node.input
        ops, sources, stack = [], set(), [places]
        while stack:
            at = stack.pop()
            maker = self.producers.get(at)
            if at in self.samples[0].values:
                continue
            if maker is not None and maker.op_type in ("Add", "Cast", "Less", "Mul", "Not", "Sub", "Where"):
                ops.append(id(maker))
                stack += maker.input
            else:
                sources.add(at)
        first, source = self.samples[0], min(sources, default="")
        if not ops or len(sources) != 1 or first.shapes[source] != first.shapes[places]:
            return places
        sample = copy.copy(first)
        sample.values, sample.types, sample.shapes = dict(first.values), dict(first.types), dict(first.shapes)
        numbers = numpy.arange(math.prod(sample.shapes[source])) % sample.shapes[table][0]
        sample.hold(source, numbers.reshape(sample.shapes[source]).astype(helper.tensor_dtype_to_np_dtype(sample.types[source])))
        for each in self.nodes:
            if id(each) in ops:
                sample.hold(each.output[0], sample.evaluate(each, list(each.input))[0])
        return source if (sample.values[places] == sample.values[source]).all() else places

    def notes(self):
        """Notes about information that exporters leave out."""
        kinds = {node.op_type for node in self.nodes}
        found = []
        biases = [node.input[2] for node in self.nodes if node.op_type == "Conv" and len(node.input) > 2]
        if self.model.producer_name == "pytorch" and not all(name.endswith("bias") for name in biases):
            found.append("The exporter folded batch norms into convolutions: the parameters are those of the file.")
        if shared := self.shared():
            names = ", ".join(f"`{name}`" for name in shared[:3]) + (f" and {len(shared) - 3} others" if len(shared) > 3 else "")
            found.append(f"Several layers read {names}: exporters merge equal weights. The parameters are those of the file.")
            warnings.warn(found[-1], stacklevel=5)
        if copies := self.copies():
            found.append(f"The file has {' and '.join(f'`{name}`' for name in copies)}, which are equal, twice. The parameters are those of the file.")
            warnings.warn(found[-1], stacklevel=5)
        if "Dropout" not in kinds:
            found.append("The file has no dropout: it may have been exported for inference.")
        return found

    def shared(self):
        """The weights that nodes of one kind read in several modules."""
        found = []
        for name in self.weights:
            places, owner = {}, name.rpartition(".")[0]
            for node in self.users.get(name, []):
                chain = self.chain(node)
                path = chain[-1][0] if chain else node.output[0]
                called = re.sub(r"_\d+$", "", path)  # several times, if that is the owner or no name tells the owner
                places.setdefault(node.op_type, set()).add(called if owner in ("", called) else path)
            if any(len(each) > 1 for each in places.values()):
                found.append(name)
        return found

    def copies(self):
        """A table and an equal matrix of a product, as exporters write a head that is tied to it; else nothing."""
        here = {name: tensor for name, tensor in self.held.items() if name in self.weights and len(tensor.dims) == 2 and tensor.data_location != TensorProto.EXTERNAL}
        read = lambda name, *ops: any(node.op_type in ops for node in self.users.get(name, []))
        for table in (name for name in here if read(name, "Gather")):
            for other in (name for name in here if name != table and read(name, "MatMul", "Gemm", "Transpose")):
                if sorted(here[table].dims) == sorted(here[other].dims):
                    one, two = (numpy_helper.to_array(here[name]) for name in (table, other))
                    if any(numpy.array_equal(one, each) for each in (two, two.T)):
                        return [table, other]
        return []

    # Modules.

    def chain(self, node):
        """The paths and classes of the modules around a node."""
        scopes, classes = ({p.key: p.value for p in node.metadata_props}.get(f"pkg.torch.onnx.{key}") for key in ("name_scopes", "class_hierarchy"))
        if scopes and classes:
            pairs = list(zip(ast.literal_eval(scopes), ast.literal_eval(classes)))[:-1]
            return [(path, kind.split(".")[-1]) for path, kind in pairs if path]
        # `/layer1/layer1.0/conv1/Conv`. In a second call of a module, the name is `/relu_1/Relu`.
        parts, path, chain = node.name.strip("/").split("/")[:-1], "", []
        for part in parts:
            local = part.split(".")[-1] if part.startswith(path.rsplit(".", 1)[-1] + ".") else part
            path = f"{path}.{local}" if path else local
            chain.append((path, re.sub(r"[\d.]+", "", part.split(".")[0]).strip("_").title().replace("_", "") or "Module"))
        return chain

    def stack(self, node):
        """Positions of the module calls around a node. A call ends when a node outside of it follows."""
        chain = self.chain(node)
        kept = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == self.modules[pair[1]]["path"], zip((path for path, _ in chain), self.open)))
        del self.open[kept:]
        for path, kind in chain[kept:]:
            self.open.append(len(self.modules))
            self.modules.append({"path": path, "call": 1 + sum(each["path"] == path for each in self.modules), "class": kind})
        return list(self.open)

    # Nodes.

    def add(self, node, op, ins, outs, /, **arguments):
        """Adds a node. `outs` are names, or tensors that the model does not have."""
        ins = [each if isinstance(each, dict) else self.operand(each) for each in ins]
        while ins and ins[-1] is None:
            ins.pop()
        made = [out if isinstance(out, dict) else self.tensor(out, self.shape(out, node)) for out in outs]
        self.out.append({"op": op, "in": [each["name"] if isinstance(each, dict) else each for each in ins], "with": {k: v for k, v in arguments.items() if v is not None}, "out": made, "module": self.stack(node), "line": node.name})

    def translate(self, node):
        own = getattr(self, "on_" + node.op_type, None)
        if own:
            return own(node, {a.name: _attribute(a) for a in node.attribute})
        outs = [out for out in node.output if out]
        return self.add(node, f"onnx.{node.op_type}", list(node.input), outs, **{a.name: _attribute(a) for a in node.attribute if a.name != "to"})

    def given(self, node, attributes, key, place):
        """Integers that older opsets have as an attribute, and newer ones as an input. Refuses those that depend on
        sizes. None if they are missing."""
        found = self.by_sample(node, attributes, key, place)
        if any(each != found[0] for each in found):
            raise refused(node, f"`{key}` depends on sizes")
        return found[0]

    def by_sample(self, node, attributes, key, place):
        """The integers of `given` for each sample."""
        if key in attributes or place >= len(node.input) or not node.input[place]:
            return [attributes.get(key)] * len(self.samples)
        if node.input[place] not in self.samples[0].values:
            raise refused(node, f"`{key}` depends on data")
        return [[int(each) for each in sample.values[node.input[place]].reshape(-1)] for sample in self.samples]

    def holds(self, name, number):
        """Whether a value has this number in all elements. Weights are excluded, since they learn."""
        return name in self.samples[0].values and name not in self.weights and all((sample.values[name] == number).all() for sample in self.samples)

    def norm(self, op, ins, node, **arguments):
        """Adds a norm without a shift of zeros, and without a scale of ones."""
        while len(ins) > 1 and (not ins[-1] or self.holds(ins[-1], len(ins) == 2)):
            ins.pop()
        self.add(node, op, ins, [node.output[0]], **arguments)

    def rank(self, name):
        return len(self.samples[0].shapes[name])

    def view(self, node, _):
        self.add(node, f"onnx.{node.op_type}", [node.input[0]], [node.output[0]])

    on_Reshape = on_Flatten = on_Squeeze = on_Unsqueeze = on_Expand = on_Identity = on_Cast = on_CastLike = view

    def windows(self, node, attributes):
        """The arguments of windows over images, and their input. If both ends have different padding, the input is
        padded here."""
        x = node.input[0]
        count = self.rank(x) - 2
        pads, auto = attributes.get("pads", [0] * 2 * count), attributes.get("auto_pad", "NOTSET")
        low, high = pads[:count], pads[count:]
        same = {"stride": attributes.get("strides", [1] * count), "dilation": attributes.get("dilations", [1] * count)}
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            kernel = attributes.get("kernel_shape") or list(self.samples[0].shapes[node.input[1]][2:])
            sizes = [self.shape(x)[2 + i] for i in range(count)]
            if any(isinstance(size, str) for size in sizes):
                raise refused(node, "its padding depends on sizes")
            for i, size in enumerate(sizes):
                total = max(0, (-(-size // same["stride"][i]) - 1) * same["stride"][i] + (kernel[i] - 1) * same["dilation"][i] + 1 - size)
                small, large = total // 2, total - total // 2
                low[i], high[i] = (small, large) if auto == "SAME_UPPER" else (large, small)
        if low != high:
            padded = {"name": f"{node.output[0]}.padded", "type": TYPES[self.samples[0].types[x]], "shape": self.shape(x)}
            for i in range(count):
                padded["shape"][2 + i] = plus(padded["shape"][2 + i], low[i] + high[i])
            amounts = [each for pair in zip(reversed(low), reversed(high)) for each in pair]
            self.add(node, "onnx.Pad", [x], [padded], pad=amounts, mode="constant")
            x, low = padded, [0] * count
        return x, {**same, "padding": low}

    def on_Conv(self, node, attributes):
        x, arguments = self.windows(node, attributes)
        ins = [x, *node.input[1:]]
        if len(ins) == 3 and self.holds(ins[2], 0):
            ins.pop()  # a bias of zeros that no one learns
        self.add(node, "onnx.Conv", ins, [node.output[0]], groups=attributes.get("group", 1), **arguments)

    def on_ConvTranspose(self, node, attributes):
        count, first = self.rank(node.input[0]) - 2, self.samples[0].shapes
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
        x, rest = {**self.tensor(node.output[0]), "name": f"{node.output[0]}.whole"}, [i for i in range(count) if low[i] != high[i]]
        x["shape"] = x["shape"][:2] + [plus(size, low[i] + high[i] - 2 * both[i]) for i, size in enumerate(x["shape"][2:])]
        arguments = {"groups": attributes.get("group", 1), "stride": stride, "dilation": dilation, "padding": both, "output_padding": extra}
        self.add(node, "onnx.ConvTranspose", list(node.input), [x if rest else node.output[0]], **arguments)
        for i in rest:
            cut = {**x, "name": f"{node.output[0]}.{i}", "shape": list(x["shape"])}
            cut["shape"][2 + i] = self.shape(node.output[0])[2 + i]
            self.add(node, "onnx.Slice", [x], [node.output[0] if i == rest[-1] else cut], dim=2 + i, start=low[i] - both[i], step=1)
            x = cut

    def pool(self, node, attributes):
        x, arguments = self.windows(node, attributes)
        if node.op_type == "AveragePool" and set(arguments.pop("dilation")) != {1}:
            raise refused(node, "netc averages what lies side by side")
        self.add(node, f"onnx.{node.op_type}", [x], [node.output[0]], kernel_size=attributes["kernel_shape"], ceil_mode=bool(attributes.get("ceil_mode", 0)), **arguments)

    on_MaxPool = on_AveragePool = pool

    def on_GlobalAveragePool(self, node, _):
        self.add(node, "onnx.GlobalAveragePool", [node.input[0]], [node.output[0]], output_size=1)

    def on_GlobalMaxPool(self, node, _):
        self.add(node, "onnx.ReduceMax", [node.input[0]], [node.output[0]], dim=list(range(2, self.rank(node.input[0]))), keepdim=True)

    def on_Gemm(self, node, attributes):
        if attributes.get("alpha", 1) != 1 or attributes.get("beta", 1) != 1 or attributes.get("transA", 0):
            raise refused(node, "its factors are not 1, or its first matrix is transposed")
        self.add(node, "onnx.Gemm", list(node.input), [node.output[0]], transB=bool(attributes.get("transB", 0)))

    def on_MatMul(self, node, _):
        x, w = node.input
        maker = self.producers.get(w)
        is_turned = maker is not None and maker.op_type == "Transpose" and maker.input[0] in self.weights
        w = maker.input[0] if is_turned else w
        if w not in self.weights or self.rank(w) != 2:
            return self.add(node, "onnx.MatMul", list(node.input), [node.output[0]])
        # Include the bias that is added next, if nothing else reads the product.
        out, bias = node.output[0], None
        users = self.users.get(out, [])
        if len(users) == 1 and users[0].op_type == "Add":
            other = next(name for name in users[0].input if name != out)
            if other in self.weights and len(self.weights[other]) == 1 and self.samples[0].shapes[users[0].output[0]] == self.samples[0].shapes[out]:
                bias, out = other, users[0].output[0]
                self.skipped.add(id(users[0]))
        return self.add(node, "onnx.Gemm", [x, w, bias], [out], transB=is_turned)

    def on_BatchNormalization(self, node, attributes):
        for name in node.input[3:5]:
            if not any(name in user.input[:3] for user in self.users[name]):  # exporters join what is equal
                self.weights.pop(name, None)  # statistics, which do not learn
        self.norm("onnx.BatchNormalization", list(node.input[:3]), node, eps=attributes.get("epsilon", 1e-5))

    def on_LayerNormalization(self, node, attributes):
        shape = self.shape(node.input[0])
        self.norm("onnx.LayerNormalization", list(node.input), node, eps=attributes.get("epsilon", 1e-5), normalized_shape=shape[attributes.get("axis", -1) :])

    def on_GroupNormalization(self, node, attributes):
        self.add(node, "onnx.GroupNormalization", list(node.input), [node.output[0]], eps=attributes.get("epsilon", 1e-5), num_groups=attributes["num_groups"])

    def on_InstanceNormalization(self, node, attributes):
        x, *own = node.input
        maker = self.producers.get(x)
        # Of a group norm, whose scale and shift follow, or without any: exporters that name weights do not name these.
        is_apart = maker is not None and maker.op_type == "Reshape" or all(re.fullmatch(r"val_\d+", name) for name in own)
        if is_apart and all(self.is_filled(name, number) for name, number in zip(own, (1, 0))):
            for name in own:
                self.weights.pop(name, None)
            own = []
        self.add(node, "onnx.GroupNormalization", [x, *own], [node.output[0]], eps=attributes.get("epsilon", 1e-5), num_groups=self.shape(x)[1])

    def is_filled(self, name, number):
        """Whether an initializer has this number in all elements, and only norms read it."""
        tensor = self.held.get(name)
        is_here = tensor is not None and tensor.data_location != TensorProto.EXTERNAL
        return is_here and all(user.op_type == "InstanceNormalization" for user in self.users[name]) and (numpy_helper.to_array(tensor) == number).all()

    def on_RMSNormalization(self, node, attributes):
        if attributes.get("axis", -1) not in (-1, self.rank(node.input[0]) - 1):
            raise refused(node, "it is over several axes")
        self.add(node, "onnx.RMSNormalization", list(node.input), [node.output[0]], eps=attributes.get("epsilon", 1e-5))

    def softmax(self, node, attributes):
        rank = self.rank(node.input[0])
        at = attributes.get("axis", -1 if self.opset >= 13 else 1) % rank
        if self.opset < 13 and at != rank - 1:
            raise refused(node, "it is over several axes")
        self.add(node, f"onnx.{node.op_type}", [node.input[0]], [node.output[0]], dim=at)

    on_Softmax = on_LogSoftmax = softmax

    def on_Gelu(self, node, attributes):
        self.add(node, "onnx.Gelu", [node.input[0]], [node.output[0]], approximate=attributes.get("approximate", "none"))

    def on_Transpose(self, node, attributes):
        rank = self.rank(node.input[0])
        self.add(node, "onnx.Transpose", [node.input[0]], [node.output[0]], dims=attributes.get("perm", list(range(rank))[::-1]))

    def on_Concat(self, node, attributes):
        self.add(node, "onnx.Concat", list(node.input), [node.output[0]], dim=attributes["axis"])

    def on_Split(self, node, attributes):
        self.add(node, "onnx.Split", [node.input[0]], list(node.output), dim=attributes.get("axis", 0))

    def on_SplitToSequence(self, node, attributes):
        pass

    def on_SequenceAt(self, node, _):
        split = self.producers[node.input[0]]
        axis = integer(split, "axis", 0)
        start = [sum(part[axis] for part in sample.parts[node.input[0]][: int(sample.values[node.input[1]])]) for sample in self.samples]
        self.add(node, "onnx.Slice", [split.input[0]], [node.output[0]], dim=axis, start=self.size(node, start))

    def on_Slice(self, node, attributes):
        x, rank = node.input[0], self.rank(node.input[0])
        starts, axes, steps = self.by_sample(node, attributes, "starts", 1), self.given(node, attributes, "axes", 3), self.given(node, attributes, "steps", 4)
        axes = [a % rank for a in axes] if axes else list(range(len(starts[0])))
        shape = self.shape(x)
        for i, at in enumerate(axes):
            sizes = [sample.shapes[node.input[0]][at] for sample in self.samples]
            step = steps[i] if steps else 1
            is_whole = self.shape(node.output[0])[at] == shape[at]
            if step < 0 and not (step == -1 and is_whole):
                raise refused(node, "it goes backward over a part of an axis")
            start = self.size(node, [min(max(s[i] + (n if s[i] < 0 else 0), 0), n) for s, n in zip(starts, sizes)])
            shape = [*shape[:at], self.shape(node.output[0])[at], *shape[at + 1 :]]
            out = node.output[0] if i + 1 == len(axes) else {"name": f"{node.output[0]}.{i}", "type": TYPES[self.samples[0].types[node.input[0]]], "shape": shape}
            if step < 0:
                self.add(node, "aten.flip", [x], [out], dims=[at])
            else:
                self.add(node, "onnx.Slice", [x], [out], dim=at, start=start, step=step)
            x = out

    def on_CumSum(self, node, attributes):
        if attributes.get("exclusive") or attributes.get("reverse"):
            raise refused(node, "it is exclusive or goes backward")
        self.add(node, "aten.cumsum", [node.input[0]], [node.output[0]], dim=self.number(node.input[1]))

    def on_Gather(self, node, attributes):
        table, places = node.input
        at = attributes.get("axis", 0)
        if at == 0 and (table in self.weights or table in self.samples[0].values):
            return self.add(node, "onnx.Gather", [table, self.places(node) if table in self.weights else places], [node.output[0]])
        index = self.number(places)
        if index is not None and not self.rank(places):
            return self.add(node, "onnx.Gather", [table], [node.output[0]], dim=at, index=index)
        if at == 0 and self.rank(table) == 2 and places not in self.samples[0].values:
            return self.add(node, "aten.index", [table, places], [node.output[0]])
        if self.rank(table) == 1 and self.reads_all(table, places):
            return self.add(node, "onnx.Reshape", [table], [node.output[0]])  # as PyTorch writes `as_strided`
        if self.rank(places) == 1 and places in self.samples[0].values:
            return self.add(node, "onnx.Gather", [table, places], [node.output[0]], dim=at)
        raise refused(node, "it reads what is no table of weights")

    def reads_all(self, table, places):
        """Whether places, which depend on sizes alone, are all elements in order. Each has a number for each axis."""
        if places not in self.samples[0].values:
            return False
        all_of = lambda shape: numpy.moveaxis(numpy.indices(shape), 0, -1).reshape(-1)
        return all(numpy.array_equal(sample.values[places].reshape(-1), all_of(sample.shapes[table])) for sample in self.samples)

    def on_GatherND(self, node, attributes):
        """Rows of the first axis, by places that depend on sizes alone."""
        table, places = node.input
        if self.reads_all(table, places):
            return self.add(node, "onnx.Reshape", [table], [node.output[0]])
        maker = self.producers.get(table)
        while maker is not None and maker.op_type == "Transpose" and list(maker.attribute[0].ints) == sorted(maker.attribute[0].ints):
            table, maker = maker.input[0], self.producers.get(maker.input[0])
        if attributes.get("batch_dims", 0) or places not in self.samples[0].values or self.samples[0].shapes[places][-1] != 1:
            raise refused(node, "netc reads places of one axis that depend on no data")
        name = f"{places}.rows"
        for sample in self.samples:
            sample.hold(name, sample.values[places][..., 0])
        self.add(node, "onnx.Gather", [table, name], [node.output[0]], dim=None if table in self.weights else 0)

    def reduce(self, node, attributes):
        axes = self.given(node, attributes, "axes", 1)
        if not axes and attributes.get("noop_with_empty_axes"):
            return self.view(node, attributes)
        return self.add(node, f"onnx.{node.op_type}", [node.input[0]], [node.output[0]], dim=axes or None, keepdim=bool(attributes.get("keepdims", 1)))

    on_ReduceSum = on_ReduceMean = on_ReduceMax = on_ReduceMin = on_ReduceL1 = on_ReduceL2 = on_ReduceLogSumExp = reduce

    def extreme(self, node, attributes):
        if attributes.get("select_last_index"):
            raise refused(node, "of equal elements, netc takes the first")
        self.add(node, f"onnx.{node.op_type}", [node.input[0]], [node.output[0]], dim=attributes.get("axis", 0))

    on_ArgMax = on_ArgMin = extreme

    def on_Clip(self, node, attributes):
        low, high = (attributes[key] if key in attributes else self.number(node.input[i]) if i < len(node.input) else None for i, key in ((1, "min"), (2, "max")))
        self.add(node, "onnx.Clip", [node.input[0]], [node.output[0]], min=low, max=high)

    def on_Resize(self, node, attributes):
        mode, places = attributes.get("mode", "nearest"), attributes.get("coordinate_transformation_mode", "half_pixel")
        if mode == "cubic" or attributes.get("antialias") or attributes.get("axes") or "roi" in places or "sequence" in places:
            raise refused(node, "netc takes the nearest pixel, or lines between the two nearest")
        if mode == "linear" and places == "asymmetric":
            raise refused(node, "netc spreads pixels by their centers or by the corners")
        self.add(node, "onnx.Resize", [node.input[0]], [node.output[0]], mode=mode, align_corners=places == "align_corners")

    def on_DepthToSpace(self, node, attributes):
        factor = attributes["blocksize"]
        if attributes.get("mode", "DCR") == "CRD":
            return self.add(node, "aten.pixel_shuffle", [node.input[0]], [node.output[0]], upscale_factor=factor)
        batch, _, height, width = self.shape(node.input[0])
        channels = self.shape(node.output[0])[1]
        parts = {**self.tensor(node.output[0], [batch, factor, factor, channels, height, width]), "name": f"{node.output[0]}.parts"}
        turned = {**parts, "shape": [batch, channels, height, factor, width, factor], "name": f"{node.output[0]}.turned"}
        self.add(node, "aten.view", [node.input[0]], [parts])
        self.add(node, "aten.permute", [parts], [turned], dims=[0, 3, 4, 1, 5, 2])
        return self.add(node, "aten.view", [turned], [node.output[0]])

    def on_Pow(self, node, _):
        self.add(node, "onnx.Pow", [node.input[0]], [node.output[0]], exponent=self.number(node.input[1]))

    def on_Pad(self, node, attributes):
        pads, rank = self.given(node, attributes, "pads", 1), self.rank(node.input[0])
        axes = self.given(node, attributes, "axes", 3)
        low, high = [0] * rank, [0] * rank
        for i, at in enumerate(axes if axes else range(rank)):
            low[at], high[at] = pads[i], pads[len(pads) // 2 + i]
        amounts = [each for pair in zip(reversed(low), reversed(high)) for each in pair]
        mode = {"edge": "replicate", "wrap": "circular"}.get(attributes.get("mode"), attributes.get("mode", "constant"))
        self.add(node, "onnx.Pad", [node.input[0]], [node.output[0]], pad=amounts, mode=mode)

    def on_Dropout(self, node, attributes):
        ratio = attributes.get("ratio", self.number(node.input[1]) if len(node.input) > 1 else 0.5)
        self.add(node, "onnx.Dropout", [node.input[0]], [node.output[0]], p=ratio)

    def on_IsNaN(self, node, _):
        """Accepts only the test for NaN after a softmax, which exporters write to replace NaN by zeros."""
        if not all(self.repairs(user) for user in self.users.get(node.output[0], [])):
            raise refused(node, "netc asks no such thing")

    def repairs(self, node):
        maker = self.producers.get(node.input[0])
        return node.op_type == "Where" and maker is not None and maker.op_type == "IsNaN" and maker.input[0] == node.input[2] and self.number(node.input[1]) == 0

    def on_Where(self, node, _):
        condition, x, other = node.input
        if self.number(condition) is not None:
            return self.add(node, "onnx.Expand", [x if self.number(condition) else other], [node.output[0]])
        if self.repairs(node):
            return self.add(node, "onnx.Identity", [other], [node.output[0]])
        if self.number(other) is not None and self.number(x) is None:
            return self.add(node, "onnx.Where", [condition, x], [node.output[0]], other=self.number(other))
        if self.number(x) is not None and self.number(other) is None:
            return self.add(node, "onnx.Where", [condition, other], [node.output[0]], **{"self": self.number(x)})
        return self.add(node, "onnx.Where", [condition, x, other], [node.output[0]])

    def on_HardSigmoid(self, node, attributes):
        if abs(attributes.get("alpha", 0.2) - 1 / 6) > 1e-6 or attributes.get("beta", 0.5) != 0.5:
            raise refused(node, "netc has that of slope 1/6")
        self.add(node, "onnx.HardSigmoid", [node.input[0]], [node.output[0]])

    def on_GatherElements(self, node, attributes):
        self.add(node, "onnx.GatherElements", list(node.input), [node.output[0]], dim=attributes.get("axis", 0))

    def on_TopK(self, node, attributes):
        (count,) = self.given(node, attributes, "k", 1)
        self.add(node, "onnx.TopK", [node.input[0]], list(node.output), k=count, dim=attributes.get("axis", -1), largest=bool(attributes.get("largest", 1)))

    def compare(self, node, _):
        """Writes a comparison with the number on the right."""
        turned = {"Greater": "Less", "GreaterOrEqual": "LessOrEqual", "Less": "Greater", "LessOrEqual": "GreaterOrEqual"}
        (a, b), op = node.input, node.op_type
        if self.number(a) is not None:
            a, b, op = b, a, turned.get(op, op)
        number = self.number(b)
        self.add(node, f"onnx.{op}", [a, b] if number is None else [a], [node.output[0]], other=number)

    on_Equal = on_Greater = on_GreaterOrEqual = on_Less = on_LessOrEqual = compare

    def on_Constant(self, node, _):
        raise refused(node, "its value is no tensor")

    def recurrence(self, node, attributes):
        """Writes a recurrence with PyTorch's weights for each direction. ONNX's results have an axis for the
        directions, so PyTorch's results are reshaped."""
        x, w, r, b, length, *states, peepholes = [*node.input, *[""] * 8][:8]
        forward = attributes.get("direction", "forward")
        without = {
            "direction": forward if forward == "reverse" else None, "clip": attributes.get("clip"), "input_forget": attributes.get("input_forget"),
            "layout": attributes.get("layout"), "linear_before_reset": "0" if node.op_type == "GRU" and not attributes.get("linear_before_reset") else None,
            "P": peepholes, "sequence_lens": length if length and self.constant(length) is None else None,
        }  # fmt: skip
        if wrong := next((f"`{key}` is {value}" for key, value in without.items() if value), None):
            raise refused(node, f"{wrong}; netc has it forward or in both directions, over all steps, as PyTorch has it")
        usual = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}[node.op_type]
        activations = attributes.get("activations", usual)
        is_relu = node.op_type == "RNN" and set(activations) == {"Relu"}
        if not is_relu and activations != usual * (len(activations) // len(usual)):
            raise refused(node, f"its activations are {', '.join(activations)}")
        sources = {name: self.sources(name) for name in (w, r, b) if name}
        if any(not found or sum(self.count(each) for each in found) != self.count(name) for name, found in sources.items()):
            raise refused(node, "its weights are computed")
        directions, cells = self.samples[0].shapes[w][0], attributes["hidden_size"]
        has_state_biases = bool(b) and not self.is_half(b)
        ins = [x]
        for i, state in enumerate(states[: 2 if node.op_type == "LSTM" else 1]):
            if state:
                ins.append(state)
                continue
            zero = f"{node.output[0]}.state{i}"
            self.known[zero] = {"name": zero, "type": "f32", "shape": [directions, self.shape(x)[1], cells], "what": "number", "value": 0}
            ins.append(self.known[zero])
        for side in range(directions):
            for name in (w, r):
                self.part(ins, f"{name}[{side}]", self.samples[0].shapes[name][1:])
            if b:
                half = self.samples[0].shapes[b][1] // 2
                self.part(ins, f"{b}[{side}]", (half,))
                if has_state_biases:
                    self.part(ins, f"{b}[{side}].state", (half,))
        for name in {each for found in sources.values() for each in found}:
            self.weights.pop(name, None)
        steps, batch = self.shape(x)[:2]
        kind = TYPES[self.samples[0].types[x]]
        flat, split = ({"name": f"{node.output[0]}.{text}", "type": kind, "shape": shape} for text, shape in (("flat", [steps, batch, directions * cells]), ("split", [steps, batch, directions, cells])))
        outs = [flat, *[out or {"name": f"{node.output[0]}.{i}", "type": kind, "shape": [directions, batch, cells]} for i, out in enumerate(node.output[1:])]]
        self.add(node, f"onnx.{node.op_type}", ins, outs, has_biases=bool(b), has_state_biases=has_state_biases, bidirectional=directions == 2, num_layers=1, batch_first=False, nonlinearity="relu" if is_relu else None)
        if node.output[0]:
            self.add(node, "onnx.Reshape", [flat], [split])
            self.add(node, "onnx.Transpose", [split], [node.output[0]], dims=[0, 2, 1, 3])

    def is_half(self, biases):
        """Whether the biases of the state are zeros, as exporters write those that a recurrence does not have."""
        tensor = self.held.get(biases)
        return tensor is not None and tensor.data_location != TensorProto.EXTERNAL and not numpy.split(numpy_helper.to_array(tensor), 2, axis=1)[1].any()

    def count(self, name):
        return math.prod(self.samples[0].shapes[name])

    def sources(self, name):
        """The weights that a value consists of, if it is made from them by moving elements alone; else None."""
        if name in self.weights:
            return {name}
        maker = self.producers.get(name)
        if maker is None or maker.op_type not in ("Concat", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"):
            return None
        found = [self.sources(each) for each in (maker.input if maker.op_type == "Concat" else maker.input[:1])]
        return set().union(*found) if all(found) else None

    def part(self, ins, name, shape):
        self.types[name] = self.samples[0].types[ins[0]]
        self.weights[name] = tuple(shape)
        ins.append({"name": name})

    on_LSTM = on_GRU = on_RNN = recurrence


def _initializers(graph):
    """Those of a graph and of the branches in it."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _initializers(attribute.g)


def _is_constant(tensor):
    """Whether a tensor does not learn, since it has the frequencies of positions, or hides scores."""
    if tensor.data_location == TensorProto.EXTERNAL:
        return False
    values = numpy_helper.to_array(tensor)
    if are_frequencies(values):
        return True
    least = values.min(initial=0)
    if least > -100:
        return False
    shows = values == 0
    return least == -math.inf or shows.any() and (shows | (values == least)).all()


def _attribute(attribute):
    value = helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float):
        return number_of(numpy.float32(value))
    return [v.decode() if isinstance(v, bytes) else number_of(v) for v in value] if hasattr(value, "__len__") else value
