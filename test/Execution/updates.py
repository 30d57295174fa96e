# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %S/Inputs/updates.net %t

# What three steps make of a matrix and a vector is what the formulas of the optimizers' papers make of them.

import ast
import os
import random
import shutil
import struct
import subprocess
import sys
from math import copysign, sqrt

STEPS = 3
SHAPES = {"matrix": (3, 4), "vector": (4,)}
TOLERANCE = 2e-6  # of the largest, in f32


def write(path, shape, values):
    header = repr({"descr": "<f4", "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}f", *values))


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    assert ast.literal_eval(data[10 : 10 + length].decode())["descr"] == "<f4"
    return [value for (value,) in struct.iter_unpack("<f", data[10 + length :])]


def zeros(w):
    return [0.0] * len(w)


def each(function, *vectors):
    return [function(*elements) for elements in zip(*vectors)]


# A rule takes a weight, its gradient, the number of the step, and what it keeps; it returns the weight after the step.
# What it keeps under a name that netc has for it, too, is compared as well.


def sgd(w, g, t, kept):
    return each(lambda w, g: w - 0.1 * (g + 0.01 * w), w, g)


def nesterov(w, g, t, kept):
    v = kept["v"] = each(lambda v, g: 0.9 * v + g, kept.get("v", zeros(w)), g)
    return each(lambda w, g, v: w - 0.1 * (g + 0.9 * v), w, g, v)


def moments(g, t, kept, b1=0.9, b2=0.999):
    m = kept["m"] = each(lambda m, g: b1 * m + (1 - b1) * g, kept.get("m", zeros(g)), g)
    v = kept["v"] = each(lambda v, g: b2 * v + (1 - b2) * g * g, kept.get("v", zeros(g)), g)
    return [m / (1 - b1**t) for m in m], [v / (1 - b2**t) for v in v]


def adam(w, g, t, kept):
    m, v = moments(each(lambda w, g: g + 0.1 * w, w, g), t, kept)
    return each(lambda w, m, v: w - 0.01 * m / (sqrt(v) + 1e-8), w, m, v)


def adamw(w, g, t, kept):
    m, v = moments(g, t, kept)
    return each(lambda w, m, v: w - 0.01 * 0.1 * w - 0.01 * m / (sqrt(v) + 1e-8), w, m, v)


def rmsprop(w, g, t, kept):
    g = each(lambda w, g: g + 0.1 * w, w, g)
    s = kept["s"] = each(lambda s, g: 0.9 * s + 0.1 * g * g, kept.get("s", zeros(w)), g)
    v = kept["v"] = each(lambda v, g, s: 0.9 * v + g / (sqrt(s) + 1e-8), kept.get("v", zeros(w)), g, s)
    return each(lambda w, v: w - 0.01 * v, w, v)


def adagrad(w, g, t, kept):
    g = each(lambda w, g: g + 0.1 * w, w, g)
    s = kept["s"] = each(lambda s, g: s + g * g, kept.get("s", zeros(w)), g)
    return each(lambda w, g, s: w - 0.1 * g / (sqrt(s) + 1e-10), w, g, s)


def lion(w, g, t, kept):
    m = kept.get("m", zeros(w))
    kept["m"] = each(lambda m, g: 0.99 * m + 0.01 * g, m, g)
    return each(lambda w, g, m: w - 0.01 * (copysign(1, 0.9 * m + 0.1 * g) + 0.1 * w), w, g, m)


def norm(values):
    return sqrt(sum(value * value for value in values))


def trust(weights, steps):
    return weights / steps if weights and steps else 1.0


def lamb(w, g, t, kept):
    m, v = moments(g, t, kept)
    r = each(lambda w, m, v: m / (sqrt(v) + 1e-6) + 0.1 * w, w, m, v)
    rate = 0.01 * trust(norm(w), norm(r))
    return each(lambda w, r: w - rate * r, w, r)


def lars(w, g, t, kept):
    rate = 0.1 * 0.1 * trust(norm(w), norm(g) + 0.1 * norm(w))
    v = kept["v"] = each(lambda w, g, v: 0.9 * v + rate * (g + 0.1 * w), w, g, kept.get("v", zeros(w)))
    return each(lambda w, v: w - v, w, v)


def adafactor(w, g, t, kept):
    columns = 4
    rows = len(w) // columns
    keep = 1 - t**-0.8
    square = [g * g + 1e-30 for g in g]
    at = lambda r, c: square[r * columns + c]
    row_means = [sum(at(r, c) for c in range(columns)) / columns for r in range(rows)]
    column_means = [sum(at(r, c) for r in range(rows)) / rows for c in range(columns)]
    mix = lambda old, new: keep * old + (1 - keep) * new
    r = kept["rows"] = each(mix, kept.get("rows", [0.0] * rows), row_means)
    c = kept["columns"] = each(mix, kept.get("columns", [0.0] * columns), column_means)
    mean = sum(r) / rows
    u = [g[i * columns + j] / sqrt(r[i] * c[j] / mean) for i in range(rows) for j in range(columns)]
    length = norm(u) / sqrt(len(u))
    return each(lambda w, u: w - 0.01 * (u / max(1, length) + 0.1 * w), w, u)


def shortened(g, t):
    """The gradient, scaled by what takes those of all weights together to the length 1."""
    scale = min(1, 1 / norm([element for all in gradients.values() for element in all[t - 1]]))
    return [scale * g for g in g]


def clipped(w, g, t, kept):
    return each(lambda w, g: w - 0.1 * g, w, shortened(g, t))


def clipped_adam(w, g, t, kept):
    m, v = moments(shortened(g, t), t, kept)
    return each(lambda w, m, v: w - 0.01 * 0.01 * w - 0.01 * m / (sqrt(v) + 1e-8), w, m, v)


def by_value(w, g, t, kept):
    m, v = moments([min(max(g, -0.3), 0.3) for g in g], t, kept)
    return each(lambda w, m, v: w - 0.01 * m / (sqrt(v) + 1e-8), w, m, v)


def scaled(w, g, t, kept):
    return sgd(w, g, t, kept)


def ema(w, g, t, kept):
    w = each(lambda w, g: w - 0.1 * g, w, g)
    kept["average"] = each(lambda a, w: 0.8 * a + 0.2 * w, kept.get("average", w), w)
    return w


def swa(w, g, t, kept):
    m, v = moments(g, t, kept)
    w = each(lambda w, m, v: w - 0.01 * m / (sqrt(v) + 1e-8), w, m, v)
    seen = kept["seen"] = kept.get("seen", []) + [w]
    last = seen[min(1, len(seen) - 1) :]
    kept["average"] = [sum(values) / len(last) for values in zip(*last)]
    return w


RULES = [sgd, nesterov, adam, adamw, rmsprop, adagrad, lion, lamb, lars, adafactor]
RULES += [clipped, clipped_adam, by_value, scaled, ema, swa]

file, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(os.path.join(folder, "start"))
random.seed(1)
draw = lambda n: [round(random.uniform(-1, 1), 3) for _ in range(n)]
size = {name: 12 if name == "matrix" else 4 for name in SHAPES}
start = {name: draw(size[name]) for name in SHAPES}
gradients = {name: [draw(size[name]) for _ in range(STEPS)] for name in SHAPES}
for name, shape in SHAPES.items():
    write(os.path.join(folder, "start", name + ".npy"), shape, start[name])
    write(os.path.join(folder, name + ".npy"), (STEPS, *shape), sum(gradients[name], []))

failed = False
for rule in RULES:
    name = rule.__name__
    program, end = os.path.join(folder, name), os.path.join(folder, name + ".end")
    subprocess.run(["netc", "--emit=exe", "--run=" + name, "-o", program, file], check=True)
    data = f"--data=x={folder}/matrix.npy,y={folder}/vector.npy"
    weights = f"--weights={folder}/start"
    subprocess.run([program, f"--steps={STEPS}", "--threads=1", "--quiet", data, weights, "--dump=" + end], check=True)
    for weight in SHAPES:
        expected, kept = start[weight], {}
        for step in range(STEPS):
            expected = rule(expected, gradients[weight][step], step + 1, kept)
        compared = {weight: expected}
        for state in ("average", "rows", "columns"):
            if state in kept:
                compared[f"{weight}.optimizer.{name}.{state}"] = kept[state]
        for tensor, values in compared.items():
            ours = read(os.path.join(end, tensor + ".npy"))
            error = max(abs(a - b) for a, b in zip(ours, values)) / max(map(abs, values))
            if not error <= TOLERANCE or len(ours) != len(values):
                failed = True
                print(f"{name}: {tensor} is off by {error:.3g} of the largest: {ours}, not {values}")
sys.exit(failed)
