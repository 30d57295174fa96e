# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

# What is wrong in a config.json, in a header of weights and in an index of these is told of, with its place and
# what would be right, and nothing is written.

import json
import pathlib
import struct
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
failed = []


def import_in(folder, expected):
    command = ["netc", "import", "config.json", "-o", "model.net"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode != 1 or expected not in done.stderr or (folder / "model.net").exists():
        failed.append(f"expected {expected}\n{done.stderr}")


def config(text, expected):
    (folder / "config.json").write_text(text)
    import_in(folder, "config.json:" + expected)


def gpt2(more, expected):
    config('{ "model_type": "gpt2",\n  ' + more + " }", expected)


config('{ "model_type": "gpt2",\n  "n_layer": }', "2:14: error: syntax error while parsing value - unexpected '}'; expected '[', '{', or a literal [json-broken]")
config("", "1:1: error: syntax error while parsing value - unexpected end of input; expected '[', '{', or a literal [json-broken]")
config('{ "n_layer": 1e999 }', "1:19: error: number overflow parsing '1e999' [json-broken]")
config('{ "model_type": "gpt2", "\\u001b[31m": "\\u202e" }', '1:25: error: `\\u001b[31m` is "\\u202e", and netc does not know')
config("[" * 100, "1:65: error: nested more than 64 deep, which nothing is that netc imports [json-too-deep]")
config('{ "n_layer": 1, "n_layer": 2 }', "1:17: error: the key `n_layer` is there twice [json-key-twice]")
config('{}\0{', "1:3: error: a null character is no text [json-broken]")
config("[1]", "1:1: error: a config is an object, `{ \"model_type\": .. }`, not [1] [json-no-object]")
config("{}", "1:1: error: `model_type` names the family of the model; netc knows bert, deepseek_v2, deepseek_v3, distilbert, gemma, gemma2, gemma3_text, gpt2, gpt_neox, gpt_oss, llama, mistral, mixtral, olmo2, phi, phi3, qwen2, qwen2_moe, qwen3, qwen3_moe, t5, vit, whisper [config-no-family]")
config('{ "model_type": 3 }', "1:3: error: `model_type` names the family of the model; netc knows bert, ")
config('{ "model_type": "gpt3" }', "1:3: error: netc knows no family `gpt3`; did you mean `gpt2`?; it knows bert, deepseek_v2, deepseek_v3, distilbert, gemma, gemma2, gemma3_text, gpt2, gpt_neox, gpt_oss, llama, mistral, mixtral, olmo2, phi, phi3, qwen2, qwen2_moe, qwen3, qwen3_moe, t5, vit, whisper; of any model, `netc.from_torch` in Python makes a specification [config-unknown-family]")
config('{ "model_type": "deepseek_v2" }', "1:1: error: `num_experts_per_tok` is not there, and `deepseek_v2` has no default of it [config-missing-key]")
config('{ "model_type": "deepseek_v2", "num_experts_per_tok": null }', "1:32: error: `num_experts_per_tok` is null; the net of `deepseek_v2` takes a whole number above 0 [config-wrong-value]")
gpt2('"architectures": ["GPT2ForTokenClassification"]', "2:3: error: `architectures` is [\"GPT2ForTokenClassification\"]; of this family netc knows GPT2LMHeadModel, GPT2Model [config-unknown-class]")
gpt2('"n_head": 12, "n_heads": 8', "2:17: error: `n_heads` is 8, and netc does not know what that changes in `gpt2`; did you mean `n_head`?; if it changes no size, take it out of the file [config-unknown-key]")
gpt2('"scale_attn_weights": false', "2:3: error: `scale_attn_weights` is false; the net of `gpt2` takes true [config-wrong-value]")
gpt2('"activation_function": "snake"', "2:3: error: `activation_function` is \"snake\"; the net of `gpt2` takes \"silu\", \"swish\", \"gelu\", \"gelu_new\", \"gelu_pytorch_tanh\"")
for value in '"12"', "0", "-1", "1.5", "null", "[12]":
    gpt2(f'"n_layer": {value}', f"2:3: error: `n_layer` is {value}; the net of `gpt2` takes a whole number above 0 [config-wrong-value]")
for value in 2_000_000_000_000, 2**63:
    gpt2(f'"n_layer": {value}', f"2:3: error: `n_layer` is {value}; the net of `gpt2` takes a whole number up to 1099511627776 [config-wrong-value]")
gpt2('"tie_word_embeddings": 1', "2:3: error: `tie_word_embeddings` is 1; the net of `gpt2` takes true or false [config-wrong-value]")
gpt2('"resid_pdrop": "much"', "2:3: error: `resid_pdrop` is \"much\"; the net of `gpt2` takes a number from 0 to 1 [config-wrong-value]")
config('{ "model_type": "deepseek_v3", "n_shared_experts": -1 }', "1:32: error: `n_shared_experts` is -1; the net of `deepseek_v3` takes a whole number [config-wrong-value]")
config('{ "model_type": "vit", "id2label": 3 }', "1:24: error: `id2label` is 3; the net of `vit` takes an object with an entry for each [config-wrong-value]")
gpt2('"n_embd": 8, "n_head": 3', "2:3: error: `n_embd` is 8, `n_head` is 3: the heads divide the features [config-impossible]")
llama = '{ "model_type": "llama",\n  "hidden_size": 8, "num_attention_heads": 3 }'
config(llama, "2:3: error: `hidden_size` is 8, `num_attention_heads` is 3: the heads divide the features [config-impossible]")
config(
    '{ "model_type": "mixtral", "num_local_experts": 2,\n  "num_experts_per_tok": 3 }',
    "1:28: error: `num_local_experts` is 2, `num_experts_per_tok` is 3: it is how many of the experts a row goes to [config-impossible]",
)
config('{ "model_type": "whisper", "encoder_layers": 2,\n  "num_hidden_layers": 7 }', "2:3: error: `num_hidden_layers` is 7; the net of `whisper` takes what other keys say, `layers = 2` [config-wrong-value]")
config('{ "model_type": "gpt_neox", "partial_rotary_factor": 0.5 }', "1:29: error: `partial_rotary_factor` is 0.5; the net of `gpt_neox` takes what other keys say, `share = 0.25` [config-wrong-value]")
config('{ "model_type": "t5", "is_gated_act": true }', "1:23: error: `is_gated_act` is true; the net of `t5` takes what other keys say, `gated = false`")
config('{ "model_type": "t5", "feed_forward_proj": "gated-gelu", "is_gated_act": true,\n  "dense_act_fn": "relu" }', "2:3: error: `dense_act_fn` is \"relu\"; the net of `t5` takes what other keys say, `act = gelu_tanh`")
config('{ "model_type": "phi", "hidden_size": 12, "num_attention_heads": 4 }', "1:1: error: no net has these sizes: rotary positions turn pairs of the features of a head; here turned = 1.5 [config-impossible]")
config('{ "model_type": "llama", "hidden_size": 60, "num_attention_heads": 4 }', "1:1: error: no net has these sizes: rotary positions turn pairs of the features of a head; here turned = 15 [config-impossible]")
config('{ "model_type": "llama", "head_dim": 15 }', "1:1: error: no net has these sizes: rotary positions turn pairs of the features of a head; here turned = 15 [config-impossible]")

(folder / "config.json").unlink()
import_in(folder, "config.json:1:1: error: cannot be read: No such file or directory [import-cannot-read]")

# Weights of one tensor beside a config that asks for others: what a header says is checked before that.
(folder / "config.json").write_text('{ "model_type": "gpt2", "n_layer": 1, "n_embd": 4, "n_head": 2, "vocab_size": 5, "n_positions": 3 }')
weights = folder / "model.safetensors"


def header(text, expected, size=None, data=0):
    text = text if isinstance(text, bytes) else text.encode()
    weights.write_bytes(struct.pack("<Q", len(text) if size is None else size) + text + bytes(data))
    import_in(folder, "model.safetensors:1:1: error: the header of a file of weights is wrong: " + expected)


def tensor(expected, data=8, **members):
    header(json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **members}}), expected, data=data)


weights.write_bytes(b"\0\0\0")
import_in(folder, "the header of a file of weights is wrong: the file has less than 8 bytes [weights-header]")
weights.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
import_in(folder, "the header of a file of weights is wrong: it is a pointer of Git LFS; `git lfs pull` fetches the file [weights-header]")
header("{}", "it is said to have 18446744073709551615 bytes, of at most 2 [weights-header]", size=2**64 - 1)
header("{}", "it is said to have 3 bytes, of at most 2", size=3)
header("{", "parse error at line 1, column 2: syntax error while parsing object key - unexpected end of input; expected string literal")
header("[]", "an unexpected list")
header("null", "an unexpected null")
header("5", "an unexpected number")
header('"w"', "an unexpected text")
header("[" * 100_000, "an unexpected list")
header('{"w":' * 100_000, "nested too deep")
header('{"w": {}, "w": {}}', "`w` lacks its type, shape or place")
header('{"w": {"dtype": "U8", "shape": [], "data_offsets": [0, 1]}, "w": {}}', "`w` is there twice", data=1)
tensor("`w` has the unknown type `F31`", dtype="F31")
tensor("`w` has an unknown member `device`", device="cuda")
tensor("an unexpected list", shape=[[2]])
tensor("an unexpected truth value", shape=[True])
tensor("a negative number", shape=[-2])
tensor("a number with a fraction", shape=[2.5])
tensor("the number 1180591620717411303424, which is too large", shape=[2**70])
tensor("`w` has too many numbers", shape=[1] * 17)
tensor("`w` has too many numbers", data_offsets=[0, 8, 8])
tensor("the shape of `w` is too large", shape=[2**40, 2**40])
tensor("`w` has the wrong number of bytes for its shape", shape=[3])
tensor("`w` has the wrong number of bytes for its shape", data_offsets=[8, 0])
tensor("its weights have 8 bytes, and the file 9 behind the header", data=9)
tensor("its weights overlap, or leave a gap", data_offsets=[4, 12], data=12)

# Names and shapes that do not follow from the config.
names = {
    "wte.weight": [5, 4], "wpe.weight": [3, 4], "h.0.ln_1.weight": [4], "h.0.ln_1.bias": [4], "h.0.attn.c_attn.weight": [4, 12],
    "h.0.attn.c_attn.bias": [12], "h.0.attn.c_proj.weight": [4, 4], "h.0.attn.c_proj.bias": [4], "h.0.ln_2.weight": [4],
    "h.0.ln_2.bias": [4], "h.0.mlp.c_fc.weight": [4, 16], "h.0.mlp.c_fc.bias": [16], "h.0.mlp.c_proj.weight": [16, 4],
    "h.0.mlp.c_proj.bias": [4], "ln_f.weight": [4], "ln_f.bias": [4],
}  # fmt: skip


def write(path, shapes):
    text, end = {}, 0
    for name, shape in shapes.items():
        begin = end
        end += 2
        for size in shape:
            end = begin + (end - begin) * size
        text[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(text).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))


def wrong(shapes, expected):
    write(weights, shapes)
    import_in(folder, "model.safetensors:1:1: error: " + expected)


wrong({**names, "wpe.weight": [4, 4]}, "`wpe.weight` is [4, 4]; by the config it is [3, 4] [weights-shape]")
wrong({**names, "h.1.ln_1.weight": [4]}, "the weight `h.1.ln_1.weight`, [4], is not in a model of this config [weights-unknown]")
missing = dict(names)
del missing["ln_f.bias"]
wrong(missing, "there is no weight `transformer.ln_f.bias`, which by the config is [4] [weights-missing]")
tied = (folder / "config.json").read_text()
(folder / "config.json").write_text(tied.replace(" }", ', "tie_word_embeddings": false }'))
wrong(names, "there is no weight `lm_head.weight`, which by the config is [5, 4] [weights-missing]")
(folder / "config.json").write_text(tied)

# With what files may have beside them, they are right.
write(weights, {**names, "h.0.attn.bias": [1, 1, 3, 3], "lm_head.weight": [5, 4]})
done = subprocess.run(["netc", "import", "config.json"], cwd=folder, check=True, capture_output=True, text=True)
assert done.stdout.endswith("expect gpt2.params == 284\n"), done.stdout

# Several files, and an index of them.
write(folder / "a.safetensors", names)
weights.unlink()


def index(value, expected):
    (folder / "model.safetensors.index.json").write_text(json.dumps(value))
    import_in(folder, "model.safetensors.index.json:1:1: error: " + expected)


index({}, "the index of files of weights is wrong: `weight_map` is missing [weights-index]")
index({"weight_map": {"w": 3}}, "the index of files of weights is wrong: `w` has no file")
for name in "../a.safetensors", "/etc/passwd", "", ".", "a\0b":
    index({"weight_map": {"w": name}}, f"the index of files of weights is wrong: `w` is in {json.dumps(name)}, which is no file of this folder")
everything = dict.fromkeys(names, "a.safetensors")
index({"weight_map": {**everything, "w": "a.safetensors"}}, "the index of files of weights is wrong: `w` is not in `a.safetensors`")
del everything["ln_f.bias"]
index({"weight_map": everything}, "the index of files of weights is wrong: `ln_f.bias` is in `a.safetensors`, and not listed there")
(folder / "model.safetensors.index.json").write_text('{"weight_map": {"w": "b.safetensors"}}')
import_in(folder, "b.safetensors:1:1: error: cannot be read: No such file or directory [import-cannot-read]")
(folder / "b.safetensors").mkdir()
import_in(folder, "b.safetensors:1:1: error: cannot be read: it is not a regular file [import-cannot-read]")

print(*failed, sep="\n")
sys.exit(len(failed) > 0)
