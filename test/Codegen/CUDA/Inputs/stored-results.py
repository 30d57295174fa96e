# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checks what the simulator counted in the kernels that have matrix instructions."""

import json
import sys

with open(sys.argv[1]) as file:
    kernels = json.load(file)["simulator"]["kernels"]
products = {name: counted for name, counted in kernels.items() if counted["tensor_flop"]}
assert len(products) >= 6, len(products)
for name, counted in products.items():
    for what in "sectors", "wavefronts":
        assert counted[what] == counted[f"ideal_{what}"], (name, what, counted)
