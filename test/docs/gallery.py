# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: env PYTHONPATH=%source_dir/python %python %s %source_dir

# docs/Gallery.md is what netc reports of the models that the tests hold: configurations, and graphs that PyTorch and ONNX made.
# With `--write`, writes the document.

import csv
import gzip
import json
import pathlib
import re
import sys
import tempfile

import netc

root = pathlib.Path(sys.argv[1])
inputs = root / "test/Import/Inputs"
GRAPHS = {
    "alexnet": "AlexNet", "mobilenet_v2": "MobileNetV2", "mobilenet_v3_small": "MobileNetV3, small", "resnet18": "ResNet-18", "resnet50": "ResNet-50",
    "shufflenet_v2_x0_5": "ShuffleNetV2 × 0.5", "squeezenet1_0": "SqueezeNet 1.0", "convnext_tiny": "ConvNeXt, tiny", "swin_v2_t": "Swin v2, tiny",
}  # fmt: skip
CONFIGS = {
    "gpt2": "GPT-2", "gpt2-large": "GPT-2, large", "llama-7b": "LLaMA 7B", "llama-3-8b": "Llama 3 8B", "mistral-7b-v0.1": "Mistral 7B", "mixtral-8x7b": "Mixtral 8x7B",
    "qwen2-7b": "Qwen2 7B", "qwen3-0.6b": "Qwen3 0.6B", "gemma-2-2b": "Gemma 2 2B", "gemma-3-1b": "Gemma 3 1B", "phi-2": "Phi-2", "t5-base": "T5, base",
    "vit-base-patch16-224": "ViT-B/16", "whisper-small": "Whisper, small",
}  # fmt: skip
# The sizes of free axes, where they are not the positions of the configurations.
AXES = {"vit": [], "t5": ["S", "T"]}


def figures(text, sizes=""):
    """Of a specification: lines, parameters, FLOP of a forward pass and of training by one example, bytes to train."""
    net = re.search(r"^net (\w+)", text, re.M) or re.search(r"^(\w+) = ", text, re.M)
    result = re.findall(r"return (\w+)", text)[-1:] or ["logits"]
    run = f"train {net[1]} as run {{ batch = 1; duration = 1 step; loss = mean({result[0]}); optimizer = AdamW(lr = 1e-4){sizes} }}\n"
    report = netc.estimate(text + run)
    network, trained = report.networks[-1], report.runs[0]
    step = trained.operations.model.matmul
    return len(text.rstrip().split("\n")), network.parameters.total, trained.step.forward.matmul, step, trained.memory_per_device.total


def shown(number):
    for unit, scale in ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3):
        if number >= scale:
            return f"{number / scale:.4g} {unit}"
    return str(number)


def row(name, made):
    lines, parameters, forward, training, memory = made
    return f"| {name} | {lines} | {parameters:,} | {shown(forward)} | {shown(training)} | {shown(memory)}B |"


HEAD = ["| model | lines | parameters | forward, FLOP | training, FLOP | memory |", "|---|---:|---:|---:|---:|---:|"]
lines = [
    "# A gallery of imported models",
    "",
    "What netc reports of models that nobody wrote for it. A line is what [Import.md](Import.md) or [Python.md](Python.md) makes of a model, and what it",
    "costs to train it by one example: the exact FLOP of products, forward, and of forward and backward pass and update together; and the memory of a",
    "device that trains it in f32 with AdamW, by one example at a time, without parts that are run again. *Lines* are those of the specification that an",
    "import writes. A multiply-add is 2 FLOP.",
    "",
    "`python3 test/docs/gallery.py . --write` writes this page from `test/Import/Inputs`, and a test compares.",
    "",
    "## Networks of torchvision, by `netc.from_torch`",
    "",
    "Images of 224 × 224.",
    "",
    *HEAD,
]
for name, title in GRAPHS.items():
    graph = json.loads(gzip.decompress((inputs / f"graphs/{name}.json.gz").read_bytes()))
    lines.append(row(title, figures(netc.from_graph(graph))))
lines += ["", "## Models of the hub, by `netc import config.json`", ""]
lines += ["Sequences have 512 positions, Whisper's words 448. Scores that a mask hides are counted, except for those outside of a window.", "", *HEAD]
with tempfile.TemporaryDirectory() as folder:
    for entry in csv.DictReader((inputs / "models.csv").open()):
        if entry["name"] not in CONFIGS:
            continue
        config = json.loads(entry["config"])
        path = pathlib.Path(folder) / "config.json"
        path.write_text(json.dumps({**config, "architectures": [entry["model_class"]]}))
        sizes = "".join(f"; {axis} = {entry['positions']}" for axis in AXES.get(config["model_type"], ["T"]))
        lines.append(row(CONFIGS[entry["name"]], figures(netc.from_config(path), sizes)))
text = "\n".join(lines) + "\n"

document = root / "docs/Gallery.md"
if sys.argv[2:] == ["--write"]:
    document.write_text(text)
assert document.read_text() == text, "regenerate docs/Gallery.md: test/docs/gallery.py ROOT --write"
