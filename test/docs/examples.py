# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir %t

# What the documents show is so. By the first word behind a fence of README.md or docs/*.md:
#   net                  a file that `netc --check` accepts
#   net-error MESSAGE    a file in which it finds this one error
#   net-fragment REASON  a part of a file, which is not tried, and why
#   console              `$ netc ..` lines and what each prints
#
# `python3 test/docs/examples.py . /tmp/examples --update`, with netc in the PATH, renews what
# consoles print.

import os
import pathlib
import re
import shlex
import subprocess
import sys

root, scratch = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
scratch.mkdir(parents=True, exist_ok=True)
failures = []


def netc(*arguments):
    done = subprocess.run(
        ["netc", *arguments],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PATH": os.environ["PATH"], "NO_COLOR": "1"},
    )
    return done.returncode, done.stdout


def try_console(where, text):
    printed = ""
    for command in re.findall(r"^\$ (.*)$", text, re.M):
        printed += f"$ {command}\n"
        words = shlex.split(command)
        if words[0] == "netc":
            printed += netc(*words[1:])[1]
    if printed != text and "--update" not in sys.argv:
        failures.append(f"{where}: the commands print\n{printed}")
    return printed


def try_fence(where, kind, rest, text):
    if kind == "console":
        return try_console(where, text)
    if kind == "net-fragment" and not rest:
        failures.append(f"{where}: why is this no file?")
    if kind in ("net", "net-error"):
        file = scratch / (re.sub(r"\W", "_", where) + ".net")
        file.write_text(text)
        status, output = netc("--check", str(file))
        errors = [line for line in output.splitlines() if ": error: " in line]
        if kind == "net" and (status != 0 or errors):
            failures.append(f"{where}: exit status {status}\n{output}")
        if kind == "net-error" and [e.split(": error: ")[1] for e in errors] != [rest]:
            failures.append(f"{where}: expected the error `{rest}`\n{output}")
    return text


for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
    document = path.read_text()

    def replace(match):
        line = document.count("\n", 0, match.start()) + 1
        where = f"{path.relative_to(root)}:{line}"
        kind, rest, text = match.groups()
        return f"```{kind}{rest}\n{try_fence(where, kind, rest.strip(), text)}```\n"

    renewed = re.sub(r"^```([\w-]+)([^\n]*)\n(.*?)^```\n", replace, document, flags=re.M | re.S)
    if "--update" in sys.argv and renewed != document:
        path.write_text(renewed)

print("\n".join(failures))
sys.exit(bool(failures))
