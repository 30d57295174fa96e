# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Lists the tensors that PyTorch saves for the backward pass of a model: each storage once, with the nodes that save it.

Tensors are fake: they have shapes, types and a device, but no data. PyTorch's dispatcher and autograd decide as on a GPU,
without needing one.
"""

import collections
import dataclasses
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

TYPES = {
    torch.float32: "f32",
    torch.bfloat16: "bf16",
    torch.float16: "f16",
    torch.float64: "f64",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.uint8: "u8",
    torch.uint64: "u64",
    torch.bool: "bool",
}

# Ops that only change the shape.
VIEWS = {
    "TBackward0",
    "TransposeBackward0",
    "ViewBackward0",
    "UnsafeViewBackward0",
    "PermuteBackward0",
    "ExpandBackward0",
    "UnsqueezeBackward0",
    "ReshapeAliasBackward0",
    "AliasBackward0",
}


@dataclasses.dataclass(eq=False)
class Made:
    """How a storage came to be: the op that made it, from which others."""

    op: str  # `cat`, or "weight" or "data"
    sources: list
    type: torch.dtype
    elements: int
    part: tuple = ()  # of a copy, what it reads of its source: the first element and how many
    changed: list = dataclasses.field(default_factory=list)  # the ops that changed it in place
    users: list = dataclasses.field(default_factory=list)  # what was made from it

    def depends_on(self, op):
        """Whether the storage is made from data, or from weights."""
        seen, work = set(), [self]
        while work:
            made = work.pop()
            if made.op == op:
                return True
            if id(made) not in seen:
                seen.add(id(made))
                work += made.sources
        return False


@dataclasses.dataclass
class Kept:
    module: str  # the module that runs when it is kept
    readers: list  # each node of the backward pass that keeps it, and as what: `Convolution.input`
    type: str
    elements: int
    bytes: int
    made: Made


def key(tensor):
    return tensor.untyped_storage()._cdata


class Recorder(TorchDispatchMode):
    """Records of each storage how it was made."""

    def __init__(self, weights, data):
        super().__init__()
        self.made = {}
        for op, tensors in ("weight", weights), ("data", data):
            for tensor in tensors:
                self.made[key(tensor)] = Made(op, [], tensor.dtype, tensor.numel())

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = function._overloadpacket._qualified_op_name.removeprefix("aten::")
        tensors = lambda tree: [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
        sources = {key(tensor): self.of(tensor) for tensor in tensors((args, kwargs or {}))}
        for tensor in tensors(result):
            if key(tensor) in sources:
                if name.endswith("_"):
                    self.made[key(tensor)].changed.append(name.removesuffix("_"))
                continue
            # Of `zeros_like`, only the sizes are those of another.
            is_of_sizes = name.startswith("new_") or name.endswith("_like")
            elements = tensor.untyped_storage().nbytes() // tensor.element_size()
            made = Made(name, [] if is_of_sizes else list(sources.values()), tensor.dtype, elements)
            if name in ("_to_copy", "clone"):
                made.part = args[0].storage_offset(), args[0].numel()
            for source in made.sources:
                source.users.append(made)
            self.made[key(tensor)] = made
        return result

    def of(self, tensor):
        # What is made outside is a constant.
        return self.made.setdefault(key(tensor), Made("constant", [], tensor.dtype, tensor.numel()))


def is_copy_of_weight(made):
    """Whether autocast made the storage from a parameter, trainable or not."""
    return made.op == "_to_copy" and (made.sources[0].op == "weight" or is_copy_of_weight(made.sources[0]))


def readers_of(loss, saved, unpacked):
    """The nodes that save each tensor, by the number of the tensor."""
    readers = [[] for _ in saved]
    seen, work = {loss.grad_fn}, [loss.grad_fn]
    while work:
        node = work.pop()
        name = node.name().removesuffix("0").removesuffix("Backward")
        for attribute in dir(node):
            if not attribute.startswith("_saved_"):
                continue
            unpacked.clear()
            try:
                getattr(node, attribute)
            except (RuntimeError, TypeError):
                continue
            for number in unpacked:
                readers[number].append(f"{name}.{attribute.removeprefix('_saved_')}")
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                work.append(following)
    return readers


class Autocast:
    """`torch.autocast` for CUDA, which PyTorch refuses without a GPU."""

    def __init__(self, device, type):
        self.device, self.type = device, type

    def __enter__(self):
        if self.type:
            torch.set_autocast_dtype(self.device, self.type)
            torch.set_autocast_enabled(self.device, True)
            torch.autocast_increment_nesting()

    def __exit__(self, *_):
        if self.type:
            torch.set_autocast_enabled(self.device, False)
            torch.autocast_decrement_nesting()
            torch.clear_autocast_cache()


def kept_by(make, low=None, device="cuda"):
    """The activations that a model saves under autocast to `low`, as a list of `Kept`. Weights, buffers, data and
    copies of weights are left out. `make` returns the model, its data and its loss."""
    warnings.simplefilter("ignore")
    with FakeTensorMode(allow_non_fake_inputs=True), torch.device(device):
        model, data, loss_of = make()
        model.train()
        weights = [*model.parameters(), *model.buffers()]
        held = {key(x) for x in [*weights, *data]}
        recorder = Recorder(weights, data)
        stack, saved, unpacked = [], [], []
        for path, module in model.named_modules():
            module.register_forward_pre_hook(lambda *_, path=path: stack.append(path))
            module.register_forward_hook(lambda *_: (stack.pop(), None)[1])

        def pack(tensor):
            saved.append((tensor, stack[-1] if stack else "", recorder.of(tensor)))
            return len(saved) - 1

        def unpack(number):
            unpacked.append(number)
            return saved[number][0]

        with torch.autograd.graph.saved_tensors_hooks(pack, unpack), Autocast(device, low), recorder:
            loss = loss_of(model, *data)
        readers = readers_of(loss, saved, unpacked)
        kept = {}
        for (tensor, module, made), names in zip(saved, readers):
            storage = tensor.untyped_storage()
            if key(tensor) in held or is_copy_of_weight(made) or not storage.nbytes():
                continue
            size = tensor.element_size()
            entry = kept.setdefault(
                key(tensor), Kept(module, [], TYPES[tensor.dtype], storage.nbytes() // size, storage.nbytes(), made)
            )
            # A tensor that was changed in place cannot be unpacked.
            entry.readers += names or ["changed in place"]
        return list(kept.values())
