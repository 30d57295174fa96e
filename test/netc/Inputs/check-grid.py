# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Checks which points of grid.net the JSON of a measurement on stdin has: `run:2:1,4` is the run
# `run` with a width of 2, or none that is varied, and batches of 1 and 4.

import json
import sys

runs = json.load(sys.stdin)["runs"]
found = []
for run in runs:
    width = run.get("values", {}).get("width", "")
    assert run.get("values", {}).keys() == ({"width"} if width else set()), run["values"]
    found.append(":".join((run["name"], width, ",".join(str(batch["batch"]) for batch in run["batches"]))))
    for batch in run["batches"]:
        forward = sum(op["matmul"] for op in batch["ops"] if op["phase"] == "forward")
        assert forward == batch["batch"] * 2 * int(width or 4) * (6 + 3), (width, batch)
        has_one = any(other["batch"] == 1 for other in run["batches"])
        assert (batch["methods"]["one"] is not None) == has_one, run["name"]
assert found == sys.argv[1:], found
