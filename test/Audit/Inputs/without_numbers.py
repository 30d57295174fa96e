# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints a packed trace of torch.profiler without the numbers of autograd."""

import gzip
import json
import sys

with gzip.open(sys.argv[1], "rt") as file:
    trace = json.load(file)
for event in trace["traceEvents"]:
    event.get("args", {}).pop("Sequence number", None)
json.dump(trace, sys.stdout)
