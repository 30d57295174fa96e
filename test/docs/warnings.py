# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir

# docs/Warnings.md is what the table of warnings says.
# With `--write`, writes the document.

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
_, table = (root / "lib/Diagnostics/Warnings.def").read_text().split("#endif\n")

lines = [
    "# Warnings",
    "",
    "A warning ends in its id, as in `[-Wno-gradient]`. Reports have it in every format, beside the figure that it is about; in JSON, as `id`.",
]
entries = 0
for entry in re.finditer(r'^// (?P<title>\w.*)$|^WARNING\(\w+, "(?P<id>[^"]+)", \w+, "(?P<meaning>[^"]+)"\)$', table, re.M):
    if entry["id"]:
        entries += 1
        lines.append(f"| `{entry['id']}` | {entry['meaning']} |")
    else:
        lines += ["", f"## {entry['title']}", "", "| Id | Meaning |", "|---|---|"]
text = "\n".join(lines) + "\n"

document = root / "docs/Warnings.md"
if sys.argv[2:] == ["--write"]:
    document.write_text(text)
assert entries == table.count("\nWARNING("), "an entry that is not of one line"
assert document.read_text() == text, "regenerate docs/Warnings.md: test/docs/warnings.py ROOT --write"
