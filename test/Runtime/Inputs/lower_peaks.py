# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Divides the peaks in the JSON of a program on stdin by a number, and prints it. With a file, checks
# that they are the same as those in it.

import json
import sys

report = json.load(sys.stdin)
machine = report["machine"]


def lower(rates):
    return {name: rate and rate / float(sys.argv[1]) for name, rate in rates.items()}


machine["peak"]["by_isa"] = lower(machine["peak"]["by_isa"])
machine["bandwidth"] /= float(sys.argv[1])
for level in machine["caches"].values():
    level["bandwidth"] /= float(sys.argv[1])
if len(sys.argv) == 2:
    json.dump(report, sys.stdout)
else:
    with open(sys.argv[2]) as file:
        known = json.load(file)["machine"]
    same = all(machine[name] == known[name] for name in ("bandwidth", "caches"))
    if not same or machine["peak"]["by_isa"] != known["peak"]["by_isa"]:
        sys.exit(f"the peaks are not those of {sys.argv[2]}: {machine}")
