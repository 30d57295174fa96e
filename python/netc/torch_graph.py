# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes the result of torch.export as the graph that `netc import` reads, docs/graph.schema.json.

It does not look for structure, and does not interpret ops. Values that depend on sizes alone, such as masks and positions,
are evaluated here, since only PyTorch can do so. The graph describes them by their values.
"""

import contextlib
import operator
import re
import warnings
from pathlib import Path

import torch  # first, so that an error names it: sympy comes with it
import sympy  # isort: skip
from torch.fx import Node
from torch.utils import _pytree as pytree
from torch.utils._sympy.functions import FloorDiv

from . import torch_checkpoints, torch_complex, torch_program
from .errors import ImportRefused
from .known import fixed_axes, known, number_of
from .number_types import NoType, NumberTypes
from .torch_program import axis_symbol

TYPES = NumberTypes({
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.int64: "i64",
    torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool",
})  # fmt: skip
# Arguments that change neither shapes nor values.
WITHOUT_EFFECT = {"dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking", "copy", "generator", "implicit"}
# Ops that use only the size of their operand, not its values.
SIZED = {"copy", "new_empty", "new_full", "new_ones", "new_zeros", "empty_like", "fill", "full_like", "ones_like", "zeros_like", "zero"}
# Ops that draw random numbers, of what size their operand is.
DRAWN = {"exponential", "normal_functional", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "uniform"}
# run_decompositions writes batch norm as these ops: with the running statistics as operands and results, or without any.
BATCH_NORMS = {"aten._native_batch_norm_legit_functional": {}, "aten._native_batch_norm_legit": {"track_running_stats": False}}
# Arithmetic of sizes as numbers, in ops of PyTorch.
OF_NUMBERS = {operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "div", operator.pow: "pow", operator.neg: "neg"}
# Tensors of one number: which argument it is.
FILLED = {torch.ops.aten.full.default: 1, torch.ops.aten.scalar_tensor.default: 0}


def export(module, args=(), kwargs=None, name=None, axes=None):
    """Returns the graph of a module in training mode, an object for JSON.

    Args:
        module: a module of PyTorch, on any device; `meta` is the fastest.
        args, kwargs: the arguments of its `forward`; a single tensor needs no tuple. Only sizes of tensors matter.
        name: of the network; by default the class of the module.
        axes: names of free axes by argument, such as `{"x": {1: "T"}}`. The batch, the first axis of all tensors, stays free
            unless one of them is `N`. Without `axes`, the second axis of integers is free, too. An axis is fixed if the
            module accepts only one size.

    Raises:
        ImportRefused: the module depends on data, or torch.export rejects it.
    """
    if not isinstance(module, torch.nn.Module):
        raise ImportRefused(f"a module of PyTorch is expected, not {_no_module(module)}")
    if isinstance(module, torch.jit.ScriptModule):
        raise ImportRefused("torch.export takes no module of TorchScript; give the module that it was made of")
    if isinstance(args, dict):
        raise ImportRefused("arguments by name are `kwargs`, as in `from_torch(model, kwargs=dict(x=..))`")
    if not isinstance(kwargs, (dict, type(None))):
        raise ImportRefused(f"`kwargs` has arguments by name, as in `kwargs=dict(x=..)`, and is a {type(kwargs).__name__}")
    modes = [(child, child.training) for child in module.modules()]
    try:
        module.train()
    except NotImplementedError:
        raise ImportRefused("what torch.export made is as it was exported; give the module itself") from None
    try:
        exported, symbols, doubts = torch_program.exported(module, (args,) if isinstance(args, torch.Tensor) else tuple(args), dict(kwargs or {}), axes)
    finally:
        for child, was_training in modes:
            child.training = was_training
    writer = _Writer(exported, symbols)
    graph = writer.graph(name or type(module).__name__)
    for doubt in doubts:
        warnings.warn(doubt, stacklevel=3)
    return {**graph, "notes": doubts + writer.notes}


def _no_module(given):
    """What was given in place of a module, and what to do."""
    if isinstance(given, type) and issubclass(given, torch.nn.Module):
        return f"the class `{given.__name__}`; make a module of it, `{given.__name__}(..)`"
    if callable(given):
        return f"a {type(given).__name__}; a function is the `forward` of one"
    return f"a {type(given).__name__}; build the module, whose weights do not matter"


class _Writer:
    def __init__(self, exported, symbols):
        self.exported, self.symbols = exported, symbols
        self.bindings = {}  # of what is inside ops that hold a graph
        self.loops = {}  # of the graphs of their bodies
        self.folded, self.values, self.modules, self.known = {}, {}, {}, {}
        self.weights = {}  # by identity
        self.nodes, self.notes = [], []
        self.checkpoints = []  # of each node
        self.current = None  # the node that is translated
        torch_complex.split(exported, self)
        signature = exported.graph_signature
        targets = {spec.arg.name: spec.target for spec in signature.input_specs if spec.target is not None}
        self.states = targets
        self.inputs = {spec.arg.name: None for spec in signature.input_specs if spec.kind.name == "USER_INPUT"}
        self.trainable = {spec.target for spec in signature.input_specs if spec.kind.name == "PARAMETER"}
        self.results = [getattr(spec.arg, "name", "") for spec in signature.output_specs if spec.kind.name == "USER_OUTPUT"]

    # Sizes.

    def in_axes(self, value):
        """A size, or a number that depends on sizes, in terms of the free axes."""
        expression = value.node.expr
        for symbol in expression.free_symbols:
            if str(symbol) not in self.symbols:
                raise _NoSize(f"a size, `{expression}`, depends on data")
        return expression.subs({s: axis_symbol(self.symbols[str(s)]) for s in expression.free_symbols}).replace(FloorDiv, _quotient)

    def size(self, value):
        if not isinstance(value, torch.SymInt):
            return int(value)
        named = self.in_axes(value)
        if named.is_Integer:
            return int(named)
        if not named.is_polynomial():
            first = next(iter(self.inputs), "x")
            raise _NoSize(f"a size, `{named}`, is no polynomial of free axes; with `axes={{'{first}': {{0: 'N'}}}}`, the first axis of `{first}` alone is free; take an example of the sizes that you mean")
        text = str(named.expand())
        return text.replace("**", "^")

    def shape(self, tensor):
        return [self.size(size) for size in tensor.shape]

    def described(self, name, tensor):
        try:
            return {"name": name, "type": TYPES[tensor.dtype], "shape": self.shape(tensor)}
        except NoType as problem:
            raise NoType(f"{problem}, as of `{name}`") from None

    # Nodes.

    def real(self, node):
        while node in self.bindings:
            node = self.bindings[node]
        return node

    def walk(self, graph, owner):
        """The calls of a graph, including those inside of an op that only switches gradients on or off."""
        for node in graph.nodes:
            if node.op != "call_function":
                continue
            if "wrap_with" in str(node.target):
                inner = next(a for a in node.args if isinstance(a, Node) and a.op == "get_attr")
                operands = node.args[node.args.index(inner) + 1 :]
                body = getattr(owner, inner.target)
                places = [n for n in body.graph.nodes if n.op == "placeholder"]
                self.bindings.update(zip(places, operands))
                yield from self.walk(body.graph, body)
                out = next(n for n in body.graph.nodes if n.op == "output").args[0]
                for user in node.users:
                    if user.target is operator.getitem:
                        self.bindings[user] = out[user.args[1]]
            elif node not in self.bindings:
                yield node

    def called(self, node):
        """The name of a value, which is that of no weight, and in the body of a loop of its own."""
        if node.graph in self.loops:
            return f"{self.called(self.loops[node.graph])}.{node.name}"
        return f"{node.name}_" if node.name in self.states.values() else node.name

    def operands(self, node):
        sized = _sized(node)
        return [self.real(n) for n in node.all_input_nodes if n is not sized]

    def fold(self, calls):
        """Notes which nodes depend on sizes alone."""
        for node in calls:
            value = node.meta.get("val")
            is_random = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
            self.folded[node] = not is_random and (isinstance(value, (torch.SymInt, int, float, bool)) or all(self.is_folded(n) for n in self.operands(node)))

    def needed_for(self, results):
        """The nodes that results depend on."""
        needed, stack = set(), list(results)
        while stack:
            node = stack.pop()
            if node not in needed:
                needed.add(node)
                stack += self.operands(node)
        return needed

    def graph(self, name):
        calls = list(self.walk(self.exported.graph, self.exported.graph_module))
        self.fold(calls)
        results = []
        producers = {n.name: n for n in self.exported.graph.nodes}
        for result, text in zip(self.results, self.result_names()):
            node = self.real(producers[result]) if result in producers else None
            if node is not None and isinstance(node.meta["val"], torch.Tensor):
                results.append((text, node))
        if not results:
            raise ImportRefused("`forward` returns no tensor")
        needed = self.needed_for([node for _, node in results])
        inputs = [n for n in self.exported.graph.nodes if n.op == "placeholder" and n.name in self.inputs and isinstance(n.meta.get("val"), torch.Tensor)]
        drawn = [n for n in calls if n in needed and _name(n) in DRAWN]
        for node in calls:
            if node in needed and not self.folded[node] and node.target is not operator.getitem and node not in drawn:
                self.node(node, needed)
        modules = [module for module, _ in self.modules.values()]
        torch_checkpoints.recompute(modules, list(zip(self.nodes, self.checkpoints)))
        if drawn:
            names = ", ".join(f"`{self.called(node)}`" for node in drawn)
            self.notes.append(f"Random numbers go in as arguments, {names}: no cost depends on them.")
        outputs = [{"name": text or ("y" if len(results) == 1 else f"y{i}"), "value": self.operand(n)} for i, (text, n) in enumerate(results)]
        ranges = self.exported.range_constraints
        limits = {str(s): r for s, r in ranges.items()}

        def limit(symbols):
            found = [limits[symbol] for symbol in symbols if symbol in limits]
            most = [int(r.upper) for r in found if r.upper.is_Integer and r.upper < 2**40]
            return {"min": max([2, *(int(r.lower) for r in found)]), **({"max": min(most)} if most else {})}

        symbols = {text: limit([symbol for symbol, own in self.symbols.items() if own == text]) for text in self.symbols.values()}
        for text, own in symbols.items():
            bounds = [f"at least {own['min']}"] if own["min"] > 2 else []
            if "max" in own:
                bounds.append(f"at most {own['max']}")
            if bounds:
                self.notes.append(f"This holds where {text} is {' and '.join(bounds)}: the module does something else with other sizes.")
        return {
            "netc_graph": 1,
            "name": name,
            "from": f"torch {torch.__version__.split('+')[0]}",
            "symbols": symbols,
            "inputs": [self.described(self.called(n), n.meta["val"]) for n in [*inputs, *drawn] if n in needed],
            "weights": self.all_weights(needed),
            "known": list(self.known.values()),
            "modules": modules,
            "nodes": self.nodes,
            "outputs": outputs,
        }  # fmt: skip

    def result_names(self):
        """A name for each of `results`: of a dictionary or an object `loss`, or `hidden_0` of a list in it; else empty."""
        spec = getattr(self.exported.call_spec, "out_spec", None)
        try:
            paths = pytree.tree_flatten_with_path(pytree.tree_unflatten(list(range(len(self.results))), spec))[0]
        except (AttributeError, TypeError, ValueError):  # a class that does not name its members
            paths = []
        if len(paths) != len(self.results):
            return [""] * len(self.results)

        def part(key):
            return str(next(getattr(key, name) for name in ("key", "name", "idx") if hasattr(key, name)))

        return ["_".join(part(key) for key in path) if path and not isinstance(path[0], pytree.SequenceKey) else "" for path, _ in paths]

    def is_folded(self, node):
        """Whether a node depends on sizes alone. Values of buffers do, since they do not learn."""
        if node.op == "placeholder":
            return node.name in self.states and self.states[node.name] not in self.trainable
        return self.folded.get(node, False)

    def weight(self, node):
        target = self.states[node.name]
        tensor = self.exported.state_dict.get(target)
        if tensor is None:
            tensor = self.exported.constants[target]
        entry = self.weights.setdefault(id(tensor), {**self.described(target, tensor), "learns": target in self.trainable and tensor.requires_grad})
        return entry["name"]

    def all_weights(self, needed):
        """The weights, including unused ones, which are parameters too."""
        names = {}
        for target in self.exported.graph_signature.parameters:
            tensor = self.exported.state_dict[target]
            entry = self.weights.setdefault(id(tensor), {**self.described(target, tensor), "learns": tensor.requires_grad})
            if entry["name"] != target:
                entry.setdefault("also", []).append(target)
            names[target] = entry
        return list(self.weights.values())

    def operand(self, node):
        node = self.real(node)
        if node.op == "placeholder" and node.name in self.states:
            if self.states[node.name] in self.trainable or not self.is_folded(node):
                return self.weight(node)
        if self.is_folded(node):
            return self.recognized(node)
        if node.target is operator.getitem:
            outer = self.real(node.args[0])
            return f"{self.called(outer)}.{node.args[1]}" if node.args[1] else self.called(outer)
        return self.called(node)

    def node(self, node, needed):
        before = len(self.nodes)
        try:
            self.translate(node, needed)
            self.checkpoints += [torch_checkpoints.of(node)] * (len(self.nodes) - before)
        except (_NoSize, NoType) as problem:
            raise self.refused(node, str(problem)) from None

    def translate(self, node, needed):
        if node.target is torch.ops.higher_order.scan:
            return self.scan(node)
        self.current = node
        if not isinstance(node.target, torch._ops.OpOverload):
            raise self.refused(node, "it holds a graph of its own; a `for` over a number of steps is written out")
        schema = node.target._schema
        tensors, settings = [], {}
        op = str(node.target).rsplit(".", 1)[0]
        given = dict(zip((a.name for a in schema.arguments), node.args)) | node.kwargs
        for argument in schema.arguments[:3] if op in BATCH_NORMS else schema.arguments:
            value = given.get(argument.name, argument.default_value if argument.has_default_value() else None)
            if "Tensor" in str(argument.type):
                if isinstance(value, (list, tuple)):
                    tensors += [self.operand(v) if isinstance(v, Node) else None for v in value]
                elif isinstance(value, Node):
                    tensors.append(None if value is _sized(node) else self.operand(value))
                elif value is None:
                    tensors.append(None)
                else:
                    settings[argument.name] = self.setting(value)
            elif argument.name not in WITHOUT_EFFECT and value is not None:
                if isinstance(value, Node) and re.search("number|float", str(argument.type)):
                    if argument.name != "other":
                        raise _NoSize(f"`{argument.name}` is `{self.in_axes(self.real(value).meta['val'])}`, and must be a number here; `axes` says which axes are free")
                    tensors.append(self.operand(value))
                    continue
                settings[argument.name] = self.setting(value)
        while tensors and tensors[-1] is None:
            tensors.pop()
        made = node.meta["val"]
        many = made if isinstance(made, (list, tuple)) else [made]
        used = {u.args[1] for u in node.users if u.target is operator.getitem and u in needed} if isinstance(made, (list, tuple)) else {0}
        last = max(used, default=0)
        outs = [self.described(f"{self.called(node)}.{i}" if i else self.called(node), t) for i, t in enumerate(many) if i <= last and isinstance(t, torch.Tensor)]
        if not outs:
            raise self.refused(node, "it makes a number of a tensor, on which sizes or values depend; keep the tensor")
        if op in BATCH_NORMS:
            op, settings, outs = "aten.batch_norm", {"eps": given.get("eps", 1e-5), **BATCH_NORMS[op]}, outs[:1]
        self.nodes.append({"op": op, "in": tensors, "with": settings, "out": outs, "module": self.stack(node), "line": self.line(node)})

    def scan(self, node):
        """Writes a loop, whose body has its own nodes and reads what is outside of it."""
        held, firsts, sequences, read = node.args
        owner = getattr(node.graph.owning_module, held.target)
        self.loops[owner.graph] = node
        places = [n for n in owner.graph.nodes if n.op == "placeholder"]
        count = len(firsts) + len(sequences)
        self.bindings.update((place, outer) for place, outer in zip(places[count:], read) if isinstance(outer, Node))
        calls = list(self.walk(owner.graph, owner))
        self.fold(calls)
        results = [self.real(each) for each in next(n for n in owner.graph.nodes if n.op == "output").args[0]]
        needed = self.needed_for(results)
        if drawn := next((each for each in calls if each in needed and _name(each) in DRAWN), None):
            raise self.refused(drawn, "it draws random numbers in each step of a loop; draw those of all steps before it")
        ins = [self.operand(each) for each in (*firsts, *sequences)]
        inputs = [self.described(self.called(place), place.meta["val"]) for place in places[:count]]
        before = self.nodes, self.checkpoints
        self.nodes, self.checkpoints = [], []
        for each in calls:
            if each in needed and not self.folded[each] and each.target is not operator.getitem:
                self.node(each, needed)
        body = {"inputs": inputs, "nodes": self.nodes, "outputs": [self.operand(each) for each in results]}
        self.nodes, self.checkpoints = before
        steps = sequences[0].meta["val"].shape[:1]
        outs = []
        for i, each in enumerate(results):
            made = self.described(f"{self.called(node)}.{i}" if i else self.called(node), each.meta["val"])
            outs.append({**made, "shape": [*(self.size(size) for size in steps if i >= len(firsts)), *made["shape"]]})
        settings = {"carried": len(firsts)}
        self.nodes.append({"op": "higher_order.scan", "in": ins, "with": settings, "out": outs, "body": body, "module": self.stack(node), "line": self.line(node)})

    def setting(self, value):
        if isinstance(value, Node):
            value = self.real(value).meta["val"]
        if isinstance(value, torch.SymInt):
            return self.size(value)
        if isinstance(value, (list, tuple)):
            return [self.setting(v) for v in value]
        return number_of(value) if isinstance(value, (bool, int, float, str)) else str(value)

    def stack(self, node):
        if node.graph in self.loops:  # PyTorch does not tell the modules inside
            return self.stack(self.loops[node.graph])
        chain = []
        for key, (path, kind) in node.meta.get("nn_module_stack", {}).items():
            if not path or "_empty" in path:
                continue
            kind = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
            if key not in self.modules:
                call = re.search(r"@(\d+)$", key)
                entry = {"path": re.sub(r"@\d+", "", path), "call": int(call.group(1)) + 1 if call else 1, "class": kind.split(".")[-1]}
                self.modules[key] = entry, len(self.modules)
            chain.append(self.modules[key][1])
        return chain

    def line(self, node):
        frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
        frames = [f for f in frames if not f[0].startswith("<eval_with_key>")]  # of code that PyTorch made
        own = [f for f in frames if "/torch/nn/" not in f[0]] or frames
        return f"{Path(own[-1][0]).name}:{own[-1][1]}" if own else ""

    def refused(self, node, why):
        chain = self.stack(node)
        where = f"`{list(self.modules.values())[chain[-1]][0]['path']}`" if chain else "the module itself"
        line = f" ({self.line(node)})" if self.line(node) else ""
        return ImportRefused(f"`{node.target}` in {where}{line}: {why}")

    # What depends on sizes alone.

    def recognized(self, node):
        node = self.real(node)
        name = self.states.get(node.name, self.called(node))
        value = node.meta["val"]
        if not isinstance(value, torch.Tensor):
            return self.number(node)
        if name not in self.known:
            self.known[name] = {**self.described(name, value), **self.what(node)}
        return name

    def number(self, node, kind="i64"):
        """The name of a size that is used as a number, or of what is computed of sizes."""
        node = self.real(node)
        name, value = self.called(node), node.meta["val"]
        if node.target is torch.sym_float:
            return self.number(node.args[0], "f32")
        if isinstance(value, torch.SymFloat):
            if node.target not in OF_NUMBERS:
                raise _NoSize(f"netc has no number `{self.in_axes(value)}`; `axes` says which axes are free")
            op, keys = OF_NUMBERS[node.target], ("self", "exponent" if node.target is operator.pow else "other")
            ins = [self.number(each, "f32") for each in node.args if isinstance(each, Node)]
            settings = {key: number_of(each) for key, each in zip(keys, node.args) if not isinstance(each, Node)}
            name = f"{name}.{len(self.nodes)}"  # of its own in each place, since it is a number
            out = {"name": name, "type": "f32", "shape": []}
            self.nodes.append({"op": f"aten.{op}", "in": ins, "with": settings, "out": [out], "module": self.stack(self.current), "line": self.line(self.current)})
            return name
        name = name if kind == "i64" else f"{name}.{kind}"
        if name not in self.known:
            size = self.size(value) if isinstance(value, torch.SymInt) else number_of(value)
            self.known[name] = {"name": name, "type": "f32" if isinstance(value, float) else kind, "shape": [], **_of_size(size)}
        return name

    def what(self, node):
        filling = node.args[FILLED[node.target]] if node.target in FILLED else None
        if isinstance(filling, Node) and isinstance(filling.meta["val"], torch.SymInt):
            with contextlib.suppress(_NoSize):
                return _of_size(self.size(filling.meta["val"]))
        small, large = ({text: self.within(symbol, size + 4 * i) for i, (symbol, text) in enumerate(self.symbols.items())} for size in (7, 11))
        try:
            values = self.value(node, small, {}), self.value(node, large, {})
        except _NoValue:
            return {"what": "table"}
        shape = self.shape(node.meta["val"])
        fixed = fixed_axes([shape, [None if isinstance(s, str) else s for s in shape]])
        found = [_what(value, fixed) for value in values]
        if found[0]["what"] in ("causal", "not causal") and (far := self.farthest(node)):
            long = {text: 1 if text == "N" else self.within(symbol, far) for symbol, text in self.symbols.items()}
            try:
                return _what(self.value(node, long, {}))
            except _NoValue:
                return {"what": "table"}
        return found[0] if found[0] == found[1] else {"what": "table"}

    def within(self, symbol, size):
        """A size within the range that the module accepts."""
        limit = next((r.upper for s, r in self.exported.range_constraints.items() if str(s) == symbol), size)
        return min(size, int(limit)) if limit < size else size

    def farthest(self, node):
        """A length beyond the largest number in the computation of a mask, such as the width of a window, or of the buffers in it."""
        seen, stack, most = set(), [node], 0
        while stack:
            at = self.real(stack.pop())
            if at in seen:
                continue
            seen.add(at)
            if at.op != "call_function":
                most = max([most, *(s for s in at.meta["val"].shape if isinstance(s, int))])
                continue
            stack += self.operands(at)
            numbers = [a for a in torch.utils._pytree.tree_leaves((at.args, at.kwargs)) if isinstance(a, int) and not isinstance(a, bool)]
            most = max([most, *(abs(n) for n in numbers if abs(n) < 2**20)])
        return most + 8 if 4 < most <= 8192 else 0

    def at(self, size, sizes):
        """The value of a size for these sizes of the free axes."""
        if not isinstance(size, torch.SymInt):
            return size
        expression = size.node.expr
        return int(expression.subs({s: sizes[self.symbols[str(s)]] for s in expression.free_symbols}))

    def value(self, node, sizes, memo):
        node = self.real(node)
        if node in memo:
            return memo[node]
        made = node.meta.get("val")
        if isinstance(made, (torch.SymInt, int, float, bool)):
            return self.at(made, sizes)
        if node.op == "placeholder":
            tensor = self.exported.state_dict.get(self.states[node.name])
            if tensor is None:
                tensor = self.exported.constants.get(self.states[node.name])
            if tensor is None or tensor.is_meta:
                raise _NoValue
            return tensor
        sized = _sized(node)
        of = lambda n: torch.empty([self.at(s, sizes) for s in n.meta["val"].shape], dtype=n.meta["val"].dtype) if n is sized else self.value(n, sizes, memo)
        args, kwargs = (torch.fx.node.map_arg(part, of) for part in (node.args, node.kwargs))
        kwargs = dict(kwargs)
        if "device" in kwargs:
            kwargs["device"] = "cpu"
        with torch.no_grad(), torch.device("cpu"):
            try:
                memo[node] = node.target(*args, **kwargs)
            except Exception as problem:
                raise _NoValue from problem
        return memo[node]


def _of_size(size):
    """The description of a size that is used as a number."""
    return {"what": "size", "size": size} if isinstance(size, str) else {"what": "number", "value": size}


def _name(node):
    """The name of an op without its overload."""
    return str(node.target).split(".")[-2] if isinstance(node.target, torch._ops.OpOverload) else ""


def _sized(node):
    """The operand of which only the size matters, or None."""
    return node.args[0] if _name(node) in SIZED or _name(node) in DRAWN and node.all_input_nodes == list(node.args[:1]) else None


class _NoValue(Exception):
    pass


class _NoSize(ImportRefused):
    pass


def _quotient(dividend, divisor):
    """Of sizes that are 1 or more, where what is left over is less than the divisor."""
    whole, rest = sympy.div(dividend, divisor, domain="ZZ")
    return whole if rest.is_nonnegative and (divisor - rest).is_positive else FloorDiv(dividend, divisor)


def _what(value, fixed=0):
    """The description of a tensor's values."""
    precision = torch.finfo(value.dtype).eps if value.is_floating_point() else None
    return known((value.float() if value.is_floating_point() else value).numpy(), fixed, precision)
