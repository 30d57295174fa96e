# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: torch, onnx
# RUN: env PYTHONPATH=%source_dir/python %python %s

# Numbers that a module computes with besides weights: the result is that of PyTorch.

import numpy
import torch
from onnx.reference import ReferenceEvaluator
from torch import nn

import netc

torch.manual_seed(0)


class Of(nn.Module):
    """A function, and buffers."""

    def __init__(self, forward, **buffers):
        super().__init__()
        self.call = forward
        for name, buffer in buffers.items():
            self.register_buffer(name, buffer)

    def forward(self, x, *others):
        return self.call(self, x, *others)


def same(text, module, *args, axes=None):
    """The specification has this text, and computes what PyTorch does."""
    spec = netc.from_torch(module, args, axes=axes)
    assert text in spec, spec
    model = netc.to_onnx(spec)
    data = {given.name: arg.numpy() for given, arg in zip(model.graph.input, args)}
    numpy.testing.assert_allclose(ReferenceEvaluator(model).run(None, data)[0], module(*args), rtol=1e-5, atol=1e-6)


# The size of a free axis.
x, free = torch.rand(3, 5, 4) + 0.1, {"x": {0: "N", 1: "T"}}
for function, text in (
    (lambda self, x: x.sum(1) / x.shape[1], "/ sum(ones(T))"),
    (lambda self, x: x / x.shape[1] ** 0.5, "(sum(ones(T))^0.5)"),
    (lambda self, x: x * -(x.shape[1] ** 0.5), "(sum(ones(T))^0.5) |> neg"),
    (lambda self, x: x * (1 / x.shape[1]), "* (1 / sum(ones(T)))"),
    (lambda self, x: x / (2 * x.shape[1] + 1.5), "/ (sum(ones(2 * T)) + 1.5)"),
    (lambda self, x: x.shape[1] - x, "sum(ones(T)) - x"),
    (lambda self, x: x / torch.tensor(x.shape[1]), "/ sum(ones(T))"),
    (lambda self, x: x.sum(1) / torch.full((1,), x.shape[1]), "sum(ones(T))"),
    (lambda self, x: torch.where(x > 0.5, x, x.shape[1]), "where(x > 0.5, x, sum(ones(T)))"),
    (lambda self, x: x.std(1, keepdim=True) + x, "/ sum(ones(T - 1))"),
    (lambda self, x: x.var((0, 1)), "/ sum(ones(N * T - 1))"),
    (lambda self, x: x * (x.argmax(-1) * x.shape[1])[..., None], "* arange(T + 1)[-1]"),
    (lambda self, x: x * (x.argmax(-1) * x.shape[1] > 5)[..., None], "* arange(T + 1)[-1]"),
    (lambda self, x: nn.functional.kl_div(x.log(), x * x, reduction="batchmean"), "/ sum(ones(N))"),
):
    same(text, Of(function), x, axes=free)

# Operands that broadcast, in every op that takes several.
pairs = torch.rand(3, 4) + 0.1, torch.rand(3, 4) + 0.1
for function, text in (
    (lambda self, x, y: torch.maximum(x[:, None], y[:, :, None]), "= maximum("),
    (lambda self, x, y: x[:, None].clamp(min=y[:, :, None]), "= maximum("),
    (lambda self, x, y: (x / 3).clamp(-65504, 65504) + (y - y).clamp(1e-8, 1).log(), "clamp(1e-08, 1)"),
    (lambda self, x, y: x[:, None] ** y[:, :, None], "= exp("),
    (lambda self, x, y: x ** y[:, :1], "= exp("),
    (lambda self, x, y: x.clamp(y - 0.5, y + 0.1), "minimum("),
    (lambda self, x, y: torch.where((x > y).any(1, keepdim=True), x, y) + (x > y[:1] - 0.5).all(1)[:, None], ") != 0"),
    (lambda self, x, y: x[:, :1] ** y, "= exp("),
    (lambda self, x, y: torch.where(x[:, None] > 0.5, x[:, None], y[:, :, None]), "= where("),
    (lambda self, x, y: torch.where((x[:, None] > 0.5) | (y[:, :, None] > 0.5), 1.0, 2.0), "= where("),
    (lambda self, x, y: torch.where(x[:, None] > y[:, :, None], 1.0, 2.0), "= where("),
):
    same(text, Of(function), *pairs)

# Integers and conditions beside floating point are such.
integers = torch.rand(3, 4), torch.tensor([0, 1, 3], dtype=torch.int32)
for function, text in (
    (lambda self, x, i: x * (i / 1000)[:, None], "/ 1000"),
    (lambda self, x, i: x + (1 - i)[:, None] * -10000.0, "* -10000"),
    (lambda self, x, i: x + (1 - i)[:, None].clamp(0, 1) * 0.5, "* 0.5"),
    (lambda self, x, i: x - 0.35 * nn.functional.one_hot(i.long(), 4), "* 0.35"),
    (lambda self, x, i: (x > 0.5) * 0.5 * x, "float(x > 0.5) * 0.5"),
    (lambda self, x, i: x + torch.sin(i)[:, None] + i.sqrt()[:, None] + (i + 1).log()[:, None], "|> sin"),
    (lambda self, x, i: x * i[:, None] ** 0.5, "^0.5"),
    (lambda self, x, i: torch.add(x, i[:, None], alpha=0.5), "* 0.5"),
):
    same(text, Of(function), *integers)

# A few constants are what they are.
images, three = torch.rand(2, 3, 4, 4), torch.tensor([1.0, 2.0, 3.0])
mean, deviation = (torch.tensor(values).reshape(1, 3, 1, 1) for values in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
same("tensor([[[[0.485]], [[0.456]], [[0.406]]]])", Of(lambda self, x: (x - self.mean) / self.std, mean=mean, std=deviation), images)
same("float(tensor([[[1.0]], [[2.0]], [[3.0]]]))", Of(lambda self, x: x * self.scale[:, None, None], scale=three), images)
same("tensor([0.5, -inf, 1e-05, 2.0])", Of(lambda self, x: (x + self.hidden).softmax(-1), hidden=torch.tensor([0.5, -torch.inf, 1e-5, 2.0])), x)

# So are evenly spaced numbers, however many, and numbers that are the same in all examples.
long = torch.rand(3, 100)
for text, function in (
    ("float(arange(100))", lambda self, x: x * torch.arange(100.0)),
    ("float(arange(100) * 2 + -3)", lambda self, x: x * torch.arange(-3.0, 197, 2)),
    ("for i in 0..100])", lambda self, x: x * torch.linspace(-1, 1, 100)),
    ("tensor([i * 0.1 for i in 0..100])", lambda self, x: x * (torch.arange(100) * 0.1)),
    ("expand(tensor([0.5, 0.25, 2.0])", lambda self, x: x[:, :3] * torch.tensor([0.5, 0.25, 2.0])[None].expand(x.shape[0], 3).clone()),
    ("float(arange(T))", lambda self, x: x.cumsum(1) * torch.arange(x.shape[1]).float()),
):
    same(text, Of(function), long, axes={"x": {0: "N", 1: "T"}} if "T" in text else None)

# What PyTorch has an op for, and netc writes in others.
square = lambda x, y: x.mT @ y
for function, text in (
    (lambda self, x, y: torch.float_power(x, 2.5), "^2.5"),
    (lambda self, x, y: torch.float_power(x, y), "= exp("),
    (lambda self, x, y: x.take_along_dim(y.topk(2).indices, 1), "take(x, top_k("),
    (lambda self, x, y: x[:1].take_along_dim(y.topk(1).indices, 1), "take("),
    (lambda self, x, y: torch.where((x > 0.5) ^ (y > 0.5), x, y), "(x > 0.5) != (others_0 > 0.5)"),
    (lambda self, x, y: torch.where(torch.logical_xor(x > 0.5, y[:, :1] > 0.5), x, y), "!="),
    (lambda self, x, y: square(x, y).trace(), "positions([5 * i for i in 0..4]"),
    (lambda self, x, y: square(x, y).diag(), "positions([5 * i for i in 0..4]"),
    (lambda self, x, y: torch.diagonal(square(x, y)[:3], 1), "positions([1 + 5 * i for i in 0..3]"),
    (lambda self, x, y: x.sum(0).diag() + torch.diag_embed(x), 'init = "identity"'),
    (lambda self, x, y: torch.einsum("bii,bij->bj", *[x[:, :, None] * y[:, None]] * 2), 'einsum("b i , b i j -> b j"'),
    (lambda self, x, y: torch.einsum("bi,bj->b", x, y), "over = axes(x)[1])"),
    (lambda self, x, y: torch.einsum("bi,kj->i", x, y), 'einsum("i , -> i"'),
    (lambda self, x, y: torch.einsum("b...ii->...i", torch.stack([x[:, :, None] * y[:, None]] * 2, 1)), "positions("),
    (lambda self, x, y: torch.logaddexp(x, y) + torch.logit(x / 2) + torch.rad2deg(y), "maximum("),
    (lambda self, x, y: torch.kron(x, y), "reshape("),
    (lambda self, x, y: torch.addmm(y[0], x, y.mT @ x, beta=0.5, alpha=2), "* 0.5"),
    (lambda self, x, y: nn.functional.softplus(x, 2, 0.7) - nn.functional.softplus(y, 1, 0.5), "where(x * 2 > 0.7, x, softplus(x * 2) / 2)"),
    (lambda self, x, y: nn.functional.pad(x, (1, 2), value=1.5), "value = 1.5"),
    (lambda self, x, y: (x @ y.T).masked_fill(torch.eye(x.shape[0], dtype=torch.bool), -9.0), ")[0]) == expand(arange(N), zeros(N, N)"),
    (lambda self, x, y: torch.where(~torch.eye(4, dtype=torch.bool), square(x, y), 1.0), ")[0]) != expand(arange(4), zeros(4, 4)"),
    (lambda self, x, y: torch.zeros_like(x).scatter(1, *x.topk(2)[::-1]), 'embedding(y_2, table(4, 4, init = "identity"))'),
):
    same(text, Of(function), *pairs)

# Triangles from any diagonal, and places that a table of several axes lists.
cubes = torch.arange(75.0).reshape(3, 5, 5) / 75
for function, text in (
    (lambda self, x: x.tril(1) + x.tril(-3), "|> mask(causal = true, value = 0)"),
    (lambda self, x: x.triu(-1) + x.triu(3), "|> mask(causal = true, value = 0)"),
    (lambda self, x: x.tril(7) * x.triu(-7), "|> mask(causal = true, value = 0)"),
    (lambda self, x: x[:, torch.tensor([[0, 1], [2, -1]])], "positions([0, 1, 2, "),
    (lambda self, x: x[..., torch.tensor([[3, 4], [3, 4], [3, 4]])], "positions([3, 4, 3, 4, 3, 4]"),
    (lambda self, x: x[:, torch.tensor([[1], [2], [3]])], "positions([1, 2, 3]"),
    (lambda self, x: x[:, torch.tensor([[0, 1], [2, 3]]), torch.tensor([[4, 3], [2, 1]])], "positions([4, 8, 12, 16]"),
    (lambda self, x: x[:, torch.tensor([[0], [2], [4]]), torch.tensor([1, -1])], "positions([1, 4, 11, 14, 21, 24]"),
    (lambda self, x: x[:, torch.tensor([3, 1]), torch.tensor([[0], [2]])], "positions([15, 5, 17, 7]"),
):
    same(text, Of(function), cubes)

# Heads of keys that several of queries read, where scores have a bias or a mask that goes in.
queries, bias = torch.rand(3, 4, 5, 6), torch.rand(3, 1, 5, 5)
attend = nn.functional.scaled_dot_product_attention
for heads in 1, 2:
    keys, text = torch.rand(3, heads, 5, 6), f"zeros(N, {heads}, {4 // heads}, 5, 6)"
    same(text, Of(lambda self, x, k, b: attend(x, k, k * 2, attn_mask=b, enable_gqa=True)), queries, keys, bias)
    same(text, Of(lambda self, x, k, b: attend(x, k, k * 2, attn_mask=b > 0.5, enable_gqa=True)), queries, keys, bias.clamp(0.51))
for shape in (3, 2, 2, 7, 6), (3, 1, 4, 7, 6):
    same("softmax", Of(lambda self, x, k: attend(x, k, k * 2, enable_gqa=True)), torch.rand(3, 2, 4, 5, 6), torch.rand(shape))

# Attention in three and five axes, such as along the rows of an image, with a bias.
for shape in (3, 5, 6), (3, 2, 4, 5, 6):
    queries, bias = torch.rand(shape), torch.rand(3, *shape[1:-2], 5, 5)
    same("softmax", Of(lambda self, x, b: attend(x, x * 2, x.cos(), attn_mask=b)), queries, bias)
    same("mask(causal = true)", Of(lambda self, x: attend(x, x * 2, x.cos(), is_causal=True)), queries)

# What is 0 takes part in nothing, as PyTorch has it.
target = torch.tensor([[0.0, 1, 0, 0], [0.5, 0, 0, 0.5], [0.25, 0.25, 0.25, 0.25]])
for text, function in (
    ("(where(others_0 == 0, 1, others_0) |> log)", lambda self, x, y: nn.functional.kl_div(x.log_softmax(-1), y, reduction="batchmean")),
    ("(where(others_0 == 0, 1, x) |> log)", lambda self, x, y: torch.xlogy(y, x)),
    ("|> log)", lambda self, x, y: torch.special.entr(y) + x),
):
    same(text, Of(function), pairs[0], target)

# Whole numbers that are such already, of conditions and integers, are not rounded.
for text, function in (
    ("y_2 = float(x > 0.5)\n  return y = sum(y_2", lambda self, x, y: (x > 0.5).float().sum(1).long().float()),
    ("float(x != 0) * others_0", lambda self, x, y: x.bool().int() * y),
    ("where(x > 0.5, 3, 1) * others_0", lambda self, x, y: torch.where(x > 0.5, 3, 1).float().to(torch.int8) * y),
):
    same(text, Of(function), *pairs)

# Whole numbers of which more than places is made are computed.
seen = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 0], [1, 2, 3, 3]], dtype=torch.int32)
for text, function in (
    ("|> cumsum(", lambda self, x, i: x * i.cumsum(1)),
    ("|> cumsum(", lambda self, x, i: x * (i != 0).cumsum(1)),
    ("- 1, 0)", lambda self, x, i: x * ((i != 0).long().cumsum(1) - 1).clamp(min=0)),
    ("where((", lambda self, x, i: x.masked_fill(i.cumsum(1) > 2, 0.0)),
    (")[2]]) > 4", lambda self, x, i: x * (i.cumsum(1)[:, None].expand(-1, 2, -1) > 4)[:, 1]),
    ("where(others_0 == 0, -3, float(others_0))", lambda self, x, i: x + i.sum(1, keepdim=True) + torch.where(i == 0, -3, i)),
    ("concat(", lambda self, x, i: x * torch.cat([i[:, :2] + 1, i[:, 2:]], 1)),
    ("top_k(float((", lambda self, x, i: x * (i + 1)[:, :3].argmax(1)[:, None]),
    ("take(float(others_0), others_0)", lambda self, x, i: x + (i.long() - i.long().gather(1, i.long()))),
):
    same(text, Of(function), pairs[0], seen)

# Parts that are replaced in place.


def replaced(self, x):
    y = x.clone()
    y[:, 1:3] += 1
    y[:, 2] = 0  # a part of what was replaced
    y[:, 3] += y[:, 1]
    y[..., 1:2, 2:] *= 2
    y[..., ::2] = 3
    y[:, 1::2] *= 0.5
    y[y > 2.5] = 0.5
    return y


same("concat(", Of(replaced), torch.rand(3, 4, 5))
added = Of(lambda self, x: exec("y[:, 1:3] += 1", {}, {"y": (y := x.clone())}) or y)
same("return y = concat(x[..., 0..1, 0..axes(x)[2]], y_2, x[..., 3..4, 0..axes(x)[2]], over = axes(x)[1])\n", added, torch.rand(3, 4, 5))

# Mixture gates of any axes.
gates = torch.rand(2, 3, 4)
same('"identity"))', Of(lambda self, x: torch.zeros_like(x).scatter(-1, *x.topk(2)[::-1])), gates)
same('"identity"))', Of(lambda self, x: torch.zeros_like(x).scatter(2, x.topk(2)[1], 1.0) * x), gates)

# Positions are recognized.
angles = torch.arange(40)[:, None] * 50.0 ** (-torch.arange(4) / 4)
positions = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
same('table(T, 8, init = "sinusoid", theta = 50)', Of(lambda self, x: x + self.table[: x.shape[1]], table=positions), torch.rand(3, 5, 8), axes=free)

# Many are ones, by which it can be divided. A comment says so.
many, rows = torch.linspace(0.5, 2.0, 80) ** 2, torch.rand(3, 80)
spec = netc.from_torch(Of(lambda self, x: x / self.many, many=many), rows)
said = "Constants such as `many` are ones here, and not the values of the model; no count depends on these."
assert f"# {said}\n" in spec, spec
assert 'x / expand(table(80, init = "ones"), x, over = axes(x)[1])' in spec, spec
numpy.testing.assert_array_equal(ReferenceEvaluator(netc.to_onnx(spec)).run(None, {"x": rows.numpy()})[0], rows)

# Integers that go in read a table of one axis.
few, ids = torch.tensor([0.5, 2.5, 7.5]), torch.tensor([2, 0, 1], dtype=torch.int32)
for function in (
    lambda self, x, ids: x * self.few[ids][:, None],
    lambda self, x, ids: x * self.few.index_select(0, ids)[:, None],
    lambda self, x, ids: x * self.few.gather(0, ids.long())[:, None],
):
    same("tensor([0.5, 2.5, 7.5])", Of(function, few=few), rows, ids)

# A place for each example, such as the last word of each text.
words, last = torch.rand(3, 5, 4), torch.tensor([2, 4, 0], dtype=torch.int32)
same("over = axes(x)[1])", Of(lambda self, x, last: x[torch.arange(x.shape[0]), last] * 2), words, last)
same("over = axes(y_2)[1])", Of(lambda self, x, last: (x.sum(-1) + 1)[torch.arange(x.shape[0]), last]), words, last)

# Where a text ends depends on its words alone, also if its length is free, or on a mask, which nothing reads then.
for mask in lambda mask: mask.sum(1) - 1, lambda mask: (mask != 0).cumsum(1).argmax(1):
    spec = netc.from_torch(Of(lambda self, x, mask_: x[torch.arange(x.shape[0]), mask(mask_)]), (words, torch.ones(3, 5, dtype=torch.long)))
    assert "net Of(x: f32[N, 5, 4]) {" in spec and "take(" in spec and "Nothing reads the argument `others_0`, and the net is without it." in spec, spec
pooled = Of(lambda self, words: self.embed(words)[torch.arange(words.shape[0]), words.argmax(-1)])
pooled.embed = nn.Embedding(9, 4)
spec = netc.from_torch(pooled, torch.ones(3, 5, dtype=torch.long))
assert "x: i32[N, T]" in spec and "take(" in spec and "# Tables are read at other places than the model computes or lists" in spec, spec

# Columns that a table of two axes names.
columns, several = torch.tensor([[1.0, 2.0, 4.0], [0.5, 3.0, 8.0]]), torch.tensor([[0, 2], [1, 1], [2, 1]])
same("order = [2, 0, 1])", Of(lambda self, x: x[:, :2, None, None] * (x.mean() * self.columns)[:, self.several], columns=columns, several=several), torch.rand(3, 4))

# How often each number is the largest, as losses of experts count it; integers are compared as such.
chosen = torch.rand(6, 4)
same("sum(float(", Of(lambda self, x: torch.histc(x.topk(2)[1].flatten().float(), 4, 0, 4) / 2), chosen)
spec = netc.from_torch(Of(lambda self, x, ids: torch.where(ids >= 2.5, x, -x)), (chosen, torch.ones(6, 1, dtype=torch.int32)))
assert "float(others_0) >= 2.5" in spec, spec
spec = netc.from_torch(Of(lambda self, x, ids: (x.argmax(-1) == ids) * x.sum(-1)), (chosen, torch.ones(6, dtype=torch.int32)))
assert "y = float(reshape(top_k(x, 1), N) == others_0) *" in spec, spec

# Batch norms without running statistics.
same("normalize(input, over = [axes(input)[0], axes(input)[2], axes(input)[3]], eps = 0.1)", nn.BatchNorm2d(3, eps=0.1, affine=False, track_running_stats=False), images)
same("normalize(x, over = axes(x)[0], eps = 1e-05)", Of(lambda self, x: nn.functional.batch_norm(x, None, None, training=True)), rows)
norm = netc.estimate(netc.from_torch(nn.BatchNorm2d(3, track_running_stats=False), images)).networks[-1]
assert norm.parameters.total == 6

# Complex numbers, as their parts.
held, turned = torch.view_as_complex(torch.rand(4, 4, 2)), torch.polar(torch.ones(4), torch.rand(4))
as_complex = lambda x: torch.view_as_complex(x.unflatten(-1, (-1, 2)))
z, u = torch.rand(3, 5, 8) + 0.1, torch.rand(3, 5, 4)
for function in (
    lambda self, x, y: torch.view_as_real(as_complex(x) * self.turned).flatten(2),
    lambda self, x, y: torch.view_as_real(as_complex(x) * y - 2 * as_complex(x).conj() / 3).flatten(2),
    lambda self, x, y: ((as_complex(x) + 1) / (as_complex(x) - self.turned)).abs(),
    lambda self, x, y: (as_complex(x) @ self.held).real,
    lambda self, x, y: torch.einsum("nti,ij->njt", as_complex(x), self.held).imag,
    lambda self, x, y: (torch.exp(as_complex(x) * 1j) - as_complex(x) ** 2).real,
    lambda self, x, y: torch.polar(y, -y).imag + torch.complex(x[..., 4:], y + 1).imag,
    lambda self, x, y: torch.view_as_real(torch.stack([as_complex(x), torch.complex(y, y)], 1).transpose(1, -1).sum(2)[:, 1:]).reshape(3, -1),
    lambda self, x, y: (1 / as_complex(x)).imag + (y - as_complex(x).cumsum(-1)).real,
    lambda self, x, y: torch.cat([as_complex(x), self.turned.expand(x.shape[0], 1, 4)], 1).mean((1, 2)).imag,
):
    same("", Of(function, held=held, turned=turned), z, u)
