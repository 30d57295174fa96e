# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""lines.py SEED COUNT FOLDER writes image.npy and label.npy: a line somewhere in noise, and which of four directions
it has."""

import os
import random
import struct
import sys

SIZE = 12
LENGTH = 6
DIRECTIONS = [(1, 0), (0, 1), (1, 1), (1, -1)]


def draw(label):
    image = [[random.gauss(0, 0.1) for _ in range(SIZE)] for _ in range(SIZE)]
    dx, dy = DIRECTIONS[label]
    x = random.randrange(SIZE - dx * (LENGTH - 1))
    y = random.randrange(LENGTH - 1, SIZE) if dy < 0 else random.randrange(SIZE - dy * (LENGTH - 1))
    for i in range(LENGTH):
        image[y + i * dy][x + i * dx] += 1
    return [value for row in image for value in row]


def write(path, type, code, shape, values):
    header = repr({"descr": type, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack(f"<{len(values)}{code}", *values))


seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
random.seed(seed)
labels = [random.randrange(len(DIRECTIONS)) for _ in range(count)]
pixels = [pixel for label in labels for pixel in draw(label)]
os.makedirs(folder, exist_ok=True)
write(os.path.join(folder, "image.npy"), "<f4", "f", (count, 1, SIZE, SIZE), pixels)
write(os.path.join(folder, "label.npy"), "<i4", "i", (count,), labels)
