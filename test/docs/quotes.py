# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir

# A fence that names a file, as ```cpp lib/A.cpp, holds lines of that file.

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
failed = False
for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
    for source, quoted in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", path.read_text(), re.M | re.S):
        if quoted not in (root / source).read_text():
            print(f"{path}: this is not in {source}:\n{quoted}")
            failed = True
sys.exit(failed)
