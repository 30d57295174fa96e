# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: onnx
# RUN: rm -rf %t && mkdir %t
# RUN: env PYTHONPATH=%source_dir/python %python %s %source_dir/test/Export/Inputs/ops.net %t

# Networks as ONNX models: onnx checks them, its evaluator runs them, and what it computes is right.

import pathlib
import sys

import numpy
import onnx
from onnx.reference import ReferenceEvaluator

import netc
from netc.onnx_model import convert

ops, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
random = numpy.random.default_rng(0)

# All ops are right for the checker, with the shapes that netc knows.
for name in "Elementwise", "Shapes", "Windows", "Norms", "Choices", "Noise", "Rows", "RowsOfEach", "Loops", "Experts", "Unfolded", "Near":
    model = netc.to_onnx(ops, net=name)
    onnx.checker.check_model(model, full_check=True)
    graph = netc.to_graph(ops, net=name)
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    for output, value in zip(graph["outputs"], inferred.graph.output):
        assert value.name == output["name"]


def run(spec, data, **asked):
    return ReferenceEvaluator(netc.to_onnx(spec, **asked)).run(None, data)


# Weights by name; a free axis that is computed with.
spec = "net A(x: f32[N, T, 2]) {\n  up = Linear(3)\n  y = x |> up |> relu\n  return z = reshape(y, N * T, 3), w = y[..., T - 1..T, 0..3]\n}\n"
weight, offset = random.standard_normal((3, 2)).astype("f4"), random.standard_normal(3).astype("f4")
x = random.standard_normal((4, 5, 2)).astype("f4")
z, w = run(spec, {"x": x}, weights={"up.weight": weight, "up.offset": offset})
expected = numpy.maximum(x @ weight.T + offset, 0)
numpy.testing.assert_allclose(z, expected.reshape(20, 3), rtol=1e-5)
numpy.testing.assert_allclose(w, expected[:, 4:], rtol=1e-5)

# Or from a folder, of which a missing file is an error.
numpy.save(folder / "up.weight.npy", weight)
try:
    netc.to_onnx(spec, weights=folder)
    raise AssertionError("a file is missing")
except netc.ExportRefused as problem:
    assert "up.offset.npy` is missing" in str(problem)
numpy.save(folder / "up.offset.npy", offset)
netc.to_onnx(spec, folder / "a.onnx", weights=folder)
numpy.testing.assert_allclose(ReferenceEvaluator(str(folder / "a.onnx")).run(None, {"x": x})[0], z)
for text, path, given in (
    ("`up.weight` is [2, 3], and [3, 2] in the graph", None, {"up.weight": weight.T, "up.offset": offset}),
    ("`up.weight` is of the type complex64, and f32 in the graph", None, {"up.weight": weight.astype("c8"), "up.offset": offset}),
    ("`weights` has 'down.weight', and the network has no such weight; it has `up.weight`, `up.offset`", None, {"down.weight": weight}),
    (f"`{folder}` is a folder; the model is one file in it", folder, {}),
):
    try:
        netc.to_onnx(spec, path, weights=given)
        raise AssertionError(text)
    except netc.ExportRefused as problem:
        assert text in str(problem), problem

# A causal mask of a free length, and none of what dropout would do.
spec = "net A(s: f32[N, T, S = T]) { return y = s |> mask |> softmax(over = S) |> Dropout(0.5) }\n"
s = random.standard_normal((2, 4, 4)).astype("f4")
hidden = numpy.where(numpy.triu(numpy.ones((4, 4)), 1) > 0, -numpy.inf, s)
weights = numpy.exp(hidden) / numpy.exp(hidden).sum(-1, keepdims=True)
numpy.testing.assert_allclose(run(spec, {"s": s})[0], weights, rtol=1e-5)

# Choices between conditions, which onnxruntime's `Where` does not take.
spec = """net A(x: f32[N, 6], z: f32[N, 6]) {
  a = x > 0
  b = z > 0.5
  c = z < x
  return both = where(where(a, b, a), x, 0), either = where(where(a, a, b), x, 0), one = where(where(a, b, c), x, z), other = where(a != b, x, z)
}
"""
x, z = random.standard_normal((2, 3, 6)).astype("f4")
a, b, c = x > 0, z > 0.5, z < x
chosen = [numpy.where(a & b, x, 0), numpy.where(a | b, x, 0), numpy.where(numpy.where(a, b, c), x, z), numpy.where(a ^ b, x, z)]
for found, wanted in zip(run(spec, {"x": x, "z": z}), chosen):
    numpy.testing.assert_array_equal(found, wanted)
assert [each.op_type for each in netc.to_onnx(spec).graph.node].count("Where") == 4

# Rows that are added to others by their numbers.
x, begin, end = random.standard_normal((4, 4)).astype("f4"), numpy.array([0, 3, 3], "i4"), numpy.array([1, 1, 0], "i4")
expected = x.copy()
numpy.add.at(expected, end, x[begin])
numpy.testing.assert_allclose(run(ops, {"x": x, "from": begin, "to": end}, net="Rows")[0], expected, rtol=1e-5)
x, begin, end = random.standard_normal((2, 4, 4)).astype("f4"), numpy.array([[0, 3, 3], [1, 0, 2]], "i4"), numpy.array([[1, 1, 0], [3, 2, 3]], "i4")
expected = x.copy()
for each in range(2):
    numpy.add.at(expected[each], end[each], x[each, begin[each]])
numpy.testing.assert_allclose(run(ops, {"x": x, "from": begin, "to": end}, net="RowsOfEach")[0], expected, rtol=1e-5)

# Batch norms take their running statistics, in a network that trains and in an inference.
spec = "net A(x: f32[N, C = 3, L = 4]) { return y = x |> BatchNorm }\ninfer A as ask { batch = 2; duration = 1 example }\n"
x = random.standard_normal((2, 3, 4)).astype("f4")
given = {f"batchnorm.{key}": random.uniform(0.5, 1, 3).astype("f4") for key in ("weight", "offset", "running_mean", "running_var")}
mean, variance, scale, shift = (given[f"batchnorm.{key}"][:, None] for key in ("running_mean", "running_var", "weight", "offset"))
for asked in {"net": "A"}, {"run": "ask"}:
    numpy.testing.assert_allclose(run(spec, {"x": x}, weights=given, **asked)[0], (x - mean) / numpy.sqrt(variance + 1e-5) * scale + shift, rtol=1e-4)

# A recurrence has the ops of its steps, forward and backward, and returns its last state.
spec = "import std.recurrent\nnet A(x: f32[N, 5, 3]) {\n  l = GRU(4, state_bias = true)\n  m = Bidirectional(RNN, 2)\n  ys, last = l(x)\n  return y = m(x), last = last\n}\n"
model = netc.to_onnx(spec)
onnx.checker.check_model(model, full_check=True)
held = {each.name: onnx.numpy_helper.to_array(each).astype("f8") for each in model.graph.initializer}
x = random.standard_normal((2, 5, 3)).astype("f4")


def product(at, name, bias=True):
    return at @ held[f"{name}.weight"].T + (held[f"{name}.offset"] if bias else 0)


def logistic(x):
    return 1 / (1 + numpy.exp(-x))


state, sides = numpy.zeros((2, 4)), {"ahead": [], "back": []}
for step in range(5):
    (xr, xz, xn), (hr, hz, hn) = (numpy.split(each, 3, axis=-1) for each in (product(x[:, step], "l.input"), product(state, "l.recur")))
    z = logistic(xz + hz)
    state = (1 - z) * numpy.tanh(xn + logistic(xr + hr) * hn) + z * state
for side, order in ("ahead", range(5)), ("back", range(4, -1, -1)):
    h = numpy.zeros((2, 2))
    for step in order:
        h = numpy.tanh(product(x[:, step], f"m.{side}.input") + product(h, f"m.{side}.recur", bias=False))
        sides[side].append(h)
both = numpy.concatenate([numpy.stack(sides["ahead"], 1), numpy.stack(sides["back"][::-1], 1)], -1)
for found, wanted in zip(ReferenceEvaluator(model).run(None, {"x": x}), (both, state)):
    numpy.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)

# Over a free axis, it is a loop, and computes the same at any length.
loops = netc.to_onnx(ops, net="Loops")
assert [each.op_type for each in loops.graph.node].count("Scan") == 3
fixed = ops.read_text().replace("net Loops(x: f32[N, T, 3])", "net Loops(x: f32[N, T = 5, 3])")
unrolled = netc.to_onnx(fixed, net="Loops")
assert "Scan" not in [each.op_type for each in unrolled.graph.node]
for found, wanted in zip(*(ReferenceEvaluator(each).run(None, {"x": x}) for each in (loops, unrolled))):
    assert found.any()
    numpy.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)

# Rows in the slots of their experts: first choices before second ones, until a slot is no more there.
x, gate = random.standard_normal((2, 3, 4)).astype("f4"), random.standard_normal((2, 3, 3)).astype("f4")
order, size = numpy.argsort(-gate, axis=-1).reshape(6, 3)[:, :2], 3  # 0.75 times the 12 choices over 3 experts
slots, places, counts = numpy.zeros((9, 4)), numpy.full((6, 2), -1), [0, 0, 0]
for choice in range(2):
    for row, expert in enumerate(order[:, choice]):
        if counts[expert] < size:
            places[row, choice] = expert * size + counts[expert]
            slots[places[row, choice]] = x.reshape(6, 4)[row]
            counts[expert] += 1
assert (places < 0).any()
shares = numpy.take_along_axis(gate.reshape(6, 3), order, -1)
y = sum((shares * (places >= 0))[:, choice, None] * x.reshape(6, 4) for choice in range(2))
for found, wanted in zip(run(ops, {"x": x, "gate": gate}, net="Experts"), (y.reshape(2, 3, 4), slots.reshape(3, 3, 4), places.reshape(2, 3, 2))):
    numpy.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)

# Windows of the last places, and positions that a mask or a shift moves away.
x = random.standard_normal((2, 5, 4)).astype("f4")
before = numpy.concatenate([numpy.zeros((2, 2, 4)), x], axis=1)
numpy.testing.assert_array_equal(run(ops, {"x": x}, net="Unfolded")[0], numpy.stack([before[:, 2 - back : 7 - back] for back in range(3)], axis=2))
far = numpy.subtract.outer(numpy.arange(5), numpy.arange(4)) >= 2
words = numpy.arange(10, dtype="i4").reshape(2, 5)
spec = "net A(x: f32[N, T, S], words: i32[N, T]) { return y = mask(x, causal = false, window = 2, value = 0), z = shift(words, by = 2) }\n"
y, z = run(spec, {"x": x, "words": words})
numpy.testing.assert_array_equal(y, numpy.where(far, 0, x))
numpy.testing.assert_array_equal(z, [[2, 3, 4, -1, -1], [7, 8, 9, -1, -1]])

# Losses, statistics of a norm, and products along an axis.
spec = """net A(x: f32[N, T, C = 4], c: i32[N, T], t: f32[N, T, C = 4]) {
  y = normalize(x, over = C)
  return mean = y.mean, variance = y.variance, ahead = cumprod(x, over = T), back = cumprod(x, over = T, reverse = true),
    numbers = cross_entropy(x, c), smooth = cross_entropy(x, c, smoothing = 0.1), shares = cross_entropy(x, softmax(t), smoothing = 0.2),
    squares = mse(x, t), binary = bce(sigmoid(x), sigmoid(t))
}
"""
t, c = random.standard_normal((2, 5, 4)).astype("f4"), numpy.array([[0, 1, 2, 3, 3], [1, 1, 0, 2, 3]], "i4")
softmax = lambda x: numpy.exp(x) / numpy.exp(x).sum(-1, keepdims=True)
entropy = lambda target, smoothing: -((target * (1 - smoothing) + smoothing / 4) * numpy.log(softmax(x))).sum(-1).mean()
p, q, is_class = logistic(x), logistic(t), numpy.eye(4)[c]
expected = [
    x.mean(-1), x.var(-1), x.cumprod(1), x[:, ::-1].cumprod(1)[:, ::-1], entropy(is_class, 0), entropy(is_class, 0.1), entropy(softmax(t), 0.2),
    ((x - t) ** 2).mean(), -(q * numpy.log(p) + (1 - q) * numpy.log(1 - p)).mean(),
]  # fmt: skip
model = netc.to_onnx(spec)
onnx.checker.check_model(model, full_check=True)
for found, wanted, value in zip(ReferenceEvaluator(model).run(None, {"x": x, "c": c, "t": t}), expected, model.graph.output):
    numpy.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6, err_msg=value.name)

# Rows, elements and classes by numbers that are of none.
x, q = random.standard_normal((2, 4, 3)).astype("f4"), numpy.array([[0, -1], [-1, 3]], "i8")
spec = """net A(x: f32[N, T = 4, d = 3], q: i64[N, E = 2], k: i64[N, T = 4, d = 2], m: i32[N, T = 4], w: i32[N]) {
  words = Embedding(4, 2)
  return rows = gather(x, q, over = T), sums = scatter_add(x, q, x[T = 0..2], over = T), taken = take(x, k), table = m |> shift |> words,
    loss = cross_entropy(x, m), smooth = cross_entropy(x, m, smoothing = 0.3), first = gather(x, w, over = N)
}
"""
k, m, w = numpy.array([[[0, -1]] * 4] * 2), numpy.array([[0, 1, 2, 1], [-1, 2, 3, 0]], "i4"), numpy.array([1, 2], "i4")
table = random.standard_normal((4, 2)).astype("f4")
rows = numpy.stack([numpy.stack([x[n, i] if i >= 0 else x[n, 0] * 0 for i in q[n]]) for n in range(2)])
sums = x.copy()
for n, e in numpy.ndindex(2, 2):
    if q[n, e] >= 0:
        sums[n, q[n, e]] += x[n, e]
words = numpy.concatenate([m[:, 1:], [[-1], [-1]]], 1)
likely, of = numpy.log(softmax(x)), (m >= 0) & (m < 3)
right = numpy.take_along_axis(likely, numpy.where(of, m, 0)[..., None], -1)[..., 0]
expected = [
    rows, sums, numpy.stack([x[..., 0], x[..., 0] * 0], -1), numpy.where(words[..., None] >= 0, table[words], 0), -right[of].mean(),
    -(0.7 * right + 0.3 * likely.mean(-1))[of].mean(), numpy.stack([x[1], x[0] * 0]),
]  # fmt: skip
model = netc.to_onnx(spec, weights={"words.weight": table})
onnx.checker.check_model(model, full_check=True)
for found, wanted, value in zip(ReferenceEvaluator(model).run(None, {"x": x, "q": q, "k": k, "m": m, "w": w}), expected, model.graph.output):
    numpy.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=value.name)

# Classes along a free axis.
x, c = random.standard_normal((2, 5)).astype("f4"), numpy.array([4, 1], "i4")
found = run("net A(x: f32[N, T], c: i32[N]) { return y = cross_entropy(x, c, over = T) }\n", {"x": x, "c": c})[0]
numpy.testing.assert_allclose(found, -numpy.log(softmax(x))[[0, 1], c].mean(), rtol=1e-5)

# The last window of an average is partly outside, and divided by all of it.
spec = "net A(x: f32[N, L = 9, C = 1]) { return y = avg_pool(x, 4, stride = 3, low = 1, high = 2, ceil = true) }\n"
numpy.testing.assert_allclose(run(spec, {"x": numpy.ones((1, 9, 1), "f4")})[0].ravel(), [0.75, 1, 1, 0.25])

# No two values have one name: outputs without a name, or with that of an input; a weight that is called as a size.
spec = """net A(y: f32[N, 3], z: f32[N, 3]) { y = y + z; size = Scale(); return y, z |> relu, z = z |> size, z_out = zeros(N, 3) + 1 }
block Scale(x) { N = parameter(3); return x * expand(N, x, over = [axes(x)[-1]]) }
"""
model = netc.to_onnx(spec)
onnx.checker.check_model(model, full_check=True)
assert [each.name for each in model.graph.output] == ["y_out", "result", "z_out_2", "z_out"], model.graph.output

# What goes out comes in again.
for spec in [
    "net A(x: f32[N, 8]) { return y = x |> Linear(16) |> gelu |> Linear(4) }\n",
    "net A(x: f64[N, C = 8]) { return y = x |> Linear(8) |> LayerNorm }\n",
    "net A(x: f32[N, 8]) {\n  h = x |> Linear(8)\n  return y = where(h > 0, h, 2 * h + 0.5)\n}\n",
    "net A(x: f32[N, 8]) {\n  t = parameter()\n  return y = (x |> Linear(4)) * t\n}\n",
    "net A(words: i64[N, T]) { return y = words |> Embedding(100, 8) |> Position(32) |> MHA(2, causal = true) }\n",
]:
    back = netc.estimate(netc.from_onnx(netc.to_onnx(spec))).networks[0]
    one = netc.estimate(spec).networks[0]
    assert (back.parameters.total, back.forward) == (one.parameters.total, one.forward), spec
for name in "Elementwise", "Norms":
    back, one = (netc.estimate(each).networks for each in (netc.from_onnx(netc.to_onnx(ops, net=name)), ops))
    one = next(each for each in one if each.name == name)
    assert (back[0].parameters.total, back[0].forward) == (one.parameters.total, one.forward), name

# What neither has is refused by name.
try:
    netc.to_onnx("net A(x: f32[N, T, 8]) { return y = opaque(x) }\n")
    raise AssertionError("it was exported")
except netc.ExportRefused as problem:
    assert problem.id == "export-refused-op"
for spec, why in (
    ("y = cos(x)", "ONNX does not have the network in bf16: "),
    ("y = x, l = table(T, T, init = \"identity\")", "of the table `table`, more than positions is free"),
    ("y = x |> LayerNorm(over = T)", "`layernorm.weight` has the size `T`, which is free; give its `weights`, or the axis a size"),
):
    try:
        netc.to_onnx(f"net A(x: {'bf16' if 'bf16' in why else 'f32'}[N, T, 8]) {{ return {spec} }}\n")
        raise AssertionError("it was exported")
    except netc.ExportRefused as problem:
        assert why in str(problem), problem
graph = netc.to_graph("net A(x: f32[N, 8]) { return y = relu(x) }\n")
graph["nodes"][0]["op"] = "aten.fft_rfft"
try:
    convert(graph)
    raise AssertionError("it was exported")
except netc.ExportRefused as problem:
    assert "`aten.fft_rfft` of `relu`" in str(problem) and "ONNX has no such op" in str(problem)

# Wrong arguments are told before the work.
try:
    netc.to_onnx("net A(x: f32[N, 30_000]) { return y = x |> Linear(20_000, bias = false) }", weights={"linear.weight": numpy.broadcast_to(numpy.float32(1), (20_000, 30_000))})
except netc.ExportRefused as problem:
    assert "`linear.weight` takes 2.4 GB, and a tensor of ONNX has at most 2.1 GB" in str(problem), problem
else:
    raise AssertionError("a tensor of 2.4 GB went out")
for kind, said, settings in (netc.ExportRefused, "to write to", {"path": folder / "nowhere" / "a.onnx"}), (TypeError, "`weights` is a folder of npy files or a dictionary of arrays by name, not a int", {"weights": 3}):
    try:
        netc.to_onnx("a mistake\n", **settings)
        raise AssertionError(f"{said}: it is right")
    except kind as problem:
        assert said in str(problem), problem

# Formats that PyTorch mixes: parameters and running statistics of f32, beside what is wider or narrower.
for kind in "f64", "f16":
    spec = f"net A(x: {kind}[N, C = 2, H = 4, W = 4]) {{ return y = x |> BatchNorm |> relu }}\ninfer A as serve {{ batch = 3; duration = 3 examples }}\n"
    x = random.standard_normal((3, 2, 4, 4)).astype(kind.replace("f64", "f8").replace("f16", "f2"))
    for asked in {"net": "A"}, {"run": "serve"}:
        model = netc.to_onnx(spec, **asked)
        onnx.checker.check_model(model, full_check=True)
        (made,) = ReferenceEvaluator(model).run(None, {"x": x})
        numpy.testing.assert_allclose(made, numpy.maximum(x, 0), rtol=2e-3)  # of a mean of 0 and a variance of 1
