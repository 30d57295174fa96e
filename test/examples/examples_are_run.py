# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir/examples %S

# Every example has a test here that runs it.

import pathlib
import sys

examples, tests = map(pathlib.Path, sys.argv[1:])
missing = {path.stem for path in examples.glob("*.net")} - {
    path.stem for path in tests.glob("*.test")
}
if missing:
    sys.exit("no test runs " + ", ".join(sorted(missing)))
