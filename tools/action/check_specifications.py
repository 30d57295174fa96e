# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checks the specifications of a repository in a workflow of GitHub, for action.yml; docs/ContinuousIntegration.md shows it.

Errors and warnings become annotations and a file of SARIF 2.1.0. For a pull request, the comparison with its base goes to the
summary of the job and to a file, in Markdown, and to a comment if GITHUB_TOKEN is set. Exits with 1 if there is an error.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

MARK = "<!-- netc -->\n"  # by which an earlier comment is found
LEVELS = {"error": "error", "warning": "warning", "remark": "note"}
COMMANDS = {"error": "error", "warning": "warning", "remark": "notice"}
COMMENT_LIMIT = 65_000  # characters; GitHub takes 65,536


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def names(text):
    return [name for name in text.split("\0") if name]


class Netc:
    def __init__(self, program):
        self.program = program
        self.version = self(["--version"]).stdout.split()[1]

    def __call__(self, arguments):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"`{self.program} {' '.join(map(str, arguments))}` ends with status {done.returncode}: {done.stderr.strip()}")
        return done

    def check(self, file):
        """The diagnostics of a specification. A diagnostic outside of the repository's files is moved to the
        specification."""
        for line in self(["--check", "--diagnostics=json", "--", file]).stderr.splitlines():
            diagnostic = json.loads(line)
            if not os.path.isfile(diagnostic.get("file", "")):
                diagnostic = {"severity": diagnostic["severity"], "id": diagnostic.get("id"), "message": diagnostic["message"], "file": file}
            yield diagnostic

    def errors(self, file, root=""):
        """Its errors, without their lines. Names of files are relative to `root`."""
        found = (each for each in self.check(file) if each["severity"] == "error")
        return sorted((each.get("id", ""), each["message"].replace(root, "")) for each in found)

    def compare(self, base, old, new):
        """The differences in the second file, in Markdown; empty if the costs, or the errors, are those in the tree `base`."""
        done = self(["--compare", "--format=markdown", "--", base / old, new])
        if done.returncode and not done.stdout:
            is_alike = self.errors(base / old, f"{base}/") == self.errors(new)
            return "" if is_alike else "There is no comparison: one of the two has errors.\n"
        same = all(not line or line == "costs the same" or line.startswith("#") for line in done.stdout.splitlines())
        return "" if same else done.stdout

    def estimate(self, file):
        done = self(["--estimate", "--depth=1", "--format=markdown", "--", file])
        return done.stdout or ("It has errors.\n" if done.returncode else "")


def annotation(diagnostic):
    """A workflow command that annotates a line of a file."""

    def escaped(text, further=""):
        for character in "%\r\n" + further:
            text = text.replace(character, f"%{ord(character):02X}")
        return text

    properties = {"file": diagnostic["file"], "line": diagnostic.get("line"), "col": diagnostic.get("column"), "title": diagnostic.get("id")}
    shown = ",".join(f"{name}={escaped(str(value), ':,')}" for name, value in properties.items() if value)
    return f"::{COMMANDS[diagnostic['severity']]} {shown}::{escaped(diagnostic['message'])}"


def location(diagnostic):
    # GitHub needs a line, even for a diagnostic of the whole file.
    region = {"startLine": diagnostic.get("line", 1)}
    if "column" in diagnostic:
        region["startColumn"] = diagnostic["column"]
    return {"physicalLocation": {"artifactLocation": {"uri": urllib.parse.quote(diagnostic["file"]), "uriBaseId": "%SRCROOT%"}, "region": region}}


def rule(name):
    """The members that GitHub needs in a rule. An id is made of words."""
    words = {"text": name.replace("-", " ")}
    return {"id": name, "shortDescription": words, "fullDescription": words, "help": words}


def sarif(diagnostics, version):
    rules = sorted({diagnostic["id"] for diagnostic in diagnostics if diagnostic.get("id")})
    results = []
    for diagnostic in diagnostics:
        result = {"level": LEVELS[diagnostic["severity"]], "message": {"text": diagnostic["message"]}, "locations": [location(diagnostic)]}
        if diagnostic.get("id"):
            result |= {"ruleId": diagnostic["id"], "ruleIndex": rules.index(diagnostic["id"])}
        related = [location(note) | {"message": {"text": note["message"]}} for note in diagnostic.get("notes", []) if os.path.isfile(note.get("file", ""))]
        if related:
            result["relatedLocations"] = related
        results.append(result)
    driver = {"name": "netc", "version": version, "rules": [rule(name) for name in rules]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def base_of(event):
    """The commit on which a pull request is based; None for other events."""
    if "pull_request" not in event:
        return None
    try:
        return git("merge-base", event["pull_request"]["base"]["sha"], "HEAD").strip()
    except subprocess.CalledProcessError:
        sys.exit("the base of the pull request is not in this clone; `fetch-depth: 0` of actions/checkout fetches it")


def changes(base, patterns):
    """The old names of renamed files by their new names, the removed files, and the new or changed files."""
    fields = iter(names(git("diff", "--name-status", "-z", "-M", base, "--", *patterns)))
    renamed, gone, changed = {}, [], set()
    for status in fields:
        name = next(fields)
        if status == "D":
            gone.append(name)
            continue
        if status[0] == "R":
            old, name = name, next(fields)
            renamed[name] = old
        changed.add(name)
    return renamed, gone, changed


def code(name):
    """A name as code in Markdown, between more backticks than it has in a row."""
    longest = max(map(len, re.findall("`+", name)), default=0)
    blank, fence = " " if longest else "", "`" * (longest + 1)
    return f"{fence}{blank}{name}{blank}{fence}"


def compared(netc, base, files, renamed, gone):
    """A section of Markdown for each specification whose cost differs from that at the base."""
    sections = [f"# {code(name)}\n\nThe file is gone.\n" for name in gone]
    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(folder, "base.tar")
        git("archive", "-o", archive, base)
        tree = pathlib.Path(folder, "base")
        shutil.unpack_archive(archive, tree)
        for name in files:
            old = renamed.get(name, name)
            is_new = not (tree / old).is_file()
            text = "The file is new.\n\n" + netc.estimate(name) if is_new else netc.compare(tree, old, name)
            if text:
                sections.append(f"# {code(name)}\n\n{text.strip()}\n")
    return sections


def fitting(sections, limit):
    """The sections that fit into the limit, and a line with the number of others."""
    kept = ""
    for count, section in enumerate(sections):
        if len(kept) + len(section) > limit:
            return f"{kept}\nThe summary of the job has {len(sections) - count} more.\n"
        kept += "\n" + section
    return kept


def comment(event, body, is_news):
    """Writes the comment of the pull request, or replaces it. Only news create the first comment."""
    number, repository = event["pull_request"]["number"], os.environ["GITHUB_REPOSITORY"]
    root = f"{os.environ['GITHUB_API_URL']}/repos/{repository}/issues"

    def request(method, url, data=None):
        headers = {"Accept": "application/vnd.github+json", "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}"}
        made = urllib.request.Request(url, data and json.dumps(data).encode(), headers, method=method)
        with urllib.request.urlopen(made, timeout=60) as answer:
            return json.load(answer)

    try:
        page, earlier, found = 1, None, [None]
        while found and not earlier:
            found = request("GET", f"{root}/{number}/comments?per_page=100&page={page}")
            earlier = next((one["id"] for one in found if one["body"].startswith(MARK.strip())), None)
            page += 1
        if earlier:
            request("PATCH", f"{root}/comments/{earlier}", {"body": body})
        elif is_news:
            request("POST", f"{root}/{number}/comments", {"body": body})
    except urllib.error.HTTPError as problem:
        # The token of a pull request from a fork can only read.
        print(f"::warning::netc cannot comment, which needs `pull-requests: write`: {problem}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--netc", default="netc", help="the program")
    parser.add_argument("--files", default="*.net", help="patterns of git, of the specifications")
    parser.add_argument("--changed", action="store_true", help="check only those that a pull request changes")
    parser.add_argument("--sarif", default="netc.sarif", help="the file to write")
    parser.add_argument("--markdown", default="netc.md", help="the file to write for a pull request")
    options = parser.parse_args()
    program = shutil.which(options.netc)
    if not program:
        sys.exit(f"there is no program `{options.netc}`; install netc in an earlier step")
    netc = Netc(os.path.abspath(program))
    written = {name: pathlib.Path(getattr(options, name)).absolute() for name in ("sarif", "markdown")}
    event_path = os.environ.get("GITHUB_EVENT_PATH")
    event = json.loads(pathlib.Path(event_path).read_text()) if event_path else {}
    # GitHub's names of files, and git's of changed ones, begin there.
    os.chdir(git("rev-parse", "--show-toplevel").rstrip("\n"))
    base = base_of(event)
    files = names(git("ls-files", "-z", "--", *options.files.split()))
    renamed, gone, changed = changes(base, options.files.split()) if base else ({}, [], set())

    # Specifications that import the same file share its diagnostics.
    found = {}
    checked = [name for name in files if name in changed] if base and options.changed else files
    for name in checked:
        for diagnostic in netc.check(name):
            found.setdefault(annotation(diagnostic), diagnostic)
    for line in found:
        print(line)
    written["sarif"].write_text(json.dumps(sarif(list(found.values()), netc.version), indent=1) + "\n")
    errors = sum(diagnostic["severity"] == "error" for diagnostic in found.values())
    summary = f"Errors that netc finds in {len(checked)} specifications: {errors}\n"
    print(summary, end="")

    if base:
        is_news = bool(changed or gone)
        sections = is_news and compared(netc, base, files, renamed, gone) or ["Each specification costs what it did.\n"]
        summary += "\n" + "\n".join(sections)
        body = MARK + fitting(sections, COMMENT_LIMIT)
        written["markdown"].write_text(body)
        if os.environ.get("GITHUB_TOKEN"):
            comment(event, body, is_news)
    if "GITHUB_STEP_SUMMARY" in os.environ:
        with open(os.environ["GITHUB_STEP_SUMMARY"], "a") as file:
            file.write(summary)
    return errors > 0


sys.exit(main())
