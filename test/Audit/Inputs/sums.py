# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Audits traces with a specification (`-` for none), and sees that the rules add up to the difference.

Traces that are an error are left out, and so are rows whose exact count is not known.
"""

import json
import subprocess
import sys

specification = sys.argv[1:2] if sys.argv[1] != "-" else []
for trace in sys.argv[2:]:
    command = ["netc", "--audit", "--format=json", f"--trace={trace}", *specification]
    text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    assert text or not specification, command
    for audit in json.loads(text)["audits"] if text else []:
        for claim in audit["claims"]:
            unknown = [row["claims"][claim["id"]] for row in audit["rows"] if row["exact"] is None]
            compared = claim["total"] - sum(row["flop"] or 0 for row in unknown)
            rules = sum(rule["difference"] for rule in claim["rules"])
            assert compared - audit["exact"] == rules, (trace, claim, audit["exact"])
