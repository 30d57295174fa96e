# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checks rules for all files that no test checks. Prints each line that breaks a rule."""

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])


def files(folders, suffixes):
    found = [
        path
        for folder in folders
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in suffixes
    ]
    assert found, folders
    return found


def layout():
    """Checks the layout by Debian 12's clang-format, since versions disagree."""
    sources = files(["dialect", "lib", "test", "tools"], [".cpp", ".h"])
    command = ["clang-format-14", "--dry-run", "-Werror", *map(str, sources)]
    return subprocess.run(command).returncode == 0


def lines_without(pattern, paths, why):
    """Whether no line of the files matches. `pattern` may depend on the text of the file."""
    fine = True
    for path in paths:
        text = path.read_text()
        wrong = pattern(text)
        for number, line in enumerate(text.splitlines(), 1):
            if wrong.search(line):
                print(f"{path.relative_to(root)}:{number}: {why}: {line.strip()}")
                fine = False
    return fine


def colons():
    """FileCheck ignores `CHECK-NEXT foo` without a colon, so the test would pass."""

    def pattern(text):
        prefixes = {"CHECK"}
        for names in re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", text):
            prefixes.update(names.split(","))
        return re.compile(r"(?://|#)\s*(?:%s)\b(?!\S*:)" % "|".join(map(re.escape, prefixes)))

    return lines_without(
        pattern, files(["test"], [".mlir", ".net", ".test"]), "a check without a colon"
    )


def environment():
    """The compiler must depend on its command line alone. The driver may ask whether a terminal has colours, and
    programs may read OpenMP's variables."""
    sources = files(["dialect", "lib"], [".cpp", ".h"])
    readers = {root / "lib" / "Driver" / "Output.cpp", *(root / "lib" / "Runtime").iterdir()}
    compiler = [path for path in sources if path not in readers]
    return lines_without(lambda _: re.compile("getenv"), compiler, "reads the environment")


def guards():
    """A header is included once, by a name that no other has."""
    fine = True
    for path in files(["dialect", "lib", "test", "tools"], [".h"]):
        name = re.sub(r"\W", "_", f"NETC_{path.relative_to(root)}").upper()
        if f"#ifndef {name}\n#define {name}\n" not in path.read_text():
            print(f"{path.relative_to(root)}: its include guard is not {name}")
            fine = False
    return fine


sys.exit(not all([layout(), colons(), environment(), guards()]))
