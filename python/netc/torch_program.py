# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Exports a module of PyTorch with free axes, as a program of ATen's ops."""

import contextlib
import io
import keyword
import logging
import operator
import re
import sys
import traceback
import warnings
from pathlib import Path
from unittest import mock

import torch  # first, so that an error names it: sympy comes with it
import sympy  # isort: skip
from torch.export import Dim
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn.utils.rnn import PackedSequence
from torch.overrides import TorchFunctionMode

from . import torch_checkpoints
from .errors import ImportRefused
from .highlighting import KEYWORDS
from .torch_ops import decompositions

NAMES = "TSUVPQR"  # of free axes, without that of the batch
# Ops that read an element for each number: which arguments are the tensor and the numbers.
TYING = {torch.ops.aten.cross_entropy_loss.default: (0, 1), torch.ops.aten.nll_loss_nd.default: (0, 1), torch.ops.aten.gather.default: (0, 2)}


def _several(tensors, axes):
    """Repeats the tensors along free axes of size 1, since torch.export takes 1 for a fixed size: to the size that the axis has in
    others. `axes`: their names by axis, for each tensor."""
    sizes = {}
    for tensor, names in zip(tensors, axes):
        for axis, name in names.items():
            if name and axis < tensor.ndim:
                sizes[name] = max(sizes.get(name, 1), tensor.shape[axis])
    for tensor, names in zip(tensors, axes):
        for axis, name in names.items():
            if name and axis < tensor.ndim and tensor.shape[axis] == 1:
                tensor = torch.cat([tensor] * (sizes[name] if sizes[name] > 1 else 3), axis)
        yield tensor


def _states(module):
    """The sizes of the states of recurrences but for their batch."""
    for each in module.modules():
        if isinstance(each, torch.nn.RNNBase):
            for width in (each.hidden_size, each.proj_size):
                yield each.num_layers * (2 if each.bidirectional else 1), width


def _free(tensors, module):
    """The axes that are free where `axes` does not say it, with `N` for that of the batch: the first one of the first tensor that
    has several examples. Of states, such as those of an LSTM, it is the second."""
    batch = next((tensor.shape[0] for tensor in tensors if tensor.ndim and tensor.shape[0] != 1), 1)
    states = set(_states(module))
    for i, tensor in enumerate(tensors):
        if not tensor.ndim:
            yield {}
        elif i and tensor.ndim > 2 and tensor.shape[1] == batch and (tensor.shape[0] != batch or (tensor.shape[0], tensor.shape[2]) in states):
            yield {1: "N"}
        elif tensor.shape[0] == 1 != batch:
            yield {} if tensor.is_floating_point() or tensor.ndim != 2 else {1: None}
        else:
            yield {0: "N"} if tensor.is_floating_point() or tensor.ndim != 2 else {0: "N", 1: None}


def _names(path, gathered):
    """The names by which `axes` may call a tensor: that of its argument, and where this holds several, with its place as torch.export writes it."""
    parts = [str(getattr(part, "key", getattr(part, "idx", getattr(part, "name", part)))) for part in path]
    start = parts[0] in gathered
    return parts[start], "_".join(parts[start:])


def _check_axes(axes, names, tensors):
    """Names and axes that are of no argument are mistakes."""
    if not isinstance(axes, dict) or not all(isinstance(own, dict) for own in axes.values()):
        raise ImportRefused(f'`axes` names axes by argument and place, as in `{{"x": {{0: "N"}}}}`, not {axes!r}')
    ranks = {}
    for i, tensor in tensors.items():
        for name in names[i]:
            ranks[name] = max(ranks.get(name, 0), tensor.ndim)
    for key, own in axes.items():
        if key not in ranks:
            raise ImportRefused(f"`axes` names `{key}`; the arguments that are tensors are {', '.join(f'`{name}`' for name in ranks)}")
        for axis, name in own.items():
            if not isinstance(axis, int) or isinstance(axis, bool) or not 0 <= axis < ranks[key]:
                raise ImportRefused(f"`axes` names axis {axis!r} of `{key}`, which has axes 0 to {ranks[key] - 1}")
            if name in sum(KEYWORDS.values(), []):
                raise ImportRefused(f"`axes` calls axis {axis} of `{key}` `{name}`, which is a word of the language of netc")
            if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
                raise ImportRefused(f"`axes` calls axis {axis} of `{key}` {name!r}; a name is a letter with letters, digits or `_` behind it")


def _check_sizes(own, names, tensors):
    """One name has one size. `own`: the names that `axes` gives, by axis, for each tensor."""
    sizes = {}
    for i, axes in own.items():
        for axis, name in axes.items():
            if axis >= tensors[i].ndim or tensors[i].shape[axis] <= 1:  # one for all
                continue
            size = tensors[i].shape[axis]
            other, its = sizes.setdefault(name, (names[i][1], size))
            if its != size:
                raise ImportRefused(f"`axes` gives axis {axis} of `{names[i][1]}`, of size {size}, the name `{name}`, which an axis of `{other}` of size {its} has")


@contextlib.contextmanager
def _quiet():
    """Drops what PyTorch prints and logs of a module that it refuses, since the error says it."""
    said = io.StringIO()
    handlers = [each for each in logging.getLogger("torch").handlers if isinstance(each, logging.StreamHandler)]
    streams = [each.setStream(said) for each in handlers]
    try:
        with contextlib.redirect_stderr(said):
            yield
    finally:
        for handler, stream in zip(handlers, streams):
            handler.setStream(stream)
    sys.stderr.write(said.getvalue())


@contextlib.contextmanager
def _own_functions():
    """Collects the names of `torch.autograd.Function`s that are called, of which torch.export keeps the forward alone."""
    names, plain = {}, torch.autograd.Function.__dict__["apply"]

    def apply(cls, *args, **kwargs):
        if not cls.__module__.startswith("torch."):
            names[cls.__name__] = None
        return plain.__get__(None, cls)(*args, **kwargs)

    torch.autograd.Function.apply = classmethod(apply)
    try:
        yield names
    finally:
        torch.autograd.Function.apply = plain


class _Asked(TorchFunctionMode):
    """Collects the lines that ask for the gradient of what does not learn."""

    def __init__(self):
        super().__init__()
        self.lines = {}

    def __torch_function__(self, called, types, args=(), kwargs=None):
        is_asked = called == torch.Tensor.requires_grad.__set__ and args[1] or called is torch.Tensor.requires_grad_ and args[1:] != (False,)
        if is_asked and not args[0].requires_grad:
            file, line = _caller()
            if file != Path(__file__):  # PyTorch, for its own
                self.lines[f"{file.name}:{line}"] = None
        return called(*args, **(kwargs or {}))


class _Finite(TorchFunctionMode):
    """Takes values for finite where a branch asks, as in `if torch.isnan(loss).any()`, and collects the lines: torch.export has no values."""

    CHECKS = {"isfinite": True, "isinf": False, "isnan": False}
    OF_CHECKS = {"all": bool, "any": bool, "logical_not": operator.not_, "__invert__": operator.not_, "logical_or": operator.or_, "__or__": operator.or_}

    def __init__(self):
        super().__init__()
        self.known, self.lines = {}, {}

    def __torch_function__(self, called, types, args=(), kwargs=None):
        name = getattr(called, "__name__", "")
        known = [self.known.get(id(each)) for each in args if isinstance(each, torch.Tensor)]
        values = [each[1] for each in known] if all(known) else []
        if values and name in ("__bool__", "item"):
            file, line = _caller()
            self.lines[f"{file.name}:{line}"] = None
            return values[0]
        result = called(*args, **(kwargs or {}))
        if name in self.CHECKS:
            self.known[id(result)] = result, self.CHECKS[name]  # with the tensor, whose number no other takes then
        elif values and name in self.OF_CHECKS:
            self.known[id(result)] = result, self.OF_CHECKS[name](*values)
        return result


@contextlib.contextmanager
def _asked_whether_exported():
    """Collects the lines that ask whether they are exported, as they are here."""
    lines, plain = {}, torch.compiler.is_exporting

    def is_exporting():
        # Behind functions that pass the question on, as transformers has one.
        asked = (place for place in traceback.walk_stack(sys._getframe(1)) if "exporting" not in place[0].f_code.co_name)
        frame, line = next(asked)
        file = Path(frame.f_code.co_filename)
        if not _is_of_torch(file) and file.parts[-2:] != ("transformers", "masking_utils.py"):  # which makes the same masks
            lines[f"{file.name}:{line}"] = None
        return plain()

    with mock.patch.object(torch.compiler, "is_exporting", is_exporting):
        yield lines


def _caller():
    """The file and line outside of PyTorch, and of the functions that look at its calls, that called."""
    frames = traceback.walk_stack(sys._getframe(2))
    places = ((Path(frame.f_code.co_filename), line) for frame, line in frames if frame.f_code.co_name != "__torch_function__")
    return next(place for place in places if not _is_of_torch(place[0]))


def _is_of_torch(file):
    return Path(torch.__file__).parent in file.parents


def _plain_masks():
    """Lets `nn.Transformer` not look whether a mask is causal, for which torch.export has no values."""
    return mock.patch.object(torch.nn.modules.transformer, "_detect_is_causal_mask", lambda mask, is_causal=None, size=None: bool(is_causal))


@contextlib.contextmanager
def _without_cache(module):
    """Lets models of transformers return no keys and values for tokens to come, which are no tensors and which training does not use."""
    configs = {id(child.config): child.config for child in module.modules() if _is_of_transformers(getattr(child, "config", None))}
    own = [(config, config.use_cache) for config in configs.values() if hasattr(config, "use_cache")]
    try:
        for config, _ in own:
            config.use_cache = False
        yield
    finally:
        for config, use_cache in own:
            config.use_cache = use_cache


def _is_of_transformers(config):
    return any(kind.__module__.startswith("transformers.") for kind in type(config).__mro__)


def exported(module, args, kwargs, axes):
    """Returns the program of a module in ATen's ops, the names of its free axes by their symbols, and what a reader of the counts must know."""
    import inspect

    if not any(isinstance(leaf, torch.Tensor) for leaf in torch.utils._pytree.tree_leaves((args, kwargs))):
        raise ImportRefused("no argument is a tensor; give an example of what the module takes, as in `from_torch(model, torch.zeros(2, 3, 224, 224))`")
    try:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
    except TypeError as problem:
        raise ImportRefused(f"`forward` of {type(module).__name__} does not take these arguments: {problem}") from None
    gathered = {parameter.name for parameter in bound.signature.parameters.values() if parameter.kind == parameter.VAR_KEYWORD}
    paths, spec = torch.utils._pytree.tree_flatten_with_path(dict(bound.arguments))
    tensors = {i: leaf for i, (_, leaf) in enumerate(paths) if isinstance(leaf, torch.Tensor)}
    names = [_names(path, gathered) for path, _ in paths]
    if axes is not None:
        _check_axes(axes, names, tensors)
    free, batch = dict(zip(tensors, _free(list(tensors.values()), module))), "N"
    own = {i: {axis: label for name in names[i] for axis, label in (axes or {}).get(name, {}).items()} for i in tensors}
    if axes is not None:
        _check_sizes(own, names, tensors)
        batches = {i: [axis for axis, name in free[i].items() if name == "N"] for i in tensors}
        if any("N" in each.values() for each in own.values()):
            batches = {}
        size = next((tensors[i].shape[axis] for i in batches for axis in batches[i]), None)
        batch = next((own[i][axis] for i in batches for axis in batches[i] if axis in own[i] and tensors[i].shape[axis] in (size, 1)), "N")
        free = {i: {**dict.fromkeys(batches.get(i, ()), batch), **own[i]} for i in tensors}
    # A view of other strides has sizes that torch.export cannot read, and one tensor in two places is one input to it.
    example = {i: tensor.detach().clone().contiguous().requires_grad_(tensor.requires_grad) for i, tensor in tensors.items()}
    several = dict(zip(tensors, _several(example.values(), free.values())))
    given = [{axis: Dim.AUTO for axis in free[i] if axis < tensors[i].ndim} if i in tensors else None for i in range(len(paths))]
    dynamic = torch.utils._pytree.tree_unflatten(given, spec)
    nameless = [f"`{key}`" for name in gathered for key in dynamic.get(name, {})]
    for name in gathered:
        dynamic.update(dynamic.pop(name, {}))

    def traced(tensors):
        bound.arguments.update(torch.utils._pytree.tree_unflatten([tensors.get(i, leaf) for i, (_, leaf) in enumerate(paths)], spec))
        return _traced(module, bound, dynamic)

    try:
        found = traced(several)
    except ImportRefused:
        raise
    except Exception as problem:
        found = None
        if any(several[i] is not example[i] for i in example):  # it may take axes of size 1 alone
            with contextlib.suppress(Exception):
                found = traced(example)
        if not found:
            raise _refusal(module, bound, dynamic, nameless, problem) from None
    exported, functional, said = found
    _draw(functional)
    symbols = _named(exported, list(own.values()), batch)
    if axes is None:
        _tie(functional, symbols)
    doubts = _doubts(module, exported, symbols, list(free.values()), None if axes is None else list(own.values()))
    return functional, symbols, doubts + said


def _traced(module, bound, dynamic):
    """The programs of an example by torch.export, and in the ops that netc knows; and what a reader must know of what is in neither."""
    with (
        _quiet(),
        _own_functions() as functions,
        _Asked() as asked,
        _Finite() as finite,
        _asked_whether_exported() as of_export,
        _plain_masks(),
        _without_cache(module),
        torch_checkpoints.marked() as lost,
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", "The tensor attributes? .* assigned during export")  # of nn.LSTM itself
        exported = torch.export.export(module, bound.args, bound.kwargs, dynamic_shapes=dynamic)
    _detach(exported)
    functional = exported.run_decompositions(decompositions())
    return exported, functional, [
        *(f"`{name}` has a backward of its own; netc counts the derivative of its forward." for name in functions),
        *(f"The module asks for the gradient of what goes in ({line}), which PyTorch computes; netc does not count it." for line in asked.lines),
        *(f"The module asks whether values are finite ({line}); what it does if they are not is not counted." for line in finite.lines),
        *(f"The module asks whether it is exported ({line}), and what is counted is what it does then." for line in of_export),
        *(f"The module changes its buffer `{name}`: it is read as before the first call, and a change that no result needs is not counted." for name in _changed(module, functional)),
        *dict.fromkeys(lost),
    ]


def _refusal(module, bound, dynamic, nameless, problem):
    if any(isinstance(local, PackedSequence) for frame, _ in traceback.walk_tb(problem.__traceback__) for local in frame.f_locals.values()):
        return ImportRefused(f"in {_place(module, problem)}: the sizes of a packed sequence depend on data; leave it padded")
    text = next(iter(str(problem).strip().splitlines()), "").rstrip(".")
    why = f"torch.export refuses it: {type(problem).__name__}: {text}"
    if "transformers.cache_utils" in text:
        why = "what it returns for tokens to come is no tensor; give `use_cache=False`"
    if isinstance(problem, SyntaxError):
        names = {part for path, _ in (*module.named_modules(), *module.named_parameters()) for part in path.split(".")}
        if wrong := next((f"`{name}`" for name in sorted(names) if keyword.iskeyword(name) or name and not name.isidentifier() and not name.isdigit()), None):
            why = f"torch.export cannot write the name {wrong} of a module or parameter, which is no name of Python; give it another"
    if isinstance(problem, GuardOnDataDependentSymNode):
        why = f"a size or a branch, `{problem.cond}`, depends on data"
        if _is_exported(module.eval(), bound, dynamic):
            why += "; it is there in training alone: leave out the random choice, as with `layerdrop=0`, or the check of values"
    if nameless:
        why += f"; `forward` takes {', '.join(nameless)} by `**`, give each a parameter of its name"
    return ImportRefused(f"in {_place(module, problem)}: {why}")


def _is_exported(module, bound, dynamic):
    try:
        with _quiet(), _Finite(), _plain_masks(), _without_cache(module):
            return bool(torch.export.export(module, bound.args, bound.kwargs, dynamic_shapes=dynamic))
    except Exception:
        return False


def _changed(module, functional):
    """The buffers that a call changes, without the statistics of norms, of which netc knows."""
    for name in functional.graph_signature.buffers_to_mutate.values():
        if not isinstance(module.get_submodule(name.rpartition(".")[0]), torch.nn.modules.batchnorm._NormBase):
            yield name


def _inputs(exported):
    """The tensors that go in, in their order."""
    names = exported.graph_signature.user_inputs
    return [node for node in exported.graph.nodes if node.name in names and isinstance(node.meta.get("val"), torch.Tensor)]


def _named(exported, taken, name):
    """The names of free axes by their symbols. `taken`: those that `axes` gives, by axis, for each input. Other first axes that
    have one size in the example are of one batch, `name`, though torch.export may let them differ."""
    symbols, batch = {}, None
    for node, own in zip(_inputs(exported), taken):
        for axis, size in enumerate(node.meta["val"].shape):
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol and str(size) not in symbols:
                is_batch = axis == 0 and (name not in symbols.values() or size.node.hint == batch)
                if is_batch and batch is None:
                    batch = size.node.hint
                wanted = own.get(axis) or (name if is_batch else None)
                symbols[str(size)] = wanted or next(n for n in NAMES if n not in symbols.values())
            if own.get(axis) == "N" and str(size) in symbols:  # whatever else it is called
                symbols[str(size)] = "N"
    return symbols


def _tie(functional, symbols):
    """Gives one name to axes that must be equal in an op, where torch.export asks for no equal sizes: `N*T - N*S` is 0 if T is S."""
    for node in functional.graph.nodes:
        if node.target not in TYING:
            continue
        x, numbers = (node.args[i].meta["val"].shape for i in TYING[node.target])
        at = node.args[1] % len(x) if node.target is torch.ops.aten.gather.default else min(1, len(x) - 1)
        if len(numbers) == len(x):
            numbers = [*numbers[:at], *numbers[at + 1 :]]
        for pair in zip([*x[:at], *x[at + 1 :]], numbers):
            one, other = (sympy.sympify(size.node.expr if isinstance(size, torch.SymInt) else size) for size in pair)
            apart = (one - other).subs({s: axis_symbol(symbols[str(s)]) for s in one.free_symbols | other.free_symbols if str(s) in symbols})
            for factor, _ in sympy.factor_list(apart)[1] if apart.is_polynomial() and apart != 0 else []:
                pair = [name for name in dict.fromkeys(symbols.values()) if axis_symbol(name) in factor.free_symbols]
                if len(pair) == 2 and factor.subs(axis_symbol(pair[1]), axis_symbol(pair[0])) == 0:
                    symbols.update({symbol: pair[0] for symbol, name in symbols.items() if name == pair[1]})


def _doubts(module, exported, symbols, free, given):
    """What a reader of the counts must know of axes that did not stay free, and of those that no one named. `free`, and `given` by
    `axes`: names by axis, for each input."""
    inputs = _inputs(exported)
    fixed = {
        (node.name, axis): f"Axis {axis} of `{node.name}` stays {node.meta['val'].shape[axis]}: {_why_fixed(module, node, axis, inputs)}."
        for node, own in zip(inputs, free)
        for axis in own
        if axis < node.meta["val"].ndim and str(node.meta["val"].shape[axis]).isdigit()
    }
    for node, own in zip(inputs, given or ()):
        value = node.meta["val"]
        for axis, name in own.items():
            its = symbols.get(str(value.shape[axis])) if axis < value.ndim else name
            if its and its != name:
                fixed[node.name, axis] = f"Axis {axis} of `{node.name}`, which `axes` calls {name}, has the size of {its} in this module, and its name."
        if value.ndim and not own and str(value.shape[0]).isdigit() and str(value.shape[0]) != "1" and value.is_floating_point():
            fixed.setdefault((node.name, 0), f"The first axis of `{node.name}` stays {value.shape[0]}: it is no part of the batch, unless `axes` names it.")
    inputs = [node for node in inputs if node.meta["val"].ndim]
    if not inputs:
        return list(fixed.values())
    shared = [node for node in inputs if str(node.meta["val"].shape[0]) == "1"]
    if len(shared) < len(inputs):
        for node in shared:
            fixed.setdefault((node.name, 0), f"The first axis of `{node.name}` stays 1: it is one for all examples.")
        inputs = [node for node in inputs if node not in shared]
    first, size = inputs[0], inputs[0].meta["val"].shape[0]
    if given is not None and ("N" in symbols.values() or str(size) in symbols or (first.name, 0) in fixed):
        return list(fixed.values())
    if symbols.get(str(size)) != "N":
        fixed.pop((first.name, 0), None)
        without = f"The first axis of `{first.name}` stays {size}: "
        without += "the module takes no other batch." if size == 1 else "counts are not of one example. `axes` names the axis of the batch, if there is another."
        return [without, *fixed.values()]
    doubts = list(fixed.values())
    of_sequences = [path for path, child in module.named_modules() if getattr(child, "batch_first", True) is False]
    if of_sequences and first.meta["val"].ndim == 3 and first.meta["val"].is_floating_point():
        inner = f"`{of_sequences[0]}`" if of_sequences[0] else "The module"
        doubts.append(f"{inner} takes sequences first (`batch_first=False`), and N is the first axis of `{first.name}`. If that is of a sequence, `axes` names that of the batch.")
    for node in inputs:
        own = symbols.get(str(node.meta["val"].shape[0]), "N")
        if own != "N":
            doubts.append(
                f"The first axis of `{node.name}` is {own}, and not the batch N, since the examples have different sizes. If they are of one batch, "
                f'give them one size, or one name: `axes={{"{first.name}": {{0: "N"}}, "{node.name}": {{0: "N"}}}}`.'
            )
    return doubts


def _why_fixed(module, node, axis, inputs):
    """Why an axis has one size: the line that asks for it, if that is no line of PyTorch."""
    sizes = node.meta["val"].fake_mode.shape_env
    names = {str(symbol) for symbol, sources in sizes.var_to_sources.items() if any(each.name == f"L['{node.name}'].size()[{axis}]" for each in sources)}
    guard = next((each for each in sizes.guards if {str(symbol) for symbol in each.expr.free_symbols} & names), None)
    frame = guard.sloc.framework_loc if guard is not None else None
    if isinstance(frame, traceback.FrameSummary) and not _is_of_torch(Path(frame.filename)):
        return f"`{frame.name}` ({Path(frame.filename).name}:{frame.lineno}) takes no other size"
    if any(isinstance(each, torch.nn.RNNBase) for each in module.modules()):
        return "torch.export takes no other size here, as for a recurrence, which has a given length"
    size = str(node.meta["val"].shape[axis])  # that of a free axis is a symbol
    for other in inputs:
        for place, its in enumerate(other.meta["val"].shape):
            if other is not node and str(its) == size and place > 0:
                return f"so does axis {place} of `{other.name}`, and if both are one, `axes` gives them one name"
    return "torch.export takes no other size here; if it is near the size of another axis by chance, give an example of another size"


def _detach(exported):
    """Stops gradients behind `torch.no_grad()`, which run_decompositions drops."""
    trained = {target for target in exported.graph_signature.parameters if exported.state_dict[target].requires_grad}
    for owner in exported.graph_module.modules():
        learning = set()  # depends on what learns; inside of an op that holds a graph, all does
        for node in list(owner.graph.nodes):
            target = exported.graph_signature.inputs_to_parameters.get(node.name)
            if node.op == "placeholder":
                learns = owner is not exported.graph_module or target in trained
            else:
                learns = any(each in learning for each in node.all_input_nodes)
            if learns:
                learning.add(node)
            if not learns or "wrap_with_set_grad_enabled" not in str(node.target) or node.args[0]:
                continue
            learning.remove(node)
            body = getattr(owner, node.args[1].target)
            if any(re.search(r'torch/utils/checkpoint.py", line \d+, in forward', each.meta.get("stack_trace") or "") for each in body.graph.nodes):
                raise ImportRefused("torch.export loses the gradients of a checkpoint with `use_reentrant=True`; use `use_reentrant=False`")
            for made in list(node.users):
                if made.meta["val"].is_floating_point():
                    _detach_one(exported, owner, made)


def _detach_one(exported, owner, made):
    with owner.graph.inserting_after(made):
        detached = owner.graph.call_function(torch.ops.aten.detach.default, (made,))
    detached.meta = dict(made.meta)
    made.replace_all_uses_with(detached, lambda user: user is not detached)
    if owner is exported.graph_module:
        exported.graph_signature.replace_all_uses(made.name, detached.name)


def _draw(functional):
    """Writes what is 1 with a probability, and else 0, as `bernoulli`: `rand < p`, and `floor(p + rand)` of transformers."""
    aten, graph = torch.ops.aten, functional.graph
    for node in list(graph.nodes):
        if node.target not in (aten.rand.default, aten.rand_like.default) or len(node.users) != 1:
            continue
        (user,) = node.users
        kept = user.args[1] if user.target in (aten.lt.Scalar, aten.add.Tensor, aten.add.Scalar) and user.args[0] is node else None
        drawn = user if user.target is aten.lt.Scalar else next(iter(user.users), None)
        if not isinstance(kept, float) or drawn is not user and (len(user.users) != 1 or drawn.target is not aten.floor.default):
            continue
        with graph.inserting_before(drawn):
            empty = graph.call_function(aten.empty.memory_format, (node.args[0] if node.target is aten.rand.default else list(node.meta["val"].shape),))
            draw = graph.call_function(aten.bernoulli.p, (empty, kept))
        empty.meta, draw.meta = dict(node.meta), {**drawn.meta, "val": node.meta["val"]}
        drawn.replace_all_uses_with(draw)
        graph.eliminate_dead_code()


def _place(module, problem):
    """The innermost module in which an exception was raised, and the line."""
    paths = {id(child): path for path, child in module.named_modules()}
    place = "the module itself"
    for frame, line in traceback.walk_tb(problem.__traceback__):
        owner, file = frame.f_locals.get("self"), Path(frame.f_code.co_filename)
        if id(owner) in paths and file != Path(torch.nn.modules.module.__file__):
            named = f"`{paths[id(owner)]}`" if paths[id(owner)] else "the module itself"
            place = f"{named} ({file.name}:{line})"
    return place


def axis_symbol(name):
    return sympy.Symbol(name, integer=True, positive=True)
