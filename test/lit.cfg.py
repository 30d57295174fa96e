# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib.util
import os
import shutil
import subprocess

import lit.formats

config.name = "netc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".net", ".py", ".test"]
config.excludes = ["Fuzzers", "Inputs", "goldens", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_dir, "test")

# The tools are found by name: ours first, then LLVM's FileCheck and not.
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.build_dir, "bin"), config.llvm_tools_dir, config.environment["PATH"]]
)
config.environment["LC_ALL"] = "C"
config.substitutions += [
    ("%python", config.python),
    ("%source_dir", config.source_dir),
    ("%build_dir", config.build_dir),
    ("%llvm_libs", os.path.join(config.llvm_tools_dir, os.pardir, "lib")),
]
for module in "onnx", "pytest_lsp", "torch":
    if importlib.util.find_spec(module):
        config.available_features.add(module)
# Debian's packages for notebooks are those of its own Python.
if subprocess.run(["/usr/bin/python3", "-c", "import ipykernel, nbclient, pandas"], stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("notebooks")
# Emacs 28 has it as a package.
eglot = ["emacs", "--batch", "-f", "package-activate-all", "--eval", "(require 'eglot)"]
if shutil.which("emacs") and subprocess.run(eglot, stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("eglot")
# A build of the type Release with assertions is larger, and holds names of files.
checked = config.build_type == "Release" and "-DNDEBUG" not in config.release_flags
config.available_features.add("checked" if checked else config.build_type.lower())
# CONTRIBUTING.md says how it is made.
if os.geteuid() == 0 and os.path.exists(os.path.join(config.build_dir, "bare-root/etc/debian_version")):
    config.available_features.add("bare-root")
# The toolkit of CUDA is seldom in PATH.
if ptxas := shutil.which("ptxas", path=os.environ["PATH"] + ":/usr/local/cuda/bin"):
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
for program in "dpkg-shlibdeps", "fish", "git", "man", "node", "nvim", "valgrind", "zsh":
    if shutil.which(program):
        config.available_features.add(program)
