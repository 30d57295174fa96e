# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir %t && %python %s %t

# A weight that is used in several ways is there once, and each use computes what the graph says.

import json
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
failed = []


def counts(weights, nodes, *, inputs=None, known=(), modules=()):
    """The text, parameters, and FLOP of products of a net; `nodes`: (op, reads, shape, arguments, modules), the results are `v0`, `v1`, .."""
    made = [
        {"op": op, "in": reads, "with": dict(given), "out": [{"name": f"v{i}", "type": "f32", "shape": shape}], "module": sum(chain, [])}
        for i, (op, reads, shape, given, *chain) in enumerate(nodes)
    ]
    entries = [{"name": name, "type": "i64" if name == "ids" else "f32", "shape": shape} for name, shape in (inputs or {"x": ["N", 32]}).items()]
    held = [{"name": name, "type": "f32", "shape": shape} for name, shape in weights.items()]
    graph = {"netc_graph": 1, "name": "A", "from": "hand", "inputs": entries, "weights": held, "known": list(known), "modules": list(modules), "nodes": made}
    path = folder / "graph.json"
    path.write_text(json.dumps({**graph, "outputs": [{"name": "y", "value": f"v{len(nodes) - 1}"}]}))
    text = subprocess.run(["netc", "import", path], check=True, capture_output=True, text=True).stdout
    (folder / "graph.net").write_text(text)
    report = subprocess.run(["netc", "--format=json", folder / "graph.net"], capture_output=True, text=True)
    assert report.returncode == 0, report.stderr + text
    network = json.loads(report.stdout)["networks"][0]
    return text, network["parameters"]["total"], network["forward"]["matmul"]


def expect(parameters, forward, weights, nodes, **rest):
    text, *found = counts(weights, nodes, **rest)
    if found != [parameters, forward]:
        failed.append(f"expected {parameters} and {forward}, got {found} of\n{text}")


rows = ["N", 32]

# A decoder by the transposed matrix of its encoder.
expect(
    8 * 32 + 8 + 32, 4 * 8 * 32, {"w": [8, 32], "a": [8], "b": [32]},
    [("aten.linear", ["x", "w", "a"], ["N", 8], {}), ("aten.t", ["w"], [32, 8], {}), ("aten.linear", ["v0", "v1", "b"], rows, {})],
)  # fmt: skip
expect(8 * 32, 4 * 8 * 32, {"w": [8, 32]}, [("aten.linear", ["x", "w"], ["N", 8], {}), ("aten.matmul", ["v0", "w"], rows, {})])

# The same square matrix, which shapes do not tell from its transpose.
text, *found = counts({"w": [32, 32]}, [("onnx.Gemm", ["x", "w"], rows, {"transB": False}), ("onnx.Gemm", ["v0", "w"], rows, {"transB": True})])
assert found == [32 * 32, 4 * 32 * 32] and "y = (x @ w) @ transpose(w)" in text, text

# One matrix with two shifts, and one shift of two matrices.
two = [("aten.linear", ["x", "v", "a"], rows, {}), ("aten.linear", ["v0", "w", "b"], rows, {})]
as_one = lambda this: [(op, ["w" if name == "v" else name for name in reads] if this == "w" else ["a" if name == "b" else name for name in reads], *rest) for op, reads, *rest in two]
expect(32 * 32 + 2 * 32, 4 * 32 * 32, {"w": [32, 32], "a": [32], "b": [32]}, as_one("w"))
expect(2 * 32 * 32 + 32, 4 * 32 * 32, {"v": [32, 32], "w": [32, 32], "a": [32]}, as_one("b"))

# A shift that is computed.
expect(32 * 32 + 32, 2 * 32 * 32, {"w": [32, 32], "a": [32]}, [("aten.exp", ["a"], [32], {}), ("aten.linear", ["x", "w", "v0"], rows, {})])

# Norms with one scale, and a scale that is read again.
norm = {"normalized_shape": [32], "eps": 1e-5}
expect(
    3 * 32, 0, {"w": [32], "a": [32], "b": [32]},
    [("aten.layer_norm", ["x", "w", "a"], rows, norm), ("aten.layer_norm", ["v0", "w", "b"], rows, norm), ("aten.mul", ["v1", "w"], rows, {})],
)  # fmt: skip
expect(32, 0, {"w": [32]}, [("aten.rms_norm", ["x", "w"], rows, norm), ("aten.mul", ["v0", "w"], rows, {})])
image = ["N", 3, 8, 8]
expect(2 * 64, 0, {"w": [8, 8], "b": [8, 8]}, [("aten.layer_norm", ["x", "w", "b"], image, {"normalized_shape": [8, 8]})], inputs={"x": image})
expect(3, 0, {"w": [3]}, [("aten.group_norm", ["x", "w"], image, {"num_groups": 3})], inputs={"x": image})

# A kernel with two strides, and one that goes back.
square = {"w": [3, 3, 3, 3], "b": [3]}
expect(
    84, 2 * 81 * (64 + 16), square,
    [("aten.conv2d", ["x", "w", "b"], image, {"padding": [1, 1]}), ("aten.conv2d", ["v0", "w"], ["N", 3, 4, 4], {"padding": [1, 1], "stride": [2, 2]})],
    inputs={"x": image},
)  # fmt: skip
expect(
    216, 2 * 216 * 2 * 36, {"w": [8, 3, 3, 3]},
    [("aten.conv2d", ["x", "w"], ["N", 8, 6, 6], {}), ("aten.conv_transpose2d", ["v0", "w"], image, {})], inputs={"x": image},
)  # fmt: skip
expect(
    81, 2 * 81 * 2 * 64, {"w": [3, 3, 3, 3]},
    [("aten.conv2d", ["x", "w"], image, {"padding": "same"}), ("aten.conv2d", ["v0", "w"], image, {"padding": [1, 1]})], inputs={"x": image},
)  # fmt: skip

# A table of words that scores them, whichever is first.
words = {"x": ["N", 16], "ids": ["N", 7]}
table = [("aten.embedding", ["t", "ids"], ["N", 7, 16], {}), ("aten.linear", ["x", "t"], ["N", 100], {})]
pair = [("aten.sum", ["v0"], ["N"], {"dim": [1, 2]}), ("aten.sum", ["v1"], ["N"], {"dim": [1]}), ("aten.add", ["v2", "v3"], ["N"], {})]
expect(1600, 3200, {"t": [100, 16]}, [*table, *pair], inputs=words)
expect(1600, 3200, {"t": [100, 16]}, [*table[::-1], ("aten.sum", ["v0"], ["N"], {"dim": [1]}), ("aten.sum", ["v1"], ["N"], {"dim": [1, 2]}), pair[2]], inputs=words)

# Rows of a table of positions that are scaled.
places = {"name": "p", "type": "i64", "shape": [7], "what": "range", "start": 0}
expect(
    144, 0, {"t": [9, 16]},
    [("aten.embedding", ["t", "p"], [7, 16], {}), ("aten.mul", ["v0", "v0"], [7, 16], {}), ("aten.add", ["x", "v1"], ["N", 7, 16], {}),
     ("aten.add", ["v2", "v0"], ["N", 7, 16], {})],
    inputs={"x": ["N", 7, 16]}, known=[places],
)  # fmt: skip

# What does not learn is frozen, a block as a whole.
frozen = {
    "netc_graph": 1, "name": "A", "from": "hand", "inputs": [{"name": "x", "type": "f32", "shape": ["N", 8]}], "known": [],
    "weights": [
        {"name": f"b.{i}.{name}", "type": "f32", "shape": shape, "learns": i == 1 and name != "down.bias"}
        for i in range(2)
        for name, shape in (("up.weight", [16, 8]), ("up.bias", [16]), ("down.weight", [8, 16]), ("down.bias", [8]))
    ],
    "modules": [{"path": f"b.{i}{rest}", "class": name} for i in range(2) for rest, name in (("", "Block"), (".up", "Linear"), (".down", "Linear"))],
    "nodes": [
        {"op": "aten.linear", "in": [reads, f"b.{i}.{name}.weight", f"b.{i}.{name}.bias"], "with": {}, "out": [{"name": made, "type": "f32", "shape": ["N", size]}], "module": [3 * i, 3 * i + at]}
        for i, at, name, reads, made, size in ((0, 1, "up", "x", "u", 16), (0, 2, "down", "u", "v", 8), (1, 1, "up", "v", "w", 16), (1, 2, "down", "w", "y", 8))
    ],
    "outputs": [{"name": "y", "value": "y"}],
}  # fmt: skip
path = folder / "frozen.json"
path.write_text(json.dumps(frozen))
text = subprocess.run(["netc", "import", path], check=True, capture_output=True, text=True).stdout
assert "freeze(Block)" in text and "bias = parameter(8, trainable = false)" in text, text
(folder / "frozen.net").write_text(text + "expect A.params == 2 * (2 * 8 * 16 + 16 + 8)\nexpect A.params.trainable == 2 * 8 * 16 + 16\n")
subprocess.run(["netc", "--check", folder / "frozen.net"], check=True)

print(*failed, sep="\n")

# Two modules of one class that read nothing but their weights: blocks without an input.
norms = [
    node
    for i in range(2)
    for node in [("aten.mul", [f"w{i}", f"g{i}"], [32, 32], {}, [i]), ("aten.div", [f"v{3 * i}", f"g{i}"], [32, 32], {}, [i]), ("aten.linear", [f"v{3 * i - 1}" if i else "x", f"v{3 * i + 1}"], rows, {})]
]
norms_of = [{"path": f"norm{i}", "class": "Norm"} for i in range(2)]
expect(2 * (32 * 32 + 32 * 32), 4 * 32 * 32, {name + str(i): [32, 32] for name in "wg" for i in range(2)}, norms, modules=norms_of)

# Behind what stops a gradient, nothing learns.
text, *_ = counts({"w": [32, 32], "v": [32, 32]}, [("aten.linear", ["x", "w"], rows, {}), ("aten.detach", ["v0"], rows, {}), ("aten.linear", ["v1", "v"], rows, {})])
assert "stop_gradient" in text, text
report = json.loads(subprocess.run(["netc", "--format=json", folder / "graph.net"], check=True, capture_output=True, text=True).stdout)
assert report["networks"][0]["backward"]["matmul"] == 2 * 32 * 32, report

sys.exit(len(failed) > 0)
