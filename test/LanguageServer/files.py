# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && %python %s %t

# Files that no editor holds: they are found, and read again when they have changed. And texts that have no file.

import pathlib
import sys

from Inputs.editor import Editor, check, places_of, span

folder = pathlib.Path(sys.argv[1]).resolve()
(folder / "parts/deep").mkdir(parents=True)
parts, main, other = folder / "parts/blocks.net", folder / "main.net", folder / "parts/other.net"
parts.write_text("block Pair(x; c) {\n  first = Linear(c)\n  return y = x |> first |> Linear(c)\n}\n")
other.write_text("import blocks\nnet Other(x: f32[N, 3]) { return y = x |> Pair(4) }\nexpect Other.params(pair.first) == 16\n")
main.write_text('import "parts/blocks.net" as b\nnet Main(x: f32[N, 3]) { return y = x |> b.Pair(c = 4) }\n')
# This one has the name, and does not import the file.
(folder / "stranger.net").write_text("Pair = 5\nc = Pair\n")
(folder / "parts/deep/below.net").write_text("Pair = 5\n")

editor = Editor({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}})
uri = parts.as_uri()
editor.open(uri, parts.read_text())
check(editor.problems_of(uri, 1), [])
check(editor.requests, ["client/registerCapability"])

# All that can import a file lies in its folder or above; so a new name reaches all that do.
everywhere = {uri: [span(0, 6, 10)], other.as_uri(): [span(1, 42, 46)], main.as_uri(): [span(1, 43, 47)]}
check(places_of(editor.at("references", uri, 0, 7, context={"includeDeclaration": True})), everywhere)
why = f"`pair` in line 3 of {other} would mean something else"
check(editor.at("rename", uri, 0, 7, newName="Two"), why)

# A part of the block is named in questions of others.
where = {uri: [span(1, 2, 7), span(2, 18, 23)], other.as_uri(): [span(2, 25, 30)]}
changes = editor.at("rename", uri, 1, 3, newName="begin")["changes"]
check({name: [edit["range"] for edit in edits] for name, edits in changes.items()}, where)

# A file is read again when it has changed, also to a text of the same size.
other.write_text("import blocks\nnet Other(x: f32[N, 3]) { return y = Pair(4)(x) }\n")
changes = editor.at("rename", uri, 0, 7, newName="Two")["changes"]
check({name: [edit["range"] for edit in edits] for name, edits in changes.items()}, {**everywhere, other.as_uri(): [span(1, 37, 41)]})
other.write_text("import blocks\nnet Other(x: f32[N, 3]) { return y = Pair(4(x) }\n")
why = f"netc cannot tell what names stand in {other}, which has errors"
check(editor.at("rename", uri, 0, 7, newName="Two"), why)
other.unlink()
check(list(editor.at("rename", uri, 0, 7, newName="Two")["changes"]), [main.as_uri(), uri])
editor.close_file(uri)

# What changes on disk is checked in the files that import it, if an editor tells.
editor.open(main.as_uri(), main.read_text())
check(editor.problems_of(main.as_uri(), 1), [])


def told(type, text):
    parts.unlink(missing_ok=True)
    if text:
        parts.write_text(text)
    change = {"uri": uri, "type": type}
    editor.tell("workspace/didChangeWatchedFiles", changes=[change, {"uri": "other:none", "type": 1}])
    return [problem["code"] for problem in editor.next_problems_of(main.as_uri())]


check(told(2, "block Pair(x; d) = x |> Linear(d)\n"), ["unknown-argument"])
check(told(3, None), ["no-import-file"])
check(told(1, "block Pair(x; c) = x |> Linear(c)\n"), [])
check(editor.at("definition", main.as_uri(), 1, 44), {"uri": uri, "range": span(0, 6, 10)})

# A text without a file has the name that the editor gives it, with or without a slash.
for number, name in enumerate(["untitled:Untitled-1", "untitled:/Untitled-1", "untitled:A%20b"]):
    editor.open(name, "width = 4\nnet A(x: f32[N, 3]) { return y = x |> Linear(widht) }\n")
    [problem] = editor.problems_of(name, 1)
    check(problem["message"], "unknown name `widht`; did you mean `width`?")
    [action] = editor.of("codeAction", name, range=span(1, 46, 46), context={"diagnostics": []})
    check(list(action["edit"]["changes"]), [name])
    editor.change(name, 2, "width", span(1, 45, 50))
    check(editor.problems_of(name, 2), [])
    check(editor.at("definition", name, 1, 47), {"uri": name, "range": span(0, 0, 5)})
    check(list(editor.at("rename", name, 1, 47, newName="d")["changes"]), [name])
    editor.close_file(name)
    check(editor.problems_of(name, None), [])
check(editor.quit(), 0)
