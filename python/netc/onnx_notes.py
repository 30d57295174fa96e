# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Notes about what exporters leave out of an ONNX file, merge, or write twice."""

import re
import warnings

import numpy

from .onnx_file import modules_around


def notes(file):
    """Notes about information that exporters leave out."""
    kinds = {node.op_type for node in file.nodes}
    found = []
    has_batch_norm = {"pytorch": _has_batch_norm, "tf2onnx": _has_fused_weights}.get(file.model.producer_name)
    if has_batch_norm and any(map(has_batch_norm, file.nodes)):
        found.append("The exporter folded batch norms into the layers before them: the parameters are those of the file.")
    if shared := _shared(file):
        names = ", ".join(f"`{name}`" for name in shared[:3]) + (f" and {len(shared) - 3} others" if len(shared) > 3 else "")
        found.append(f"Several layers read {names}: exporters merge equal weights. The parameters are those of the file.")
        warnings.warn(found[-1], stacklevel=5)
    if copies := _copies(file):
        names = ", ".join(f"`{one}` and `{other}`" for one, other in copies[:3]) + (f" and {len(copies) - 3} other pairs" if len(copies) > 3 else "")
        found.append(f"The file has {names}, which are equal, twice. The parameters are those of the file.")
        warnings.warn(found[-1], stacklevel=5)
    if not 13 <= file.opset <= 21:
        found.append(f"The file is of opset {file.opset}, and netc was tried with 13 to 21.")
    if "Dropout" not in kinds:
        found.append("The file has no dropout: it may have been exported for inference.")
    return found + list(file.limits)


def _has_batch_norm(node):
    """Whether a batch norm was folded into a layer: it is in the module of the norm, or the old exporter made its bias."""
    around = modules_around(node)[-1:]
    return (
        node.op_type in ("Conv", "ConvTranspose", "Gemm") and any("BatchNorm" in kind for _, kind in around)
        or node.op_type == "Conv" and len(node.input) > 2 and not node.input[2].endswith("bias")
    )  # fmt: skip


def _has_fused_weights(node):
    """Whether tf2onnx folded a batch norm into a layer, after which it names the weights."""
    return node.op_type == "Conv" and any(name.endswith(("_weights_fused_bn", "_bias_fused_bn")) for name in node.input[1:])


def _shared(file):
    """The weights that nodes of one kind read in several modules."""
    found = []
    for name in file.weights:
        places, owner, readers = {}, name.rpartition(".")[0], file.readers(name)
        for node in readers:
            chain = modules_around(node)
            path = chain[-1][0] if chain else node.output[0]
            called = re.sub(r"_\d+$", "", path)  # several times, if that is the owner or no name tells the owner
            places.setdefault(node.op_type, set()).add(called if owner in ("", called) else path)
        if len(readers) > 1 and any(node.op_type == "Identity" and not modules_around(node) and node.output[0] in file.users for node in readers) or any(len(each) > 1 for each in places.values()):
            found.append(name)
    return found


def _copies(file):
    """Pairs of equal matrices, one perhaps transposed: those of a head that is tied to a table, or of a layer that is called twice."""
    pairs, seen = [], {}
    for name, shape in file.weights.items():
        values = file.values(name) if name in file.held and len(shape) == 2 else None
        if values is None or not values.size or (values == values.flat[0]).all():
            continue
        ends = values.flat[0].item(), values.flat[-1].item()  # also those of the transposed matrix
        alike = seen.setdefault((*sorted(shape), *ends), [])
        same = next((other for other in alike for held in [file.values(other)] if numpy.array_equal(values, held) or numpy.array_equal(values, held.T)), None)
        if same is None:
            alike.append(name)
        else:
            pairs.append((same, name))
    return pairs
