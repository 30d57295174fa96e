# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Prints the grammar for TextMate and the editors that read its grammars.

    python3 editors/textmate.py > editors/net.tmLanguage.json
"""

import json
import pathlib
import runpy

source = pathlib.Path(__file__).resolve().parents[1] / "python/netc/highlighting.py"


def pattern(regex, scope):
    if isinstance(scope, str):
        return {"match": regex, "name": f"{scope}.net"}
    named = {str(number): {"name": f"{each}.net"} for number, each in enumerate(scope, 1) if each}
    return {"match": regex, "captures": named}


print(
    json.dumps(
        {
            "name": "netc",
            "scopeName": "source.net",
            "fileTypes": ["net"],
            "firstLineMatch": r"^net\s+1\b",
            "patterns": [pattern(*rule) for rule in runpy.run_path(source)["RULES"]],
        },
        indent=2,
    )
)
