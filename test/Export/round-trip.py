# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %source_dir %t

# A network that goes out as a graph and comes in again has the same parameters, and the same forward pass, exact in its
# free axes. So is the backward pass. That of a loop that is written out differs: a `scan` adds the gradients of its steps to
# zeros.

import json
import pathlib
import subprocess
import sys

source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
NETWORKS = {
    "examples": "albert:ALBERT convnext:convnext_tiny ddpm:UNet densenet:densenet121 dit:Small dqn:DQN gpt2:gpt2 lenet300:LeNet300 llama:llama65 mamba:Mamba mesh_graph_nets:MeshGraphNets mistral:Small mobilenet:small moe_sharing_seq2seq:Sparse muon:Small resnet:small18 sequences:ToItself squeezenet:squeezenet1_0 swin:SmallSwin vit:vit_b_16",
    "test/Export/Inputs": "ops:Elementwise ops:Shapes ops:Windows ops:Norms ops:Choices ops:Noise ops:Tables ops:Rows ops:RowsOfEach ops:Products ops:Near ops:Unfolded",
}


def run(*arguments):
    done = subprocess.run(["netc", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def network(path, name):
    report = json.loads(run("--format=json", "--symbolic", f"--net={name}", path))
    found = next(each for each in report["networks"] if each["name"] == name)
    return {"parameters": found["parameters"]["total"], **{key: found["symbolic"][key] for key in ("forward", "backward")}}


for place, networks in NETWORKS.items():
    for file, name in (each.split(":") for each in networks.split()):
        path = source / place / f"{file}.net"
        graph, back = folder / f"{name}.json", folder / f"{name}.net"
        run("--emit=graph", f"--net={name}", path, "-o", graph)
        run("import", graph, "-o", back)
        before, after = network(path, name), network(back, name)
        if name == "Choices":  # the elements of a triangle come back as places, to which their gradient is added
            before["backward"], after["backward"] = (each["backward"]["matmul"] for each in (before, after))
        assert before == after, (name, before, after)

# What differs from a dispatch in a setting is none: its places are computed, which netc does not read.
path, other = folder / "Sparse.json", folder / "other.json"
assert "dispatch(" in (folder / "Sparse.net").read_text()
for op, key, value in ("cumsum", "dim", 1), ("sum", "dim", [0]), ("permute", "dims", [0, 1, 2]), ("index_add", "alpha", 2), ("add", "alpha", 2):
    graph = json.loads(path.read_text())
    at = next(i for i, each in enumerate(graph["nodes"]) if each["op"] == "aten.cumsum")
    next(each for each in graph["nodes"][at - 6 :] if each["op"] == f"aten.{op}")["with"][key] = value
    other.write_text(json.dumps(graph))
    done = subprocess.run(["netc", "import", str(other)], capture_output=True, text=True)
    assert done.returncode == 1 and "its places are computed" in done.stderr, (op, done.returncode, done.stderr)
