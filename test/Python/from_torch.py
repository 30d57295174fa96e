# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: torch
# RUN: env PYTHONPATH=%source_dir/python %python %s

# What modules of PyTorch say besides their ops: what learns, what is free, and what is known.

import contextlib
import io
import re
import sys
import warnings

import torch
from torch import nn, while_loop
from torch._higher_order_ops.scan import scan
from torch.utils.checkpoint import checkpoint, checkpoint_sequential, create_selective_checkpoint_contexts

import netc
from netc.known import known


class Of(nn.Module):
    """Parts, and a function of them and of arguments."""

    def __init__(self, forward, **parts):
        super().__init__()
        self.call = forward
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x, *others):
        return self.call(self, x, *others)


def costs(module, *args, **rest):
    network = netc.estimate(netc.from_torch(module, args, **rest)).networks[-1]
    return network.forward.matmul, network.backward.matmul


def refused(text, module, *args, **rest):
    try:
        netc.from_torch(module, args, **rest)
    except netc.NetcError as problem:
        assert text in str(problem), problem
    else:
        raise AssertionError(f"{text}: it was imported")


def without_gradients(self, x):
    with torch.no_grad():
        x = self.body(x)
    return self.head(x)


# Gradients stop where PyTorch stops them.
body = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16))
x = torch.zeros(4, 8)
for forward in without_gradients, lambda self, x: self.head(self.body(x).detach()):
    assert costs(Of(forward, body=body, head=nn.Linear(16, 4)), x) == (2 * (8 * 16 + 16 * 16 + 16 * 4), 2 * 16 * 4)
again = Of(lambda self, x: self.head(checkpoint(self.body, x, use_reentrant=True)), body=body, head=nn.Linear(16, 4))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    refused("torch.export loses the gradients of a checkpoint with `use_reentrant=True`; use `use_reentrant=False`", again, x)


# What is checkpointed is recomputed: modules, one that is called by a function, a part of a sequence, and one within another.
kept = lambda function, *others: checkpoint(function, *others, use_reentrant=False)
head = nn.Linear(16, 16)
for module, text in (
    (Of(lambda self, x: kept(self.b, kept(self.a, x)), a=body, b=nn.Sequential(head, nn.ReLU(), head)), "a = recomputed(Sequential)"),
    (Of(lambda self, x: self.b(kept(lambda x: self.a(x), x)), a=body, b=head), "a = recomputed(Sequential)"),
    (Of(lambda self, x: checkpoint_sequential(self.a, 2, x, use_reentrant=False), a=body), "recomputed("),
    (Of(lambda self, x: kept(lambda x: self.b(kept(self.a, x)), x), a=body, b=head), "recomputed(Checkpoint)"),
    (Of(lambda self, x: kept(lambda x: self.b(x).exp().log(), x) + kept(self.b, x), b=nn.Linear(8, 8)), "# The model recomputes `b`, `checkpoint_1` for"),
):
    spec = netc.from_torch(module, x)
    assert text in spec and "stop_gradient" not in spec, spec
stack = Of(lambda self, x: kept(self.c, kept(self.b, kept(self.a, x))), **{name: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True) for name in "abc"})
spec = netc.from_torch(stack, torch.zeros(4, 5, 8))
assert "recomputed(TransformerEncoderLayer)" in spec, spec
(run,) = netc.estimate(spec + """
dataset D { examples = 60 }
train Of on D as run { batch = 3; duration = 1 step; loss = sum(y); optimizer = SGD(lr = 0.1) }
""").runs
assert run.step.recompute.matmul == run.step.forward.matmul > 0, run.step

# Elements of a list, each with what is added to it outside of it.
def branches(self, x):
    for each in self.list:
        x = x + kept(each, x)
    return x


spec = netc.from_torch(Of(branches, list=nn.ModuleList(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)) for _ in range(3))), x)
assert "recomputed(Sequential)" in spec and "repeat 3" in spec, spec

# What is chosen within a checkpoint is kept, which is said.
chosen = lambda: create_selective_checkpoint_contexts([torch.ops.aten.mm.default])
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    spec = netc.from_torch(Of(lambda self, x: checkpoint(self.a, x, use_reentrant=False, context_fn=chosen), a=body), x)
text = "The model recomputes what a `context_fn` of its checkpoints chooses, and the net keeps it."
assert f"# {text}" in spec and text in [str(each.message) for each in seen], spec

# A weight norm takes nothing but weights.
norm = nn.utils.parametrizations.weight_norm
assert costs(nn.Sequential(norm(nn.Linear(8, 8)), norm(nn.Linear(8, 8))), x)[0] == 2 * 2 * 8 * 8
# Along any axis, such as that of what comes out of a transposed convolution, or of all.
for axis, lengths in (0, 4), (1, 6), (2, 3), (None, 1):
    network = netc.estimate(netc.from_torch(norm(nn.ConvTranspose1d(4, 6, 3), dim=axis), torch.zeros(2, 4, 9))).networks[0]
    assert network.parameters.total == 4 * 6 * 3 + 6 + lengths, axis

# The module is as it was.
body[1].eval()
netc.from_torch(body, x)
assert body[0].training and not body[1].training

# An axis that is named must be there.
linear = nn.Linear(8, 8)
refused("`kwargs` has arguments by name, as in `kwargs=dict(x=..)`, and is a list", linear, kwargs=[x])
refused("`axes` names `x`; the arguments that are tensors are `input`", linear, x, axes={"x": {0: "N"}})
refused("`axes` names axis 2 of `input`, which has axes 0 to 1", linear, x, axes={"input": {2: "N"}})
refused("`axes` calls axis 0 of `input` 3; a name is", linear, x, axes={"input": {0: 3}})
refused("`axes` calls axis 0 of `input` `net`, which is a word of the language", linear, x, axes={"input": {0: "net"}})
refused("`axes` names axes by argument and place", linear, x, axes={"input": ["N"]})
refused("a module of PyTorch is expected, not a function", lambda x: x, x)
refused("no argument is a tensor; give an example of what the module takes", linear, 2, 8)
refused("`forward` of Linear does not take these arguments: too many positional arguments", linear, x, x)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that TorchScript is old
    for made in torch.jit.trace(linear, x), torch.jit.script(linear), torch.jit.freeze(torch.jit.script(nn.Linear(8, 8).eval())):
        refused("torch.export takes no module of TorchScript; give the module that it was made of", made, x)

# The length of a sequence of channels has any name.
heads = Of(lambda self, x: self.a(x).view(x.shape[0], 2, 4, x.shape[2]), a=nn.Conv1d(8, 8, 1))
for name in "LST":
    spec = netc.from_torch(heads, torch.zeros(2, 8, 5), axes={"x": {0: "N", 2: name}})
    assert f"x: f32[N, C = 8, {name}]" in spec, spec

# The scores of such a sequence have an axis of positions at the end.
scores = Of(lambda self, x: (self.a(x).view(-1, 2, 4, x.shape[2]).mT @ x.view(-1, 2, 4, x.shape[2])).softmax(-1), a=nn.Conv1d(8, 8, 1))
assert costs(scores, torch.zeros(2, 8, 5), axes={"x": {0: "N", 2: "T"}})[0] == "16*T^2 + 128*T"

# What is not of one example says so.
for module, text in (nn.LSTM(8, 4), "The first axis of `input` stays 5"), (nn.MultiheadAttention(8, 2), "The module takes sequences first"):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        spec = netc.from_torch(module, [torch.zeros(5, 3, 8)] * (1 if "LSTM" in str(module) else 3))
    assert [text in str(each.message) for each in seen if "axis of" in str(each.message)] == [True] and text in spec, spec

# The batch stays free beside axes that are named, unless it is another one.
for named, sizes in ({1: "T"}, "N, T, 8"), ({0: "B"}, "B, 5, 8"), ({1: "N"}, "1, N, 8"), ({}, "N, 5, 8"):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        spec = netc.from_torch(linear, torch.zeros(1, 5, 8), axes={"input": named})
    assert f"input: f32[{sizes}]" in spec and not seen, spec
both = Of(lambda self, x, y: self.a(x).sum(1) + y, a=linear)
for named, batch in ({"x": {1: "T"}}, "N"), ({"x": {0: "B", 1: "T"}}, "B"):
    spec = netc.from_torch(both, (torch.zeros(3, 5, 8), torch.zeros(3, 8)), axes=named)
    assert f"x: f32[{batch}, T, 8], others_0: f32[{batch}, 8]" in spec, spec

# What is no tensor of an op is an output too; what is no tensor is none.
for forward, text in (
    (lambda self, x: x, "return y = x\n"),
    (lambda self, x: (self.a(x), x), "return y0 = x |> a, y1 = x\n"),
    (lambda self, x: (self.a(x), torch.zeros(3)), "return y0 = x |> a, y1 = zeros(3)\n"),
    (lambda self, x: (self.a(x), None, 3, x.shape[0]), "return y = x |> a\n"),
    (lambda self, x: {"cache": None, "loss": x.sum(), "parts": [x, (self.a(x), 3)]}, "parts_0 = x, parts_1_0 = x |> a\n"),
    (lambda self, x: torch.zeros(x.shape[0], 3), "return y = zeros(N, 3)\n"),
    (lambda self, x: self.a.weight, "weight = parameter(8, 8)\n  return y = weight\n"),
    (lambda self, x: [self.a(x)] * 2, "y = x |> a\n  return y0 = y, y1 = y\n"),
):
    spec = netc.from_torch(Of(forward, a=linear), x)
    assert text in spec, spec
for nothing in None, 3:
    refused("`forward` returns no tensor", Of(lambda self, x, nothing=nothing: nothing, a=linear), x)

# An axis that was to be free, and is not, is named, with the line that takes one size.
words, numbers = nn.Embedding(40, 8), torch.zeros(3, 6, dtype=torch.long)
recurrence = Of(lambda self, x: self.k(self.e(x))[0], e=words, k=nn.GRU(8, 6, batch_first=True))
walk = Of(lambda self, x: sum(self.e(x[:, i]) for i in range(x.shape[1])), e=words)
added = Of(lambda self, x: self.e(x) + self.b, e=words, b=nn.Parameter(torch.zeros(6, 8)))
for module, why in (recurrence, "as for a recurrence, which has a given length"), (walk, "`<lambda>` (from_torch.py:"), (added, "torch.export takes no other size here; if it is near the size of another axis by chance, give an example of another size."):
    for axes in None, {"x": {0: "N", 1: "S"}}:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            spec = netc.from_torch(module, numbers, axes=axes)
        (said,) = [line[2:] for line in spec.splitlines() if line.startswith("# Axis 1 of `x` stays 6: ")]
        assert why in said and said in [str(each.message) for each in seen], spec

# First axes of one size in the example are of one batch. Of several sizes, they are apart, which is said.
towers = Of(lambda self, x, y: self.a(x) @ self.a(y).mT, a=linear)
assert "others_0: f32[N, 8]" in netc.from_torch(towers, (x, torch.zeros(4, 8)))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    spec = netc.from_torch(towers, (x, torch.zeros(6, 8)))
text = "The first axis of `others_0` is T, and not the batch N"
assert [text in str(each.message) for each in seen if "axis of" in str(each.message)] == [True] and text in spec, spec

# Labels have the axes of what they are compared with, though PyTorch wants no equal sizes.
words = nn.Sequential(nn.Embedding(50, 8), nn.Linear(8, 50))
tokens = torch.zeros(2, 7, dtype=torch.long)
for loss in (
    lambda self, x, y: nn.functional.cross_entropy(self.a(x)[:, :-1].reshape(-1, 50), y[:, 1:].reshape(-1)),
    lambda self, x, y: nn.functional.cross_entropy(self.a(x).mT, y),
    lambda self, x, y: self.a(x).log_softmax(-1).gather(2, y[..., None]).mean(),
):
    assert "others_0: i32[N, T]" in netc.from_torch(Of(loss, a=words), (tokens, tokens.clone()))

# Losses by row and in total, and distances, in netc's own words.
labels, wide = torch.zeros(4, dtype=torch.long), nn.Linear(8, 5)
F = nn.functional
for loss, text in (
    (lambda self, x, y: F.cross_entropy(self.a(x), y, reduction="none").exp().mean(), "take(x |> a |> log_softmax"),
    (lambda self, x, y: F.cross_entropy(self.a(x), y, reduction="sum", label_smoothing=0.1), "* 0.1"),
    (lambda self, x, y: F.cross_entropy(self.a(x), y, weight=torch.ones(5)), "take(x |> a |> log_softmax"),
    (lambda self, x, y: F.cross_entropy(self.a(x), y, ignore_index=0), "where(others_0 == 0, -1, others_0)"),
    (lambda self, x, y: F.cross_entropy(self.a(x), y, ignore_index=5), "cross_entropy(x |> a, others_0)"),
    (lambda self, x, y: F.nll_loss(self.a(x).log_softmax(-1), y), "take(x |> a |> log_softmax"),
    (lambda self, x, y: F.kl_div(self.a(x).log_softmax(-1), F.one_hot(y, 5).float().softmax(-1)), "softmax"),
    (lambda self, x, y: torch.cdist(x, self.a.weight) + y[:, None], "|> sqrt"),
    (lambda self, x, y: torch.cdist(x, self.a.weight, p=1) + y[:, None], "|> abs"),
):
    spec = netc.from_torch(Of(loss, a=wide), (x, labels))
    assert text in spec, spec
    assert netc.estimate(spec).networks[-1].parameters.total in (45, 40)
refused("netc does not know the op `aten.cdist`", Of(lambda self, x: torch.cdist(x, self.a.weight, p=3), a=wide), x)
smoothed = lambda self, x, y: F.cross_entropy(self.a(x), y, weight=torch.ones(5), label_smoothing=0.1)
refused("its classes have weights", Of(smoothed, a=wide), x, labels)


def shifted(self, x):
    moved = x.new_zeros(x.shape)
    moved[:, 1:] = x[:, :-1].clone()
    moved[:, 0] = 3
    return F.cross_entropy(self.a(self.e(moved.masked_fill(moved == -100, 1))).mT, x)


assert "labels: i32[N, T]".replace("labels", "x") in netc.from_torch(Of(shifted, a=wide, e=nn.Embedding(9, 8)), tokens)

# Labels of another length than the scores, which is fixed here.
apart = Of(lambda self, x, y: F.cross_entropy(self.a(x).view(-1, 5), y.view(-1)), a=wide)
refused("its classes are of [N * T], and its scores of [6 * N]; `axes` says which axes are free", apart, torch.zeros(3, 6, 8), torch.zeros(3, 6, dtype=torch.long))

# Noise that is 1 or 0 is dropout; its scale is where the module has it.


def dropped(self, x):
    noise = torch.rand((x.shape[0], 1, 1)).add(0.9).floor_()
    return x.div(0.9) * noise


assert "y = x |> StochasticDepth(0.1)\n" in netc.from_torch(Of(dropped), torch.zeros(4, 5, 8))
assert "y = (x |> Dropout(0.1)) * 0.9\n" in netc.from_torch(Of(lambda self, x: x * (torch.rand_like(x) < 0.9)), x)
refused("it computes with what is random", Of(lambda self, x: x * (1 - F.max_pool1d(torch.bernoulli(torch.full_like(x, 0.1)), 3, 1, 1))), torch.zeros(2, 3, 8))
# Other random numbers are arguments, as of an autoencoder whose code is drawn, or of steps and noise of a diffusion.
drawn = Of(lambda self, x: self.b(self.a(x) + torch.randn_like(x) * self.b(x).exp()), a=linear, b=nn.Linear(8, 8))
text = netc.from_torch(drawn, x)
assert "# Random numbers go in as arguments, `randn_like`: no cost depends on them.\n" in text and "randn_like: f32[N, 8]" in text, text
assert costs(drawn, x) == (3 * 2 * 8 * 8, 4 * 2 * 8 * 8)
noised = Of(lambda self, x: self.a(x + self.e(torch.randint(0, 9, x.shape[:1]))), a=linear, e=nn.Embedding(9, 8))
assert "randint: i32[N]" in netc.from_torch(noised, x)

# Other names of an op are that op.
matrix = Of(lambda self, x: torch.matmul(self.a(x), self.a(x).mT), a=nn.Linear(8, 8))
for other in torch.linalg.matmul, torch.inner:
    again = Of(lambda self, x, other=other: other(self.a(x), self.a(x) if other is torch.inner else self.a(x).mT), a=nn.Linear(8, 8))
    assert costs(again, x) == costs(matrix, x), other
for other, name in (
    ("absolute", "abs"), ("clip", "clamp"), ("concat", "cat"), ("concatenate", "cat"), ("divide", "div"), ("greater", "gt"), ("greater_equal", "ge"), ("less", "lt"),
    ("less_equal", "le"), ("multiply", "mul"), ("negative", "neg"), ("not_equal", "ne"), ("subtract", "sub"), ("true_divide", "div"),
):  # fmt: skip
    ins = {"clip": (0, 1), "absolute": (), "negative": ()}.get(other, (x[0] + 1,))
    call = lambda name: Of(lambda self, x: getattr(torch, name)([x, x], 1) if "cat" in name else getattr(torch, name)(x, *ins))
    assert netc.from_torch(call(other), x) == netc.from_torch(call(name), x), other
for forward, text in (
    (lambda self, x: F.relu6(x), "|> relu6"), (lambda self, x: torch.special.expit(x), "|> sigmoid"), (lambda self, x: torch.diff(x), "x[..., 1..8] - x[..., 0..7]"),
    (lambda self, x: torch.outer(x[0], x[1]), "reshape(8, 1), 8), zeros(8, 8)"), (lambda self, x: torch.add(x, 2, alpha=3), "x + 6"),
    (lambda self, x: torch.rsub(x, 2, alpha=3), "2 - (x * 3)"), (lambda self, x: torch.linalg.vecdot(x, x.exp()), "sum("),
):  # fmt: skip
    assert text in (spec := netc.from_torch(Of(forward), x)), spec
# A matrix and a vector, and two vectors, are a product by any name.
vector = nn.Parameter(torch.zeros(8))
for several in [lambda self, x: x @ self.v, lambda self, x: torch.mv(x, self.v)], [lambda self, x: x.sum(0) @ self.v, lambda self, x: x.sum(0).dot(self.v)]:
    assert len({costs(Of(forward, v=vector), x) for forward in several}) == 1

# Messages along the edges of a graph, added by the numbers of their targets.
messages = {
    "index_add": lambda self, x, e: torch.zeros_like(x).index_add(0, e[1], self.a(x)[e[0]]),
    "scatter_add": lambda self, x, e: torch.zeros_like(x).scatter_add(0, e[1][:, None].expand(-1, 8), self.a(x)[e[0]]),
    "index_put": lambda self, x, e: torch.zeros_like(x).index_put((e[1],), self.a(x)[e[0]], accumulate=True),
}
for name, forward in messages.items():
    text = netc.from_torch(Of(forward, a=nn.Linear(8, 8)), (torch.zeros(6, 8), torch.zeros(2, 9, dtype=torch.long)))
    assert "= scatter_add(" in text, name
refused("netc does not know the op `aten.scatter_add`", Of(lambda self, x, e: x.scatter_add(0, e, x)), torch.zeros(6, 8), torch.zeros(6, 8, dtype=torch.long))

# Pairs of features, by the places of a triangle, and a row that is compared with several.
pairs = Of(lambda self, x: (x @ x.mT)[:, *torch.tril_indices(4, 4, -1)])
assert "positions([4, 8, 9, 12, 13, 14], over = " in netc.from_torch(pairs, torch.zeros(2, 4, 8))
# Columns of a table of biases, by the distances of positions.
distances = (torch.arange(5)[:, None] - torch.arange(5)).abs()
biased = Of(lambda self, x: self.a(x)[:, None] + self.b[:, distances], a=nn.Linear(5, 5), b=nn.Parameter(torch.zeros(2, 5)))
assert "transpose(embedding(" in (spec := netc.from_torch(biased, torch.zeros(3, 5, 5))), spec
# A scale that is not the ratio of the sizes.
scaled = Of(lambda self, x: F.interpolate(x, scale_factor=1.7))
assert "A scale of 1.7 is here one of 15 / 9, and pixels are at other places; no count depends on it." in netc.from_torch(scaled, torch.zeros(2, 3, 9, 9))
assert "A scale" not in netc.from_torch(scaled, torch.zeros(2, 3, 10, 10))

# A window has no size on the examples of a batch.
refused("window of `conv` spans 3 elements of axis 2, `N`", nn.Conv1d(4, 4, 3), torch.zeros(3, 4, 9), axes={"input": {2: "N"}})

# What rounds has no gradient, and places that are computed of weights are not replaced by others.
table = nn.Embedding(8, 4)
for cast in (lambda x: x.long(), lambda x: x.int().float() * x, lambda x: x.to(torch.int8)[:, :2].float(), lambda x: torch.zeros_like(x, dtype=torch.int).copy_(x)):
    refused("it rounds to whole numbers, through which no gradient goes; netc has no op that rounds, and takes them as an argument", Of(lambda self, x: cast(self.a(x)), a=wide), x)
refused("`aten._to_copy`, in the module itself (from_torch.py:", Of(lambda self, x: self.b((self.a(x).sigmoid() * 7).long()), a=wide, b=table), x)
places = "its places are computed of floating-point numbers; netc takes whole numbers that go in, places of the largest elements, and what is computed of these"
for chosen in (lambda x: (x > 0).long(), lambda x: (x > 0).sum(1) + 1, lambda x: torch.where(x > 0, 3, 1)):
    refused("`aten.embedding`, in `b` (from_torch.py:", Of(lambda self, x: self.b(chosen(self.a(x))), a=wide, b=table), x)
    refused(places, Of(lambda self, x: self.b(chosen(self.a(x))), a=wide, b=table), x)
refused("it rounds to whole numbers", Of(lambda self, i: self.b(i) * (i.float() / 3).long()[..., None], b=table), torch.zeros(2, 5, dtype=torch.long))
assert "Tables are read at other places" in netc.from_torch(Of(lambda self, i: self.b((i.float() / 3).long()), b=table), torch.zeros(2, 5, dtype=torch.long))
largest = netc.estimate(netc.from_torch(Of(lambda self, x: self.b(self.a(x).argmax(1) + 1), a=wide, b=table), x)).networks[0]
assert largest.forward.matmul == 2 * 8 * 5 and largest.parameters.total == 8 * 5 + 5 + 8 * 4, largest
refused("it reads places of several axes", Of(lambda self, x: x[:, [0, 1], :, [1, 0]]), torch.zeros(2, 4, 8, 3))
close = Of(lambda self, x, y: F.cosine_similarity(self.a(x)[:, None], y, -1), a=linear)
assert costs(close, x, torch.zeros(4, 5, 8))[0] == 2 * 8 * 8

# The letters of a product that are there once are those of the result.
for equation in "bi,ij", "...i,ij":
    assert costs(Of(lambda self, x, equation=equation: torch.einsum(equation, x, self.w), w=nn.Parameter(torch.zeros(8, 4))), x)[0] == 2 * 8 * 4

# An axis of one operand alone is summed before the product.
for equation, matmul in ("bij,k->bk", 0), ("bij,jk->bk", 2 * 8 * 8), ("bij,kl->b", 0), ("bij,jk,lk->bi", 2 * 4 * 8 * 8 + 2 * 4 * 8):
    own = [nn.Parameter(torch.zeros([8] * len(letters))) for letters in equation.split("->")[0].split(",")[1:]]
    product = Of(lambda self, x, equation=equation: torch.einsum(equation, x, *self.own), own=nn.ParameterList(own))
    assert costs(product, torch.zeros(3, 4, 8))[0] == matmul, equation

# A bias of scores that hides positions, too, is a mask.
def sloped(self, x):
    size = x.shape[2]
    ahead = torch.arange(size) - torch.arange(size)[:, None]
    return (ahead * torch.tensor([0.5, 0.25])[:, None, None]).masked_fill(ahead > 0, -torch.inf)


for attend in lambda self, x: F.scaled_dot_product_attention(x, x, x, attn_mask=sloped(self, x)), lambda self, x: (x @ x.mT + sloped(self, x)).softmax(-1):
    for axes in {"x": {2: "T"}}, {}:
        text = netc.from_torch(Of(attend), torch.zeros(2, 2, 9, 8), axes=axes)
        assert "mask(causal = true)" in text, text

# Of more than two operands, PyTorch multiplies the first two first.
chain = nn.ParameterList(nn.Parameter(torch.zeros(*sizes)) for sizes in ((8, 3), (3, 9), (9, 2)))
for equation in "na,ab,bc,cd->nd", "...a,ab,bc,cd->...d", "na,ab,bc,cd":
    product = Of(lambda self, x, equation=equation: torch.einsum(equation, x, *self.own), own=chain)
    assert costs(product, torch.zeros(4, 8)) == (2 * (8 * 3 + 3 * 9 + 9 * 2), 2 * 2 * (3 * 9 + 9 * 2) + 2 * 8 * 3), equation
refused("netc keeps running statistics of batches, and not of instances (`track_running_stats`)", nn.InstanceNorm2d(3, track_running_stats=True), torch.zeros(2, 3, 4, 4))

# Triangles of weights, on either side of the diagonal.
for side in torch.tril, torch.triu:
    for offset in -1, 0, 1:
        if (side, offset) not in ((torch.tril, 1), (torch.triu, -1)):
            assert "mask(" in netc.from_torch(Of(lambda self, x: self.a(x) @ side(self.w, offset), a=linear, w=nn.Parameter(torch.zeros(8, 8))), x)

# One mask or position for all examples, and states of which the second axis is the batch.
sequence = torch.zeros(4, 5, 8)
scores = Of(lambda self, x, mask: (self.a(x) @ x.mT + mask).softmax(-1) @ x, a=linear)
assert costs(scores, sequence, torch.zeros(1, 5, 5))[0] == 2 * 5 * 8 * 8 + 4 * 5 * 5 * 8
places = Of(lambda self, x, places: self.a(x + self.e(places)), a=linear, e=nn.Embedding(50, 8))
assert costs(places, sequence, torch.arange(5)[None])[0] == 2 * 5 * 8 * 8
states = [torch.zeros(1, 4, 3)] * 2
assert "f32[N, 5, 8]" in netc.from_torch(nn.LSTM(8, 3, batch_first=True), (sequence, tuple(states)))
for layers, examples in (1, 1), (2, 2):  # as many as layers
    spec = netc.from_torch(nn.GRU(8, 3, layers, batch_first=True), (torch.zeros(examples, 5, 8), torch.zeros(layers, examples, 3)))
    assert f"f32[N, 5, 8], hx: f32[{layers}, N, 3]" in spec, spec


def window(self, x):
    places = torch.arange(x.shape[1])
    shown = (places[None] <= places[:, None]) & (places[:, None] - places[None] < self.width)
    return (x @ x.mT).masked_fill(~shown, float("-inf")).softmax(-1) @ x


def buffer(self, x):
    size = x.shape[1]
    return (x @ x.mT).masked_fill(self.shown[:size, :size] == 0, float("-inf")).softmax(-1) @ x


# Windows of all widths, also those that no short sequence shows.
axes = {"x": {0: "N", 1: "T"}}
for width in 3, 12, 15, 16, 40:
    assert f"window = {width}" in netc.from_torch(Of(window, width=width), torch.zeros(2, 50, 8), axes=axes)
held = Of(buffer)
held.register_buffer("shown", torch.ones(64, 64).tril() * torch.ones(64, 64).triu(-19))
assert "window = 20" in netc.from_torch(held, torch.zeros(2, 50, 8), axes=axes)

# A buffer that each call changes; of the statistics of norms, netc knows.
def average(self, x):
    x = self.norm(x)
    self.mean.mul_(0.9).add_(x.mean(0).detach(), alpha=0.1)
    return x - self.mean


averaged = Of(average, norm=nn.BatchNorm1d(8))
averaged.register_buffer("mean", torch.zeros(8))
spec = netc.from_torch(averaged, torch.zeros(2, 8))
assert "changes its buffer `mean`: it is read as before the first call" in spec and spec.count("changes its buffer") == 1, spec

# The base of rotary positions, from tables of several precisions.
for kind in torch.float32, torch.bfloat16, torch.float16:
    for theta in 10_000, 500_000, 160_000:
        angles = torch.outer(torch.arange(9.0), theta ** -(torch.arange(32.0) / 32)).repeat(1, 2)
        for what, table in ("cosine", angles.cos()), ("sine", angles.sin()):
            assert known(table.to(kind).float().numpy(), precision=torch.finfo(kind).eps) == {"what": what, "theta": theta}
# Where long wavelengths are scaled, the base is that of the first ones; where all are, or too few are not, it is not told.
speeds = 500_000 ** -(torch.arange(32.0) / 32)
for scaled, found in (torch.where(speeds < 0.01, speeds / 8, speeds), {"theta": 500_000, "scaled": True}), (speeds / 4, {"scaled": True}), (torch.where(speeds < 0.7, speeds / 8, speeds), {"scaled": True}):
    angles = torch.outer(torch.arange(9.0), scaled).repeat(1, 2)
    for what, table in ("cosine", angles.cos()), ("sine", angles.sin()):
        assert known(table.numpy()) == {"what": what, **found}


def rotated(self, x):
    q = self.a(x).view(*x.shape[:2], 2, 8).transpose(1, 2)
    angles = torch.outer(torch.arange(x.shape[1]), self.speeds).repeat(1, 2)
    return q * angles.cos() + torch.cat((-q[..., 4:], q[..., :4]), -1) * angles.sin()


for scale in 1, 8:
    rotating = Of(rotated, a=nn.Linear(8, 16), speeds=nn.Buffer(500_000 ** -(torch.arange(4.0) / 4) / torch.tensor([1, scale, scale, scale])))
    spec = netc.from_torch(rotating, torch.zeros(2, 6, 8), axes={"x": {1: "T"}})
    assert ("|> RoPE(theta = 500000)" in spec) == (scale == 1) and ("|> RoPE\n" in spec) == (scale == 8), spec
    assert spec.count("Angles of positions are those of one `theta` here, and the model scales some of them; no count depends on these.") == (scale == 8), spec
assert known(torch.ones(3, 4, dtype=torch.complex64).numpy() * 1j) == {"what": "table"}
flat = torch.ones(9, 8)
flat[:, 1] = 0.9
flat[0] = 1
assert known(flat.repeat(1, 2).numpy())["what"] == "cosine"

# What a new user may give in place of a module and an example of its arguments.
for given, args, text in (
    (nn.Linear, x, "a module of PyTorch is expected, not the class `Linear`; make a module of it, `Linear(..)`"),
    (linear.forward, x, "a module of PyTorch is expected, not a method; a function is the `forward` of one"),
    (linear.state_dict(), x, "a module of PyTorch is expected, not a OrderedDict; build the module, whose weights do not matter"),
    (linear, (4, 8), "no argument is a tensor; give an example of what the module takes, as in `from_torch(model, torch.zeros(2, 3, 224, 224))`"),
    (linear, {"input": x}, "arguments by name are `kwargs`, as in `from_torch(model, kwargs=dict(x=..))`"),
):
    try:
        netc.from_torch(given, args)
        raise AssertionError(f"{text}: it was imported")
    except netc.ImportRefused as problem:
        assert text in str(problem), problem

# What depends on data is named.
refused("give the module itself", torch.export.export(linear, (x,)).module(), x)
looping = Of(lambda self, x: while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, self.a(y)), (torch.tensor(0), x))[1], a=nn.Linear(8, 8))
refused("it holds a graph of its own; a `for` over a number of steps is written out", looping, x)


# PyTorch's `scan` is a loop of netc, also in another one.
def cells(self, x, reverse=False, noise=None):
    def step(h, each):
        h = torch.tanh(self.x(each) + self.h(h)) + (0 if noise is None else noise(h))
        return h, h.clone()

    return scan(step, torch.zeros(x.shape[0], 6), x.transpose(0, 1), reverse=reverse)


def rows(self, x):
    def step(h, row):
        last, all = cells(self, row)
        return h + last, all.mean(0)

    return scan(step, torch.zeros(x.shape[0], 6), x.transpose(0, 1))


def recurrent(forward):
    return Of(forward, x=nn.Linear(8, 6), h=nn.Linear(6, 6, bias=False))


steps = torch.zeros(4, 5, 8)
for is_reversed in False, True:
    module = recurrent(lambda self, x, is_reversed=is_reversed: cells(self, x, is_reversed)[1])
    text = netc.from_torch(module, steps)
    assert "scan xt in y_" in text and "carry h = zeros(N, 6) {\n" in text and ("flip" in text) == is_reversed, text
    network = netc.estimate(text).networks[0]
    assert (network.parameters.total, network.forward.matmul) == (6 * 8 + 6 + 6 * 6, 5 * 2 * 6 * (8 + 6)), text
both = netc.from_torch(recurrent(rows), torch.zeros(4, 3, 5, 8))
assert both.count("scan xt") == 2 and netc.estimate(both).networks[0].forward.matmul == 3 * 5 * 2 * 6 * (8 + 6), both
random = recurrent(lambda self, x: cells(self, x, noise=torch.rand_like)[1])
refused("it draws random numbers in each step of a loop; draw those of all steps before it", random, steps)
refused("it makes a number of a tensor", Of(lambda self, x: self.a(x) * x.sum().item(), a=linear), x)
packed = Of(lambda self, x, sizes: self.a(nn.utils.rnn.pack_padded_sequence(x, sizes, batch_first=True))[1], a=nn.GRU(8, 4, batch_first=True))
refused("the sizes of a packed sequence depend on data; leave it padded", packed, sequence, torch.full((4,), 5))


# An error is all that is said of a module that PyTorch refuses; what it says of others stays.
def told(self, x):
    print("of the module", file=sys.stderr)
    return self.a(x)


branch = Of(lambda self, x: self.a(x) if x.sum() > 0 else x, a=linear)
said = io.StringIO()
with contextlib.redirect_stderr(said):
    refused("in the module itself (from_torch.py:", branch, x)
    refused("a size or a branch, `Eq(u0, 1)`, depends on data", branch, x)
    assert said.getvalue() == "", said.getvalue()
    netc.from_torch(Of(told, a=linear), x)
assert said.getvalue().startswith("of the module\n"), said.getvalue()


# A branch that is there in training alone is said to be so; others are not.
def skipping(self, x):
    return x if self.training and torch.rand([]) < 0.1 else self.a(x)


advice = "; it is there in training alone: leave out the random choice, as with `layerdrop=0`, or the check of values"
refused(f"a size or a branch, `Eq(u0, 1)`, depends on data{advice}", Of(skipping, a=linear), x)
try:
    netc.from_torch(branch, x)
except netc.ImportRefused as problem:
    assert advice not in str(problem), problem

# Pairs of examples, of which each is a class.
pairs = Of(lambda self, x, y: F.cross_entropy((self.a(x) @ y.t()).t(), torch.arange(x.shape[0])), a=linear)
spec = netc.from_torch(pairs, (x, x.clone()))
assert re.search(r"cross_entropy\((\w+), arange\(N\), over = axes\(\1\)\[1\]\)", spec), spec

# Keys that are there once for several heads of queries, in the order of positions.


def grouped_heads(self, x):
    q, k, v = (self.a(x).view(*x.shape[:2], 2, 2, 2), *(self.a(x)[..., :4].view(*x.shape[:2], 2, 1, 2).expand(-1, -1, -1, 2, -1) for _ in range(2)))
    return F.scaled_dot_product_attention(*(each.flatten(2, 3).transpose(1, 2) for each in (q, k, v)))


assert costs(Of(grouped_heads, a=linear), torch.zeros(2, 5, 8))[0] == 5 * (3 * 2 * 8 * 8 + 2 * 2 * 5 * 8)

# A weight may have the name of an argument.
assert "net Of(x_: f32[N, 8])" in netc.from_torch(Of(lambda self, x: x @ self.x, x=nn.Parameter(torch.zeros(8, 4))), x)

# Numbers that netc does not have.
for kind in torch.cfloat, torch.float8_e4m3fn:
    refused(f"netc has no numbers of type `{kind}`, as of `weight`", nn.Linear(4, 8).to(kind), torch.zeros(2, 4))
refused("netc has no numbers of type `torch.complex64`, as of `x`", Of(lambda self, x: self.a(x.abs()), a=linear), x.to(torch.cfloat))


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.relu()

    @staticmethod
    def backward(context, gradient):
        return gradient


# A backward of a function's own is not in the graph.
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    spec = netc.from_torch(Of(lambda self, x: Straight.apply(self.a(x)), a=linear), x)
said = "`Straight` has a backward of its own; netc counts the derivative of its forward."
assert f"# {said}\n" in spec and said in [str(each.message) for each in seen], spec

# So is the gradient of what goes in, for which a module may ask.
def setting(self, x):
    x = x * 2
    x.requires_grad = True
    return self.a(x)


for body, is_asked in (setting, True), (lambda self, x: self.a((x * 2).requires_grad_()), True), (lambda self, x: self.a(x.detach().requires_grad_(False)), False), (lambda self, x: self.a(x).requires_grad_(), False):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        spec = netc.from_torch(Of(body, a=linear), x)
    said = re.search(r"# (The module asks for the gradient of what goes in \(from_torch.py:\d+\), which PyTorch computes; netc does not count it\.)\n", spec)
    assert bool(said) == is_asked and [each[1] for each in (said,) if each] == [str(each.message) for each in seen], (spec, seen)

# Values are finite where a branch asks, and what a module does because it is exported is said.
def checked(self, x):
    y = self.a(x)
    if self.training and not torch.isfinite(y).all():
        y = y.clamp(-1, 1)
    if (y.isnan() | torch.isinf(y)).any().item():
        raise ValueError
    return y


for body, asks in (checked, ["values are finite"] * 2), (lambda self, x: self.a(x) if torch.compiler.is_exporting() else x, ["it is exported"]):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        spec = netc.from_torch(Of(body, a=linear), x)
    assert re.findall(r"# The module asks whether (.*) \(from_torch.py:\d+\)", spec) == asks and len(seen) == len(asks), (spec, seen)
    assert spec.endswith("return y = x |> a\n}\n"), spec

# Places in a table that are constants are what they are, or in it if they are many.
near = lambda count: torch.arange(count)[None] - torch.arange(count)[:, None]
for places, text in (
    (lambda: near(3).clamp(-2, 1) + 2, "embedding(tensor([[2, 3, 3], [1, 2, 3], [0, 1, 2]]), weight)"),
    (lambda: torch.arange(12) % 8, "embedding(tensor([0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3]), weight)"),
    (lambda: near(20).clamp(-4, 3) + 4, "embedding(minimum(reshape(arange(400), 20, 20), 7), weight)"),
):
    spec = netc.from_torch(Of(lambda self, x: x + self.e(places()).sum(), e=nn.Embedding(8, 4)), x)
    assert text in spec, spec

# What is wrong with a size names its op and line, and what is of a free size is no number.
padded = Of(lambda self, x: nn.functional.pad(x, (0, 4 - x.shape[1] % 4)))
refused("`aten.pad.default` in the module itself (from_torch.py:", padded, torch.zeros(2, 6), axes={"x": {0: "N", 1: "T"}})
grouped = Of(lambda self, x: nn.functional.conv1d(x.reshape(1, -1, 9), x[:, :, None, :3].reshape(-1, 1, 3), groups=4 * x.shape[0]))
refused('`groups` is "4*N", and must be a whole number here', grouped, torch.zeros(2, 4, 9))

numbers, free = torch.zeros(3, 5, 4), {"x": {0: "N", 1: "T"}}
refused("a size, `(T//2)`, is no polynomial of free axes; with `axes={'x': {0: 'N'}}`, the first axis of `x` alone is free; take an example of the sizes that you mean", Of(lambda self, x: x / (x.shape[1] // 2)), numbers, axes=free)
refused("`max` is `T`, and must be a number here; `axes` says which axes are free", Of(lambda self, x: x.clamp(max=x.shape[1])), numbers, axes=free)
refused("netc has no number `Max(2.0, ", Of(lambda self, x: x / torch.sym_max(x.shape[1] ** 0.5, 2.0)), numbers, axes=free)

# Only sizes of the example matter: it may be a view with other strides, at any depth.
cut = torch.ones(2, 7, dtype=torch.long)[:, :-1]
tokens = Of(lambda self, ids: self.e(ids.view(-1, ids.shape[-1])), e=nn.Embedding(9, 8))
assert netc.from_torch(tokens, cut) == netc.from_torch(tokens, cut.contiguous())
assert "net Of(" in netc.from_torch(Of(lambda self, pair: self.e(pair["ids"][0].view(-1, pair["ids"][0].shape[-1])), e=nn.Embedding(9, 8)), ({"ids": [cut]},))

# A model of transformers returns keys and values for tokens to come, unless its config says otherwise, as it does for the import.
Cache = type("DynamicCache", (), {"__module__": "transformers.cache_utils"})
Config = type("Config", (), {"__module__": "transformers.configuration_utils", "use_cache": True})
outer, inner = Config(), Config()
for each in outer, inner:
    each.use_cache = True
kept_keys = Of(lambda self, x: (self.a(x)[0], Cache()) if self.config.use_cache else (self.a(x),), a=Of(lambda self, x: (self.b(x), Cache()) if self.config.use_cache else (self.b(x),), b=linear, config=inner), config=outer)
assert "return y = x |> b" in netc.from_torch(kept_keys, x) and outer.use_cache and inner.use_cache
refused("what it returns for tokens to come is no tensor; give `use_cache=False`", Of(lambda self, x: (self.a(x), Cache()), a=linear), x)

# A decoder whose mask is made in the module: whether it is causal, netc sees itself. Keys may have any axis.
decoder = Of(lambda self, x, y: self.t(x, y, tgt_mask=nn.Transformer.generate_square_subsequent_mask(y.shape[1])), t=nn.Transformer(8, 2, 1, 1, 16, batch_first=True))
text = netc.from_torch(decoder, (torch.zeros(2, 5, 8), torch.zeros(2, 3, 8)))
assert "causal = true" in text, text


def worked_over(module, *inputs, op="softmax", **rest):
    """The axis that netc lets an op of a module work over."""
    nodes = netc.to_graph(netc.from_torch(module, inputs, **rest))["nodes"]
    return next(each["with"]["dim"] for each in nodes if op in each["op"])


# Scores get the names of the axes of what is added to them, such as a bias of pairs, and then one is called as features are.
heads, pairs = torch.zeros(2, 4, 6, 8), torch.zeros(2, 4, 6, 6)
sum_of = Of(lambda self, q, b: torch.maximum((q @ q.mT + b), b).softmax(-1))
assert worked_over(sum_of, heads, pairs) == 3
assert worked_over(Of(lambda self, q, b: nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=b)), heads, pairs) == 3
assert worked_over(Of(lambda self, q, b: torch.where(b > 0, q @ q.mT, b).softmax(-1)), heads, pairs) == 3
assert worked_over(Of(lambda self, x: (x @ x.mT).softmax(-1)), torch.zeros(2, 6, 8), axes={"x": {1: "C"}}) == 2
for layer in nn.Linear(6, 6), nn.Linear(6, 5), nn.LayerNorm(6):
    network = netc.estimate(netc.from_torch(Of(lambda self, q, b: self.l(q @ q.mT + b), l=layer), (heads, pairs))).networks[-1]
    assert network.parameters.total == sum(each.numel() for each in layer.parameters()), layer
# The axes of an image are not those of what is contracted with itself.
talk = Of(lambda self, q: self.c(torch.einsum("bhid,bhjd->bhij", q, q)), c=nn.Conv2d(4, 3, 3, padding=1))
assert "Conv(3, 3, pad = 1)" in netc.from_torch(talk, heads)

# Masks of another form, which have no FLOP, are left out with a comment: one of a step that goes on with stored keys, and one of blocks.
after = Of(lambda self, q, past: nn.functional.scaled_dot_product_attention(q, k := torch.cat([past, q], 2), k, attn_mask=torch.ones(6, 10, dtype=torch.bool).tril(4)))
block_of = torch.arange(6) // 3
blocks = Of(lambda self, q, b: (q @ q.mT + b).masked_fill(block_of[:, None] != block_of, float("-inf")).softmax(-1) @ q)
chosen = Of(lambda self, q, b: torch.where(block_of[:, None] == block_of, q @ q.mT + b, float("-inf")).softmax(-1) @ q)
for module, other, keys in (after, torch.zeros(2, 4, 4, 8), 10), (blocks, pairs, 6), (chosen, pairs, 6):
    spec = netc.from_torch(module, (heads, other))
    assert spec.count("Masks that are known, and neither causal nor windows, are left out; no FLOP depend on them.") == 1, spec
    assert netc.estimate(spec).networks[-1].forward.matmul == 2 * 2 * 4 * 6 * keys * 8

# A layer of images names the axes of what it makes, and a sum with what is called otherwise keeps their order.
square = torch.zeros(2, 4, 4, 4)
turned = Of(lambda self, x: x.transpose(1, 2) + self.g(x.transpose(1, 2)), g=nn.BatchNorm2d(4))
for module in turned, Of(lambda self, x: self.g(x.transpose(1, 2)).transpose(1, 2) * x, g=nn.BatchNorm2d(4)):
    nodes = netc.to_graph(netc.from_torch(module, square))["nodes"]
    assert sum(each["op"] == "aten.permute" for each in nodes) == 2, nodes
refused("it works over the axes [2, 3, 4] in the graph, and would work over [1, 3, 4]", Of(lambda self, x: self.g(x) + self.g(x.transpose(1, 2)), g=nn.GroupNorm(2, 4)), square)
refused("`aten.fft_fft.default` in the module itself (from_torch.py:", Of(lambda self, x: torch.fft.fft(x).real), torch.zeros(2, 8))
refused("torch.export refuses it: UnsupportedOperatorException: aten.fake_quantize", Of(lambda self, x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)), torch.zeros(2, 8))

# What holds for some sizes of a free axis alone says so.
tokens, wide = torch.zeros(2, 6, dtype=torch.long), torch.zeros(2, 8)
spec = netc.from_torch(Of(lambda self, x: self.l(self.e(x[:, :32])), e=nn.Embedding(50, 8), l=nn.Linear(8, 8)), tokens)
assert "# This holds where T is at most 31: the module does something else with other sizes." in spec, spec
spec = netc.from_torch(Of(lambda self, x: self.a(x) if x.shape[0] < 64 else self.b(x), a=nn.Linear(8, 8), b=nn.Linear(8, 80)), wide)
assert "# This holds where N is at most 63: the module does something else with other sizes." in spec, spec

# A first axis of another size than the batch is no batch, though `axes` names it, or it is of integers.
rows, pairs, weighed = torch.zeros(10, 8), torch.zeros(2, 30, dtype=torch.long), torch.zeros(30, 4)
apart = Of(lambda self, x, z: self.a(x).sum(0) + self.b(z).sum(0), a=nn.Linear(8, 16), b=nn.Linear(4, 16))
spec = netc.from_torch(apart, (rows, weighed), axes={"others": {0: "E"}})
assert "x: f32[N, 8], others_0: f32[E, 4]" in spec, spec
spec = netc.from_torch(apart, (rows, weighed[:10]), axes={"others": {0: "E"}})
assert "x: f32[E, 8], others_0: f32[E, 4]" in spec, spec

# One tensor of the example in two arguments is two inputs. What `axes` says of one axis is one name, of one size.
attend = Of(lambda self, x, y: self.a(x) @ self.a(y).mT, a=nn.Linear(8, 4))
long = torch.zeros(3, 6, 8)
spec = netc.from_torch(attend, (long, long), axes={"x": {0: "N", 1: "T"}, "others": {0: "N", 1: "S"}})
assert "x: f32[N, T, 8], others_0: f32[N, S, 8]" in spec, spec
sums = Of(lambda self, x, y: self.a(x + y), a=nn.Linear(8, 4))
spec = netc.from_torch(sums, (long, long), axes={"x": {1: "T"}, "others": {1: "S"}})
assert "# Axis 1 of `others_0`, which `axes` calls S, has the size of T in this module, and its name.\n" in spec, spec
refused("`axes` gives axis 1 of `others_0`, of size 5, the name `T`, which an axis of `x` of size 6 has", attend, long, long[:, :5], axes={"x": {1: "T"}, "others": {1: "T"}})
shared = Of(lambda self, x, y: self.a(x) + self.b(y), a=nn.Linear(8, 4), b=nn.Linear(8, 4))
for axes, batch in (None, "N"), ({"others": {0: "N"}}, "N"), ({"others": {0: "B"}}, "B"):
    spec = netc.from_torch(shared, (rows[:1], rows), axes=axes)
    assert f"x: f32[1, 8], others_0: f32[{batch}, 8]" in spec and "# The first axis of `x` stays 1: it is one for all examples.\n" in spec, spec
refused("`axes` names axis True of `x`", attend, long, long, axes={"x": {True: "T"}})
spec = netc.from_torch(apart, (rows, weighed), axes={"others": {0: "N"}})
assert "# The first axis of `x` stays 10: it is no part of the batch, unless `axes` names it.\n" in spec and "x: f32[10, 8], others_0: f32[N, 4]" in spec, spec

# What takes one example alone, and names that PyTorch cannot write.
spec = netc.from_torch(Of(lambda self, x: self.a(x.reshape(1, 40)), a=nn.Linear(40, 4)), torch.zeros(1, 5, 8))
assert "# The first axis of `x` stays 1: the module takes no other batch.\n" in spec and "x: f32[1, 5, 8]" in spec, spec
words = nn.ModuleDict({"class": nn.Linear(8, 8)})
refused("torch.export cannot write the name `class` of a module or parameter", Of(lambda self, x: self.a["class"](x), a=words), rows)

both = Of(lambda self, x, pair, more: self.a(x) + pair["b"] + more * pair["a"].sum(0), a=nn.Linear(8, 8))
spec = netc.from_torch(both, (rows, {"a": torch.zeros(30, 8), "b": rows.clone()}, rows.clone()), axes={"x": {0: "N"}, "others_0_a": {0: "E"}, "others": {0: "N"}})
assert "x: f32[N, 8], others_0_a: f32[E, 8], others_0_b: f32[N, 8], others_1: f32[N, 8]" in spec, spec


class Sent(nn.Linear):
    def forward(self, x, edges, e):
        return torch.zeros(x.shape[0], 4).index_add(0, edges[1], super().forward(x[edges[0]]) + e)


sent = Sent(8, 4)
spec = netc.from_torch(sent, (rows, pairs, weighed), axes={"edges": {1: "E"}, "e": {0: "E"}})
assert re.search(r"x: f32\[N, 8\], edges: i32\[[A-Z], E\], e: f32\[E, 4\]", spec), spec
spec = netc.from_torch(sent, (rows, pairs, weighed), axes={"e": {0: "E"}})
assert "# Axis 0 of `e` stays 30: so does axis 1 of `edges`, and if both are one, `axes` gives them one name.\n" in spec, spec
both = Of(lambda self, x, edges: self.a(x) + self.e(edges).sum((0, 1)), a=nn.Linear(8, 8), e=nn.Embedding(10, 8))
assert "others_0: i32[T, S]" in netc.from_torch(both, (rows, pairs))

# A mask is one wherever attention adds it: inside of its kernel, or to the scores whose weights are asked for.
hidden = nn.Transformer.generate_square_subsequent_mask(8)
for are_asked in (False, True):
    looked = lambda self, x: self.a(x, x, x, attn_mask=hidden, need_weights=are_asked)[0]
    spec = netc.from_torch(Of(looked, a=nn.MultiheadAttention(8, 2, batch_first=True)), torch.zeros(2, 8, 8))
    assert "causal = true" in spec, spec

# Attention over what was the height of an image, and modules whose names have no letters.
speech = Of(lambda self, x: self.a(*[self.c(x).transpose(1, 2).flatten(2)] * 3, need_weights=False)[0], c=nn.Conv2d(1, 8, 3), a=nn.MultiheadAttention(32, 4, batch_first=True))
assert "attention(" in netc.from_torch(speech, torch.zeros(2, 1, 9, 6))
signs = nn.ModuleDict({"+": nn.Linear(8, 8), "-": nn.Linear(8, 8)})
assert netc.from_torch(Of(lambda self, x: self.s["-"](self.s["+"](x)), s=signs), rows).count("Linear(8)") == 2
