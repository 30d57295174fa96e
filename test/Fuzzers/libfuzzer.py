# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A format of lit: runs each program of libFuzzer from its seeds, and reads each specification of the library and of the
tests. Where addresses can be fixed, it tries the same each time. `--param seconds=3600` lets each program go on for an hour instead."""

import pathlib
import re
import shutil

import lit.formats
import lit.Test
import lit.util


def words_of_specifications(source, build):
    """What the grammar spells out, and the names of ops and blocks."""
    grammar = (source / "grammar/Net.g4").read_text()
    words = re.findall(r"^[A-Z]+ *: '([^']+)' ;", grammar, re.M)
    words += re.findall(r"^### `net\.(\w+)", (build / "dialect/Ops.md").read_text(), re.M)
    for file in (source / "lib/Std").glob("*.net"):
        words += re.findall(r"^block (\w+)", file.read_text(), re.M)
    return words


def write_dictionary(path, seeds, words):
    """The words of the seeds, and others, in libFuzzer's format."""
    for seed in seeds.iterdir():
        words += re.findall("[A-Za-z_][A-Za-z0-9_]{2,31}", seed.read_bytes().decode("latin-1"))
    path.write_text("".join(f'"{word}"\n' for word in sorted(set(words))))


def at_fixed_addresses():
    """What libFuzzer keeps depends on the order of tables whose keys are addresses."""
    fixed = ["setarch", "-R"]
    try:
        return fixed if lit.util.executeCommand([*fixed, "true"])[2] == 0 else []
    except OSError:
        return []


AT_FIXED_ADDRESSES = at_fixed_addresses()


def run(command):
    out, err, status = lit.util.executeCommand([*AT_FIXED_ADDRESSES, *map(str, command)])
    return lit.Test.FAIL if status else lit.Test.PASS, out + err


def read_specifications(source, program):
    # Those of `examples` take five minutes.
    folders = [source / "lib/Std", source / "test"]
    return run([program, "-timeout=120", *sorted(file for folder in folders for file in folder.rglob("*.net"))])


SPECIFICATIONS = ("specification", "tokens")
# Executions of a program, which take up to a minute.
RUNS = {"specification": 3500, "tokens": 3500, "graph": 3500, "config": 500, "safetensors": 500}


class LibFuzzer(lit.formats.TestFormat):
    def getTestsInDirectory(self, suite, path, lit_config, local_config):
        for program in sorted(pathlib.Path(suite.getSourcePath(path)).glob("fuzz-*")):
            yield lit.Test.Test(suite, path + (program.name,), local_config)
        yield lit.Test.Test(suite, path + ("read-specifications",), local_config)

    def execute(self, test, lit_config):
        source, build = pathlib.Path(test.config.source_dir), pathlib.Path(test.config.build_dir)
        if test.path_in_suite[-1] == "read-specifications":
            return read_specifications(source, test.suite.getSourcePath(("fuzz-specification",)))
        name = test.path_in_suite[-1].removeprefix("fuzz-")
        reads_specifications = name in SPECIFICATIONS
        seeds = source / "test/Fuzz/Inputs" / ("specification" if reads_specifications else name)
        found = build / "found" / name
        shutil.rmtree(found, ignore_errors=True)
        found.mkdir(parents=True)
        dictionary = found.with_suffix(".dict")
        write_dictionary(dictionary, seeds, words_of_specifications(source, build) if reads_specifications else [])
        seconds = lit_config.params.get("seconds")
        limit = f"-max_total_time={seconds}" if seconds else f"-runs={RUNS.get(name, 15000)}"
        # What ends in a fault stays beside the folder.
        return run([test.getSourcePath(), "-seed=1", limit, "-max_len=4096", "-timeout=120", f"-dict={dictionary}",
                    f"-artifact_prefix={found}-", "-print_final_stats=1", found, seeds])  # fmt: skip
