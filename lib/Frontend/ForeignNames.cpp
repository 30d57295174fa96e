// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Names of PyTorch, Keras and JAX, and their counterparts.

#include "lib/Frontend/ForeignNames.h"

#include "dialect/Spelling.h"
#include "lib/Std/Std.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace {
struct ForeignName {
  StringRef name;
  StringRef here; ///< the name here; the row applies where that is a known name
  StringRef hint = ""; ///< replaces `did you mean`
};
} // namespace

static constexpr StringRef blocksHaveOneName =
    "; blocks and types have names of their own, as `Linear(10)` and `f32`";
static constexpr StringRef ofOptimizer =
    "; it is the optimizer's, as in `SGD(lr = 0.1)`";
static constexpr StringRef isAt =
    "; matrices are multiplied by `a @ b`, or by `einsum`";
static constexpr StringRef isNumber =
    "; a number beside a tensor stands for a tensor of it, as in `x + 1`";
static constexpr StringRef isRepeated =
    "; copies of a block are `repeat 3 { B }`, and blocks a list, `[A, B]`";
static constexpr StringRef isPiped = "; blocks follow each other by `|>`";
static constexpr StringRef inEpochs = "; write `duration = 3 epochs`";
static constexpr StringRef inSteps = "; write `duration = 1000 steps`";
static constexpr StringRef onDevices = "; write `hardware = 8 V100`";
static constexpr StringRef inTime = "; write `took = 3 days`";
static constexpr StringRef isOfProducts =
    "; it is a format of products, not of values: a run says `precision = "
    "tf32`, and types are `f64`, `f32`, `bf16` and `f16`";
static constexpr StringRef isOf8Bits =
    "; 8 bits are a format of products, not of inputs and weights: a run says "
    "`precision = fp8(DelayedScaling)`, and types are `f64`, `f32`, `bf16` and "
    "`f16`";
static constexpr StringRef staysNumbers =
    "; classes stay numbers, which `cross_entropy` and `Embedding` take";
static constexpr StringRef nothingToSet =
    "; sizes before it are those of the tensor that it is given";

static constexpr StringRef isSchedule =
    "; the schedule is the optimizer's learning rate, as in `SGD(lr = "
    "cosine(0.1))`";
static constexpr StringRef isWarmup =
    "; it is of a schedule, as in `SGD(lr = cosine(0.1, warmup = 100))`";
static constexpr StringRef isLength =
    "; a length is a free axis of the net, as `T` in `f32[N, T, 8]`, and a run "
    "gives it a size, `T = 512`";
static constexpr StringRef inParts =
    "; `batch` is that of a step, and `accumulate = 4` goes through it in "
    "parts";
static constexpr StringRef isWhole =
    "; leave it out: each device is taken to hold the whole network and its "
    "share of the batch";

static const ForeignName rows[] = {
    // Blocks and ops.
    {"Dense", "Linear"},
    {"FullyConnected", "Linear"},
    {"Conv1d", "Conv"},
    {"Conv2d", "Conv"},
    {"Conv3d", "Conv"},
    {"Conv1D", "Conv"},
    {"Conv2D", "Conv"},
    {"Conv3D", "Conv"},
    {"Convolution", "Conv"},
    {"DepthwiseConv2D", "Conv", "; write `Conv(x.C, k, groups = x.C)`"},
    {"ConvTranspose1d", "ConvT"},
    {"ConvTranspose2d", "ConvT"},
    {"ConvTranspose3d", "ConvT"},
    {"ConvTranspose", "ConvT"},
    {"Conv2DTranspose", "ConvT"},
    {"BatchNorm1d", "BatchNorm"},
    {"BatchNorm2d", "BatchNorm"},
    {"BatchNorm3d", "BatchNorm"},
    {"BatchNormalization", "BatchNorm"},
    {"SyncBatchNorm", "BatchNorm"},
    {"LayerNormalization", "LayerNorm"},
    {"GroupNormalization", "GroupNorm"},
    {"InstanceNorm2d", "InstanceNorm"},
    {"MaxPool1d", "MaxPool"},
    {"MaxPool2d", "MaxPool"},
    {"MaxPool3d", "MaxPool"},
    {"MaxPooling2D", "MaxPool"},
    {"AvgPool1d", "AvgPool"},
    {"AvgPool2d", "AvgPool"},
    {"AvgPool3d", "AvgPool"},
    {"AveragePooling2D", "AvgPool"},
    {"AdaptiveAvgPool2d", "AdaptiveAvgPool"},
    {"GlobalAveragePooling2D", "GlobalAvgPool"},
    {"Dropout2d", "Dropout"},
    {"DropPath", "StochasticDepth"},
    {"MultiheadAttention", "MHA"},
    {"MultiHeadAttention", "MHA"},
    {"MultiHeadDotProductAttention", "MHA"},
    {"SelfAttention", "MHA"},
    {"Attention", "MHA"},
    {"scaled_dot_product_attention", "attention"},
    {"TransformerEncoderLayer", "EncoderLayer"},
    {"TransformerDecoderLayer", "DecoderLayer"},
    {"FeedForward", "FFN"},
    {"SwiGLU", "GatedFFN"},
    {"PatchEmbed", "Patches"},
    {"SqueezeExcitation", "SqueezeExcite"},
    {"RotaryEmbedding", "RoPE"},
    {"PositionalEncoding", "Sinusoid"},
    {"PositionEmbedding", "Position"},
    {"Upsample", "upsample"},
    {"UpSampling2D", "upsample"},
    {"interpolate", "upsample"},
    {"Flatten", "flatten"},
    {"Softmax", "softmax"},
    {"LeakyReLU", "leaky_relu"},
    {"SiLU", "silu"},
    {"Swish", "silu"},
    {"swish", "silu"},
    {"Hardswish", "hardswish"},
    {"CrossEntropyLoss", "cross_entropy"},
    {"SparseCategoricalCrossentropy", "cross_entropy"},
    {"CategoricalCrossentropy", "cross_entropy"},
    {"BCELoss", "bce"},
    {"BCEWithLogitsLoss", "bce"},
    {"BinaryCrossentropy", "bce"},
    {"MSELoss", "mse"},
    {"MeanSquaredError", "mse"},
    {"L1Loss", "l1"},
    {"one_hot", "cross_entropy", staysNumbers},
    {"OneHot", "cross_entropy", staysNumbers},
    {"cat", "concat"},
    {"concatenate", "concat"},
    {"Concatenate", "concat"},
    {"permute", "rearrange"},
    {"view", "reshape"},
    {"squeeze", "reshape"},
    {"unsqueeze", "reshape"},
    {"expand_dims", "reshape"},
    {"masked_fill", "where"},
    {"Reshape", "reshape"},
    {"chunk", "split"},
    {"matmul", "linear", isAt},
    {"bmm", "linear", isAt},
    {"tril", "lower_triangle"},
    {"triu", "lower_triangle"},
    {"ones_like", "expand", isNumber},
    {"zeros_like", "expand", isNumber},
    {"full_like", "expand", isNumber},
    {"LSTMCell", "LSTM"},
    {"CosineAnnealingLR", "cosine"},
    {"CosineDecay", "cosine"},
    {"gather", "take"},
    {"topk", "top_k"},
    {"pow", "power", "; a power is written `a ^ b`"},
    {"Parameter", "parameter"},
    {"Sequential", "Linear", isPiped},
    {"ModuleList", "Linear", isRepeated},
    {"RMSProp", "RMSprop"},
    {"checkpoint", "recomputed"},
    {"detach", "stop_gradient"},
    {"repeat", "Linear", isRepeated},
    // Modules and words of Python.
    {"nn", "Linear", blocksHaveOneName},
    {"F", "Linear", blocksHaveOneName},
    {"torch", "Linear", blocksHaveOneName},
    {"tf", "Linear", blocksHaveOneName},
    {"keras", "Linear", blocksHaveOneName},
    {"layers", "Linear", blocksHaveOneName},
    {"jnp", "Linear", blocksHaveOneName},
    {"np", "Linear", blocksHaveOneName},
    {"optim", "SGD", blocksHaveOneName},
    {"optax", "SGD", blocksHaveOneName},
    {"self", "Linear", "; a block's weights belong to it by themselves"},
    {"range", "len", "; a range is written `0..3`"},
    {"enumerate", "len", "; `for i, x in list` counts"},
    {"str", "len", "; nothing converts to a string"},
    {"null", "none"},
    {"nil", "none"},
    {"NULL", "none"},
    {"undefined", "none"},
    {"auto", "none",
     "; nothing is chosen by itself: write a value, for a `loss_scale` perhaps "
     "`dynamic`"},
    {"Infinity", "inf"},
    {"infinity", "inf"},
    {"nan", "inf", "; every number is one, or `inf`"},
    {"NaN", "inf", "; every number is one, or `inf`"},
    {"math", "log",
     "; functions are called by their own names, as in `log(8)`"},
    {"log10", "log", "; write `log(x) / log(10)`"},
    {"ln", "log"},
    {"pi", "inf", "; write 3.14159265358979"},
    // Types.
    {"Tensor", "f32", "; a type is written `f32[N, 8]`"},
    {"string", "f32", "; tensors hold numbers, as in `f32[N, 8]`"},
    {"float64", "f64"},
    {"double", "f64"},
    {"float32", "f32"},
    {"float", "f32"},
    {"fp32", "f32"},
    {"float16", "f16"},
    {"half", "f16"},
    {"fp16", "f16"},
    {"bfloat16", "bf16"},
    {"bfloat", "bf16"},
    {"tf32", "f32", isOfProducts},
    {"f8", "bf16", isOf8Bits},
    {"fp8", "bf16", isOf8Bits},
    {"f8e4m3", "bf16", isOf8Bits},
    {"f8e5m2", "bf16", isOf8Bits},
    {"float8_e4m3fn", "bf16", isOf8Bits},
    {"float8_e5m2", "bf16", isOf8Bits},
    {"int64", "i64"},
    {"long", "i64"},
    {"int32", "i32"},
    {"int", "i32"},
    {"int16", "i16"},
    {"int8", "i8"},
    {"uint8", "u8"},
    // Settings.
    {"out_channels", "out"},
    {"out_features", "out"},
    {"filters", "out"},
    {"units", "out"},
    {"in_channels", "out", nothingToSet},
    {"in_features", "out", nothingToSet},
    {"input_shape", "out", nothingToSet},
    {"kernel_size", "k"},
    {"kernel", "k"},
    {"ksize", "k"},
    {"pool_size", "k"},
    {"scale_factor", "k"},
    {"padding", "pad"},
    {"output_padding", "extra"},
    {"strides", "stride"},
    {"dilation_rate", "dilation"},
    {"use_bias", "bias"},
    {"dim", "over"},
    {"axis", "over"},
    {"num_embeddings", "rows"},
    {"input_dim", "rows"},
    {"vocab_size", "rows"},
    {"embedding_dim", "d"},
    {"embed_dim", "width"},
    {"key_dim", "width"},
    {"head_dim", "width"},
    {"num_heads", "heads"},
    {"nhead", "heads"},
    {"n_heads", "heads"},
    {"num_kv_heads", "kv_heads"},
    {"is_causal", "causal"},
    {"dim_feedforward", "ff"},
    {"activation", "act"},
    {"dropout", "drop"},
    {"dropout", "p"},
    {"rate", "p"},
    {"num_groups", "groups"},
    {"epsilon", "eps"},
    {"negative_slope", "slope"},
    {"betas", "b1", "; write `b1 = 0.9, b2 = 0.999`"},
    {"beta_1", "b1"},
    {"beta_2", "b2"},
    {"beta1", "b1"},
    {"beta2", "b2"},
    {"alpha", "decay"},
    {"learning_rate", "lr"},
    {"wd", "weight_decay"},
    {"l2", "weight_decay"},
    {"decay", "weight_decay"},
    {"requires_grad", "trainable"},
    {"max_norm", "clip"},
    {"clipnorm", "clip"},
    {"grad_clip", "clip"},
    {"warmup_steps", "warmup"},
    // Keys of a run.
    {"N", "batch", "; write `batch = 32`"},
    {"batch_size", "batch"},
    {"bs", "batch"},
    {"global_batch_size", "batch"},
    {"epochs", "duration", inEpochs},
    {"num_epochs", "duration", inEpochs},
    {"n_epochs", "duration", inEpochs},
    {"max_epochs", "duration", inEpochs},
    {"steps", "duration", inSteps},
    {"iterations", "duration", inSteps},
    {"max_steps", "duration", inSteps},
    {"max_iters", "duration", inSteps},
    {"num_steps", "duration", inSteps},
    {"n_steps", "duration", inSteps},
    {"total_steps", "duration", inSteps},
    {"train_steps", "duration", inSteps},
    {"seq_len", "duration", isLength},
    {"seq_length", "duration", isLength},
    {"sequence_length", "duration", isLength},
    {"max_length", "duration", isLength},
    {"context_length", "duration", isLength},
    {"block_size", "duration", isLength},
    {"optim", "optimizer"},
    {"scheduler", "optimizer", isSchedule},
    {"lr_scheduler", "optimizer", isSchedule},
    {"schedule", "optimizer", isSchedule},
    {"warmup", "optimizer", isWarmup},
    {"warmup_steps", "optimizer", isWarmup},
    {"clip", "optimizer",
     "; it is the optimizer's, as in `SGD(lr = 0.1, clip = 1)`"},
    {"grad_clip", "optimizer",
     "; it is the optimizer's, as in `SGD(lr = 0.1, clip = 1)`"},
    {"micro_batch", "accumulate", inParts},
    {"micro_batch_size", "accumulate", inParts},
    {"grad_accum", "accumulate"},
    {"accumulation_steps", "accumulate"},
    {"tp", "hardware", isWhole},
    {"pp", "hardware", isWhole},
    {"dp", "hardware", isWhole},
    {"tensor_parallel", "hardware", isWhole},
    {"pipeline_parallel", "hardware", isWhole},
    {"data_parallel", "hardware", isWhole},
    {"fsdp", "hardware", isWhole},
    {"ddp", "hardware", isWhole},
    {"zero", "hardware", isWhole},
    {"random_seed", "seed"},
    {"lr", "optimizer", ofOptimizer},
    {"learning_rate", "optimizer", ofOptimizer},
    {"weight_decay", "optimizer", ofOptimizer},
    {"momentum", "optimizer", ofOptimizer},
    {"gpus", "hardware", onDevices},
    {"num_gpus", "hardware", onDevices},
    {"n_gpus", "hardware", onDevices},
    {"world_size", "hardware", onDevices},
    {"nodes", "hardware", onDevices},
    {"num_nodes", "hardware", onDevices},
    {"gpu", "hardware", onDevices},
    {"devices", "hardware", onDevices},
    {"device", "hardware", onDevices},
    {"time", "took", inTime},
    {"days", "took", inTime},
    {"hours", "took", inTime},
    {"dtype", "precision"},
    {"amp", "precision"},
    {"mixed_precision", "precision"},
    {"fp16", "precision"},
    {"bf16", "precision"},
    {"criterion", "loss"},
    {"mfu", "utilization"},
    {"accumulate_grad_batches", "accumulate"},
    {"gradient_accumulation_steps", "accumulate"},
    {"gradient_checkpointing", "recompute"},
    {"activation_checkpointing", "recompute"},
    // Keys of a device.
    {"vram", "memory"},
    {"mem", "memory"},
    {"bw", "bandwidth"},
    {"tflops", "peak"},
    {"flops", "peak"},
    {"tdp", "power"},
    {"watts", "power"},
};

std::string netc::hintForForeign(StringRef name,
                                 llvm::ArrayRef<std::string> known) {
  for (const ForeignName &row : rows)
    if (row.name == name && llvm::is_contained(known, row.here))
      return row.hint.empty() ? didYouMean(row.here) : row.hint.str();
  return "";
}

std::string netc::hintForImport(StringRef name) {
  StringRef package =
      name.take_until([](char c) { return c == '/' || c == '.'; });
  static constexpr StringRef packages[] = {"torch", "torchvision", "tensorflow",
                                           "keras", "jax",         "flax",
                                           "optax", "numpy"};
  if (llvm::is_contained(packages, package))
    return "; ops, and the blocks of `std.core`, are there without an import";
  if (name.consume_back("/net.net"))
    return "; write `import \"" + name.str() + ".net\"`";
  for (StringRef file : standardLibraryPaths()) {
    if (file.ends_with(("/" + name).str()))
      return "; write `import " + importNameOf(file) + "`";
    StringRef inFolder = file;
    if (inFolder.consume_front(name.drop_back(StringRef(".net").size())) &&
        inFolder.starts_with("/"))
      return "; import a file of the folder, such as `" + importNameOf(file) +
             "`";
  }
  return "";
}
