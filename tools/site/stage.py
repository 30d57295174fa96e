# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Collects the pages of the site for mkdocs: `stage.py NETC FOLDER`.

The pages are the README as the first page, the documents, the files that they link to, and a page for each example with its
source and its report by NETC. A link without a target is an error.
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)]*)?\)")
# The words after a language are for the tests of the documents.
FENCE = re.compile(r"^(```[a-z]+)[- ].*$", re.M)


def place_of(file):
    """The position of a repository file in the site."""
    path = file.relative_to(ROOT)
    if path == pathlib.Path("README.md"):
        return pathlib.Path("index.md")
    return path.relative_to("docs") if path.parts[0] == "docs" else path


def relinked(text, file, linked):
    """The text of a file with its links as the site needs them. Adds their targets to `linked`."""

    def link(match):
        target = (file.parent / match[1]).resolve()
        if not target.is_file():
            sys.exit(f"stage.py: error: {file.relative_to(ROOT)} links to {match[1]}, which does not exist")
        linked.add(target)
        up = "../" * (len(place_of(file).parts) - 1)
        return f"]({up}{place_of(target).as_posix()}{match[2] or ''})"

    return FENCE.sub(r"\1", LINK.sub(link, text))


def stage_documents(folder):
    """Copies the documents and the files that they link to."""
    open_files = {ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")}
    done = set()
    while open_files:
        file = open_files.pop()
        done.add(file)
        place = folder / place_of(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        linked = set()
        if file.suffix == ".md":
            place.write_text(relinked(file.read_text(), file, linked))
        else:
            shutil.copy(file, place)
        open_files |= linked - done


def about(source):
    """The text of a specification's first comment."""
    lines = []
    for line in source.splitlines():
        if not line.startswith("#") or line.startswith("#   "):
            break
        lines.append(line[1:].strip())
    return " ".join(lines)


def stage_example(file, netc, folder):
    """Writes a page with the report and the source. Returns its line in the list of examples."""
    name = file.relative_to(ROOT / "examples").with_suffix("")
    source = file.read_text()
    page = folder / "examples" / name.with_suffix(".md")
    page.parent.mkdir(parents=True, exist_ok=True)
    report = page.with_name(f"{name.name}.report.html")
    subprocess.run([netc, "--estimate", "--format=html", "-o", report, file.relative_to(ROOT)], cwd=ROOT, check=True)
    page.write_text(
        f"# {name.name}\n\n{about(source)}\n\n[The report by itself]({report.name})\n\n"
        f'<iframe class="report" src="{report.name}" title="report of {name.name}"></iframe>\n\n'
        f"```net\n{source}```\n"
    )
    return f"| [{name}]({name}.md) | {about(source)} |\n"


def stage(netc, folder):
    shutil.rmtree(folder, ignore_errors=True)
    stage_documents(folder)
    shutil.copy(ROOT / "tools/site/style.css", folder)
    examples = sorted((ROOT / "examples").rglob("*.net"))
    rows = [stage_example(file, netc, folder) for file in examples]
    (folder / "examples/index.md").write_text(
        "# Examples\n\nEach is a specification of `examples/`, with the report of `netc --estimate --format=html`.\n\n"
        "| specification | what it is |\n|---|---|\n" + "".join(rows)
    )


if __name__ == "__main__":
    stage(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]))
