# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: clang-format-14
# RUN: %python %s %source_dir

# Versions of clang-format disagree: the one that Debian 12 calls clang-format decides.

import pathlib
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
sources = sorted(
    str(path)
    for folder in ("dialect", "lib", "test", "tools")
    for path in (root / folder).rglob("*")
    if path.suffix in (".cpp", ".h")
)
command = ["clang-format-14", "--dry-run", "-Werror", *sources]
sys.exit(not sources or subprocess.run(command).returncode)
