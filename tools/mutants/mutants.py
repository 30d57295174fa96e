# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Mutation testing: changes an operator or a constant, and reports whether a test notices.

All mutants are compiled at once, each behind a condition (mutant schemata; Untch, Offutt and Harrold 1993). Then the
tests run once for each of them. It edits the given sources, and restores them at the end; commit before.

    apt-get install python3-clang-19
    python3 tools/mutants/mutants.py --seed 1 --count 60 lib/Analysis/Cost.cpp lib/Analysis/Memory.cpp dialect/NetCosts.cpp.inc

A file that the build generates is named as if it were in the source tree. Prints a line for each mutant, and the share
that was killed.
"""

import argparse
import json
import os
import pathlib
import random
import re
import resource
import shlex
import signal
import subprocess
import sys

import clang.cindex
from clang.cindex import CursorKind

root = pathlib.Path(__file__).resolve().parents[2]
build = root / "build/release"
lit = "/usr/lib/llvm-19/build/utils/lit/lit.py"

# What stands for an operator.
swaps = {
    "+": "-", "-": "+", "*": "+", "/": "*", "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "<": "<=", "<=": "<",
    ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
}  # fmt: skip
bodies = (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.FUNCTION_TEMPLATE)
header = """#pragma once
#include <cstdio>
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
/// Whether the file next to this one names the mutant.
inline bool isMutant(int number) {
  static const int chosen = [] {
    int read = -1;
    if (FILE *file = std::fopen("%s", "r")) {
      if (std::fscanf(file, "%%d", &read) != 1)
        read = -1;
      std::fclose(file);
    }
    return read;
  }();
  return number == chosen;
}
""" % (build / "mutant")


class Mutant:
    def __init__(self, path, begin, end, original, mutated, line):
        self.path, self.begin, self.end, self.line = path, begin, end, line
        self.original, self.mutated = original, mutated

    def __str__(self):
        brief = [re.sub(r"\s+", " ", text) for text in (self.original, self.mutated)]
        return f"{self.path}:{self.line}: `{brief[0]}` -> `{brief[1]}`"


def place_of(name):
    """The file itself, which may be generated."""
    return root / name if (root / name).exists() else build / name


def flags_for(folder):
    """The options of a file of the folder, or of a batch."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if f"/{folder}/" in entry["file"] and entry["file"].endswith((".cpp", ".cxx")) and "/test/" not in entry["file"]:
            words = shlex.split(entry["command"])
            return ["-std=c++17", f"-I{build}", "-isystem", "/usr/lib/llvm-19/include"] + [w for w in words if w.startswith(("-I", "-D"))]
    sys.exit(f"mutants.py: error: nothing in {folder} is compiled")


def parse(texts):
    """The syntax tree of files of one library, and the errors as pairs of a file and an offset."""
    # Names are unique within a library, so all of it can be read at once, and MLIR's headers with it.
    main = str(build / "mutants.cpp")
    includes = "".join(f'#include "{root / path.removesuffix(".inc")}"\n' for path in texts)
    unsaved = [(main, includes)] + [(str(place_of(path)), text.encode("latin-1")) for path, text in texts.items()]
    folder = pathlib.Path(next(iter(texts))).parent
    unit = clang.cindex.Index.create().parse(main, flags_for(folder), unsaved)
    errors = [d.location for d in unit.diagnostics if d.severity >= clang.cindex.Diagnostic.Error]
    return unit, [(place.file.name, place.offset) for place in errors if place.file]


def operator_of(cursor, text):
    """The operator between two operands: its begin and end."""
    children = list(cursor.get_children())
    if cursor.kind == CursorKind.CALL_EXPR:
        if len(children) != 3 or not re.fullmatch(r"operator\W+", cursor.spelling):
            return None
        children = [children[0], children[2]]
    elif cursor.kind not in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR):
        return None
    between = children[0].extent.end.offset, children[1].extent.start.offset
    found = re.search(r"[-+*/<>=!&|]+", text[slice(*between)])
    if not found or found.group() not in swaps:
        return None
    return between[0] + found.start(), between[0] + found.end()


def mutant_of(cursor, path, text):
    """How a piece of the file is mutated; None if it is not."""
    begin, end = cursor.extent.start, cursor.extent.end
    original = text[begin.offset : end.offset]
    if place := operator_of(cursor, text):
        mutated = text[begin.offset : place[0]] + swaps[text[slice(*place)]] + text[place[1] : end.offset]
    elif cursor.kind == CursorKind.INTEGER_LITERAL and original.isdigit():
        mutated = str(int(original) + 1)
    elif cursor.kind == CursorKind.CXX_BOOL_LITERAL_EXPR and original in ("true", "false"):
        mutated = "false" if original == "true" else "true"
    else:
        return None
    return Mutant(path, begin.offset, end.offset, original, mutated, begin.line)


def mutants_in(texts, unit):
    """Every mutant of the functions of the files."""
    paths = {str(place_of(path)): path for path in texts}

    def visit(cursor, inside):
        file = cursor.extent.start.file
        path = paths.get(file.name) if file else None
        if inside and path:
            if mutant := mutant_of(cursor, path, texts[path]):
                yield mutant
        elif not path and cursor.kind not in (CursorKind.TRANSLATION_UNIT, CursorKind.NAMESPACE) and not inside:
            return
        for child in cursor.get_children():
            yield from visit(child, inside or cursor.kind in bodies)

    return visit(unit.cursor, False)


def rewritten(text, mutants):
    """The text with all mutants, and where each stands in it."""
    pieces, ranges, at, length = ['#include "Mutant.h"\n'], [], 0, len('#include "Mutant.h"\n')
    for number, mutant in mutants:
        replacement = f"(isMutant({number}) ? ({mutant.mutated}) : ({mutant.original}))"
        pieces += [text[at : mutant.begin], replacement]
        length += mutant.begin - at
        ranges.append((length, length + len(replacement), number))
        length += len(replacement)
        at = mutant.end
    return "".join(pieces) + text[at:], ranges


def sample(paths, seed, count):
    """Mutants, none inside another, in equal parts from the files; and the files."""
    # libclang counts bytes.
    texts = {path: place_of(path).read_bytes().decode("latin-1") for path in paths}
    (build / "Mutant.h").write_text(header)
    folders = {}
    for path, text in texts.items():
        folders.setdefault(pathlib.Path(path).parent, {})[path] = text
    every = {path: [] for path in paths}
    for files in folders.values():
        unit, errors = parse(files)
        if errors:
            sys.exit(f"mutants.py: error: {errors[0][0]} does not compile at {errors[0][1]}")
        for mutant in mutants_in(files, unit):
            every[mutant.path].append(mutant)
    print(f"{sum(map(len, every.values()))} mutants in {len(paths)} files", flush=True)
    chosen = []
    for mutants in every.values():
        random.Random(seed).shuffle(mutants)
    while any(every.values()) and len(chosen) < count:
        for path, mutants in every.items():
            while mutants and len(chosen) < count:
                mutant = mutants.pop()
                if all(m.path != path or m.end <= mutant.begin or mutant.end <= m.begin for m in chosen):
                    chosen.append(mutant)
                    break
    return list(enumerate(chosen)), texts


def compile_all(mutants, texts, targets):
    """Compiles the mutants, and returns those that the compiler accepts."""
    while True:
        lines = {}
        for path, text in texts.items():
            mine = sorted((pair for pair in mutants if pair[1].path == path), key=lambda pair: pair[1].begin)
            source, ranges = rewritten(text, mine)
            place_of(path).write_bytes(source.encode("latin-1"))
            for begin, end, number in ranges:
                for line in range(source.count("\n", 0, begin) + 1, source.count("\n", 0, end) + 2):
                    lines.setdefault((str(place_of(path)), line), set()).add(number)
        ninja = ["ninja", "-C", build, "-k", "0", *targets]
        done = subprocess.run(ninja, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 0:
            return mutants
        errors = re.findall(r"^(/\S+?):(\d+):\d+: error", done.stdout, re.M)
        bad = set().union(*(lines.get((file, int(line)), set()) for file, line in errors))
        if not bad:
            sys.exit(done.stdout)
        mutants = [pair for pair in mutants if pair[0] not in bad]


def killer_of(filters, seconds):
    """The test that fails, or None."""
    for chosen in filters:
        command = [sys.executable, lit, "-q", "--max-failures=1", "-j2", f"--filter={chosen}", str(build / "test")]
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (120, 120))  # noqa: E731
        tests = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 start_new_session=True, preexec_fn=limit)  # fmt: skip
        try:
            output = tests.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(tests.pid, signal.SIGKILL)
            return "took too long"
        if tests.returncode:
            failed = re.search(r"^\s+netc\S* :: (\S+)", output, re.M)
            return failed.group(1) if failed else "a test"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--filter", action="append", help="a regular expression of tests; the next is for what survives the last")
    parser.add_argument("--targets", nargs="+", default=["netc"])
    parser.add_argument("--seconds", type=int, default=600, help="a mutant whose tests take longer is killed")
    arguments = parser.parse_args()
    filters = arguments.filter or ["."]
    mutants, texts = sample(arguments.files, arguments.seed, arguments.count)
    try:
        (build / "mutant").write_text("-1")
        mutants = compile_all(mutants, texts, arguments.targets)
        if failed := killer_of(filters, 10 * arguments.seconds):
            sys.exit(f"mutants.py: error: without a mutant, {failed} fails")
        killed = 0
        for number, mutant in mutants:
            (build / "mutant").write_text(str(number))
            by = killer_of(filters, arguments.seconds)
            killed += by is not None
            print(f"{'killed by ' + by if by else 'SURVIVED'}: {mutant}", flush=True)
        print(f"killed {killed} of {len(mutants)}: {100 * killed / max(len(mutants), 1):.1f} %")
    finally:
        for path, text in texts.items():
            place_of(path).write_bytes(text.encode("latin-1"))
        (build / "mutant").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
