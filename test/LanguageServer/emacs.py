# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: eglot
# RUN: %python %s %source_dir/docs/Editors.md %t

# The settings for Emacs that the document shows: a file is known by its suffix and its beginning, an
# error is marked where it is, and the text can be formatted.

import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
settings = re.search(r"```lisp\n(.*?)```", pathlib.Path(sys.argv[1]).read_text(), re.S)[1]
(folder / "init.el").write_text(settings)
(folder / "small.net").write_text("net Small(x: f32[N, 3]) { # here\n  return y=x |> Linera(2)\n}\n")
(folder / "small.txt").write_text("net 1\n")
(folder / "try.el").write_text(
    """
(find-file "small.txt")
(message "said: %s" major-mode)
(find-file "small.net")
(run-hooks 'post-command-hook) ; where Eglot waits to start
(defun wait-for (test)
  (let ((tries 0))
    (while (and (not (funcall test)) (< (setq tries (1+ tries)) 200)) (accept-process-output nil 0.1))))
(defun problems () (flymake-start) (flymake-diagnostics))
(wait-for #'problems)
(let ((problem (car (problems))))
  (message "said: %s %s" (flymake-diagnostic-text problem)
           (buffer-substring (flymake-diagnostic-beg problem) (flymake-diagnostic-end problem))))
(font-lock-ensure)
(goto-char (point-min))
(search-forward "here")
(message "said: %s" (get-text-property (1- (point)) 'face))
(search-forward "Linera")
(replace-match "Linear")
(wait-for (lambda () (not (problems))))
(eglot-format-buffer)
(message "said: %s" (buffer-string))
(set-buffer-modified-p nil)
"""
)
done = subprocess.run(
    ["emacs", "--batch", "-f", "package-activate-all", "-l", "init.el", "-l", "try.el"],
    cwd=folder,
    capture_output=True,
    text=True,
)
said = done.stderr.split("said: ")[1:]
expected = [
    "net-mode",
    "unknown name `Linera`; did you mean `Linear`? Linera",
    "font-lock-comment-face",
    "net Small(x: f32[N, 3]) {  # here\n  return y = x |> Linear(2)\n}",
]
if len(said) != len(expected) or not all(each in found for each, found in zip(expected, said)):
    sys.exit(done.stderr)
