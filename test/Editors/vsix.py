# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %source_dir/editors/vscode/pack.py %t.first.vsix
# RUN: %python %source_dir/editors/vscode/pack.py %t.vsix
# RUN: cmp %t.first.vsix %t.vsix
# RUN: %python %s %source_dir %t.vsix

# The archive for Visual Studio Code has all files that are named in it, and each has a type.

import json
import pathlib
import re
import sys
import xml.etree.ElementTree
import zipfile

root = pathlib.Path(sys.argv[1])
archive = zipfile.ZipFile(sys.argv[2])
assert archive.testzip() is None
names = set(archive.namelist())
assert len(names) == len(archive.namelist())
read = {name: archive.read(name).decode() for name in names}

values = {name: json.loads(text) for name, text in read.items() if name.endswith(".json")}
package = values["extension/package.json"]
types = xml.etree.ElementTree.fromstring(read["[Content_Types].xml"])
manifest = xml.etree.ElementTree.fromstring(read["extension.vsixmanifest"])
space = {"": "http://schemas.microsoft.com/developer/vsx-schema/2011"}

# Each part has a type.
suffixes = {each.get("Extension") for each in types if each.get("Extension")}
parts = {each.get("PartName") for each in types if each.get("PartName")}
for name in names - {"[Content_Types].xml"}:
    assert pathlib.PurePath(name).suffix in suffixes or f"/{name}" in parts, name

# Each file that is named is there, and no others.
named = {"extension/package.json", "extension/README.md"}
contributed = package["contributes"]
[language], [grammar] = contributed["languages"], contributed["grammars"]
for path in package["main"], language["configuration"], grammar["path"]:
    named.add("extension/" + path.removeprefix("./"))
named |= {asset.get("Path") for asset in manifest.iterfind("Assets/Asset", space)}
for path in re.findall(r'require\("\./(\w+)"\)', read["extension/extension.js"]):
    named.add(f"extension/{path}.js")
assert named == names - {"[Content_Types].xml", "extension.vsixmanifest"}, (named, names)
# Of others it needs the editor and Node's own.
required = set(re.findall(r'require\("(\w+)"\)', "".join(text for name, text in read.items() if name.endswith(".js"))))
assert required == {"vscode", "child_process", "path"} and "dependencies" not in package

# Both manifests say the same, and so does the build.
identity = manifest.find("Metadata/Identity", space)
assert [identity.get(key) for key in ("Id", "Version", "Publisher")] == [package[key] for key in ("name", "version", "publisher")]
assert package["version"] == re.search(r"project\(netc VERSION (\S+)", (root / "CMakeLists.txt").read_text())[1]
assert manifest.find("Metadata/DisplayName", space).text == package["displayName"]
assert manifest.find("Metadata/Description", space).text == package["description"]

# The language is that of the grammar, and `.net` belongs to it.
assert grammar["language"] == language["id"] == "net" and language["extensions"] == [".net"]
assert grammar["scopeName"] == values["extension/net.tmLanguage.json"]["scopeName"] == "source.net"
assert language["firstLine"] == values["extension/net.tmLanguage.json"]["firstLineMatch"]
assert re.match(language["firstLine"], "net 1  # version") and not re.match(language["firstLine"], "net 12")
# Settings and commands that the program reads are declared.
script = read["extension/extension.js"]
assert {"serverPath", "includeFolders"} == set(re.findall(r'\.get\("(\w+)"\)', script))
assert list(contributed["configuration"]["properties"]) == ["netc.serverPath", "netc.includeFolders"]
assert [each["command"] for each in contributed["commands"]] == re.findall(r'registerCommand\("([\w.]+)"', script)
