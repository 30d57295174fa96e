# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The networks of networks.net, as PyTorch modules.

The image networks are those of torchvision, layer for layer. The language models use PyTorch's fastest modules: `nn.LSTM`, one
product for queries, keys and values, and `scaled_dot_product_attention`.
"""

import torch
from torch import nn
from torch.nn import functional as F

CLASSES = 1000
VOCABULARY = 10_000


def conv_norm(inputs, outputs, k, stride=1, groups=1, act=None):
    layers = [
        nn.Conv2d(inputs, outputs, k, stride, k // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, *([act(inplace=True)] if act else []))


class Residual(nn.Module):
    def __init__(self, branch, inputs, outputs, stride, act):
        super().__init__()
        self.branch = branch
        same = inputs == outputs and stride == 1
        self.downsample = nn.Identity() if same else conv_norm(inputs, outputs, 1, stride)
        self.act = act

    def forward(self, x):
        return self.act(self.branch(x) + self.downsample(x))


def basic_block(inputs, c, stride):
    branch = nn.Sequential(conv_norm(inputs, c, 3, stride, act=nn.ReLU), conv_norm(c, c, 3))
    return Residual(branch, inputs, c, stride, nn.ReLU(inplace=True)), c


def bottleneck(inputs, c, stride):
    branch = nn.Sequential(
        conv_norm(inputs, c, 1, act=nn.ReLU),
        conv_norm(c, c, 3, stride, act=nn.ReLU),
        conv_norm(c, 4 * c, 1),
    )
    return Residual(branch, inputs, 4 * c, stride, nn.ReLU(inplace=True)), 4 * c


def resnet(block, depths):
    layers = [conv_norm(3, 64, 7, 2, act=nn.ReLU), nn.MaxPool2d(3, 2, 1)]
    width = 64
    for stage, depth in enumerate(depths):
        for i in range(depth):
            layer, width = block(width, 64 << stage, 2 if stage > 0 and i == 0 else 1)
            layers.append(layer)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, CLASSES))


def vgg(depths):
    layers, width = [], 3
    for stage, depth in enumerate(depths):
        for _ in range(depth):
            c = min(64 << stage, 512)
            layers += [nn.Conv2d(width, c, 3, padding=1), nn.ReLU(inplace=True)]
            width = c
        layers.append(nn.MaxPool2d(2))
    layers += [nn.AdaptiveAvgPool2d(7), nn.Flatten()]
    for inputs in 512 * 7 * 7, 4096:
        layers += [nn.Linear(inputs, 4096), nn.ReLU(inplace=True), nn.Dropout()]
    return nn.Sequential(*layers, nn.Linear(4096, CLASSES))


def alexnet():
    layers, width = [], 3
    for c, k, stride, pad, pool in (
        (64, 11, 4, 2, True),
        (192, 5, 1, 2, True),
        (384, 3, 1, 1, False),
        (256, 3, 1, 1, False),
        (256, 3, 1, 1, True),
    ):
        layers += [nn.Conv2d(width, c, k, stride, pad), nn.ReLU(inplace=True)]
        layers += [nn.MaxPool2d(3, 2)] if pool else []
        width = c
    layers += [nn.AdaptiveAvgPool2d(6), nn.Flatten()]
    for inputs in 256 * 6 * 6, 4096:
        layers += [nn.Dropout(), nn.Linear(inputs, 4096), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.Linear(4096, CLASSES))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, c, widen, stride):
        super().__init__()
        width = widen * inputs
        layers = [conv_norm(inputs, width, 1, act=nn.ReLU6)] if widen != 1 else []
        layers += [conv_norm(width, width, 3, stride, width, nn.ReLU6), conv_norm(width, c, 1)]
        self.branch = nn.Sequential(*layers)
        self.residual = stride == 1 and inputs == c

    def forward(self, x):
        return x + self.branch(x) if self.residual else self.branch(x)


def mobilenet_v2():
    layers, width = [conv_norm(3, 32, 3, 2, act=nn.ReLU6)], 32
    for widen, c, depth, stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for i in range(depth):
            layers.append(InvertedResidual(width, c, widen, stride if i == 0 else 1))
            width = c
    layers += [conv_norm(320, 1280, 1, act=nn.ReLU6), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Dropout(0.2), nn.Linear(1280, CLASSES))


class LstmModel(nn.Module):
    def __init__(self, d=512):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, d)
        self.lstm = nn.LSTM(d, d, 2, batch_first=True)
        self.output = nn.Linear(d, VOCABULARY)

    def forward(self, tokens):
        return self.output(self.lstm(self.embedding(tokens))[0])


class DecoderLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.norm, self.norm_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.inputs, self.output = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ffn = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU("tanh"), nn.Linear(4 * d, d))

    def forward(self, x):
        n, t, d = x.shape
        split = self.inputs(self.norm(x)).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(*split, is_causal=True)
        x = x + self.output(y.transpose(1, 2).reshape(n, t, d))
        return x + self.ffn(self.norm_2(x))


class Decoder(nn.Module):
    def __init__(self, d=512, layers=6, heads=8, length=256, vocabulary=VOCABULARY):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d)
        self.position = nn.Parameter(torch.randn(length, d))
        self.layers = nn.Sequential(*(DecoderLayer(d, heads) for _ in range(layers)), nn.LayerNorm(d))

    def forward(self, tokens):
        x = self.embedding(tokens) + self.position[: tokens.shape[1]]
        return F.linear(self.layers(x), self.embedding.weight)


def image_loss(model, batch):
    return F.cross_entropy(model(batch[0]), batch[1])


def next_token_loss(model, batch):
    """The loss for every token but the first, given the tokens before it."""
    target = F.pad(batch[0][:, 1:], (0, 1), value=-1)
    return F.cross_entropy(model(batch[0]).flatten(0, 1), target.flatten(), ignore_index=-1)


def images(n):
    return torch.randn(n, 3, 224, 224), torch.randint(CLASSES, (n,))


def tokens(length):
    return lambda n: (torch.randint(VOCABULARY, (n, length)),)


# The model, the data of a batch, and the loss, by name.
MODELS = {
    "resnet18": (lambda: resnet(basic_block, (2, 2, 2, 2)), images, image_loss),
    "resnet50": (lambda: resnet(bottleneck, (3, 4, 6, 3)), images, image_loss),
    "vgg11": (lambda: vgg((1, 1, 2, 2, 2)), images, image_loss),
    "alexnet": (alexnet, images, image_loss),
    "mobilenet_v2": (mobilenet_v2, images, image_loss),
    "lstm": (LstmModel, tokens(64), next_token_loss),
    "decoder": (Decoder, tokens(128), next_token_loss),
}
