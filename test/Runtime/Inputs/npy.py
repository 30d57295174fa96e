# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# npy.py TYPE SHAPE VALUES FILE writes an array, as numpy.save does without numpy:
# npy.py f4 8,4 'i % 3' FILE evaluates the text for each i.
# npy.py FILE prints one.

import ast
import math
import struct
import sys

CODES = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H"}


def write(type, shape, text, path):
    shape = tuple(int(size) for size in shape.split(",") if size)
    values = [eval(text, {"math": math}, {"i": i}) for i in range(math.prod(shape))]
    header = {"descr": ("|" if type[1] == "1" else "<") + type, "fortran_order": False, "shape": shape}
    header = repr(header).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack(f"<{len(values)}{CODES[type]}", *values))


def show(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10 : 10 + length].decode())
    code = CODES[header["descr"][1:]]
    values = struct.unpack(f"<{math.prod(header['shape'])}{code}", data[10 + length :])
    print(header["descr"], header["shape"], *(f"{value:g}" for value in values))


write(*sys.argv[1:]) if len(sys.argv) == 5 else show(sys.argv[1])
