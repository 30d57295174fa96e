# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %S/../Execution/Inputs/random_networks.py 1 0 40 %t

# What must hold between the reports of random networks and of the same ones with one change.

import json
import pathlib
import re
import subprocess
import sys

generator, seed, first, end, folder = sys.argv[1:]
PHASES = ("forward", "backward")


def with_twice_the_batch(text):
    return re.sub(r"batch = (\d+)", lambda found: f"batch = {2 * int(found[1])}", text)


def with_twice_the_steps(text):
    return text.replace("duration = 10 steps", "duration = 20 steps")


def in_a_block(text):
    """The layers of the net as a block, which the net applies."""
    head, body, rest = re.fullmatch(r"(.*?net Random\()(.*?\n)(}\n.*)", text, re.S).groups()
    given, body = body.split(") {\n", 1)
    pattern = re.sub(r" = \d+", "", re.sub(r"\w+\[", "[", given, count=1))
    statements, _, result = body.rpartition("  return ")
    name, value = result.strip().split(" = ")
    block = f"block Body({pattern}) {{\n{statements}  return {value}\n}}\n"
    return head.replace("net Random(", f"{block}net Random({given}) {{\n  return {name} = x |> Body\n") + rest


CHANGES = {"batch": with_twice_the_batch, "steps": with_twice_the_steps, "block": in_a_block, "format": str}


def reports_of(paths):
    report = json.loads(subprocess.run(["netc", "--format=json", *paths], check=True, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL).stdout)  # fmt: skip
    return list(zip(report["networks"], report["runs"]))


def check(text, base, changed):
    net, run = base
    for phase in PHASES:
        assert sum(layer[phase]["total"] * len(layer["places"]) for layer in net["layers"]) == net[phase]["total"]
    assert changed["format"] == base

    batch_net, batch_run = changed["batch"]
    assert batch_net == net
    for phase in PHASES:
        assert batch_run["step"][phase]["matmul"] == 2 * run["step"][phase]["matmul"]
    # Twice the examples look up other rows.
    if "sparse" not in text:
        assert batch_run["step"]["optimizer"] == run["step"]["optimizer"]

    steps_net, steps_run = changed["steps"]
    assert steps_net == net
    assert (steps_run["step"], steps_run["memory_per_device"]) == (run["step"], run["memory_per_device"])
    for kind, count in run["operations"]["model"].items():
        assert steps_run["operations"]["model"][kind] == 2 * count

    block_net, block_run = changed["block"]
    assert [block_net[key] for key in ("parameters", *PHASES)] == [net[key] for key in ("parameters", *PHASES)]
    assert (block_run["step"], block_run["memory_per_device"]) == (run["step"], run["memory_per_device"])


written = subprocess.run([sys.executable, generator, seed, first, end, folder], check=True, stdout=subprocess.PIPE, text=True)
paths = list(map(pathlib.Path, written.stdout.split()))
changed_paths = {}
for change, edit in CHANGES.items():
    changed_paths[change] = [path.with_suffix(f".{change}.net") for path in paths]
    for path, changed in zip(paths, changed_paths[change]):
        changed.write_text(edit(path.read_text()))
subprocess.run(["netc", "fmt", *changed_paths["format"]], check=True, stdout=subprocess.DEVNULL)
bases = reports_of(paths)
reports = {change: reports_of(changed) for change, changed in changed_paths.items()}
for number, (path, base) in enumerate(zip(paths, bases)):
    try:
        check(path.read_text(), base, {change: reports[change][number] for change in CHANGES})
    except AssertionError:
        print(path, file=sys.stderr)
        raise
