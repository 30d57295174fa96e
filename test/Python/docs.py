# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: env PYTHONPATH=%source_dir/python %python %s %source_dir/docs/Python.md

# The examples of the page run, one after the other; those of PyTorch where it is installed, and print what stands below.

import contextlib
import importlib.util
import io
import re
import sys

fences = re.findall(r"^```([a-z]+)-?(\S*)[^\n]*\n(.*?)^```", open(sys.argv[1]).read(), re.M | re.S)
names, printed, ran = {}, None, 0
for language, needs, text in fences:
    if language == "python" and needs and not importlib.util.find_spec(needs):
        printed = None  # what it prints is not there to be compared
    elif language == "python":
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(text, "docs/Python.md", "exec"), names)
        printed, ran = out.getvalue() or None, ran + 1
    elif language == "net" and printed:
        version = re.compile(r"torch [\d.]+\d")
        assert version.sub("", printed.strip()) == version.sub("", text.strip()), printed
assert ran >= 3
