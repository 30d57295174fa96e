# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir %t && %python %s %t

# What a loop over a list of modules did becomes a block and a `repeat`, if its iterations differ in their weights alone, and each
# takes one result of the one before.

import json
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])


def value(name, *shape):
    return {"name": name, "type": "f32", "shape": list(shape)}


class Graph:
    """The graph of a model that is called `name`, and takes `x` and `m`."""

    def __init__(self, name, axis="N"):
        self.shape, self.reads, self.modules, self.weights, self.nodes, self.outputs = [axis, 8], "x", [], [], [], []
        self.name = name

    def call(self, path, kind):
        if path not in [each["path"] for each in self.modules]:
            self.modules.append({"path": path, "class": kind})

    def add(self, op, *reads, path="", **settings):
        """Adds an op of the modules that the path is in; `self.reads` is its result."""
        chain = [i for i, each in enumerate(self.modules) if f"{path}.".startswith(f"{each['path']}.")]
        self.reads = f"v{len(self.nodes)}"
        self.nodes.append({"op": f"aten.{op}", "in": list(reads), "with": settings, "out": [value(self.reads, *self.shape)], "module": chain})
        return self.reads

    def linear(self, path, x=None, weight=None):
        self.call(path, "Linear")
        weight = weight or f"{path}.weight"
        if weight not in [each["name"] for each in self.weights]:
            self.weights.append({**value(weight, 8, 8), "learns": True})
        return self.add("linear", x or self.reads, weight, None, path=path)

    def imported(self):
        inputs = [value("x", *self.shape), value("m", *self.shape)]
        outputs = [{"name": f"r{i}", "value": each} for i, each in enumerate([*self.outputs, self.reads])]
        graph = {"netc_graph": 1, "name": self.name, "from": "hand", "inputs": inputs, "weights": self.weights, "known": [], "modules": self.modules}
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps({**graph, "nodes": self.nodes, "outputs": outputs}))
        return subprocess.run(["netc", "import", path], capture_output=True, text=True)

    def check(self, *lines, without=()):
        """`lines`: of the specification, in their order."""
        done = self.imported()
        at = -1
        for line in lines:
            at = f"\n{done.stdout}".find(f"\n{line}\n", at + 1)
            assert at >= 0, f"{self.name}: no `{line}` in {done.stdout}{done.stderr}"
        assert not any(each in done.stdout for each in without), done.stdout
        assert "come apart" not in done.stdout, done.stdout
        (folder / f"{self.name}.net").write_text(done.stdout)
        params = json.loads(subprocess.run(["netc", "--format=json", folder / f"{self.name}.net"], capture_output=True, text=True).stdout)
        assert params["networks"][0]["parameters"]["total"] == 64 * len(self.weights), done.stdout


residual = Graph("Residual")
for i in range(4):
    x = residual.reads
    residual.add("add", x, residual.linear(f"layers.{i}"))
residual.check("block Layer(x) {", "  linear = Linear(8, bias = false)", "  return x + (x |> linear)", "  layers = repeat 4 { Layer }", "  return r0 = x |> layers")

# A round of two lists' elements in one element, and a value from outside that all read.
several = Graph("Several")
for i in range(3):
    x = several.reads
    x = several.add("mul", several.linear(f"net.stages.{i}.0"), "m")
    several.linear(f"net.stages.{i}.1")
several.check("block Stage(x, z) {", "  stages = repeat 3 { Stage(z = m) }", "  return r0 = x |> stages")

# A loop over two lists, and one over a list in that.
parallel = Graph("Parallel")
for i in range(3):
    x = parallel.reads
    parallel.add("add", x, parallel.linear(f"norms.{i}", parallel.linear(f"convs.{i}")))
parallel.check("block ConvBlock(x) {", "  norms = Linear(8, bias = false)", "  return x + (x |> linear |> norms)", "  convs = repeat 3 { ConvBlock }")
nested = Graph("Nested")
for i in range(3):
    for j in range(4):
        x = nested.reads
        nested.add("add", x, nested.linear(f"stages.{i}.{j}"))
    nested.add("relu", nested.linear(f"down.{i}"))
nested.check("block Stage(x) {", "block StageDown(x) {", "  layers = repeat 4 { Stage }", "  down = Linear(8, bias = false)", "  stages = repeat 3 { StageDown }")

# The value that is carried is not the first that the block reads.
second = Graph("Second")
for i in range(3):
    x = second.reads
    second.add("sub", second.linear(f"layers.{i}", "m"), x)
second.check("block Layer(x, z) {", "  layers = repeat 3 { Layer(x = m) }", "  return r0 = x |> layers")

# The loop ends where something else reads what an iteration made.
read = Graph("Read")
for i in range(6):
    x = read.reads
    read.add("add", x, read.linear(f"layers.{i}"))
    if i == 3:
        read.outputs.append(read.reads)
read.check("  layers = repeat 4 { Layer }", "  layers_4 = Linear(8, bias = false)", "  layers_5 = Linear(8, bias = false)")

# Two iterations are few, those that share a weight are none, nor are those that differ in a number, or read two results.
two, tied, other, both = Graph("Two"), Graph("Tied"), Graph("Other"), Graph("Both")
for i in range(4):
    x = two.reads
    if i < 2:
        two.add("add", x, two.linear(f"layers.{i}"))
    tied.linear(f"layers.{i}.0")
    tied.linear(f"layers.{i}.1", weight="layers.0.1.weight")
    other.add("leaky_relu", other.linear(f"layers.{i}"), negative_slope=0.1 * (i + 1))
    x = both.reads
    both.add("mul", both.add("add", x, both.linear(f"layers.{i}")), both.nodes[-4]["out"][0]["name"] if i else "m")
for graph in two, tied, other, both:
    graph.check(without=["repeat"])

# Calls of one class that are named by numbers, `layer_0`; groups of three and more in one container.
named = Graph("Named")
for i in range(3):
    named.call(f"layer_{i}", "Mixer")
    for part in "ab":
        x = named.reads
        named.add("add", x, named.linear(f"layer_{i}.{part}"), path=f"layer_{i}")
named.check("block Mixer(x) {", "  layer = repeat 3 { Mixer }", "  return r0 = x |> layer")
groups = Graph("Groups")
for i in range(3):
    for j, op in enumerate(("relu", "tanh")):
        groups.linear(f"net.{4 * i + 2 * j}")
        groups.call(f"net.{4 * i + 2 * j + 1}", "Act")
        groups.add(op, groups.reads, path=f"net.{4 * i + 2 * j + 1}")
groups.check("  net_ = repeat 3 { Linear(8, bias = false) |> relu |> Linear(8, bias = false) |> tanh }")

# A block may not have the name of an axis.
axis = Graph("Axis", axis="Layer")
for i in range(3):
    x = axis.reads
    axis.add("add", x, axis.linear(f"layers.{i}"))
axis.check("block Layer2(x) {", "  layers = repeat 3 { Layer2 }")
taken = Graph("Taken", axis="relu")
taken.add("relu", "x")
assert "`relu` is a function of the language and cannot name an axis; choose another name" in taken.imported().stderr
