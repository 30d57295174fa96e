# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the program `netc`, and reads its JSON."""

import functools
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings

from .errors import ExportRefused, ImportRefused, NetcError, Problem
from .measurement import Measurement
from .report import Report
from .tables import from_json


def program():
    """The path of netc: `NETC`, else the program in the wheel, else the one on the path."""
    own = pathlib.Path(__file__).parent / "bin" / "netc"
    found = os.environ.get("NETC") or (str(own) if own.exists() else shutil.which("netc"))
    if not found:
        raise NetcError("there is no program `netc`: it is in the wheel; from source, build it and let NETC name it")
    return found


def version():
    """The version of the program: `0.1.0`."""
    return _version(program())


@functools.cache
def _version(path):
    found = re.match(r"netc (\d+(\.\d+)+)", _start(path, ["--version"], NetcError).stdout)
    if not found:
        raise NetcError(f"`{path}` is not the program netc: it does not print a version of it")
    return found[1]


def _start(path, arguments, kind):
    try:
        return subprocess.run([path, *arguments], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace")
    except (OSError, ValueError) as problem:  # ValueError: a null character in an argument
        raise kind(f"cannot run `{path}`: {getattr(problem, 'strerror', None) or problem}") from None


def main():
    """The command `netc` of the wheel."""
    try:
        path = program()
        os.execv(path, [path, *sys.argv[1:]])
    except (NetcError, OSError) as problem:
        sys.exit(f"netc: error: {problem}")


def _value(text):
    """What netc writes as a value, as Python does."""
    parts = [each if re.fullmatch(r"\d+", each) else f'"{each}"' for each in text.split(",")]
    return parts[0] if len(parts) == 1 else f"[{', '.join(parts)}]"


# Options of the command line in messages, and the arguments that they are here.
ARGUMENTS = (
    (r'`--set "?([\w.]+)=([^`"]*)"?`', lambda found: f'`set={{"{found[1]}": {_value(found[2])}}}`'),
    (r"`--opaque=([^`]*)`", r'`opaque=["\1"]`'),
    (r"`--(net|run)=([^`]*)`", r'`\1="\2"`'),
    (r"`--(batch|net|run|seconds|set|threads)`", r"`\1`"),
    (r"`--emit=graph`", "`to_graph`"),
    (r"`-D`", "`define`"),
    (r"`(--max-\w+)` allows more", r"the program `netc` allows more, with the option \1"),
    (r"; `--help` lists the options", ""),
)


def _in_python(message):
    for option, argument in ARGUMENTS:
        message = re.sub(option, argument, message)
    return message


def _problem(entry, own):
    severity, id, message, file, line, column = (entry.get(key) for key in ("severity", "id", "message", "file", "line", "column"))
    for name, text in own.items():
        message = message.replace(f"`{name}`", text)
    message = _in_python(message)
    if file == "<command line>" or file in own and not file.endswith(".net"):  # a graph, whose lines no one sees
        return Problem(severity, id, message, None, None, None)
    source = ""
    if line and file.endswith(".net"):
        try:
            source = pathlib.Path(file).read_text(errors="replace").split("\n")[line - 1].replace("\t", " ").rstrip()
        except (OSError, IndexError):
            pass  # it is not there any more
    return Problem(severity, id, message, None if file in own else file, line, column, source, own.get(file, Problem.text))


def _run(arguments, kind=NetcError, own={}, read=None):
    """Runs netc, and returns its output as `read` makes it. Raises `kind` on errors, with what is printed beside them. `own`
    says what errors call temporary files, by their paths."""
    path = program()
    _version(path)  # that it is netc
    done = _start(path, ["--diagnostics=json", *arguments], kind)
    if done.returncode == 0:
        return read(done.stdout) if read else done.stdout
    problems, rest = [], []
    for line in done.stderr.splitlines():
        try:
            problems.append(_problem(json.loads(line), own))
        except (AttributeError, ValueError):  # it is no problem
            rest.append(_in_python(line))
    errors = [p for p in problems if p.severity == "error"]
    said = [p for p in problems if p.severity != "warning"]
    if done.returncode < 0:
        rest.append(f"`{path}` was ended by {_signal(-done.returncode)}")
    # A measurement ends with 3 if some points lack memory.
    has_result = errors and done.returncode == 1 or done.returncode == 3
    result = read(done.stdout) if read and has_result and done.stdout else None
    raise kind("\n".join([*map(str, said), *rest]) or f"`{path}` failed with the status {done.returncode}", errors, result)


def _signal(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _json(text):
    """What netc prints as JSON."""
    try:
        return json.loads(text)
    except ValueError:
        raise NetcError(f"`{program()}` does not print JSON; is it netc, of the version of this package?") from None


# What writes the specification of a file that is none, by its suffix.
WRITERS = {".onnx": "from_onnx", ".json": "from_config"}


LIMIT = 4 << 20  # bytes that netc reads of a file by default


def _path(path):
    """A path as an argument, which is no option."""
    text = os.fspath(path)
    return os.path.join(os.curdir, text) if text.startswith("-") else text


class _File:
    """A specification as a file. A path is used where it is, so that its imports are found. Text is written to a
    temporary file, which errors call `name`."""

    def __init__(self, spec, name=Problem.text):
        if not isinstance(spec, (str, os.PathLike)):
            raise TypeError(f"a specification is text or a path, not a {type(spec).__name__}; `netc.from_torch` writes that of a module")
        self.folder, self.name, self.size = None, name, 0
        writer = WRITERS.get(pathlib.Path(spec).suffix) if "\n" not in os.fspath(spec) else None
        if writer:
            raise NetcError(f"`{spec}` is a model, and no specification; `netc.{writer}` writes that of it")
        if isinstance(spec, os.PathLike) or ("\n" not in spec and spec.endswith(".net")):
            self.path = _path(spec)
        elif not spec.strip():
            raise NetcError(f"{'the specification' if name == Problem.text else name} is empty")
        elif not re.search(r"\s", spec):
            raise NetcError(f"`{spec}` is neither the text of a specification nor a path that ends with `.net`")
        else:
            self.folder = tempfile.TemporaryDirectory(prefix="netc-")
            self.path = os.path.join(self.folder.name, "spec.net")
            try:
                self.size = pathlib.Path(self.path).write_bytes(spec.encode())
            except UnicodeEncodeError as problem:
                self.folder.cleanup()
                raise NetcError(f"a specification is text in UTF-8, in which nothing is {spec[problem.start]!r}, its character {problem.start}") from None

    def __enter__(self):
        return self

    @property
    def own(self):
        return {self.path: self.name} if self.folder else {}

    def run(self, *arguments, kind=NetcError, others={}, read=None):
        # A text of one's own, such as that of a large model, may be as long as it is.
        return _run([*arguments, f"--max-input={max(self.size, LIMIT)}", self.path], kind=kind, own={**self.own, **others}, read=read)

    def __exit__(self, *_):
        if self.folder:
            self.folder.cleanup()


def _text(key, value):
    """A value as netc writes it."""
    value = value.tolist() if hasattr(value, "tolist") else value  # of numpy
    if isinstance(value, (list, tuple, range)):
        return ",".join(_text(key, each) for each in value)
    if not isinstance(value, (str, int, float)):
        raise NetcError(f"`{key}` is given {value!r}, which is no number, text or truth value")
    if isinstance(value, float) and not math.isfinite(value):
        raise NetcError(f"`{key}` is given {value!r}, which is no number of the language")
    try:
        return str(value).lower() if isinstance(value, bool) else str(value)
    except ValueError:  # Python writes no integer of more than 4300 digits
        raise NetcError(f"`{key}` is given a number of too many digits") from None


def _settings(settings, define):
    for name, given, example in ("set", settings, {"run.batch": 64}), ("define", define, {"width": 64}):
        if given and not isinstance(given, dict):
            raise NetcError(f"`{name}` is a dictionary, such as `{example}`, not {given!r}")
        for key in given or ():
            if not isinstance(key, str):
                raise NetcError(f"`{name}` names values by texts, as in `{example}`, not by {key!r}")
    return [*(f"--set={key}={_text(key, value)}" for key, value in (settings or {}).items()), *(f"-D{key}={_text(key, value)}" for key, value in (define or {}).items())]


def estimate(spec, set=None, define=None):
    """Estimates the costs of the networks and runs of a specification.

    Args:
        spec: text, or the path of a file.
        set: values that replace those of the file, such as `{"run.batch": 64}`. A list of values
            makes the points of a `sweep`.
        define: values that replace top-level constants.

    Raises:
        NetcError: with the line and column of the error; also if an `expect` fails, and then with the report as `result`.
    """
    with _File(spec) as file:
        return file.run("--format=json", *_settings(set, define), read=_report)


def _report(text):
    return _read(Report, text)


def _measurement(text):
    return _read(Measurement, text)


def _read(kind, text):
    try:
        return from_json(kind, _json(text))
    except (AttributeError, KeyError, TypeError):
        raise NetcError(f"`{program()}` does not print a {kind.__name__.lower()} of the version of this package") from None


def check(spec, define=None):
    """Raises NetcError if the specification has an error, or an `expect` fails."""
    with _File(spec) as file:
        file.run("--check", *_settings(None, define))


def compare(one, other):
    """Returns the differences from the first specification to the second, as text.

    Raises:
        NetcError: as in `estimate`; if an `expect` of either fails, then with the differences as `result`.
    """
    with _File(one, "the first text") as first, _File(other, "the second text") as second:
        return second.run("--compare", first.path, others=first.own, read=str)


def measure(spec, run=None, batch=None, seconds=None, threads=None, set=None, define=None):
    """Compiles the runs of a specification, trains them on this machine, and returns the `Measurement`. Needs a C++ compiler,
    which links the programs. `set` and `define` are those of `estimate`.

    Raises:
        NetcError: as in `estimate`; if some points lack memory, then with the measurements of the others as `result`.
    """
    options = {"run": run, "batch": batch, "seconds": seconds, "threads": threads}
    with _File(spec) as file:
        given = [f"--{key}={_text(key, value)}" for key, value in options.items() if value is not None]
        return file.run("--measure", "--format=json", *given, *_settings(set, define), read=_measurement)


def from_graph(graph, opaque=()):
    """The specification of a graph, an object of docs/graph.schema.json. The cost of ops in `opaque` stays unknown."""
    if not isinstance(graph, dict) or "netc_graph" not in graph:
        raise ImportRefused("a graph is a dictionary with `netc_graph`, as `netc.torch_graph.export` returns it")
    opaque = [opaque] if isinstance(opaque, str) else opaque
    if not hasattr(opaque, "__iter__"):
        raise ImportRefused(f"`opaque` is a list of names of ops, such as `['aten.erfinv']`, not {opaque!r}")
    used = {node.get("op") for node in graph.get("nodes", ()) if isinstance(node, dict)}
    for op in opaque:
        if op not in used:
            warnings.warn(f"`opaque` names `{op}`, and no op of the model is called so", stacklevel=3)
    with tempfile.TemporaryDirectory(prefix="netc-") as folder:
        path = pathlib.Path(folder) / "graph.json"
        try:
            path.write_text(json.dumps(graph, allow_nan=False))
        except (TypeError, ValueError) as problem:
            raise ImportRefused(f"the graph is not JSON: {problem}") from None
        limit = max(2 * path.stat().st_size, LIMIT)
        return _run(["--import", str(path), f"--max-input={limit}", *(f"--opaque={op}" for op in opaque)], kind=ImportRefused, own={str(path): Problem.text})


def to_graph(spec, net=None, run=None, set=None, define=None):
    """Returns a network of a specification in PyTorch's ops, as an object of docs/graph.schema.json.

    Args:
        spec: text, or the path of a file.
        net: the network; needed if the file has several.
        run: an inference instead, whose network has no dropout, and batch norms with running statistics.
        set, define: as in `estimate`.

    Raises:
        ExportRefused: PyTorch has no op for one of the network's ops.
    """
    with _File(spec) as file:
        named = [f"--{key}={value}" for key, value in (("net", net), ("run", run)) if value is not None]
        return _json(file.run("--emit=graph", *named, *_settings(set, define), kind=ExportRefused))


def from_config(path):
    """The specification of a model of the Hugging Face hub, from its config.json."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a config.json is named by its path, not by a {type(path).__name__}")
    return _run(["--import", _path(path)], kind=ImportRefused)
