# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir/test

# FileCheck takes `CHECK-NEXT foo` for prose and passes: such a line is an error.

import pathlib
import re
import sys

failed = False
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
    if path.suffix not in (".mlir", ".net", ".test"):
        continue
    text = path.read_text()
    prefixes = {"CHECK"}
    for names in re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", text):
        prefixes.update(names.split(","))
    check = re.compile(r"(?://|#)\s*(?:%s)\b(?!\S*:)" % "|".join(map(re.escape, prefixes)))
    for number, line in enumerate(text.splitlines(), 1):
        if check.search(line):
            print(f"{path}:{number}: a check without a colon: {line.strip()}")
            failed = True
sys.exit(failed)
