# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir %t

# All specifications of the project and its documents are formatted. With random blanks they
# mean the same, and formatting gives back the same text. `python3 fmt-examples.py . FOLDER SEED` sets others.

import pathlib
import random
import re
import subprocess
import sys

root, scratch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
scratch.mkdir(parents=True, exist_ok=True)
failures = []


def netc(*arguments, text=None):
    return subprocess.run(["netc", *arguments], input=text, capture_output=True, text=True)


def with_other_blanks(text, random):
    """Changes the number of blanks where there is one, but in strings and comments, and empty
    lines where there is one or a statement begins at the margin."""
    lines = []
    for line in text.splitlines():
        code = re.match(r'(?:[^"#]|"(?:[^"\\]|\\.)*")*', line)[0]
        words = re.findall(r'"(?:[^"\\]|\\.)*"|[ \t]+|[^ \t"]+', code)
        for i, word in enumerate(words):
            if word.isspace():
                words[i] = " " * random.randint(1, 4) if i else " " * random.randint(0, 9)
        if not line.strip():
            lines += [" " * random.randint(0, 3)] * random.randint(0, 2)
        lines.append("".join(words) + line[len(code) :] + " " * random.randint(0, 2))
    return "\n" * random.randint(0, 2) + "\n".join(lines) + "\n" * random.randint(0, 3)


paths = sorted([*root.glob("examples/**/*.net"), *root.glob("lib/Std/**/*.net")])
checked = netc("fmt", "--check", *map(str, paths))
if checked.returncode:
    failures.append(checked.stderr)
for document in [root / "README.md", *sorted(root.glob("docs/*.md"))]:
    for kind, text in re.findall(r"^```(net\b.*)\n((?:.*\n)*?)```", document.read_text(), re.M):
        done = netc("fmt", "-", text=text)
        if kind == "net" and (done.returncode or done.stdout != text):
            failures.append(f"{document}: not formatted:\n{done.stdout}{done.stderr}")

random = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
for path in paths:
    text = path.read_text()
    loose = with_other_blanks(text, random)
    if loose == text:
        failures.append(f"{path}: no blank was changed")
    copy = scratch / path.relative_to(root)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(loose)
    if netc("fmt", "-", text=loose).stdout != text:
        failures.append(f"{path}: formatted differently from {copy}")


def elaborated(path):
    """The IR, but for the places of keys in the file."""
    done = netc("--emit=net", str(path))
    if not done.stdout:
        failures.append(f"{path}:\n{done.stderr}")
    return re.sub(r"places = \{.*?\}", "", done.stdout)


for path in root.glob("examples/**/*.net"):
    if elaborated(path) != elaborated(scratch / path.relative_to(root)):
        failures.append(f"{path}: other blanks give another network")

for failure in failures:
    print(failure)
sys.exit(bool(failures))
