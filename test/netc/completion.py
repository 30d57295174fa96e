# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir -p %t/folder && touch %t/net.net %t/other.txt %t/own.yaml
# RUN: %python %s %build_dir %t

# The page of the manual and what shells complete by know each option of `--help`, and its
# words. They are built with netc.

import pathlib
import re
import subprocess
import sys

share, folder = pathlib.Path(sys.argv[1]) / "share", sys.argv[2]
netc = str(pathlib.Path(sys.argv[1]) / "bin" / "netc")
FILES = {
    "man": share / "man/man1/netc.1",
    "bash": share / "bash-completion/completions/netc",
    "zsh": share / "zsh/site-functions/_netc",
    "fish": share / "fish/vendor_completions.d/netc.fish",
}

help_text = subprocess.run([netc, "--help"], check=True, capture_output=True, text=True).stdout
options, words = [], {}
for line in help_text.splitlines():
    if option := re.match(r"  (--?[\w-]+)", line):
        options.append(option[1])
    elif (word := re.match(r" {8}(\w+) ", line)) and options:
        words.setdefault(options[-1], []).append(word[1])
assert len(options) > 25 and len(set(options)) == len(options), options
assert words["--emit"][-1] == "exe" and len(words) > 5, words

texts = {form: file.read_text() for form, file in FILES.items()}
for form, text in texts.items():
    printed = subprocess.run([netc, f"--help={form}"], check=True, capture_output=True, text=True)
    assert printed.stdout == text, form
    for option in options:
        name = option.lstrip("-")
        spelled = {
            "man": r"^\\fB" + re.escape(option.replace("-", "\\-")) + r"\\fR",
            "bash": r"[ ']" + option + r"[ '=]",
            "zsh": r"^  '\*?" + option + r"[=+\[]",
            "fish": r"^complete -c netc -[ls] " + name + " ",
        }[form]
        assert re.search(spelled, text, re.MULTILINE), (form, option)
        if option not in words:
            continue
        at = re.search(spelled, text, re.MULTILINE).start()
        if form == "bash":
            at = text.index(f"  {option})\n")
        for word in words[option]:
            known = rf"\\fB{word}\\fR" if form == "man" else rf"\b{word}\b"
            assert re.search(known, text[at:]), (form, option, word)


def complete(*line):
    """What bash makes of the last word."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))\n'
    script += '_netc; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-uc", script, "bash", str(FILES["bash"]), *line],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr, done.stderr
    return done.stdout.split()


assert complete("netc", "--form") == ["--format="]
assert complete("netc", "--c") == ["--check", "--compare", "--causal="]
# bash takes these for three words, or for one.
assert complete("netc", "--format", "=") == words["--format"]
assert complete("netc", "--format", "=", "m") == ["markdown"]
assert complete("netc", "--format=m") == ["--format=markdown"]
assert complete("netc", "--format", "m") == ["markdown"]
assert complete("netc", "--net", "") == []
assert sorted(complete("netc", "")) == ["folder", "net.net"]
assert complete("netc", "--check", "n") == ["net.net"]
assert complete("netc", "--hardware", "n") == ["net.net"]
assert sorted(complete("netc", "--hardware", "=", "o")) == ["other.txt", "own.yaml"]
assert complete("netc", "-o", "oth") == ["other.txt"]
assert complete("netc", "-I", "") == ["folder"]
