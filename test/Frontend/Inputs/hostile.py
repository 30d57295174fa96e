# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes specifications that grow without bound to a folder."""

import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


def write(name, lines):
    (folder / name).write_text("\n".join(lines) + "\n")


# Each name needs the next one.
write("chain.net", [f"v{i} = v{i + 1}" for i in range(2000)] + ["v2000 = 1"])

# Each run is like the next one.
write(
    "likes.net",
    ["net M(x: f32[N, C = 3]) { return y = x |> Linear(C) }"]
    + [f"train M as r{i} {{ like = r{i + 1} }}" for i in range(513)]
    + ["train M as r513 { loss = mean(y); batch = 2; duration = 1 step; optimizer = SGD(lr = 1) }"],
)

# Each block applies the one before twice.
write(
    "doubling.net",
    ["block B0(x) { return x }"]
    + [f"block B{i}(x) {{ return x |> B{i - 1} |> B{i - 1} }}" for i in range(1, 40)]
    + ["net M(x: f32[N, C = 3]) { return x |> B39 }"],
)

# Each list has the one before twice.
write(
    "lists.net",
    ["m0 = [1]"] + [f"m{i} = [m{i - 1}, m{i - 1}]" for i in range(1, 50)] + ["a = [1][m49]"],
)
