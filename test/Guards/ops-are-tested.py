# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %build_dir/dialect/Ops.md %source_dir/test/dialect

# Every op occurs in a test of the dialect.

import pathlib
import re
import sys

ops = re.findall(r"^### `(net\.\w+)`", pathlib.Path(sys.argv[1]).read_text(), re.MULTILINE)
tests = "".join(path.read_text() for path in pathlib.Path(sys.argv[2]).rglob("*.mlir"))
untested = sorted(set(ops) - set(re.findall(r"\bnet\.\w+", tests)))
for op in untested:
    print(f"no test in test/dialect mentions `{op}`")
sys.exit(not ops or bool(untested))
