# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os

import lit.formats

config.name = "netc-unit"
config.test_format = lit.formats.GoogleTest(".", "Test")
config.test_source_root = os.path.join(config.build_dir, "bin")
config.test_exec_root = config.test_source_root
