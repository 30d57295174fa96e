# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Checks what viewers of traces rely on: events are complete and in order, and each ends within the range that it begins in.
# Prints each op with the ranges around it. What is predicted takes time; what is `measured` may be over before a clock goes on.

import json
import sys
from fractions import Fraction

trace = json.load(sys.stdin, parse_float=Fraction, parse_int=Fraction)
around, last = [], 0
shortest = Fraction(0) if "measured" in sys.argv else Fraction(1, 1000)
for event in trace["traceEvents"]:
    assert event["ph"] == "X" and event["pid"] == event["tid"] == 1, event
    start, end = event["ts"], event["ts"] + event["dur"]
    assert last <= start <= end - shortest and (1000 * start).denominator == (1000 * end).denominator == 1, event
    while around and around[-1]["end"] <= start:
        around.pop()
    assert not around or end <= around[-1]["end"], (around, event)
    if event["cat"] == "user_annotation":
        around.append({"name": event["name"], "end": end})
    else:
        phase, flop, name = event["args"]["Concrete Inputs"]
        ranges = [each["name"] for each in around]
        assert event["cat"] == "cpu_op" and ranges[2:] == name.split(".")[:-1], event
        print(" > ".join([*ranges, event["name"]]), phase, flop, f"{float(event['dur']):g} us")
    last = start
assert around[0]["end"] == end
