# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What goes wrong, as exceptions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """An error or a warning of netc: what `--diagnostics=json` prints, with the line of the text. Of a specification that is
    no file, `file` is None."""

    severity: str
    id: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    source: str = ""

    def __str__(self):
        place = f"{self.file}: " if self.file else ""
        if self.line:
            place = f"{self.file}:{self.line}:{self.column}: " if self.file else f"line {self.line}, column {self.column}: "
        name = f" [{self.id}]" if self.id else ""
        shown = f"\n  {self.source}\n  {' ' * (self.column - 1)}^" if self.source else ""
        return f"{place}{self.severity}: {self.message}{name}{shown}"


class NetcError(Exception):
    """What netc refuses. `line`, `column`, `id` and `message` are those of the first of `problems`."""

    def __init__(self, text, problems=()):
        super().__init__(text)
        self.problems = list(problems)
        first = self.problems[0] if self.problems else None
        self.file, self.line, self.column = (first.file, first.line, first.column) if first else (None, None, None)
        self.id, self.message = (first.id, first.message) if first else (None, text)


class ExportRefused(NetcError):
    """What cannot be exported, named: an op that PyTorch or ONNX does not have."""


class ImportRefused(NetcError):
    """What cannot be imported, named: a module that computes what depends on data, an op that netc does not have."""
