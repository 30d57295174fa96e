# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""accuracy.py < REPORT.json prints the accuracy that the mean cross-entropy of each batch proves.

A class that is not the most probable one has a probability of 1/2 at most. So each wrong answer costs ln 2 or more,
none costs less than nothing, and no more than loss / ln 2 of all answers are wrong.
"""

import json
import math
import sys

losses = json.load(sys.stdin)["losses"]
wrong = sum(losses) / len(losses) / math.log(2)
print(f"at least {max(0, 1 - wrong):.2%} are right")
