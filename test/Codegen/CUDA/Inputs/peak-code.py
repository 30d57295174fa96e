"""Writes the PTX for an architecture, of the kernels that measure peaks, from an object file: peak-code.py OBJECT ARCH > PTX"""
import sys

code = open(sys.argv[1], "rb").read()
arch = sys.argv[2].encode()
texts = [part for part in code.split(b"\0") if b".target " + arch in part and b"fma_f32" in part]
assert len(texts) == 1, len(texts)
sys.stdout.buffer.write(texts[0])
