// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Flop.h"
#include "lib/Audit/OpNames.h"
#include "test/Trace/Traces.h"

#include <gtest/gtest.h>

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;

namespace {

/// The FLOP of an op with operands of these shapes and these arguments, as
/// PyTorch's profiler writes them; none if they do not suffice.
std::optional<Rational> flopOf(const std::string &op, const std::string &shapes,
                               const std::string &arguments = "") {
  Trace trace = readText(
      "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" +
      op + "\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 1, \"args\": " +
      "{\"Input Dims\": [" + shapes + "], \"Concrete Inputs\": [" + arguments +
      "]}}]}");
  return costOf(trace, trace.host.front(), {}).flop;
}

/// A product of complex numbers is several of real ones.
TEST(Flop, ComplexNumbersAreNotKnown) {
  Trace trace = readText(
      R"j({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", )j"
      R"j("pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": )j"
      R"j({"Input Dims": [[2, 3], [3, 4]], "Input type": )j"
      R"j(["c10::complex<float>", "c10::complex<float>"]}}]})j");
  EventCost cost = costOf(trace, trace.host.front(), {});
  EXPECT_EQ(cost.flop, std::nullopt);
  EXPECT_EQ(cost.counter, Rational(48));
}

TEST(Flop, KernelsThatMultiplyByTheirNames) {
  for (const char *name :
       {"triton_tem_fused_mm_3", "triton_mm", "_fused_moe_kernel",
        "void gemv2T_kernel_val<int, int, float>", "_bwd_kernel_dk_dv",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16",
        "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
        "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f3x2_stride1",
        "naive_conv_ab_nonpacked_fwd", "RNN_blockPersist_fp_LSTM<float>",
        "void cusparse::csrmm_v2_kernel", "void fft2d_r2c_32x32<float>"})
    EXPECT_TRUE(multipliesByName(name)) << name;
  for (const char *name :
       {"triton_poi_fused__scaled_dot_product_attention_0",
        "triton_red_fused_addmm_1", "void cublasLt::splitKreduce_kernel<32>",
        "void at::native::im2col_kernel<float>", "nhwcToNchwKernel"})
    EXPECT_FALSE(multipliesByName(name)) << name;
}

TEST(Flop, KernelsThatCommunicateByTheirNames) {
  for (const char *name :
       {"ncclDevKernel_SendRecv", "ncclKernel_AllReduce_RING_LL_Sum_half",
        "rccl_main_kernel", "mscclKernel_Sum_half_LL",
        "vllm::cross_device_reduce_1stage",
        "c10d::symmetric_memory::multimem_one_shot_reduce",
        "two_shot_all_reduce_kernel", "deep_ep::intranode::dispatch",
        "deep_ep::internode_ll::combine", "nvshmemi_transfer::put",
        "userbuffers_fp16_sum_inplace_gpu_mc_rs_oop",
        "%all-reduce.1 = f32[8] all-reduce", "all-gather-start.2",
        "reduce-scatter.3", "all-to-all", "collective-permute-done"})
    EXPECT_TRUE(communicatesByName(name)) << name;
  for (const char *name :
       {"%fusion.1 = f32[8] fusion %all-reduce.1", "warp_reduce_kernel",
        "triton_poi_fused_add_all_gather_into_tensor_0",
        "vectorized_elementwise_kernel", "dispatch_kernel"})
    EXPECT_FALSE(communicatesByName(name)) << name;
}

TEST(Flop, Vectors) {
  EXPECT_EQ(flopOf("aten::dot", "[5], [5]"), Rational(10));
  EXPECT_EQ(flopOf("aten::mv", "[3, 5], [5]"), Rational(30));
  EXPECT_EQ(flopOf("aten::addmv", "[3], [3, 5], [5]"), Rational(30));
  EXPECT_EQ(flopOf("aten::addmv_", "[3], [3, 5], [4]"), std::nullopt);
}

/// Operands of a template of Inductor are buffers: the result is the last.
TEST(Flop, Templates) {
  const std::string mm = "triton_tem_fused_mm_0";
  EXPECT_EQ(flopOf(mm, "[2, 3], [3, 4], [2, 4]"), Rational(48));
  // A weight that is read transposed, and positions that are rows.
  EXPECT_EQ(flopOf(mm, "[2, 5, 3], [4, 3], [2, 5, 4]"), Rational(240));
  EXPECT_EQ(flopOf(mm, "[3, 2], [3, 4], [2, 4]"), Rational(48));
  // A bias, a factor, and what is added; arguments that are numbers.
  EXPECT_EQ(flopOf("triton_tem_fused_addmm_relu_1",
                   "[4], [2, 3], [4, 3], [2, 4], [2, 4], []"),
            Rational(48));
  EXPECT_EQ(flopOf("triton_tem_fused_bmm_2", "[7, 2, 3], [7, 3, 4], [7, 2, 4]"),
            Rational(336));
  // The result is not the last; two products; no product.
  EXPECT_EQ(flopOf(mm, "[2, 4], [2, 3], [3, 4]"), std::nullopt);
  EXPECT_EQ(flopOf("triton_tem_fused_add_mm_3",
                   "[2, 3], [3, 4], [2, 3], [3, 4], [2, 4]"),
            std::nullopt);
  EXPECT_EQ(flopOf("triton_poi_fused_mm_4", "[2, 3], [3, 4], [2, 4]"),
            std::nullopt);
  EXPECT_EQ(flopOf(mm, "[0, 3], [3, 4], [0, 4]"), std::nullopt);
}

TEST(Flop, LinearLayers) {
  EXPECT_EQ(flopOf("aten::mkldnn_linear", "[2, 7], [4, 7], [4]"),
            Rational(112));
  // Operand 1 is the packed weight.
  EXPECT_EQ(flopOf("mkl::_mkl_linear", "[2, 7], [1], [4, 7], [4]"),
            Rational(112));
  EXPECT_EQ(flopOf("mkl::_mkl_linear", "[2, 7], [1], [4, 8], [4]"),
            std::nullopt);
}

TEST(Flop, StridesTellWhetherTheFirstOperandIsTransposed) {
  auto isTransposed = [](const std::string &op, const std::string &shapes,
                         const std::string &strides) {
    Trace trace =
        readText("{\"traceEvents\": [{\"ph\": \"X\", \"cat\": "
                 "\"cpu_op\", \"name\": \"" +
                 op +
                 "\", \"pid\": 1, \"tid\": 1, \"ts\": 1, "
                 "\"dur\": 1, \"args\": {\"Input Dims\": [" +
                 shapes + "], \"Input Strides\": [" + strides + "]}}]}");
    return transposesFirst(trace, trace.host.front());
  };
  EXPECT_EQ(isTransposed("aten::mm", "[3, 5], [5, 2]", "[1, 3], [2, 1]"), true);
  EXPECT_EQ(isTransposed("aten::mm", "[3, 5], [5, 2]", "[5, 1], [2, 1]"),
            false);
  EXPECT_EQ(
      isTransposed("aten::addmm", "[2], [3, 5], [5, 2]", "[1], [1, 3], [2, 1]"),
      true);
  for (const char *strides : {"[0, 0], [2, 1]", "[7, 1], [2, 1]", ""})
    EXPECT_EQ(isTransposed("aten::mm", "[3, 5], [5, 2]", strides),
              std::nullopt);
  EXPECT_EQ(isTransposed("aten::mm", "[1, 5], [5, 2]", "[1, 1], [2, 1]"),
            std::nullopt);
}

TEST(Flop, ConvolutionsOfLibraries) {
  std::string shapes = "[2, 3, 8, 8], [4, 3, 3, 3]";
  // 16 positions, with 3 x 3 x 3 products for 4 channels of 2 images.
  EXPECT_EQ(flopOf("aten::cudnn_convolution_relu", shapes + ", [4]",
                   R"("", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1")"),
            Rational(6912));
  EXPECT_EQ(flopOf("aten::cudnn_convolution_add_relu",
                   shapes + ", [2, 4, 4, 4]",
                   R"("", "", "", "1", "", "[2, 2]", "[1, 1]", "[1, 1]", "1")"),
            Rational(6912));
  EXPECT_EQ(flopOf("aten::miopen_convolution", shapes + ", [4]",
                   R"("", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "1")"),
            Rational(6912));
  EXPECT_EQ(flopOf("aten::miopen_convolution", shapes + ", [4]",
                   R"("", "", "", "[1, 1]", "[2, 2]", "", "1")"),
            std::nullopt);
}

TEST(Flop, RecurrencesOfLibraries) {
  // Five times of two sequences with three features, and a state of four.
  std::string input = "[5, 2, 3], [], [], [2, 2, 4], [2, 2, 4]";
  auto miopen = [&](const char *layers) {
    return flopOf("aten::miopen_rnn", input,
                  R"("", "", "4", "", "", )" + std::string(layers));
  };
  // An LSTM has four gates: 4 x 4 x (3 + 4) weights, then 4 x 4 x (4 + 4).
  EXPECT_EQ(miopen(R"("2", "4", "2", "False", "0.", "True", "False")"),
            Rational(4800));
  // The second layer reads both directions: 2 x 4 x 4 x (8 + 4).
  EXPECT_EQ(miopen(R"("2", "4", "2", "False", "0.", "True", "True")"),
            Rational(12160));
  // A GRU has three gates, other recurrences one.
  EXPECT_EQ(miopen(R"("3", "4", "1", "False", "0.", "True", "False")"),
            Rational(1680));
  EXPECT_EQ(miopen(R"("0", "4", "1", "False", "0.", "True", "False")"),
            Rational(560));
  EXPECT_EQ(miopen(R"("2", "4", "0", "False", "0.", "True", "False")"),
            std::nullopt);
  EXPECT_EQ(flopOf("aten::miopen_rnn_backward", input,
                   R"("", "", "4", "", "", "", "", "", "", "", )"
                   R"("2", "4", "2", "False", "0.", "True", "False")"),
            Rational(9600));
  // The state is projected to two: 4 x (4 x (3 + 2) + 2) weights.
  EXPECT_EQ(flopOf("aten::_cudnn_rnn", input,
                   R"("", "", "4", "", "", "", )"
                   R"("2", "4", "2", "1", "False", "0.", "True", "False")"),
            Rational(1760));
}

TEST(Flop, AttentionWithHeadsBehindPositions) {
  std::string operands = "[2, 5, 3, 8], [2, 5, 3, 8], [2, 5, 3, 8]";
  EXPECT_EQ(flopOf("aten::_efficient_attention_forward", operands),
            Rational(4800));
  EXPECT_EQ(flopOf("aten::_efficient_attention_backward",
                   "[2, 5, 3, 8], " + operands),
            Rational(9600));
  // The lengths of concatenated sequences are not recorded.
  EXPECT_EQ(flopOf("aten::_efficient_attention_backward",
                   "[2, 5, 3, 8], " + operands + ", [], [2, 5, 3, 8], [3]"),
            std::nullopt);
}

} // namespace
