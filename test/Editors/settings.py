# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir

# Settings that docs/Editors.md shows for editors that no test runs: they are read, and name what is there.

import json
import pathlib
import re
import sys
import tomllib

root = pathlib.Path(sys.argv[1])
fences = re.findall(r"^```(\w+)\n(.*?)^```$", (root / "docs/Editors.md").read_text(), re.M | re.S)
[helix] = [tomllib.loads(text) for kind, text in fences if kind == "toml"]
[code] = [text for kind, text in fences if kind == "json"]
extension = root / "editors/vscode"
[language] = json.loads((extension / "package.json").read_text())["contributes"]["languages"]

[settings] = helix["language"]
assert settings["language-servers"] == list(helix["language-server"]) and settings["file-types"] == ["net"]
assert helix["language-server"]["netc"] == {"command": "netc-lsp"}
assert settings["scope"] == json.loads((root / "editors/net.tmLanguage.json").read_text())["scopeName"]
assert settings["name"] == language["id"]
assert json.loads(f"{{{code}}}") == {"files.associations": {"*.net": language["id"]}}
assert code in (extension / "README.md").read_text()
