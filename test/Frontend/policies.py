# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s netc %source_dir | FileCheck %s
# CHECK: {{[2-9][0-9]}} policies of the documents, 15 wrong ones, each in five places

# A policy is read alike in a run, in a constant, by -D, by --set and in a sweep, and so is what is none.

import json
import pathlib
import re
import subprocess
import sys
import tempfile

netc, root = sys.argv[1], pathlib.Path(sys.argv[2])
documents = "".join((root / "docs" / name).read_text() for name in ("Accounting.md", "Language.md"))
policies = re.findall(r"`((?:mixed|megatron|pure|fp8)\([^`]*\)|\{ products[^`]*\})`", documents)
policies += ["f32", "bf16", "f16", "tf32", "i8", "f64", "fp8", "f8e4m3", "none", "if 1 > 2 then f16 else tf32", "(bf16)"]
# A part or the format of a preset may be held by a constant, too.
policies += ["mixed(low)", "{ products = low, states = low }", '"mixed(bf16, states = bf16)"']

WRONG = {
    "mixed": "`mixed` is not a precision; write a number format such as",
    "mixed()": "`mixed()` is not a precision; write a number format such as",
    "mixed(i8)": "`mixed` takes f32, bf16, f16 or an 8-bit float; `precision = i8` changes products alone [",
    "pure(f32)": "`pure` takes bf16 or f16; `precision = f32` has everything in it [",
    "pure(f64)": "`pure` takes bf16 or f16; `precision = f64` has everything in it [",
    "megatron(fp8)": "`megatron` takes bf16 or f16; `precision = f8e4m3` has linear layers in it, and all else as `bf16` has it [",
    "fp8(Foo)": "`fp8(Foo)` is none of the recipes of Transformer Engine; write",
    "autocast(bf16)": "`autocast(bf16)` is not a precision; write a number format such as",
    "{ product = bf16 }": "`{ product = bf16 }` is not a precision; there is no part `product`; the parts are",
    "{}": "`{}` is not a precision; it takes parts, as `{ products = bf16, states = bf16 }`; they are `products`,",
    "{ products = f16, residual = bf16 }": "`products` and `residual` are of two 16-bit formats [",
    "{ products = f64, states = bf16 }": "`products` in f64 go with no other format; `precision = f64` has everything in f64 [",
    "mixed(bf16, states = 3)": "`3` is no number format, as in `states = bf16` [",
    "mixed(bf16, states = i16)": "`i16` is a type of inputs; a number format belongs here, as in `states = bf16` [",
    "3": "`3` is not a precision; write a number format such as",
}

FILE = """low = bf16
policy = {constant}
net A(x: f32[N, 32]) {{ return loss = mean(x |> Linear(64, bias = false) |> Linear(64, bias = false)) }}
train A as run {{ batch = 16; duration = 1 step; optimizer = Adam(lr = 1); precision = {key}{sweep} }}
"""


def run(*options, key="policy", constant="f32", sweep=""):
    path.write_text(FILE.format(key=key, constant=constant, sweep=sweep))
    return subprocess.run([netc, "--format=json", *options, path], capture_output=True, text=True)


def in_five_places(policy):
    yield run(key=policy)
    yield run(constant=policy)
    yield run("-D", "policy=" + policy)
    yield run("--set", "run.precision=" + policy)
    yield run(sweep=f"; sweep policy in [{policy}]")


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "run.net"
    for policy in policies:
        results = list(in_five_places(policy))
        assert all(result.returncode == 0 for result in results), (policy, [result.stderr for result in results])
        reports = [json.loads(result.stdout)["runs"][0] for result in results]
        read = [report["precision"] for report in [*reports[:4], reports[4]["sweep"][0]]]
        assert len(set(read)) == 1, (policy, read)
    for policy, message in WRONG.items():
        said = [re.search(r"error: (.*)", result.stderr) for result in in_five_places(policy)]
        assert all(said), (policy, said)
        assert len({each[1] for each in said}) == 1, (policy, [each[1] for each in said])
        assert message in said[0][1], (policy, said[0][1])
print(len(policies), "policies of the documents,", len(WRONG), "wrong ones, each in five places")
