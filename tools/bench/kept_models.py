# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The networks of kept.net, as PyTorch modules. Each entry makes a model, its data, and a function for its loss."""

import torch
import torchvision
import transformers
from torch import nn
from torch.nn import functional as F

# Slow without a GPU, and without effect on shapes.
torch.nn.init.trunc_normal_ = lambda tensor, *_, **__: tensor


def attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """`scaled_dot_product_attention`, written out in the ops that autocast uses on a GPU."""
    scores = (q @ k.transpose(-2, -1)) * q.shape[-1] ** -0.5
    return F.dropout(F.softmax(scores, -1), dropout_p) @ v


F.scaled_dot_product_attention = attention


def flash_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Attention by the fused kernel that autocast uses on a GPU, if there is no mask other than the causal one."""
    low = torch.get_autocast_dtype(q.device.type)
    q, k, v = q.to(low), k.to(low), v.to(low)
    return torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, dropout_p, is_causal, scale=scale)[0]


def with_flash(make):
    """Replaces the attention of the model by this kernel."""

    def made():
        model, data, loss_of = make()

        def loss(*arguments):
            F.scaled_dot_product_attention = flash_attention
            try:
                return loss_of(*arguments)
            finally:
                F.scaled_dot_product_attention = attention

        return model, data, loss

    return made


def image_model(name):
    def make():
        model = getattr(torchvision.models, name)(weights=None)
        data = torch.randn(2, 3, 224, 224), torch.randint(1000, (2,))
        return model, data, lambda model, x, label: F.cross_entropy(model(x), label)

    return make


def next_token_loss(logits, tokens):
    """A loss in which every position has a next token, as in `shift`. Libraries drop the last position."""
    return F.cross_entropy(logits.flatten(0, 1), tokens.roll(-1, 1).flatten())


def bert():
    model = transformers.BertForSequenceClassification(transformers.BertConfig(attn_implementation="eager"))
    data = torch.randint(1000, (2, 128)), torch.randint(2, (2,))
    return model, data, lambda model, x, label: F.cross_entropy(model(x).logits, label)


def gpt2(attention="eager"):
    config = transformers.GPT2Config(
        attn_implementation=attention, use_cache=False, activation_function="gelu_pytorch_tanh"
    )
    data = (torch.randint(1000, (2, 256)),)
    return transformers.GPT2LMHeadModel(config), data, lambda model, x: next_token_loss(model(x).logits, x)


class DecoderLayer(nn.Module):
    """A layer with rotary positions, fewer heads for keys and values than for queries, and a gated FFN."""

    def __init__(self, d=256, heads=8, kv_heads=4, ff=688):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        self.norm, self.norm_2 = nn.RMSNorm(d, eps=1e-6), nn.RMSNorm(d, eps=1e-6)
        k = d // heads
        linear = lambda n, m: nn.Linear(n, m, bias=False)
        self.query, self.key, self.value = linear(d, d), linear(d, kv_heads * k), linear(d, kv_heads * k)
        self.output, self.gate, self.up, self.down = linear(d, d), linear(d, ff), linear(d, ff), linear(ff, d)

    def forward(self, x, cos, sin):
        n, t, d = x.shape

        def heads_of(y, heads):
            return y.view(n, t, heads, -1).transpose(1, 2)

        def turned(y):
            a, b = y.chunk(2, -1)
            return y * cos + torch.cat((-b, a), -1) * sin

        y = self.norm(x)
        q = turned(heads_of(self.query(y), self.heads))
        k = turned(heads_of(self.key(y), self.kv_heads)).repeat_interleave(self.heads // self.kv_heads, 1)
        v = heads_of(self.value(y), self.kv_heads).repeat_interleave(self.heads // self.kv_heads, 1)
        later = torch.ones(t, t, dtype=torch.bool).triu(1)
        scores = (q @ k.transpose(2, 3)) * q.shape[-1] ** -0.5
        y = scores.masked_fill(later, float("-inf")).softmax(-1) @ v
        x = x + self.output(y.transpose(1, 2).reshape(n, t, d))
        y = self.norm_2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, vocabulary=1000, d=256, layers=4, k=32):
        super().__init__()
        self.embedding, self.k = nn.Embedding(vocabulary, d), k
        self.layers = nn.ModuleList(DecoderLayer(d) for _ in range(layers))
        self.norm, self.output = nn.RMSNorm(d, eps=1e-6), nn.Linear(d, vocabulary, bias=False)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1]).float()
        angles = torch.outer(places, 10_000 ** (-torch.arange(0, self.k, 2).float() / self.k))
        angles = torch.cat((angles, angles), -1)
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, angles.cos(), angles.sin())
        return self.output(self.norm(x))


def decoder():
    return Decoder(), (torch.randint(1000, (2, 256)),), lambda model, x: next_token_loss(model(x), x)


class Recurrent(nn.Module):
    """An LSTM that runs cell by cell, since oneDNN and cuDNN save one block of memory for a whole LSTM."""

    def __init__(self, vocabulary=1000, d=128):
        super().__init__()
        self.embedding, self.cell, self.output = nn.Embedding(vocabulary, d), nn.LSTMCell(d, d), nn.Linear(d, vocabulary)

    def forward(self, tokens):
        x = self.embedding(tokens)
        h = c = torch.zeros(x.shape[0], x.shape[2])
        outputs = []
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
            outputs.append(h)
        return self.output(torch.stack(outputs, 1))


def lstm():
    return Recurrent(), (torch.randint(1000, (2, 16)),), lambda model, x: next_token_loss(model(x), x)


class Operators(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 12, 3, padding=1)
        self.conv3, self.norm = nn.Conv2d(12, 20, 3, padding=1), nn.InstanceNorm2d(8, affine=True)
        self.a, self.b, self.c = nn.Linear(1280, 64), nn.Linear(1280, 64), nn.Linear(64, 48)
        self.d, self.output = nn.Linear(48, 40), nn.Linear(40, 1000)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv2(F.elu(self.norm(self.conv1(x)))), 2))
        x = F.softshrink(self.conv3(x)).flatten(1)
        x = self.a(x) / (1 + self.b(x) ** 2)
        x = self.d(self.c(x).reciprocal())
        return self.output(torch.cumprod(x, -1))


class Upsampled(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 12, 3, padding=1)
        self.output = nn.Linear(12 * 32 * 32, 1000)

    def forward(self, x):
        x = F.interpolate(F.relu(self.conv1(x)), scale_factor=2)
        return self.output(F.relu(self.conv2(x)).flatten(1))


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.conv2, self.linear = nn.Conv2d(8, 12, 3, padding=1), nn.Linear(12 * 16 * 16, 64)
        self.a = nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 64), nn.Tanh())
        self.b = nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 64), nn.Tanh())
        self.output = nn.Linear(64, 1000)

    def forward(self, x):
        x = self.conv2(self.norm(F.relu(self.conv1(x))))
        x = F.gelu(self.linear(x.flatten(1)))
        return self.output(x + self.a(x) + self.b(x))


def small_images(network):
    def make():
        data = torch.randn(2, 3, 16, 16), torch.randint(1000, (2,))
        return network(), data, lambda model, x, label: F.cross_entropy(model(x), label)

    return make


IMAGE_MODELS = (
    "resnet18 resnet50 resnext50_32x4d wide_resnet50_2 alexnet vgg11 vgg16 mobilenet_v2 mobilenet_v3_large "
    "squeezenet1_0 densenet121 efficientnet_b0 convnext_tiny vit_b_16 swin_t"
).split()
MODELS = {name: image_model(name) for name in IMAGE_MODELS}
MODELS |= {"bert": bert, "gpt2": gpt2, "decoder": decoder, "lstm": lstm}
MODELS |= {network.__name__.lower(): small_images(network) for network in (Operators, Upsampled, Normed)}
# The kernel does not support f32.
FLASH_MODELS = {
    "vit_b_16_flash": with_flash(image_model("vit_b_16")),
    "gpt2_flash": with_flash(lambda: gpt2("sdpa")),
}
MODELS |= FLASH_MODELS
