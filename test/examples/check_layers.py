# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir/examples %S/torchvision_layers

# Compares the image networks of examples/ with torchvision's, layer by layer in the
# order in which they run: multiply-adds, additions of biases, parameters, and the
# shape of the output, batch 1. What torchvision calls as a function (activations,
# mostly) and its own LayerNorm2d the tables lack: these are left out. Where both call
# a layer by one name, it must be one layer.

import csv
import json
import pathlib
import subprocess
import sys

KINDS = {
    "Conv2d": {"conv", "linear"},  # a 1 x 1 convolution of means is a linear layer
    "Linear": {"linear"},
    "BatchNorm2d": {"normalize"},
    "MaxPool2d": {"max_pool"},
    "AvgPool2d": {"avg_pool"},
    "AdaptiveAvgPool2d": {"adaptive_avg_pool", "mean"},
}


def networks(folder):
    result = {}
    for path in sorted(folder.glob("*.net")):
        run = subprocess.run(
            ["netc", "--estimate", "--format=json", path], stdout=subprocess.PIPE, check=True
        )
        for network in json.loads(run.stdout)["networks"]:
            layers = {}
            for layer in network["layers"]:
                for name, place in zip(layer["names"], layer["places"]):
                    layers[place] = {**layer, "name": name}
            result[network["name"]] = [layers[place] for place in sorted(layers)]
    return result


def sizes(shape):
    # Batch 1, and any layout: axes of size 1 say nothing.
    return sorted(size for size in shape if size not in ("N", 1))


def compare(name, rows, layers):
    rows = [row for row in rows if row["type"] in KINDS]
    ops = set.union(*(KINDS[row["type"]] for row in rows))
    layers = [layer for layer in layers if layer["op"] in ops]
    if len(rows) != len(layers):
        yield f"{name} has {len(layers)} layers, torchvision {len(rows)}"
    names = {row["layer"] for row in rows}
    for row, layer in zip(rows, layers):
        where = f"{name}: {layer['name']} ({layer['op']}) against {row['layer']} ({row['type']})"
        if layer["op"] not in KINDS[row["type"]]:
            yield f"{where}: not the same kind"
        if layer["name"] in names and layer["name"] != row["layer"]:
            yield f"{where}: the same name for two layers"
        have = {
            "FLOP": layer["forward"]["matmul"],
            "parameters": layer["parameters"],
            "output": sizes(layer["output"]),
        }
        want = {
            "FLOP": 2 * int(row["macs"]),
            "parameters": int(row["params"]),
            "output": sizes(map(int, row["out_shape"].split("x"))),
        }
        if row["type"] in ("Conv2d", "Linear"):
            have["bias"] = layer["forward"]["other"]
            want["bias"] = int(row["bias_adds"])
        for key in want:
            if have[key] != want[key]:
                yield f"{where}: {key} {have[key]}, torchvision {want[key]}"


examples, tables = map(pathlib.Path, sys.argv[1:])
found = networks(examples)
errors = []
for table in sorted(tables.glob("*.csv")):
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    errors += compare(table.stem, rows, found[table.stem])
print("\n".join(errors))
sys.exit(bool(errors))
