# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && %python %s %t

# What can be written at `¦` comes first: of text that is not complete, as it is while it is written, and not counted yet.

import pathlib
import sys

from Inputs.editor import Editor, check

folder = pathlib.Path(sys.argv[1]).resolve()
(folder / "parts").mkdir(parents=True)
(folder / "parts/deep.net").write_text("width = 3\n")
(folder / "b.net").write_text(
    "block Same(x; width) = x |> Linear(width)\n"
    "block Mine(parameter, gradient, lr; momentum = 0.9) = sgd(parameter, gradient, lr)\n"
)
editor = Editor()


def items_at(text, uri):
    before, after = text.split("¦")
    editor.change(uri, 2, before + after)
    lines = before.split("\n")
    return sorted(editor.at("completion", uri, len(lines) - 1, len(lines[-1])), key=lambda item: item["sortText"])


def split(text):
    """The words that come first, and the others."""
    uri = (folder / "main.net").as_uri()
    editor.open(uri, "")
    items = items_at(text, uri)
    editor.close_file(uri)
    fit = [item["label"] for item in items if not item["sortText"].startswith("1")]
    return fit, {item["label"] for item in items[len(fit) :]}


def first(text):
    return split(text)[0]


# Imports, by name and by path; and names of a file that has another name here.
check(first("import ¦"), ["b", "parts", "std"])
check(first("import parts.¦\nx = 1\n"), ["deep"])
assert {"vision", "transformer", "models"} <= set(first("import std.¦"))
assert {"b.net", "parts/deep.net", "std/vision.net"} <= set(first('import "¦'))
check(first("import b as ¦"), [])
check(first("import b as other\nnet A(x: f32[N, 3]) { return y = x |> other.¦ }"), ["Mine", "Same"])
check(first("import b as other\nnet A(x: f32[N, 3]) { return y = x |> other.Same(¦) }"), ["width"])
assert "Same" in split("import b\nnet A(x: f32[N, 3]) { return y = ¦ }")[1]

# An `infer` has no optimizer; in a `train`, keys come first.
net = "net A(x: f32[N, 3]) { return y = x }\n"
assert {"optimizer", "loss", "batch"} <= set(first(net + "train A as run {\n  ¦\n}"))
fit, others = split(net + "train A as run { infer as roll {\n  ¦\n} }")
assert {"decode", "batch"} <= set(fit) and not {"optimizer", "loss"} & (set(fit) | others), fit

# A path in quotes is replaced as a whole. A block of the standard library brings its import along.
uri = (folder / "edits.net").as_uri()
editor.open(uri, "")
[item] = [item for item in items_at('import "parts/d¦', uri) if item["label"] == "parts/deep.net"]
place = {"start": {"line": 0, "character": 8}, "end": {"line": 0, "character": 15}}
check(item["textEdit"], {"range": place, "newText": "parts/deep.net"})
[item] = [item for item in items_at("net 1\nimport b\nnet A(x: f32[N, 3]) { return y = x |> Pat¦ }", uri) if item["label"] == "Patches"]
place = {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 0}}
check(item["additionalTextEdits"], [{"range": place, "newText": "import std.vision\n"}])

# Nothing in comments and strings, and where a name is made.
check(first("net A(x: f32[N, 3]) {\n  # of Lin¦\n}"), [])
check(first('net A(x: f32[N, 3]) {\n  y = einsum("n i¦", x)\n}'), [])
check(first("net ¦"), [])

# Settings of a call; keywords where a statement begins; units behind a number.
assert {"out", "k", "stride"} <= set(first("net A(x: f32[N, C = 3, L]) {\n  y = x |> Conv(3, ¦\n}"))
check(first("block B(x) {\n  w = parameter(3, ¦)\n"), ["init", "trainable", "type"])
check(first("block B(x) {\n  w = buffer(3, init = zeros, ¦)\n"), ["type"])
check(first("block B(x) {\n  w = table(¦)\n"), ["init", "theta"])
assert "over" in first("block B(x) {\n  y = each(x, Linear, ¦)\n")
check(first('net A(x: f32[N, 3]) {\n  y = softmax(relu(")"), ¦)\n}'), ["over"])
check(first("net A(x: f32[N, T, 3]) {\n  y = mean(x, over = ¦)\n}"), ["N", "T"])
check(first("net A(x: f32[N, 3]) {\n  ¦\n}"), ["for", "if", "require", "return"])
check(first("net A(x: f32[N, 3]) { return relu(x\n\ntrain ¦"), ["A"])
assert "dataset" in first("¦") and "hours" in first("x = 5 ¦")
check(first("shape = { data = 1, tensor = 2 }\ny = shape.¦"), ["data", "tensor"])
check(first("net A(x: f32[N, C = 3]) {\n  y = x.¦\n}"), ["C", "N"])

# Keys of sections, and what they may be.
net = """\
import b
net Small(x: f32[N, T, C = 3], target: i32[N]; width = 4) {
  pair = Linear(width) |> relu
  y = x |> pair |> repeat 5 { Linear(width) |> tanh }
  return y, score = mean(y)
}
dataset D { examples = 10; label = class(3); T = 5 }
hardware Card { peak = 3 TFLOP/s }
"""


def in_run(text):
    return first(net + "train Small on D as run {\n  batch = 3\n  " + text)


keys = set(in_run("¦\n}\n"))
assert {"optimizer", "batch", "T", "expect"} <= keys and not {"C", "N", "width"} & keys
assert {"batch", "T", "width"} <= set(in_run("sweep ¦"))
check(first(net + "train Small(¦) on D as run { batch = 3 }"), ["target", "width"])
check(in_run("loss = ¦"), ["label", "score", "target", "x", "y"])
check(in_run("loss = mean(¦"), ["label", "over", "score", "target", "x", "y"])
assert {"SGD", "AdamW", "Mine"} <= set(in_run("optimizer = ¦")) and "Linear" not in in_run("optimizer = ¦")
assert {"lr", "clip", "b1"} <= set(in_run("optimizer = AdamW(¦"))
check(in_run("optimizer = Mine(¦)"), ["lr", "momentum"])
check(in_run("optimizer = Mine(lr = 1, ¦)"), ["momentum"])
assert {"pair", "width"} & set(in_run("updates = ¦")) == {"pair"}
piped = first(net + "net B(x: f32[N, 3]) { return y = x |> ¦ }")
assert {"Same", "Linear", "relu"} <= set(piped) and not {"D", "x", "days", "SGD", "Mine"} & set(piped)
assert {"H100", "Card"} <= set(in_run("hardware = 8 ¦")) and "days" in in_run("took = 8 ¦")
check(in_run("recompute = ¦"), ["full", "none", "selective"])
check(in_run("precision = ¦"), ["fp8", "megatron", "mixed", "pure"])
check(first('block Step(x; mode: ["pre", "post"] = "pre") = x\nnet A(x: f32[N, 3]) { return y = x |> Step(mode = ¦) }'), ["post", "pre"])
assert "score" in first(net + "other = Small(8)\ntrain other as run { loss = ¦ }")
check(first(net + "train Small as one { batch = 3 }\ntrain Small as two { like = ¦"), ["one"])
check(first(net + "train ¦"), ["Small"])
check(first(net + "train Small on ¦"), ["D"])
check(first(net + "dataset Text(tokens, T = 512) { examples = tokens / T }\ntrain Small on Text(¦) as run { batch = 3 }"), ["T", "tokens"])
check(in_run("framework = ¦"), ["JAX", "PyTorch", "TensorFlow"])
check(first(net + "dataset E {\n  ¦"), ["T", "examples", "target", "tokens", "x"])
check(first(net + "hardware E {\n  ¦"), ["bandwidth", "link", "memory", "node", "peak", "power"])

# Figures and parts, before any text was counted.
check(first(net + "expect ¦"), ["Small"])
check(first(net + "expect Small.¦"), ["params", "forward", "backward", "activations"])
check(first(net + "expect Small.params(¦"), ["pair", "y"])
job = net + "train Small on D as run { train as one { times = 2 } }\nexpect run."
check(first(job + "¦")[:3], ["one", "steps", "batch"])
check(first(job + "one.step.¦")[:2], ["forward", "backward"])
nested = net + "train Small on D as run { train as one { train as two { times = 2 } } }\nexpect run."
check(first(nested + "one.¦")[:2], ["two", "steps"])
check(first(nested + "one.two.step.¦")[:2], ["forward", "backward"])

# Parts of parts and axes of tensors, as the last check knows them.
uri = (folder / "checked.net").as_uri()
editor.open(uri, net + "expect Small.params == 116\n")
check([problem["code"] for problem in editor.problems_of(uri, 1)], ["unread-name"])


def then(text):
    return [item["label"] for item in items_at(text, uri) if not item["sortText"].startswith("1")]


check(then(net + "expect Small.params(¦"), ["mean", "pair", "repeat"])
check(then(net + "expect Small.params(pair.¦"), ["linear", "relu"])
check(then(net + "expect Small.params(repeat[1].¦)"), ["linear", "tanh"])
run = net + "train Small on D as run { loss = score; batch = 1; duration = 1 step; train as one { train as two { times = 2 } } }\n"
editor.change(uri, 3, run)
check([problem["code"] for problem in editor.problems_of(uri, 3)], ["unread-name"])
check(then(run + "expect run.one.¦")[:2], ["two", "steps"])
check(then(run + "expect run.one.two.params(pair.¦)"), ["linear", "relu"])
check(then(net.replace("return y", "z = y.¦\n  return y")), ["C", "N", "T"])
check(editor.quit(), 0)
