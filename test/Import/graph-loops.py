# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir %t && %python %s %t

# Loops of a graph become `scan`s. What contradicts itself is an error.

import copy
import json
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
failed = []


def value(name, *shape, type="f32"):
    return {"name": name, "type": type, "shape": list(shape)}


def node(op, reads, *made, **settings):
    return {"op": f"aten.{op}", "in": reads, "with": settings, "out": list(made), "module": []}


def loop(reads, made, carried, inputs, nodes, outputs):
    body = {"inputs": inputs, "nodes": nodes, "outputs": outputs}
    return {**node("", reads, *made), "op": "higher_order.scan", "with": {"carried": carried}, "body": body}


def graph(name, inputs, nodes, output, weights=(), known=()):
    return {
        "netc_graph": 1, "name": name, "from": "hand", "inputs": inputs, "weights": list(weights), "known": list(known), "modules": [],
        "nodes": nodes, "outputs": [{"name": "r", "value": output}],
    }  # fmt: skip


def imported(graph):
    path = folder / f"{graph['name']}.json"
    path.write_text(json.dumps(graph))
    return subprocess.run(["netc", "import", path], capture_output=True, text=True)


def check(graph, expected, **forward):
    """`forward`: kinds of FLOP of the forward pass, exact in the free axes."""
    done = imported(graph)
    head = f"# {graph['name']}, from hand.\n"
    if done.stdout != head + expected:
        failed.append(f"{graph['name']}: {done.stdout}{done.stderr}")
    path = folder / f"{graph['name']}.net"
    path.write_text(done.stdout)
    done = subprocess.run(["netc", "--format=json", "--symbolic", path], capture_output=True, text=True)
    counted = json.loads(done.stdout)["networks"][0]["symbolic"]["forward"] if done.returncode == 0 else done.stderr
    if done.returncode or any(counted[kind] != flop for kind, flop in forward.items()):
        failed.append(f"{graph['name']}: {counted}")


zeros = {**value("zeros", "N", 4), "what": "number", "value": 0}
w = {**value("w", 4, 4), "learns": True}

# A weight and a number are made in front of the loop, also where nothing behind the loop would. What is carried is read.
sums = graph(
    "Sums",
    [value("x", "T", "N", 4)],
    [
        loop(
            ["zeros", "x"],
            [value("last", "N", 4), value("all", "T", "N", 4)],
            1,
            [value("h", "N", 4), value("e", "N", 4)],
            [
                node("mm", ["h", "w"], value("m", "N", 4)),
                node("add", ["m", "e"], value("a", "N", 4)),
                node("tanh", ["a"], value("t", "N", 4)),
                node("exp", ["e"], value("unread", "N", 4)),
            ],
            ["t", "a"],
        ),
        node("sum", ["all"], value("s", "N", 4), dim=[0], keepdim=False),
        node("mm", ["last", "w"], value("p", "N", 4)),
        node("add", ["s", "p"], value("r", "N", 4)),
    ],
    "r",
    [w],
    [zeros],
)
check(
    sums,
    """net Sums(x: f32[T, N, 4]) {
  w = parameter(4, 4)
  y, y_2 = scan xt in x over T carry h = zeros(N, 4) {
    y_3 = h @ w + xt
    h' = y_3 |> tanh
    yield y_3
  }
  return r = sum(y, over = axes(y)[0]) + y_2 @ w
}
""",
    matmul="32*N*T + 32*N",
)

# Of a loop in a loop the sizes are numbers; only the last state is read; both read an input from outside.
inner = loop(
    ["h", "e"],
    [value("deep", "N", 2, 2)],
    1,
    [value("g", "N", 2, 2), value("f", "N", 2, 2)],
    [node("mul", ["g", "f"], value("q", "N", 2, 2)), node("add", ["q", "z"], value("n", "N", 2, 2))],
    ["n"],
)
deep = graph(
    "Deep",
    [value("x", 6, 3, "N", 2, 2), value("z", "N", 2, 2)],
    [
        loop(
            ["z", "x"],
            [value("last", "N", 2, 2)],
            1,
            [value("h", "N", 2, 2), value("e", 3, "N", 2, 2)],
            [inner, node("sub", ["deep", "z"], value("d", "N", 2, 2))],
            ["d"],
        ),
        node("relu", ["last"], value("r", "N", 2, 2)),
    ],
    "r",
)
check(
    deep,
    """net Deep(x: f32[6, C = 3, N, H = 2, W = 2], z: f32[N, 2, 2]) {
  y: [S6, ...] = x
  y_2, y_3 = scan xt in y over S6 carry h = z {
    y_4, y_5 = scan xt_2 in xt over C carry h_2 = h {
      h_2' = h_2 * xt_2 + z
      yield h_2'
    }
    h' = y_5 - z
    yield h'
  }
  return r = y_3 |> relu
}
""",
    other="172*N",  # 4 N (6 (3 * 2 + 1) + 1)
)

# What is computed of whole numbers outside, and is a factor in the body, is computed in front of it.
factor = graph(
    "Factor",
    [value("ids", "N", 4, type="i64"), value("x", "T", "N", 4)],
    [
        node("mul", ["ids"], value("twice", "N", 4, type="i64"), other=2),
        loop(
            ["x"],
            [value("all", "T", "N", 4)],
            0,
            [value("e", "N", 4)],
            [node("mul", ["e", "twice"], value("m", "N", 4))],
            ["m"],
        ),
    ],
    "all",
)
check(
    factor,
    """net Factor(ids: i32[N, 4], x: f32[T, N, 4]) {
  y = ids * 2
  y_2 = scan xt in x over T {
    yield xt * float(y)
  }
  return r = y_2
}
""",
    other="4*N*T",
)


def wrong(expected, change, kind="graph-contradiction"):
    changed = copy.deepcopy(sums)
    change(changed["nodes"][0])
    done = imported(changed)
    if done.returncode != 1 or expected not in done.stderr or f"[{kind}]" not in done.stderr:
        failed.append(f"expected {expected}, got {done.returncode}: {done.stderr}{done.stdout}")


numbers = "`higher_order.scan`, in the module itself: what it carries, takes and makes does not go with its body"
wrong("it has no body", lambda n: n.pop("body"))
wrong("it does not say how many values it carries", lambda n: n["with"].pop("carried"))
wrong("a number of it is true, and must be whole", lambda n: n["with"].update(carried=True), "graph-refused-op")
wrong(numbers, lambda n: n["with"].update(carried=3))
wrong(numbers, lambda n: n["with"].update(carried=-1))
wrong(numbers, lambda n: n["body"]["outputs"].append("t"))
wrong(numbers, lambda n: n["body"]["inputs"].append(value("g", "N", 4)))
wrong("no sequence says how often it runs", lambda n: n["with"].update(carried=2), "graph-refused-op")
wrong("`e` is [N, 5] in its body, and an element of its sequence is [N, 4]", lambda n: n["body"]["inputs"].__setitem__(1, value("e", "N", 5)))
wrong("`h` is [N, 5] in its body, and its first value is [N, 4]", lambda n: n["body"]["inputs"].__setitem__(0, value("h", "N", 5)))
wrong("`t` is [N, 5] in its body, and what it carries is [N, 4]", lambda n: n["body"]["nodes"][2]["out"][0].update(shape=["N", 5]))
wrong("`a` is [N, 5] in its body, and an element of its result is [N, 4]", lambda n: n["body"]["nodes"][1]["out"][0].update(shape=["N", 5]))
wrong("its sequences have T and N elements", lambda n: (n["in"].append("zeros"), n["body"]["inputs"].append(value("g", 4))))
wrong("`last` is [N, 5] in the graph, and would be [N, 4]", lambda n: n["out"][0].update(shape=["N", 5]))
wrong("`nodes[0].body.nodes[0].in[0]`: nothing before it is called `g`", lambda n: n["body"]["nodes"][0]["in"].__setitem__(0, "g"), "graph-wrong")
wrong("`nodes[0].body.inputs[1]`: `e` is f16, and `", lambda n: n["body"]["inputs"].__setitem__(1, value("e", "N", 4, type="f16")), "graph-wrong")
wrong("`nodes[0].body.outputs[0]`: `t` is f32, and `last` is i64", lambda n: n["out"][0].update(type="i64"), "graph-wrong")
wrong("`nodes[0].body.outputs[1]`: a name is expected, not 7", lambda n: n["body"]["outputs"].__setitem__(1, 7), "graph-wrong")

# What a body makes is not there outside of it.
changed = copy.deepcopy(sums)
changed["nodes"][1]["in"] = ["t"]
done = imported(changed)
if "`nodes[1].in[0]`: nothing before it is called `t`" not in done.stderr:
    failed.append(done.stderr)

print(*failed, sep="\n")
sys.exit(len(failed) > 0)
