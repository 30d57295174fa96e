# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir/examples 400

# Random edits of the examples, with questions in between: the server answers each, does not end,
# and does not grow. `python3 edits.py examples 10000 [SEED]` makes more of them.

import pathlib
import random
import sys

from Inputs.editor import Editor

paths = sorted(pathlib.Path(sys.argv[1]).rglob("*.net"))
texts = [(path.resolve().as_uri(), path.read_text()) for path in paths]
count = int(sys.argv[2])
random = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
pieces = ["(", ")", "{", "}", "[", "]", ",", ";", "=", '"', "#", "\n", " ", "x", "1", "|>", "^", "@", "𝕏", "\t", "net ", "for "]


def place(text):
    """A random position, and its index."""
    at = random.randint(0, len(text))
    before = text[:at]
    units = len(before[before.rfind("\n") + 1 :].encode("utf-16-le")) // 2
    return {"line": before.count("\n"), "character": units}, at


def memory(editor):
    status = pathlib.Path(f"/proc/{editor.server.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def session(count):
    """Edits until there were so many; the memory of the server in between and at the end."""
    editor, sizes, done = Editor(), [], 0
    while done < count:
        uri, text = random.choice(texts)
        editor.open(uri, text)
        for version in range(2, 12):
            (start, first), (end, last) = sorted([place(text), place(text)], key=lambda pair: pair[1])
            if last - first > 40:  # most edits are small
                end, last = start, first
            new = random.choice([random.choice(pieces), "", random.choice(texts)[1][first : first + 30]])
            text = text[:first] + new + text[last:]
            editor.change(uri, version, new, {"start": start, "end": end})
            position, _ = place(text)
            for method in ("hover", "definition", "completion", "documentHighlight"):
                editor.at(method, uri, position["line"], position["character"])
            editor.at("references", uri, position["line"], position["character"], context={"includeDeclaration": True})
            editor.at("rename", uri, position["line"], position["character"], newName="quite_new")
            editor.of("inlayHint", uri, range={"start": {"line": 0, "character": 0}, "end": position})
            for method in ("documentSymbol", "codeLens"):
                editor.of(method, uri)
            editor.of("codeAction", uri, range={"start": position, "end": position}, context={"diagnostics": []})
            formatted = editor.of("formatting", uri, options={"tabSize": 2, "insertSpaces": True})
            assert formatted is None or len(formatted) < 2
            done += 1
        editor.problems_of(uri, version)
        editor.problems.clear()
        editor.close_file(uri)
        if done >= count // 2 and len(sizes) == 0:
            sizes.append(memory(editor))
    sizes.append(memory(editor))
    assert editor.quit() == 0
    return sizes


half, whole = session(count)
if whole > 1.5 * half + 100_000:
    sys.exit(f"the server grew from {half} to {whole} kB by {count // 2} edits")
