# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Functions that translate ops, by the names of the ops."""


class Handlers(dict):
    def of(self, *names):
        """Enters the function that follows as the handler of these ops."""

        def enter(function):
            self.update(dict.fromkeys(names, function))
            return function

        return enter
