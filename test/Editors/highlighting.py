# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %source_dir/editors/textmate.py | diff %source_dir/editors/net.tmLanguage.json -
# RUN: %python %s %source_dir

# Editors colour the tokens of grammar/Net.g4. That grammar's lexer rules are read here: each way to
# write a token, and each token of all specifications, has the one colour of its kind.

import importlib.util
import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "python"))
from netc import highlighting  # noqa: E402

# The scope of each token that is no keyword; the beginning of it, if that has a `*`.
SCOPES = {
    "NUMBER": "constant.numeric",
    "RATE": "constant.numeric keyword.other.unit",
    "DEVTIME": "constant.numeric keyword.other.unit",
    "STRING": "string.quoted.double",
    "COMMENT": "comment.line.number-sign",
    "BADSTRING": "invalid.illegal",
    **dict.fromkeys(["LPAREN", "RPAREN", "LBRACKET", "RBRACKET", "LBRACE", "RBRACE"], "punctuation"),
    **dict.fromkeys(["COMMA", "SEMI", "COLON"], "punctuation"),
    "DOT": "punctuation",
}
NAMES = {"variable.other", "variable.other.member", "entity.name.function", "entity.name.type", "keyword.other.unit"}
UNCOLOURED = {"NL", "WS", "BAD"}


class Lexer:
    """The lexer rules of an ANTLR grammar, as regular expressions, with samples of what each matches. A literal, with
    one sample, goes before the others."""

    SIGNS = re.compile(r"\s+|//[^\n]*|(?P<literal>'(?:[^'\\]|\\.)+')|(?P<set>\[(?:[^\]\\]|\\.)+\])|->.*|\{.*?\}\?|\w+|.")

    def __init__(self, grammar):
        text = grammar[grammar.index("IMPORT    :") :]
        rules = re.findall(r"^(fragment\s+)?([A-Z]+)\s*:((?:'(?:[^'\\]|\\.)+'|//[^\n]*|\[(?:[^\]\\]|\\.)+\]|[^;'\[])*);", text, re.M)
        self.bodies = {name: [m for m in self.SIGNS.finditer(body) if m[0].strip()] for _, name, body in rules}
        self.tokens = {name: self.read(self.bodies[name]) for fragment, name, _ in rules if not fragment}
        self.literals = {self.tokens[name][1][0]: name for name in self.tokens if [bool(s["literal"]) for s in self.bodies[name]] == [True]}
        longest_first = sorted(self.literals, key=len, reverse=True)
        self.literal = re.compile("|".join(map(re.escape, longest_first)))
        self.others = {name: re.compile(regex) for name, (regex, _) in self.tokens.items() if name not in self.literals.values()}

    def read(self, signs):
        signs = [sign for sign in signs if not sign[0].startswith(("//", "->"))]
        at = 0

        def element():
            nonlocal at
            sign, text = signs[at], signs[at][0]
            at += 1
            if sign["literal"]:
                text = text[1:-1].replace("\\'", "'").replace("\\\\", "\\")
                return re.escape(text), [text]
            if sign["set"]:
                return text, [c for c in map(chr, range(32, 127)) if re.match(text, c)][:: 7 if "-" in text else 1] or ["\n"]
            if text == "~":
                inner, _ = element()
                return f"[^{inner[1:]}", ["x"]
            if text == ".":
                return ".", ["?"]
            if text == "(":
                return alternatives()
            if text.startswith("{"):
                return "(?![A-Za-z0-9_])", [""]
            return self.read(self.bodies[text])

        def sequence():
            nonlocal at
            regex, samples = "", [""]
            while at < len(signs) and signs[at][0] not in "|)":
                inner, parts = element()
                if at < len(signs) and signs[at][0] in "?*+":
                    inner += signs[at][0]
                    parts = ([""] if signs[at][0] in "?*" else []) + parts
                    at += 1
                regex += inner
                # All of each part, beside some of the others.
                count = max(len(samples), len(parts))
                samples = [samples[i % len(samples)] + parts[i % len(parts)] for i in range(count)]
            return regex, samples

        def alternatives():
            nonlocal at
            regexes, samples = [], []
            while True:
                regex, some = sequence()
                regexes.append(regex)
                samples += some
                at += 1
                if at > len(signs) or signs[at - 1][0] == ")":
                    return f"(?:{'|'.join(regexes)})", samples

        return alternatives()

    def run(self, text):
        """The tokens as (kind, begin, end): the longest, and the first of these."""
        at = 0
        while at < len(text):
            literal = self.literal.match(text, at)
            found = {self.literals[literal[0]]: literal.end()} if literal else {}
            found |= {name: match.end() for name, rule in self.others.items() if (match := rule.match(text, at))}
            kind = max(found, key=found.get)
            yield kind, at, found[kind]
            at = found[kind]


def colours(line, rules):
    """The scope of each character, as editors find it: of what matches first, by the first such rule."""
    at, scopes = 0, [""] * len(line)
    while matches := [(match.start(), number) for number, (rule, _) in enumerate(rules) if (match := rule.search(line, at))]:
        start, number = min(matches)
        rule, names = rules[number]
        match = rule.match(line, start)
        for group, scope in names.items():
            begin, end = match.span(group)
            scopes[begin:end] = [scope] * (end - begin)
        at = match.end()
    return scopes


def textmate():
    grammar = json.loads((root / "editors/net.tmLanguage.json").read_text())
    for pattern in grammar["patterns"]:
        captures = pattern.get("captures", {"0": pattern})
        yield re.compile(pattern["match"]), {int(number): each["name"].removesuffix(".net") for number, each in captures.items()}


lexer = Lexer((root / "grammar/Net.g4").read_text())
rules = list(textmate())
keywords = {text: name for text, name in lexer.literals.items() if text.isalpha()}

# The keywords are those of the grammar.
assert sorted(sum(highlighting.KEYWORDS.values(), [])) == sorted(keywords), keywords
soft = re.search(r"^name +:(.*?);", (root / "grammar/Net.g4").read_text(), re.M | re.S)[1].replace("|", " ").split()
assert sorted(highlighting.SOFT_KEYWORDS) == sorted(text for text, name in keywords.items() if name in soft), soft
scopes_of_keywords = {word: scope for scope, words in highlighting.KEYWORDS.items() for word in words}


def check(kind, text, scopes, where):
    shown = " ".join(dict.fromkeys(filter(None, scopes)))
    if kind in keywords.values():
        # What the grammar calls `name` may be one.
        fine = shown == scopes_of_keywords[text] or where.startswith("in ") and shown in NAMES
    elif kind == "ID":
        fine = shown in NAMES
    elif kind in UNCOLOURED:
        fine = not shown
    elif kind == "DOT":
        fine = shown in ("punctuation", "punctuation.accessor")
    else:
        fine = shown == SCOPES.get(kind, "keyword.operator")
    # Only a quantity has spaces in it.
    if not fine or "" in [scope for scope, c in zip(scopes, text) if kind not in UNCOLOURED and not c.isspace()]:
        sys.exit(f"`{text}` {where} is {kind}, and coloured as `{shown}`")


for kind, (_, samples) in lexer.tokens.items():
    for sample in samples:
        # Alone, a sample may be an earlier token: `x` is a name, `"\n"` a string.
        if list(lexer.run(sample)) == [(kind, 0, len(sample))]:
            check(kind, sample, colours(sample, rules), "alone")
        assert kind in UNCOLOURED | {"BADSTRING"} or any(list(lexer.run(s)) == [(kind, 0, len(s))] for s in samples), kind

small = 'f(over = 1, on == 2, net.over, h\', in\', 0..over, x[...]) 80GB 2GB/s 8 V100-days 3 then 5x/s 4 images/sx 1 . x "\\q" "\n'
paths = [*(root / "examples").glob("*.net"), *(root / "lib/Std").rglob("*.net")]
lines = sorted({line for path in paths for line in path.read_text().splitlines(keepends=True)})
assert len(lines) > 2000
seen = {line: colours(line, rules) for line in [small, *lines]}
for line, scopes in seen.items():
    for kind, begin, end in lexer.run(line):
        check(kind, line[begin:end], scopes[begin:end], f"in {line}")


def scope_at(part):
    return seen[small][small.index(part)]


assert scope_at("over = 1") == "variable.other"
assert scope_at("on ==") == "keyword.control"
assert scope_at("over, h") == "variable.other.member"
assert scope_at("over, x") == "keyword.control"
assert scope_at("then") == "keyword.control"

# Pygments sees the same.
if importlib.util.find_spec("pygments"):
    from netc import pygments_lexer
    from pygments.token import Error

    lexed = pygments_lexer.NetLexer(stripnl=False, ensurenl=False)
    for line, scopes in seen.items():
        for at, token, part in lexed.get_tokens_unprocessed(line):
            expected = {pygments_lexer._TOKENS[scope] for scope in scopes[at : at + len(part)]}
            if expected != {token} or token is Error and line != small:
                sys.exit(f"`{part}` in {line} is {token} for Pygments, and not {expected}")
