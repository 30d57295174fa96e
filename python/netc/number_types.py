# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Types of numbers."""

from .errors import ImportRefused


class NoType(ImportRefused):
    """A tensor has numbers of a type that netc does not have, such as complex ones."""


class NumberTypes(dict):
    """netc's names of types by those of a framework."""

    def __missing__(self, kind):
        raise NoType(f"netc has no numbers of type `{self.named(kind)}`")

    def named(self, kind):
        return kind
