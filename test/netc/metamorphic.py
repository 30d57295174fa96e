# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %t.net

# What must hold between two specifications that differ in one thing, whatever the
# figures are: of a convolutional and of an attention network with a shared layer.

import json
import subprocess
import sys

SPEC = """
block Twice(x: [N, T, d]; f) = x |> f |> f
net Net(image: f32[N, C = 3, H = 16, W = 16], tokens: i64[N, T = 12]; width = {width}) {{
  {conv} = {freeze_a}Conv(8, 3, pad = 1){freeze_b}
  c = image |> {conv} |> BatchNorm |> relu |> GlobalAvgPool |> Linear(width)
  shared = {shared}
  t = tokens |> Embedding(50, width) |> {apply} |> LayerNorm |> mean(over = T)
  return logits = (c * t) |> Linear(10)
}}
dataset D {{ examples = 1000; label = class(10) }}
train Net on D as run {{
  loss = cross_entropy(logits, label)
  batch = {batch}
  duration = 4 epochs
  optimizer = SGD(lr = 0.1, momentum = 0.9)
}}
"""
BASE = dict(width=16, batch=8, conv="conv", freeze_a="", freeze_b="", shared="Linear(width)",
            apply="Twice(shared)")


def estimate(**changes):
    with open(sys.argv[1], "w") as file:
        file.write(SPEC.format(**{**BASE, **changes}))
    report = json.loads(subprocess.run(["netc", "--format=json", sys.argv[1]], check=True,
                                       capture_output=True, text=True).stdout)
    return report["networks"][0], report["runs"][0]


net, run = estimate()
assert net["backward"]["total"] > net["forward"]["total"] > 0

# Twice the batch: twice the forward FLOP of a step, half the steps, the same network.
twice, doubled = estimate(batch=16)
assert doubled["step"]["forward"]["matmul"] == 2 * run["step"]["forward"]["matmul"]
assert doubled["step"]["optimizer"] == run["step"]["optimizer"]
assert (doubled["steps"], run["steps"]) == (250, 500)
assert doubled["operations"]["model"]["matmul"] == run["operations"]["model"]["matmul"]
assert twice == net

# Freezing a layer: less to learn, and never more FLOP, forward the same.
frozen, still = estimate(freeze_a="freeze(", freeze_b=")")
assert frozen["parameters"]["total"] == net["parameters"]["total"]
assert frozen["parameters"]["trainable"] < net["parameters"]["trainable"]
assert frozen["forward"] == net["forward"]
assert frozen["backward"]["matmul"] < net["backward"]["matmul"]
assert still["step"]["optimizer"]["total"] < run["step"]["optimizer"]["total"]

# A layer of its own for each use: more parameters, the same matmul FLOP.
apart, _ = estimate(apply="Linear(width) |> Linear(width)")
assert apart["parameters"]["total"] == net["parameters"]["total"] + 16 * 16 + 16
assert apart["forward"]["matmul"] == net["forward"]["matmul"]
assert apart["backward"]["matmul"] == net["backward"]["matmul"]

# Another name changes names only.
renamed, _ = estimate(conv="stem")
assert [layer["names"] for layer in renamed["layers"]] != [l["names"] for l in net["layers"]]
names = [layer.pop("names") for layer in renamed["layers"] + net["layers"]]
assert renamed == net

# Layers add up to their network.
for phase in ("forward", "backward"):
    assert sum(l[phase]["total"] * len(l["places"]) for l in net["layers"]) == net[phase]["total"]
