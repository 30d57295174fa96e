# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Checks that the figures of `netc --measure --format=json` on stdin follow from each other, as
# docs/Measuring.md defines them.

import json
import sys


def check(name, found, expected):
    assert abs(found - expected) <= 1e-5 * abs(expected), f"{name}: {found}, not {expected}"


def total(ops, member, phases):
    return sum(op[member] for op in ops if op["phase"] in phases)


def seconds(ops, phases):
    return sum(op["seconds"]["total"] for op in ops if op["phase"] in phases)


report = json.load(sys.stdin)
peak = report["machine"]["peak"]
bandwidth = report["machine"]["bandwidth"]
caches = sorted(report["machine"]["caches"].items())


def level_of(count):
    """The smallest level that holds so many bytes, and its bandwidth."""
    for name, cache in caches:
        if cache["bandwidth"] and count <= cache["bytes"]:
            return name, cache["bandwidth"]
    return "memory", bandwidth


for run in report["runs"]:
    ones = [batch for batch in run["batches"] if batch["batch"] == 1]
    for batch in run["batches"]:
        ops, step = batch["ops"], batch["step"]["median"]
        passes = ("forward", "input", "weight")
        forward = total(ops, "matmul", ("forward",))
        backward = total(ops, "matmul", ("input", "weight"))
        low, high = batch["step"]["low"], batch["step"]["high"]
        if batch["steps"] - batch["warmup"] < 6:
            assert low is None and high is None, batch["step"]
        else:
            assert low <= step <= high, batch["step"]
        assert batch["wall"] >= step
        check("examples/s", batch["examples_per_second"], batch["batch"] / step)

        methods = batch["methods"]
        for name, flop, time in (
            ("theory", 3 * forward, step),
            ("batch", forward + backward, seconds(ops, passes)),
            ("epoch", batch["steps"] * (forward + backward), batch["wall"]),
        ):
            assert methods[name]["flop"] == flop, (name, methods[name], flop)
            check(name, methods[name]["seconds"], time)
            check(name, methods[name]["of_measured"], flop / time / peak["measured"])
            check(name, methods[name]["of_datasheet"], flop / time / peak["datasheet"])
        assert methods["one"] == (ones[0]["methods"]["batch"] if ones else None)
        # `flop.hardware` of the program itself.
        assert batch["all"]["flop"] == sum(op["matmul"] + op["other"] for op in ops)
        check("flop ratio", batch["backward_over_forward"]["flop"], backward / forward)
        assert batch["model"]["flop"] == batch["hardware"]["flop"] == forward + backward

        phases = {op["phase"] for op in ops}
        assert abs(batch["outside_of_ops"] - (1 - seconds(ops, phases) / step)) <= 1e-5, batch

        for op in ops:
            flop = op["matmul"] + op["other"]
            if op["calls"] and op["seconds"]["total"]:
                level, rate = level_of(op["bytes"] // op["calls"])
                compute, moving = flop / peak["measured"], op["bytes"] / rate
                check(op["name"], op["roof_seconds"], max(compute, moving))
                check(op["name"], op["of_roof"], max(compute, moving) / op["seconds"]["total"])
                if op["bytes"]:
                    assert op["bound"] == (level if moving > compute else "compute"), op
            if op["calls"] and op["bytes"]:
                check(op["name"], op["intensity"], flop / op["bytes"])
        for row in ops + batch["parts"]:
            assert (row["why_above"] is not None) == ((row["of_roof"] or 0) > 1), row
        for part in batch["parts"]:
            path = part["path"]
            inside = [
                op for op in ops if not path or op["name"] == path or op["name"].startswith(path + ".")
            ]
            for member in ("matmul", "other", "bytes"):
                assert part[member] == sum(op[member] for op in inside), part
            check(path, part["seconds"]["total"], sum(op["seconds"]["total"] for op in inside))
        assert batch["memory"]["arena"] <= batch["memory"]["buffers"]
