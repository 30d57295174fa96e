# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: nvim
# RUN: %python %s %source_dir/docs/Editors.md %t

# The settings for Neovim that the document shows: an error is marked where it is, and the text
# can be formatted.

import os
import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
settings = re.search(r"```lua\n(.*?)```", pathlib.Path(sys.argv[1]).read_text(), re.S)[1]
(folder / "init.lua").write_text(
    settings
    + """
function try()
  vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end)
  local problem = vim.diagnostic.get(0)[1]
  print(problem.lnum, problem.col, problem.message)
  vim.api.nvim_buf_set_lines(0, 1, 2, true, { "  return y=x |> Linear(2)" })
  vim.wait(20000, function() return #vim.diagnostic.get(0) == 0 end)
  local edits = vim.lsp.buf_request_sync(0, "textDocument/formatting", vim.lsp.util.make_formatting_params(), 20000)
  vim.lsp.util.apply_text_edits(edits[netc].result, 0, "utf-16")
  print(vim.api.nvim_buf_get_lines(0, 1, 2, true)[1])
end
"""
)
(folder / "small.net").write_text("net Small(x: f32[N, 3]) {\n  return y = x |> Linera(2)\n}\n")
done = subprocess.run(
    ["nvim", "--headless", "-u", "init.lua", "small.net", "-c", "lua try()", "-c", "qa!"],
    cwd=folder,
    capture_output=True,
    text=True,
    env={**os.environ, "XDG_STATE_HOME": str(folder.resolve()), "XDG_CACHE_HOME": str(folder.resolve())},
)
said = done.stderr.split("\n")
said = [line.rstrip("\r") for line in said if line.strip()]
if [line.split() for line in said] != [
    ["1", "18", *"unknown name `Linera`; did you mean `Linear`?".split()],
    ["return", "y", "=", "x", "|>", "Linear(2)"],
]:
    sys.exit(f"{said}\n{done.stdout}")
