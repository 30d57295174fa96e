# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir %t && %python %s %t

# What no graph is, is an error that says where.

import copy
import json
import pathlib
import subprocess
import sys

path = pathlib.Path(sys.argv[1]) / "graph.json"
value = {"name": "x", "type": "f32", "shape": ["N", 8]}
node = {"op": "aten.relu", "in": ["x"], "with": {}, "out": [{"name": "r", "type": "f32", "shape": ["N", 8]}], "module": []}
right = {
    "netc_graph": 1, "name": "A", "from": "hand", "inputs": [value], "weights": [], "known": [], "modules": [], "nodes": [node],
    "outputs": [{"name": "y", "value": "r"}],
}  # fmt: skip
failed = []


def wrong(expected, change, end="[graph-wrong]"):
    graph = copy.deepcopy(right)
    change(graph)
    path.write_text(json.dumps(graph))
    done = subprocess.run(["netc", "import", str(path)], capture_output=True, text=True)
    if done.returncode != 1 or f"{'the graph is wrong at ' if end == '[graph-wrong]' else ''}{expected} {end}" not in done.stderr:
        failed.append(f"expected {expected}, got {done.returncode}: {done.stderr}")


path.write_text(json.dumps(right))
done = subprocess.run(["netc", "import", str(path)], check=True, capture_output=True, text=True)
assert done.stdout.endswith("net A(x: f32[N, 8]) {\n  return y = x |> relu\n}\n"), done.stdout

# A text cannot leave the comment that it stands in.
path.write_text(json.dumps({**right, "name": "A\nexpect 1 == 2", "from": "hand\nexpect 1 == 2", "notes": ["Half of it.", "\nexpect 1 == 2"]}))
done = subprocess.run(["netc", "import", str(path)], check=True, capture_output=True, text=True)
head = "# A\\nexpect 1 == 2, from hand\\nexpect 1 == 2.\n# Half of it.\n# \\nexpect 1 == 2\nnet "
assert done.stdout.startswith(head), done.stdout

# An op may have any number of operands.
parts = [{**node, "with": {"other": i}, "op": "aten.mul", "out": [{**value, "name": f"p{i}"}]} for i in range(120)]
joined = {**node, "op": "aten.cat", "in": [f"p{i}" for i in range(120)], "with": {"dim": 1}, "out": [{**value, "name": "r", "shape": ["N", 960]}]}
path.write_text(json.dumps({**right, "nodes": [*parts, joined]}))
done = subprocess.run(["netc", "import", str(path)], check=True, capture_output=True, text=True)
listed = ", ".join(f"x * {i}" for i in range(120))
assert f"concat({listed})" in " ".join(done.stdout.split()), done.stdout

weight = {"name": "w", "type": "f32", "shape": [8]}
wrong("`weights[0].init`: nothing is filled as \"x\"", lambda g: g.update(weights=[{**weight, "init": "x"}]))
wrong("`weights[0].learns`: a value of another type is expected, not 3", lambda g: g.update(weights=[{**weight, "learns": 3}]))
wrong("`known[0].init`: nothing is filled as \"\\\")\"", lambda g: g.update(known=[{**weight, "what": "table", "init": "\")"}]))
wrong("`known[0].value`: it is not there", lambda g: g.update(known=[{**weight, "what": "number"}]))
wrong("`known[0].size`: it is not there", lambda g: g.update(known=[{**weight, "what": "size"}]))
wrong("`nodes`: `w` has the size `T`, and the free axes of the inputs are N", lambda g: g.update(known=[{**weight, "what": "size", "size": "T"}]))
wrong("`known[0].theta`: a value of another type is expected, not \"1\"", lambda g: g.update(known=[{**weight, "what": "table", "theta": "1"}]))
wrong("`known[0].buckets`: a value of another type is expected, not 1.5", lambda g: g.update(known=[{**weight, "what": "table", "buckets": 1.5}]))
kinds = "number, size, range, causal, band, not causal, not band, identity, not identity, cosine, sine, bucket, table"
wrong(f"`known[0].what`: one of {kinds} is expected, not \"tabel\"", lambda g: g.update(known=[{**weight, "what": "tabel"}]))
types = "f64, f32, f16, bf16, i64, i32, i16, i8, u8, bool"
wrong(f"`inputs[0].type`: one of {types} is expected, not \"f31\"", lambda g: g["inputs"][0].update(type="f31"))
wrong(f"`weights[0].type`: one of {types} is expected, not \"\"", lambda g: g.update(weights=[{**weight, "type": ""}]))
wrong("`symbols`: an object is expected, not 3", lambda g: g.update(symbols=3))
wrong("`symbols.N`: an object is expected, not [2]", lambda g: g.update(symbols={"N": [2]}))
wrong("`symbols.N.min`: a value of another type is expected, not 2.5", lambda g: g.update(symbols={"N": {"min": 2.5}}))
wrong("`symbols.N`: no size is from 9 to 2", lambda g: g.update(symbols={"N": {"min": 9, "max": 2}}))
schema = json.loads((pathlib.Path(__file__).parents[2] / "docs" / "graph.schema.json").read_text())
assert types == ", ".join(schema["$defs"]["value"]["properties"]["type"]["enum"])
assert kinds == ", ".join(schema["properties"]["known"]["items"]["properties"]["what"]["enum"])
wrong("`notes[1]`: a text is expected, not 2", lambda g: g.update(notes=["", 2]))
wrong("`netc_graph`: it is 1 in what netc reads", lambda g: g.update(netc_graph=2))
wrong("`outputs`: it is not there", lambda g: g.pop("outputs"))
wrong("`outputs`: there is none", lambda g: g.update(outputs=[]))
wrong("`outputs[0].name`: a text is expected, not 3", lambda g: g["outputs"][0].update(name=3))
wrong("`nodes`: a list is expected, not {}", lambda g: g.update(nodes={}))
wrong("`nodes[0]`: an object is expected, not 7", lambda g: g.update(nodes=[7]))
wrong("`nodes[0].in[0]`: nothing before it is called `z`", lambda g: g["nodes"][0].update({"in": ["z"]}))
wrong("`nodes[0].in[0]`: a name or null is expected, not 1", lambda g: g["nodes"][0].update({"in": [1]}))
wrong("`nodes[0].with`: an object is expected", lambda g: g["nodes"][0].update({"with": []}))
wrong("`nodes[0].out`: a node makes something", lambda g: g["nodes"][0].update(out=[]))
wrong("`nodes[0].out[0]`: `x` is there twice", lambda g: g["nodes"][0].update(out=[value]))
wrong("`nodes[0].module[0]`: the place of a module in `modules` is expected, not 0", lambda g: g["nodes"][0].update(module=[0]))
for size in -1, 2.5, "T +", "T / 2 2", 2**50:
    shown = json.dumps(size)
    wrong(
        "`inputs[0].shape[0]`: a size is a whole number up to 2^40, or a polynomial such as `2*T`, not " + shown,
        lambda g, size=size: g["inputs"][0].update(shape=[size, 8]),
    )
wrong("`inputs[0]`: a tensor has 64 axes at most", lambda g: g["inputs"][0].update(shape=[1] * 65))


# What the graph says of shapes is what netc makes of the ops.
contradicts = lambda expected, change: wrong(expected, change, "[graph-contradiction]")
free = "`r` has the size `M`, and the free axes of the inputs are N"
wrong(f"`nodes`: {free}", lambda g: g["nodes"][0]["out"][0].update(shape=["M", 8]))
wrong("`nodes`: `x` has the size `2*N`, and no axis of an input is free", lambda g: g["inputs"][0].update(shape=["2*N", 8]))
contradicts(
    "`aten.relu`, in the module itself (a.py:3): `r` is [N, 9] in the graph, and would be [N, 8] for what goes in",
    lambda g: (g["nodes"][0].update(line="a.py:3"), g["nodes"][0]["out"][0].update(shape=["N", 9])),
)

contradicts(
    "`aten.select`, in the module itself: its result has 1 axes, and the graph says 2",
    lambda g: g["nodes"][0].update({"op": "aten.select", "with": {"dim": 1, "index": 0}}),
)
contradicts(
    "`aten.upsample_nearest1d`, in the module itself: its operands or its results have too few axes",
    lambda g: (g["inputs"][0].update(shape=["N", 8, 8]), g["nodes"][0].update(op="aten.upsample_nearest1d"), g["nodes"][0]["out"][0].update(shape=[])),
)


wrong(
    "in the module itself: `e` is [N, -T + 6], and an axis of what goes in is a number, or free by itself; `axes` of `from_torch` can fix it",
    lambda g: g["inputs"].extend({"name": name, "type": "f32", "shape": ["N", size]} for name, size in (("e", "6 - T"), ("f", "T"))) or g["outputs"].append({"name": "e", "value": "e"}),
    "[graph-refused-module]",
)
wrong("in the module itself: `r` is used before it is there", lambda g: g["nodes"][0].update({"op": "aten.empty_like", "in": []}), "[graph-refused-module]")


def apply(op, weights, out, **arguments):
    """The node in place of the ReLU, which reads weights, too."""

    def change(graph):
        graph["weights"] = [{"name": f"w{i}", "type": "f32", "shape": shape} for i, shape in enumerate(weights)]
        graph["nodes"][0].update({"op": op, "in": ["x", *(f"w{i}" for i in range(len(weights)))], "with": arguments})
        graph["nodes"][0]["out"][0]["shape"] = out

    return change


apply("aten.linear", [[4, 8], [4]], ["N", 4])(right)
path.write_text(json.dumps(right))
subprocess.run(["netc", "import", str(path)], check=True, capture_output=True)
of = "`aten.linear`, in the module itself: "
contradicts(
    of + "its weights are [4, 7], [4] in the graph, and would be [4, 8], [4] for what goes in and comes out",
    apply("aten.linear", [[4, 7], [4]], ["N", 4]),
)
contradicts(
    of + "its weights are [4, 8], [5] in the graph, and would be [4, 8], [4] for what goes in and comes out",
    apply("aten.linear", [[4, 8], [5]], ["N", 4]),
)
contradicts(of + "`r` is [N, 5] in the graph, and would be [N, 4] for what goes in", apply("aten.linear", [[4, 8], [4]], ["N", 5]))
contradicts(
    "`aten.layer_norm`, in the module itself: its weights are [7], [8] in the graph, and would be [8], [8] for what goes in and comes out",
    apply("aten.layer_norm", [[7], [8]], ["N", 8], normalized_shape=[8]),
)
contradicts(
    "`aten.matmul`, in the module itself: it does not go with its operands: `@` sums over the last axis of the left side and the last but one of the right: 8 of [N, 8] and 7 of [7, 4]",
    apply("aten.matmul", [[7, 4]], ["N", 4]),
)


opaque = "; with `--opaque={}` it is a part whose cost is not known"
refused = lambda expected, op, **given: wrong(of.replace("aten.linear", op) + expected + opaque.format(op), lambda g: g["nodes"][0].update({"op": op, "in": ["x"], "with": given}), "[graph-refused-op]")
refused("it has no setting `negative_slop`; did you mean `negative_slope`?", "aten.leaky_relu", negative_slop=0.1)
refused("it has no setting `trainn`; did you mean `train`?", "aten.dropout", p=0.1, trainn=False)
refused("it has no setting `rounding_mode`", "aten.div", other=2, rounding_mode="floor")
body = {"inputs": [], "nodes": [], "outputs": []}
wrong(of + "it has no body" + opaque.format("aten.linear"), lambda g: g["nodes"][0].update(body=body), "[graph-refused-op]")


def itself(graph):
    graph["modules"] = [{"path": "a", "class": "A"}, {"path": "b", "class": "B"}]
    graph["nodes"] = [{**node, "module": [0, 1]}, {**node, "out": [{**node["out"][0], "name": "s"}], "module": [1]}]


wrong("`nodes[1].module[0]`: a module is in one other", itself)

print(*failed, sep="\n")
sys.exit(len(failed) > 0)
