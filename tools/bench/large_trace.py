#!/usr/bin/env python3
# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes a large trace in torch.profiler's format, to time how netc reads it.

    tools/bench/large_trace.py --events=5000000 /tmp/large.json
    tools/bench/large_trace.py --events=5000000 --sqlite /tmp/large.sqlite
    /usr/bin/time -v netc --audit --trace=/tmp/large.json > /dev/null

Each layer of a step is an op of a linear layer with the ops that it calls, its launch and its kernel, a Python function, and an
event that is dropped. Shapes, strides and values of inputs are those of a transformer. Times and ids increase. With `--sqlite` it is what
Nsight Systems exports: a range, a launch and a kernel of each layer, whose name is as long as those of templates.
"""

import argparse
import sqlite3

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--events", type=int, default=5_000_000, help="events in the trace")
parser.add_argument("--layers", type=int, default=200, help="layers of a step")
parser.add_argument("--sqlite", action="store_true", help="in the format of Nsight Systems")
parser.add_argument("file")
arguments = parser.parse_args()

DIMS = '"Input Dims": [[1024], [4096, 512], [512, 1024], [], []]'
LAYER = """
  {{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 7, "tid": 7, "ts": {a}.111, "dur": 80.5, "args":
    {{"External id": {i}, "Record function id": 0, "Input type": ["float", "float", "float"],
      "Input Dims": [[8, 512, 512], [1024, 512], [1024]], "Concrete Inputs": ["", "", ""], "Ev Idx": {i}}}}},
  {{"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 7, "tid": 7, "ts": {a}.211, "dur": 70.25, "args":
    {{"External id": {i}, "Sequence number": {i}, "Fwd thread id": 0, "Record function id": 0, {dims},
      "Input type": ["float", "float", "float", "Scalar", "Scalar"],
      "Concrete Inputs": ["", "", "", "1", "1"], "Input Strides": [[1], [512, 1], [1, 512], [], []], "Ev Idx": {i}}}}},
  {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": {a}.511, "dur": 6.125,
    "args": {{"External id": {i}, "cbid": 211, "correlation": {i}}}}},
  {{"ph": "X", "cat": "kernel", "name": "ampere_sgemm_128x64_tn", "pid": 0, "tid": 7, "ts": {b}.125, "dur": 60.5,
    "args": {{"External id": {i}, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {i},
      "registers per thread": 122, "shared memory": 16384, "blocks per SM": 2.37, "warps per SM": 9.48,
      "grid": [16, 16, 1], "block": [128, 1, 1], "est. achieved occupancy %": 15}}}},
  {{"ph": "X", "cat": "python_function", "name": "torch/nn/modules/linear.py(130): forward", "pid": 7, "tid": 7,
    "ts": {a}.011, "dur": 82.5, "args": {{"Python parent id": {i}, "Python id": {i}, "Ev Idx": {i}}}}},
  {{"ph": "s", "id": {i}, "pid": 7, "tid": 7, "ts": {a}.511, "cat": "ac2g", "name": "ac2g"}}"""
EVENTS_OF_LAYER = 6
STEP = """
  {{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{k}", "pid": 7, "tid": 7, "ts": {a}.001,
    "dur": {d}.5, "args": {{"External id": 0, "Ev Idx": 0}}}}"""

TABLES = """
  create table StringIds(id integer primary key, value text);
  create table CUPTI_ACTIVITY_KIND_KERNEL(start integer, end integer, deviceId integer, streamId integer, correlationId integer,
    globalPid integer, demangledName integer, gridX integer, gridY integer, gridZ integer, blockX integer, blockY integer,
    blockZ integer);
  create table CUPTI_ACTIVITY_KIND_RUNTIME(start integer, end integer, globalTid integer, correlationId integer, nameId integer);
  create table NVTX_EVENTS(start integer, end integer, eventType integer, text text, textId integer, globalTid integer);"""
KERNEL = "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, ...>>(int) "


def write_json():
    events = arguments.layers * EVENTS_OF_LAYER + 1
    template = LAYER.replace("\n", "").replace("    ", " ")
    with open(arguments.file, "w") as file:
        file.write('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}],')
        file.write('"traceEvents": [')
        now = 1_000_000
        for k in range(max(arguments.events // events, 1)):
            parts = [STEP.format(k=k, a=now, d=100 * arguments.layers)]
            for layer in range(arguments.layers):
                i = k * arguments.layers + layer + 1
                at = now + 100 * layer
                parts.append(template.format(a=at, b=at + 40, i=i, dims=DIMS))
            now += 100 * arguments.layers + 50
            file.write(("," if k else "") + ",".join(parts))
        file.write("]}\n")


def write_sqlite():
    process, thread, launch = 7 << 24, 7 << 24 | 7, arguments.layers
    each = range(arguments.events // 3)
    names = [(i, KERNEL * 10 + str(i)) for i in range(arguments.layers)] + [(launch, "cudaLaunchKernel")]
    with sqlite3.connect(arguments.file) as database:
        database.executescript(TABLES)
        database.executemany("insert into StringIds values (?, ?)", names)
        database.executemany(
            f"insert into CUPTI_ACTIVITY_KIND_KERNEL values (? + 400, ? + 900, 0, 7, ?, {process}, ?, 16, 16, 1, 128, 1, 1)",
            ((1000 * i, 1000 * i, i, i % launch) for i in each),
        )
        database.executemany(
            f"insert into CUPTI_ACTIVITY_KIND_RUNTIME values (? + 200, ? + 300, {thread}, ?, {launch})",
            ((1000 * i, 1000 * i, i) for i in each),
        )
        database.executemany(
            f"insert into NVTX_EVENTS values (? + 100, ? + 950, 59, null, ?, {thread})",
            ((1000 * i, 1000 * i, i % launch) for i in each),
        )


write_sqlite() if arguments.sqlite else write_json()
