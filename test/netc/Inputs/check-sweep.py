# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The points of a sweep are the runs that say the same without one.

import json
import sys

runs = {run["name"]: run for run in json.load(sys.stdin)["runs"]}
points = {
    (row["values"]["batch"], row["values"]["T"], row["values"]["took"]): row
    for row in runs["swept"]["sweep"]
}
assert len(points) == 8
for point, name in (("5", "4", "1 hour"), "b5_T4_1h"), (("10", "6", "2 hours"), "b10_T6_2h"):
    for key in "steps", "step", "operations", "memory_per_device":
        assert points[point][key] == runs[name][key], (name, key)
half, whole = runs["constants"]["sweep"]
assert 2 * half["steps"] == whole["steps"] == runs["constants"]["steps"]
