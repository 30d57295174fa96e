# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A lexer for Pygments, which finds it by the name `net` if the package is installed."""

import re

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from .highlighting import RULES

__all__ = ["NetLexer"]

_TOKENS = {
    "": Whitespace,
    "comment.line.number-sign": Comment.Single,
    "constant.language": Keyword.Constant,
    "constant.numeric": Number,
    "entity.name.function": Name.Function,
    "entity.name.type": Name.Class,
    "invalid.illegal": Error,
    "keyword.control": Keyword,
    "keyword.operator": Operator,
    "keyword.operator.word": Operator.Word,
    "keyword.other.unit": Name.Constant,
    "punctuation": Punctuation,
    "punctuation.accessor": Punctuation,
    "storage.type": Keyword.Declaration,
    "string.quoted.double": String,
    "variable.other": Name,
    "variable.other.member": Name.Attribute,
}


def _action(scope):
    return _TOKENS[scope] if isinstance(scope, str) else bygroups(*map(_TOKENS.get, scope))


class NetLexer(RegexLexer):
    name = "netc"
    aliases = ["net"]
    # Other programs use the suffix too. `analyse_text` recognizes a specification.
    filenames = ["*.net"]
    tokens = {"root": [(r"\s+", Whitespace), *((regex, _action(scope)) for regex, scope in RULES)]}

    def analyse_text(text):
        return 1.0 if re.match(r"net[ \t]+1\b", text) else 0.0
