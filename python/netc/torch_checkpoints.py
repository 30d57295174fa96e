# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What torch.utils.checkpoint recomputes for the backward pass, of which torch.export keeps nothing."""

import contextlib
import inspect
from unittest import mock

from torch.fx import traceback
from torch.utils import checkpoint

KEY = "netc_checkpoints"
# The generator of PyTorch within which a checkpoint is computed, by version.
GENERATORS = "_checkpoint_without_reentrant_generator_impl", "_checkpoint_without_reentrant_generator"


@contextlib.contextmanager
def marked():
    """Marks what is traced with the checkpoints that it is in, by number. Yields a list that gets a note of each one that is lost."""
    name = next(name for name in GENERATORS if hasattr(checkpoint, name))
    signature = inspect.signature(getattr(checkpoint, name))
    count, notes = 0, []

    def generator(*args, **kwargs):
        nonlocal count
        given = signature.bind(*args, **kwargs).arguments
        if given.get("context_fn", checkpoint.noop_context_fn) is not checkpoint.noop_context_fn:
            notes.append("The model recomputes what a `context_fn` of its checkpoints chooses, and the net keeps it.")
        elif not hasattr(traceback, "annotate"):
            notes.append("The model has checkpoints, which netc reads from PyTorch 2.9 on; the net keeps what they recompute.")
        else:
            around = traceback.get_current_meta().get("custom", {}).get(KEY, ())
            count += 1
            with traceback.preserve_node_meta(), traceback.annotate({KEY: (*around, count)}):
                yield
            return
        yield

    with mock.patch.object(checkpoint, name, generator):
        yield notes


def of(node):
    """The checkpoints that a node is in."""
    return node.meta.get("custom", {}).get(KEY, ())


def recompute(modules, nodes):
    """Says of modules that they are recomputed. A checkpoint of something else becomes a module.

    Args:
        modules: the calls of modules.
        nodes: the nodes of the graph, with the checkpoints that each is in.
    """
    for number in sorted({number for _, numbers in nodes for number in numbers}):
        inside = [node["module"] for node, numbers in nodes if number in numbers]
        outside = {module for node, numbers in nodes if number not in numbers for module in node["module"]}
        around = [module for module in inside[0] if all(module in chain for chain in inside)]
        own = [module for module in around if module not in outside]
        if not own:
            own = [len(modules)]
            path = [modules[around[-1]]["path"]] if around else []
            modules.append({"path": ".".join([*path, f"checkpoint_{number}"]), "call": 1, "class": "Checkpoint"})
            for chain in inside:
                chain.insert(len(around), own[0])
        modules[own[-1]]["recomputed"] = True
