# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %source_dir/python/generate_report.py %source_dir/docs/report.schema.json | diff %source_dir/python/netc/report.py -
# RUN: env PYTHONPATH=%source_dir/python %python %s %source_dir

# The classes are those of the schema, and hold all that a report has; errors say where they are.

import dataclasses
import json
import pathlib
import re
import subprocess
import sys

import netc

examples = pathlib.Path(sys.argv[1]) / "examples"


def plain(value):
    """A report as its JSON, without members that are left out."""
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return {key: plain(each) for key, each in value.items()} if isinstance(value, dict) else value


def same(json_value, own):
    """Own values have None where a member is left out."""
    if isinstance(json_value, dict):
        assert set(json_value) <= set(own) and all(own[key] is None for key in set(own) - set(json_value)), (set(json_value) ^ set(own))
        for key, each in json_value.items():
            same(each, own[key])
    elif isinstance(json_value, list):
        assert len(json_value) == len(own)
        for a, b in zip(json_value, own):
            same(a, b)
    else:
        assert json_value == own, (json_value, own)


for name in "lenet300.net", "gan.net", "mfu.net":
    text = subprocess.run(["netc", "--format=json", examples / name], check=True, capture_output=True, text=True).stdout
    same(json.loads(text), plain(netc.estimate(examples / name)))

small = "net A(x: f32[N, 8]) {\n  return y = x |> Linear(2)\n}\n"
report = netc.estimate(small)
assert report.networks[0].parameters.total == 18
assert "<td style='text-align:right'>18</td>" in report._repr_html_()
assert re.search(r"^A +18 ", repr(report), re.M), repr(report)
assert netc.estimate(small.replace("Linear(2)", "Linear(n)").replace("8]", "8]; n = 2"), set={"A.n": 3}).networks[0].parameters.total == 27
assert "27" in netc.compare(small, small.replace("Linear(2)", "Linear(3)"))
netc.check(small)
for call in netc.check, netc.estimate:
    try:
        call(small.replace("Linear", "Liner"))
        raise AssertionError("it is wrong")
    except netc.NetcError as problem:
        assert (problem.line, problem.column, problem.id) == (2, 19, "unknown-name"), problem
try:
    netc.from_graph({"netc_graph": 2})
    raise AssertionError("it is wrong")
except netc.ImportRefused as problem:
    assert problem.id == "graph-wrong", problem
