# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && %python %s %t

# A new name leaves what all texts mean as it is, in every file; else there is none.

import os
import pathlib
import subprocess
import sys

from Inputs.editor import Editor, check, span

folder = pathlib.Path(sys.argv[1]).resolve()
(folder / "sub").mkdir(parents=True)
blocks, main = folder / "blocks.net", folder / "main.net"
PAIR = "block Pair(x) {\n  first = Linear(3)\n  return x |> first |> relu |> Linear(8)\n}\n"
editor = Editor()
uri = blocks.as_uri()


def renamed(uri, line, character, name):
    """The new texts of the files, by their names; or why there are none."""
    found = editor.at("rename", uri, line, character, newName=name)
    return found if isinstance(found, str) else {pathlib.PurePosixPath(where).name: edits for where, edits in found["changes"].items()}


# What another file means by a name that it has already: of the prelude, of another import, of a part.
(folder / "other.net").write_text("block Wide(x) = x |> Linear(3)\n")
blocks.write_text(PAIR)
editor.open(uri, PAIR)
for text, line, character, name, word in [
    ("import blocks\nnet M(x: f32[N, 8]) { return y = x |> relu }\n", 0, 6, "relu", "`relu` in line 3"),
    ("import blocks\nnet M(x: f32[N, 8]) { return y = x |> tanh }\n", 0, 6, "tanh", "`tanh` in line 2 of {}"),
    ("import blocks\nimport other\nnet M(x: f32[N, 8]) { return y = x |> Wide }\n", 0, 6, "Wide", "`Wide` in line 3 of {}"),
    ("import other\nimport blocks\nnet M(x: f32[N, 8]) { return y = x |> Wide }\n", 0, 6, "Wide", "`Wide` in line 3 of {}"),
    ("import blocks\nnet M(x: f32[N, 8]) { return y = x |> Pair }\nexpect M.params(pair.linear) == 32\n", 1, 2, "linear", "`linear` in line 3 of {}"),
]:
    main.write_text(text)
    check(renamed(uri, line, character, name), word.format(main) + " would mean something else")
main.write_text("import blocks\nother = 3\nnet M(x: f32[N, 8]) { return y = x |> Pair }\n")
check(renamed(uri, 0, 6, "other"), f"`other` stands already in line 2 of {main}")
check(list(renamed(uri, 0, 6, "Two")), ["blocks.net", "main.net"])

# A block does not see a run that has the name of an op, so the op would keep its name.
runs = (folder / "runs.net").as_uri()
text = """\
block SignSGD(parameter, gradient, lr) = sgd(parameter, sign(gradient), lr)
net M(x: f32[N, 4]) { return loss = mean(x |> Linear(3)) }
train M as sign { batch = 2; duration = 1 step; optimizer = SignSGD(lr = 0.1) }
expect sign.steps == 1
"""
editor.open(runs, text)
check(editor.at("definition", runs, 0, 56), None)
check(renamed(runs, 2, 11, "run"), "netc cannot tell whether `sign` in line 1 is the same")

# A carried value is known outside of its scan by its name alone.
scan = (folder / "scan.net").as_uri()
text = """\
block E(s: [N, T, e]; d) {
  r = scan xt in s over T carry h = zeros(N, d) {
    h' = tanh(xt + h)
    yield h'
  }
  return r, st = r.h
}
"""
editor.open(scan, text)
for line, character in (1, 32), (2, 4):
    check(renamed(scan, line, character, "state"), "netc cannot tell whether `h` in line 6 is the same")

# A device is a unit of time, too. What an optimizer gets, and what an axis is for, is said by names of the language.
own = (folder / "own.net").as_uri()
text = """\
hardware Card { peak = 3 TFLOP/s }
block Sign(parameter, gradient, lr, step) = sgd(parameter, sign(gradient), lr / step)
net Tiny(x: f32[N, F]) { return y = x |> Linear(2) }
train Tiny as run { F = 3; loss = mean(y); batch = 1; duration = 1 step; took = 25 Card-days; optimizer = Sign(lr = 0.1) }
"""
editor.open(own, text)
check(renamed(own, 0, 9, "Case"), {"own.net": [{"range": span(0, 9, 13), "newText": "Case"}, {"range": span(3, 83, 87), "newText": "Case"}]})
check(renamed(own, 0, 9, "_x"), f"`_x` is no name in {folder / 'own.net'}")
check(editor.at("definition", own, 3, 84), {"uri": own, "range": span(0, 9, 13)})
for character, name in (11, "parameter"), (22, "gradient"), (36, "step"):
    check(renamed(own, 1, character, "other"), f"`{name}` is what an optimizer gets by this name")
check(renamed(own, 2, 19, "T"), "`T` says what the axis is for")

# A file has one path, whatever link leads to it. One in another encoding may have any names.
inner = folder / "sub/inner.net"
inner.write_text("block In(x) = x |> Linear(3)\n")
os.symlink(folder / "sub", folder / "link")
main.write_text("import link.inner\nnet M(x: f32[N, 8]) { return y = x |> In }\n")
editor.open(inner.as_uri(), inner.read_text())
check(sorted(renamed(inner.as_uri(), 0, 6, "Inner")), ["inner.net", "main.net"])
main.write_bytes(b"import sub.inner  # \xff\nnet M(x: f32[N, 8]) { return y = x |> In }\n")
check(renamed(inner.as_uri(), 0, 6, "Inner"), f"netc cannot tell what names stand in {main}, which has errors")
main.unlink()

# What is no regular file, or too long, imports nothing.
os.mkfifo(folder / "pipe.net")
os.symlink("/dev/zero", folder / "zero.net")
(folder / "long.net").write_text("import blocks\nPair = 1\n" + "#" * (4 << 20))
check(list(renamed(uri, 0, 6, "Two")), ["blocks.net"])
check(editor.quit(), 0)

# Imports are searched in more folders, as netc does.
(folder / "user").mkdir()
user = (folder / "user/main.net").as_uri()
editor = Editor(options=["-I", str(folder / "sub"), f"-I{folder}"])
editor.open(user, "import inner\nimport blocks\nnet M(x: f32[N, 8]) { return y = x |> In |> Pair }\n")
check(editor.problems_of(user, 1), [])
check(editor.at("definition", user, 2, 39), {"uri": inner.as_uri(), "range": span(0, 6, 8)})
check(sorted(renamed(user, 2, 39, "Inner")), ["inner.net", "main.net"])
check(editor.quit(), 0)
assert "-I FOLDER" in subprocess.run(["netc-lsp", "--help"], capture_output=True, text=True, check=True).stdout
