# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
import libfuzzer  # noqa: E402

config.name = "netc-fuzz"
config.test_format = libfuzzer.LibFuzzer()
config.test_source_root = os.path.join(config.build_dir, "bin")
config.test_exec_root = config.test_source_root
