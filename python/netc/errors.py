# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What goes wrong, as exceptions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """An error or a warning of netc: what `--diagnostics=json` prints."""

    severity: str
    id: str
    message: str
    file: str
    line: int
    column: int

    def __str__(self):
        name = f" [{self.id}]" if self.id else ""
        return f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.message}{name}"


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
