# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: valgrind
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t | FileCheck %s

"""Counts the basic blocks that netc executes for files of each shape, at n and at 2 n.

The exponent of n is the logarithm to base 2 of their ratio. The steps of an empty file are left out.
"""

# CHECK: shapes grow by an exponent of at most 1.3

import json
import math
import pathlib
import re
import subprocess
import sys

scratch, limit = pathlib.Path(sys.argv[1]), 1.3
net = "net M(x: f32[N, 8]) { return y = x |> Linear(8) }\n"
data = "dataset D { examples = 8 }\n"
keys = "loss = mean(y); batch = 2; duration = 1 step; optimizer = SGD(lr = 0.1)"
run = f"train M on D as run {{ {keys} }}\n"


def each(text):
    """A function from n to the lines for 1 to n. `{}` in `text` is the number, `{p}` the one before."""
    return lambda n: "".join(text.replace("{p}", str(i - 1)).replace("{}", str(i)) + "\n" for i in range(1, n + 1))


def inside(front, text, back):
    lines = each(text)
    return lambda n: front + lines(n) + back


def layered(n, back):
    """A net of n layers with names, and `back` behind it."""
    return "net M(x: f32[N, 8]) {\n" + "".join(f"l{i} = Linear(8)\nx = l{i}(x)\n" for i in range(n)) + "return y = x }\n" + back


def listed(n, text, separator=", "):
    return separator.join(text.replace("{}", str(i)) for i in range(n))


def chain(ops, modules=lambda n: [], weights=lambda n: [], known=lambda n: []):
    """A function from n to a graph whose nodes apply `ops(n)` one after the other, each with its other operands, settings, shape and modules."""

    def write(n):
        tensor = lambda name, shape: {"name": name, "type": "f32", "shape": shape}
        nodes = [
            {"op": f"aten.{op}", "in": [f"v{i}" if i else "x", *others], "with": given, "out": [tensor(f"v{i + 1}", shape)], "module": inside}
            for i, (op, others, given, shape, inside) in enumerate(ops(n))
        ]
        return json.dumps({
            "netc_graph": 1, "name": "M", "from": "hand", "inputs": [tensor("x", ["N", 8])], "weights": [tensor(*each) for each in weights(n)],
            "known": [{**tensor(name, [8]), "what": "number", "value": 2} for name in known(n)],
            "modules": [{"path": path, "class": kind} for path, kind in modules(n)],
            "nodes": nodes, "outputs": [{"name": "y", "value": f"v{len(nodes)}"}],
        })  # fmt: skip

    return write


def stacked(forms):
    """Graphs of n modules of three ops. They have `forms` forms."""
    ops = "relu tanh sigmoid exp silu gelu sin cos abs neg sqrt rsqrt log log1p expm1 reciprocal sign hardswish hardsigmoid softplus".split()
    form = lambda i: [ops[i % forms // len(ops) ** place % len(ops)] for place in range(3)]
    return chain(
        lambda n: [(op, [], {}, ["N", 8], [i]) for i in range(n) for op in form(i)],
        modules=lambda n: [(f"layers.{i}", "Layer") for i in range(n)],
    )


def looped(length):
    """Graphs of a loop over n modules, whose body has two ops. Every `length` of them, it is another body."""
    body = lambda i: (("relu" if i % length else "tanh", [], [i]), ("add", ["x"], []))
    return chain(
        lambda n: [(op, others, {}, ["N", 8], inside) for i in range(n) for op, others, inside in body(i)],
        modules=lambda n: [(f"layers.{i}", "Layer") for i in range(n)],
    )


# By name: n, and the function from n to the text.
shapes = {
    "constants": (1000, inside("c0 = 1\n", "c{} = c{p} + 1", "")),
    "constants_backwards": (100, lambda n: "".join(f"c{i} = c{i + 1} + 1\n" for i in range(n)) + f"c{n} = 1\n"),
    "unknown_names": (1000, each("c{} = u{} + 1")),
    "syntax_errors": (500, each("c{} = = 1")),
    "unopened_brackets": (500, each("a = )")),
    "unopened_brackets_in_a_block": (500, inside("block B(x) {\n", "a = )", "return x }\n")),
    "taken_names": (1000, each("c = {}")),
    "unused_blocks": (500, each("block B{}(x) = x |> relu")),
    "unknown_keys": (1500, inside(net + data + "train M on D as run {\n", "k{} = {}", keys + " }\n")),
    "unknown_keys_of_jobs": (500, inside(net + data + "train M on D as run {\n", "k{} = {}", f"train as job {{ {keys} }} }}\n")),
    "unknown_names_in_a_body": (1500, inside("net M(x: f32[N, 8]) {\n", "a{} = u{} + 1", "return x }\n")),
    "unknown_layers": (1500, inside("net M(x: f32[N, 8]) {\n", "x = x |> B{}", "return x }\n")),
    "unknown_members": (1000, lambda n: "a = { " + listed(n, "k{} = {}") + " }\n" + each("c{} = a.u{}")(n)),
    "undecided_divisions": (500, inside("net M(x: f32[N, T, 8]) {\n", "a{} = T // 3", "return x }\n")),
    "slashes": (500, each("c{} = 1 // a comment")),
    "errors_in_a_list": (1000, inside("a = [\n", "{} {} {},", "]\n")),
    "errors_in_a_record": (1000, inside("a = {\n", "k{} {},", "}\n")),
    "errors_in_a_line": (1000, lambda n: "a = [" + "1 1, " * n + "]\n"),
    "errors_in_a_body": (500, inside("net M(x: f32[N, 8]) {\n", "a{} b c = = )", "return x }\n")),
    "errors_in_a_body_of_a_line": (500, lambda n: "net M(x: f32[N, 8]) { " + listed(n, "a{} b = 1", "; ") + " }\n"),
    "unread_names": (500, inside("block B(x) {\n", "a{} = {}", "return x }\nnet M(x: f32[N, 8]) = x |> B\n")),
    "blocks_in_blocks": (100, inside("block B0(x) = x |> relu\n", "block B{}(x) = x |> B{p}", "net M(x: f32[N, 8]) = x |> B9\n")),
    "nets": (100, each("net M{}(x: f32[N, 8]) = x |> Linear(8)")),
    "settings": (200, lambda n: "block B(x; " + ", ".join(f"s{i} = {i}" for i in range(n)) + ") = x + s0\nnet M(x: f32[N, 8]) = x |> B\n"),
    "arguments": (200, lambda n: "block B(x; " + ", ".join(f"s{i} = 0" for i in range(n)) + ") = x + s0\nnet M(x: f32[N, 8]) = x |> B(" + ", ".join(f"s{i} = 1" for i in range(n)) + ")\n"),
    "results": (100, lambda n: "net M(x: f32[N, 8]) { return " + ", ".join(f"y{i} = x + {i}" for i in range(n)) + " }\n"),
    "inputs": (100, lambda n: "net M(" + ", ".join(f"x{i}: f32[N, 8]" for i in range(n)) + ") { return y = x0" + "".join(f" + x{i}" for i in range(1, n)) + " }\n"),
    "unread_inputs": (2000, lambda n: "net M(x: f32[N, 8]" + "".join(f", x{i}: f32[N, 8]" for i in range(n)) + ") { return y = x }\n"),
    "pipe": (200, lambda n: "net M(x: f32[N, 8]) = x" + " |> relu" * n + "\n"),
    "layers": (100, lambda n: "net M(x: f32[N, 8]) = x" + " |> Linear(8)" * n + "\n"),
    "repeat": (100, lambda n: f"net M(x: f32[N, 8]) = x |> repeat {n} {{ Linear(8) }}\n"),
    "loop": (200, lambda n: f"net M(x: f32[N, 8]) {{ for i in 0..{n} {{ x = x + i }}; return x }}\n"),
    "sum": (500, lambda n: "a = 1" + " + 1" * n + "\n"),
    "list": (1000, lambda n: "a = [" + ", ".join(map(str, range(n))) + "]\n"),
    "comprehension": (1000, lambda n: f"a = [i * i for i in 0..{n}]\n"),
    "record": (300, lambda n: "a = { " + ", ".join(f"k{i} = {i}" for i in range(n)) + " }\n"),
    "nested_lists": (50, lambda n: "a = " + "[" * n + "1" + "]" * n + "\n"),
    "nested_records": (50, lambda n: "a = " + "{ k = " * n + "1" + " }" * n + "\n"),
    "parentheses": (50, lambda n: "a = " + "(" * n + "1" + ")" * n + "\n"),
    "comments": (2000, each("# What {} is said to be.")),
    "empty_lines": (4000, lambda n: "\n" * n),
    "long_comment": (40000, lambda n: "# " + "x" * n + "\n"),
    "long_name": (5000, lambda n: "a" * n + " = 1\n"),
    "long_text": (5000, lambda n: 'a = "' + "b" * n + '"\n'),
    "expects": (500, inside(net, "expect M.params == 72", "")),
    "failed_expects": (500, inside(net, "expect M.params == {}", "")),
    "expects_of_parts": (200, lambda n: layered(n, each("expect M.params(l0) == 72")(n))),
    "parts_of_an_expect": (200, lambda n: layered(n, f"expect M.params({listed(n, 'l{}')}) == 72\n")),
    "runs": (100, inside(net + data, f"train M on D as run{{}} {{ {keys} }}", "")),
    "expects_of_runs": (100, inside(net + data, f"train M on D as run{{}} {{ {keys} }}\nexpect run{{}}.params == 72", "")),
    "likes": (50, inside(net + data + run.replace("run", "run0"), "train M on D as run{} { like = run{p} }", "")),
    "jobs": (50, inside(net + data + "train M on D as run {\n", f"train M on D as job{{}} {{ {keys} }}", "}\n")),
    "sweep": (100, lambda n: net + data + run.replace("}", f"; sweep batch in 1..{n + 1} }}")),
    "structural_sweep": (30, lambda n: net + data + run.replace("}", f"; sweep accumulate in [{', '.join(['1'] * n)}] }}")),
    "recompute": (50, lambda n: f"net M(x: f32[N, 8]) {{ return y = x |> repeat {n} {{ Linear(8) |> relu }} }}\n" + data + run.replace("}", "; recompute = full }")),
    "datasets": (500, each("dataset D{} { examples = {} }")),
    "fields": (200, inside("dataset D {\n", "f{} = {}", "}\n")),
    "fields_in_a_loss": (400, lambda n: net + "dataset D { examples = 8; " + listed(n, "t{} = f32[8]", "; ") + " }\n" + run.replace("mean(y)", listed(n, "mean(y * t{})", " + "))),
    "fields_of_inputs": (200, lambda n: f"net M({listed(n, 'x{}: f32[N, 8]')}) {{ return y = {listed(n, 'x{}', ' + ')} }}\ndataset D {{ examples = 8; {listed(n, 'x{} = f32[8]', '; ')} }}\n" + run),
    "updates": (400, lambda n: layered(n, data + run.replace("}", f"; updates = [{listed(n, 'l{}')}] }}"))),
    "parts_of_batches": (50, inside(net + data, f"train M on D as run{{}} {{ {keys}; accumulate = 3 }}", "")),
    "optimizer_of_parts": (50, lambda n: layered(n, data + run.replace("SGD(lr = 0.1)", f"{{ {listed(n, 'l{} = SGD(lr = 0.1)')} }}"))),
    "graph_of_equal_layers": (200, stacked(1)),
    "graph_of_different_layers": (400, stacked(800)),
    "graph_of_a_loop": (400, looped(10**6)),
    "graph_of_loops": (400, looped(5)),
    "graph_without_modules": (400, chain(lambda n: [("relu", [], {}, ["N", 8], [])] * n)),
    "graph_of_views": (200, chain(lambda n: [(op, [], {}, ["N", 8, 1][:rank], []) for _ in range(n) for op, rank in (("view", 3), ("relu", 3), ("view", 2))])),
    "graph_of_numbers": (200, chain(lambda n: [("mul", [f"k{i}"], {}, ["N", 8], []) for i in range(n)], known=lambda n: [f"k{i}" for i in range(n)])),
    "graph_of_weights": (400, chain(lambda n: [("relu", [], {}, ["N", 8], [])], weights=lambda n: [(f"w{i}", [8]) for i in range(n)])),
    "format": (500, each("block B{}(x)=x|>relu   # a comment")),
    "format_columns": (500, each("c{}={}")),
}

# The shapes that the command line names behind the folder; else all.
for name in shapes.keys() - sys.argv[2:] if sys.argv[2:] else ():
    del shapes[name]

warm = scratch / "warm.net"
warm.write_text(net + data + run + "expect M.params == 72\n")
files = {scratch / "empty.net": ""}
for name, (n, text) in shapes.items():
    for size in n, 2 * n:
        files[scratch / f"{name}-{size}.net"] = text(size)
for path, text in files.items():
    path.write_text(text)
valgrind = ["valgrind", "--tool=none", "--stats=yes", f"--log-file={scratch}/%p.log", "--main-stacksize=67108864"]
program = subprocess.run([*valgrind, "CountSteps", warm, *files], capture_output=True, text=True)
assert program.returncode == 0, program.stderr


def steps(process):
    log = (scratch / f"{process}.log").read_text()
    return int(re.search(r"scheduler: ([\d,]+) event checks", log)[1].replace(",", ""))


# Subtract the steps of an empty file: those before and after the text is read.
counted = dict(zip(files, map(steps, program.stdout.split()[1:])))
empty = counted[scratch / "empty.net"]
steep = 0
for name, (n, text) in shapes.items():
    once, twice = (counted[scratch / f"{name}-{size}.net"] - empty for size in (n, 2 * n))
    exponent = math.log2(twice / once)
    steep += exponent > limit
    print(f"{name:28} {n:6} {once:12,} {twice:12,}  {exponent:.2f}{' !' if exponent > limit else ''}")
print(f"{steep} shapes grow faster" if steep else f"shapes grow by an exponent of at most {limit}")
