# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Exact costs of neural networks and their training runs.

    import netc
    report = netc.estimate("gpt2.net")
    report.networks[0].parameters.total

It runs the program `netc`, which the environment variable `NETC` names, else one on the path.
"""

from .command import check, compare, estimate, from_config, measure
from .errors import ImportRefused, NetcError, Problem
from .report import Report


__all__ = [
    "ImportRefused",
    "NetcError",
    "Problem",
    "Report",
    "check",
    "compare",
    "estimate",
    "from_config",
    "measure",
]
