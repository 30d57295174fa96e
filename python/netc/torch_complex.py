# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes ops of complex numbers, such as those of rotary positions, as ops of their parts. The real and the imaginary part are a
last axis of size 2."""

from functools import partial

import torch
from torch.fx import Node

aten = torch.ops.aten


def split(program, writer):
    """Rewrites what depends on arguments or parameters. `writer` makes the errors: of an op without a rule, and of complex numbers
    that go in."""
    signature, graph = program.graph_signature, program.graph
    given = {*signature.user_inputs, *signature.inputs_to_parameters}
    depending, parts = set(), _Parts(graph)
    for node in list(graph.nodes):
        is_tensor = isinstance(node.meta.get("val"), (torch.Tensor, tuple, list))
        if not is_tensor or not (node.name in given or any(each in depending for each in node.all_input_nodes)):
            continue
        depending.add(node)
        if not any(map(_is_complex, [node, *node.all_input_nodes])):
            continue
        if node.op == "placeholder":
            writer.described(signature.inputs_to_parameters.get(node.name, node.name), node.meta["val"])
        with graph.inserting_before(node):
            made = parts.rewrite(node)
        if made is None:
            raise writer.refused(node, "netc does not split this op of complex numbers into their real and imaginary parts")
        depending.add(made)
        if _is_complex(node):
            parts.made[node] = made
        else:
            node.replace_all_uses_with(made)
            signature.replace_all_uses(node.name, made.name)
    graph.eliminate_dead_code()


def _is_complex(x):
    value = x.meta.get("val") if isinstance(x, Node) else x
    return value.is_complex() if isinstance(value, torch.Tensor) else isinstance(value, complex)


class _Parts:
    """Makes nodes of parts in place of nodes of complex values."""

    def __init__(self, graph):
        self.graph, self.made, self.halves = graph, {}, {}

    def rewrite(self, node):
        """The node that stands for another one, or that has its parts if it is complex; None if there is no rule."""
        self.node = node
        rule = RULES.get(node.target)
        return None if rule is None or set(node.kwargs) - {"memory_format", "implicit"} else rule(self, *node.args)

    def call(self, target, *args):
        made = self.graph.call_function(target, args)
        made.meta = {**self.node.meta, "val": target(*torch.fx.node.map_arg(args, lambda each: each.meta["val"]))}
        return made

    def parts(self, z):
        """Those of a value that depends on sizes alone are evaluated, as it is."""
        if z not in self.made:
            self.made[z] = self.call(aten.view_as_real.default, z)
        return self.made[z]

    def part(self, z, which):
        """The real part, 0, or the imaginary one, 1."""
        if not isinstance(z, Node):
            return (z.real, z.imag)[which]
        if (z, which) not in self.halves:
            self.halves[z, which] = self.call(aten.select.int, self.parts(z), -1, which)
        return self.halves[z, which]

    def join(self, real, imaginary):
        return self.call(aten.stack.default, [real, imaginary], -1)

    def of(self, op):
        return partial(self.call, op)

    def product(self, x, y, of):
        """What is linear in each of two operands, of which one or both are complex."""
        if not _is_complex(y):
            return self.join(*(of(self.part(x, i), y) for i in (0, 1)))
        if not _is_complex(x):
            return self.join(*(of(x, self.part(y, i)) for i in (0, 1)))
        (a, b), (c, d) = ([self.part(each, i) for i in (0, 1)] for each in (x, y))
        return self.join(self.call(aten.sub.Tensor, of(a, c), of(b, d)), self.call(aten.add.Tensor, of(a, d), of(b, c)))

    def scaled(self, parts, by, op):
        """Both parts, each with a real number or tensor."""
        return self.call(op, parts, self.call(aten.unsqueeze.default, by, -1) if isinstance(by, Node) else by)


def _mul(to, x, y):
    x, y = (x, y) if _is_complex(x) else (y, x)
    is_product = _is_complex(y) or not isinstance(x, Node)
    return to.product(x, y, to.of(aten.mul.Tensor)) if is_product else to.scaled(to.parts(x), y, aten.mul.Tensor)


def _div(to, x, y):
    """x / y = x conj(y) / |y|^2"""
    if not _is_complex(y):
        return to.scaled(to.parts(x), y, aten.div.Tensor)
    if not isinstance(y, Node):
        return _mul(to, x, 1 / y)
    if not _is_complex(x):
        return to.scaled(to.scaled(_conj(to, y), x, aten.mul.Tensor), _square(to, y), aten.div.Tensor)
    (a, b), (c, d) = ([to.part(each, i) for i in (0, 1)] for each in (x, y))
    of = to.of(aten.mul.Tensor)
    product = to.join(to.call(aten.add.Tensor, of(a, c), of(b, d)), to.call(aten.sub.Tensor, of(b, c), of(a, d)))
    return to.scaled(product, _square(to, y), aten.div.Tensor)


def _reciprocal(to, x):
    return to.scaled(_conj(to, x), _square(to, x), aten.div.Tensor)


def _pow(to, x, exponent):
    return _mul(to, x, x) if exponent == 2 else None


def _square(to, x):
    """|x|^2"""
    return to.call(aten.sum.dim_IntList, to.call(aten.mul.Tensor, to.parts(x), to.parts(x)), [-1])


def _added(op):
    """A sum or difference. A real operand adds to the real part alone, if the sum has the shape of the complex one."""

    def rule(to, x, y):
        if _is_complex(x) and _is_complex(y) and isinstance(y, Node):
            return to.call(op, to.parts(x), to.parts(y))
        (a, b), (c, d) = ((to.part(each, 0), to.part(each, 1)) if _is_complex(each) else (each, None) for each in (x, y))
        if d is None:
            imaginary = b
        elif b is not None:
            imaginary = to.call(op, b, d)
        elif isinstance(d, Node):
            imaginary = d if op is aten.add.Tensor else to.call(aten.neg.default, d)
        else:
            return None
        real = to.call(op, a, c)
        return to.join(real, imaginary) if real.meta["val"].shape == imaginary.meta["val"].shape else None

    return rule


def _same(target):
    """What is done to both parts alike."""
    return lambda to, x: to.call(target, to.parts(x))


def _kept(to, x, *_):
    return to.parts(x)


def _sized(target, size):
    """What is told a shape, to which `size` is added."""
    return lambda to, x, sizes: to.call(target, to.parts(x), [*sizes, size])


def _along(target, count, made=0):
    """What takes `count` axes as its next arguments, counted in a result of `made` more axes."""

    def rule(to, x, *settings):
        rank = _rank(x) + made
        axes = settings[:count] or (0,)
        return to.call(target, to.parts(x), *(axis % rank for axis in axes), *settings[count:])

    return rule


def _rank(z):
    return z.meta["val"].ndim


def _flatten(to, x, first=0, last=-1):
    return to.call(aten.flatten.using_ints, to.parts(x), first % _rank(x), last % _rank(x))


def _permute(to, x, order):
    return to.call(aten.permute.default, to.parts(x), [*(axis % _rank(x) for axis in order), _rank(x)])


def _reduced(target):
    return lambda to, x, axes=None, *settings: to.call(target, to.parts(x), [axis % _rank(x) for axis in axes or range(_rank(x))], *settings)


def _listed(target, made=0):
    """What puts several values into one."""
    return lambda to, values, axis=0: to.call(target, [to.parts(each) for each in values], axis % (_rank(values[0]) + made)) if all(map(_is_complex, values)) else None


def _einsum(to, equation, operands):
    return to.product(*operands, lambda *each: to.call(aten.einsum.default, equation, each)) if len(operands) == 2 else None


def _polar(to, radius, angle):
    return to.join(*(to.call(aten.mul.Tensor, radius, to.call(of, angle)) for of in (aten.cos.default, aten.sin.default)))


def _exp(to, x):
    return _polar(to, to.call(aten.exp.default, to.part(x, 0)), to.part(x, 1))


def _abs(to, x):
    return to.call(aten.sqrt.default, _square(to, x))


def _conj(to, x):
    return to.join(to.part(x, 0), to.call(aten.neg.default, to.part(x, 1)))


def _part(which):
    return lambda to, x: to.part(x, which) if _is_complex(x) else None


RULES = {
    aten.view_as_complex.default: lambda to, x: x, aten.view_as_real.default: _kept, aten.complex.default: _Parts.join,
    aten.real.default: _part(0), aten.imag.default: _part(1), aten.polar.default: _polar, aten.exp.default: _exp,
    aten.abs.default: _abs, aten.conj.default: _conj, aten._conj.default: _conj, aten.conj_physical.default: _conj,
    aten.resolve_conj.default: _kept, aten.clone.default: _kept, aten.contiguous.default: _kept, aten.alias.default: _kept,
    aten.neg.default: _same(aten.neg.default), aten.detach.default: _same(aten.detach.default),
    aten.add.Tensor: _added(aten.add.Tensor), aten.sub.Tensor: _added(aten.sub.Tensor),
    aten.mul.Tensor: _mul, aten.mul.Scalar: _mul, aten.div.Tensor: _div, aten.reciprocal.default: _reciprocal, aten.pow.Tensor_Scalar: _pow,
    aten.view.default: _sized(aten.view.default, 2), aten.reshape.default: _sized(aten.reshape.default, 2),
    aten._unsafe_view.default: _sized(aten.view.default, 2), aten.expand.default: _sized(aten.expand.default, -1),
    aten.unsqueeze.default: _along(aten.unsqueeze.default, 1, 1), aten.squeeze.dim: _along(aten.squeeze.dim, 1),
    aten.transpose.int: _along(aten.transpose.int, 2), aten.select.int: _along(aten.select.int, 1),
    aten.slice.Tensor: _along(aten.slice.Tensor, 1), aten.unflatten.int: _along(aten.unflatten.int, 1), aten.cumsum.default: _along(aten.cumsum.default, 1),
    aten.flatten.using_ints: _flatten, aten.permute.default: _permute,
    aten.sum.dim_IntList: _reduced(aten.sum.dim_IntList), aten.mean.dim: _reduced(aten.mean.dim),
    aten.cat.default: _listed(aten.cat.default), aten.stack.default: _listed(aten.stack.default, 1), aten.einsum.default: _einsum,
    **{op: lambda to, x, y, op=op: to.product(x, y, to.of(op)) for op in (aten.matmul.default, aten.mm.default, aten.bmm.default)},
}  # fmt: skip
