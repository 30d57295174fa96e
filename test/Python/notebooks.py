# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: notebooks
# RUN: env PYTHONPATH=%source_dir/python HOME=%t.home /usr/bin/python3 %s %source_dir/docs/notebooks/*.ipynb

# Each notebook runs from top to bottom without a screen, and is kept without what it printed.

import sys

import nbclient
import nbformat

import netc

shown = {}
for path in sys.argv[1:]:
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and not any(cell.outputs for cell in code), path
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for cell in code:
        assert cell.outputs, cell.source
        shown[cell.source] = "".join(str(output.get("text", output.get("data"))) for output in cell.outputs)

report, run, layers, longer, mistake, own = shown.values()
assert "<td style='text-align:right'>124,439,808</td>" in report
assert "124,439,808 parameters" in run and "GiB on each device" in run
assert "<table" in layers and "LMHead" in layers or "head" in layers
assert longer.count("FLOP for each of them") == 3
assert "line 2, column 19: unknown name `Liner`; did you mean `Linear`?" in mistake
assert own
# A table of layers has products and all else, in both directions, as the report has.
(row,) = netc.estimate("net A(x: f32[N, 8]) = x |> Linear(4)\n").to_pandas().to_dict("records")
assert (row["forward"], row["backward"], row["forward_other"], row["backward_other"]) == (64, 64, 4, 4), row
# A table has its columns, though it has no rows.
assert list(netc.estimate("a = 1\n").to_pandas()) == list(netc.estimate("net A(x: f32[N, 8]) = x |> relu\n").to_pandas()) != []
