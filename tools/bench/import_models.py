# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Imports modules of PyTorch, the classification networks of torchvision and families of transformers, and compares their
parameters and the FLOP of a forward and a backward pass with what PyTorch counts, as `expect`s that netc decides.

    python3 tools/bench/import_models.py --netc build/release/bin/netc [--keep folder] [name ..]

It needs torch, torchvision and transformers, and writes a line for each model: `equal`, or what is different. With
`--keep` the graphs stay in a folder, and are not made again.
"""

import argparse
import json
import logging
import math
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))

IMAGE = {"inception_v3": 299}
LENGTH = 32
PARTS = ["lstm", "gru", "rnn", "rnn_relu", "lstm_cell", "gru_cell", "rnn_cell", "given_states", "layers", "bags", "masked_attention", "multihead_attention", "encoder", "decoder", "transformer", "resnet_fpn_backbone"]
# The class of each family, and the settings of a small model.
SMALL = {"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 256}
FAMILIES = {
    "gpt2": ("GPT2LMHeadModel", {"n_embd": 64, "n_layer": 3, "n_head": 4, "vocab_size": 256}),
    "llama": ("LlamaForCausalLM", {**SMALL, "num_key_value_heads": 2}),
    "mistral": ("MistralForCausalLM", {**SMALL, "num_key_value_heads": 2, "sliding_window": None}),
    "mixtral": ("MixtralForCausalLM", {**SMALL, "num_key_value_heads": 2, "num_local_experts": 4}),
    "qwen2": ("Qwen2ForCausalLM", {**SMALL, "num_key_value_heads": 2}),
    "qwen3": ("Qwen3ForCausalLM", {**SMALL, "num_key_value_heads": 2, "head_dim": 16}),
    "gemma": ("GemmaForCausalLM", {**SMALL, "num_key_value_heads": 2, "head_dim": 16}),
    "gemma2": ("Gemma2ForCausalLM", {**SMALL, "num_key_value_heads": 2, "head_dim": 16}),
    "gemma3_text": ("Gemma3ForCausalLM", {**SMALL, "num_key_value_heads": 2, "head_dim": 16}),
    "phi": ("PhiForCausalLM", SMALL),
    "phi3": ("Phi3ForCausalLM", {**SMALL, "num_key_value_heads": 2, "pad_token_id": 0}),
    "deepseek_v2": ("DeepseekV2ForCausalLM", {**SMALL, "num_key_value_heads": 4, "first_k_dense_replace": 1, "n_routed_experts": 8, "moe_intermediate_size": 32, "num_experts_per_tok": 2, "q_lora_rank": 32, "kv_lora_rank": 32, "qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim": 16}),
    "llama4_text": ("Llama4ForCausalLM", {**SMALL, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size_mlp": 128, "num_local_experts": 4, "pad_token_id": 0}),
    "deepseek_v3": ("DeepseekV3ForCausalLM", {**SMALL, "num_key_value_heads": 4, "first_k_dense_replace": 1, "n_routed_experts": 8, "moe_intermediate_size": 32, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2, "q_lora_rank": 32, "kv_lora_rank": 32, "qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim": 16}),
    "bert": ("BertForMaskedLM", SMALL),
    "distilbert": ("DistilBertForMaskedLM", {"dim": 64, "n_layers": 3, "n_heads": 4, "hidden_dim": 128, "vocab_size": 256}),
    "t5": ("T5ForConditionalGeneration", {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 3, "num_heads": 4, "vocab_size": 256}),
    "vit": ("ViTForImageClassification", {k: v for k, v in SMALL.items() if k != "vocab_size"}),
    "whisper": ("WhisperForConditionalGeneration", {"d_model": 64, "encoder_layers": 3, "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "vocab_size": 256, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}),
}  # fmt: skip
MASKED = "_masked"  # these once more with an attention_mask
FAMILIES |= {name + MASKED: FAMILIES[name] for name in ("gpt2", "llama", "bert", "t5")}


def family(name):
    """The class of a family, and the configuration of a small model."""
    import transformers

    kind, settings = FAMILIES[name]
    return kind, transformers.AutoConfig.for_model(name.removesuffix(MASKED), **settings)


def image_model(name):
    """The module, and a function from the batch size to its inputs."""
    import torch
    import torchvision

    # RegNets read values of tensors in their constructors, and tensors on `meta` have none.
    device = "cpu" if name.startswith("regnet") else "meta"
    with torch.device(device):
        module = getattr(torchvision.models, name)(weights=None)
    size = IMAGE.get(name, 224)
    return module.to("meta"), lambda count: {"x": torch.zeros(count, 3, size, size, device="meta")}


def language_model(name):
    import torch
    import transformers

    kind, config = family(name)
    with torch.device("meta"):
        module = getattr(transformers, kind)(config)

    def inputs(count):
        ids = torch.zeros(count, LENGTH, dtype=torch.long, device="meta")
        if name == "vit":
            return {"pixel_values": torch.zeros(count, 3, 224, 224, device="meta")}
        if name == "whisper":
            return {"input_features": torch.zeros(count, 80, 3000, device="meta"), "decoder_input_ids": ids, "use_cache": False}
        text = {"input_ids": ids} | ({"attention_mask": torch.ones_like(ids)} if name.endswith(MASKED) else {})
        if name.startswith("t5"):
            return {**text, "decoder_input_ids": torch.zeros(count, LENGTH // 2, dtype=torch.long, device="meta"), "use_cache": False}
        return text | ({} if name.startswith(("bert", "distilbert")) else {"use_cache": False})

    return module, inputs


def by_steps(cell):
    """A module that calls a recurrent cell once per step."""
    import torch

    class Steps(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = cell

        def forward(self, x):
            state, seen = None, []
            for step in range(x.shape[1]):
                state = self.cell(x[:, step], state)
                seen.append(state[0] if isinstance(state, tuple) else state)
            return torch.stack(seen, 1)

    return Steps()


def translator(width):
    """A GRU that starts from the states of another, and an LSTM that starts from trained states."""
    import torch
    from torch import nn

    class Translator(nn.Module):
        def __init__(self):
            super().__init__()
            self.read, self.write = (nn.GRU(width, 32, num_layers=2, batch_first=True) for _ in range(2))
            self.h, self.c = (nn.Parameter(torch.zeros(1, 1, 16)) for _ in range(2))
            self.last = nn.LSTM(32, 16, batch_first=True)

        def forward(self, source, target):
            _, state = self.read(source)
            y, _ = self.write(target, state)
            return self.last(y, tuple(each.expand(-1, y.shape[0], -1).contiguous() for each in (self.h, self.c)))[0]

    return Translator()


def layers():
    """What netc says in several ops, and what PyTorch does."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3, padding=1, padding_mode="reflect")
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.norms = nn.Sequential(nn.InstanceNorm2d(8, affine=True), nn.RMSNorm([8, 8, 8]), nn.CELU(2.0), nn.Softshrink())
            # Not nn.Bilinear, whose products FlopCounterMode does not count.
            self.pair, self.head = nn.Linear(24, 4), nn.utils.parametrizations.weight_norm(nn.Linear(8, 2))

        def forward(self, x):
            y = self.norms(self.up(self.conv(x[:, :, ::3, :4])[:, :, :, [0, 2, 1, 3]]))
            first, second = functional.adaptive_max_pool2d(y, 1).flatten(1).repeat(1, 4).unflatten(1, (2, 16)).unbind(1)
            y = torch.cat([self.pair(torch.cat([first, y.std((2, 3))], 1)), torch.logsumexp(y, (2, 3))[:, :4]], 1)
            return self.head(torch.lerp(y, y.repeat_interleave(2, 1)[:, ::2], 0.5))

    return Layers()


def masked_attention(width):
    """With a mask that goes in, and the sequence in front inside."""
    import torch
    from torch import nn

    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(width, 4)

        def forward(self, x, hidden):
            x = x.transpose(0, 1)
            return self.attention(x, x, x, key_padding_mask=hidden, need_weights=False)[0].transpose(0, 1)

    return Masked()


def part(name):
    """A module of torch.nn, or a typical part of a network."""
    import torch
    from torch import nn

    width, heads, length = 64, 4, 10
    sequence = lambda count: torch.zeros(count, length, width, device="meta")
    with torch.device("meta"):
        if name == "resnet_fpn_backbone":
            from torchvision.models.detection.backbone_utils import resnet_fpn_backbone

            module = resnet_fpn_backbone(backbone_name="resnet50", weights=None, norm_layer=nn.BatchNorm2d, trainable_layers=5)
            return module, lambda count: {"x": torch.zeros(count, 3, 224, 224, device="meta")}
        if name == "rnn_relu":
            return nn.RNN(width, 32, nonlinearity="relu", batch_first=True), lambda count: {"input": sequence(count)}
        if name.endswith("_cell"):
            kind = {"lstm_cell": nn.LSTMCell, "gru_cell": nn.GRUCell, "rnn_cell": nn.RNNCell}[name]
            return by_steps(kind(width, 32)), lambda count: {"x": sequence(count)[:, :3]}
        if name == "layers":
            return layers(), lambda count: {"x": torch.zeros(count, 3, 10, 6, device="meta")}
        if name == "bags":
            return nn.EmbeddingBag(50, width, mode="mean"), lambda count: {"input": torch.zeros(count, length, dtype=torch.long, device="meta")}
        if name == "masked_attention":
            hidden = lambda count: torch.zeros(count, length, dtype=torch.bool, device="meta")
            return masked_attention(width), lambda count: {"x": sequence(count), "hidden": hidden(count)}
        if name == "given_states":
            return translator(width), lambda count: {"source": sequence(count), "target": sequence(count)[:, :6]}
        if name in ("lstm", "gru", "rnn"):
            module = getattr(nn, name.upper())(width, 32, num_layers=2, bidirectional=name == "gru", batch_first=True)
            return module, lambda count: {"input": sequence(count)}
        if name == "multihead_attention":
            return nn.MultiheadAttention(width, heads, batch_first=True), lambda count: {
                "query": sequence(count), "key": sequence(count), "value": sequence(count), "need_weights": False,
            }  # fmt: skip
        options = {"d_model": width, "nhead": heads, "dim_feedforward": 128, "batch_first": True}
        if name == "encoder":
            return nn.TransformerEncoder(nn.TransformerEncoderLayer(**options), 3), lambda count: {"src": sequence(count)}
        if name == "decoder":
            module = nn.TransformerDecoder(nn.TransformerDecoderLayer(**options, activation="gelu", norm_first=True), 2)
            return module, lambda count: {"tgt": sequence(count)[:, :6], "memory": sequence(count)}
        return nn.Transformer(**options, num_encoder_layers=2, num_decoder_layers=2), lambda count: {
            "src": sequence(count), "tgt": sequence(count)[:, :6],
        }  # fmt: skip


def tensors(value):
    """The floating-point results of a module, from which a loss can be computed."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() and value.requires_grad else []
    members = value.values() if hasattr(value, "values") else value if isinstance(value, (list, tuple)) else []
    return [tensor for member in members for tensor in tensors(member)]


def count(module, inputs):
    """Counts the FLOP of a forward and a backward pass, and those that FlopCounterMode counts too many for gradients of grouped
    convolutions.

    Attention is counted as its products, since `meta` has no fused kernels. These compute the scores again.
    """
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode, conv_backward_flop

    formula, surplus = conv_backward_flop.__wrapped__, 0

    def convolution_backward(*shapes, out_shape, **settings):
        nonlocal surplus
        *before, groups, mask = shapes
        weight = formula(*before, groups, [False, mask[1], False], out_shape=out_shape)
        surplus += weight - weight // groups
        return formula(*shapes, out_shape=out_shape) - weight + weight // groups

    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False, custom_mapping={torch.ops.aten.convolution_backward: convolution_backward}) as flop:
        made = module(**inputs)
        forward = flop.get_total_flops()
        sum(tensor.sum() for tensor in tensors(made)).backward()
    return forward, flop.get_total_flops() - forward, surplus


def graph_of(name):
    """The graph of a model, with PyTorch's counts."""
    import torch

    from netc.torch_graph import export

    module, inputs = (language_model if name in FAMILIES else part if name in PARTS else image_model)(name)
    graph = export(module, kwargs=inputs(3), name=name)
    sizes = {text: size for value in graph["inputs"] for text, size in zip(value["shape"], inputs(1)[value["name"]].shape) if text in graph["symbols"]}
    parameters = sum(p.numel() for p in module.parameters())
    # Train image networks: `eval` leaves out some of their heads. Batch norms need two examples.
    examples = 1 if name in FAMILIES else 2
    given = inputs(examples)
    if name in FAMILIES:
        import transformers

        # Masks depend on values, which `meta` does not have. FlopCounterMode does not count the op that computes all experts.
        kind, config = family(name)
        config._experts_implementation = "eager"
        module = getattr(transformers, kind)(config)
        values = lambda key, value: torch.full_like(value, key == "attention_mask", device="cpu") if hasattr(value, "to") else value
        given = {key: values(key, value) for key, value in given.items()}
    forward, backward, surplus = count(module.train(examples == 2), given)
    graph["counted"] = {
        "parameters": parameters,
        "examples": examples,
        "forward": forward,
        "backward": backward,
        "surplus": surplus,
        "sizes": {text: size for text, size in sizes.items() if text != "N"},
    }
    return graph


def unread(graph):
    """The number of parameters that no op reads. netc leaves them out."""
    read = {name for node in graph["nodes"] for name in node["in"]}
    return sum(math.prod(weight["shape"]) for weight in graph["weights"] if weight["name"] not in read)


def expectations(graph):
    """Expects for an imported network: it must cost what PyTorch counts."""
    counted, name = graph["counted"], graph["name"]
    sizes = "".join(f"{axis} = {size}; " for axis, size in counted["sizes"].items())
    names = [output["name"] if output["name"].isidentifier() else f"m{output['name']}" for output in graph["outputs"]]
    loss = " + ".join(f"mean({name})" for name in names)
    return f"""
train {name} as run {{ {sizes}batch = {counted["examples"]}; duration = 1 step; optimizer = SGD(lr = 1); loss = {loss} }}
expect {name}.params == {counted["parameters"] - unread(graph)}
""" + "".join(f"expect run.step.{key} == {counted[key]} FLOP\n" for key in ("forward", "backward") if counted.get(key))


def compare(netc, path):
    """Returns `equal`, or the difference."""
    graph = json.loads(path.read_text())
    done = subprocess.run([netc, "import", str(path)], capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip().splitlines()[0].split("error: ", 1)[-1]
    path.with_suffix(".net").write_text(done.stdout + expectations(graph))
    done = subprocess.run([netc, "--check", str(path.with_suffix(".net"))], capture_output=True, text=True)
    if done.returncode == 0:
        surplus, rest = graph["counted"]["surplus"], unread(graph)
        return (
            "equal"
            + (f", without {surplus} FLOP that PyTorch counts too often, of gradients of grouped convolutions" if surplus else "")
            + (f", without {rest} parameters that nothing reads" if rest else "")
        )
    return " | ".join(line.strip() for line in done.stderr.splitlines() if "error" in line or "is " in line)[:300]


def options(about):
    """A parser for the options of these programs."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--netc", default="netc")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    return parser


class NoGraph(Exception):
    """There is nothing to compare, for a reason that is not netc's."""


def run(given, names, make):
    """Compares all models, and returns whether one differs. `make` returns a graph by name and folder, or raises NoGraph."""
    folder = given.keep or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    equal = compared = 0
    for name in names:
        path, start = folder / f"{name}.json", time.time()
        try:
            if not path.exists():
                path.write_text(json.dumps(make(name, folder)))
            result, compared = compare(given.netc, path), compared + 1
        except NoGraph as reason:
            result = str(reason)[:300]
        except Exception as problem:
            compared += 1
            result = f"{type(problem).__name__}: {problem}".splitlines()[0][:300]
        equal += result.startswith("equal")
        print(f"{name:24} {time.time() - start:5.0f} s  {result}", flush=True)
    print(f"{equal} of {compared} are equal")
    return equal != compared


def main():
    given = options(__doc__).parse_args()
    names = given.names
    if not names:
        import torchvision

        names = [*PARTS, *FAMILIES, *torchvision.models.list_models(module=torchvision.models)]
    return run(given, names, lambda name, _: graph_of(name))


if __name__ == "__main__":
    sys.exit(main())
