# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %source_dir/python/generate_report.py %source_dir/docs/report.schema.json | diff %source_dir/python/netc/report.py -
# RUN: %python %source_dir/python/generate_report.py %source_dir/docs/utilization.schema.json | diff %source_dir/python/netc/measurement.py -
# RUN: env PYTHONPATH=%source_dir/python %python %s %source_dir

# The classes are those of the schema, and hold all that a report has; errors say where they are.

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

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


assert netc.__version__ == subprocess.run(["netc", "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
# A list of values is a sweep.
sweep = netc.estimate(examples / "lenet300.net", set={"run.batch": [50, 100]})
assert re.search(r"^batch = 50 +24,000 +", repr(sweep), re.M), repr(sweep)
points = sweep.runs[0].sweep
assert points == netc.estimate(examples / "lenet300.net", set={"run.batch": range(50, 101, 50)}).runs[0].sweep
assert [point.values for point in points] == [{"batch": "50"}, {"batch": "100"}] and points[0].steps == 2 * points[1].steps, points

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
# If only an `expect` fails, the exception has what the call returns otherwise.
wrong = small.replace("Linear(2)", "Linear(3)") + "expect A.params == 18\n"
for call, text in (lambda: netc.compare(small, wrong), "⇒ 27"), (lambda: netc.estimate(wrong), "27"):
    try:
        call()
        raise AssertionError("an expect fails")
    except netc.NetcError as problem:
        assert (problem.id, problem.line) == ("expect-failed", 4) and text in str(problem.result) and "`result` of this exception" in str(problem), problem
try:
    netc.check(wrong)
    raise AssertionError("an expect fails")
except netc.NetcError as problem:
    assert problem.result is None, problem
netc.check(small)
netc.check(small + "# is long\n" * 500_000)
run = small + """dataset Points { examples = 64; label = class(2) }
train A on Points as run { loss = cross_entropy(y, label); batch = 16; duration = 1 epoch; optimizer = SGD(lr = 0.1) }
"""
measured = netc.measure(run, seconds=0.01, set={"run.batch": 2})
assert isinstance(measured, netc.Measurement) and measured.machine["cores"] >= 1
(batch,) = measured.runs[0].batches
assert batch.batch == 2 and batch.step.median > 0 and batch.parts[0].path == ""
first, second = repr(measured).splitlines()
assert first.startswith("run  batch  seconds of a step") and second.split()[:3] == ["run", "2", f"{batch.step.median:.4g}"], (first, second)
assert measured._repr_html_().count("<tr>") == 2
# Of points, some of which lack memory, the others are measured.
try:
    netc.measure(run, seconds=0.01, set={"run.batch": [2, 10**12]})
    raise AssertionError("it does not fit")
except netc.NetcError as problem:
    (lack,) = problem.result.misfits
    assert lack.batch == 10**12 and lack.needed > lack.available and problem.result.runs[0].batches[0].batch == 2, problem.result
    assert [line.split()[0] for line in repr(problem.result).splitlines() if line] == ["run", "run", "lacks", "run"], problem.result
for call in netc.check, netc.estimate:
    try:
        call(small.replace("Linear", "Liner"))
        raise AssertionError("it is wrong")
    except netc.NetcError as problem:
        assert (problem.file, problem.line, problem.column, problem.id) == (None, 2, 19, "unknown-name") and problem.result is None, problem
        assert str(problem).startswith("line 2, column 19: error: unknown name `Liner`") and str(problem).endswith("\n    return y = x |> Liner(2)\n                    ^"), problem
try:
    netc.from_graph({"netc_graph": 2})
    raise AssertionError("it is wrong")
except netc.ImportRefused as problem:
    assert problem.id == "graph-wrong" and str(problem).startswith("error: "), problem
value = {"name": "x", "type": "f32", "shape": [8]}
node = {"op": "aten.fft", "in": ["x"], "with": {}, "out": [{**value, "name": "y"}], "module": []}
fft = {"netc_graph": 1, "name": "Fft", "from": "a test", "inputs": [value], "weights": [], "known": [], "modules": [], "nodes": [node], "outputs": [{"name": "y", "value": "y"}]}
try:
    netc.from_graph(fft)
    raise AssertionError("it is not known")
except netc.ImportRefused as problem:
    assert problem.id == "graph-unknown-op" and '`opaque=["aten.fft"]`' in problem.message, problem
assert netc.estimate(netc.from_graph(fft, opaque=["aten.fft"])).networks[0].forward.matmul != 0
assert netc.from_graph(fft, opaque="aten.fft") == netc.from_graph(fft, opaque=["aten.fft"])
# A net that has the name of an op in it gets another one.
tanh = {**fft, "name": "tanh", "nodes": [{**node, "op": "aten.tanh"}]}
assert netc.estimate(netc.from_graph(tanh)).networks[0].name == "tanhNet"
# A graph comes back as the same network; what has no form in it is refused.
graph = netc.to_graph(small)
assert graph["weights"] and netc.estimate(netc.from_graph(graph)).networks[0].parameters.total == 18
try:
    netc.to_graph("net Search(x: f32[N, 8]) {\n  return y = opaque(x)\n}\n")
    raise AssertionError("it has no form")
except netc.ExportRefused as problem:
    assert "opaque" in str(problem), problem


def with_program(program):
    """Estimates with another program in the place of netc: a path, or the text of a script."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "script"
        if program.startswith("#!"):
            path.write_text(program)
            path.chmod(0o755)
        own = os.environ.get("NETC")
        os.environ["NETC"] = str(path) if path.exists() else program
        try:
            netc.estimate(small)
        finally:
            del os.environ["NETC"]
            if own:
                os.environ["NETC"] = own


netc_like = '#!/bin/sh\n[ "$1" = --version ] && echo netc 0.1.0 && exit\n'
for call, text in (
    (lambda: netc.from_graph({}), "a graph is a dictionary with `netc_graph`"),
    (lambda: netc.estimate("model.onnx"), "`model.onnx` is a model, and no specification; `netc.from_onnx` writes that of it"),
    (lambda: netc.estimate("model.pt"), "`model.pt` is neither the text of a specification nor a path that ends with `.net`"),
    (lambda: netc.estimate(small, set={"batch": 3}), 'error: `set` says of which run or net, as in `set={"run.batch": 64}`'),
    (lambda: netc.estimate(small, set={"A.x": 3}), "error: `A` has no setting or free axis `x`"),
    (lambda: netc.estimate(small, define={"m": 3}), "error: `define` replaces a top-level constant, and there is no `m`"),
    (lambda: netc.estimate(small, set="run.batch=3"), "`set` is a dictionary, such as `{'run.batch': 64}`, not 'run.batch=3'"),
    (lambda: netc.estimate(small, set={"run.batch": None}), "`run.batch` is given None, which is no number, text or truth value"),
    (lambda: netc.estimate(small, set={"run.batch": float("nan")}), "`run.batch` is given nan, which is no number of the language"),
    (lambda: netc.estimate(small, set={"run.batch": 10**5000}), "`run.batch` is given a number of too many digits"),
    (lambda: netc.estimate(small, set={5: 5}), "`set` names values by texts, as in `{'run.batch': 64}`, not by 5"),
    (lambda: netc.estimate("net A\ud800(x)\n"), "in which nothing is '\\ud800', its character 5"),
    (lambda: netc.estimate("net A\0(x)\n"), "cannot read the text: it is no text"),
    (lambda: netc.estimate(""), "the specification is empty"),
    (lambda: netc.check(" \n"), "the specification is empty"),
    (lambda: netc.from_config("-x.json"), "./-x.json:1:1: error: cannot be read: No such file or directory"),
    (lambda: netc.from_graph(fft, opaque=3), "`opaque` is a list of names of ops, such as `['aten.erfinv']`, not 3"),
    (lambda: netc.estimate(small.replace("y = x |> Linear(2)", "y = x |> repeat 10_000_000 { Linear(8) }")), "; the program `netc` allows more, with the option --max-ops"),
    (lambda: netc.measure(run, batch=0), "error: `batch` takes sizes from 1 on"),
    (lambda: netc.measure(run, batch=[1, 0]), "error: `batch` takes sizes from 1 on"),
    (lambda: netc.measure(run, seconds=-1), "error: `seconds` takes a positive number, not `-1.00`"),
    (lambda: netc.to_graph(small + small.replace("net A", "net B")), "error: `to_graph` writes one network, and here are A, B; name one by `net`, or an inference by `run`"),
    (lambda: netc.to_graph(run, run="run"), 'error: `run` trains; `net="A"` is the network of it'),
    (lambda: netc.compare("bad\n", small), "the first text, line 1, column 1: error: "),
    (lambda: netc.compare(small, " \n"), "the second text is empty"),
    (lambda: netc.compare(small, "bad\n"), "the second text, line 1, column 1: error: "),
    (lambda: netc.check(small, define={"a\0": 1}), "cannot run `"),
    (lambda: netc.from_graph({"netc_graph": 1, "name": {1}}), "the graph is not JSON: "),
    (lambda: with_program("/nowhere/netc"), "cannot run `/nowhere/netc`: No such file or directory"),
    (lambda: with_program("/"), "cannot run `/`: Permission denied"),
    (lambda: with_program("#!/bin/sh"), " is not the program netc: it does not print a version of it"),
    (lambda: with_program(netc_like + "echo hello"), "does not print JSON; is it netc, of the version of this package?"),
    (lambda: with_program(netc_like + "echo [1]"), "does not print a report of the version of this package"),
    (lambda: with_program(netc_like + "echo 3 >&2; echo {} >&2; exit 1"), "3\n{}"),
    (lambda: with_program(netc_like + "exit 5"), "failed with the status 5"),
    (lambda: with_program(netc_like + "kill -9 $$"), "was ended by SIGKILL"),
):
    try:
        call()
        raise AssertionError(f"{text}: it is right")
    except netc.NetcError as problem:
        assert text in str(problem) and "/spec.net" not in str(problem) and "<command line>" not in str(problem) and "`--" not in str(problem), problem
# A path is no option.
with tempfile.TemporaryDirectory() as folder:
    here = os.getcwd()
    os.chdir(folder)
    pathlib.Path("-x.net").write_text(small)
    assert netc.estimate("-x.net") == netc.estimate(pathlib.Path("-x.net")) == report
    os.chdir(here)
try:
    netc.estimate(examples / "nowhere.net")
    raise AssertionError("it is not there")
except netc.NetcError as problem:
    assert str(problem).startswith("error: cannot read"), problem
try:
    netc.estimate(report)
    raise AssertionError("it is no specification")
except TypeError as problem:
    assert str(problem) == "a specification is text or a path, not a Report; `netc.from_torch` writes that of a module", problem
