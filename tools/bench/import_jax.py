# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Imports functions of JAX and modules of Flax, and compares their parameters and the FLOP of a forward pass with those of XLA's
`cost_analysis`, which also counts what is no product, and leaves out taps that meet padding.

    NETC=build/release/bin/netc python3 tools/bench/import_jax.py [--keep folder]

It needs jax and flax, and writes a line for each model. With `--keep` the texts of StableHLO stay in a folder.
"""

import argparse
import gzip
import json
import math
import pathlib
import sys

import flax.linen as nn
import jax
import jax.numpy as jnp

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))

import netc
from netc import jax_graph


def mlp(weights, x):
    *hidden, last = weights
    for w, b in hidden:
        x = jax.nn.relu(x @ w + b)
    return jax.nn.gelu(x @ last[0] + last[1], approximate=False)


def columns(weights, words):
    """Products with the weight first, as in Equinox, a 16-bit format, and positions."""
    x = weights["table"][words] + weights["positions"][jnp.arange(words.shape[1])]
    product = lambda column: weights["out"].astype(jnp.bfloat16) @ column.astype(jnp.bfloat16)
    return jax.vmap(jax.vmap(product))(x)


def losses(weights, batch):
    """Losses of labels that are class numbers, and the largest scores."""
    x, labels = batch["x"] @ weights["w"], batch["labels"]
    scores = jax.nn.log_softmax(x)
    taken = jnp.take_along_axis(scores, labels[:, None], 1)[..., 0]
    listed = scores[jnp.arange(len(labels)), labels]
    ones = jax.nn.one_hot(labels, x.shape[-1]) * scores
    power = jax.nn.logsumexp(x, axis=-1)
    return taken + listed + ones.sum(-1) + power + jax.lax.top_k(x, 2)[0].sum(-1)


def places(weights, batch):
    """Parts that are replaced, diagonals, rows that are added, evenly spaced numbers, and the number of examples."""
    x, numbers = batch["x"] @ weights["w"], batch["numbers"]
    x = x.at[:, 0].set(0.0).at[:, 3:5].add(x[:, :2])
    x = jax.lax.dynamic_update_slice(x, jax.lax.dynamic_slice(x, (0, 6), (len(x), 2)), (0, 1))
    diagonal = jnp.diagonal(x[:, :, None] * x[:, None], axis1=1, axis2=2)
    shown = jnp.where((x > 0) ^ (x < 1), jax.lax.clamp(-0.5, x, 0.5), -x)
    sums = jax.ops.segment_sum(x, numbers, 5)
    correlation = jnp.diagonal(x.T @ x)
    rows = weights["table"][batch["pairs"][:, 1]]
    return (diagonal * jnp.linspace(0, 1, 8) + shown) / len(x), sums, x[numbers + 1], correlation / jnp.std(x, 0), rows


class Residual(nn.Module):
    """Batch norms that normalize by the batch, without reading running averages."""

    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            y = nn.Conv(16, (3, 3), use_bias=False)(x)
            y = nn.silu(nn.BatchNorm(use_running_average=False)(y))
            x = nn.avg_pool(nn.Conv(16, (1, 1))(x) + y, (2, 2), strides=(2, 2))
        return nn.Dense(10)(jnp.mean(x, axis=(1, 2)))


def residual(variables, x):
    return Residual().apply(variables, x, mutable=["batch_stats"])[0]


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.ConvTranspose(4, (3, 3), strides=(2, 2), padding="VALID")(nn.ConvTranspose(8, (2, 2), strides=(2, 2))(x))


class ConvNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(16, (3, 3))(x))
        x = nn.max_pool(x, (2, 2), strides=(2, 2))
        x = nn.relu(nn.Conv(32, (3, 3), strides=2, feature_group_count=2)(x))
        return nn.Dense(10)(x.reshape(x.shape[0], -1))


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x):
        mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=4)(y, y, mask=mask)
        y = nn.gelu(nn.Dense(4 * x.shape[-1])(nn.LayerNorm()(x)))
        return x + nn.Dense(x.shape[-1])(y)


class Transformer(nn.Module):
    @nn.compact
    def __call__(self, words):
        table = nn.Embed(100, 32)
        x = table(words)
        for _ in range(2):
            x = Layer()(x)
        return table.attend(nn.LayerNorm()(x))


class Layers(nn.Module):
    """Layers with their weights in one array, and a loop over it."""

    @nn.compact
    def __call__(self, x):
        layers = nn.scan(Carried, variable_axes={"params": 0}, split_rngs={"params": True}, length=3)
        return layers()(x, None)[0]


class Carried(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        return Layer()(x), None


class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.RNN(nn.OptimizedLSTMCell(16))(x))


def models():
    """Yields for each model its name, function, weights, an input, and the FLOP of its products."""
    size = jax.ShapeDtypeStruct
    sizes = [(64, 128), (128, 10)]
    yield "mlp", mlp, [(size(each, "f4"), size(each[1:], "f4")) for each in sizes], size((1, 64), "f4"), 2 * sum(map(math.prod, sizes))
    shapes = {"table": (50, 8), "positions": (12, 8), "out": (32, 8)}
    yield "columns", columns, {name: size(each, "f4") for name, each in shapes.items()}, size((1, 12), "i4"), 2 * 12 * 32 * 8
    yield "losses", losses, {"w": size((8, 5), "f4")}, {"x": size((1, 8), "f4"), "labels": size((1,), "i4")}, 2 * 8 * 5
    batch = {"x": size((1, 8), "f4"), "numbers": size((1,), "i4"), "pairs": size((1, 2), "i4")}
    yield "places", places, {"w": size((8, 8), "f4"), "table": size((9, 4), "f4")}, batch, 2 * 2 * 8 * 8
    image = size((1, 16, 16, 3), "f4")
    blocks = 2 * (16 * 16 * 16 * 3 * 10 + 8 * 8 * 16 * 16 * 10 + 16 * 10)
    yield "Residual", residual, jax.eval_shape(Residual().init, jax.random.key(0), image), image, blocks
    image = size((1, 8, 8, 16), "f4")
    decoder = 2 * (8 * 8 * 16 * 8 * 4 + 16 * 16 * 8 * 4 * 9)
    yield "Decoder", Decoder().apply, jax.eval_shape(Decoder().init, jax.random.key(0), image), image, decoder
    convolutions = 2 * (28 * 28 * 16 * 9 + 7 * 7 * 32 * 9 * 8 + 7 * 7 * 32 * 10)
    layers = 2 * (16 * 2 * (4 * 32 * 32 + 2 * 32 * 128) + 2 * 2 * 16 * 16 * 32 + 16 * 32 * 100)
    scanned = 3 * 2 * (16 * (4 * 32 * 32 + 2 * 32 * 128) + 2 * 16 * 16 * 32)
    steps = 2 * 6 * (8 * 64 + 16 * 64 + 16 * 3)
    for module, x, flop in (
        (ConvNet(), size((1, 28, 28, 1), "f4"), convolutions),
        (Transformer(), size((1, 16), "i4"), layers),
        (Layers(), size((1, 16, 32), "f4"), scanned),
        (Recurrent(), size((1, 6, 8), "f4"), steps),
    ):
        yield type(module).__name__, module.apply, jax.eval_shape(module.init, jax.random.key(0), x), x, flop


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    for name, function, weights, x, flop in models():
        texts, labels = jax_graph.texts_of(function, weights, x)
        network = netc.estimate(netc.from_graph(jax_graph.graph(texts, labels, name, f"JAX {jax.__version__}"))).networks[0]
        own = network.parameters.total, network.forward.matmul
        wanted = sum(leaf.size for leaf in jax.tree_util.tree_leaves({**weights, "batch_stats": {}} if isinstance(weights, dict) else weights)), flop
        all_flop = jax.jit(function).lower(weights, x).compile().cost_analysis()["flops"]
        print(f"{name}: {'equal' if own == wanted else f'{own}, not {wanted}'}; XLA counts {all_flop:.0f}, netc {network.forward.total}")
        if options.keep:
            kept = {"name": name, "weights": labels, "texts": texts, "parameters": wanted[0], "forward": flop}
            path = options.keep / f"{name.lower()}.json.gz"
            path.write_bytes(gzip.compress(json.dumps(kept).encode(), mtime=0))


if __name__ == "__main__":
    main()
