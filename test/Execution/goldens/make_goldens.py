# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Trains the networks of networks.net with PyTorch on the CPU, and writes what compare.py reads, into this folder:
NETWORK.npz with initial weights, under netc's names, and data; losses.json with the losses of ten steps by each
optimizer, the statistics that batch normalization keeps, and PyTorch's version.

    pip install torch numpy && python3 make_goldens.py

Training in f64 as well shows what rounding does: the losses are only of use where that is little. Weights and rates
are chosen so that every constant shows in the losses: large products for the activations, small embeddings for the
epsilon of a normalization.
"""

import copy
import json
import os

import numpy
import torch
from torch import nn
from torch.nn import functional as F

STEPS = 10
BATCH = 8
BATCHES = 5
ROUNDING = 3e-6  # relative
FOLDER = os.path.dirname(os.path.abspath(__file__))


def scale(module, factor):
    """Multiplies all matrices."""
    with torch.no_grad():
        for value in module.parameters():
            if value.dim() == 2:
                value *= factor


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(8)
        self.conv3 = nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.fc = nn.Linear(12, 10)

    def forward(self, image):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(image))), 2)
        x = x + F.relu(self.bn2(self.conv2(x)))
        return self.fc(F.relu(self.conv3(x)).mean((2, 3)))

    def loss(self, image, label):
        return F.cross_entropy(self(image), label.long())

    @staticmethod
    def data(generator):
        n = BATCH * BATCHES
        label = torch.randint(10, (n,), generator=generator, dtype=torch.int32)
        return {"image": torch.randn(n, 3, 12, 12, generator=generator), "label": label}

    names = {}


class TokenModel(nn.Module):
    """Predicts each token from those before it."""

    VOCABULARY = 24
    WIDTH = 16
    LENGTH = 12

    def loss(self, tokens):
        logits = self(tokens)[:, :-1]
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten().long())

    @classmethod
    def data(cls, generator):
        """Most tokens follow from the one before them."""
        n = BATCH * BATCHES
        columns = [torch.randint(cls.VOCABULARY, (n,), generator=generator)]
        for _ in range(cls.LENGTH - 1):
            other = torch.randint(cls.VOCABULARY, (n,), generator=generator)
            follows = torch.rand(n, generator=generator) < 0.8
            columns.append(torch.where(follows, (5 * columns[-1] + 7) % cls.VOCABULARY, other))
        return {"tokens": torch.stack(columns, 1).int()}


class Lstm(TokenModel):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(self.VOCABULARY, self.WIDTH)
        self.lstm = nn.LSTM(self.WIDTH, self.WIDTH, 2, batch_first=True)
        self.fc = nn.Linear(self.WIDTH, self.VOCABULARY)
        scale(self, 3)
        # PyTorch adds two biases, which would learn twice as fast as the one that netc has.
        for layer in range(2):
            bias = getattr(self.lstm, f"bias_hh_l{layer}")
            nn.init.zeros_(bias)
            bias.requires_grad_(False)

    def forward(self, tokens):
        return self.fc(self.lstm(self.embed(tokens))[0])

    names = {
        "lstm.weight_ih_l0": "lstm.input.weight",
        "lstm.weight_hh_l0": "lstm.recur.weight",
        "lstm.bias_ih_l0": "lstm.input.offset",
        "lstm.weight_ih_l1": "lstm2.input.weight",
        "lstm.weight_hh_l1": "lstm2.recur.weight",
        "lstm.bias_ih_l1": "lstm2.input.offset",
    }


class DecoderLayer(nn.Module):
    def __init__(self, d, heads, ff):
        super().__init__()
        self.heads = heads
        self.norm, self.norm_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.query, self.key, self.value, self.output = (nn.Linear(d, d) for _ in range(4))
        self.linear, self.linear_2 = nn.Linear(d, ff), nn.Linear(ff, d)

    def forward(self, x):
        n, t, d = x.shape
        y = self.norm(x)
        q, k, v = (f(y).view(n, t, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(y.transpose(1, 2).reshape(n, t, d))
        return x + self.linear_2(F.gelu(self.linear(self.norm_2(x))))


class Decoder(TokenModel):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(self.VOCABULARY, self.WIDTH)
        self.position = nn.Embedding(16, self.WIDTH)
        self.layers = nn.ModuleList(DecoderLayer(self.WIDTH, 2, 32) for _ in range(2))
        self.norm = nn.LayerNorm(self.WIDTH)
        self.fc = nn.Linear(self.WIDTH, self.VOCABULARY)
        scale(self, 2)
        for table in self.embed, self.position:
            nn.init.normal_(table.weight, std=0.05)

    def forward(self, tokens):
        x = self.embed(tokens) + self.position.weight[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.fc(self.norm(x))

    names = {
        f"layers.{i}.{here}.{what}": f"layers.{i}.{there}.{what.replace('bias', 'offset')}"
        for i in range(2)
        for what in ("weight", "bias")
        for here, there in {
            "norm": "prenorm.layernorm",
            "norm_2": "prenorm_2.layernorm",
            "query": "mha.query",
            "key": "mha.key",
            "value": "mha.value",
            "output": "mha.output",
            "linear": "ffn.linear",
            "linear_2": "ffn.linear_2",
        }.items()
    }


# As in networks.net
RUNS = {
    "cnn": (Cnn, {"lr": 0.1, "momentum": 0.9, "weight_decay": 1e-2}, {"lr": 0.01, "weight_decay": 0.1}),
    "lstm": (Lstm, {"lr": 0.5, "momentum": 0.9}, {"lr": 0.01, "weight_decay": 0.1}),
    "decoder": (
        Decoder,
        {"lr": 0.02, "momentum": 0.9},
        {"lr": 0.005, "betas": (0.9, 0.95), "weight_decay": 0.1},
    ),
}


def train(model, make_optimizer, data):
    """The losses of `model`, which it changes."""
    optimizer = make_optimizer([p for p in model.parameters() if p.requires_grad])
    losses = []
    for step in range(STEPS):
        first = step % BATCHES * BATCH
        loss = model.loss(*(x[first : first + BATCH] for x in data.values()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def statistics(model):
    """What batch normalization kept. PyTorch's moving variance is of n / (n - 1) times the variance, netc's of the
    variance itself; both began at 1."""
    result = {}
    positions = BATCH * 12 * 12
    for name, module in model.named_modules():
        if isinstance(module, nn.BatchNorm2d):
            rest = (1 - module.momentum) ** STEPS
            n = positions if name == "bn1" else positions // 4
            result[f"{name}.running_mean"] = module.running_mean.tolist()
            result[f"{name}.running_var"] = (rest + (module.running_var - rest) * (n - 1) / n).tolist()
    return result


def main():
    torch.set_num_threads(1)
    goldens = {"torch": torch.__version__.split("+")[0]}
    for seed, (name, (make, sgd, adamw)) in enumerate(RUNS.items()):
        torch.manual_seed(seed)
        start = make()
        data = make.data(torch.Generator().manual_seed(seed))
        arrays = {f"data/{key}": value.numpy() for key, value in data.items()}
        for key, value in start.named_parameters():
            if value.requires_grad:
                arrays["weights/" + make.names.get(key, key.replace("bias", "offset"))] = value.detach().numpy()
        numpy.savez(os.path.join(FOLDER, name + ".npz"), **arrays)
        for optimizer, make_optimizer in {
            "sgd": lambda parameters: torch.optim.SGD(parameters, **sgd),
            "adamw": lambda parameters: torch.optim.AdamW(parameters, **adamw),
        }.items():
            model, exact = copy.deepcopy(start), copy.deepcopy(start).double()
            losses = train(model, make_optimizer, data)
            wide = {key: value.double() if value.is_floating_point() else value for key, value in data.items()}
            for one, other in zip(losses, train(exact, make_optimizer, wide)):
                assert abs(one - other) < ROUNDING * other, (name, optimizer, one, other)
            goldens[f"{name}_{optimizer}"] = {"losses": losses, "statistics": statistics(model)}
    with open(os.path.join(FOLDER, "losses.json"), "w") as file:
        json.dump(goldens, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
