# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir %t && %python %s %S/Inputs/wrong %t

"""What people write that is wrong, and all that netc says of it.

A file of Inputs/wrong holds cases: a line `=== what it is`, the specification, a line `---`, and what is printed.
`python3 wrong.py Inputs/wrong SCRATCH --write` writes what is printed; read it before it is committed.
"""

import pathlib
import re
import subprocess
import sys

folder, scratch = map(pathlib.Path, sys.argv[1:3])
shown = 0


def printed(text):
    (scratch / "wrong.net").write_text(text)
    netc = subprocess.run(["netc", "--check", "wrong.net"], cwd=scratch, capture_output=True, text=True)
    assert netc.returncode == 1, f"status {netc.returncode} for\n{text}\n{netc.stderr}"
    # Lines of the standard library change with it.
    return re.sub(r"^(std/\S+):\d+:\d+:", r"\1:", netc.stderr, flags=re.M)


for path in sorted(folder.glob("*.txt")):
    text = path.read_text()
    cases = re.findall(r"^=== (.*)\n((?:(?!=== |---).*\n)*)(?:---\n((?:(?!=== ).*\n)*))?", text, re.M)
    assert len(cases) == len(re.findall("^=== ", text, re.M))
    now = []
    for title, source, expected in cases:
        says = printed(source)
        now.append(f"=== {title}\n{source}---\n{says}")
        if says != expected and "--write" not in sys.argv:
            print(f"{path.name}: {title}\n{source}expected:\n{expected}printed:\n{says}")
            shown += 1
    if "--write" in sys.argv:
        path.write_text("".join(now))
assert not shown, f"{shown} cases are not as expected"
