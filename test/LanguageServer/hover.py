# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && %python %s %t

# What is said of numbers with units; of what a block makes again and again; of deep parts and nested jobs, which are also found and
# renamed by their paths.

import pathlib
import sys

from Inputs.editor import Editor, check, span

folder = pathlib.Path(sys.argv[1]).resolve()
folder.mkdir(parents=True)
uri = (folder / "main.net").as_uri()
editor = Editor()


def hover(line, character):
    said = editor.at("hover", uri, line, character)
    return said and said["contents"]["value"]


# A number with its unit: both in base units. A plain number needs no words.
units = [
    ("40 GB", "= 40,000,000,000 bytes", "`GB`, a unit of data: 1,000,000,000 bytes"),
    ("80GB", "= 80,000,000,000 bytes", "`GB`, a unit of data: 1,000,000,000 bytes"),
    ("5 GPU-days", "= 432,000 devices*s", "`GPU-days`, a unit of device-time: 86,400 devices*s"),
    ("312 TFLOP/s", "= 312,000,000,000,000 FLOP/s", "`TFLOP/s`, a unit of rates: 1,000,000,000,000 FLOP/s"),
    ("1.5e3 ms", "= 1.5 s", "`ms`, a unit of time: 0.001 s"),
    ("2 PFLOP/s-days", "= 172,800,000,000,000,000,000 FLOP", "`PFLOP/s-days`, a unit of operations: 86,400,000,000,000,000,000 FLOP"),
    ("4k images", "= 4,000 examples", "`k images`, a unit of counts: 1,000 examples"),
    ("7B", "= 7,000,000,000", None),
    ("30%", "= 0.3", None),
    ("0 GB", "= 0 bytes", None),
]
editor.open(uri, "".join(f"k{i} = {text}\n" for i, (text, *_) in enumerate(units)) + "plain = 12.5e3\n")
check(editor.problems_of(uri, 1), [])
for line, (text, value, unit) in enumerate(units):
    for character in (5, 4 + len(text)):
        check(hover(line, character), f"`{text}` {value}\n" + (f"\n{unit}\n" if unit else ""))
check(editor.at("hover", uri, 0, 6)["range"], span(0, 5, 10))
check(hover(len(units), 9), None)
# What is no position of the text does not end the server.
for line, character in ((-1, 0), (-1, -1), (0, -1), (2**31 - 1, 2**31 - 1)):
    hover(line, character)
# While it is being written, there is another unit, none, or one that there is not.
for version, (text, said) in enumerate([("5 GPU-", "`5 GPU` = 5 devices\n"), ("5 Gb", None), ("1e", None), ("", None)], 2):
    editor.change(uri, version, f"k = {text}\n")
    check(hover(0, 4), said)

# A block that is used again and again: the uses with their costs, and those that cost the same in one line.
text = """\
block Pair(x; c) {
  first = Linear(c)
  y = x |> first
  return y = y |> Linear(c)
}
net Small(x: f32[N, 3]) {
  a = Pair(4)
  b = Pair(4)
  deep = repeat 9 { Pair(8) }
  return y = x |> a |> b |> Pair(8) |> deep |> Pair(5) |> Pair(6) |> Pair(7)
}
train Small as run {
  loss = mean(y); batch = 4; duration = 10 steps
  train as outer {
    times = 2
    train as one { times = 3 }
    train as two { updates = a }
  }
}
expect run.outer.one.steps == 60
expect Small.params(a.first) == 16
expect run.outer.two.step.forward(deep[3].linear) > 5 FLOP
expect Small.params(pair_2.first, deep) > 3
"""
uri = (folder / "uses.net").as_uri()
editor.open(uri, text)
check(editor.problems_of(uri, 1), [])


def costs(line, word, count=0):
    """What stands behind the last code of what is said of a word."""
    columns = [at for at in range(len(lines[line])) if lines[line].startswith(word, at)]
    return hover(line, columns[count] + 1).split("```")[-1].strip()


lines = text.split("\n")
check(
    costs(1, "Linear").split("\n")[2:],
    [
        "- `Small.a.first`: shape 3 → 4, 16 parameters, forward 24 FLOP, backward 24 FLOP",
        "- `Small.b.first`: shape 4, 20 parameters, forward 32 FLOP, backward 64 FLOP",
        "- `Small.pair.first`: shape 4 → 8, 40 parameters, forward 64 FLOP, backward 128 FLOP",
        "- and 12 more",
    ],
)
check(costs(1, "first"), costs(1, "Linear").split("\n\n")[1])
check(costs(2, "first"), costs(1, "first"))
check(
    costs(3, "Linear").split("\n")[3],
    "- `Small.pair.linear` and 9 more, each: shape 8, 72 parameters, forward 128 FLOP, backward 256 FLOP",
)
check(costs(8, "Pair"), "`Small.deep.0` and 8 more, each: shape 8, 144 parameters, forward 256 FLOP, backward 512 FLOP")
check(costs(9, "Pair", 1), "`Small.pair_2`: shape 8 → 5, 75 parameters, forward 130 FLOP, backward 260 FLOP")
types = "```net\ny: f32[N, 4]\ny: f32[N, 8]\ny: f32[N, 5]\n```\nand 2 more\n"
check(hover(2, 2), types + "```net\ny = x |> first\n```\n")
hints = editor.of("inlayHint", uri, range={"start": {"line": 0, "character": 0}, "end": {"line": 5, "character": 0}})
check([hint["label"] for hint in hints], [": f32[N, 4] .."])

# A part in a question costs what it does there, also one of many copies. Its name leads to what gives it.
check(costs(20, "first"), "`Small.a.first`: shape 3 → 4, 16 parameters, forward 24 FLOP, backward 24 FLOP")
check(costs(21, "linear").split("\n")[-1], "`run.outer.two.deep.3.linear`: shape 8, 72 parameters, forward 512 FLOP, backward 512 FLOP")
first = [span(1, 2, 7), span(2, 11, 16), span(20, 22, 27), span(22, 27, 32)]
for place in first:
    at = place["start"]["line"], place["start"]["character"]
    check(editor.at("definition", uri, *at)["range"], first[0])
    found = editor.at("references", uri, *at, context={"includeDeclaration": True})
    check([each["range"] for each in found], first)
    check([edit["range"] for edit in editor.at("rename", uri, *at, newName="begin")["changes"][uri]], first)
check(editor.at("definition", uri, 22, 21)["range"], span(0, 6, 10))
check(editor.at("rename", uri, 0, 7, newName="Two"), "`pair_2` in line 23 would mean something else")

# Jobs inside of jobs have paths.
for name, cost, places in (
    ("outer", "a step 134.5 kFLOP, in all 2.69 MFLOP, memory 17.22 kB", [span(13, 11, 16), span(19, 11, 16), span(21, 11, 16)]),
    ("one", "a step 36.62 kFLOP, in all 2.197 MFLOP, memory 17.22 kB", [span(15, 13, 16), span(19, 17, 20)]),
):
    check(costs(19, name), cost)
    at = places[1]["start"]["line"], places[1]["start"]["character"]
    check(editor.at("definition", uri, *at)["range"], places[0])
    check([edit["range"] for edit in editor.at("rename", uri, *at, newName="other")["changes"][uri]], places)
check(hover(19, 22), "`run.outer.one.steps`: 60 steps\n")

# What is applied twice costs at each place what it does there; so does its second application in a question.
uri = (folder / "again.net").as_uri()
text = """\
net M(x: f32[N, T = 4, 8]) {
  emb = Linear(8)
  y = x |> emb
  z = y[T = 0] |> emb
  return z
}
expect M.forward(emb@2) == 128 FLOP
"""
editor.open(uri, text)
check(editor.problems_of(uri, 1), [])
lines = text.split("\n")
check(costs(2, "emb"), "`M.emb`: shape 4×8, 72 parameters, forward 512 FLOP, backward 512 FLOP")
second = "`M.emb@2`: shape 8, 0 parameters, forward 128 FLOP, backward 256 FLOP"
check([costs(3, "emb"), costs(6, "emb")], [second, second])
check(editor.at("definition", uri, 6, 18)["range"], span(1, 2, 5))
found = editor.at("references", uri, 6, 18, context={"includeDeclaration": True})
check([each["range"] for each in found], [span(1, 2, 5), span(2, 11, 14), span(3, 18, 21), span(6, 17, 20)])

# An op has its shape and cost in front of its formula, one line for each that it makes.
uri = (folder / "ops.net").as_uri()
text = """\
block Act(x) = x |> relu |> relu
net M(x: f32[N, T = 4, 8]) {
  y = x |> Act |> mean(over = T)
  return y
}
expect M.params == 0
"""
editor.open(uri, text)
check(editor.problems_of(uri, 1), [])
assert hover(2, 18).startswith("\n`M.mean`: shape 4×8 → 8, other 40 FLOP\n\nthe mean over"), hover(2, 18)
for character, path in (19, "relu"), (27, "relu_2"):
    assert hover(0, character + 1).startswith(f"\n`M.act.{path}`: shape 4×8, other 32 FLOP"), hover(0, character + 1)
check(hover(2, 12).split("```")[-1], "\n\n`M.act`: shape 4×8, other 64 FLOP\n")
check(editor.quit(), 0)
