# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: git
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %source_dir %t

# What the action says of a pull request, in a repository made for it. A server stands for GitHub's.
# `python3 test/Action/check_specifications.py . FOLDER --write`, with netc in the PATH, renews what docs/ContinuousIntegration.md shows.

import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import threading

source, folder = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
inputs = source / "test/Action/Inputs"
repository, summary = folder / "repository", folder / "summary.md"
environment = {
    "PATH": os.environ["PATH"],
    "HOME": str(folder),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GITHUB_STEP_SUMMARY": str(summary),
    "GITHUB_REPOSITORY": "some/models",
}
for role in "AUTHOR", "COMMITTER":
    environment |= {f"GIT_{role}_NAME": "netc", f"GIT_{role}_EMAIL": "netc@example.org"}


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=repository, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def commit(files):
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    git("add", "--all")
    git("commit", "--quiet", "--message=a change")
    return git("rev-parse", "HEAD")


class Server(http.server.BaseHTTPRequestHandler):
    """Of the comments of a pull request, and what is asked of them."""

    comments, asked, status = [{"id": 7, "body": "Fine!"}], [], 200

    def answer(self):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.asked.append((self.command, self.path, self.headers["Authorization"], text and json.loads(text)["body"]))
        is_first = self.path.endswith("page=1")
        sent = json.dumps(self.comments if is_first else []).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_PATCH = do_POST = answer

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()


def act(event, *arguments, status, token=None, place="."):
    """What the action prints, and the SARIF that it writes."""
    (folder / "event.json").write_text(json.dumps(event))
    summary.write_text("")
    variables = {"GITHUB_EVENT_PATH": str(folder / "event.json"), "GITHUB_API_URL": f"http://127.0.0.1:{server.server_port}", "GITHUB_TOKEN": token or ""}
    command = [sys.executable, source / "tools/action/check_specifications.py", f"--sarif={folder / 'netc.sarif'}", f"--markdown={folder / 'netc.md'}"]
    done = subprocess.run([*command, *arguments], cwd=repository / place, env=environment | variables, capture_output=True, text=True)
    assert done.returncode == status, done
    return done.stdout + done.stderr, json.loads((folder / "netc.sarif").read_text()) if status < 2 and not done.stderr else None


def check_sarif(log):
    """What the schema of SARIF 2.1.0 requires, of the properties that are written, and what GitHub adds to that."""
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    [run] = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "netc" and re.fullmatch(r"\d+\.\d+\.\d+", driver["version"])
    assert run["columnKind"] == "unicodeCodePoints"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    assert all(rule[key]["text"] for rule in driver["rules"] for key in ("shortDescription", "fullDescription", "help"))
    for result in run["results"]:
        assert result["message"]["text"] and result["level"] in ("none", "note", "warning", "error")
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert len(result["locations"]) == 1
        for location in result["locations"] + result.get("relatedLocations", []):
            place = location["physicalLocation"]
            assert re.fullmatch(r"[\w./%-]+", place["artifactLocation"]["uri"]) and place["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
            assert all(isinstance(number, int) and number >= 1 for number in place["region"].values())
            assert "startLine" in place["region"] and set(place["region"]) <= {"startLine", "startColumn"}
    return run["results"]


def is_shown(name, text):
    if "--write" in sys.argv:
        (inputs / name).write_text(text)
    assert (inputs / name).read_text() == text, text


MLP = 'import "parts.net"\nnet Mlp(image: f32[N, 28, 28]) { return logits = image |> flatten |> Hidden |> Linear(10) }\nexpect Mlp.params == 101_770\n'
CONV = "net Conv(image: f32[N, 28, 28, 1]) { return logits = image |> Conv2d(8, kernel = 3) |> flatten |> Linear(10) }\n"
repository.mkdir()
git("init", "--quiet", "--initial-branch=main")
base = commit({
    "models/parts.net": "block Hidden(x) = x |> Linear(128) |> relu\n",
    "models/mlp.net": MLP,
    "linear.net": "net Linear1(x: f32[N, 8]) { return y = x |> Linear(4) }\n",
    "old.net": "net Renamed(x: f32[N, 16]) { return y = x |> Linear(4) |> tanh |> Linear(2) |> tanh }\n",
    "gone.net": "net Gone(x: f32[N, 8]) { return y = x |> Linear(4) }\n",
})  # fmt: skip

# All is well, and nothing is compared.
printed, log = act({"ref": "refs/heads/main"}, "--files=*.net :!models/parts.net", status=0)
assert printed == "Errors that netc finds in 4 specifications: 0\n" and check_sarif(log) == [], printed
assert summary.read_text() == printed and not (folder / "netc.md").exists()

git("switch", "--quiet", "--create=wider")
git("mv", "old.net", "new name.net")
git("rm", "--quiet", "gone.net")
commit({"models/parts.net": "block Hidden(x) = x |> Linear(256) |> relu\n"})
event = {"pull_request": {"number": 3, "base": {"sha": base}}}

# A part changes the specification that imports it; what costs the same is left out. A token makes a comment.
printed, log = act(event, "--files=*.net :!models/parts.net", status=1, token="secret")
is_shown("annotations.txt", printed.splitlines(keepends=True)[0])
[result] = check_sarif(log)
assert (result["ruleId"], result["level"]) == ("expect-failed", "error"), result
assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "models/mlp.net", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 3, "startColumn": 1}}}]
markdown = (folder / "netc.md").read_text()
assert "# `gone.net`\n\nThe file is gone.\n" in markdown and "linear.net" not in markdown and "new name" not in markdown, markdown
is_shown("comment.md", markdown[markdown.index("# `models/mlp.net`") :])
assert summary.read_text().endswith(markdown.removeprefix("<!-- netc -->\n")), summary.read_text()
assert [ask[:3] for ask in Server.asked] == [
    ("GET", "/repos/some/models/issues/3/comments?per_page=100&page=1", "Bearer secret"),
    ("GET", "/repos/some/models/issues/3/comments?per_page=100&page=2", "Bearer secret"),
    ("POST", "/repos/some/models/issues/3/comments", "Bearer secret"),
] and Server.asked[-1][3] == markdown, Server.asked

# The comment is renewed.
Server.comments.append({"id": 8, "body": markdown})
Server.asked.clear()
act(event, status=1, token="secret")
assert [ask[:2] for ask in Server.asked[1:]] == [("PATCH", "/repos/some/models/issues/comments/8")], Server.asked

# A fork's token only reads.
Server.status = 403
printed, log = act(event, status=1, token="secret")
assert "::warning::netc cannot comment, which needs `pull-requests: write`: HTTP Error 403" in printed, printed

# Of the files that it changes alone. Two import the one with the error, which is told once; a new file has no base; special characters are kept.
commit({
    "models/parts.net": "block Hidden(x) = x |> Linnear(128)\n",
    "models/again,%.net": MLP.replace("Mlp", "Again"),
    "new.net": "net New(x: f32[N, 8]) { return y = x |> Linear(4) }\nblock Unused(x) = x\n",
    "constants.net": "width = 3\n",
    "empty.net": "",
})  # fmt: skip
printed, log = act(event, "--changed", status=1)
lines = printed.splitlines()
error = "::error file=models/parts.net,line=1,col=24,title=unknown-name::unknown name `Linnear`; did you mean `Linear`?"
assert lines.count(error) == 1 and lines[-1] == "Errors that netc finds in 6 specifications: 1", printed
assert "::warning file=new.net,line=2,col=1,title=unused-block::`Unused` is not used; only its names are checked" in lines, printed
assert {result["level"] for result in check_sarif(log)} == {"error", "warning"}
markdown = (folder / "netc.md").read_text()
assert "# `new.net`\n\nThe file is new.\n\n## New\n" in markdown and "36 parameters" in markdown, markdown
assert "# `models/again,%.net`\n\nThe file is new.\n\nIt has errors.\n" in markdown, markdown
for name in "constants", "empty":
    assert f"# `{name}.net`\n\nThe file is new.\n\n# " in markdown, markdown
assert "# `models/mlp.net`\n\nThere is no comparison: one of the two has errors.\n" in markdown, markdown

# An error that is alike at the base is no change, though its line is another and it stands in an imported file; another error is.
again = {"pull_request": {"number": 4, "base": {"sha": git("rev-parse", "HEAD")}}}
broken = "block Hidden(x) = x |> Linnear(128)\n"
commit({"models/parts.net": "# Two layers.\n" + broken, "models/mlp.net": "# A net.\n" + MLP, "models/ring.net": 'import "ring.net"\n'})
printed, log = act(again, status=1)
markdown = (folder / "netc.md").read_text()
assert re.findall("^# .*", markdown, re.M) == ["# `models/ring.net`"], markdown
again["pull_request"]["base"]["sha"] = git("rev-parse", "HEAD")
commit({"models/parts.net": broken.replace("Linnear", "Linaer"), "models/ring.net": '# A ring.\nimport "ring.net"\n'})
act(again, status=1)
markdown = (folder / "netc.md").read_text()
assert re.findall("^# .*", markdown, re.M) == ["# `models/again,%.net`", "# `models/mlp.net`", "# `models/parts.net`"], markdown

(repository / "a,b%.net").write_text("net A(x: f32[N, 8]) { return y = x |> Linnear(4) }\n")
git("add", "--all")
printed, log = act({}, "--files=a,*.net", status=1)
assert printed.startswith("::error file=a%2Cb%25.net,line=1,col=39,"), printed
assert check_sarif(log)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%2Cb%25.net"

# A name may look like an option, or have characters of Markdown. A folder may be new, and the event not given.
again["pull_request"]["base"]["sha"] = commit({})
commit({"new/-x.net": "net A(x: f32[N, 8]) { return y = x |> Linear(4) }\n", "-`y`.net": ""})
printed, _ = act(again, "--changed", status=0, place="new")
assert printed == "Errors that netc finds in 2 specifications: 0\n", printed
markdown = (folder / "netc.md").read_text()
assert "# `` -`y`.net ``\n" in markdown and "# `new/-x.net`\n\nThe file is new.\n\n## A\n" in markdown, markdown
del environment["GITHUB_STEP_SUMMARY"]
command = [sys.executable, source / "tools/action/check_specifications.py", "--files=new/*.net"]
done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True)
assert (done.returncode, done.stdout) == (0, "Errors that netc finds in 1 specifications: 0\n"), done

# What a workflow lacks.
printed, _ = act({"pull_request": {"number": 3, "base": {"sha": "0" * 40}}}, status=1)
assert printed == "the base of the pull request is not in this clone; `fetch-depth: 0` of actions/checkout fetches it\n", printed
printed, _ = act({}, "--netc=no-such-program", status=1)
assert printed == "there is no program `no-such-program`; install netc in an earlier step\n", printed

# The script takes what the action gives.
action = (source / "action.yml").read_text()
given = set(re.findall(r"--[a-z]+", action))
assert given == {"--" + name for name in re.findall(r"^  (\w+):$", action.split("runs:")[0], re.M)} - {"--token"}, given
assert given <= set(re.findall(r'"(--\w+)"', (source / "tools/action/check_specifications.py").read_text()))
