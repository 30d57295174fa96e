# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir

# Some test expects every error and warning of the tables of lib/Diagnostics, by its id,
# and every message that stands in the sources themselves, with all of its words.
#
# Such a message is what C++ joins by `+`, `<<` or side by side, if that has two words or
# more: no list of functions that report is kept, so none can be missing. What is not a
# literal stands for any text. Letters that a longer message explains count for no
# other, and a text that two places raise needs two lines.

import pathlib
import re
import sys

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*)
      | R"(?P<mark>[^(\s]*)\((?P<raw>.*?)\)(?P=mark)"
      | (?:u8|L)?"(?P<text>(?:[^"\\]|\\.)*)"
      | '(?:[^'\\]|\\.)+'
      | (?P<word>\w+(?:'\d+)*)
      | <<|->|::|==|!=|<=|>=|&&|\|\||\+=|.""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
ESCAPES = {"n": "\n", "t": "\t", "0": "\0"}
CLOSERS = {"(": ")", "[": "]", "{": "}"}
# What ends one text and begins another.
SEPARATORS = {",", ";", "?", ":", "=", "+=", "==", "!=", "<", "<=", ">=", "&&", "||", "return"}
# Calls whose argument is the text itself, or its beginning.
TRANSPARENT = {"Twine", "string", "StringRef", "formatv", "format", "attachNote"}
TRANSPARENT |= {"emitError", "emitOpError", "emitOptionalError", "emitRemark", "emitWarning"}
# Calls whose text is no message: for developers, or for `--help`, or looked for.
SILENT = {"assert", "static_assert", "llvm_unreachable", "desc", "value_desc", "clEnumValN"}
SILENT |= {"isMember", "volatile", "usage", "rfind", "Example"}
# In the sources alone: what is looked for in files, columns of tables, and SQL.
SOUGHT = {"find", "contains", "starts_with", "field", "query", "select"}
# What prints `--help` in its forms; completion.py compares these.
HELP = {"Completion.cpp", "Help.cpp"}

FORMAT = re.compile(r"\{\d*(?:[:,][^{}\s]*)?\}|%[-.*\d]*(?:zu|[dgs])")
HOLE = "\0"
CLAIMED = "\1"


class Token:
    def __init__(self, kind, text, line):
        self.kind, self.text, self.line = kind, text, line


def unescape(text):
    def character(match):
        name = match[1]
        return chr(int(name[1:], 16)) if name[0] in "uU" else ESCAPES.get(name, name)

    return re.sub(r"\\(u\w{4}|U\w{8}|.)", character, text, flags=re.DOTALL)


def tokenize(source):
    tokens, line = [], 1
    for match in TOKEN.finditer(source):
        if match["raw"] is not None:
            tokens.append(Token("text", match["raw"], line))
        elif match["text"] is not None:
            tokens.append(Token("text", unescape(match["text"]), line))
        elif match["skip"] is None:
            tokens.append(Token("word" if match["word"] else "sign", match[0], line))
        line += match[0].count("\n")
    return tokens


class Reader:
    """Collects the texts of a token list as (line, text), HOLE in a text being any text."""

    def __init__(self, tokens, silent=SILENT):
        self.tokens, self.at, self.texts, self.silent = tokens, 0, [], silent
        while self.at < len(tokens):
            self.texts.append(self.read())

    def read(self, closer=None, joins=False):
        """Reads to `closer` and returns the last text, which is not in `texts`; a comma
        goes on with a text if it `joins`."""
        text, line, before, chooses = "", 0, "", False
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            sign = token.text if token.kind != "text" else ""
            if sign and sign == closer:
                break
            if not sign:
                text += FORMAT.sub(HOLE, token.text)
                line = line or token.line
            elif sign in SEPARATORS and not (joins and sign == "," and line):
                chooses |= sign == "?"
                self.texts.append((line, text))
                text, line = "", 0
            elif sign in CLOSERS:
                start = len(self.texts)
                inner_line, inner = self.read(CLOSERS[sign], before == "emitOptionalError")
                if before in self.silent:
                    del self.texts[start:]
                    text += HOLE
                elif sign == "(" and (before in TRANSPARENT or not before):
                    text += inner
                    line = line or inner_line
                else:
                    self.texts.append((inner_line, inner))
                    text += HOLE
                if sign == "{" and closer != ")":
                    self.texts.append((line, text))
                    text, line = "", 0
            elif sign not in ("+", "<<", ","):
                text += HOLE
            before = sign if token.kind == "word" else ""
        if chooses:
            self.texts.append((line, text))
            return 0, HOLE
        return line, text


def constraints_of(source):
    """What ODS reports where a value or an op does not meet a predicate."""
    found = re.finditer(r'PredOpTrait<"(.*?)"|: Type<.*?\]>,\s*"(.*?)"', source, re.DOTALL)
    return [(source.count("\n", 0, match.start()) + 1, match[1] or match[2]) for match in found]


def words_of(text):
    return re.findall(r"[A-Za-z]+", text)


def is_prose(text):
    if re.search(r"[%#]\d|, over = |, order = ", text):
        return False  # a form of a specification, with places for its parts
    text = re.sub("<[^<>]*>", " ", text)  # markup is none
    return len([word for word in words_of(text) if len(word) > 1]) > 1 and " " in text.strip()


def pattern_of(text):
    """A regular expression whose groups are the words between the holes."""
    parts = [re.escape(part) for part in re.split(HOLE + "+", text.strip())]
    first = r"(?<!\w)" if re.match(r"\w", text.strip()) else ""
    last = r"(?!\w)" if re.search(r"\w$", text.strip()) else ""
    return re.compile(first + ".*?".join(part and f"({part})" for part in parts) + last)


def expectations_of(path):
    """The lines of a file that say what is printed, HOLE for a regular expression."""
    content = path.read_text()
    if path.suffix == ".cpp":
        return [line for _, text in Reader(tokenize(content)).texts for line in text.split("\n")]
    if path.suffix == ".md":
        blocks = "".join(re.findall(r"^```console\n(.*?)^```", content, re.DOTALL | re.MULTILINE))
        return re.findall(r"^```net-error (.*)", content, re.MULTILINE) + blocks.split("\n")
    if path.suffix == ".py":
        return re.findall(r'"(.*)"', re.sub("#.*", "", content))
    if path.suffix == ".txt":  # cases of test/Frontend/wrong.py
        return re.findall(r"^\S+:\d+:\d+: (?:error|warning|note): (.*)", content, re.MULTILINE)
    prefixes = {"CHECK"}
    for names in re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", content):
        prefixes.update(names.split(","))
    names = "|".join(map(re.escape, prefixes))
    check = rf"\b(?:{names})(?:-NEXT|-SAME|-DAG|-LABEL|-COUNT-\d+)?:(.*)|(expected-\w+.*)"
    hole = re.compile(r"\[\[.*?\]\]|\{\{.*?\}\}")
    return [hole.sub(HOLE, line) or diagnostic for line, diagnostic in re.findall(check, content)]


def show(text):
    return text.replace(HOLE, "..").strip()


root = pathlib.Path(sys.argv[1])
messages, complaints = {}, []
for folder in ("dialect", "lib"):
    for path in sorted((root / folder).rglob("*")):
        texts = set()
        if path.suffix == ".td":
            texts.update(constraints_of(path.read_text()))
        if path.suffix in (".cpp", ".h") and path.name not in HELP:
            read = Reader(tokenize(path.read_text()), SILENT | SOUGHT).texts
            texts.update((line, text) for line, text in read if line and is_prose(text))
        for line, text in sorted(texts):
            place = f"{path.relative_to(root)}:{line}"
            messages.setdefault(re.sub(HOLE + "+", HOLE, text).strip(HOLE), []).append(place)
suffixes = (".cpp", ".md", ".mlir", ".net", ".py", ".test", ".txt")
paths = [root / "README.md", *(root / "docs").rglob("*"), *(root / "test").rglob("*")]
tests = [path for path in paths if path.suffix in suffixes and not path.samefile(__file__)]
lines = [line for path in tests for line in expectations_of(path)]

expected = set(re.findall(r"\[[\w-]+\]", "\n".join(lines)))
for table, shown in ("Errors", "[{}]"), ("Warnings", "[-W{}]"):
    path = root / f"lib/Diagnostics/{table}.def"
    ids = re.findall(r'^[A-Z]+\(\w+, "([^"]+)"', path.read_text(), re.MULTILINE)
    assert ids and len(ids) == len(set(ids)), f"{table} has no ids, or one of them twice"
    for id in ids:
        if shown.format(id) not in expected:
            complaints.append(f"{path.relative_to(root)}:0: no test expects {shown.format(id)}")

# The message of the most letters claims its own first.
letters = lambda text: len(text.replace(HOLE, ""))
for text in sorted(filter(words_of, messages), key=lambda text: (-letters(text), text)):
    pattern, found = pattern_of(text), 0
    longest = max(text.strip().split(HOLE), key=len)
    for i, line in enumerate(lines):
        match = pattern.search(line) if longest in line else None
        if not match:
            continue
        found += 1
        for group in range(1, pattern.groups + 1):
            begin, end = match.span(group)
            line = line[:begin] + CLAIMED * (end - begin) + line[end:]
        lines[i] = line
    for place in messages[text][found:]:
        count = "no test expects" if not found else f"{found} tests do not suffice for"
        complaints.append(f"{place}: {count}: {show(text)}")


def order(complaint):
    file, line, _ = complaint.split(":", 2)
    return file, int(line)


print("\n".join(sorted(complaints, key=order)))
sys.exit(bool(complaints) or not messages)
