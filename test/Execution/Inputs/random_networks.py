# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes random valid specifications, always the same ones for a seed.

    random_networks.py SEED FIRST END FOLDER [smooth] [wide=FACTOR] [precision]

writes FOLDER/network_SEED_i.net for i from FIRST to END - 1, and prints their names. With `smooth`, they are the same
networks without kinks, at which a loss has no slope; with `wide`, they have that many times the features and channels, and
an eighth of it times the examples and positions, as matrix instructions ask for; and with `precision`, their runs have one.
"""

import pathlib
import random
import re
import sys

ACTIVATIONS = ["relu", "tanh", "sigmoid", "silu", "gelu", "gelu_tanh", "softplus", "hardswish", "LeakyRelu(0.1)", "relu6"]


class Network:
    """Statements of a net, and the values that they have made: name, kind and sizes.

    Kinds: image [N, C, H, W], line [N, C, L], sequence [N, T, d], vector [N, d].
    """

    def __init__(self, rng, wider):
        self.rng = rng
        self.wider, self.longer = wider, max(1, wider // 8)
        self.lines = []
        self.instances = []  # name, kind and sizes it takes, what it makes
        self.count = 0
        self.positions = None  # the size of T, where an image became a sequence
        self.features = None  # and that of d
        self.batch = rng.randint(1, 4) * self.longer
        self.current = self.start()
        self.values = [self.current]

    def start(self):
        rng = self.rng
        self.tokens = False
        kind = rng.choice(["image", "image", "image", "line", "sequence", "sequence", "tokens", "vector"])
        if kind == "tokens":
            self.tokens = True
            t, self.vocabulary, d = rng.randint(2, 7) * self.longer, rng.randint(3, 12), rng.randint(1, 4) * 2 * self.wider
            self.input = f"x: i32[N, T = {t}]"
            self.lines.append(f"v0 = x |> Embedding({self.vocabulary}, {d})")
            self.count = 1
            return ("v0", "sequence", (t, d))
        if kind == "image":
            sizes = (rng.randint(1, 6) * self.wider, rng.randint(4, 11), rng.randint(4, 11))
            axes = "CHW"
        elif kind == "line":
            sizes = (rng.randint(1, 5) * self.wider, rng.randint(5, 17))
            axes = "CL"
        elif kind == "sequence":
            sizes = (rng.randint(1, 7) * self.longer, rng.randint(1, 4) * 2 * self.wider)
            axes = "Td"
        else:
            sizes = (rng.randint(1, 12) * self.wider,)
            axes = "d"
        self.input = "x: f32[N, " + ", ".join(f"{a} = {s}" for a, s in zip(axes, sizes)) + "]"
        return ("x", kind, sizes)

    def emit(self, expression, kind, sizes):
        name = f"v{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {expression}")
        self.current = (name, kind, tuple(sizes))
        self.values.append(self.current)

    def apply(self, layer, kind, sizes):
        """The layer on the current value, perhaps by an instance that may be used again."""
        value, kind_in, sizes_in = self.current
        same = (kind, tuple(sizes)) == (kind_in, sizes_in)
        if self.rng.random() < 0.15:
            name = f"shared{len(self.instances)}"
            self.lines.append(f"{name} = {layer}")
            self.instances.append((name, (kind_in, sizes_in), (kind, tuple(sizes))))
            self.emit(f"{value} |> {name}", kind, sizes)
            if same and self.rng.random() < 0.7:
                self.emit(f"{self.current[0]} |> {name}", kind, sizes)
        else:
            self.emit(f"{value} |> {layer}", kind, sizes)

    def reuse(self):
        fitting = [(v, i) for v in self.values for i in self.instances if v[1:] == i[1]]
        if not fitting:
            return self.elementwise()
        value, (name, _, made) = self.rng.choice(fitting)
        self.emit(f"{value[0]} |> {name}", *made)

    def elementwise(self):
        value, kind, sizes = self.current
        if self.rng.random() < 0.25:
            self.emit(self.rng.choice([f"dropout({value}, 0.2)", f"{value} |> StochasticDepth(0.3)", f"0.5 * {value} + 0.1", f"sin({value})", f"1 / (1 + {value} * {value})"]), kind, sizes)
        else:
            self.emit(f"{value} |> {self.rng.choice(ACTIVATIONS)}", kind, sizes)

    def combine(self):
        """A skip: with an earlier value of the same shape."""
        value, kind, sizes = self.current
        others = [v for v in self.values if v[1:] == (kind, sizes) and v[0] != value]
        if not others:
            return self.elementwise()
        other = self.rng.choice(others)[0]
        way = self.rng.random()
        if way < 0.6:
            self.emit(f"{value} + {other}", kind, sizes)
        elif way < 0.75:
            self.emit(f"{value} * sigmoid({other})", kind, sizes)
        elif kind in ("image", "line"):
            if sizes[0] <= 6 * self.wider:
                self.emit(f"concat({value}, {other})", kind, (2 * sizes[0],) + sizes[1:])
        elif sizes[-1] <= 8 * self.wider:
            self.emit(f"concat({value}, {other})", kind, sizes[:-1] + (2 * sizes[-1],))

    def windows(self, size, k, low, high, stride, dilation=1):
        return (size + low + high - dilation * (k - 1) - 1) // stride + 1

    def convolution(self):
        rng = self.rng
        _, kind, (c, *space) = self.current
        n = len(space)
        groups = rng.choice([1, 1, 1, c] + [g for g in (2, 3) if c % g == 0])
        out = groups * rng.randint(1, max(1, 6 * self.wider // groups))
        for _ in range(20):
            k = [rng.randint(1, 4) for _ in space]
            stride = [rng.choice([1, 1, 2, 3]) for _ in space]
            dilation = [rng.choice([1, 1, 1, 2]) for _ in space]
            bias = rng.choice(["", ", bias = false"])
            if rng.random() < 0.2:
                extra = [rng.randint(0, s - 1) for s in stride]
                made = [(s - 1) * st + d * (q - 1) + 1 + e for s, st, d, q, e in zip(space, stride, dilation, k, extra)]
                layer = f"ConvT({out}, {k}, stride = {stride}, dilation = {dilation}, extra = {extra}, groups = {groups}{bias})"
            else:
                pad = [rng.randint(0, 2) for _ in space]
                made = [self.windows(s, q, p, p, st, d) for s, q, p, st, d in zip(space, k, pad, stride, dilation)]
                layer = f"Conv({out}, {k}, stride = {stride}, pad = {pad}, dilation = {dilation}, groups = {groups}{bias})"
            if all(1 <= m <= 16 for m in made):
                return self.apply(layer, kind, (out, *made))
        self.elementwise()

    def pool(self):
        rng = self.rng
        _, kind, (c, *space) = self.current
        for _ in range(20):
            way = rng.random()
            if way < 0.2:
                made = [rng.randint(1, 5) for _ in space]
                return self.apply(f"AdaptiveAvgPool({made})", kind, (c, *made))
            k = [rng.randint(1, 3) for _ in space]
            stride = [rng.randint(1, 3) for _ in space]
            pad = [rng.randint(0, q // 2) for q in k]
            made = [self.windows(s, q, p, p, st) for s, q, p, st in zip(space, k, pad, stride)]
            if all(m >= 1 for m in made):
                block = "MaxPool" if way < 0.65 else "AvgPool"
                return self.apply(f"{block}({k}, stride = {stride}, pad = {pad})", kind, (c, *made))
        self.elementwise()

    def normalize(self):
        _, kind, sizes = self.current
        c = sizes[0] if kind in ("image", "line") else sizes[-1]
        norms = ["BatchNorm", "LayerNorm", "RMSNorm"]
        if kind in ("image", "line"):
            norms += [f"GroupNorm({g})" for g in (1, 2, 3) if c % g == 0]
        # A mean over one element leaves zeros: no use, and a root of eps.
        fitting = [n for n in norms if n == "BatchNorm" and self.batch > 1 or n not in ("BatchNorm", "LayerNorm") or c > 1 and n == "LayerNorm"]
        self.apply(self.rng.choice(fitting), kind, sizes)

    def linear(self):
        _, kind, sizes = self.current
        out = self.rng.randint(1, 5) * 2 * self.wider
        layer = f"Linear({out}{self.rng.choice(['', ', bias = false'])})"
        if kind in ("image", "line"):
            self.apply(layer, kind, (out,) + sizes[1:])
        else:
            self.apply(layer, kind, sizes[:-1] + (out,))

    def attention(self):
        rng = self.rng
        _, kind, (t, d) = self.current
        if d % 2:
            return self.linear()
        heads = rng.choice([h for h in (1, 2, 4) if d % h == 0])
        rotary = d // heads % 2 == 0 and rng.random() < 0.3
        keys = rng.choice([g for g in (1, heads) if heads % g == 0])
        settings = f"heads = {heads}, kv_heads = {keys}, causal = {rng.choice(['true', 'false'])}, drop = {rng.choice(['0', '0.1'])}"
        self.apply(f"MHA({settings}{', rotary = true' if rotary else ''})", kind, (t, d))

    def recurrent(self):
        rng = self.rng
        value, kind, (t, d) = self.current
        out = rng.randint(1, 6) * self.wider
        way = rng.random()
        if way < 0.55:
            cell = rng.choice(["RNN", "GRU", "LSTM"])
            self.apply(f"{cell}({out})", kind, (t, out))
        elif way < 0.7:
            self.apply(f"Bidirectional({rng.choice(['RNN', 'GRU', 'LSTM'])}, {out})", kind, (t, 2 * out))
        elif way < 0.8:
            self.emit(f"reverse({value}, over = T)", kind, (t, d))
        else:
            name = f"cell{self.count}"
            self.lines.append(f"{name} = Linear({out})")
            self.lines.append(f"{name}_h = Linear({out}, bias = false)")
            act = rng.choice(ACTIVATIONS)
            factor = rng.choice(["h", "s", "0.3"])
            self.emit(
                f"scan e in {value} over T carry h = zeros(N, {out}), s = full(0.5, N, {out}) {{\n"
                f"    h' = tanh(({name}(e) + {name}_h(h)) |> {act})\n"
                f"    s' = 0.5 * s + h * {factor}\n"
                f"    yield h' * s\n"
                "  }",
                kind, (t, out),
            )

    def rearranged(self):
        """Moves elements: parts, padding, reversal, pairs."""
        rng = self.rng
        value, kind, sizes = self.current
        axes = {"image": "CHW", "line": "CL", "sequence": "Td", "vector": "d"}[kind]
        if kind == "vector" and 2 <= sizes[0] <= 6 * self.wider and rng.random() < 0.5:
            pairs = sizes[0] * (sizes[0] - 1) // 2
            return self.emit(f'einsum("n i, n j -> n i j", {value}, {value}) |> lower_triangle', kind, (pairs,))
        place = rng.randrange(len(sizes))
        size = sizes[place]
        # Features may have no label.
        over = f"axes({value})[-1]" if axes[place] == "d" else axes[place]
        way = rng.choice(["pad", "reverse", "part", "split", "mix"])
        resized = lambda n: sizes[:place] + (n,) + sizes[place + 1:]
        if way == "pad" and axes[place] in "HWTL" and size < 14:
            low, high = rng.randint(0, 2), rng.randint(0, 2)
            self.emit(f"pad({value}, over = {over}, low = {low}, high = {high}, value = {rng.choice(['0', '0.5'])})", kind, resized(size + low + high))
        elif way == "part" and size > 1:
            start = rng.randint(0, size - 1)
            end = rng.randint(start + 1, size)
            part = f"..., {start}..{end}" if axes[place] == "d" else f"{over} = {start}..{end}"
            self.emit(f"{value}[{part}]", kind, resized(end - start))
        elif way == "split" and size > 1:
            first = rng.randint(1, size - 1)
            self.lines.append(f"p{self.count}, q{self.count} = split({value}, [{first}, {size - first}], over = {over})")
            self.emit(f"concat(q{self.count}, p{self.count} * p{self.count}, over = {over})", kind, sizes)
        elif way == "mix" and kind == "sequence":
            self.emit(f'einsum("n t d, n s d, n s e -> n t e", {value}, {value}, {value}) * {0.05 / self.wider**2 / self.longer}', kind, sizes)
        else:
            self.emit(f"reverse({value}, over = {over})", kind, sizes)

    def reduce(self):
        """To a kind of fewer axes."""
        rng = self.rng
        value, kind, sizes = self.current
        if kind == "image":
            c, h, w = sizes
            way = rng.choice(["vector", "flat", "sequence", "max"])
            # T and d have one size in a net.
            fits = self.positions in (None, h * w) and self.features in (None, c)
            if way == "sequence" and fits:
                self.positions, self.features = h * w, c
                self.emit(f'rearrange({value}, "n c h w -> n (h w) c")', "untitled", sizes)
                name = self.current[0]
                self.lines[-1] = f"{name}: [N, T, d] = " + self.lines[-1].split(" = ", 1)[1]
                self.current = (name, "sequence", (h * w, c))
                self.values[-1] = self.current
                return
            if way == "flat" and c * h * w <= 200 * self.wider:
                return self.emit(f"flatten({value})", "vector", (c * h * w,))
            if way == "max":
                return self.emit(f"{rng.choice(['max', 'min'])}({value}, over = [{rng.choice(['H, W', 'W, H'])}])", "vector", (c,))
            return self.emit(f"{value} |> GlobalAvgPool", "vector", (c,))
        if kind == "line":
            if rng.random() < 0.5:
                return self.emit(f"flatten({value})", "vector", (sizes[0] * sizes[1],))
            return self.emit(f"{rng.choice(['mean', 'sum', 'max'])}({value}, over = L)", "vector", (sizes[0],))
        t, d = sizes
        way = rng.choice(["last", "mean", "max", "some"])
        if way == "last":
            return self.emit(f"{value}[T = -1]", "vector", (d,))
        if way == "some" and t > 1:
            start = rng.randint(0, t - 1)
            end = rng.randint(start + 1, t)
            return self.emit(f"{value}[T = {start}..{end}]", kind, (end - start, d))
        self.emit(f"{'mean' if way == 'mean' else 'max'}({value}, over = T)", "vector", (d,))

    def step(self):
        kind = self.current[1]
        ways = [self.elementwise, self.combine, self.combine, self.normalize, self.linear, self.reuse, self.rearranged]
        if kind in ("image", "line"):
            ways += 3 * [self.convolution] + [self.pool]
        elif kind == "sequence":
            ways += 2 * [self.attention] + 2 * [self.recurrent]
        if kind != "vector" and self.rng.random() < 0.1:
            return self.reduce()
        self.rng.choice(ways)()

    def finish(self):
        rng = self.rng
        if self.tokens and self.current[1] == "sequence" and self.full_length():
            self.emit(f"{self.current[0]} |> Linear({self.vocabulary})", "sequence", (self.current[2][0], self.vocabulary))
            return "", "cross_entropy(y, shift(x))", "y"
        while self.current[1] != "vector":
            self.reduce()
        classes = rng.randint(2, 7)
        self.emit(f"{self.current[0]} |> Linear({classes})", "vector", (classes,))
        if rng.random() < 0.3:
            return f"target = f32[{classes}]", "mse(y, target)", "y"
        smoothing = rng.choice(["", ", smoothing = 0.1"])
        return f"label = class({classes})", f"cross_entropy(y, label{smoothing})", "y"

    def full_length(self):
        return self.current[2][0] == self.values[0][2][0]


OPTIMIZERS = [
    "SGD(lr = 0.05)",
    "SGD(lr = 0.05, momentum = 0.9)",
    "SGD(lr = 0.05, momentum = 0.9, nesterov = true, weight_decay = 0.01)",
    "SGD(lr = 0.05, sparse = true)",
    "Adam(lr = 0.01)",
    "Adam(lr = 0.01, weight_decay = 0.01, clip = 1)",
    "AdamW(lr = 0.01)",
    "RMSprop(lr = 0.01)",
]


PRECISIONS = ["bf16", "mixed(f16)", "pure(bf16)", "megatron(bf16)", "tf32", "f64"]


def specification(seed, number, wider, has_precision):
    rng = random.Random(f"{seed}/{number}")
    network = Network(rng, wider)
    for _ in range(rng.randint(2, 9)):
        network.step()
    field, loss, result = network.finish()
    body = "\n".join("  " + line for line in network.lines)
    dataset = f"dataset Data {{ examples = 100; {field} }}\n" if field else ""
    return (
        "import std.recurrent\n\n"
        f"net Random({network.input}) {{\n{body}\n  return {result} = {network.current[0]}\n}}\n{dataset}"
        f"train Random{' on Data' if field else ''} as run {{\n  loss = {loss}\n  batch = {network.batch}\n"
        f"  duration = 10 steps\n  optimizer = {rng.choice(OPTIMIZERS)}\n"
        + (f"  precision = {rng.choice(PRECISIONS)}\n" if has_precision else "")
        + "}\n"
    )


def smooth(text):
    text = re.sub(r"\b(relu6?|hardswish)\b|LeakyRelu\(0\.1\)", "softplus", text)
    return re.sub(r"\b(max|min)\(", "mean(", text.replace("MaxPool", "AvgPool"))


def main():
    seed, first, end = map(int, sys.argv[1:4])
    folder, words = pathlib.Path(sys.argv[4]), sys.argv[5:]
    wider = next((int(word.removeprefix("wide=")) for word in words if word.startswith("wide=")), 1)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(first, end):
        path = folder / f"network_{seed}_{number}.net"
        text = specification(seed, number, wider, "precision" in words)
        path.write_text(smooth(text) if "smooth" in words else text)
        print(path)


main()
