# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %t
# RUN: netc-lsp --version | FileCheck %s --check-prefix=VERSION
# RUN: netc-lsp --help | FileCheck %s --check-prefix=HELP
# RUN: not netc-lsp --batch=4 2>&1 | FileCheck %s --check-prefix=OPTION
# VERSION: netc-lsp {{[0-9.]+$}}
# HELP: usage: netc-lsp
# OPTION: error: there is no option `--batch=4`; `netc-lsp --help` lists them

# Runs without names, and jobs; what an editor is asked for when figures are new; which text an error is about; the end.

import pathlib
import sys

from Inputs.editor import Editor, check, span

uri = pathlib.Path(sys.argv[1]).resolve().joinpath("runs.net").as_uri()
text = """\
net Two(x: f32[N, 8]) { return y = x |> Linear(4) |> Linear(1) }
train Two { loss = mean(y); batch = 4; duration = 10 steps }
train Two as both {
  loss = mean(y)
  batch = 4
  duration = 10 steps
  train as first  { times = 2 }
  train as second { updates = linear }
}
"""
editor = Editor({"workspace": {"inlayHint": {"refreshSupport": True}, "codeLens": {"refreshSupport": True}}})
editor.open(uri, text)
check(editor.problems_of(uri, 1), [])
while len(editor.requests) < 2:
    editor.read()
check(editor.requests, ["workspace/inlayHint/refresh", "workspace/codeLens/refresh"])
lenses = editor.of("codeLens", uri)
check([lens["range"] for lens in lenses], [span(0, 4, 7), span(1, 0, 5), span(2, 13, 17), span(6, 11, 16), span(7, 11, 17)])
check(lenses[1]["command"]["title"][:6], "a step")
symbols = editor.of("documentSymbol", uri)
check([symbol["name"] for symbol in symbols], ["Two", "Two_run", "both"])
check([job["name"] for job in symbols[2]["children"]], ["first", "second"])
check([job["selectionRange"] for job in symbols[2]["children"]], [span(6, 11, 16), span(7, 11, 17)])

# One that is not asked to, does not refresh.
quiet = Editor()
quiet.open(uri, text)
check(quiet.problems_of(uri, 1), [])
quiet.of("codeLens", uri)
check((quiet.requests, quiet.quit()), ([], 0))

# An error of an operator is about its whole expression, as far as it stands in that line; others are about a word.
for version, (body, marked) in enumerate(
    [
        ("x + Linear(3)(x)", "x + Linear(3)(x)"),
        ("x |> relu |> (1 + 2)", "x |> relu |> (1 + 2)"),
        ('Linear("text" + 1)(x)', '"text" + 1'),
        ("Linear(4, 5, 6, 7, 8)(x)", "8"),
        ("Linear(3)(x) + (x |>\n  relu + 1)", "x |>"),
        ("Linear([1, 2])(x)", "Linear"),
        ("x.nothing", "nothing"),
    ],
    start=2,
):
    before = "net M(x: f32[N, 8]) = "
    editor.change(uri, version, before + body + "\n")
    found = editor.problems_of(uri, version)[0]["range"]
    begin = len(before) + body.rindex(marked)
    check((body, found), (body, span(0, begin, begin + len(marked))))

editor.change(uri, 98, text.replace("batch = 4; ", "batch = 4; hardware = 1 V100x; "))
check(editor.problems_of(uri, 98)[0]["range"], span(1, 50, 57))

# It ends at once, though a check goes on: that check says nothing any more.
editor.change(uri, 99, "net Long(x: f32[N, 8]) {\n  y = x\n  for i in 0..40_000 { y = y |> Linear(8) }\n  return y\n}\n")
check(editor.quit(), 0)
assert b'"version":99' not in editor.server.stdout.read()
