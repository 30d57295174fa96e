# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Lists the tensors that PyTorch saves for the backward pass of a model: each storage once, with the nodes that save it.

Tensors are fake: they have shapes, types and a device, but no data. PyTorch's dispatcher and autograd decide as on a GPU,
without needing one.
"""

import dataclasses
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

TYPES = {
    torch.float32: "f32",
    torch.bfloat16: "bf16",
    torch.float16: "f16",
    torch.float64: "f64",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.uint8: "u8",
    torch.uint64: "u64",
    torch.bool: "i1",
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


@dataclasses.dataclass
class Kept:
    module: str  # the module that runs when it is kept
    readers: list  # the nodes of the backward pass that keep it, and as what: `Convolution.input`
    type: str
    elements: int
    bytes: int


def is_copy_of_weight(tensor):
    """Whether autocast made the tensor from a parameter."""
    node = tensor.grad_fn
    while node is not None and type(node).__name__ in VIEWS:
        node = node.next_functions[0][0]
    if node is None or type(node).__name__ != "ToCopyBackward0":
        return False
    source = node.next_functions[0][0]
    while source is not None and type(source).__name__ in VIEWS:
        source = source.next_functions[0][0]
    return type(source).__name__ == "AccumulateGrad"


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
        key = lambda tensor: tensor.untyped_storage()._cdata
        held = {key(x) for x in [*model.parameters(), *model.buffers(), *data]}
        stack, saved, unpacked = [], [], []
        for path, module in model.named_modules():
            module.register_forward_pre_hook(lambda *_, path=path: stack.append(path))
            module.register_forward_hook(lambda *_: (stack.pop(), None)[1])

        def pack(tensor):
            saved.append((tensor, stack[-1] if stack else ""))
            return len(saved) - 1

        def unpack(number):
            unpacked.append(number)
            return saved[number][0]

        with torch.autograd.graph.saved_tensors_hooks(pack, unpack), Autocast(device, low):
            loss = loss_of(model, *data)
        readers = readers_of(loss, saved, unpacked)
        kept = {}
        for (tensor, module), names in zip(saved, readers):
            storage = tensor.untyped_storage()
            if key(tensor) in held or is_copy_of_weight(tensor) or not storage.nbytes():
                continue
            size = tensor.element_size()
            entry = kept.setdefault(
                key(tensor), Kept(module, [], TYPES[tensor.dtype], storage.nbytes() // size, storage.nbytes())
            )
            # A tensor that was changed in place cannot be unpacked.
            entry.readers += [name for name in names or ["changed in place"] if name not in entry.readers]
        return list(kept.values())
