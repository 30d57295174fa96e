# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes XSpaces of three steps, as jax.profiler does of a TPU, a GPU and a host, into the folder of the first argument."""

import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
MICROSECOND = 1_000_000  # in picoseconds


def varint(value):
    text = b""
    while value > 127:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def plane(name, **lines):
    """Each line has events of a name, a start and a duration in us, and stats."""
    names, stats, text = {}, {}, field(2, name)
    for line, events in lines.items():
        own = field(2, line.replace("_", " ")) + field(3, 1000)
        for event, start, duration, values in events:
            message = field(1, names.setdefault(event, len(names) + 1))
            message += field(2, start * MICROSECOND) + field(3, duration * MICROSECOND)
            for stat, value in values.items():
                key = field(1, stats.setdefault(stat, len(stats) + 1))
                message += field(4, key + field(4 if isinstance(value, int) else 5, value))
            own += field(4, message)
        text += field(3, own)
    for number, known in (4, names), (5, stats):
        for key, id in known.items():
            text += field(number, field(1, id) + field(2, field(1, id) + field(2, key)))
    return field(1, text)


def steps(*events):
    return [(name, 1000 * step + at, time, stats) for step in range(3) for name, at, time, stats in events]


def write(name, *planes):
    (folder / f"{name}.xplane.pb").write_bytes(b"".join(planes))


python = [("train", 1000 * step, 950, {"step_num": step}) for step in range(3)]
host = plane("/host:CPU", python=python)
ops = steps(("%fusion.1 = bf16[8,128] fusion", 0, 300, {}), ("%all-reduce.1 = f32[8] all-reduce", 300, 200, {}))
numbers = [(str(step), 1000 * step, 800, {}) for step in range(3)]
write("tpu", plane("/device:TPU:0", Steps=numbers, XLA_Ops=ops), plane("/device:TPU:1", Steps=numbers), host)
stream = {"Stream #13(Compute)": steps(("gemm", 0, 300, {}), ("loop_add_fusion", 300, 200, {}))}
write("gpu", plane("/device:GPU:0", **stream), host)
write("host", plane("/host:CPU", python=python, pool=steps(("dot.1", 10, 20, {"hlo_op": "dot.1"}))))
