# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %build_dir

# Programs look for libraries in no folder by an empty or relative name: that would be the current one, and code from there.

import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
programs = [path for kind in ("bin", "lib/netc") for path in (folder / kind).iterdir() if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
assert {"netc", "netc-lsp", "netc-codegen"} <= {path.name for path in programs}
wrong = []
for path in programs:
    listed = subprocess.run(["llvm-readelf", "--dynamic-table", path], capture_output=True, text=True, check=True).stdout
    for paths in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", listed):
        wrong += [f"{path} looks in {paths}" for each in paths.split(":") if not each.startswith(("/", "$ORIGIN"))]
sys.exit("\n".join(wrong) or 0)
