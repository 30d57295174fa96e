# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The exceptions of the package."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """An error or warning of netc, as `--diagnostics=json` prints it, with the line of the text. `file` is None if the
    specification is not a file; `text` then says which of several it is."""

    severity: str
    id: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    source: str = ""
    text: str = "the text"

    def __str__(self):
        place = f"{self.file}: " if self.file else ""
        if self.line:
            of = f"{self.text}, " if self.text != Problem.text else ""
            place = f"{self.file}:{self.line}:{self.column}: " if self.file else f"{of}line {self.line}, column {self.column}: "
        name = f" [{self.id}]" if self.id else ""
        shown = f"\n  {self.source}\n  {' ' * (self.column - 1)}^" if self.source else ""
        return f"{place}{self.severity}: {self.message}{name}{shown}"


class NetcError(Exception):
    """An error of netc. `line`, `column`, `id` and `message` are those of the first of `problems`. `result` is what the call
    returns otherwise, if only an `expect` fails."""

    def __init__(self, text, problems=(), result=None):
        super().__init__(text if result is None else f"{text}\n`result` of this exception is what was asked for")
        self.result = result
        self.problems = list(problems)
        first = self.problems[0] if self.problems else None
        self.file, self.line, self.column = (first.file, first.line, first.column) if first else (None, None, None)
        self.id, self.message = (first.id, first.message) if first else (None, text)


class ExportRefused(NetcError):
    """A network cannot be exported. The message names the cause, such as an op that PyTorch or ONNX does not have."""


class ImportRefused(NetcError):
    """A model cannot be imported. The message names the cause, such as a module that depends on data, or an op that
    netc does not have."""
