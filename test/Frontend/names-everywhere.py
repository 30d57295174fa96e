# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir %t.net

# Every op, function and block of the prelude in every position of the language: netc takes it, or says at its line
# why not. What it must not do is to crash, or to say nothing of where.

import pathlib
import re
import subprocess
import sys

source, path = pathlib.Path(sys.argv[1]), sys.argv[2]
ops = (source / "docs/Ops.md").read_text().split("## Ops that netc makes")[0]
names = re.findall(r"^### `net\.(\w+)`", ops, re.MULTILINE)
names += re.findall(r'^    {"(\w+)", &Builtins::', (source / "lib/Frontend/Builtins.cpp").read_text(), re.MULTILINE)
names += re.findall(r"^block (\w+)", (source / "lib/Std/core.net").read_text(), re.MULTILINE)
names += ["none", "inf", "training", "f32", "i32", "bool", "D0", "V100", "M0", "r0"]
names = sorted(set(names))
assert len(names) > 150

keys = re.findall(r'"(\w+)"', re.search(r"runKeys\[\] = {(.*?)}", (source / "lib/Frontend/RunKeys.h").read_text(), re.S)[1])
assert len(keys) > 15

DECLARATIONS = """\
net M0(x: f32[N, 8]) { return loss = mean(x |> Linear(8, bias = false)) }
dataset D0 { examples = 100 }
train M0 as r0 { batch = 1; duration = 1 step; optimizer = SGD(lr = 0.1) }
"""
RUN = "batch = 1; duration = 1 step; optimizer = SGD(lr = 0.1)"


def in_net(text):
    return "net X%d(x: f32[N, T = 4, C = 8], t: i32[N, T = 4]) { " + text + " }"


def in_run(key, value):
    others = "; ".join(part for part in RUN.split("; ") if not part.startswith(key + " "))
    return "train M0 on D0 as x%d { " + others + "; " + key + " = " + value + " }"


FORMS = ["@", "@()", "@(0.1)", "@(2, 4)", "@([1, 2])"]
POSITIONS = [in_net(text) for text in (
    "y = @; return y",
    "return y = @(x)",
    "return y = @(x, 2)",
    "return y = @(x, x)",
    "return y = @(t, x)",
    "return y = @(x, over = T)",
    "return y = @(x, over = [T, C], as = K)",
    "return y = @([x, x])",
    "return y = x |> @",
    "return y = t |> @",
    "return y = t |> @(2, 4)",
    "return y = [x, x] |> @(2)",
    "return y = x |> (Linear(8) |> @)",
    "return y = x |> (@ |> Linear(8))",
    "return y = x |> repeat 2 { @ }",
    "return y = x |> repeat @ { Linear(8) }",
    "return y = map(x, @, over = T)",
    "return y = each(x, @, over = T)",
    "return y = x |> freeze(@)",
    "return y = x |> recomputed(@)",
    "return y = scan a in x over T carry h = @ { h' = a; yield h' }",
    "return y = scan a in @ over T { yield a }",
    "return y = scan a in x over T { yield @ }",
    "return y = x |> Linear(@)",
    "return y = x |> Conv(8, 3, over = @)",
    "return y = x |> MHA(heads = 2, position = @)",
    "return y = x |> Dropout(@)",
    "return y = x[T = @]",
    "return y = x[@..2, ...]",
    "return y = x + @",
    "return y = x * @(x)",
    "return y = x ^ @",
    "return y = -@",
    "y: [N, @, C] = x; return y",
    "return y: @ = x",
    "return y = parameter(@)",
    "return y = parameter(8, init = @)",
    "return y = zeros(N, @)",
    "return y = reshape(x, @)",
    "return y = rearrange(x, @)",
    'return y = einsum("n t c -> n t", @)',
    "return y = opaque(x, params = @)",
    "a, b = @; return a",
    "for a in @ { x = x + 1 } return x",
    "if @ { x = x + 1 } return x",
    "require @; return x",
    "return y = x.@",
    "return y = @.weight",
)]
POSITIONS += [in_run(key, "@") for key in keys]
POSITIONS += [in_run("optimizer", value) for value in ("@", "SGD(lr = @)", "EMA(@)", "EMA(of = @(lr = 0.1))", "SGD(lr = cosine(@))", "@(lr = 0.1)")]
POSITIONS += [
    "a%d = @",
    "a%d = @ + 1",
    "a%d = [@, @]",
    "a%d = len(@)",
    "a%d = if @ then 1 else 2",
    "a%d = { b = @ }",
    "a%d = @.forward",
    "a%d = 1..@",
    "a%d = not @",
    "block X%d(x; a = @) = x + a",
    "net X%d(x: f32[N, @]) { return x }",
    "net X%d(x: @) { return x }",
    "net X%d(x: @[N, 4]) { return x }",
    "net X%d(x: f32[N, 4]; a = @) { return x * a }",
    "dataset X%d { examples = @ }",
    "dataset X%d { y = @ }",
    "hardware Xx%d { peak = @ }",
    "hardware Xx%d { memory = @ }",
    "train @ as x%d { " + RUN + " }",
    "train M0 on @ as x%d { " + RUN + " }",
    "infer @ as x%d { batch = 1; duration = 1 step }",
    "train M0 as x%d { " + RUN + "; sweep batch in @ }",
    "train M0 as x%d { " + RUN + "; require @ }",
    "train M0 as x%d { like = @ }",
    "# %d\nexpect @ == 1",
    "# %d\nexpect M0.@ == 1",
    "# %d\nexpect M0.params(@) ~ 1",
    "# %d\nexpect r0.step.@ > 1 FLOP",
    "# %d\nexpect M0.params ~ 1 within @",
    "# %d\nrequire @",
]

failures = []
for position in POSITIONS:
    lines = []
    for name in names:
        for form in FORMS if position.count("@") == 1 and "@." not in position and ".@" not in position and "@(" not in position else ["@"]:
            lines.append(position.replace("@", form.replace("@", name)).replace("%d", str(len(lines) + 1)))
    with open(path, "w") as file:
        file.write(DECLARATIONS + "\n".join(lines) + "\n")
    run = subprocess.run(["netc", "--check", "--max-errors=1000000", path], capture_output=True, timeout=120)
    text = run.stderr.decode()
    astray = [line for line in text.splitlines() if re.search(r"(error|warning): ", line) and not line.startswith((path + ":", "std/"))]
    astray = [line for line in astray if not re.match(r"\d+ errors?, of which", line)]
    if run.returncode not in (0, 1) or astray:
        failures.append(position)
        print(f"{position}: status {run.returncode}", *astray[:3], text[-500:] if run.returncode not in (0, 1) else "", sep="\n  ")
sys.exit(len(failures) > 0)
