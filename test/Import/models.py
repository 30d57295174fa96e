# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/Inputs/models.csv %t

# Models as the hub of Hugging Face has them: their parameters as published, and the FLOP of a forward pass of
# one example of `positions` as PyTorch 2.15's FlopCounterMode counts them in the models of transformers 5.23, on
# tensors without memory, attention in full.

import csv
import json
import pathlib
import re
import subprocess
import sys

models, folder = sys.argv[1], pathlib.Path(sys.argv[2])
axes = {"bert": ["T"], "vit": [], "t5": ["S", "T"]}
imports, text = set(), ""
for row in csv.DictReader(open(models)):
    config = json.loads(row["config"])
    name = re.sub(r"\W", "_", row["name"])
    path = folder / f"{name}.json"
    path.write_text(json.dumps({**config, "architectures": [row["model_class"]]}))
    written = subprocess.run(["netc", "import", str(path)], check=True, capture_output=True, text=True).stdout
    imported, call = re.search(r"^(import \S+)\n\n\w+( = .*)", written, re.M | re.S).groups()
    imports.add(imported)
    text += f"{name}{call}expect {name}.params == {row['params']}\n"
    if row["forward_flop"]:
        lengths = "".join(f"; {axis} = {row['positions']}" for axis in axes.get(config["model_type"], ["T"]))
        text += f"infer {name} as run_{name} {{ batch = 1; duration = 1 example{lengths} }}\n"
        text += f"expect run_{name}.step.forward == {row['forward_flop']} FLOP\n"
assert text.count("expect") > 50 and len(imports) > 15

specification = folder / "models.net"
specification.write_text("\n".join(sorted(imports)) + "\n" + text)
sys.exit(subprocess.run(["netc", "--check", str(specification)]).returncode)
