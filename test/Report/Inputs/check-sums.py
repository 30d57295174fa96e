# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Checks of a report on stdin that layers add up to their network, and parts to totals.

import json
import re
import sys


def value(count):
    """Polynomials as mappings from their monomials to coefficients."""
    terms = {}
    for term in str(count).replace(" - ", " + -").split(" + "):
        coefficient, monomial = re.fullmatch(r"(-?\d*)\*?(.*)", term).groups()
        terms[monomial] = terms.get(monomial, 0) + int(coefficient or 1)
    return {monomial: c for monomial, c in terms.items() if c}


def add(counts):
    total = {}
    for count in counts:
        for monomial, c in value(count).items():
            total[monomial] = total.get(monomial, 0) + c
    return {monomial: c for monomial, c in total.items() if c}


def costs(of):
    yield of["forward"]
    yield of["backward"]
    yield of["backward"]["input"]
    yield of["backward"]["weight"]


report = json.load(sys.stdin)
for network in report["networks"]:
    layers = [layer for layer in network["layers"] for _ in layer["names"]]
    assert add(l["parameters"] for l in layers) == value(network["parameters"]["total"])
    for i, cost in enumerate(costs(network)):
        parts = [list(costs(layer))[i] for layer in layers]
        for figure in "matmul", "other", "transcendental":
            assert add(part[figure] for part in parts) == value(cost[figure]), figure
        assert add([cost["matmul"], cost["other"]]) == value(cost["total"])
    backward = network["backward"]
    for figure in "matmul", "other", "transcendental":
        parts = backward["input"][figure], backward["weight"][figure]
        assert add(parts) == value(backward[figure])
for run in report["runs"]:
    operations = run["operations"]
    flop = [deviation["flop"] for deviation in operations["deviations"]]
    assert operations["rule_of_three"] + sum(flop) == operations["model"]["matmul"]
