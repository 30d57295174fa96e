# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir

# The table of rules in docs/Auditing.md is that of lib/Audit/Rules.cpp.
# With `--write`, writes it there.

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
source = (root / "lib/Audit/Rules.cpp").read_text()
rows = re.findall(r'^    \{"([a-z-]+)",\s+"([^"]+)",$', source, re.M)
assert len(rows) > 20 and len(rows) == len(re.findall(r'^    \{"', source, re.M))
table = "| rule | |\n|---|---|\n" + "".join(f"| `{id}` | {meaning} |\n" for id, meaning in rows)

document = root / "docs/Auditing.md"
before = document.read_text()
text = re.sub(r"\| rule \| \|\n\|---\|---\|\n(\|.*\n|@RULES@\n)*", lambda _: table, before)
if sys.argv[2:] == ["--write"]:
    document.write_text(text)
    before = text
assert before == text, "regenerate the table: test/docs/rules.py ROOT --write"
