# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: release
# RUN: rm -rf %t && cmake --install %build_dir --component Programs --prefix %t/netc --strip
# RUN: cmake --install %build_dir --component Libraries --prefix %t/netc --strip
# RUN: cp %source_dir/python/netc/*.py %t/netc
# RUN: env -u NETC PYTHONPATH=%t %python %s %t/netc

# What a wheel holds: it needs nothing but glibc 2.34 and, for programs, a compiler; and it is small enough.

import os
import pathlib
import re
import subprocess
import sys
import zlib

import netc

root = pathlib.Path(sys.argv[1]).resolve()
spec = """
net Small(x: f32[N, 8]) { return logits = x |> Linear(4) }
dataset Points { examples = 64; label = class(4) }
train Small on Points as run { loss = cross_entropy(logits, label); batch = 16; duration = 1 epoch; optimizer = SGD(lr = 0.1) }
"""


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


# Without what Python compiles when it imports the package, as here: no wheel holds it.
files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink() and path.parent.name != "__pycache__"]
elf = [path for path in files if path.open("rb").read(4) == b"\x7fELF"]
assert {"netc", "netc-codegen", "libnetc-simulator.so", "libomp.so.5"} <= {path.name for path in elf}, elf
for path in elf:
    read = run("llvm-readelf", "--needed-libs", "--version-info", path).stdout
    needed = re.findall(r"^  (\S+\.so\S*)$", read, re.M)
    system = {"ld-linux-x86-64.so.2", "libc.so.6", "libgcc_s.so.1", "libm.so.6"}
    assert needed and all(name in system or (root / "lib/netc" / name).exists() for name in needed), (path, needed)
    asked = [tuple(map(int, version.split("."))) for version in re.findall(r"Name: GLIBC_([\d.]+)", read)]
    assert asked and max(asked) <= (2, 34) and "GLIBCXX" not in read, (path, max(asked))
packed = sum(len(zlib.compress(path.read_bytes())) for path in files)
assert packed < 30e6, packed

# Without variables that could lead to other libraries.
os.environ.pop("LD_LIBRARY_PATH", None)
assert netc.estimate(spec).networks[0].parameters.total == 36
(root / "small.net").write_text(spec)
program = root / "small"
made = run(root / "bin/netc", "--emit=exe", "--run=run", "-o", program, root / "small.net")
assert made.returncode == 0, made.stderr
assert run("llvm-readelf", "--dynamic-table", program).stdout.count(f"[$ORIGIN:{root}/lib/netc]") == 1
assert run(program, "--steps=1", "--quiet").returncode == 0

# The program's folder has no compiler.
os.environ["PATH"] = str(root / "bin")
try:
    netc.measure(spec, run="run", seconds=0.1)
except netc.NetcError as problem:
    assert "no C++ compiler to link with" in str(problem), problem
else:
    raise AssertionError("it was linked without a compiler")
