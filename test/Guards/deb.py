# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: release, dpkg-shlibdeps
# RUN: rm -rf %t && mkdir %t
# RUN: cpack --config %build_dir/CPackConfig.cmake -B %t -D CPACK_DEBIAN_COMPRESSION_TYPE=none
# RUN: %python %s %source_dir %build_dir %t

# What the package of Debian holds and asks for. It comes from another place than it was built at.

import os
import pathlib
import re
import subprocess
import sys

source, build, folder = map(pathlib.Path, sys.argv[1:])
[package] = folder.glob("netc_*_amd64.deb")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def field(name):
    return run("dpkg-deb", "--field", package, name).strip()


version = run("netc", "--version").split()[1]
assert package.name == f"netc_{version}_amd64.deb" and field("Version") == version, package
assert field("Section") == "science" and field("Maintainer") and field("Description")

# Nothing newer than Debian 12 has.
DEBIAN_12 = {"libc6": "2.36", "libgcc-s1": "12.2", "libhwloc15": "2.9.0", "libmimalloc2.0": "2.0.9+ds"}
for needed in field("Depends").split(", "):
    name, least = re.fullmatch(r"(\S+)(?: \(>= (\S+)\))?", needed).groups()
    assert name in DEBIAN_12, needed
    if least:
        subprocess.run(["dpkg", "--compare-versions", least, "le", DEBIAN_12[name]], check=True)
recommended = field("Recommends").split(", ")
assert recommended == ["g++", "libomp5-19"]
# The image has these, too.
assert set(recommended) < set((source / "Dockerfile").read_text().split())

root = folder / "root"
run("dpkg-deb", "--extract", package, root)
files = {str(path.relative_to(root / "usr")) for path in root.rglob("*") if path.is_file()}
share = {file for file in files if file.startswith("share/")}
assert files - share == {
    "bin/netc",
    "bin/netc-lsp",
    "lib/netc/libnetc-runtime.a",
    "lib/netc/libnetc-simulator.so",
    "lib/netc/netc-codegen",
}, files - share
documents = {file for file in share if file.startswith("share/doc/netc/")}
assert share - documents == {
    "share/bash-completion/completions/netc",
    "share/fish/vendor_completions.d/netc.fish",
    "share/man/man1/netc-lsp.1.gz",
    "share/man/man1/netc.1.gz",
    "share/zsh/vendor-completions/_netc",
}, share - documents
names = {file.removeprefix("share/doc/netc/") for file in documents}
assert {"README.md", "copyright", "docs/Language.md", "examples/lenet300.net"} <= names, names
copyright = (root / "usr/share/doc/netc/copyright").read_text()
assert copyright.startswith((source / "LICENSE").read_text()) and "antlr4-cpp-runtime" in copyright

for file in files:
    text = (root / "usr" / file).read_bytes()
    assert os.fsencode(build) not in text and os.fsencode(source) + b"/" not in text, file

example = root / "usr/share/doc/netc/examples/lenet300.net"
run(root / "usr/bin/netc", "--emit=obj", "--run=run", "-o", folder / "lenet300.o", example)
