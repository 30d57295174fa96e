# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/Inputs/small.json %t

# A small model of each family: the config.json, and the names and shapes of the weights, that `save_pretrained` of
# transformers 5.24 wrote, and the parameters that PyTorch counts. netc has the same, from one file of weights and
# from several.

import json
import pathlib
import re
import struct
import subprocess
import sys

models, folder = json.load(open(sys.argv[1])), pathlib.Path(sys.argv[2])
# A number for each of 8 experts in 2 layers is a buffer to transformers.
not_parameters = {"deepseek_v3": 2 * 8}


def write(path, weights):
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in weights.items():
        begin, end = end, end + 4
        for size in shape:
            end = begin + (end - begin) * size
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)  # without a number in it


imports, text = set(), ""
for kind, model in models.items():
    for files in (1, 2):
        place = folder / f"{kind}_{files}"
        place.mkdir()
        (place / "config.json").write_text(json.dumps(model["config"]))
        names = list(model["weights"])
        if files == 1:
            write(place / "model.safetensors", model["weights"])
        else:
            listed = {}
            for i, part in enumerate((names[::2], names[1::2])):
                shard = f"model-{i + 1}-of-2.safetensors"
                write(place / shard, {name: model["weights"][name] for name in part})
                listed |= dict.fromkeys(part, shard)
            (place / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": listed}))
        done = subprocess.run(["netc", "import", "config.json"], cwd=place, check=True, capture_output=True, text=True)
        if files == 2:
            assert done.stdout == written, kind
        written = done.stdout
    imported, call = re.search(r"^(import \S+)\n\n(.*)", written, re.M | re.S).groups()
    imports.add(imported)
    assert f"expect {kind}.params == " in call, call
    text += call + f"expect {kind}.params == {model['parameters'] + not_parameters.get(kind, 0)}\n"
assert len(models) == 23

specification = folder / "models.net"
specification.write_text("\n".join(sorted(imports)) + "\n" + text)

# A layer that has no experts, though it would be its turn, has the weights of others without.
model, place = models["qwen2_moe"], folder / "dense"
place.mkdir()
(place / "config.json").write_text(json.dumps({**model["config"], "mlp_only_layers": [1]}))
plain = {name.replace("layers.0", "layers.1"): shape for name, shape in model["weights"].items() if "layers.0.mlp" in name}
write(place / "model.safetensors", {name: shape for name, shape in model["weights"].items() if "layers.1.mlp" not in name} | plain)
written = subprocess.run(["netc", "import", "config.json"], cwd=place, check=True, capture_output=True, text=True).stdout
assert "dense = [1])\nexpect qwen2_moe.params == " in written, written
(place / "model.net").write_text(written)
subprocess.run(["netc", "--check", str(place / "model.net")], check=True)
# DeepSeek's projections have biases where `attention_bias` asks for them, but for those from a rank; so have its FFNs by `mlp_bias`, but for experts.
for kind, keys, biased in (
    ("deepseek_v2", {"attention_bias": True}, r"(q_a_proj|kv_a_proj_with_mqa|o_proj)\.weight"),
    ("deepseek_v2", {"attention_bias": True, "q_lora_rank": None}, r"(kv_a_proj_with_mqa|o_proj)\.weight"),
    ("deepseek_v2", {"mlp_bias": True}, r"mlp\.(shared_experts\.)?\w+_proj\.weight"),
    ("deepseek_v3", {"attention_bias": True}, r"(q_a_proj|kv_a_proj_with_mqa|o_proj)\.weight"),
):
    model, place = models[kind], folder / f"{kind}_{'_'.join(keys)}"
    place.mkdir()
    (place / "config.json").write_text(json.dumps({**model["config"], **keys}))
    plain = model["weights"]
    if "q_lora_rank" in keys:  # one projection for two, and the norm between them
        plain = {re.sub("q_b_proj", "q_proj", name): [shape[0], 16] if "q_b_proj" in name else shape for name, shape in plain.items() if "q_a_" not in name}
    write(place / "model.safetensors", plain | {name.replace(".weight", ".bias"): shape[:1] for name, shape in plain.items() if re.search(biased, name)})
    written = subprocess.run(["netc", "import", "config.json"], cwd=place, check=True, capture_output=True, text=True).stdout
    assert f"expect {kind}.params == " in written, written
    (place / "model.net").write_text(written)
    subprocess.run(["netc", "--check", str(place / "model.net")], check=True)
sys.exit(subprocess.run(["netc", "--check", str(specification)]).returncode)
