// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/OpNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace netc;
using namespace netc::audit;
using llvm::StringRef;

bool netc::audit::movesData(StringRef op) {
  constexpr StringRef ops[] = {"_local_scalar_dense",
                               "_reshape_alias",
                               "_to_copy",
                               "_unsafe_view",
                               "add",
                               "add_",
                               "alias",
                               "as_strided",
                               "cat",
                               "chunk",
                               "clone",
                               "contiguous",
                               "copy_",
                               "detach",
                               "empty",
                               "empty_like",
                               "empty_strided",
                               "expand",
                               "expand_as",
                               "flatten",
                               "item",
                               "lift_fresh",
                               "movedim",
                               "narrow",
                               "permute",
                               "reshape",
                               "resolve_conj",
                               "resolve_neg",
                               "select",
                               "slice",
                               "split",
                               "split_with_sizes",
                               "squeeze",
                               "stack",
                               "t",
                               "to",
                               "transpose",
                               "unbind",
                               "unflatten",
                               "unsqueeze",
                               "view",
                               "view_as"};
  return op.consume_front("aten::") && llvm::is_contained(ops, op);
}

StringRef netc::audit::nodeOf(StringRef name) {
  if (name.consume_front("autograd::engine::evaluate_function: "))
    return name;
  // The mark is that of compiled autograd, whose graph has all nodes.
  if (name.starts_with("Torch-Compiled Region: !"))
    return "CompiledFunctionBackward";
  return !name.contains("::") && name.contains("Backward") ? name : "";
}

bool netc::audit::isCompiledGraph(StringRef name) {
  return name.contains("CompiledFxGraph") || name.contains("Torch-Compiled");
}

bool netc::audit::isTemplate(StringRef op) {
  return op.starts_with("triton_tem_");
}

namespace {
struct Word {
  StringRef word;
  ProductKind multiplies;
};
} // namespace

/// Words in names of ops that multiply. The first that fits decides the kind.
static constexpr Word words[] = {
    {"conv", ProductKind::Windows},
    {"conv1d", ProductKind::Windows},
    {"conv2d", ProductKind::Windows},
    {"conv3d", ProductKind::Windows},
    {"convolution", ProductKind::Windows},
    {"qconv", ProductKind::Windows},
    {"attention", ProductKind::Attention},
    {"attn", ProductKind::Attention},
    {"fmha", ProductKind::Attention},
    {"mha", ProductKind::Attention},
    {"transformer", ProductKind::Attention},
    {"rnn", ProductKind::Recurrence},
    {"lstm", ProductKind::Recurrence},
    {"gru", ProductKind::Recurrence},
    {"linear", ProductKind::Matrices},
    {"qlinear", ProductKind::Matrices},
    {"bilinear", ProductKind::Matrices},
    {"trilinear", ProductKind::Matrices},
    {"solve", ProductKind::Matrices},
    {"lstsq", ProductKind::Matrices},
    {"det", ProductKind::Matrices},
    {"slogdet", ProductKind::Matrices},
    {"lu", ProductKind::Matrices},
    {"svd", ProductKind::Matrices},
    {"svdvals", ProductKind::Matrices},
    {"qr", ProductKind::Matrices},
    {"geqrf", ProductKind::Matrices},
    {"ormqr", ProductKind::Matrices},
    {"householder", ProductKind::Matrices},
    {"eig", ProductKind::Matrices},
    {"eigvals", ProductKind::Matrices},
    {"eigh", ProductKind::Matrices},
    {"eigvalsh", ProductKind::Matrices},
    {"cholesky", ProductKind::Matrices},
    {"inv", ProductKind::Matrices},
    {"inverse", ProductKind::Matrices},
    {"pinverse", ProductKind::Matrices},
    {"fft", ProductKind::Matrices},
    {"dot", ProductKind::Matrices},
    {"mv", ProductKind::Matrices},
};

/// Words in names of ops that only prepare a product, such as packing weights,
/// or that apply the gates of a recurrence.
static constexpr StringRef harmless[] = {"prepack", "unpack",   "pack",
                                         "reorder", "quantize", "flatten",
                                         "convert", "cell",     "upsample"};

std::optional<ProductKind> netc::audit::kindByWords(StringRef name) {
  if (!isTemplate(name) && !name.contains("::"))
    return std::nullopt;
  llvm::SmallVector<StringRef, 8> parts;
  name.substr(name.rfind(':') + 1).split(parts, '_', -1, /*KeepEmpty=*/false);
  if (llvm::any_of(parts, [](StringRef part) {
        return llvm::is_contained(harmless, part);
      }))
    return std::nullopt;
  for (const Word &word : words)
    if (llvm::is_contained(parts, word.word))
      return word.multiplies;
  bool isProduct = isTemplate(name) || llvm::any_of(parts, [](StringRef part) {
                     return part.ends_with("mm") || part.contains("matmul") ||
                            part.contains("gemm");
                   });
  return isProduct ? std::optional(ProductKind::Matrices) : std::nullopt;
}

static bool containsAny(StringRef name, llvm::ArrayRef<StringRef> parts) {
  return llvm::any_of(
      parts, [&](StringRef part) { return name.contains_insensitive(part); });
}

/// Inductor's element-wise kernels and reductions name the ops that they fuse.
static bool isFused(StringRef kernel) {
  constexpr StringRef kinds[] = {"triton_poi_", "triton_red_", "triton_per_"};
  return llvm::any_of(kinds,
                      [&](StringRef kind) { return kernel.starts_with(kind); });
}

bool netc::audit::communicatesByName(StringRef kernel) {
  constexpr StringRef parts[] = {
      "nccl",
      "rccl",
      "msccl",
      "all_reduce",
      "allreduce",
      "all-reduce",
      "all_gather",
      "allgather",
      "all-gather",
      "reduce_scatter",
      "reducescatter",
      "reduce-scatter",
      "all_to_all",
      "alltoall",
      "all-to-all",
      "collective-permute",
      "cross_device_reduce",
      "symmetric_memory::",
      "deep_ep::",
      "nvshmem",
      "userbuffers"}; // of vLLM, PyTorch, DeepEP, NVSHMEM, Transformer Engine
  // XLA writes what an op reads behind its name.
  return !isFused(kernel) && containsAny(kernel.split(" = ").first, parts);
}

bool netc::audit::multipliesByName(StringRef kernel) {
  kernel.consume_front("fbgemm_gpu::"); // not a gemm
  if (isFused(kernel))
    return false;
  constexpr StringRef parts[] = {
      "gemm",         "gemv",      "dot_kernel", "xmma",      "cutlass",
      "marlin",       "fused_moe", "csrmm",      "triton_mm", "triton_tem",
      "convolve",     "conv2d",    "wgrad",      "dgrad",     "conv_depthwise",
      "naive_conv",   "asmconv",   "scudnn",     "winograd",  "fft",
      "attention",    "attn",      "sdpa",       "flash_fwd", "flash_bwd",
      "bwd_kernel_d", "fmha",      "mha_fwd",    "mha_bwd",   "contraction",
      "rnn_block",    "cijk_",     "nvjet"}; // Tensile; cuBLAS
  return containsAny(kernel, parts);
}

bool netc::audit::hidesFromCounter(StringRef op) {
  constexpr StringRef fused[] = {"aten::_transformer_encoder_layer_fwd",
                                 "aten::_native_multi_head_attention",
                                 "aten::_trilinear",
                                 "aten::_euclidean_dist",
                                 "aten::linalg_matrix_exp",
                                 "aten::linalg_pinv",
                                 "aten::_sparse_addmm",
                                 "aten::_triton_multi_head_attention"};
  return llvm::is_contained(fused, op);
}
