# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Reads CSV: every row has all fields, and the layers of a network add up to its row.

import csv
import sys

rows = list(csv.DictReader(sys.stdin, strict=True))
assert all(None not in row and None not in row.values() for row in rows), rows
networks = [row for row in rows if row["kind"] == "network"]
assert networks
for network in networks:
    layers = [row for row in rows if row["kind"] == "layer" and row["of"] == network["name"]]
    assert layers
    for key in ("parameters", "forward_matmul", "forward_other", "backward_matmul", "backward_other"):
        assert sum(int(layer[key]) for layer in layers) == int(network[key]), (network, key)
