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

# Products in functions of the user, which have the numbers that their products lack: two of a checkpoint run again in
# the node of the second one, and one is the gradient that the first one's node calls.
functions = Trace()


def linear(rows, inner, columns, sequence, name="MyLinear"):
    product = lambda: functions.op("aten::mm", [rows, inner], [inner, columns])
    functions.around("cpu_op", name, product, **{"Sequence number": sequence})


def checkpointed():
    linear(4, 8, 16, 3)
    linear(4, 16, 2, 4)
    functions.op("aten::mm", [16, 4], [4, 2])
    functions.op("aten::mm", [4, 2], [2, 16])


linear(4, 8, 16, 1)
linear(4, 16, 2, 2)
functions.node("MyLinearBackward", 2, checkpointed)
functions.node("MyLinearBackward", 1, lambda: linear(8, 4, 16, 5, "MyLinearWeight"))
functions.write("functions")

# Reentrant checkpoints within others: four equal layers, each in one, and two pairs of them in another. The inner ones
# run twice again, without numbers of their products and with them.
nested, numbers = Trace(), iter(range(1, 100))
CHECKPOINT, SQUARE = "CheckpointFunction", ([4, 8], [8, 8])


def checkpoint(inner):
    number = next(numbers)
    nested.around("cpu_op", CHECKPOINT, inner, **{"Sequence number": number})
    return number


def pair(inside):
    """Two layers, each in a checkpoint, and the numbers of these."""
    inside += [checkpoint(lambda: nested.op("aten::mm", *SQUARE)) for _ in range(2)]


def layer_backward(hasInput):
    number = next(numbers)
    nested.op("aten::mm", *SQUARE, sequence=number)
    products = [([8, 4], [4, 8]), ([4, 8], [8, 8])][: 1 + hasInput]
    nested.node("MmBackward0", number, lambda: [nested.op("aten::mm", *each) for each in products])


def pair_backward(isFirst):
    inside = []
    pair(inside)
    for number, hasInput in (inside[1], True), (inside[0], not isFirst):
        nested.node(f"{CHECKPOINT}Backward", number, lambda: layer_backward(hasInput))


outer = [checkpoint(lambda: pair([])) for _ in range(2)]
head = next(numbers)
nested.op("aten::mm", [4, 8], [8, 2], sequence=head)
nested.node(
    "MmBackward0", head, lambda: [nested.op("aten::mm", [8, 4], [4, 2]), nested.op("aten::mm", [4, 2], [2, 8])]
)
for number, isFirst in (outer[1], False), (outer[0], True):
    nested.node(f"{CHECKPOINT}Backward", number, lambda: pair_backward(isFirst))
nested.write("nested")

# A compiled graph whose C++ calls no op that multiplies, and the rest of the network.
hiding = Trace()
GRAPH = "## Call CompiledFxGraph fiq7xh5z ##"
hidden = lambda: hiding.around("user_annotation", GRAPH, lambda: hiding.op("aten::as_strided", [4, 8]))
hiding.around("cpu_op", "CompiledFunction", hidden, **{"Sequence number": 1})
hiding.op("aten::mm", [4, 16], [16, 2], sequence=2)
hiding.node("MmBackward0", 2, lambda: [hiding.op("aten::mm", [16, 4], [4, 2]), hiding.op("aten::mm", [4, 2], [2, 16])])
hiding.node("CompiledFunctionBackward", 1, hidden)
hiding.write("hiding")

# A DataLoader that multiplies, in front of each of two passes.
loading = Trace()
for number in 1, 3:
    augment = lambda: loading.op("aten::mm", [4, 8], [8, 8], sequence=number)
    loading.around("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", augment)
    loading.op("aten::mm", [4, 8], [8, 16], sequence=number)
    loading.op("aten::mm", [4, 16], [16, 2], sequence=number + 1)
    loading.node(
        "MmBackward0", number + 1, lambda: [loading.op("aten::mm", [16, 4], [4, 2]), loading.op("aten::mm", [4, 2], [2, 16])]
    )
    loading.node("MmBackward0", number, lambda: loading.op("aten::mm", [8, 4], [4, 16]))
loading.write("loading")

# The traces of two ranks in one file.
merged = Trace()
for process in 1, 2:
    merged.op("aten::mm", [4, 8], [8, 16])["pid"] = process
merged.write("merged")

# Functions of matrices, into which FlopCounterMode does not look, and the gradient of one.
matrices = Trace()
bmm = lambda: matrices.op("aten::bmm", *[[1, 6, 6]] * 3)
matrices.around("cpu_op", "aten::linalg_matrix_exp", bmm, **{"Input Dims": [[6, 6]], "Sequence number": 1})
mm = lambda: matrices.op("aten::mm", [5, 5], [5, 8])
matrices.around("cpu_op", "aten::linalg_pinv", mm, **{"Input Dims": [[8, 5]], "Sequence number": 2})
matrices.node("LinalgPinvBackward0", 2, lambda: matrices.op("aten::mm", [5, 8], [8, 5]))
matrices.write("functions-of-matrices")

# Compiled autograd: the backward pass is a region within that of the forward pass, without nodes and numbers.
compiled = Trace()


def region(name, *products):
    def graph():
        return compiled.around("user_annotation", GRAPH, lambda: [compiled.op("aten::mm", *each) for each in products])

    compiled.around("cpu_op", f"Torch-Compiled Region: {name}", graph)


def both():
    region("0/0", ([4, 8], [8, 16]), ([4, 16], [16, 2]))
    region("!0/2/0", ([2, 4], [4, 16]), ([4, 2], [2, 16]), ([16, 4], [4, 8]))


compiled.around("cpu_op", "Torch-Compiled Region: 1/0", both)
compiled.write("compiled-autograd")

# Micro-batches of a pipeline: 1F1B of three passes, and GPipe, where all forward passes are in front.
for name, order in ("1f1b", "F1 F2 B1 F3 B2 B3"), ("gpipe", "F1 F2 F3 B3 B2 B1"):
    pipeline = Trace()
    for kind, number in order.split():
        first = 2 * int(number)
        if kind == "F":
            pipeline.op("aten::mm", [2, 8], [8, 16], sequence=first)
            pipeline.op("aten::mm", [2, 16], [16, 2], sequence=first + 1)
            continue
        last = lambda: [pipeline.op("aten::mm", [16, 2], [2, 2]), pipeline.op("aten::mm", [2, 2], [2, 16])]
        pipeline.node("MmBackward0", first + 1, last)
        pipeline.node("MmBackward0", first, lambda: pipeline.op("aten::mm", [8, 2], [2, 16]))
    pipeline.write(name)

# Equal layers of one pass, whose backward pass is in the order of GPipe's.
layers = Trace()
for number in 1, 2, 3, 4:
    layers.op("aten::mm", *SQUARE, sequence=number)
for number in 4, 3, 2, 1:
    products = [([8, 4], [4, 8]), ([4, 8], [8, 8])][: 1 + (number > 1)]
    layers.node("MmBackward0", number, lambda: [layers.op("aten::mm", *each) for each in products])
layers.write("equal-layers")
