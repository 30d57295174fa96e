# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %t

# What an editor is told of a specification as it is written.

import json
import pathlib
import re
import subprocess
import sys

from Inputs.editor import Editor, check, span

folder = pathlib.Path(sys.argv[1]).resolve()
folder.mkdir(parents=True, exist_ok=True)
(folder / "parts.net").write_text("# Two layers.\nblock Pair(x; c) = x |> Linear(c) |> Linear(c)\n")
uri = (folder / "small.net").as_uri()

text = """\
import parts
width = 4
# Für Ziffern 𝕏.
net Small(x: f32[N, 3]) {
  t = "𝕏"; hidden = x |> Pair(widht)
  return y = hidden
}
train Small as run {
  loss = mean(y)
  batch = 8
  duration = 1 step
  hardware = 1 H100
}
expect Small.params == 36
"""

editor = Editor()

# Errors come with their id, where they are: a character beyond 16 bits counts two.
editor.open(uri, text)
[problem] = editor.problems_of(uri, 1)
check(problem["code"], "unknown-name")
check(problem["message"], "unknown name `widht`; did you mean `width`?")
check(problem["range"], span(4, 31, 36))
check(problem["severity"], 1)

# What was meant is a fix. With it, there is only a warning, and the costs are known.
[action] = editor.of("codeAction", uri, range=span(4, 32, 32), context={"diagnostics": []})
check(action["title"], "replace by `width`")
[edit] = action["edit"]["changes"][uri]
check(edit, {"range": span(4, 31, 36), "newText": "width"})
editor.change(uri, 2, edit["newText"], edit["range"])
[problem] = editor.problems_of(uri, 2)
check((problem["code"], problem["severity"]), ("unread-name", 2))
lenses = editor.of("codeLens", uri)
check([lens["range"]["start"]["line"] for lens in lenses], [3, 7])
check(lenses[0]["command"]["title"], "36 parameters, forward 56 FLOP, backward 88 FLOP")
check(lenses[1]["command"]["title"], "a step 1.152 kFLOP, in all 1.152 kFLOP, memory 416 bytes")

# Behind names of tensors: their types.
whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
hints = editor.of("inlayHint", uri, range=whole)
check([(hint["label"], hint["position"]) for hint in hints], [(": f32[N, 4]", {"line": 4, "character": 18})])

# Under a name: its line, the comment above, and what it costs; also of imported files, of the
# standard library, and of devices.
said = editor.at("hover", uri, 3, 5)
check(
    said["contents"]["value"],
    "```net\nnet Small(x: f32[N, 3]) {\n```\nFür Ziffern 𝕏.\n\n"
    "36 parameters, forward 56 FLOP, backward 88 FLOP\n",
)
check(said["range"], span(3, 4, 9))
said = editor.at("hover", uri, 4, 27)["contents"]["value"]
check(
    said,
    "```net\nblock Pair(x; c) = x |> Linear(c) |> Linear(c)\n```\nTwo layers.\n\n"
    "`Small.pair`: shape 3 → 4, 36 parameters, forward 56 FLOP, backward 88 FLOP\n",
)
assert "989.4 TFLOP/s" in editor.at("hover", uri, 11, 15)["contents"]["value"]
said = editor.at("hover", uri, 5, 15)["contents"]["value"]
check(said[: said.index("```\n")], "```net\nhidden: f32[N, 4]\n")
assert "mean(x; over = all)" in editor.at("hover", uri, 8, 10)["contents"]["value"]
check(editor.at("hover", uri, 5, 0), None)

# Where a name is declared, here or in the imported file, and where it stands.
check(editor.at("definition", uri, 5, 15), {"uri": uri, "range": span(4, 12, 18)})
there = (folder / "parts.net").as_uri()
check(editor.at("definition", uri, 4, 27), {"uri": there, "range": span(1, 6, 10)})
check(editor.at("definition", uri, 11, 15), None)
places = editor.at("references", uri, 1, 2, context={"includeDeclaration": True})
check([place["range"] for place in places], [span(1, 0, 5), span(4, 31, 36)])
places = editor.at("references", uri, 1, 2, context={"includeDeclaration": False})
check([place["range"] for place in places], [span(4, 31, 36)])
places = editor.at("documentHighlight", uri, 4, 31)
check([place["kind"] for place in places], [3, 2])

# A new name, where that is one.
changes = editor.at("rename", uri, 4, 33, newName="units")["changes"]
check(changes, {uri: [{"range": span(1, 0, 5), "newText": "units"}, {"range": span(4, 31, 36), "newText": "units"}]})
check(editor.at("rename", uri, 4, 33, newName="net"), "`net` is no name")
check(editor.at("rename", uri, 4, 33, newName="hidden"), "`hidden` stands already in line 5")
check(editor.at("rename", uri, 11, 15, newName="A100"), "what stands here is declared in no file of yours")

symbols = editor.of("documentSymbol", uri)
check([symbol["name"] for symbol in symbols], ["width", "Small", "run"])
check(symbols[1]["range"]["end"], {"line": 6, "character": 1})

# What can be written: names around, blocks, functions and ops; in a run its keys and devices.
words = {item["label"] for item in editor.at("completion", uri, 5, 13)}
assert {"hidden", "width", "x", "Linear", "relu", "concat", "f32"} <= words and "batch" not in words
words = {item["label"] for item in editor.at("completion", uri, 10, 2)}
words = {item["label"] for item in editor.at("completion", uri, 10, 2)}
missing = {"batch", "optimizer", "H100", "Small"} - words
assert not missing and "hidden" not in words, missing

[edit] = editor.of("formatting", uri, options={"tabSize": 8, "insertSpaces": True})
assert "\n  hardware = 1 H100\n" in edit["newText"] and "\n  batch    = 8\n" in edit["newText"], edit["newText"]
editor.change(uri, 3, edit["newText"], edit["range"])
check(len(editor.problems_of(uri, 3)), 1)
check(editor.of("formatting", uri, options={"tabSize": 8, "insertSpaces": True}), [])

# A text with syntax errors has names nevertheless, and the last costs. It is not formatted.
editor.change(uri, 4, text.replace("width = 4", "width = = 4"))
check([problem["range"]["start"]["line"] for problem in editor.problems_of(uri, 4)], [1])
check(editor.at("definition", uri, 5, 15), {"uri": uri, "range": span(4, 12, 18)})
check(editor.of("codeLens", uri), lenses)
check(editor.of("formatting", uri, options={"tabSize": 8, "insertSpaces": True}), None)

# An expectation that does not hold.
editor.change(uri, 5, text.replace("widht", "width").replace("== 36", "== 37"))
_, problem = editor.problems_of(uri, 5)
check((problem["code"], problem["range"]["start"]["line"]), ("expect-failed", 13))

# The text of an open file counts, and not the one on disk.
editor.open(there, "block Pair(x; c) = x |> Linear(c)\n")
editor.change(uri, 6, text.replace("widht", "width").replace("== 36", "== 16"))
check(len(editor.problems_of(uri, 6)), 1)
editor.close_file(there)
check(editor.problems_of(there, None), [])

# Behind a dot, what may follow, as far as the last check knows; in parentheses, settings; units. An instance has its own
# cost.
figures = (folder / "figures.net").as_uri()
text = """\
import parts
net Small(x: f32[N, 3]; width = 4) {
  pair = Pair(width)
  deep = repeat 9 { Pair(width) }
  return y = pair(x) |> Linear(4, ) |> deep
}
train Small as run { loss = mean(y); batch = 8; duration = 1 step; precision = mixed(bf16) }
expect run.step.forward.bf16 > 0.5 FLOP
expect Small.params(pair) == 36
"""
editor.open(figures, text)
check(editor.problems_of(figures, 1), [])


def words(line, character):
    return [item["label"] for item in editor.at("completion", figures, line, character)]


assert {"steps", "step", "compute", "utilization"} <= set(words(7, 11))
check(words(7, 16)[:5], ["forward", "backward", "update", "recompute", "hardware"])
check(words(7, 24), ["f32", "bf16", "matmul", "other", "transcendental", "total"])
check(words(7, 25), words(7, 24))
check(words(8, 13), ["params", "forward", "backward", "activations"])
assert {"pair", "linear", "deep"} <= set(words(8, 20))
assert {"hours", "TFLOP", "relu"} <= set(words(7, 33))
assert {"out", "bias"} <= set(words(4, 34)) and "out" not in words(4, 20)
# What a network binds has its name as a part in questions, too.
parts = [span(2, 2, 6), span(4, 13, 17), span(8, 20, 24)]
for line, column in (2, 3), (8, 21):
    changes = editor.at("rename", figures, line, column, newName="two")["changes"][figures]
    check([edit["range"] for edit in changes], parts)
check(editor.at("definition", figures, 8, 21), {"uri": figures, "range": parts[0]})
said = "shape 3 → 4, 36 parameters, forward 56 FLOP, backward 88 FLOP\n"
assert editor.at("hover", figures, 2, 3)["contents"]["value"].endswith(said)
# So has what makes one that has no name, with the whole signature of its block; and a part in a question.
said = editor.at("hover", figures, 4, 26)["contents"]["value"]
assert "\nblock Linear(x;" in said and said.endswith("`Small.linear`: shape 4, 20 parameters, forward 32 FLOP, backward 64 FLOP\n"), said
check(editor.at("hover", figures, 8, 22)["contents"]["value"], "```net\npair = Pair(width)\n```\n\n`Small.pair`: shape 3 → 4, 36 parameters, forward 56 FLOP, backward 88 FLOP\n")
said = editor.at("hover", uri, 8, 10)["contents"]["value"]
# A figure has its value, up to where it is pointed at.
check(editor.at("hover", figures, 7, 12)["contents"]["value"], "`run.step`: 15.74 kFLOP\n")
check(editor.at("hover", figures, 8, 15)["contents"]["value"], "`Small.params`: 416\n")
# Keys, and labels that say what an axis is for, are the language's.
check(editor.at("rename", figures, 6, 40, newName="lot"), "`batch` is a key of the language")
check(editor.at("rename", figures, 1, 18, newName="M"), "`N` says what the axis is for")

# A fix replaces the word that the message is about, which may stand elsewhere in the line.
editor.change(figures, 2, text.replace("run.step.forward.bf16", "run.step.forwrd"))
[problem] = editor.problems_of(figures, 2)
[action] = editor.of("codeAction", figures, range=span(7, 0, 40), context={"diagnostics": []})
check(action["edit"]["changes"][figures], [{"range": span(7, 16, 22), "newText": "forward"}])

# So does one for what the standard library has, which brings its import.
for version, (name, title, count) in enumerate([("Patches", "import std.vision", 1), ("Patchs", "replace by `Patches` and import std.vision", 2)], 3):
    image = f"net 1\nnet Image(x: f32[N, C = 3, H = 8, W = 8]) {{ return y = x |> {name}(d = 4, size = 4) }}\n"
    editor.change(figures, version, image)
    check(editor.problems_of(figures, version)[0]["code"], "unknown-name")
    [action] = editor.of("codeAction", figures, range=span(1, 0, 70), context={"diagnostics": []})
    edits = action["edit"]["changes"][figures]
    check((action["title"], len(edits), edits[-1]), (title, count, {"range": span(1, 0, 0), "newText": "import std.vision\n"}))

# The import goes below a comment that the text begins with, and not below one of what is declared there.
image = image.replace("Patchs", "Patches").removeprefix("net 1\n")
for version, (above, line) in enumerate([("# A license.\n\n", 2), ("# Of a picture.\n", 0)], 5):
    editor.change(figures, version, above + image)
    editor.problems_of(figures, version)
    [action] = editor.of("codeAction", figures, range=span(above.count("\n"), 0, 70), context={"diagnostics": []})
    check(action["edit"]["changes"][figures], [{"range": span(line, 0, 0), "newText": "import std.vision\n"}])

# And one for a file of the standard library, in each way that an import is written.
for version, (path, begin, end, meant) in enumerate([("std.visoin", 7, 17, "std.vision"), ('"std/visoin.net"', 7, 23, '"std/vision.net"')], 7):
    editor.change(figures, version, f"import {path}\n")
    [problem] = editor.problems_of(figures, version)
    check(problem["code"], "unknown-standard-file")
    for place in span(0, 9, 9), problem["range"]:
        [action] = editor.of("codeAction", figures, range=place, context={"diagnostics": []})
        check(action["title"], f"replace by `{meant}`")
        check(action["edit"]["changes"][figures], [{"range": span(0, begin, end), "newText": meant}])

# A device of the file is found behind a number, too. A network in a run has no part in front of its cost.
text = """\
# Two of them in a box.
hardware Box { peak = 3 TFLOP/s }
net Tiny(x: f32[N, 3]) { return y = x |> Linear(2) }
made = Tiny()
train made as run { loss = mean(y); batch = 1; duration = 1 step; hardware = 2 Box }
"""
editor.change(figures, 9, text)
check(editor.problems_of(figures, 9), [])
for line, column in (1, 10), (4, 80):
    check(editor.at("hover", figures, line, column)["contents"]["value"], "```net\nhardware Box { peak = 3 TFLOP/s }\n```\nTwo of them in a box.\n")
    check(editor.at("definition", figures, line, column), {"uri": figures, "range": span(1, 9, 12)})
    changes = editor.at("rename", figures, line, column, newName="Case")["changes"][figures]
    check([edit["range"] for edit in changes], [span(1, 9, 12), span(4, 79, 82)])
said = editor.at("hover", figures, 3, 8)["contents"]["value"]
assert said.endswith("\n`made`: 8 parameters, forward 12 FLOP, backward 12 FLOP\n"), said

# A part that its block gives the name keeps a block from another one; what only a record has keeps nothing.
text = """\
block Hid(x; w = 2) = x |> Linear(w)
rec = { w = 5 }
net Deep(x: f32[N, 3]) { return y = x |> Hid(w = rec.w) |> Hid }
expect Deep.params(hid) == 20
expect Deep.params(hid_2) == 12
"""
editor.change(figures, 10, text)
check(editor.problems_of(figures, 10), [])
check(editor.at("rename", figures, 0, 7, newName="Other"), "`hid` in line 4 would mean something else")
changes = editor.at("rename", figures, 0, 13, newName="width")["changes"][figures]
check([edit["range"] for edit in changes], [span(0, 13, 14), span(0, 34, 35), span(2, 45, 46)])

# The field of a dataset in a loss, and a job behind its run.
text = """\
net Small(x: f32[N, 3]) { return y = x |> Linear(2) }
dataset Some { examples = 4; answer = class(2) }
train as run {
  train Small on Some as phase { loss = cross_entropy(y, answer); batch = 1; duration = 1 step }
}
expect run.phase.steps == 1
"""
editor.change(figures, 11, text)
check(editor.problems_of(figures, 11), [])
for name, (line, column), places in ("answer", (3, 58), [span(1, 29, 35), span(3, 57, 63)]), ("phase", (5, 12), [span(3, 25, 30), span(5, 11, 16)]):
    check(editor.at("definition", figures, line, column), {"uri": figures, "range": places[0]})
    found = editor.at("references", figures, line, column, context={"includeDeclaration": True})
    check([place["range"] for place in found], places)
    changes = editor.at("rename", figures, line, column, newName="other")["changes"][figures]
    check([edit["range"] for edit in changes], places)

# Each function and type that needs no import says what it is.
editor.change(figures, 12, "k = 1\n")
functions = [item["label"] for item in editor.at("completion", figures, 0, 4) if item["kind"] == 3 and "detail" not in item]
assert {"len", "bf16", "Linear", "relu"} <= set(functions), functions
editor.change(figures, 13, "".join(f"k = {name}\n" for name in functions))
check([name for line, name in enumerate(functions) if not editor.at("hover", figures, line, 4)], [])
said = editor.at("hover", figures, functions.index("flatten"), 4)["contents"]["value"]
check(said, "```net\nflatten(x)\n```\nall axes but the batch axis as one\n")

# A byte order mark is a character of the text, and none of the language.
editor.change(figures, 14, "\ufeffwidth = widht\nother = width\n")
[problem] = editor.problems_of(figures, 14)
check(problem["range"], span(0, 9, 14))
check(editor.at("definition", figures, 1, 9), {"uri": figures, "range": span(0, 1, 6)})
check(editor.at("hover", figures, 0, 1)["range"], span(0, 1, 6))
check(editor.at("hover", "file:///nowhere.net", 0, 0), None)
check(editor.ask("textDocument/nothing"), "method not found: textDocument/nothing")
check(editor.quit(), 0)

# A request is answered from `initialize` to `shutdown`.
methods = ["textDocument/hover", "initialize", "shutdown", "textDocument/hover"]
params = {"capabilities": {}, "textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
bodies = [json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) for id, method in enumerate(methods)]
asked = "".join(f"Content-Length: {len(body)}\r\n\r\n{body}" for body in bodies)
said = subprocess.run(["netc-lsp"], input=asked, capture_output=True, text=True).stdout
check([int(code) for code in re.findall(r'"code":(-\d+)', said)], [-32002, -32600])
for message in "`initialize` comes first", "nothing follows `shutdown`":
    assert message in said, said

# A message may be nested more deeply than the stack of a program carries.
body = '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ' + "[" * 100_000 + "]" * 100_000 + "}"
server = subprocess.run(["netc-lsp"], input=f"Content-Length: {len(body)}\r\n\r\n{body}", capture_output=True, text=True)
check(server.returncode, 1)
assert '"id":1' in server.stdout, server.stdout
