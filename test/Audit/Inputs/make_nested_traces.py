# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes traces in which products lie inside of other events of PyTorch, into the folder of the first argument."""

from written_traces import Trace

# Tensor parallelism: each op of DTensors has that of the shards of one of two ranks inside, as the op of a subclass.
sharded = Trace()


def mm(*sizes, shards=(1, 1, 1), **args):
    local = [size // parts for size, parts in zip(sizes, shards)]
    subclass = lambda: sharded.op("aten::mm", local[:2], local[1:])
    inner = lambda: sharded.around("cpu_op", "PythonSubclass", subclass)
    sharded.around("cpu_op", "aten::mm", inner, **{"Input Dims": [sizes[:2], sizes[1:]]}, **args)


mm(4, 8, 16, shards=(1, 1, 2), **{"Sequence number": 1})
mm(4, 16, 2, shards=(1, 2, 1), **{"Sequence number": 2})
last = lambda: [mm(16, 4, 2, shards=(2, 1, 1)), mm(4, 2, 16, shards=(1, 1, 2))]
sharded.node("MmBackward0", 2, last)
sharded.node("MmBackward0", 1, lambda: mm(8, 4, 16, shards=(1, 1, 2)))
sharded.write("sharded")
