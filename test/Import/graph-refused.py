# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir %t && %python %s %t

# What an op asks for and netc does not have is an error that names the op. Nothing is left out.

import json
import pathlib
import subprocess
import sys

path = pathlib.Path(sys.argv[1]) / "graph.json"
failed = []


def refused(expected, op, shapes, out, *, weights=(), known=(), nodes=(), types={}, **arguments):
    """`shapes`: of inputs `a`, `b`, ..; the op reads them, then the weights, then what is known."""
    inputs = [{"name": chr(97 + i), "type": "f32", "shape": shape} for i, shape in enumerate(shapes)]
    held = [{"name": f"w{i}", "type": "f32", "shape": shape} for i, shape in enumerate(weights)]
    names = [each["name"] for each in [*inputs, *held, *known]]
    before = [
        {"op": name, "in": reads, "with": dict(*settings), "out": [{"name": made, "type": types.get(made, "f32"), "shape": shape}], "module": []}
        for name, reads, made, shape, *settings in nodes
    ]
    made = out if out and isinstance(out[0], dict) else [{"name": "y", "type": "f32", "shape": out}]
    last = {"op": op, "in": arguments.pop("reads", names), "with": arguments, "out": made, "module": []}
    graph = {"netc_graph": 1, "name": "A", "from": "hand", "inputs": inputs, "weights": held, "known": list(known), "modules": [], "nodes": [*before, last]}
    path.write_text(json.dumps({**graph, "outputs": [{"name": "y", "value": "y"}]}))
    done = subprocess.run(["netc", "import", str(path)], capture_output=True, text=True)
    if done.returncode != 1 or expected not in done.stderr:
        failed.append(f"{op}: expected {expected}, got {done.returncode}: {done.stderr}{done.stdout}")


image, rows = ["N", 3, 8, 8], ["N", 8]
refused("`aten.relu`, in the module itself: operand 0 is missing;", "aten.relu", [rows], rows, reads=[None])
refused("netc counts whole numbers from 0 on, each in a bin of its own", "aten.histc", [rows], [4], bins=4, min=0, max=4)
refused("there are places between the windows", "aten.unfold", [rows], ["N", 3, 4], dimension=1, size=4, step=2)
for op in "aten.cat", "aten.stack", "aten.permute", "aten.t", "onnx.Concat", "onnx.Transpose", "stablehlo.transpose":
    refused("operand 0 is missing", op, [rows], rows, reads=[])
for op in "aten.matmul", "aten.mm", "stablehlo.dot_general":
    refused("it has no operand 2", op, [rows], rows, weights=[[8, 8], [8, 8]])
    refused("", op, [rows], [], weights=[[8, 8]])
refused("", "aten.einsum", [rows], [], weights=[[8, 8]], equation="ab,bc->ac")
refused("a tensor has 2 axes here", "aten.instance_norm", [rows], [])
refused("it moves what is left by another number than `lambd`", "onnx.Shrink", [rows], rows, lambd=0.5)
refused("netc does not know the op `aten.atan2`, in the module itself; with", "aten.atan2", [rows, rows], rows)
refused("netc does not know the op `onnx.Rleu`, in the module itself; did you mean `onnx.Relu`?;", "onnx.Rleu", [rows], rows)
refused("netc takes it of one tensor", "aten.relu", [rows, rows], rows)
refused("a tensor has 2 axes here", "aten.conv2d", [rows], rows, weights=[[4, 3, 3, 3]])
one = "it takes [N, 8, 8] for one image without a batch; give it one, such as `x.unsqueeze(0)`: the first axis is that of the examples"
refused(one, "aten.conv2d", [["N", 8, 8]], ["N", 6, 6], weights=[[4, 3, 3, 3]])
refused(one, "aten.max_pool2d", [["N", 8, 8]], ["N", 4, 4], kernel_size=[2, 2])
refused("it is transposed", "aten.conv2d", [image], image, weights=[[4, 3, 3, 3]], transposed=True)
refused("`N` must be a number here", "aten.conv2d", [image], image, weights=[[4, 3, "N", 3]])
refused("`groups` is \"N\", and must be a whole number here", "aten.conv2d", [image], image, weights=[[4, 3, 3, 3]], groups="N")
refused("`groups` is 1.5, and must be a whole number here", "aten.conv2d", [image], image, weights=[[4, 3, 3, 3]], groups=1.5)
refused("`dim` is [0], and must be a whole number here", "aten.softmax", [rows], rows, dim=[0])
refused("`transposed` is 1, and must be true or false", "aten.conv2d", [image], image, weights=[[4, 3, 3, 3]], transposed=1)
refused("`stride` is no list of numbers", "aten.conv2d", [image], image, weights=[[4, 3, 3, 3]], stride=1.5)
refused("a number of it is [1]", "aten.clamp", [rows], rows, min=[1])
refused("its padding is neither `same` nor `valid`", "aten.conv2d", [image], image, weights=[[4, 3, 3, 3]], padding='same")')
parts = [{"name": name, "type": "f32", "shape": ["N"]} for name in ("y", "z")]
refused("the axis has 1 places, and it makes 2 tensors", "aten.unbind", [["N", 1]], parts, dim=1)
refused("a tensor has 2 axes here", "aten.unbind", [["N", 1]], rows, dim=1)
refused("a tensor has 1 axes here", "aten.repeat", [rows], ["N"], repeats=[1, 1])
for dims in (8, 0, 1), (-8, 0, 1), (-(2**63), 0, 1), (0, 1, 1):
    refused("no elements lie on such a diagonal", "aten.diagonal", [[8, 8]], [8], **dict(zip(("offset", "dim1", "dim2"), dims)))
refused("a number of it is 1e+300, and must be whole", "aten.permute", [rows], rows, dims=[0, 1e300])
refused("a number of it is 0.5, and must be whole", "aten.sum", [rows], ["N"], dim=[0.5])
refused("its equation is no list of letters", "aten.einsum", [rows], rows, equation='ab->ab")')
refused("`stride` is no list of numbers", "aten.conv2d", [image], image, weights=[[4, 3, 3, 3]], stride=["N", 1])
refused("its parts are scaled", "aten.addmm", [[4], rows, [8, 4]], ["N", 4], beta=2)
refused(
    "its kernel is used elsewhere, too, and it makes positions that no window reaches", "aten.conv_transpose2d", [image, [3, 4, 3, 3]],
    ["N", 4, 11, 11], output_padding=[1, 1],
)  # fmt: skip
refused("it reads what is no table of weights", "aten.embedding", [rows, ["N"]], rows)
whole = "it rounds to whole numbers, through which no gradient goes; netc has no op that rounds, and takes them as an argument"
for op in "aten._to_copy", "onnx.Cast", "stablehlo.convert":
    refused(f"`{op}`, in the module itself: {whole}", op, [rows], [{"name": "y", "type": "i64", "shape": rows}])
    refused(whole, "aten.embedding", [rows], [*rows, 8], weights=[[4, 8]], reads=["w0", "i"], nodes=[(op, ["a"], "i", rows)], types={"i": "i32"})
refused(
    "`aten.embedding`, in the module itself: its places are computed of floating-point numbers; netc takes whole numbers that go in, places of the largest "
    "elements, and what is computed of these", "aten.embedding", [rows], [*rows, 8], weights=[[4, 8]], reads=["w0", "i"],
    nodes=[("aten.gt", ["a"], "r", rows, {"other": 0}), ("aten._to_copy", ["r"], "i", rows)], types={"r": "bool", "i": "i64"},
)  # fmt: skip
refused("its bounds are no numbers", "aten.clamp", [rows], rows)
refused(
    "it computes with what is random", "aten.add", [rows], rows, nodes=[("aten.bernoulli", ["a"], "noise", rows)], reads=["a", "noise"]
)
refused("`aten.relu`, in the module itself: it computes with what is random", "aten.relu", [rows], rows, nodes=[("aten.bernoulli", ["a"], "noise", rows)], reads=["noise"])
refused("its classes are of [T], and its scores of [N]; `axes` says which axes are free, and equal ones have one name", "aten.cross_entropy_loss", [["N", 4], ["T"]], [])
mask = {"name": "m", "type": "bool", "shape": ["N", 1, 4, 4], "what": "table"}
heads = ["N", 2, 4, 8]
refused("`dims` has a number for each axis", "aten.permute", [image], image, dims=[0, 1])
refused("`start` is no size", "aten.slice", [rows], ["N", 4], dim=1, start="T +", end=8)
refused("a number of it is \"N\", and must be whole", "aten.mean", [rows], ["N"], dim=["N"])


sequence, matrices = ["N", 5, 8], [[16, 8], [16, 4], [16], [16]]
state = {"name": "zeros", "type": "f32", "shape": [1, "N", 4], "what": "number", "value": 0}
lstm = {"has_biases": True, "num_layers": 1, "batch_first": True}
refused(
    "one of its first states is given", "aten.lstm", [sequence, [1, "N", 4]], ["N", 5, 4], weights=matrices, known=[state],
    reads=["a", "b", "zeros", "w0", "w1", "w2", "w3"], **lstm,
)  # fmt: skip
refused("its vectors are of different sizes", "aten.cosine_similarity", [rows, [1, 8]], ["N"])
refused(
    "its weights are used elsewhere, too, or are computed", "aten.lstm", [sequence, [16, 8]], ["N", 5, 4], weights=matrices[1:], known=[state],
    reads=["a", "zeros", "zeros", "b", "w0", "w1", "w2"], **lstm,
)  # fmt: skip
refused(
    "it has 3 weights", "aten.lstm", [sequence], ["N", 5, 4], weights=matrices[:3], known=[state], reads=["a", "zeros", "zeros", "w0", "w1", "w2"], **lstm
)
scores = ["N", 4, 4]
refused("it is one number everywhere", "aten.where", [scores], scores, known=[{**mask, "what": "number", "value": False}], reads=["m", "a"], other=1)
refused("its mask is known, and neither causal nor a window", "aten.masked_fill", [scores], scores, known=[{**mask, "what": "number", "value": True}], reads=["a", "m"], value="-inf")
refused("it hides nothing;", "aten.where", [scores, scores], scores, known=[mask], reads=["m", "a", "b"])
refused(
    "its operand is not of the size of the mask", "aten.where", [["N", 4, 1]], scores, known=[{**mask, "what": "causal"}], reads=["m", "a"], other="-inf"
)
refused(
    "it hides nothing;", "aten.where", [scores], scores, known=[{**mask, "what": "causal"}], reads=["c"], self=1, other="-inf",
    nodes=[("aten.gt", ["a"], "r", scores, {"other": 0}), ("aten.__and__", ["m", "r"], "c", scores)], types={"r": "bool", "c": "bool"},
)  # fmt: skip
refused("its condition is known, and neither causal nor a window nor a diagonal", "aten.where", [scores], scores, known=[{**mask, "what": "bucket"}], reads=["m", "a"], other="-inf")
refused("it cuts off", "aten.pad", [rows], ["N", 8], pad=[1, -1], mode="reflect")
refused("it has no exponent", "onnx.Pow", [rows], rows)
refused("netc takes it of two tensors", "onnx.Max", [rows] * 3, rows)
refused("netc has norms of order 1, 2 and inf", "aten.linalg_vector_norm", [rows], ["N"], ord=3, dim=[1])
refused("`correction` is a whole number", "aten.var", [rows], ["N"], dim=[1], correction=0.5)
refused("it takes running statistics for those of what goes in", "aten.instance_norm", [image], image, use_input_stats=False)
pair = [{"name": name, "type": kind, "shape": ["N"]} for name, kind in (("y", "f32"), ("y.1", "i64"))]
refused("netc has no places of what is largest or smallest", "aten.adaptive_max_pool1d", [["N", 3, 8]], pair, output_size=[1])
refused("its windows are of different sizes", "aten.adaptive_max_pool2d", [image], ["N", 3, 3, 3], output_size=[3, 3])
refused("how often it repeats depends on data", "aten.repeat_interleave", [rows, ["N"]], rows, dim=0)
refused("it repeats all axes as one", "aten.repeat_interleave", [rows], ["16*N"], repeats=2)
refused("it turns all axes as one", "aten.roll", [rows], rows, shifts=[1], dims=[])
places = {"name": "p", "type": "i64", "shape": [3], "what": "table"}
refused("it reads places of several axes", "aten.index", [image], ["N", 3], known=[places], reads=["a", None, "p", None, "p"])
refused("its equation does not go with its operands", "aten.einsum", [rows, rows], ["N"], equation="ab->a")
refused("its equation does not go with its operands", "aten.einsum", [rows, rows], ["N"], equation="ab,abc->a")
heads = [["N", 4, 5, 6], ["N", 3, 5, 6], ["N", 3, 5, 6], ["N", 1, 5, 5]]
refused("its heads of keys do not divide those of queries", "aten.scaled_dot_product_attention", heads, heads[0])
other = {"name": "q", "type": "i64", "shape": [2], "what": "table"}
refused("its tables of places do not fit each other", "aten.index", [image], ["N", 3, 3], known=[places, other], reads=["a", None, "p", "q"])
refused("which places it reads depends on data", "aten.index_select", [rows, [3]], ["N", 3], dim=1)
bags = {"weights": [[10, 4]], "nodes": [("aten.view", ["a"], "ids", ["16*N"])], "reads": ["w0", "ids", "ids"]}
refused("its bags are not the rows of a tensor of numbers", "aten._embedding_bag", [rows], ["2*N", 4], **bags)
refused("netc has sums and means of a bag", "aten._embedding_bag", [rows], ["N", 4], **{**bags, "nodes": [("aten.view", ["a"], "ids", ["8*N"])]}, mode=2)
refused("`shifts` has a number for each of `dims`", "aten.roll", [image], image, shifts=[1, 2, 3], dims=[2, 3])
refused("its mask is known, and neither causal nor a window", "aten.masked_fill", [scores], scores, known=[{**mask, "what": "bucket"}], reads=["a", "m"], value="-inf")
refused("it is one number everywhere", "aten.where", [scores], scores, known=[{**mask, "what": "number", "value": False}], reads=["m", "a"], other=1)
refused("its mask is known, and neither causal nor a window", "aten.masked_fill", [scores], scores, known=[{**mask, "what": "number", "value": True}], reads=["a", "m"], value="-inf")
refused("it hides nothing;", "aten.where", [scores], scores, known=[{**mask, "what": "not causal"}], reads=["m", "a"], other=1)
pairs = {"types": {"r": "bool", "s": "bool"}, "reads": ["r", "s"]}
joint = [("aten.gt", ["a"], "r", scores), ("aten.bitwise_and", ["m", "r"], "s", scores)]
refused("it computes with a mask that is of no attention", "aten.mul", [scores], scores, known=[{**mask, "what": "causal"}], nodes=joint, **{**pairs, "reads": ["a", "s"]})
refused("netc takes it of conditions", "aten.bitwise_and", [rows, rows], rows)
table = {**mask, "shape": rows}
refused(
    "one of its conditions is of no form that netc knows", "aten.logical_and", [rows], rows, known=[table],
    nodes=[("aten.gt", ["a"], "r", rows)], types={"r": "bool"}, reads=["m", "r"],
)  # fmt: skip
refused("it is in no GELU", "aten.erf", [rows], rows)
halves = [("aten.mul", ["a"], "r", rows, {"other": 0.7071}), ("aten.erf", ["r"], "s", rows, {})]
refused("it computes with an `erf` that is in no GELU", "aten.relu", [rows], rows, nodes=halves, reads=["s"])
refused("it computes with an `erf` that is in no GELU", "aten.sub", [rows], rows, nodes=halves, reads=["s"], other=1)
refused("its slopes are random", "aten.rrelu", [rows], rows, training=True)
refused("its parts are scaled", "aten.elu", [rows], rows, alpha=1, scale=2)
refused("netc takes the largest of an axis", "aten.argmax", [rows], [])
refused("its classes have weights", "aten.cross_entropy_loss", [rows, ["N"], [8]], [])
refused("netc has the mean of all rows", "aten.cross_entropy_loss", [rows, ["N"]], [], reduction=2)
refused("its gradients are scaled by how often a row is read", "aten.embedding", [["N"]], rows, weights=[[10, 8]], scale_grad_by_freq=True, reads=["w0", "a"])
refused("it takes running statistics for those of what goes in", "aten.batch_norm", [image], image, training=False)
refused("its equation does not go with its operands", "aten.einsum", [rows], rows, equation="abc...->abc...")
refused("a number of it is NaN", "aten.add", [rows], rows, other="nan")
refused("a number of it is \"N\"", "aten.add", [rows], rows, other="N")
refused("it has no setting `rounding_mode`", "aten.div", [rows], rows, other=2, rounding_mode="floor")
refused("netc takes it of conditions", "aten.bitwise_not", [rows], rows)
refused("it says the same of true, 1, and of false, 0", "aten.gt", [rows], rows, nodes=[("aten.gt", ["a"], "g", rows, {"other": 0})], types={"g": "bool"}, reads=["g"], other=1)
square = ["N", 4, 4]
causal = {"name": "c", "type": "bool", "shape": [4, 4], "what": "causal"}
packed = [("aten.gt", ["a"], "g", square, {"other": 0}), ("aten.logical_and", ["g", "c"], "m", square)]


def of_packed(expected, op, reads, out, *, nodes=(), **arguments):
    truths = dict.fromkeys(["g", "m", "h"], "bool")
    refused(expected, op, [square], out, known=[causal], nodes=[*packed, *nodes], types=truths, reads=reads, **arguments)


of_packed("it moves the axes of a mask of attention", "aten.view", ["m"], ["N", 16])
of_packed("it moves the axes of a mask of attention", "aten.view", ["m"], [2, 3, 4, 4])
of_packed("it chooses by a mask of attention, and hides no scores", "aten.where", ["m", "a", "a"], square)
of_packed("it hides nothing", "aten.where", ["m"], square, self=1, other=0)
of_packed("it hides what a mask of attention shows", "aten.masked_fill", ["a", "m"], square, value=0)
of_packed("one of its conditions is of no form that netc knows", "aten.logical_or", ["m", "g"], square)
inverse = [("aten.logical_not", ["m"], "h", square)]
attend = [("aten.view", ["a"], "q", ["N", 1, 4, 4])]
of_packed("its mask shows what a causal one hides", "aten.scaled_dot_product_attention", ["q", "q", "q", "h"], ["N", 1, 4, 4], nodes=[*inverse, *attend])
nothing = {"name": "m", "type": "bool", "shape": [4, 4], "what": "number", "value": 0}
refused("its mask hides everything", "aten.scaled_dot_product_attention", [["N", 2, 4, 8]], ["N", 2, 4, 8], known=[nothing], reads=["a", "a", "a", "m"])
refused("netc sets ones among zeros, along the last axis", "aten.scatter", [rows, ["N", 2]], rows, dim=1, value=1)
zeros = {"name": "zeros", "type": "f32", "shape": rows, "what": "number", "value": 0}
refused("netc sets elements among equal ones at the places of the largest", "aten.scatter", [["N", 2]] * 2, rows, known=[zeros], reads=["zeros", "a", "b"], dim=1)
refused("it is in no module of gated experts that netc knows", "transformers.grouped_mm_fallback", [rows], ["N", 4], weights=[[3, 8, 4]])
refused("there are places between", "aten.slice_scatter", [rows, ["N", 4]], rows, dim=1, start=0, end=8, step=2)



def without_modules(expected, shape, nodes):
    """`nodes`: (op, module, reads, shape), of which each makes `v0`, `v1`, ..; modules are of one class."""
    graph = {
        "netc_graph": 1, "name": "A", "from": "hand", "inputs": [{"name": "a", "type": "f32", "shape": shape}], "weights": [], "known": [],
        "modules": [{"path": "p", "class": "P"}, {"path": "q", "class": "P"}],
        "nodes": [
            {"op": op, "in": [reads], "with": {}, "out": [{"name": f"v{i}", "type": "f32", "shape": made}], "module": module}
            for i, (op, module, reads, made) in enumerate(nodes)
        ],
        "outputs": [{"name": "y", "value": f"v{len(nodes) - 1}"}],
    }  # fmt: skip
    path.write_text(json.dumps(graph))
    done = subprocess.run(["netc", "import", str(path)], capture_output=True, text=True)
    if done.returncode or "Its modules do not come apart, and the net is without them." not in done.stdout or expected not in done.stdout:
        failed.append(f"expected {expected}, got {done.returncode}: {done.stderr}{done.stdout}")


# Modules that read each other's results: the net is right without them.
without_modules(
    "return y = a |> relu |> exp |> relu |> relu |> exp |> relu\n", rows,
    [("aten.relu", [0], "a", rows), ("aten.exp", [], "v0", rows), ("aten.relu", [0], "v1", rows),
     ("aten.relu", [1], "v2", rows), ("aten.exp", [], "v3", rows), ("aten.relu", [1], "v4", rows)],
)  # fmt: skip

# What changes no forward pass, and is counted otherwise, is told.
table = {
    "netc_graph": 1, "name": "A", "from": "hand", "inputs": [{"name": "ids", "type": "i64", "shape": ["N"]}],
    "weights": [{"name": "table", "type": "f32", "shape": [10, 8]}], "known": [], "modules": [],
    "nodes": [{"op": "aten.embedding", "in": ["table", "ids"], "with": {"sparse": True}, "out": [{"name": "y", "type": "f32", "shape": rows}], "module": []}],
    "outputs": [{"name": "y", "value": "y"}],
}  # fmt: skip
path.write_text(json.dumps(table))
done = subprocess.run(["netc", "import", str(path)], capture_output=True, text=True)
if "The gradient of `table` is sparse; netc counts one of the whole table.\n" not in done.stdout:
    failed.append(f"expected a note, got {done.returncode}: {done.stderr}{done.stdout}")

print(*failed, sep="\n")
sys.exit(len(failed) > 0)
