# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes traces and counts, each made for one rule or one picture of the audit, into a folder.

They are what torch.profiler would write of networks of one or two layers; times are made up, and say nothing.
"""

import csv
import json
import sqlite3

from written_traces import Trace, counts, folder

# Two convolutions in two groups, and what their gradients are.
IMAGE, WEIGHT = [2, 8, 4, 4], [8, 4, 3, 3]
F = 2 * 2 * 8 * 4 * 4 * 4 * 3 * 3
FORWARD = ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2"]
SECOND, FIRST = [IMAGE, IMAGE, WEIGHT], [IMAGE, IMAGE, WEIGHT, []]


def backward(mask):
    return ["", "", "", "", *FORWARD[3:6], "False", "[0, 0]", "2", mask]


def convolutions(extra=lambda trace: None, drop=False):
    trace = Trace()
    kernels = [("conv", 20), ("conv", 20), ("conv", 20)]
    trace.op("aten::convolution", IMAGE, WEIGHT, values=FORWARD, sequence=1, kernels=kernels)
    if not drop:
        trace.op("aten::convolution", IMAGE, WEIGHT, [], values=FORWARD, sequence=2, kernels=kernels[:2])
    extra(trace)
    if not drop:
        trace.node(
            "ConvolutionBackward0",
            2,
            lambda: trace.op("aten::convolution_backward", *SECOND, values=backward("[True, True, False]")),
        )
    trace.node(
        "ConvolutionBackward0",
        1,
        lambda: trace.op("aten::convolution_backward", *FIRST, values=backward("[False, True, False]")),
    )
    return trace


def outside(trace):
    trace.around("user_annotation", "Optimizer.step#SGD.step", lambda: trace.op("aten::add", [8, 4, 3, 3]))
    trace.around("user_annotation", "enumerate(DataLoader)#_next", lambda: trace.op("aten::mul", [2, 8, 4, 4]))
    trace.around("user_annotation", "compute_loss", lambda: trace.op("aten::mul", [2, 8]))
    trace.around("cpu_op", "aten::mse_loss", lambda: trace.op("aten::mul", [2, 8]))


def of_bias(trace):
    """Gradients of a frozen layer that has a bias to train."""
    inner = lambda: trace.op("aten::convolution_backward", *SECOND, values=backward("[False, False, True]"))
    trace.node("ConvolutionBackward0", 3, inner)


ONE, TWO = [IMAGE, WEIGHT], [IMAGE, WEIGHT, []]
convolutions().write("convolutions")
convolutions(outside).write("outside")
convolutions(lambda trace: trace.op("aten::mm", [3, 5], [5, 7])).write("extra")
convolutions(drop=True).write("absent")
convolutions(of_bias).write("bias")
forward, both = "aten::convolution", "aten::convolution_backward"
counts("right", (forward, ONE, F), (forward, TWO, F), (both, SECOND, 2 * F), (both, FIRST, F))
counts("fma", (forward, ONE, F // 2), (forward, TWO, F // 2), (both, SECOND, F), (both, FIRST, F // 2))
counts("no-input-gradient", (forward, ONE, F), (forward, TWO, F), (both, SECOND, F), (both, FIRST, F))
counts("counted-input-gradient", (forward, ONE, F), (forward, TWO, F), (both, SECOND, 2 * F), (both, FIRST, 2 * F))
counts("twice", (forward, ONE, F), (forward, TWO, 2 * F), (both, SECOND, 2 * F), (both, FIRST, F))
counts("k-times", (forward, ONE, 3 * F), (forward, TWO, F), (both, SECOND, 2 * F), (both, FIRST, F))
counts("per-group", (forward, ONE, F), (forward, TWO, F // 2), (both, SECOND, 2 * F), (both, FIRST, F))
counts("unexplained", (forward, ONE, F), (forward, TWO, F - 77), (both, SECOND, 2 * F), (both, FIRST, F))

# Two convolutions of the same shapes, which differ in their stride: a list of events has both, a table their sum.
strides, WIDE = Trace(), [IMAGE, [8, 8, 3, 3], []]
for stride in 1, 2:
    values = ["", "", "", f"[{stride}, {stride}]", "[1, 1]", "[1, 1]"]
    inner = [*values, "False", "[0, 0]", "1"]
    called = {"Input Dims": WIDE, "Concrete Inputs": [*values, "1"]}
    strides.around("cpu_op", "aten::conv2d", lambda: strides.op("aten::convolution", *WIDE, values=inner), **called)
strides.write("strides")
counts("strides-events", ("aten::conv2d", WIDE, 2 * F), ("aten::conv2d", WIDE, 777))
widths = 12, 44, 10, 12
rule = "  ".join("-" * width for width in widths)
lines = [("Name", "Input Shapes", "# of Calls", "Total KFLOPs"), ("aten::conv2d", str(WIDE), "2", "46.080")]
head, row = ("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines)
(folder / "strides-table.txt").write_text("\n".join((rule, head, rule, row, rule, "")))
without = rule[:12] + rule[-26:], head[:12] + head[-26:], row[:12] + "           4        92.160"
(folder / "strides-calls.txt").write_text("\n".join((without[0], without[1], without[0], without[2], without[0], "")))

# What a tool that knows `mkldnn_rnn_layer` would count of the two steps of lstm.kineto.json.gz.
LAYER = [[10, 4, 32], [256, 32], [256, 64], [256], [256], [4, 64], [4, 64]]
AHEAD = LAYER + [[]] * 9
BACK = LAYER + [[10, 4, 64], [4, 64], [4, 64], [10, 4, 64]] + [[]] * 11 + [[180224]]
LSTM = 2 * 10 * 4 * 256 * (32 + 64)
TAGS = [
    ("aten::mkldnn_rnn_layer", AHEAD, LSTM),
    ("aten::mkldnn_rnn_layer_backward", BACK, 2 * LSTM),
    ("aten::mm", [[40, 64], [64, 10]], 51200),
    ("aten::mm", [[10, 40], [40, 64]], 51200),
    ("aten::mm", [[40, 10], [10, 64]], 51200),
]
counts("first-state", *TAGS, *TAGS)

# Attention, of which a mask hides half; tokens, of which some are padded.
attention = Trace()
heads = [2, 4, 16, 8]
attention.op("aten::_scaled_dot_product_flash_attention_for_cpu", heads, heads, heads)
attention.write("attention")
padded = Trace()
padded.around(
    "cpu_op",
    "aten::linear",
    lambda: padded.op("aten::mm", [4 * 16, 8], [8, 3]),
    **{"Input Dims": [[4, 16, 8], [3, 8]]},
)
padded.write("padded")

# A product of each kind.
kinds = Trace()
kinds.op("aten::_addmm_activation", [4], [2, 3], [3, 4])
kinds.op("aten::mv", [2, 3], [3])
kinds.op("aten::dot", [5], [5])
kinds.op("aten::addbmm", [2, 4], [5, 2, 3], [5, 3, 4])
kinds.op("aten::_grouped_mm", [7, 3], [2, 3, 4], [2])
kinds.op("aten::_scaled_mm", [7, 50], [50, 9], type="c10::Float4_e2m1fn_x2")
kinds.op("aten::_weight_int8pack_mm", [2, 3], [4, 3], [4])
kinds.around("cpu_op", "aten::matmul", lambda: kinds.op("aten::mm", [2, 3], [3, 4]))
kinds.op("aten::linear", [2, 5, 3], [4, 3], [4])
kinds.op("aten::cudnn_convolution_relu", IMAGE, WEIGHT, values=["", "", "", *FORWARD[3:6], "2"])
kinds.op("aten::mkldnn_convolution", IMAGE, WEIGHT, values=["", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "2"])
positions = [2, 6, 4, 8]
kinds.op("aten::_flash_attention_forward", positions, positions, positions, [], [])
words = [10, 4, 32]
lstm = ["2", "64", "0", "2", "False", "0.", "True", "True"]
kinds.op("aten::_cudnn_rnn", words, values=["", "", "0", "", "", "", *lstm])
kinds.op("aten::_cudnn_rnn_backward", words, values=["", "", "0", "", "", "", "", "", "", "", *lstm])
kinds.op("aten::miopen_rnn", words, values=["", "", "0", "", "", "3", "64", "1", "False", "0.", "True", "False"])
kinds.op("mkldnn::_linear_pointwise", [2, 3], [4, 3], [4])
kinds.op("mkldnn::_linear_pointwise", [2, 3], [2, 4], [4, 3], [4])
kinds.op("mkldnn::_convolution_pointwise", IMAGE, WEIGHT, [], values=["", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "2"])
kinds.write("kinds")

# What may multiply: ops whose shapes do not tell, ops of other libraries, and a kernel.
unknown = Trace()
unknown.op("aten::mm", [2, 3], [3, 4], kernels=[("sgemm", 5)])
unknown.op("aten::_flash_attention_forward", [12, 4, 8], [12, 4, 8], [12, 4, 8], [3], [3])
unknown.op("quantized::linear", [2, 3], [])
unknown.op("quantized::linear", [2, 3], [])
unknown.op("quantized::linear_prepack", [4, 3])
unknown.op("aten::_thnn_fused_lstm_cell", [4, 256], [4, 256])
unknown.op("aten::upsample_bilinear2d", IMAGE)
sparse = {"Input Dims": [[9, 4], [9, 9], [9, 4], [], []]}
unknown.around("cpu_op", "aten::_sparse_addmm", lambda: unknown.op("aten::addmm", *sparse["Input Dims"]), **sparse)
unknown.around("cpu_op", "aten::addmm", lambda: unknown.op("aten::sparse_dim", [9, 9]), **sparse)
unknown.around("cpu_op", "aten::addmm", lambda: unknown.op("aten::crow_indices", [9, 9]), **sparse)
unknown.op("aten::linalg_solve", [4, 4], [4, 2])
unknown.op("aten::fft_fft", [4, 4])
unknown.op("mine::scale", [2, 3], kernels=[("void cutlass::Kernel2<gemm>(int)", 40), ("fbgemm_gpu::scale", 7)])
unknown.write("unknown", deviceProperties=[{"id": 0, "name": "NVIDIA A10G"}])
ranges = Trace()
product = lambda: ranges.op("aten::mm", [2, 3], [3, 4])
ranges.around("user_annotation", "sparse_ffn", lambda: ranges.around("python_function", "nn.Module: sparse_0", product))
ranges.write("sparse-range")
alone = Trace()
alone.op("mine::scale", [2, 3], kernels=[("void cutlass::Kernel2<gemm>(int)", 40)])
alone.write("kernel-alone")

# Names that mean something to a page, a spreadsheet and a terminal, and a long one.
hostile = Trace()
for name in "<script>alert(1)<script>::linear", "=cmd|x::linear", "\x1b[31m::linear", "é" * 5000 + "::linear":
    hostile.op(name, [2, 3])
hostile.around(
    "python_function", "nn.Module: <b>\x1b[32m", lambda: hostile.op("aten::mm", [2, 3], [3, 4], kernels=[("<i>", 3)])
)
hostile.around(
    "python_function", "nn.Module: " + "é" * 40, lambda: hostile.op("aten::mm", [2, 3], [3, 4], kernels=[("é" * 79, 3)])
)
hostile.write("hostile", host_name="somebody")

# Two blocks that are alike, of which the trace has the second; names tell them apart.
named = Trace()
named.around(
    "python_function",
    "nn.Module: Blocks_0",
    lambda: named.around("user_annotation", "second", lambda: named.op("aten::mm", [4, 8], [8, 8])),
)
named.op("aten::mm", [4, 8], [8, 2])
named.write("named")

# Steps that only an optimizer marks, and a range of the user.
steps = Trace()
for step in range(4):
    steps.around(
        "user_annotation",
        "mine",
        lambda: [steps.op("aten::mm", [4, 8], [8, 16]) for _ in range(step + 1)],
    )
    steps.around("user_annotation", "Optimizer.step#SGD.step", lambda: None)
steps.write("steps")

# Sequences of a length and a number that the specification leaves open.
sequences = Trace()
N, T = 3, 5
sequences.op("aten::embedding", [100, 8], [N, T])
sequences.op("aten::mm", [N * T, 8], [8, 8])
sequences.op("aten::bmm", [N, T, 8], [N, 8, T])
sequences.op("aten::bmm", [N, T, T], [N, T, 8])
sequences.write("sequences")

# 4 examples of 16 positions. With 16 of 4, a fused kernel of attention alone has other sizes.
fused = Trace()
for name in "fused", "fused_twice":
    fused.op("aten::mm", [64, 8], [8, 24])
    fused.op("aten::_scaled_dot_product_flash_attention", *[[4, 2, 16, 4]] * 3)
    fused.op("aten::mm", [64, 8], [8, 32])
    fused.write(name)

# 3 examples of 12 positions or the other way round; and where attention tells.
exchanged = Trace()
rows = {"Input Dims": [[3, 12, 8], [8, 8]]}
exchanged.around("cpu_op", "aten::linear", lambda: exchanged.op("aten::mm", [36, 8], [8, 8]), **rows)
exchanged.write("exchanged")
exchanged.op("aten::_scaled_dot_product_flash_attention", *[[12, 1, 3, 8]] * 3)
exchanged.write("attended")


# Batches, with what the allocator of the profiler says.
def batch(size, duration):
    trace = Trace()

    def step():
        trace.events.append(
            {
                "ph": "i",
                "cat": "cpu_instant_event",
                "name": "[memory]",
                "pid": 1,
                "tid": 1,
                "ts": trace.now,
                "args": {"Total Allocated": 1000000 + 50000 * size, "Device Type": 1, "Bytes": 64, "Device Id": 0},
            }
        )
        trace.op("aten::mm", [size, 8], [8, 16], sequence=1, kernels=[("gemm<float>(int)", duration)])
        trace.op("aten::mm", [size, 16], [16, 2], sequence=2, kernels=[("gemm<float>(int)", 3), ("split", 2)])
        trace.now += duration

    trace.around("user_annotation", "ProfilerStep#3", step)
    trace.write(f"batch{size}", deviceProperties=[{"id": 0, "name": "NVIDIA A10G", "computeMajor": 8, "computeMinor": 6}])


for size, duration in (4, 100), (8, 130), (16, 240):
    batch(size, duration)
with open(folder / "counters.csv", "w") as file:
    file.write(
        '"ID","Kernel Name","Grid Size","Block Size","CC","sm__cycles_active.sum","sm__cycles_elapsed.sum",'
        '"smsp__cycles_active.sum","smsp__cycles_elapsed.sum","smsp__issue_active.sum",'
        '"smsp__inst_executed_pipe_tensor_op_hmma.sum","dram__bytes_read.sum","gpu__time_duration.sum",'
        '"sm__cycles_elapsed.avg.per_second"\n'
        '"","","","","","cycle","cycle","cycle","cycle","inst","inst","byte","ns","cycle/nsecond"\n'
        '"0","gemm","(8, 1, 1)","(128, 1, 1)","8.6","90","100","340","400","100","10","500","100","1.5"\n'
        '"1","gemm","(8, 1, 1)","(128, 1, 1)","8.6","50","100","180","400","40","4","50","10","1.3"\n'
    )

# Counters alone: the instructions of a product of 8192 x 8192 x 8192 on an H100, all of m16n8k16, and a kernel without
# any; long, wide and without times.
PRODUCT = {
    "smsp__inst_executed_pipe_tensor_op_hmma.sum": ("inst", "268,435,456"),
    "smsp__cycles_elapsed.sum": ("cycle", "17,596,460,432"),
    "gpu__time_duration.sum": ("ms", "22.87"),
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": ("%", "6.23"),
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": ("inst", "21"),
}
ADDITION = {
    "smsp__inst_executed_pipe_tensor_op_hmma.sum": ("inst", "0"),
    "smsp__cycles_elapsed.sum": ("cycle", "17,596,460,432"),
    "gpu__time_duration.sum": ("ms", "2.13"),
}
KERNELS = [("void gemm<1>(int)", PRODUCT), ("add", ADDITION)]
with open(folder / "long.csv", "w", newline="") as file:
    lines = csv.writer(file, quoting=csv.QUOTE_ALL)
    lines.writerow(["ID", "Process ID", "Kernel Name", "CC", "Metric Name", "Metric Unit", "Metric Value"])
    for i, (name, metrics) in enumerate(KERNELS):
        for metric, (unit, value) in metrics.items():
            lines.writerow([i, 1, name, "9.0", metric, unit, value])
for name, left_out in ("wide", "none"), ("untimed", "gpu__time_duration.sum"):
    metrics = [metric for metric in PRODUCT if metric != left_out]
    with open(folder / f"{name}.csv", "w", newline="") as file:
        lines = csv.writer(file, quoting=csv.QUOTE_ALL)
        lines.writerow(["ID", "Kernel Name", "CC", *metrics])
        lines.writerow(["", "", "", *(PRODUCT[metric][0] for metric in metrics)])
        for i, (kernel, values) in enumerate(KERNELS):
            lines.writerow([i, kernel, "9.0", *(values.get(metric, ("", ""))[1] for metric in metrics)])

# A forward pass on a host; the same ops, of which nothing but the order is known.
small = Trace()
small.op("aten::mm", [4, 8], [8, 16])
small.op("aten::mm", [4, 16], [16, 2])
small.write("small")
nodes = [{"id": i, "parent": 1, "name": "aten::mm", "inputs": {"values": [], "shapes": [], "types": []}} for i in (2, 3)]
(folder / "untimed.json").write_text(json.dumps({"schema": "1.1.1", "nodes": nodes}))

# Ids at the ends of 64 bits.
LEAST, MOST = -(2**63), 2**63 - 1
for name, id in ("least", LEAST), ("most", MOST):
    extreme = Trace()
    extreme.op("aten::mm", [4, 8], [8, 16], kernels=[("gemm", 5)])
    for event in extreme.events:
        if "correlation" in event["args"]:
            event["args"]["correlation"] = id
    extreme.write(f"{name}-id")
nodes = [dict(node, id=id, parent=LEAST) for node, id in zip(nodes, (LEAST, MOST))]
(folder / "extreme-nodes.json").write_text(json.dumps({"schema": "1.1.1", "nodes": nodes}))

# Events that do not tell their time; sizes beyond all that a count has; sizes of 0.
untimed = Trace()
for _ in range(2):
    del untimed.op("aten::mm", [4, 8], [8, 16])["dur"]
untimed.write("without-times")
huge = Trace()
huge.op("aten::mm", [2**62, 2**62], [2**62, 2**62])
huge.write("huge")
large = Trace()
large.op("aten::mm", [4, 8], [8, 16])
large.op("aten::mm", [2**62, 8], [8, 2])
large.write("large")
for name, dims in (
    ("missing", []),
    ("negative", [-8, 16]),
    ("beyond", [10**30, 16]),
    ("fraction", [8.5, 16]),
    ("texts", ["a", "b"]),
):
    unusable = Trace()
    unusable.op("aten::mm", [4, 8], dims)
    unusable.op("aten::mm", [4, 16], [16, 2])
    unusable.write("unusable-" + name)
unlaunched = Trace()
unlaunched.around(
    "user_annotation", "ProfilerStep#1", lambda: unlaunched.op("aten::mm", [4, 8], [8, 16], kernels=[("gemm", 5)])
)
for event in unlaunched.events:
    if event["cat"] == "kernel":
        event["args"]["correlation"] = -1
unlaunched.write("unlaunched")
empty = Trace()
empty.op("aten::mm", [0, 8], [8, 16])
empty.write("of-nothing")

# What is no JSON, each in the first op; behind it where nothing can be read on.
for name, wrong in (
    ("nan", b"NaN"),
    ("infinity", b"[-Infinity, 1e-9, null, -3]"),
    ("escape", rb'"C:\Users\nobody \u12 \ud800\t \ud83d\ude00 \u00e9"'),
    ("bytes", b'"a\xff\xc3 \xc3\xa9 \xe2\x82"'),
    ("control", b'"a\x01b\n"'),
):
    (folder / f"damaged-{name}.json").write_bytes(
        (folder / "small.json").read_bytes().replace(b'"Concrete Inputs": []', b'"x": ' + wrong, 1)
    )
(folder / "damaged-syntax.json").write_text((folder / "small.json").read_text().replace("}}, {", "}}, what {", 1))
(folder / "marked.json").write_bytes(b"\xef\xbb\xbf" + (folder / "small.json").read_bytes())
(folder / "marked.csv").write_bytes(b"\xef\xbb\xbf" + (folder / "wide.csv").read_bytes())

# The FLOP of the first layer, of other sizes.
other = Trace()
other.op("aten::mm", [2, 16], [16, 16])
other.op("aten::mm", [4, 16], [16, 2])
other.write("of-other-sizes")

# Selective activation checkpointing: the first layer runs again, the result of the second one is saved.
selective = Trace()


def dispatched(op, *dims, sequence, isSaved=False):
    def inner():
        if sequence > 2:
            for operand in dims:
                selective.around("cpu_op", "aten::detach", lambda: mode(lambda: selective.op("aten::detach", operand)))
        mode(lambda: isSaved or selective.around("cpu_op", op, lambda: selective.op("aten::resolve_conj"), **operands))

    operands = {"Input Dims": dims}
    mode = lambda inner: selective.around("cpu_op", "PythonDispatchMode", inner)
    selective.around("cpu_op", op, inner, **operands, **{"Sequence number": sequence})


def again():
    dispatched("aten::mm", [4, 8], [8, 16], sequence=3)
    dispatched("aten::mm", [4, 16], [16, 2], sequence=4, isSaved=True)
    selective.op("aten::mm", [16, 4], [4, 2])
    selective.op("aten::mm", [4, 2], [2, 16])


dispatched("aten::mm", [4, 8], [8, 16], sequence=1)
dispatched("aten::mm", [4, 16], [16, 2], sequence=2)
selective.node("MmBackward0", 2, again)
selective.node("MmBackward0", 1, lambda: selective.op("aten::mm", [8, 4], [4, 16]))
selective.write("selective")

# Two steps of training in one of the profiler.
twice = Trace()


def training():
    for number in 1, 2:
        twice.op("aten::mm", [4, 8], [8, 16], sequence=2 * number)
        twice.op("aten::mm", [4, 16], [16, 2], sequence=2 * number + 1)
        twice.node("MmBackward0", 2 * number + 1, lambda: twice.op("aten::mm", [16, 4], [4, 2]))
        twice.around("user_annotation", "Optimizer.step#SGD.step", lambda: None)


twice.around("user_annotation", "ProfilerStep#1", training)
twice.write("two-steps")

# An optimizer that steps in the backward pass, once for each parameter, by hooks of their gradients.
hooked = Trace()


def updated():
    step = lambda: hooked.around("user_annotation", "Optimizer.step#SGD.step", lambda: None)
    hooked.around("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", step)


for number in 1, 2, 3:
    hooked.op("aten::mm", [4, 8], [8, 16], sequence=2 * number)
    hooked.op("aten::mm", [4, 16], [16, 2], sequence=2 * number + 1)
    last = lambda: [hooked.op("aten::mm", [16, 4], [4, 2]), hooked.op("aten::mm", [4, 2], [2, 16])]
    hooked.node("MmBackward0", 2 * number + 1, last)
    updated()
    hooked.node("MmBackward0", 2 * number, lambda: hooked.op("aten::mm", [8, 4], [4, 16]))
    updated()
hooked.write("hooked")

# Names with paths.
private = Trace()
private.op("/home/somebody/ops::linear", [2, 3])
private.around(
    "python_function",
    "nn.Module: C:\\Users\\somebody\\Block_0",
    lambda: private.op(
        "aten::mm",
        [2, 3],
        [3, 4],
        kernels=[("/home/somebody/scale.py:scale [node7:22]", 3), ("void C:\\somebody\\x.cu:gemm<int>(int)", 4)],
    ),
)
private.launch("/home/somebody/gemm.cu:gemm", 9)
private.launch("%2Fhome%2Fsomebody NODE7\\somebody fd00::7::gemm", 1)
private.around(
    "user_annotation",
    "somebody@node7 block of node7.somebody.local, 10.0.0.7, fd00::7, node7.somebody.example.de",
    lambda: private.op("aten::mm", [2, 3], [3, 5], kernels=[("gemm_on_node7.somebody.com", 5)]),
)
private.around("user_annotation", "gpu01", lambda: private.op("aten::mm", [2, 3], [3, 6]))
private.write("private", deviceProperties=[{"id": 0, "name": "/home/somebody/NVIDIA A10G /dev/somebody/gpu0 node7.somebody.internal"}])

# Three passes without marks, which are no layers of each other; two branches of one pass; equal layers.
ops = {
    "passes": 3 * [("aten::mm", [2, 3], [3, 4]), ("aten::softmax", [2, 4])],
    "branches": 2 * [("aten::mm", [2, 3], [3, 4]), ("aten::mm", [2, 4], [4, 5])] + [("aten::cosine_similarity", [2, 5])],
    "layers": 4 * [("aten::mm", [2, 3], [3, 3])],
}
for name, repeated in ops.items():
    trace = Trace()
    for op in repeated:
        trace.op(*op)
    trace.write(name)

# vmap: a product of one example has that of three inside, which FlopCounterMode sees alone.
mapped = Trace()


def product_of_all():
    mapped.around("cpu_op", "aten::mm", lambda: mapped.op("aten::bmm", [3, 2, 4], [3, 4, 5]), **{"Input Dims": [[2, 4], [4, 5]]})
    mapped.op("aten::add", [3, 1, 5], [3, 2, 5])


mapped.around("cpu_op", "aten::addmm", product_of_all, **{"Input Dims": [[5], [2, 4], [4, 5]]})
mapped.write("mapped")
(folder / "mapped.counter.json").write_text(json.dumps({"Global": {"aten.bmm": 240}}))

# Samples of the whole device, by Nsight Systems.
path = folder / "samples.sqlite"
path.unlink(missing_ok=True)
with sqlite3.connect(path) as database:
    database.executescript(
        """
        create table StringIds(id integer, value text);
        insert into StringIds values(1, 'gemm'), (2, 'cudaLaunchKernel');
        create table CUPTI_ACTIVITY_KIND_KERNEL(start integer, end integer, deviceId integer, streamId integer,
          correlationId integer, demangledName integer, gridX integer);
        insert into CUPTI_ACTIVITY_KIND_KERNEL values(1000, 3000, 1, 7, 1, 1, 8), (6000, 9000, 1, 7, 2, 1, 8);
        create table TARGET_INFO_GPU(name text, smCount integer, computeMajor integer, computeMinor integer);
        insert into TARGET_INFO_GPU values('NVIDIA H100 80GB HBM3', 132, 9, 0);
        create table TARGET_INFO_GPU_METRICS(typeId integer, metricId integer, metricName text);
        create table GPU_METRICS(timestamp integer, typeId integer, metricId integer, value integer);
        """
    )
    metrics = [
        "SMs Active [Throughput %]",
        "SM Issue [Throughput %]",
        "Tensor Active [Throughput %]",
        "DRAM Read Bandwidth [Throughput %]",
        "DRAM Write Bandwidth [Throughput %]",
        "Compute Warps in Flight [Throughput %]",
    ]
    for metric, name in enumerate(metrics, 1):
        database.execute("insert into TARGET_INFO_GPU_METRICS values(1, ?, ?)", (metric, name))
    for time, busy in (2000, 80), (4000, 0), (5000, 0), (7000, 64):
        for metric, share in (1, 1), (2, 0.5), (3, 0.25), (4, 0.125), (5, 0.125), (6, 0.5):
            database.execute("insert into GPU_METRICS values(?, 1, ?, ?)", (time, metric, busy * share))
            # Another device, on which no kernel of the trace runs.
            database.execute("insert into GPU_METRICS values(?, 0, ?, 100)", (time, metric))


# Counters of another program; of one kernel alone; and such as no GPU can count.
def counted(name, kernel, **counters):
    with open(folder / f"{name}.csv", "w", newline="") as file:
        lines = csv.writer(file, quoting=csv.QUOTE_ALL)
        lines.writerow(["ID", "Kernel Name", "Grid Size", "Block Size", "CC", *counters])
        lines.writerow(["0", kernel, "(8, 1, 1)", "(128, 1, 1)", "8.6", *counters.values()])


FMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
counted("other", "softmax", **{FMA: "64"})
counted("few", "split", **{FMA: "64", FMA.replace("ffma", "fadd"): "0", FMA.replace("ffma", "fmul"): "0"})
ACTIVE, ELAPSED, ISSUED = "smsp__cycles_active.sum", "smsp__cycles_elapsed.sum", "smsp__issue_active.sum"
counted("impossible", "gemm", **{ACTIVE: "300", ELAPSED: "400", ISSUED: "500", "sm__cycles_active.sum": "-7"})

# The same network in training.
trained = Trace()
trained.op("aten::mm", [4, 8], [8, 16], sequence=1)
trained.op("aten::mm", [4, 16], [16, 2], sequence=2)


def gradients(sequence, *products):
    trained.node("MmBackward0", sequence, lambda: [trained.op("aten::mm", a, b) for a, b in products])


gradients(2, ([16, 4], [4, 2]), ([4, 2], [2, 16]))
gradients(1, ([8, 4], [4, 16]))
trained.write("trained")

# Two branches, of which the second one of the specification runs first.
branches = Trace()
branches.op("aten::mm", [4, 6], [6, 12], sequence=1)
branches.op("aten::mm", [4, 8], [8, 16], sequence=2)
branches.op("aten::mm", [4, 28], [28, 3], sequence=3)
for sequence, products in (
    (3, [([28, 4], [4, 3]), ([4, 3], [3, 28])]),
    (2, [([8, 4], [4, 16])]),
    (1, [([6, 4], [4, 12])]),
):
    branches.node("MmBackward0", sequence, lambda: [branches.op("aten::mm", a, b) for a, b in products])
branches.write("two-branches")

# Many shapes, of which the network has two.
shapes = Trace()
for columns in range(1, 10_001):
    shapes.op("aten::mm", [4, 8], [8, columns])
shapes.op("aten::mm", [4, 16], [16, 2])
shapes.write("shapes")

# The profiler ended when the second step had begun.
cut = Trace()
cut.around("user_annotation", "ProfilerStep#3", lambda: cut.op("aten::mm", [4, 8], [8, 16]))
cut.around("user_annotation", "ProfilerStep#4", lambda: None)
cut.write("cut")

# Sizes that are texts, and none at all.
unsized = Trace()
unsized.op("aten::mm", ["four", 8], [8, "sixteen"])
unsized.op("aten::mm", [4, 8], [8, -16])
unsized.write("unsized")
shapeless = Trace()
shapeless.op("aten::addmm", kernels=[("nvjet_tst_192x192", 3)])
shapeless.launch("Cijk_Ailk_Bljk_BBS_BH_MT256x128x64", 4)
shapeless.write("shapeless")

# The FLOP and elements of the two convolutions, of more images that are smaller.
images = Trace()
images.op("aten::convolution", [8, 8, 2, 2], WEIGHT, values=FORWARD)
images.op("aten::convolution", [8, 8, 2, 2], WEIGHT, values=FORWARD)
images.write("of-other-images")

# Half of what a product of matrices costs, and twice as much.
counts("half-product", ("aten::mm", [[4, 8], [8, 16]], 512), ("aten::mm", [[4, 16], [16, 2]], 512))
counts("half-convolution", (forward, ONE, F), (forward, TWO, F // 2), (both, SECOND, F), (both, FIRST, F))

# Muon makes each weight orthogonal by five iterations of three products.
updated = trained


def orthogonal(rows, columns):
    for _ in range(5):
        updated.op("aten::mm", [rows, columns], [columns, rows])
        updated.op("aten::addmm", [rows, rows], [rows, rows], [rows, rows])
        updated.op("aten::addmm", [rows, columns], [rows, rows], [rows, columns])


updated.around("user_annotation", "Optimizer.step#Muon.step", lambda: [orthogonal(8, 16), orthogonal(2, 16)])
updated.write("updated")

# A recurrence in both directions, of which each is one op.
directions = Trace()
for _ in range(2):
    directions.op("aten::mkldnn_rnn_layer", [12, 3, 16], [96, 16], [96, 24], [96], [96], [3, 24], [3, 24])
directions.op("aten::mm", [36, 48], [48, 7])
directions.write("directions")

# 3 examples of 12 positions, which are rows of one matrix, and the layer around it, if the trace has it.
for name in "rows", "rows-alone":
    trace = Trace()
    for inputs, outputs in (8, 16), (16, 4):
        product = [36, inputs], [inputs, outputs]
        if name == "rows":
            dims = {"Input Dims": [[3, 12, inputs], [outputs, inputs], []]}
            trace.around("cpu_op", "aten::linear", lambda: trace.op("aten::mm", *product), **dims)
        else:
            trace.op("aten::mm", *product)
    trace.write(name)

# Attention in 4 heads of 8 features.
heads = Trace()
heads.op("aten::_scaled_dot_product_flash_attention_for_cpu", *[[2, 4, 16, 8]] * 3)
heads.write("heads")

# A layer under `vmap`: the op of one example has that of all inside. Its gradients are asked for such that they can be
# differentiated again, and have numbers of their own. Those of a second loss have none.
batched = Trace()


def of_all(op, example, *products, sequence):
    def inner():
        batched.op("aten::movedim", *example)
        for op, *dims in products:
            batched.op(op, *dims, sequence=sequence + 1)

    batched.around("cpu_op", op, inner, **{"Input Dims": example, "Sequence number": sequence})


of_all("aten::mm", [[1, 8], [8, 16]], ("aten::mm", [4, 8], [8, 16]), sequence=1)
of_all("aten::mm", [[1, 16], [16, 2]], ("aten::mm", [4, 16], [16, 2]), sequence=3)
batched.node(
    "MmBackward0",
    3,
    lambda: [
        of_all("aten::mm", [[16, 1], [1, 2]], ("aten::bmm", [4, 16, 1], [4, 1, 2]), sequence=5),
        of_all("aten::mm", [[1, 2], [2, 16]], ("aten::mm", [4, 2], [2, 16]), sequence=7),
    ],
)
batched.node(
    "MmBackward0",
    1,
    lambda: of_all("aten::mm", [[8, 1], [1, 16]], ("aten::bmm", [4, 8, 1], [4, 1, 16]), sequence=9),
)
batched.write("batched")
penalty = Trace()
for sequence, product in (1, ([4, 8], [8, 16])), (2, ([4, 16], [16, 2])):
    penalty.op("aten::mm", *product, sequence=sequence)
penalty.node("MmBackward0", 2, lambda: penalty.op("aten::mm", [4, 2], [2, 16], sequence=3))
penalty.node("MmBackward0", 3, lambda: penalty.op("aten::mm", [4, 16], [16, 2]))
for sequence, *products in (2, ([16, 4], [4, 2]), ([4, 2], [2, 16])), (1, ([8, 4], [4, 16])):
    penalty.node("MmBackward0", sequence, lambda: [penalty.op("aten::mm", a, b) for a, b in products])
penalty.write("penalty")

# A backward pass that goes through one graph twice, with an op of a compiler around the forward pass.
twice = Trace()
weights = {"Input Dims": [[16, 4, 2], [8, 16]]}
for sequence, product in (1, ([4, 8], [8, 16])), (2, ([4, 16], [16, 2])):
    twice.around("cpu_op", "CompiledFunction", lambda: twice.op("aten::mm", *product, sequence=sequence), **weights)
for _ in range(2):
    for sequence, *products in (2, ([16, 4], [4, 2]), ([4, 2], [2, 16])), (1, ([8, 4], [4, 16])):
        twice.node("MmBackward0", sequence, lambda: [twice.op("aten::mm", a, b) for a, b in products])
twice.write("again")

# Passes forward and backward of 3 and of 2 examples, then one step of the optimizer; with an evaluation of 6 behind them;
# and an optimizer that asks for gradients twice.
def ahead(trace, examples, number=None):
    trace.op("aten::mm", [examples, 8], [8, 16], sequence=number and 2 * number)
    trace.op("aten::mm", [examples, 16], [16, 2], sequence=number and 2 * number + 1)


def passes(trace, *sizes):
    for number, examples in enumerate(sizes, 1):
        ahead(trace, examples, number)
        for sequence, *products in (
            (2 * number + 1, ([2, examples], [examples, 16]), ([examples, 2], [2, 16])),
            (2 * number, ([16, examples], [examples, 8])),
        ):
            trace.node("MmBackward0", sequence, lambda: [trace.op("aten::mm", *product) for product in products])


unequal, closure = Trace(), Trace()
passes(unequal, 3, 2)
unequal.write("unequal")
ahead(unequal, 6)
unequal.write("evaluated")
closure.around("user_annotation", "Optimizer.step#LBFGS.step", lambda: passes(closure, 4, 4))
closure.write("closure")

# A compiled graph whose products are in a kernel that the trace does not show; marks alone; two ranks of one step; more
# devices and ops than a picture has.
graph, marks, many = Trace(), Trace(), Trace()
call = lambda: graph.event("user_annotation", "## Call CompiledFxGraph f00d ##")
compiled = lambda: graph.around("cpu_op", "Torch-Compiled Region: 0/0", call)
graph.around("user_annotation", "ProfilerStep#1", compiled)
graph.write("compiled-graph")
marks.event("user_annotation", "ProfilerStep#1")
marks.write("marks")
one = Trace().op("aten::mm", [2, 3], [3, 4])
for rank, examples in (0, 4), (1, 3):
    shared = Trace()
    ahead(shared, examples)
    shared.write(f"rank{rank}", distributedInfo={"backend": "nccl", "rank": rank, "world_size": 2})
for stream in range(40):
    many.op("mine::scale", [2, 3], kernels=[("gemm" if stream % 2 else "scale", 5)])
    many.events[-1]["args"].update(stream=stream, device=stream)
many.write("many-devices")
bars = Trace()
bars.event("user_annotation", "ProfilerStep#1", 50000)
bars.events += [dict(one, ts=2 * at, dur=1) for at in range(20007)]
bars.write("many-ops")

# A tool that counted additions and no multiply-adds.
counted("no-ffma", "gemm", **{FMA.replace("ffma", "fadd"): "64"})

# A transposed convolution, whose result is larger than what it reads.
transposed = Trace()
doubled = ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1"]
transposed.op("aten::convolution", [2, 8, 4, 4], [8, 5, 3, 3], values=doubled)
transposed.write("transposed")
plain = ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1"]
for is_transposed in True, False:
    plain[6] = str(is_transposed)
    other = Trace()
    other.op("aten::convolution", [2, 8, 4, 4], [8, 8, 3, 3], values=plain)
    other.write("transposed-plain" if is_transposed else "plain")

# Ops that call themselves: torch.profiler counts the call where it is all of the op, as without a cast, once.
calls, PLAIN = Trace(), {"Input Dims": WIDE, "Concrete Inputs": [*plain[:6], "1"]}


def convolve():
    calls.around("cpu_op", "aten::conv2d", lambda: calls.op("aten::convolution", *WIDE, values=plain), **PLAIN)


calls.around("cpu_op", "aten::conv2d", convolve, **PLAIN)
calls.around("cpu_op", "aten::conv2d", lambda: [calls.op("aten::to", WIDE[1]), convolve()], **PLAIN)
calls.write("calls")
counts("calls-counted", *[("aten::conv2d", WIDE, 2 * F)] * 3)

# The derivative of a product in forward mode is two products inside of it.
dual, NUMBERS = Trace(), [[3], [2, 4], [4, 3]]
products = lambda: [dual.op("aten::addmm", *NUMBERS), dual.op("aten::mm", *NUMBERS[1:]), dual.op("aten::mm", *NUMBERS[1:])]
dual.around("cpu_op", "aten::addmm", products, **{"Input Dims": NUMBERS})
dual.write("dual")

# A gate and what it lets through are packed in the specification, with an op between them in the trace; layers that follow
# each other have the sizes of a wide one.
gated, deep = Trace(), Trace()
for trace, width in (gated, 24), (deep, 16):
    trace.op("aten::mm", [30, 16], [16, width])
    trace.op("aten::silu", [30, width])
    trace.op("aten::mm", [30, 16], [16, width])
    trace.op("aten::mul", [30, width], [30, width])
    trace.op("aten::mm", [30, width], [width, 16])
gated.write("gated")
deep.write("deep")

# Experts that take parts of the rows.
experts = Trace()
for _ in range(3):
    experts.op("aten::mm", [8, 8], [8, 8])
for rows in 4, 3, 1:
    experts.op("aten::mm", [rows, 8], [8, 24])
    experts.op("aten::relu", [rows, 24])
    experts.op("aten::mm", [rows, 24], [24, 2])
experts.write("experts")

# Three recurrences, one after the other, whose products are one op of each position; and an attention whose examples and
# positions are as many as the positions and examples of the run.
stack = Trace()
N, T, STATE = 4, 8, 12
for inputs in 10, STATE, STATE:
    stack.around(
        "cpu_op",
        "aten::linear",
        lambda: stack.op("aten::mm", [N * T, inputs], [inputs, STATE]),
        **{"Input Dims": [[T, N, inputs], [STATE, inputs], []]},
    )
    for _ in range(T):
        stack.op("aten::mm", [N, STATE], [STATE, STATE])
stack.write("stack")
swapped = Trace()
for inputs, outputs in (8, 16), (16, 4):
    dims = {"Input Dims": [[7, 13, inputs], [outputs, inputs], []]}
    swapped.around("cpu_op", "aten::linear", lambda: swapped.op("aten::mm", [91, inputs], [inputs, outputs]), **dims)
swapped.op("aten::bmm", [7, 13, 4], [7, 4, 13])
swapped.write("swapped")

# A recurrence that reads data: its op computes the gradient of the data all the same.
recurrence = Trace()
recurrence.op("aten::mkldnn_rnn_layer", *AHEAD, sequence=1)
recurrence.node("MkldnnRnnLayerBackward0", 1, lambda: recurrence.op("aten::mkldnn_rnn_layer_backward", *BACK))
recurrence.write("recurrence")
counts("recurrence", ("aten::mkldnn_rnn_layer", AHEAD, LSTM), ("aten::mkldnn_rnn_layer_backward", BACK, 2 * LSTM))

# 12 images in 4 patches each, and a layer that reads the patches.
patches = Trace()
quarters = ["", "", "", "[4, 4]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"]
patches.op("aten::convolution", [12, 3, 8, 8], [8, 3, 4, 4], values=quarters)
patches.op("aten::mm", [48, 8], [8, 16])
patches.write("patches")
