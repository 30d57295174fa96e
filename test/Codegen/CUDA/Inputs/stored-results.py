# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checks what the simulator counted in the kernels that have matrix instructions, and the loss: REPORT, REPORT of a processor."""

import json
import math
import sys

reports = []
for name in sys.argv[1:]:
    with open(name) as file:
        reports.append(json.load(file))
simulated, processor = reports
assert math.isclose(simulated["losses"][0], processor["losses"][0], rel_tol=1e-4), (simulated["losses"], processor["losses"])
kernels = simulated["simulator"]["kernels"]
products = {name: counted for name, counted in kernels.items() if counted["tensor_flop"]}
assert len(products) >= 6, len(products)
for name, counted in products.items():
    for what in "sectors", "wavefronts":
        assert counted[what] == counted[f"ideal_{what}"], (name, what, counted)
