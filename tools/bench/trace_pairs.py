#!/usr/bin/env python3
# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Records training steps of PyTorch on a GPU twice, by torch.profiler and by Nsight Compute, for `netc --audit`.

    trace_pairs.py FOLDER                                   # all steps of examples/gpu_utilization.net
    trace_pairs.py FOLDER resnet50 --formats=amp --modes=eager

A step is NETWORK-FORMAT-MODE, such as bert-amp-compiled. Its trace is FOLDER/STEP.trace.json.gz, and the counters of its kernels are
FOLDER/STEP.counters.csv. Each is of a process of its own, with the same seed. Then the audit is

    netc --audit --trace=STEP.trace.json.gz,STEP.counters.csv --run=NETWORK --batch=N examples/gpu_utilization.net

Needs PyTorch, a GPU, and `ncu` with the right to read its counters; on a processor there are traces alone.
"""

import argparse
import os
import subprocess
import sys

FORMATS = ("f32", "tf32", "amp")
MODES = ("eager", "compiled")
BATCH = {"resnet50": 64, "bert": 8, "dlrm": 2048}
METRICS = """
gpu__time_duration.sum sm__cycles_elapsed.sum sm__cycles_elapsed.avg.per_second sm__cycles_active.sum smsp__cycles_elapsed.sum
smsp__cycles_active.sum smsp__issue_active.sum smsp__inst_executed_pipe_tensor_op_hmma.sum
smsp__inst_executed_pipe_tensor_op_gmma.sum
sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed smsp__sass_thread_inst_executed_op_ffma_pred_on.sum
smsp__sass_thread_inst_executed_op_fadd_pred_on.sum smsp__sass_thread_inst_executed_op_fmul_pred_on.sum
sm__warps_active.avg.pct_of_peak_sustained_active dram__bytes_read.sum dram__bytes_write.sum
""".split()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", help="of the traces")
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(BATCH) + " (default: all)")
    parser.add_argument("--formats", default=",".join(FORMATS), help="(default %(default)s)")
    parser.add_argument("--modes", default=",".join(MODES), help="(default %(default)s)")
    parser.add_argument("--batch", type=int, help="examples of a step (default: " + ", ".join(f"{k} {v}" for k, v in BATCH.items()) + ")")
    parser.add_argument("--device", default="cuda", help="cpu, to try this (default %(default)s)")
    parser.add_argument("--without-counters", action="store_true", help="only torch.profiler")
    parser.add_argument("--timeout", type=float, default=600, help="of a process, in seconds (default %(default)s)")
    parser.add_argument("--counted", action="store_true", help=argparse.SUPPRESS)  # the process that ncu watches
    arguments = parser.parse_args()
    arguments.networks = arguments.networks or list(BATCH)
    for name in arguments.networks:
        if name not in BATCH:
            parser.error(f"there is no network `{name}`, but {', '.join(BATCH)}")
    for option, known in (("formats", FORMATS), ("modes", MODES)):
        given = getattr(arguments, option).split(",")
        if not set(given) <= set(known):
            parser.error(f"--{option} lists some of {', '.join(known)}")
        setattr(arguments, option, given)
    return arguments


def model_of(network, batch):
    """The module of a network, its inputs, and its loss of the outputs."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    import pytorch_models

    class Bert(nn.Module):
        def __init__(self, vocabulary=30_522, d=768, layers=12):
            super().__init__()
            self.words = nn.Embedding(vocabulary, d)
            self.position = nn.Parameter(torch.randn(512, d))
            self.norm = nn.LayerNorm(d)
            layer = nn.TransformerEncoderLayer(d, 12, 4 * d, dropout=0.0, activation="gelu", batch_first=True)
            self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

        def forward(self, tokens):
            return F.linear(self.layers(self.norm(self.words(tokens) + self.position)), self.words.weight)

    class Dlrm(nn.Module):
        ROWS = [1460, 583, 10_131_227, 2_202_608, 305, 24, 12_517, 633, 3, 93_145, 5683, 8_351_593, 3194]
        ROWS += [27, 14_992, 5_461_306, 10, 5652, 2173, 4, 7_046_547, 18, 15, 286_181, 105, 142_572]

        def __init__(self, d=16):
            super().__init__()
            self.tables = nn.ModuleList(nn.EmbeddingBag(rows, d, mode="sum") for rows in self.ROWS)
            self.bottom = self.layers([13, 512, 256, 64, d], nn.ReLU)
            self.top = self.layers([d + 27 * 26 // 2, 512, 256, 1], nn.Sigmoid)

        @staticmethod
        def layers(sizes, last):
            pairs = list(zip(sizes, sizes[1:]))
            acts = [nn.ReLU] * (len(pairs) - 1) + [last]
            return nn.Sequential(*(layer for (a, b), act in zip(pairs, acts) for layer in (nn.Linear(a, b), act())))

        def forward(self, dense, sparse):
            z = self.bottom(dense)
            v = torch.stack([z] + [table(sparse[:, i : i + 1]) for i, table in enumerate(self.tables)], 1)
            rows, columns = torch.tril_indices(27, 27, -1)
            return self.top(torch.cat([z, torch.bmm(v, v.transpose(1, 2))[:, rows, columns]], 1))

    if network == "resnet50":
        image, label = pytorch_models.images(batch)
        model = pytorch_models.MODELS[network][0]().to(memory_format=torch.channels_last)
        return model, [image.contiguous(memory_format=torch.channels_last)], lambda y, to: F.cross_entropy(y, label.to(to))
    if network == "bert":
        tokens, words = (torch.randint(30_522, (batch, 512)) for _ in range(2))
        return Bert(), [tokens], lambda y, to: F.cross_entropy(y.flatten(0, 1), words.to(to).flatten())
    sparse = torch.stack([torch.randint(rows, (batch,)) for rows in Dlrm.ROWS], 1)
    clicked = torch.rand(batch, 1).round()
    return Dlrm(), [torch.rand(batch, 13), sparse], lambda y, to: F.binary_cross_entropy(y.float(), clicked.to(to))


def record(arguments):
    """Runs a step in this process, and writes its trace unless another program counts."""
    import torch

    network, precision, mode = arguments.networks[0], arguments.formats[0], arguments.modes[0]
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    device = torch.device(arguments.device)
    with device:
        model, inputs, loss = model_of(network, arguments.batch or BATCH[network])
    optimizer = (
        torch.optim.AdamW(model.parameters(), lr=1e-4)
        if network == "bert"
        else torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9 * (network == "resnet50"))
    )
    called = torch.compile(model) if mode == "compiled" else model
    low = torch.float16 if device.type == "cuda" else torch.bfloat16
    scaler = torch.amp.GradScaler(device.type, enabled=precision == "amp" and device.type == "cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        # The loss of DLRM is not safe in 16 bits.
        with torch.autocast(device.type, low, enabled=precision == "amp"):
            y = called(*inputs)
        scaler.scale(loss(y.float(), device)).backward()
        scaler.step(optimizer)
        scaler.update()
        if device.type == "cuda":
            torch.cuda.synchronize()

    for _ in range(3):
        step()
    if arguments.counted:
        torch.cuda.cudart().cudaProfilerStart()
        step()
        torch.cuda.cudart().cudaProfilerStop()
        return
    from torch.profiler import profile, schedule

    with profile(record_shapes=True, schedule=schedule(wait=0, warmup=1, active=1, repeat=1)) as prof:
        for _ in range(2):
            step()
            prof.step()
    prof.export_chrome_trace(os.path.join(arguments.folder, f"{network}-{precision}-{mode}.trace.json.gz"))


def known_metrics():
    """Those of METRICS that the GPU has; the others are printed. `ncu` counts nothing if one is unknown."""
    listed = subprocess.run(["ncu", "--query-metrics"], stdout=subprocess.PIPE, text=True).stdout
    names = {line.split()[0] for line in listed.splitlines() if line.strip()}
    lacking = [metric for metric in METRICS if names and metric.split(".")[0] not in names]
    if lacking:
        print("without", *lacking, flush=True)
    return [metric for metric in METRICS if metric not in lacking]


def main():
    arguments = parse_arguments()
    os.makedirs(arguments.folder, exist_ok=True)
    points = [(n, f, m) for n in arguments.networks for f in arguments.formats for m in arguments.modes]
    if len(points) == 1 and (arguments.counted or arguments.without_counters):
        return record(arguments)
    counts = not arguments.without_counters and arguments.device == "cuda"
    metrics = known_metrics() if counts else []
    failed = False
    for network, precision, mode in points:
        name = f"{network}-{precision}-{mode}"
        own = [sys.executable, __file__, arguments.folder, network, f"--formats={precision}", f"--modes={mode}", f"--device={arguments.device}"]
        own += [f"--batch={arguments.batch}"] if arguments.batch else []
        counters = os.path.join(arguments.folder, f"{name}.counters.csv")
        ncu = ["ncu", "--csv", "--page", "raw", "--profile-from-start", "off", "--clock-control", "none", "--cache-control", "none"]
        ncu += ["--target-processes", "all", "--log-file", counters, "--metrics", ",".join(metrics)]
        commands = [own + ["--without-counters"]]
        if counts:
            commands.append(ncu + own + ["--counted"])
        for command in commands:
            try:
                status = subprocess.run(command, timeout=arguments.timeout, stdout=subprocess.DEVNULL).returncode
            except subprocess.TimeoutExpired:
                status = f"no end within {arguments.timeout:g} s"
            print(f"{name}, {'ncu' if command[0] == 'ncu' else 'torch.profiler'}: {status or 'written'}", flush=True)
            failed |= status != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
