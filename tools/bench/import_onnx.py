# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Exports modules of PyTorch to ONNX, imports the files, and compares their parameters and the FLOP of a forward pass
with what PyTorch counts of the modules, as `expect`s that netc decides.

    python3 tools/bench/import_onnx.py --netc build/release/bin/netc [--torchscript] [--keep folder] [name ..]

It needs torch, torchvision, transformers, onnx and onnxscript, and writes a line for each model: `equal`, or what is
different. Models that PyTorch's exporter refuses are not compared, and are shown with its reason. The names are those of
import_models.py, which compares backward passes, too. `--torchscript` takes PyTorch's older exporter.
"""

import math
import sys

from import_models import FAMILIES, PARTS, NoGraph, family, image_model, language_model, options, part, run, tensors

IMAGES = "alexnet convnext_tiny densenet121 efficientnet_b0 googlenet mnasnet1_0 mobilenet_v2 mobilenet_v3_small regnet_y_400mf resnet18 resnet50 resnext50_32x4d shufflenet_v2_x0_5 squeezenet1_0 swin_t vgg11 vit_b_16"


def module_of(name):
    """A module with values, since files contain them. All values differ, so that the exporter does not merge equal
    weights."""
    import torch

    if name in FAMILIES:
        import transformers

        kind, config = family(name)
        module = getattr(transformers, kind)(config)
    elif name in PARTS:
        module = part(name)[0].to_empty(device="cpu")
    else:
        import torchvision

        module = getattr(torchvision.models, name)(weights=None)
    for weight in module.parameters():
        torch.nn.init.uniform_(weight)
    return module.eval()


def export(name, path, is_old):
    """Exports a module, and returns PyTorch's counts."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    module = module_of(name)
    inputs = (language_model if name in FAMILIES else part if name in PARTS else image_model)(name)[1]
    given = lambda count: {key: torch.zeros_like(value, device="cpu") if hasattr(value, "to") else value for key, value in inputs(count).items()}

    class Results(torch.nn.Module):
        """Returns the tensors of an object that a model returns."""

        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, *values):
            return tuple(tensors(self.module(**{**given(3), **dict(zip(names, values))})))

    names = [key for key, value in given(3).items() if hasattr(value, "to")]
    values = tuple(given(3)[key] for key in names)
    # Sequences of one length have one axis, and those of an encoder and a decoder two.
    free = {key: {0: "N", 1: f"T{value.shape[1]}"} if value.dtype == torch.long else {0: "N"} for key, value in zip(names, values)}
    try:
        if is_old:
            torch.onnx.export(Results(), values, path, dynamo=False, input_names=names, dynamic_axes=free)
        else:
            shapes = (tuple({axis: torch.export.Dim.DYNAMIC for axis in each} for each in free.values()),)
            torch.onnx.export(Results(), values, path, dynamo=True, input_names=names, dynamic_shapes=shapes, optimize=False, external_data=False, verbose=False)
    except (RuntimeError, torch.onnx.OnnxExporterError) as problem:
        raise NoGraph(f"PyTorch does not export it: {_reason(problem)}") from None
    one, wrapped = given(1), Results().eval()  # the older exporter sets what it was given to training
    # Otherwise an LSTM on a CPU is one op, whose FLOP are not counted.
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as flop:
        made = wrapped(*(one[key] for key in names))
    sum(each.sum() for each in made).backward()
    # The file contains only what its results depend on, and parameters that do not learn like others.
    used = sum(p.numel() for p in module.parameters() if p.grad is not None or not p.requires_grad)
    return {"parameters": used, "forward": flop.get_total_flops()}, {key: one[key].shape for key in names}


def _reason(problem):
    """The first line of the innermost cause."""
    while problem.__cause__:
        problem = problem.__cause__
    return str(problem).strip().split("\n")[0]


def graph_of(name, folder, is_old):
    from netc.onnx_graph import export as graph_of_file

    path = folder / f"{name}.onnx"
    counted, shapes = export(name, path, is_old)
    graph = graph_of_file(path, name=name)
    sizes = {text: size for value in graph["inputs"] for text, size in zip(value["shape"], shapes[value["name"]]) if isinstance(text, str)}
    graph["counted"] = {**counted, "examples": 1, "surplus": 0, "sizes": {text: size for text, size in sizes.items() if text != "N"}}
    if is_old:  # with batch norms in the convolutions
        graph["counted"]["parameters"] = sum(math.prod(weight["shape"]) for weight in graph["weights"])
    return graph


def main():
    parser = options(__doc__)
    parser.add_argument("--torchscript", action="store_true")
    given = parser.parse_args()
    names = given.names or [*(name for name in PARTS if name != "bags"), *FAMILIES, *IMAGES.split()]  # bags become a loop
    return run(given, names, lambda name, folder: graph_of(name, folder, given.torchscript))


if __name__ == "__main__":
    sys.exit(main())
