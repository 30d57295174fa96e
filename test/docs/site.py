# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: %python %s %source_dir netc %t

# The site has each document, in its navigation too, and each example with its report, and mkdocs has no complaint.

import pathlib
import re
import shutil
import subprocess
import sys

import yaml

root, netc, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
sys.path.insert(0, str(root / "tools/site"))

import stage  # noqa: E402

stage.stage(shutil.which(netc), folder)
pages = {str(page.relative_to(folder)) for page in folder.glob("*.md")}
assert pages == {page.name for page in root.glob("docs/*.md")} | {"index.md", "CONTRIBUTING.md"}, pages
config = yaml.safe_load((root / "tools/site/mkdocs.yml").read_text())


def in_navigation(entry):
    if isinstance(entry, dict):
        entry = list(entry.values())[0]
    return [page for part in entry for page in in_navigation(part)] if isinstance(entry, list) else [entry]


navigation = in_navigation(config["nav"])
assert sorted(navigation) == sorted(pages | {"examples/index.md"}), navigation

for example in root.glob("examples/**/*.net"):
    page = folder / example.relative_to(root).with_suffix(".md")
    assert example.read_text() in page.read_text(), page
    report = re.search(r'src="([^"]*)"', page.read_text())[1]
    assert page.with_name(report).read_text().startswith("<!DOCTYPE html>"), report

# A document's links lead to pages, and to headings of them as GitHub and mkdocs call these.
for page in folder.glob("*.md"):
    for target, heading in re.findall(r"\]\(([^)#:\s]*)#([^)\s]*)\)", page.read_text()):
        titles = re.findall(r"^#+ (.*)$", (folder / (target or page.name)).read_text(), re.M)
        slugs = [re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles]
        assert heading in slugs, f"{page.name}: #{heading}"

config["hooks"] = [str(root / "tools/site" / hook) for hook in config["hooks"]]
config |= {"docs_dir": str(folder), "site_dir": str(folder.with_suffix(".html"))}
file = folder.with_suffix(".yml")
file.write_text(yaml.safe_dump(config))
subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--config-file", file], check=True)
