# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: notebooks
# RUN: env PYTHONPATH=%source_dir/python /usr/bin/python3 %s %S/Inputs/jax

# Texts of StableHLO that tools/bench/import_jax.py kept: the parameters and the FLOP of a forward pass; and what is refused.

import gzip
import json
import math
import pathlib
import sys

import netc
from netc.jax_graph import graph

specifications = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json.gz")):
    kept = json.loads(gzip.decompress(path.read_bytes()))
    name, texts, weights = kept["name"], kept["texts"], kept["weights"]
    specifications[name] = text = netc.from_graph(graph(texts, weights, name, "JAX"))
    network = netc.estimate(text).networks[0]
    assert (network.parameters.total, network.forward.matmul) == (kept["parameters"], kept["forward"]), (name, network.parameters, network.forward)
    # One text alone has no free axis: it is of seven examples.
    fixed = netc.estimate(netc.from_graph(graph(texts[:1], weights, name, "JAX"))).networks[0]
    assert fixed.forward.matmul == 7 * kept["forward"], name
assert len(specifications) == 10
assert "net mlp(x: f32[N, 64])" in specifications["mlp"] and "return y = x |> linear |> relu |> linear_2 |> gelu" in specifications["mlp"]
assert "Conv(32, 3, stride = 2, groups = 2)" in specifications["ConvNet"] and "MaxPool(2)" in specifications["ConvNet"]
assert "ConvT(8, 2, stride = 2)" in specifications["Decoder"], specifications["Decoder"]
assert "embedding(words) |> position |> linear" in specifications["columns"], specifications["columns"]
assert "|> silu" in specifications["Residual"] and "AvgPool(2)" in specifications["Residual"], specifications["Residual"]
losses = specifications["losses"]
assert losses.count("|> reshape(N, 1)) |> reshape(N)") == 2 and "take(y_2, top_k(y_2, 2))" in losses, losses
places = specifications["places"]
assert places.startswith("# places, from JAX.\n# Tables are read at other places than the model computes or lists; no count depends on these.\nnet"), places
assert "y_5 = concat(y_2, y_4, y_3, y[..., 5..8], over = axes(y_2)[1])" in places and "[..., 3..5] + y[..., 0..2]" in places, places
assert "|> positions([0, 9, 18, 27, 36, 45, 54, 63], over = " in places and "/ sum(ones(N))" in places, places
assert "where((y_5 > 0) != (y_5 < 1), y_5 |> clamp(-0.5, 0.5), y_5 |> neg)" in places and "tensor([0.0, 0.14285715," in places, places
assert "scatter_add(y_8, input, y_5, over = axes(y_8)[0])" in places and "embedding(input, y_5)" in places, places
transformer = specifications["Transformer"]
assert "|> mask(causal = true) |> softmax" in " ".join(transformer.split()) and "@ transpose(Embed_0.weight)" in transformer, transformer
assert "gelu_tanh" in transformer and "tanh)" not in transformer, transformer
assert "  Layer_ = repeat 2 { Layer }\n" in transformer, transformer


def text(*body, size=7):
    """A function of a weight `%w` and an input `%x`; `{0}` is a tensor with the batch."""
    batch = f"tensor<{size}x8xf32>"
    lines = [line.replace("{0}", batch).replace("{1}", str(size)) for line in body]
    return "\n".join([
        '#loc1 = loc("jit(f)/Net/Part/op")',
        '"builtin.module"() ({',
        '  "func.func"() <{sym_name = "main"}> ({',
        f'  ^bb0(%w: tensor<8x8xf32> loc("params[\'w\']"), %x: {batch} loc("x")):',
        *(f"    {line}" if line[-1] in "{:" else f"    {line} loc(#loc1)" for line in lines),
        '  }) : () -> ()',
        '}) : () -> ()',
    ])  # fmt: skip


def refused(why, *texts):
    try:
        netc.from_graph(graph(texts, ["w"], "Net", "JAX"))
    except netc.ImportRefused as problem:
        assert why in str(problem), problem
    else:
        raise AssertionError(f"{why}: it was imported")


tanh, end = '%0 = "stablehlo.tanh"(%x) : ({0}) -> {0}', '"func.return"(%0) : ({0}) -> ()'
assert "return y = x |> tanh" in netc.from_graph(graph([text(tanh, end), text(tanh, end, size=11)], ["w"], "Net", "JAX"))
kept = [text(tanh, end, size=size).replace("jit(f)/Net/Part/", "jit(f)/Net/Part/checkpoint/") for size in (7, 11)]
assert "# StableHLO does not tell what `jax.checkpoint` recomputes; all of it is kept here." in netc.from_graph(graph(kept, ["w"], "Net", "JAX"))
refused("netc does not know the op `chlo.erf`, in `Part` (jit(f)/Net/Part/op)", text('%0 = "chlo.erf"(%x) : ({0}) -> {0}', end))
loop = ['%0 = "stablehlo.while"(%x) ({', "^bb0(%c: {0}):", "}, {", "^bb0(%b: {0}):", '"stablehlo.return"(%b) : ({0}) -> ()', "}) : ({0}) -> {0}"]
refused("`stablehlo.while` (jit(f)/Net/Part/op): a loop is written out that counts to a number of at most 1024, and this one does not", text(*loop, end))


def counted(steps):
    """A loop that counts to `steps`, and reads the weight."""
    one = '%k{} = "stablehlo.constant"() <{{value = dense<{}> : tensor<i32>}}> : () -> tensor<i32>'
    dots = "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
    return [
        one.format(0, 0),
        '%r:2 = "stablehlo.while"(%k0, %x) ({',
        "^bb0(%i: tensor<i32>, %c: {0}):",
        one.format(1, steps),
        '%l = "stablehlo.compare"(%i, %k1) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>',
        '"stablehlo.return"(%l) : (tensor<i1>) -> ()',
        "}, {",
        "^bb0(%j: tensor<i32>, %b: {0}):",
        f'%d = "stablehlo.dot_general"(%b, %w) <{{dot_dimension_numbers = {dots}}}> : ({{0}}, tensor<8x8xf32>) -> {{0}}',
        one.format(2, 1),
        '%n = "stablehlo.add"(%j, %k2) : (tensor<i32>, tensor<i32>) -> tensor<i32>',
        '"stablehlo.return"(%n, %d) : (tensor<i32>, {0}) -> ()',
        "}) : (tensor<i32>, {0}) -> (tensor<i32>, {0})",
        '"func.return"(%r#1) : ({0}) -> ()',
    ]


looped = netc.from_graph(graph([text(*counted(3), size=size) for size in (7, 11)], ["w"], "Net", "JAX"))
assert looped.endswith("  Part = Linear(8, bias = false)\n  return y = x |> Part |> Part |> Part\n}\n"), looped
assert netc.from_graph(graph([text(*counted(0))], ["w"], "Net", "JAX")).endswith("  return y = x\n}\n")
wide = [line.replace("i32", "ui64") for line in counted(3)]
assert netc.from_graph(graph([text(*wide, size=size) for size in (7, 11)], ["w"], "Net", "JAX")) == looped
# A step takes an element of a sequence that is known, which chooses a branch.
sequence = '%s = "stablehlo.constant"() <{value = dense<[2, 0, 2]> : tensor<3xi32>}> : () -> tensor<3xi32>'
steps = counted(3)
product = next(i for i, line in enumerate(steps) if line.startswith("%d ="))
steps[product : product + 1] = [
    sequence,
    '%e = "stablehlo.dynamic_slice"(%s, %j) <{slice_sizes = array<i64: 1>}> : (tensor<3xi32>, tensor<i32>) -> tensor<1xi32>',
    '%f = "stablehlo.reshape"(%e) : (tensor<1xi32>) -> tensor<i32>',
    '%d = "stablehlo.case"(%f) ({',
    '"stablehlo.return"(%b) : ({0}) -> ()',
    "}, {",
    steps[product].replace("%d", "%m"),
    '"stablehlo.return"(%m) : ({0}) -> ()',
    "}) : (tensor<i32>) -> {0}",
]
branches = netc.from_graph(graph([text(*steps, size=size) for size in (7, 11)], ["w"], "Net", "JAX"))
assert branches.endswith("  Part = Linear(8, bias = false)\n  return y = x |> Part |> Part\n}\n"), branches
vector = [
    '%k = "stablehlo.constant"() <{value = dense<[true, false, true, true, false, true, true, true]> : tensor<8xi1>}> : () -> tensor<8xi1>',
    '%c = "stablehlo.broadcast_in_dim"(%k) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xi1>) -> tensor<{1}x8xi1>',
    '%t = "stablehlo.tanh"(%x) : ({0}) -> {0}',
    '%0 = "stablehlo.select"(%c, %x, %t) : (tensor<{1}x8xi1>, {0}, {0}) -> {0}',
    end,
]
chosen = netc.from_graph(graph([text(*vector, size=size) for size in (7, 11)], ["w"], "Net", "JAX"))
assert "expand(tensor([1, 0, 1, 1, 0, 1, 1, 1]) != 0, zeros(N, 8), over = axes(zeros(N, 8))[1])\n  return y = where(y_2, x, x |> tanh)" in chosen, chosen
known = '%k = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>'
chosen = ['%t = "stablehlo.tanh"(%x) : ({0}) -> {0}', known, '%0 = "stablehlo.select"(%k, %x, %t) : (tensor<i1>, {0}, {0}) -> {0}', end]
left_out = netc.from_graph(graph([text(*chosen)], ["w"], "Net", "JAX"))
assert "\n# A `where` whose condition is known, as one on the counter of a loop is, leaves out what it does not take. The function may compute that, too.\n" in left_out, left_out
refused("`stablehlo.while` (jit(f)/Net/Part/op): a loop is written out that counts to a number of at most 1024, and this one does not", text(*counted(1025)))
branch = ['%0 = "stablehlo.case"(%x) ({', '"stablehlo.return"(%x) : ({0}) -> ()', "}) : ({0}) -> {0}"]
refused("`stablehlo.case` (jit(f)/Net/Part/op): what it computes depends on data", text(*branch, end))
refused("netc does not know the op `stablehlo.gather of another kind`", text('%0 = "stablehlo.gather"(%x, %w) : ({0}, tensor<8x8xf32>) -> {0}', end))
refused("netc has no numbers of type `complex<f32>` (w)", text(tanh, end).replace("%w: tensor<8x8xf32>", "%w: tensor<8x8xcomplex<f32>>"))
refused("netc has no numbers of type `f8E4M3FN` (jit(f)/Net/Part/op)", text('%0 = "stablehlo.convert"(%x) : ({0}) -> tensor<7x8xf8E4M3FN>', '"func.return"(%0) : (tensor<7x8xf8E4M3FN>) -> ()'))
called = ['%0 = "func.call"(%x) <{callee = @"<lambda>"}> : ({0}) -> {0}', end, '}) : () -> ()', '"func.func"() <{sym_name = "<lambda>"}> ({', "^bb0(%x: {0}):", tanh, end]
assert "return y = x |> tanh" in netc.from_graph(graph([text(*called), text(*called, size=11)], ["w"], "Net", "JAX"))
refused("the function is another one for another number of examples", text(tanh, end), text(tanh.replace("tanh", "sine"), end, size=11))

# What keeps the compiler from moving values, around what `jax.checkpoint` recomputes, makes them.
barrier = [
    '%1 = "stablehlo.exponential"(%x) : ({0}) -> {0}',
    '%2:2 = "stablehlo.optimization_barrier"(%1, %x) : ({0}, {0}) -> ({0}, {0})',
    '%0 = "stablehlo.add"(%2#1, %2#0) : ({0}, {0}) -> {0}',
    end,
]
assert "return y = x + (x |> exp)" in netc.from_graph(graph([text(*barrier), text(*barrier, size=11)], ["w"], "Net", "JAX"))

# Flax's collections but `params` are state, and whole numbers are.
for label, count in ("params.w", 64), ("batch_stats.mean", 0):
    product = '%0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : ({0}, tensor<8x8xf32>) -> {0}'
    both = [each.replace("%w: ", '%b: tensor<8xf32> loc("b"), %w: ') for each in (text(product, end), text(product, end, size=11))]
    found = netc.from_graph(graph(both, ["params.b", label], "Net", "JAX"))
    assert netc.estimate(found).networks[0].parameters.total == count, found

# An outer product, of a weight in front or behind.
for one, other, sizes in ("x", "w", [8]), ("w", "x", [8]), ("x", "w", [8, 3]):
    kind, made = f"tensor<{'x'.join(map(str, sizes))}xf32>", f"tensor<{'x'.join(map(str, ['{1}', 8, *sizes] if one == 'x' else [*sizes, '{1}', 8]))}xf32>"
    product = f'%0 = "stablehlo.dot_general"(%{one}, %{other}) <{{dot_dimension_numbers = #stablehlo.dot<>}}> : ({{0}}, {kind}) -> {made}'
    outer = [text(product, f'"func.return"(%0) : ({made}) -> ()', size=size).replace("%w: tensor<8x8xf32>", f"%w: {kind}") for size in (7, 11)]
    found = netc.estimate(netc.from_graph(graph(outer, ["w"], "Net", "JAX"))).networks[0]
    assert (found.parameters.total, found.forward.matmul, found.forward.other) == (math.prod(sizes), 0, 8 * math.prod(sizes)), found

# What data decides, element by element: an ELU.
zeros = [
    '%1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>',
    '%2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> {0}',
]
exponential = [
    *zeros,
    '%3 = "stablehlo.compare"(%2, %x) <{comparison_direction = #stablehlo<comparison_direction LT>}> : ({0}, {0}) -> tensor<{1}x8xi1>',
    '%4 = "stablehlo.exponential_minus_one"(%x) : ({0}) -> {0}',
    '%0 = "stablehlo.select"(%3, %x, %4) : (tensor<{1}x8xi1>, {0}, {0}) -> {0}',
    end,
]
elu = netc.from_graph(graph([text(*exponential), text(*exponential, size=11)], ["w"], "Net", "JAX"))
assert "where(x > 0, x, exp(x) - 1)" in elu, elu

# The largest of each row, and their places.
def extreme(relation, returned, size, first=None):
    first = first or {"LT": "0x7F800000"}.get(relation, "0xFF800000")
    made = f"tensor<{size}x{'f32' if returned == 0 else 'i32'}>"
    return text(
        '%i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<{1}x8xi32>',
        f'%1 = "stablehlo.constant"() <{{value = dense<{first}> : tensor<f32>}}> : () -> tensor<f32>',
        '%2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>',
        '%3:2 = "stablehlo.reduce"(%x, %i, %1, %2) <{dimensions = array<i64: 1>}> ({',
        "^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):",
        f'%4 = "stablehlo.compare"(%a, %c) <{{comparison_direction = #stablehlo<comparison_direction {relation}>}}> : (tensor<f32>, tensor<f32>) -> tensor<i1>',
        '%5 = "stablehlo.select"(%4, %a, %c) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>',
        '%6 = "stablehlo.select"(%4, %b, %d) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>',
        '"stablehlo.return"(%5, %6) : (tensor<f32>, tensor<i32>) -> ()',
        "}) : ({0}, tensor<{1}x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<{1}xf32>, tensor<{1}xi32>)",
        f'"func.return"(%3#{returned}) : ({made}) -> ()',
        size=size,
    )


for relation, returned, made in ("GT", 1, "reshape(top_k(x, 1), N)"), ("LT", 1, "reshape(top_k(-x, 1), N)"), ("GT", 0, "max(x, over = axes(x)[1])"):
    found = netc.from_graph(graph([extreme(relation, returned, size) for size in (7, 11)], ["w"], "Net", "JAX"))
    assert f"return y = {made}\n" in found, found
refused("netc does not know the op `stablehlo.reduce`, in `Part` (jit(f)/Net/Part/op)", *[extreme("EQ", 1, size) for size in (7, 11)])
refused("netc does not know the op `stablehlo.reduce`, in `Part` (jit(f)/Net/Part/op)", *[extreme("GT", 1, size, "5.0") for size in (7, 11)])

# Conditions, and windows with more padding on one side.
both = [
    *zeros,
    '%3 = "stablehlo.compare"(%x, %2) <{comparison_direction = #stablehlo<comparison_direction GT>}> : ({0}, {0}) -> tensor<{1}x8xi1>',
    '%4 = "stablehlo.tanh"(%x) : ({0}) -> {0}',
    '%5 = "stablehlo.compare"(%4, %2) <{comparison_direction = #stablehlo<comparison_direction LT>}> : ({0}, {0}) -> tensor<{1}x8xi1>',
    '%6 = "stablehlo.not"(%5) : (tensor<{1}x8xi1>) -> tensor<{1}x8xi1>',
    '%7 = "stablehlo.and"(%3, %6) : (tensor<{1}x8xi1>, tensor<{1}x8xi1>) -> tensor<{1}x8xi1>',
    '%0 = "stablehlo.select"(%7, %x, %2) : (tensor<{1}x8xi1>, {0}, {0}) -> {0}',
    end,
]
chosen = netc.from_graph(graph([text(*both), text(*both, size=11)], ["w"], "Net", "JAX"))
assert "where(where(y_2, (x |> tanh) >= 0, y_2), x, 0)" in chosen, chosen
image = "tensor<{1}x2x2x2xf32>"
pooled = [
    f'%1 = "stablehlo.reshape"(%x) : ({{0}}) -> {image}',
    '%2 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>',
    '%0 = "stablehlo.reduce_window"(%1, %2) <{padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 1, 1, 1>}> ({',
    "^bb0(%a: tensor<f32>, %b: tensor<f32>):",
    '%3 = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>',
    '"stablehlo.return"(%3) : (tensor<f32>) -> ()',
    f"}}) : ({image}, tensor<f32>) -> {image}",
    f'"func.return"(%0) : ({image}) -> ()',
]
windows = netc.from_graph(graph([text(*pooled), text(*pooled, size=11)], ["w"], "Net", "JAX"))
assert "|> max_pool(2, high = 1)" in windows, windows

# Sums up to each element and from each one on, a reversed axis, and the nearest places of an axis that is longer.
def cumulated(low, high):
    return [
        '%1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>',
        f'%0 = "stablehlo.reduce_window"(%x, %1) <{{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [{low}, {high}]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 8>, window_strides = array<i64: 1, 1>}}> ({{',
        "^bb0(%a: tensor<f32>, %b: tensor<f32>):",
        '%2 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>',
        '"stablehlo.return"(%2) : (tensor<f32>) -> ()',
        "}) : ({0}, tensor<f32>) -> {0}",
        end,
    ]


def nearest(places):
    made = f"tensor<{{1}}x{len(places)}xf32>"
    return [
        f'%1 = "stablehlo.constant"() <{{value = dense<{[[each] for each in places]}> : tensor<{len(places)}x1xi32>}}> : () -> tensor<{len(places)}x1xi32>',
        f'%0 = "stablehlo.gather"(%x, %1) <{{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: {{1}}, 1>}}> : ({{0}}, tensor<{len(places)}x1xi32>) -> {made}',
        f'"func.return"(%0) : ({made}) -> ()',
    ]


for lines, wanted in (
    (cumulated(7, 0), "return y = x |> cumsum(over = axes(x)[1])"),
    (cumulated(0, 7), "y_2 = x |> flip(over = axes(x)[1])\n  y_3 = y_2 |> cumsum(over = axes(y_2)[1])\n  return y = y_3 |> flip(over = axes(y_3)[1])"),
    (['%0 = "stablehlo.reverse"(%x) <{dimensions = array<i64: 1>}> : ({0}) -> {0}', end], "return y = x |> flip(over = axes(x)[1])"),
    (nearest([each // 2 for each in range(16)]), "return y = reshape(expand(x, zeros(N, 8, 2), over = [axes(zeros(N, 8, 2))[0], axes(zeros(N, 8, 2))[1]]), N, 16)"),
    (nearest([0, 3, 5]), "return y = x |> positions([0, 3, 5], over = axes(x)[1])"),
):
    found = netc.from_graph(graph([text(*lines), text(*lines, size=11)], ["w"], "Net", "JAX"))
    assert f"  {wanted}\n" in found, found
refused("netc does not know the op `stablehlo.reduce_window.add`", text(*cumulated(6, 1)))

filled = [
    '%1 = "stablehlo.constant"() <{value = dense<1.500000e+00> : tensor<f32>}> : () -> tensor<f32>',
    '%0 = "stablehlo.pad"(%x, %1) <{edge_padding_high = array<i64: 0, 2>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 0>}> : ({0}, tensor<f32>) -> tensor<{1}x11xf32>',
    '"func.return"(%0) : (tensor<{1}x11xf32>) -> ()',
]
filled = netc.from_graph(graph([text(*filled), text(*filled, size=11)], ["w"], "Net", "JAX"))
assert "low = 1, high = 2, value = 1.5)" in filled, filled
between = [
    '%1 = "stablehlo.constant"() <{value = dense<1.500000e+00> : tensor<f32>}> : () -> tensor<f32>',
    '%0 = "stablehlo.pad"(%x, %1) <{edge_padding_high = array<i64: 0, 2>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 2>}> : ({0}, tensor<f32>) -> tensor<{1}x24xf32>',
    '"func.return"(%0) : (tensor<{1}x24xf32>) -> ()',
]
between = netc.from_graph(graph([text(*between), text(*between, size=11)], ["w"], "Net", "JAX"))
assert all(part in between for part in ("high = 2, value = 1.5) |> flatten)[..., 0..22]", "high = 2, value = 1.5)\n")), between

# Rows that are replaced by numbers that depend on data.
replaced = [
    '%3 = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction GE>}> : ({0}, {0}) -> tensor<{1}x8xi1>',
    '%1 = "stablehlo.convert"(%3) : (tensor<{1}x8xi1>) -> tensor<{1}x8xi32>',
    '%2 = "stablehlo.slice"(%1) <{limit_indices = array<i64: {1}, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<{1}x8xi32>) -> tensor<{1}x1xi32>',
    '%0 = "stablehlo.scatter"(%x, %2, %x) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({',
    "^bb0(%a: tensor<f32>, %b: tensor<f32>):",
    '"stablehlo.return"(%b) : (tensor<f32>) -> ()',
    "}) : ({0}, tensor<{1}x1xi32>, {0}) -> {0}",
    end,
]
refused("netc does not know the op `stablehlo.scatter of another kind`", text(*replaced), text(*replaced, size=11))

# What rounds, also where it only makes the numbers of rows, which are then not computed of what is rounded.
rounded = '%1 = "stablehlo.convert"(%x) : ({0}) -> tensor<{1}x8xi32>'
counted = [rounded, '%2 = "stablehlo.convert"(%1) : (tensor<{1}x8xi32>) -> {0}', end.replace("%0", "%2")]
read = [
    rounded,
    '%2 = "stablehlo.reshape"(%1) : (tensor<{1}x8xi32>) -> tensor<{1}x8x1xi32>',
    '%0 = "stablehlo.gather"(%w, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<8x8xf32>, tensor<{1}x8x1xi32>) -> tensor<{1}x8x8xf32>',
    '"func.return"(%0) : (tensor<{1}x8x8xf32>) -> ()',
]
for ops in counted, read:
    refused("`stablehlo.convert`, in `Part` (jit(f)/Net/Part/op): it rounds to whole numbers", text(*ops), text(*ops, size=11))
truth = [replaced[0].replace("%3", "%5"), '%1 = "stablehlo.convert"(%5) : (tensor<{1}x8xi1>) -> tensor<{1}x8xi32>', *read[1:]]
refused("`stablehlo.gather`, in `Part` (jit(f)/Net/Part/op): its places are computed of floating-point numbers", text(*truth), text(*truth, size=11))

# A reduction from another number than 0, and NaN where a condition of other than places says so.
first = [
    '%1 = "stablehlo.constant"() <{value = dense<5.0> : tensor<f32>}> : () -> tensor<f32>',
    '%0 = "stablehlo.reduce"(%x, %1) <{dimensions = array<i64: 1>}> ({',
    "^bb0(%a: tensor<f32>, %b: tensor<f32>):",
    '%2 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>',
    '"stablehlo.return"(%2) : (tensor<f32>) -> ()',
    "}) : ({0}, tensor<f32>) -> tensor<{1}xf32>",
    '"func.return"(%0) : (tensor<{1}xf32>) -> ()',
]
refused("netc does not know the op `stablehlo.reduce from a number of its own`", text(*first), text(*first, size=11))
summed = [line.replace("5.0", "0.0") for line in first]
assert "return y = sum(x, over = axes(x)[1])\n" in netc.from_graph(graph([text(*summed), text(*summed, size=11)], ["w"], "Net", "JAX"))
unknown = [
    '%1 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>',
    '%2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> {0}',
    '%3 = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction GE>}> : ({0}, {0}) -> tensor<{1}x8xi1>',
    '%0 = "stablehlo.select"(%3, %x, %2) : (tensor<{1}x8xi1>, {0}, {0}) -> {0}',
    end,
]
refused("`stablehlo.select`, in `Part` (jit(f)/Net/Part/op): a number of it is NaN", text(*unknown), text(*unknown, size=11))

# What divides by the sums of another axis is no softmax.
def fraction(along, size):
    square, row, column = f"tensor<{size}x8x8xf32>", f"tensor<{size}x8xf32>", f"tensor<{size}x8x1xf32>"
    reduced = lambda name, x, start, op: [
        f'{name} = "stablehlo.reduce"({x}, {start}) <{{dimensions = array<i64: 2>}}> ({{',
        "^bb0(%a: tensor<f32>, %b: tensor<f32>):",
        f'%c = "stablehlo.{op}"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>',
        '"stablehlo.return"(%c) : (tensor<f32>) -> ()',
        f"}}) : ({square}, tensor<f32>) -> {row}",
    ]
    return text(
        f'%s = "stablehlo.broadcast_in_dim"(%x) <{{broadcast_dimensions = array<i64: 0, 2>}}> : ({{0}}) -> {square}',
        '%n = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>',
        '%z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>',
        *reduced("%m", "%s", "%n", "maximum"),
        f'%k = "stablehlo.reshape"(%m) : ({row}) -> {column}',
        f'%l = "stablehlo.broadcast_in_dim"(%k) <{{broadcast_dimensions = array<i64: 0, 1, 2>}}> : ({column}) -> {square}',
        f'%d = "stablehlo.subtract"(%s, %l) : ({square}, {square}) -> {square}',
        f'%e = "stablehlo.exponential"(%d) : ({square}) -> {square}',
        *reduced("%t", "%e", "%z", "add"),
        f'%u = "stablehlo.broadcast_in_dim"(%t) <{{broadcast_dimensions = array<i64: 0, {along}>}}> : ({row}) -> {square}',
        f'%0 = "stablehlo.divide"(%e, %u) : ({square}, {square}) -> {square}',
        f'"func.return"(%0) : ({square}) -> ()',
        size=size,
    )


for along in 1, 2:
    found = netc.from_graph(graph([fraction(along, size) for size in (7, 11)], ["w"], "Net", "JAX"))
    assert ("|> softmax" in found) == (along == 1), found

# A condition as ones and zeros, as in a mask of Flax.
ones = [
    *both[:3],
    '%4 = "stablehlo.convert"(%3) : (tensor<{1}x8xi1>) -> {0}',
    '%5 = "stablehlo.compare"(%4, %2) <{comparison_direction = #stablehlo<comparison_direction NE>}> : ({0}, {0}) -> tensor<{1}x8xi1>',
    both[-2].replace("%7", "%5"),
    end,
]
chosen = netc.from_graph(graph([text(*ones), text(*ones, size=11)], ["w"], "Net", "JAX"))
assert "return y = where(x > 0, x, 0)\n" in chosen, chosen

# A transposed convolution that cuts off one end more than the other.
widened = [
    f'%1 = "stablehlo.reshape"(%x) : ({{0}}) -> {image}',
    '%0 = "stablehlo.convolution"(%1, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 2, 2>, padding = dense<[[2, 1], [2, 1]]> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> : (tensor<{1}x2x2x2xf32>, tensor<3x3x2x4xf32>) -> tensor<{1}x4x4x4xf32>',
    '"func.return"(%0) : (tensor<{1}x4x4x4xf32>) -> ()',
]
widened = [text(*widened, size=size).replace("%w: tensor<8x8xf32>", "%w: tensor<3x3x2x4xf32>") for size in (7, 11)]
decoder = netc.estimate(netc.from_graph(graph(widened, ["w"], "Net", "JAX"))).networks[0]
assert (decoder.parameters.total, decoder.forward.matmul) == (72, 2 * 2 * 2 * 72), decoder

# A mask of a format of 16 bits: -inf is 0xFF80.
hidden = [
    '%0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8x8xi32>',
    '%1 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<8x8xi32>',
    '%2 = "stablehlo.compare"(%0, %1) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>',
    '%3 = "stablehlo.constant"() <{value = dense<0xFF80> : tensor<bf16>}> : () -> tensor<bf16>',
    '%4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<8x8xbf16>',
    '%5 = "stablehlo.select"(%2, %w, %4) : (tensor<8x8xi1>, tensor<8x8xf32>, tensor<8x8xbf16>) -> tensor<8x8xf32>',
    '%6 = "stablehlo.dot_general"(%x, %5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : ({0}, tensor<8x8xf32>) -> {0}',
    end.replace("%0", "%6"),
]
masked = netc.from_graph(graph([text(*hidden), text(*hidden, size=11)], ["w"], "Net", "JAX"))
assert "w |> mask(causal = true)" in masked, masked
number = ['%0 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>', '"func.return"(%0) : (tensor<i32>) -> ()']
assert "return y = reshape(arange(1), []) + 3\n" in netc.from_graph(graph([text(*number), text(*number, size=11)], ["w"], "Net", "JAX"))
nothing = [
    '%0 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>',
    '%1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> {0}',
    '%2 = "stablehlo.add"(%x, %1) : ({0}, {0}) -> {0}',
    end.replace("%0", "%2"),
]
refused("a number of it is NaN", text(*nothing), text(*nothing, size=11))
refused("the function returns no array", text('"func.return"() : () -> ()'))
refused("this is no generic text of StableHLO with a function `main`", "module @jit_f { func.func public @main() }")
