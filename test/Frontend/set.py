# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: mkdir -p %t
# RUN: %python %s %build_dir/bin/netc %t

# A file with settings costs what it would cost with them written in.

import json
import pathlib
import re
import subprocess
import sys

netc, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
text = """# What the command line changes.
width = 8
net Lm(tokens: i32[N, T]; layers = 2, d = width, mode: ["plain", "deep"] = "plain") {
  x = tokens |> Embedding(50, d) |> repeat layers { Linear(d) |> relu }
  if mode == "deep" { x = x |> Linear(d) }
  return logits = x |> Linear(50)
}
wide = Lm(d = 32)
dataset Corpus { tokens = 1M; T = 16 }
hardware Card { peak = 20 TFLOP/s }

train Lm on Corpus as run {
  loss = cross_entropy(logits, shift(tokens))
  batch = 32
  duration = 1 epoch
  optimizer = AdamW(lr = 1e-4)
  hardware = 8 V100
}
train Lm on Corpus as like_it { like = run; duration = 10 steps }
train wide on Corpus { like = run }

net Pair(image: f32[N, 20], z: f32[N, 5]; h = 8) {
  return real = image |> Linear(h) |> Linear(1), fake = z |> Linear(20)
}
train Pair as gan {
  batch = 64
  duration = 100 steps
  optimizer = SGD(lr = 0.1)
  train as critic { times = 5; loss = mean(real) }
  train as generator { loss = mean(fake) }
}
train as whole {
  batch = 16
  optimizer = SGD(lr = 0.1)
  train Lm on Corpus as pre {
    loss = cross_entropy(logits, shift(tokens))
    train as short { duration = 9 steps }
    train as long { T = 64; duration = 1 step }
  }
}
infer Lm as chat { T = 32; decode = 8; batch = 1; duration = 100 examples }
"""
path, edited_path = scratch / "written.net", scratch / "edited.net"
path.write_text(text)


def report(file, *options):
    done = subprocess.run(
        [netc, "--format=json", *options, str(file)], capture_output=True, text=True
    )
    assert done.returncode == 0, (options, done.stderr)
    # A run says which net it trains as its text does.
    found = json.loads(re.sub(r'("network": "\w+)\(.*\)"', r'\1"', done.stdout))
    for warning in found["warnings"]:  # what the command line gives stands in no file
        del warning["file"], warning["line"]
    return found


def written(*changes):
    """The report of the file after these replacements, each of the first that is there."""
    edited = text
    for before, after in changes:
        assert before in edited, before
        edited = edited.replace(before, after, 1)
    edited_path.write_text(edited)
    return report(edited_path)


def settings(*values):
    return [word for value in values for word in ("--set", value)]


CASES = [
    # A key: the run's, one that it does not have yet, and one that another run is like.
    (["run.batch=64"], [("batch = 32", "batch = 64")]),
    (["run.hardware=4 H100"], [("8 V100", "4 H100")]),
    (["run.hardware=4 Card"], [("8 V100", "4 Card")]),
    (["run.precision=f32", "run.took=1 hour"], [("8 V100", "8 V100; precision = f32; took = 1 hour")]),
    (["run.accumulate=4", "run.recompute=full"], [("8 V100", "8 V100; accumulate = 4; recompute = full")]),
    (["run.optimizer=SGD(lr = 0.1, momentum = 0.9)"], [("AdamW(lr = 1e-4)", "SGD(lr = 0.1, momentum = 0.9)")]),
    (["run.framework=JAX", "run.took=1 hour"], [("8 V100", "8 V100; framework = JAX; took = 1 hour")]),
    (["run.count={ fma = 1 }"], [("8 V100", "8 V100; count = { fma = 1 }")]),
    (["run.batch=between(8, 24)"], [("batch = 32", "batch = between(8, 24)")]),
    (["run.batch=2 * width"], [("batch = 32", "batch = 2 * width")]),
    (["like_it.batch=8"], [("duration = 10 steps", "duration = 10 steps; batch = 8")]),
    (["like_it.like=chat", "like_it.loss=mean(logits * logits)"],
     [("like = run; duration", "like = chat; loss = mean(logits * logits); duration")]),
    # What has no name of its own.
    (["wide_run.batch=8"], [("{ like = run }", "{ like = run; batch = 8 }")]),
    # A free axis.
    (["run.T=128"], [("8 V100", "8 V100; T = 128")]),
    (["chat.T=64", "chat.decode=4"], [("T = 32; decode = 8", "T = 64; decode = 4")]),
    # A setting: of the net of one run, of a net, and of one that has others.
    (["run.layers=3"], [("train Lm on Corpus as run", "train Lm(3) on Corpus as run")]),
    (["run.mode=deep"], [("train Lm on Corpus as run", 'train Lm(mode = "deep") on Corpus as run')]),
    (["Lm.layers=3"], [("layers = 2", "layers = 3")]),
    (["Lm.d=2 * layers"], [("d = width", "d = 2 * layers")]),
    (["wide.layers=3"], [("Lm(d = 32)", "Lm(3, 32)")]),
    (["wide.d=16"], [("Lm(d = 32)", "Lm(d = 16)")]),
    # Of jobs: what is theirs, and what those in them have from them.
    (["gan.batch=8"], [("batch = 64", "batch = 8")]),
    (["gan.critic.times=2"], [("times = 5", "times = 2")]),
    (["gan.critic.batch=8"], [("times = 5", "times = 5; batch = 8")]),
    (["gan.critic.h=16"], [("train as critic", "train Pair(16) as critic")]),
    (["gan.h=16"], [("train Pair as gan", "train Pair(16) as gan")]),
    (["whole.layers=1"], [("train Lm on Corpus as pre", "train Lm(1) on Corpus as pre")]),
    (["whole.pre.T=8"], [("train as short", "T = 8\n    train as short")]),
    (["whole.pre.long.T=8"], [("T = 64", "T = 8")]),
]

as_written = report(path)
for values, changes in CASES:
    given = report(path, *settings(*values))
    assert given == written(*changes), values
    # The case says something.
    assert given != as_written, values

# A table has what a run is with each value, in all combinations.
table = report(path, *settings("run.batch=8,16", "run.layers=1,3", "gan.critic.times=1,2"))


def runs(of):
    return {run["name"]: run for run in of["runs"]}


def points(name):
    return {tuple(row["values"].items()): row for row in runs(table)[name]["sweep"]}


assert len(points("run")) == 4 and len(points("gan")) == 2 and "sweep" not in runs(table)["chat"]
for batch in "8", "16":
    for layers in "1", "3":
        row = points("run")[(("batch", batch), ("layers", layers))]
        one = runs(report(path, *settings(f"run.batch={batch}", f"run.layers={layers}")))["run"]
        for key in "steps", "step", "operations", "memory_per_device":
            assert row[key] == one[key], (batch, layers, key)
for times in "1", "2":
    row = points("gan")[(("critic.times", times),)]
    one = runs(report(path, *settings(f"gan.critic.times={times}")))["gan"]
    assert row["operations"] == one["operations"], times
# The runs themselves are as they are written.
for name, run in runs(as_written).items():
    assert {**runs(table)[name], "sweep": None} == {**run, "sweep": None}, name
