# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir

# docs/Warnings.md is what the table of warnings says, and tests expect each by its id.
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
ids = []
for entry in re.finditer(r'^// (?P<title>\w.*)$|^WARNING\(\w+, "(?P<id>[^"]+)", \w+, "(?P<meaning>[^"]+)"\)$', table, re.M):
    if entry["id"]:
        ids.append(entry["id"])
        lines.append(f"| `{entry['id']}` | {entry['meaning']} |")
    else:
        lines += ["", f"## {entry['title']}", "", "| Id | Meaning |", "|---|---|"]
text = "\n".join(lines) + "\n"

document = root / "docs/Warnings.md"
if sys.argv[2:] == ["--write"]:
    document.write_text(text)
assert len(ids) == table.count("\nWARNING("), "an entry that is not of one line"
assert document.read_text() == text, "regenerate docs/Warnings.md: test/docs/warnings.py ROOT --write"

tests = "\n".join(
    path.read_text(errors="ignore")
    for path in (root / "test").rglob("*")
    if path.suffix in (".net", ".test", ".mlir", ".py", ".cpp")
)
untested = [id for id in ids if f"-W{id}" not in tests]
assert not untested, f"no test expects {untested}"
