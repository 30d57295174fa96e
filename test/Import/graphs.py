# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/Inputs/graphs %t

# Graphs of models that tools/bench/import_models.py kept: the parameters, and the FLOP of a forward and a backward pass,
# that PyTorch counts of them. Their specifications are as `netc fmt` writes them.

import gzip
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools/bench"))
import import_models

graphs, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
paths = sorted(graphs.glob("*.json.gz"))
assert len(paths) > 5
specifications = []
for path in paths:
    graph = json.loads(gzip.decompress(path.read_bytes()))
    name = graph["name"]
    (folder / f"{name}.json").write_text(json.dumps(graph))
    text = subprocess.run(["netc", "import", folder / f"{name}.json"], check=True, capture_output=True, text=True).stdout
    (folder / f"imported-{name}.net").write_text(text)
    specifications.append(folder / f"{name}.net")
    specifications[-1].write_text(text + import_models.expectations(graph))
formatted = subprocess.run(["netc", "fmt", "--check", *folder.glob("imported-*.net")]).returncode
sys.exit(subprocess.run(["netc", "--check", *specifications]).returncode or formatted)
