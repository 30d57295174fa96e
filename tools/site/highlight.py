# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A hook of mkdocs that colours `net` blocks by the project's own lexer."""

import pathlib
import sys

from pygments.lexers import LEXERS

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))
LEXERS["NetLexer"] = ("netc.pygments_lexer", "netc", ("net",), ("*.net",), ())
