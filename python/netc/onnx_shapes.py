# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The shapes of all values of an ONNX model, and the values that depend on sizes alone, for one choice of sizes."""

import math

import numpy
import onnx
from onnx import helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

from .errors import ImportRefused

WORDS = {"auto_pad": ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"), "direction": ("forward", "reverse", "bidirectional")}  # of attributes
QUANTIZED = {"DequantizeLinear", "DynamicQuantizeLinear", "QuantizeLinear", "ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"}
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}


def said_of(node, what):
    name = f" `{node.name}`" if node.name else ""
    return f"`onnx.{node.op_type}`{name}: {what}"


def refused(node, why):
    return ImportRefused(why if node is None else said_of(node, why))


class NoShape(ImportRefused):
    """Shapes do not fit for the chosen sizes of free axes."""


def opset_of(model):
    return next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 1)


def check_nodes(graph, opset):
    """Refuses nodes without operands or attributes that their op needs, or with other attributes than it has."""
    for node in graph.node:
        if node.domain in ("", "ai.onnx") and onnx.defs.has(node.op_type, opset, ""):
            schema = onnx.defs.get_schema(node.op_type, opset, "")
            given = [*node.input, *[""] * schema.min_input]
            for wanted, name in zip(schema.inputs[: schema.min_input], given):
                if not name and wanted.option != wanted.option.Optional:
                    raise refused(node, f"its operand `{wanted.name}` is missing")
            has = {attribute.name: attribute for attribute in node.attribute}
            for name, wanted in schema.attributes.items():
                if wanted.required and name not in has:
                    raise refused(node, f"its attribute `{name}` is missing")
            for name in has:
                if not (wanted := schema.attributes.get(name)):
                    raise refused(node, f"opset {opset} has no attribute `{name}` of it")
                if has[name].type != wanted.type.value:
                    raise refused(node, f"its attribute `{name}` is of the type {onnx.AttributeProto.AttributeType.Name(has[name].type)}, and {wanted.type.name} in ONNX")
                if name in WORDS and has[name].s.decode(errors="replace") not in WORDS[name]:
                    raise refused(node, f"its attribute `{name}` is {has[name].s!r}, and one of {', '.join(WORDS[name])} in ONNX")
            if node.op_type == "Constant" and not has:
                raise refused(node, "it has no value")
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                check_nodes(attribute.g, opset)


def integer(node, name, otherwise):
    return next((attribute.i for attribute in node.attribute if attribute.name == name), otherwise)


def _renamed(graph, names, prefix):
    """A body whose values have names of their own, since bodies may have the same. `names`: new ones of values around it."""
    renamed = onnx.GraphProto()
    renamed.CopyFrom(graph)
    names = {**names, **{name: prefix + name for name in [each.name for each in graph.input] + [out for node in graph.node for out in node.output if out]}}
    for each in [*renamed.input, *renamed.output]:
        each.name = names.get(each.name, each.name)
    for node in renamed.node:
        for values in (node.input, node.output):
            values[:] = [names.get(name, name) for name in values]
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                attribute.g.CopyFrom(_renamed(attribute.g, names, prefix))
    return renamed


class Sample:
    """The shapes of all values, and the values that depend on sizes alone, for one choice of sizes of the free axes."""

    def __init__(self, file, sizes):
        self.parts = {}  # of lists
        self.shapes, self.values, self.types = {}, dict(file.constants), dict(file.types)
        self.opset, self.opsets = file.opset, file.opsets
        for value in file.inputs:
            self.shapes[value.name] = tuple(sizes.get(d.dim_param, d.dim_value) for d in value.type.tensor_type.shape.dim)
        self.shapes.update(file.shapes)
        self.nodes = []  # with those of the branches that are taken, and those of bodies before their loops
        self.direct = []  # those that are in no loop
        self.branches = []  # nodes that chose one, and their conditions
        self.bodies = {}  # of loops, by their first result: the body, and the nodes in it
        for node in file.nodes:
            self.run(node)

    def run(self, node):
        ins = [name for name in node.input if name]
        if node.domain not in ("", "ai.onnx"):
            raise refused(node, f"it is an op of `{node.domain}`")
        if node.op_type in QUANTIZED:
            raise refused(node, "netc has no quantized numbers; import the model as it was before")
        if not onnx.defs.has(node.op_type, self.opset, ""):
            raise refused(node, f"ONNX has no such op in opset {self.opset}, so its shape is not known")
        if node.op_type == "If" and ins and ins[0] in self.values:
            self.branches.append((node, ins[0]))
            return self.take_branch(node, "then_branch" if self.values[ins[0]].all() else "else_branch")
        missing = next((name for name in ins if name not in self.shapes and name not in self.parts), None)
        if missing is not None:
            raise refused(node, f"its operand `{missing}` is no input, no initializer, and no result of a node before it")
        if node.op_type == "Scan":
            return self.scan(node, ins)
        self.keep(node)
        if node.op_type == "Shape":
            shape = self.shapes[ins[0]]
            part = shape[integer(node, "start", 0) : integer(node, "end", len(shape))]
            return self.hold(node.output[0], numpy.array(part, dtype=numpy.int64))
        if node.op_type == "Size":
            return self.hold(node.output[0], numpy.array(math.prod(self.shapes[ins[0]]), dtype=numpy.int64))
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            return self.hold(node.output[0], numpy_helper.to_array(node.attribute[0].t))
        if node.op_type == "CastLike" and ins[0] in self.values:
            return self.hold(node.output[0], self.values[ins[0]].astype(helper.tensor_dtype_to_np_dtype(self.types[ins[1]])))
        if node.op_type == "SplitToSequence" and not any(name in self.values for name in ins[:1]):
            return self.split(node, ins)
        if node.op_type == "SequenceAt":
            at = int(self.values[ins[1]])
            self.types[node.output[0]], self.shapes[node.output[0]] = self.types[ins[0]], self.parts[ins[0]][at]
            return None
        if any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for a in node.attribute):
            raise refused(node, "which branch it takes depends on data" if node.op_type == "If" else "netc takes no loop; export the model with a number of steps that is fixed")
        if node.op_type not in RANDOM and all(name in self.values for name in ins):
            made = self.evaluate(node, ins)
            for name, value in zip(node.output, made):
                self.hold(name, numpy.asarray(value))
            return None
        return self.infer(node, ins)

    def keep(self, node):
        self.nodes.append(node)
        self.direct.append(node)

    def scan(self, node, ins):
        """Runs the nodes of the body once, for one element of each sequence."""
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        carried = len(ins) - given["num_scan_inputs"]
        if wrong := next((key for key in given if key.startswith("scan_") and any(given[key])), None):
            raise refused(node, f"`{wrong}` is {list(given[wrong])}; netc takes the first axis, in order")
        body = _renamed(given["body"], {}, f"{node.output[0]}.")
        for i, (outer, inner) in enumerate(zip(ins, body.input)):
            self.types[inner.name] = self.types[outer]
            self.shapes[inner.name] = self.shapes[outer][i >= carried :]
        outside, self.direct = self.direct, []
        for inner in body.node:
            self.run(inner)
        for i, (inner, outer) in enumerate(zip(body.output, node.output)):
            steps = self.shapes[ins[-1]][: i >= carried]
            self.types[outer], self.shapes[outer] = self.types[inner.name], (*steps, *self.shapes[inner.name])
        self.bodies[node.output[0]] = body, self.direct
        self.direct = outside
        self.keep(node)

    def take_branch(self, node, which):
        """Runs the nodes of a branch, with the names that the results have outside."""
        branch = next(a.g for a in node.attribute if a.name == which)
        for inner in branch.node:
            self.run(inner)
        for inner, outer in zip(branch.output, node.output):
            self.run(helper.make_node("Identity", [inner.name], [outer], name=node.name))

    def split(self, node, ins):
        """Splits a value into a list of parts. `SequenceAt` takes one of them."""
        axis = integer(node, "axis", 0)
        shape = self.shapes[ins[0]]
        sizes = self.values[ins[1]] if len(ins) > 1 and ins[1] in self.values else numpy.array(1)
        whole = shape[axis]
        sizes = [min(int(sizes), whole - start) for start in range(0, whole, int(sizes))] if sizes.ndim == 0 else [int(each) for each in sizes]
        self.types[node.output[0]] = self.types[ins[0]]
        self.parts[node.output[0]] = [(*shape[:axis], size, *shape[axis % len(shape) + 1 :]) for size in sizes]

    def hold(self, name, value):
        self.values[name], self.shapes[name] = value, value.shape
        self.types[name] = helper.np_dtype_to_tensor_dtype(value.dtype)

    def evaluate(self, node, ins):
        inputs = [helper.make_tensor_value_info(name, self.types[name], self.shapes[name]) for name in dict.fromkeys(ins)]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
        if node.op_type == "GatherElements":  # of which the evaluator cannot broadcast
            data, places = (self.values[name] for name in node.input)
            axis = integer(node, "axis", 0)
            part = tuple(slice(None if i == axis % data.ndim else size) for i, size in enumerate(places.shape))
            return [numpy.take_along_axis(data[part], places, axis)]
        model = helper.make_model(helper.make_graph([node], "one", inputs, outputs), opset_imports=self.opsets)
        try:
            return ReferenceEvaluator(model).run(None, {name: self.values[name] for name in ins})
        except Exception as problem:
            raise refused(node, f"it cannot be evaluated: {problem}") from problem

    def infer(self, node, ins):
        inputs = [helper.make_tensor_value_info(name, self.types[name], self.shapes[name]) for name in dict.fromkeys(ins)]
        held = [numpy_helper.from_array(self.values[name], name) for name in dict.fromkeys(ins) if name in self.values]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        model = helper.make_model(helper.make_graph([node], "one", inputs, outputs, initializer=held), opset_imports=self.opsets)
        try:
            found = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph.output
        except Exception as problem:
            raise NoShape(said_of(node, f"its shape does not follow: {problem}")) from problem
        for value in found:
            kind = value.type.tensor_type
            if node.op_type == "GroupNormalization":  # whose inference gives up in newer opsets
                self.types[value.name], self.shapes[value.name] = self.types[ins[0]], self.shapes[ins[0]]
                continue
            if node.op_type == "BatchNormalization" and value.name != node.output[0]:  # statistics, of which older opsets infer nothing
                self.types[value.name], self.shapes[value.name] = self.types[ins[0]], self.shapes[ins[1]]
                continue
            if not kind.HasField("shape") or any(not d.HasField("dim_value") for d in kind.shape.dim):
                raise refused(node, "the shape of what it makes depends on data")
            self.types[value.name] = kind.elem_type
            self.shapes[value.name] = tuple(d.dim_value for d in kind.shape.dim)
        if node.op_type == "Reshape" and math.prod(self.shapes[ins[0]]) != math.prod(self.shapes[node.output[0]]):
            raise refused(node, "what goes in has another number of elements")
