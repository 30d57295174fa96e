# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: env PYTHONPATH=%source_dir/python %python %s %source_dir/docs/Python.md

# The examples of the page run, one after the other.

import re
import sys

names, fences = {}, re.findall(r"^```python\n(.*?)^```", open(sys.argv[1]).read(), re.M | re.S)
for text in fences:
    exec(compile(text, "docs/Python.md", "exec"), names)
assert len(fences) >= 3
