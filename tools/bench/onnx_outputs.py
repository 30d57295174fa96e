# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes networks as ONNX models, and compares the outputs of onnxruntime with those of netc's own program, for the same
weights and data.

    python3 tools/bench/onnx_outputs.py --netc build/release/bin/netc [--keep folder] [FILE.net:NET[:T=16,..] ..]

Needs onnx and onnxruntime, and a C++ compiler, which links the programs. Prints a line for each network: its parameters, the
nodes of the model, and for each output the largest difference, divided by the largest number. By default, the networks are the
examples that compile and run in seconds. A free axis has 8 positions, or the number in `FILE.net:NET:T=16`.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))

import numpy

import netc

NETWORKS = """
lenet300:LeNet300 dqn:DQN dqn:Database alphago_zero:AGZ squeezenet:squeezenet1_0 muon:Small dit:Small
resnet:small18 resnet:small50 vgg:small11 alexnet:small mobilenet:small efficientnet:small swin:SmallSwin whisper:Small
mesh_graph_nets:Small mistral:Small mixtral:Small deepseek_v3:Small sequences:ManyToOne sequences:Aligned sequences:ToItself
sequences:Translation moe_sharing_seq2seq:Shared albert:ALBERT gan:GAN densenet:densenet121 ddpm:UNet
"""
TOLERANCE = 1e-4
TYPES = {"f32": "f4", "i32": "i4", "i64": "i8", "i16": "i2", "i8": "i1", "u8": "u1"}


def program(text, folder, name, sizes):
    """The data of netc's own program by input, the folder of its weights, and its results by name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "spec.net"
    path.write_text(text)
    sizes = {**{axis: 8 for axis in netc.to_graph(path, net=name)["symbols"] if axis != "N"}, **sizes}
    given = "; ".join(f"{axis} = {size}" for axis, size in sizes.items())
    path.write_text(text + f"\ninfer {name} as compared {{ batch = 2; {given}{'; ' if given else ''}duration = 2 examples }}\n")
    graph = netc.to_graph(path, run="compared")
    random = numpy.random.default_rng(0)
    data = {}
    for value in graph["inputs"]:
        shape = [size if isinstance(size, int) else {"N": 2, **sizes}[size] for size in value["shape"]]
        array = random.standard_normal(shape) if value["type"].startswith("f") else random.integers(0, 2, shape)
        data[value["name"]] = array.astype(TYPES[value["type"]])
        numpy.save(folder / f"{value['name']}.npy", data[value["name"]])
    binary = folder / "program"
    subprocess.run([os.environ["NETC"], "--emit=exe", "--run=compared", path, "-o", binary], check=True)
    files = ",".join(f"{key}={folder / key}.npy" for key in data)
    subprocess.run([binary, "--steps=1", "--quiet", f"--data={files}", f"--dump={folder / 'weights'}", f"--results={folder / 'results'}"], check=True)
    results = {output["name"]: numpy.load(folder / "results" / f"{output['name']}.npy") for output in graph["outputs"]}
    return path, graph, data, folder / "weights", results


def compare(path, name, sizes, folder):
    """The graph, the number of nodes of the model, and the error of each output."""
    import onnx
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    spec, graph, data, weights, results = program(path.read_text(), folder, name, sizes)
    errors = {}
    for asked in {"run": "compared"}, {"net": name}:
        model = netc.to_onnx(spec, folder / "model.onnx", weights=weights, **asked)
        onnx.checker.check_model(str(folder / "model.onnx"), full_check=True)
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
        for output, made in zip(graph["outputs"], session.run(None, data)):
            expected = results[output["name"]]
            assert made.shape == expected.shape, (output["name"], made.shape, expected.shape)
            error = float(abs(made - expected).max() / max(abs(expected).max(), 1e-30))
            errors[output["name"]] = max(error, errors.get(output["name"], 0))
    return graph, len(model.graph.node), errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--netc", default="netc")
    parser.add_argument("--keep", type=pathlib.Path, help="where the models stay")
    parser.add_argument("networks", nargs="*")
    given = parser.parse_args()
    os.environ["NETC"] = given.netc
    examples, failed = pathlib.Path(__file__).parents[2] / "examples", 0
    with tempfile.TemporaryDirectory() as scratch:
        for entry in given.networks or NETWORKS.split():
            file, name, sizes = [*entry.split(":"), ""][:3]
            path = pathlib.Path(file if file.endswith(".net") else examples / f"{file}.net")
            sizes = dict(pair.split("=") for pair in sizes.split(",") if pair)
            folder = (given.keep or pathlib.Path(scratch)) / f"{path.stem}.{name}"
            try:
                graph, nodes, errors = compare(path, name, {axis: int(size) for axis, size in sizes.items()}, folder)
            except (netc.NetcError, subprocess.CalledProcessError) as problem:
                print(f"{entry:40} {str(problem).splitlines()[0][:200]}", flush=True)
                failed += 1
                continue
            count = sum(int(numpy.prod(weight["shape"])) for weight in graph["weights"] if not weight.get("state"))
            text = ", ".join(f"{key} {error:.1e}" for key, error in errors.items())
            failed += max(errors.values()) > TOLERANCE
            print(f"{entry:40} {count:>11} parameters  {nodes:>5} nodes  {text}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
