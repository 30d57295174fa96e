# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The syntax colours of specifications, by the tokens of grammar/Net.g4.

`RULES` are pairs of a regular expression and the scope of its matches, with the names of TextMate's grammars. Instead of
a scope, there may be one for each group of the expression, where "" has no colour. The first rule that matches applies.
"""

KEYWORDS = {
    "storage.type": ["block", "net", "dataset", "hardware", "train", "infer"],
    "keyword.control": [
        *("import", "return", "yield", "expect", "require", "sweep", "if", "then", "else", "for", "in"),
        *("repeat", "scan", "over", "carry", "on", "as", "within"),
    ],
    "keyword.operator.word": ["and", "or", "not"],
    "constant.language": ["true", "false"],
}
# These are names before a `=`. After a `.`, each keyword is a name.
SOFT_KEYWORDS = ["over", "on", "as", "carry", "within", "net", "block", "train", "dataset", "hardware", "infer"]

_WORD_END = r"(?![A-Za-z0-9_'])"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*'?"
_DIGITS = r"[0-9](?:_?[0-9])*"
_NUMBER = rf"(?:{_DIGITS}(?:\.{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?(?:[KMGT]i|[kMGBT]|%)?"
_RATE_UNIT = (
    r"(?:[kMGTPEZY]?(?:FLOP|OP|bit)|(?:[kMGTP]|[KMGTP]i)B|steps|tokens|examples|samples|sequences|images)/s"
)
_TIME = r"(?:second|minute|hour|day|week|month|year)s?"


def _words(words):
    return rf"(?:{'|'.join(words)}){_WORD_END}"


_DEVICE_TIME = rf"(?:(?:[A-Za-z][A-Za-z0-9_]*-)+|{_RATE_UNIT}-){_TIME}"
_NO_KEYWORD = rf"(?!{_words(sum(KEYWORDS.values(), []))}){_NAME}"
_QUANTITY = ("constant.numeric", "", "keyword.other.unit")

RULES = [
    (r"#[^\r\n]*", "comment.line.number-sign"),
    (r'"(?:[^"\\\r\n]|\\[nt"\\])*"', "string.quoted.double"),
    (r'"(?:[^"\\\r\n]|\\[^\r\n])*"?', "invalid.illegal"),
    (rf"({_NUMBER})([ \t]*)((?:{_DEVICE_TIME}|{_RATE_UNIT})(?![A-Za-z0-9_]))", _QUANTITY),
    (rf"({_NUMBER})(?:([ \t]*)({_NO_KEYWORD}))?", _QUANTITY),
    (r"\|>|\.\.\.?|==|!=|<=|>=|//|[-+*/%@^<>~=]", "keyword.operator"),
    (rf"(\.)([ \t]*)({_NAME})", ("punctuation.accessor", "", "variable.other.member")),
    (rf"((?:block|net)\b)([ \t]+)({_NO_KEYWORD})", ("storage.type", "", "entity.name.function")),
    (rf"((?:dataset|hardware)\b)([ \t]+)({_NO_KEYWORD})", ("storage.type", "", "entity.name.type")),
    (rf"(?:{'|'.join(SOFT_KEYWORDS)})(?=[ \t]*=(?!=))", "variable.other"),
    *((_words(words), scope) for scope, words in KEYWORDS.items()),
    (rf"{_NAME}(?=\()", "entity.name.function"),
    (_NAME, "variable.other"),
    (r"[()\[\]{},;:.]", "punctuation"),
]
