# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: release, dpkg-shlibdeps, bare-root
# RUN: rm -rf %t && mkdir %t
# RUN: cpack --config %build_dir/CPackConfig.cmake -B %t -D CPACK_DEBIAN_COMPRESSION_TYPE=none
# RUN: %python %s %t %build_dir/bare-root

# The package is installed in a bare Debian 12 by its own dpkg, works there, and leaves nothing when it is removed.

import pathlib
import shutil
import subprocess
import sys

folder, root = map(pathlib.Path, sys.argv[1:])
[package] = folder.glob("netc_*_amd64.deb")
example = "/usr/share/doc/netc/examples/lenet300.net"


def run(*command):
    done = subprocess.run(["chroot", root, *command], capture_output=True, text=True, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"})
    if done.returncode != 0:
        sys.exit(f"{command} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


shutil.copy(package, root / "netc.deb")
run("dpkg", "--install", "--path-include=/usr/share/doc/netc/*", "/netc.deb")
assert run("dpkg-query", "--show", "--showformat=${db:Status-Abbrev}", "netc").strip() == "ii"
assert "266,610 parameters" in run("netc", "--estimate", example)
assert run("netc-lsp", "--version").replace("-lsp", "") == run("netc", "--version")
run("netc", "--emit=obj", "--run=run", "-o", "/lenet300.o", example)
files = [root / name.lstrip("/") for name in run("dpkg", "--listfiles", "netc").splitlines()]
assert sum(file.is_file() for file in files) > 10
run("dpkg", "--purge", "netc")
assert not [file for file in files if file.is_file()]
for name in "netc.deb", "lenet300.o":
    (root / name).unlink()
