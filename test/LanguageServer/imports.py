# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && %python %s %t

# What an editor is told of names that other files declare, and of files that other files import.

import pathlib
import sys

from Inputs.editor import Editor, check, places_of, span

folder = pathlib.Path(sys.argv[1]).resolve()
folder.mkdir(parents=True)
(folder / "a.net").write_text("# The one of a.\nblock Same(x; c) = x |> Linear(c)\nblock Pair(x) = x |> Same(2) |> Same(2)\n")
(folder / "b.net").write_text("# The one of b.\nblock Same(x; c) = x |> Linear(c) |> relu\n")
a, b, uri, second = ((folder / f"{name}.net").as_uri() for name in ["a", "b", "main", "second"])

text = """\
import "./a.net" as a
import "b.net" as b
net Both(x: f32[N, 3]) {
  y = x |> a.Same(4) |> b.Same(4)
  return z = y |> a.Pair
}
"""
editor = Editor()
editor.open(uri, text)
check(editor.problems_of(uri, 1), [])

# Behind the name of an import: what that file declares.
said = [editor.at("hover", uri, 3, column)["contents"]["value"] for column in (13, 27)]
check([each.splitlines()[3] for each in said], ["The one of a.", "The one of b."])
check(editor.at("definition", uri, 3, 13), {"uri": a, "range": span(1, 6, 10)})
check(editor.at("definition", uri, 3, 27), {"uri": b, "range": span(1, 6, 10)})
check(editor.at("definition", uri, 3, 24), {"uri": uri, "range": span(1, 18, 19)})

# All places of it, in the files that are open and the one that declares it; a new name for all.
editor.open(second, "import a\nnet Other(x: f32[N, 3]) { return y = x |> Same(7) |> Pair }\n")
check(editor.problems_of(second, 1), [])
everywhere = {a: [span(1, 6, 10), span(2, 21, 25), span(2, 32, 36)], uri: [span(3, 13, 17)], second: [span(1, 42, 46)]}
for at in [(uri, 3, 13), (second, 1, 43)]:
    check(places_of(editor.at("references", *at, context={"includeDeclaration": True})), everywhere)
    changes = editor.at("rename", *at, newName="Alike")["changes"]
    check({where: [edit["range"] for edit in edits] for where, edits in changes.items()}, everywhere)
check(places_of(editor.at("references", uri, 3, 27, context={"includeDeclaration": False})), {uri: [span(3, 26, 30)]})
refused = editor.at("rename", uri, 3, 13, newName="Other")
check(refused, f"`Other` stands already in line 2 of {folder / 'second.net'}")
check(editor.at("rename", uri, 3, 27, newName="Linear"), f"`Linear` in line 2 of {folder / 'b.net'} would mean something else")

# What is typed in an imported file is checked in those that import it, and when it is closed without being saved. Its
# problems stand at the import.
editor.open(a, (folder / "a.net").read_text().replace("Same(2)", "Same(2, 3)"))
for importer, end in (uri, 21), (second, 8):
    problem, *_ = editor.next_problems_of(importer)
    check(problem["message"].split(": ")[0], str(folder / "a.net"))
    check(problem["range"], span(0, 0, end))
editor.close_file(a)
check(editor.next_problems_of(uri), [])
check(editor.next_problems_of(second), [])

# A file that is not saved yet can be imported.
new = (folder / "new.net").as_uri()
editor.open(new, "width = 5\n")
editor.change(uri, 2, "import new\nnet Only(x: f32[N, 3]) { return y = x |> Linear(width) }\nexpect Only.params == 20\n")
check(editor.problems_of(uri, 2), [])
editor.change(new, 2, "width = 6\n")
[problem] = editor.next_problems_of(uri)
check(problem["code"], "expect-failed")
check(editor.at("definition", uri, 1, 50), {"uri": new, "range": span(0, 0, 5)})

# Closed without being saved, it is gone.
editor.close_file(new)
check([problem["code"] for problem in editor.next_problems_of(uri)], ["no-import-file"])

# A run names what its net returns, its axes and the settings that it sweeps; a call names settings. They are renamed together.
run = """\
import a
net Deep(x: f32[N, S, 3]; width = 4) {
  y = x |> Same(c = width) |> Linear(2)
  return y, score = mean(y)
}
wide = Deep(width = 8)
train wide as run { loss = score + mean(y); batch = 1; duration = 1 step; S = 4; sweep width in [8, 9] }
"""
editor.change(uri, 3, run)
check(editor.problems_of(uri, 3), [])
check(editor.at("definition", uri, 0, 7), {"uri": a, "range": span(0, 0, 0)})
check(editor.at("definition", uri, 2, 16), {"uri": a, "range": span(1, 14, 15)})
check(editor.at("hover", uri, 5, 13)["contents"]["value"], "```net\nnet Deep(x: f32[N, S, 3]; width = 4) {\n```\n")
where = {"score": [span(3, 12, 17), span(6, 27, 32)], "width": [span(1, 26, 31), span(2, 20, 25), span(5, 12, 17), span(6, 87, 92)], "S": [span(1, 19, 20), span(6, 74, 75)]}
for name, places in where.items():
    start = places[-1]["start"]
    [edits] = editor.at("rename", uri, start["line"], start["character"], newName="other")["changes"].values()
    check([edit["range"] for edit in edits], places)
check(list(editor.at("rename", uri, 2, 16, newName="units")["changes"]), [a, uri])
editor.change(uri, 4, run + "dataset D { examples = 9; S = 4 }\n")
why = "netc cannot tell whether `S` in line 8 is the same"
check(editor.at("rename", uri, 1, 19, newName="other"), why)

editor.change(uri, 5, run + "train Deep as wider { like = wide }\n")
why = "a run that is like another, in line 8, may take over a loss that names it"
check(editor.at("rename", uri, 3, 13, newName="other"), why)

# The state of a scan and its next value are renamed together.
loop = """\
net Sums(x: f32[N, T = 4]) {
  return y = scan e in x over T carry h = zeros(N) {
    h' = h + e
    yield h'
  }
}
"""
editor.change(uri, 6, loop)
check(editor.problems_of(uri, 6), [])
[edits] = editor.at("rename", uri, 2, 9, newName="state")["changes"].values()
check([(edit["range"], edit["newText"]) for edit in edits], [(span(1, 38, 39), "state"), (span(2, 4, 5), "state"), (span(2, 9, 10), "state"), (span(3, 10, 11), "state")])

editor.change(uri, 7, "net Own(x: f32[N, 3]) { return loss = mean(x) }\n")
check(editor.at("rename", uri, 0, 32, newName="other"), "`loss` is what a run takes for its loss")
check(editor.quit(), 0)
