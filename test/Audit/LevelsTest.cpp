// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Levels.h"
#include "lib/Audit/TracedStep.h"
#include "test/Trace/Traces.h"

#include <gtest/gtest.h>

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;

namespace {

Trace readInput(const std::string &name) {
  return expectRead(read(INPUTS + name), name);
}

std::vector<uint32_t> allOf(const Trace &trace) {
  std::vector<uint32_t> kernels;
  for (uint32_t i = 0; i < trace.kernels.size(); ++i)
    kernels.push_back(i);
  return kernels;
}

//===----------------------------------------------------------------------===//
// A kernel
//===----------------------------------------------------------------------===//

/// 8192 x 8192 x 8192 in f16 on an H100 of 132 SMs.
TEST(Levels, OfCublasByTheTextOfNsightCompute) {
  Trace trace = readInput("gemm8192-cublas-h100.ncu.txt");
  ASSERT_EQ(trace.counted.size(), 1u);
  EXPECT_EQ(trace.capability, "9.0");
  const CountedKernel &kernel = trace.counted[0];
  EXPECT_EQ(kernel.grid[1], 66);
  UnitLevels levels = levelsOf(trace, kernel, Gpu::of(trace, trace));
  EXPECT_NEAR(*levels.sm, 132 * 2169592.05 / 296684126, 1e-12);
  EXPECT_NEAR(*levels.sm, 0.9653, 5e-5);
  EXPECT_NEAR(*levels.issue, 0.1569, 5e-5);
  EXPECT_NEAR(*levels.dram, 0.2886, 5e-5);
  EXPECT_FALSE(levels.tensorActive);
  EXPECT_NEAR(*trace.counter(kernel.counters, "gpu__time_duration.sum"),
              1.56e-3, 1e-12);
  EXPECT_NEAR(
      *trace.counter(kernel.counters, "sm__cycles_elapsed.avg.per_second"),
      1.44e9, 1);
  // Of the data sheet; and of 4096 FLOP an SM and cycle at the clock that was
  // measured.
  double rate = 2 * 8192. * 8192 * 8192 / 1.56e-3;
  EXPECT_NEAR(rate / 989.4e12, 0.712, 5e-4);
  EXPECT_NEAR(rate / (132 * 4096 * 1.44e9), 0.905, 5e-4);
  EXPECT_TRUE(eraseImpossible(levels, 1).empty());
}

TEST(Levels, OfWmmaByTheTextOfNsightCompute) {
  Trace trace = readInput("gemm8192-wmma-h100.ncu.txt");
  ASSERT_EQ(trace.counted.size(), 1u);
  UnitLevels levels = levelsOf(trace, trace.counted[0], Gpu::of(trace, trace));
  EXPECT_NEAR(*levels.sm, 0.9668, 5e-5);
  EXPECT_NEAR(*levels.smsp, 132 * 4 * 32218746.66 / 17596460432, 1e-12);
  EXPECT_NEAR(*levels.issue, 0.1988, 5e-5);
  EXPECT_NEAR(*levels.occupancy, 0.4935, 1e-12);
}

/// The instructions of the kernel above, all of m16n8k16.
TEST(Levels, TensorIssueStandsBesideItsCap) {
  Trace trace = readText(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"CC\",\"Metric Name\",\"Metric "
      "Unit\",\"Metric Value\"\n"
      "\"0\",\"1\",\"gemm\",\"9.0\",\"smsp__inst_executed_pipe_tensor_op_hmma."
      "sum\",\"inst\",\"268,435,456\"\n"
      "\"0\",\"1\",\"gemm\",\"9.0\",\"smsp__cycles_elapsed.sum\",\"cycle\","
      "\"17,596,460,432\"\n");
  Gpu gpu = Gpu::of(trace, trace);
  UnitLevels levels = levelsOf(trace, trace.counted[0], gpu);
  EXPECT_NEAR(*levels.tensorIssue, 0.01526, 5e-6);
  EXPECT_EQ(gpu.tensorIssueCap(), 0.25);
  gpu.capability = "8.0";
  EXPECT_EQ(gpu.tensorIssueCap(), 0.125);
  gpu.capability = "7.0";
  EXPECT_EQ(gpu.tensorIssueCap(), 0.5);
  gpu.capability = "6.0";
  EXPECT_EQ(gpu.tensorIssueCap(), std::nullopt);
  // An instruction of m16n8k8 keeps a T4 busy for 8 cycles; boards for games
  // sum in f32 at half of the rate.
  gpu.capability = "7.5";
  EXPECT_EQ(gpu.tensorIssueCap(), 0.125);
  gpu.capability = "8.6";
  gpu.device = "NVIDIA A10G";
  EXPECT_EQ(gpu.tensorIssueCap(), 0.0625);
  gpu.device = "NVIDIA GeForce RTX 3090";
  EXPECT_EQ(gpu.tensorIssueCap(), 0.03125);
}

TEST(Levels, NvprofTellsTenths) {
  Trace trace = readText(
      "==4== Metric result:\n\"Device\",\"Kernel\",\"Invocations\",\"Metric "
      "Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n"
      "\"Tesla V100-SXM2-16GB (0)\",\"gemm\",16,\"sm_efficiency\",\"\","
      "50.00%,50.00%,50.00%\n\"Tesla V100-SXM2-16GB (0)\",\"gemm\",16,"
      "\"tensor_precision_fu_utilization\",\"\",Low (2),High (7),Mid (4)\n");
  EXPECT_NEAR(*levelsOf(trace, trace.counted[0], Gpu()).tensorActive, 0.2,
              1e-12);
}

/// Counters of an Instinct: each die counts the cycles that elapse.
TEST(Levels, OfAnInstinct) {
  Trace trace = readText(
      R"j({"rocprofiler-sdk-tool": [{"agents": [{"id": {"handle": 9}, )j"
      R"j("product_name": "AMD Instinct MI300X", "type": 2, "cu_count": 304, )j"
      R"j("num_xcc": 8}], "counters": [)j"
      R"j({"id": {"handle": 1}, "name": "SQ_VALU_MFMA_BUSY_CYCLES"}, )j"
      R"j({"id": {"handle": 2}, "name": "GRBM_GUI_ACTIVE"}, )j"
      R"j({"id": {"handle": 3}, "name": "SQ_INSTS_VALU_FMA_F32"}, )j"
      R"j({"id": {"handle": 4}, "name": "SQ_INSTS_VALU_MFMA_MOPS_F16"}], )j"
      R"j("callback_records": {"counter_collection": [{"dispatch_data": )j"
      R"j({"dispatch_info": {"kernel_id": 3, "agent_id": {"handle": 9}, )j"
      R"j("workgroup_size": {"x": 256, "y": 1, "z": 1}, )j"
      R"j("grid_size": {"x": 1024, "y": 1, "z": 1}}}, "records": [)j"
      R"j({"counter_id": {"handle": 1}, "value": 60800.0}, )j"
      R"j({"counter_id": {"handle": 2}, "value": 500.0}, )j"
      R"j({"counter_id": {"handle": 2}, "value": 300.0}, )j"
      R"j({"counter_id": {"handle": 3}, "value": 10.0}, )j"
      R"j({"counter_id": {"handle": 4}, "value": 7.0}]}]}, )j"
      R"j("kernel_symbols": [{"kernel_id": 3, "formatted_kernel_name": )j"
      R"j("Cijk_gemm"}]}]})j");
  ASSERT_EQ(trace.counted.size(), 1u);
  const CountedKernel &kernel = trace.counted[0];
  EXPECT_EQ(trace.names[kernel.name], "Cijk_gemm");
  EXPECT_EQ(kernel.grid[0], 4);
  // 60,800 of 304 x 4 matrix cores in 800 / 8 cycles.
  EXPECT_NEAR(*levelsOf(trace, kernel, Gpu::of(trace, trace)).tensorActive, 0.5,
              1e-12);
  EXPECT_EQ(ordinaryFlop(trace, kernel), Rational(1280));
}

/// 10,240 f16 operations of a kernel that makes random numbers are 320
/// instructions of a tensor pipe that multiplies nothing.
TEST(Levels, HalfArithmeticOfAnA100IsNoProduct) {
  auto text = [](const char *capability) {
    return std::string("\"ID\",\"Kernel Name\",\"CC\",\"sm__inst_executed_pipe_"
                       "tensor.sum\",\"sm__sass_thread_inst_executed_op_hfma_"
                       "pred_on.sum\",\"smsp__cycles_elapsed.sum\"\n"
                       "\"0\",\"random\",\"") +
           capability + "\",\"320\",\"10240\",\"1000\"\n";
  };
  Trace a100 = readText(text("8.0")), v100 = readText(text("7.0"));
  EXPECT_EQ(levelsOf(a100, a100.counted[0], Gpu::of(a100, a100)).tensorIssue,
            0);
  EXPECT_NEAR(*levelsOf(v100, v100.counted[0], Gpu::of(v100, v100)).tensorIssue,
              0.32, 1e-12);
}

TEST(Levels, ActivePercentagesAreMultipliedByTheLevelAbove) {
  Trace trace = readText(
      "\"ID\",\"Kernel Name\",\"sm__cycles_active.sum\",\"sm__cycles_elapsed."
      "sum\",\"sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_"
      "active\"\n\"0\",\"gemm\",\"500\",\"1000\",\"80\"\n");
  EXPECT_NEAR(*levelsOf(trace, trace.counted[0], Gpu()).tensorActive, 0.4,
              1e-12);
}

/// The steps of two published traces, by the profiler's own estimates.
TEST(Levels, OfAStepWithoutCounters) {
  Trace resnet =
      readInput("../../Trace/Inputs/resnet50-v100-2021.kineto.json.gz");
  TracedStep step = traceStep(resnet);
  double seconds = double(step.duration());
  EXPECT_NEAR(step.levels.sum / seconds, 0.567, 5e-4);
  EXPECT_NEAR(*step.levels.smEfficiency, 0.985, 5e-4);
  EXPECT_NEAR(*step.levels.occupancy, 0.491, 5e-4);
  // Of 15.7 TFLOP/s: three passes over 32 images, without the gradient of them.
  double flop = 32 * (3 * 8178368512. - 236027904.);
  EXPECT_NEAR(flop / seconds * 1e9 / 15.7e12, 0.285, 5e-4);
  EXPECT_NEAR(flop / double(step.levels.sum) * 1e9 / 15.7e12, 0.502, 5e-4);

  Trace dlrm = readInput("../../Trace/Inputs/dlrm-v100-worker0.kineto.json.gz");
  step = traceStep(dlrm);
  seconds = double(step.duration());
  EXPECT_NEAR(step.levels.sum / seconds, 0.473, 5e-4);
  EXPECT_NEAR(step.levels.unionOfAll / seconds, 0.455, 5e-4);
  // Most of it is waiting for the others.
  EXPECT_NEAR(step.levels.withoutCommunication / seconds, 0.072, 5e-4);
}

/// Two devices: the host is done in 10 us, and the
/// kernels take 40 us, of which one device is idle in 10.
TEST(Levels, OfAStepOnTwoDevicesThatIsLongerThere) {
  auto kernel = [](int device, int stream, int start, int end) {
    return R"j(, {"ph": "X", "cat": "kernel", "name": "gemm", "ts": )j" +
           std::to_string(start) + ", \"dur\": " + std::to_string(end - start) +
           R"j(, "args": {"correlation": 1, "device": )j" +
           std::to_string(device) + ", \"stream\": " + std::to_string(stream) +
           "}}";
  };
  Trace trace = readText(
      R"j({"traceEvents": [)j"
      R"j({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", )j"
      R"j("pid": 1, "tid": 1, "ts": 100, "dur": 10}, )j"
      R"j({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", )j"
      R"j("pid": 1, "tid": 1, "ts": 101, "dur": 1, )j"
      R"j("args": {"correlation": 1}})j" +
      kernel(0, 7, 300, 340) + kernel(0, 8, 310, 330) + kernel(3, 7, 305, 335) +
      "]}");
  TracedStep step = traceStep(trace);
  EXPECT_TRUE(step.isLongerOnDevice());
  EXPECT_EQ(step.end - step.start, 10000);
  EXPECT_EQ(step.duration(), 40000);
  EXPECT_EQ(step.deviceTime(), 80000);
  ASSERT_EQ(step.levels.devices.size(), 2u);
  EXPECT_EQ(step.levels.devices[0].sum, 60000);
  EXPECT_EQ(step.levels.devices[0].unionOfAll, 40000);
  EXPECT_EQ(step.levels.devices[1].device, 3);
  EXPECT_EQ(step.levels.devices[1].kernels, 1u);
  EXPECT_EQ(step.levels.devices[1].unionOfAll, 30000);
  EXPECT_EQ(step.levels.sum, 90000);
  EXPECT_EQ(step.levels.unionOfAll, 70000);
}

//===----------------------------------------------------------------------===//
// The join
//===----------------------------------------------------------------------===//

TEST(Join, NamesOfTwoToolsAreOne) {
  EXPECT_EQ(kernelBaseName("void at::native::(anonymous namespace)::fill<int, "
                           "f(char)>(int, float*)"),
            "at::native::fill");
  EXPECT_EQ(kernelBaseName("void at::native::<unnamed>::fill<(int)4>(int)"),
            "at::native::fill");
  EXPECT_EQ(kernelBaseName("sm80_xmma_gemm_f32…"), "sm80_xmma_gemm_f32");
  EXPECT_EQ(kernelBaseName("nvjet_sm90_hss"), "nvjet_sm90_hss");
}

/// The same program on two days: of 77 kernels one agrees by its position, for
/// cuDNN chose other algorithms.
TEST(Join, AlexNetAgreesByItsOps) {
  Trace timeline = readInput("alexnet-a100-kernels.kineto.json.gz"),
        counters = readInput("alexnet-a100-counters.kineto.json.gz");
  size_t kernels = 0;
  int64_t time = 0;
  for (const DeviceEvent &event : timeline.kernels)
    if (event.kind == DeviceEvent::Kernel) {
      ++kernels;
      time += event.duration;
    }
  EXPECT_EQ(kernels, 79u);
  EXPECT_EQ(time, 10692000);
  ASSERT_EQ(counters.counted.size(), 77u);
  std::vector<JoinedKernels> joined =
      joinKernels(timeline, allOf(timeline), counters);
  std::set<uint32_t> ops, timed, counted;
  for (const JoinedKernels &group : joined) {
    if (group.op)
      ops.insert(*group.op);
    timed.insert(group.kernels.begin(), group.kernels.end());
    counted.insert(group.counted.begin(), group.counted.end());
  }
  EXPECT_EQ(ops.size(), 53u);
  EXPECT_EQ(timed.size(), 79u);
  EXPECT_EQ(counted.size(), 77u);

  // What ordinary units did in the products of the first pass: an implicit
  // GEMM, an FFT, three on tensor cores, which these counters do not see, and
  // GEMMs, whose ops also copy the bias in a kernel of its own.
  const std::pair<const char *, int64_t> expected[] = {
      {"aten::cudnn_convolution", 18263449600},
      {"aten::cudnn_convolution", 6225256448},
      {"aten::cudnn_convolution", 21430272},
      {"aten::cudnn_convolution", 31342592},
      {"aten::cudnn_convolution", 22740992},
      {"aten::addmm", 9667346432},
      {"aten::addmm", 4298637312},
      {"aten::addmm", 1114112000},
  };
  auto op = ops.begin();
  for (auto [name, executed] : expected) {
    while (op != ops.end() && timeline.names[timeline.host[*op].name] != name)
      ++op;
    ASSERT_NE(op, ops.end());
    Rational sum, most;
    for (const JoinedKernels &group : joined)
      if (group.op == *op)
        for (uint32_t i : group.counted) {
          Rational flop = *ordinaryFlop(counters, counters.counted[i]);
          sum += flop;
          most = std::max(most, flop);
        }
    bool isConvolution = llvm::StringRef(name).contains("convolution");
    EXPECT_EQ((isConvolution ? sum : most).str(), std::to_string(executed));
    ++op;
  }
}

/// Kernels of a timeline in a CSV of Nsight Systems and of Nsight Compute: one
/// was dropped, one is twice, one has another grid.
TEST(Join, WithoutOpsByNameAndGrid) {
  Trace timeline = readText("Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,"
                            "BlkX,BlkY,BlkZ,Strm,Name\n"
                            "0,100,1,4,1,1,128,1,1,7,void gemm<1>(int)\n"
                            "100,200,2,8,1,1,128,1,1,7,relu(float*)\n"
                            "300,300,3,4,1,1,128,1,1,7,void gemm<2>(int)\n"
                            "600,400,4,1,1,1,32,1,1,7,loss(int)\n");
  Trace counters = readText(
      "\"ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"smsp__cycles_"
      "active.sum\",\"smsp__cycles_elapsed.sum\"\n"
      "\"0\",\"gemm\",\"(4, 1, 1)\",\"(128, 1, 1)\",\"50\",\"100\"\n"
      "\"1\",\"gemm\",\"(2, 1, 1)\",\"(128, 1, 1)\",\"25\",\"100\"\n"
      "\"2\",\"loss\",\"(1, 1, 1)\",\"(32, 1, 1)\",\"10\",\"100\"\n");
  std::vector<JoinedKernels> joined =
      joinKernels(timeline, allOf(timeline), counters);
  ASSERT_EQ(joined.size(), 3u);
  EXPECT_EQ(joined[1].kernels[0], 2u);
  EXPECT_EQ(joined[1].counted[0], 1u);

  SummedLevels summed = sumLevels(timeline, allOf(timeline), counters, joined,
                                  Gpu(), /*duration=*/2000);
  EXPECT_EQ(summed.kernelTime, 1000);
  // Each weighs as long as it ran in the timeline.
  EXPECT_NEAR(*summed.levels.smsp, (100 * 0.5 + 300 * 0.25 + 400 * 0.1) / 2000,
              1e-12);
  EXPECT_NEAR(*summed.joined.smsp, 0.8, 1e-12);
  EXPECT_FALSE(summed.levels.tensorActive);
}

/// The ids and reasons of what is left out.
std::vector<std::string> erasedFrom(UnitLevels &levels,
                                    std::optional<double> gpu) {
  std::vector<std::string> texts;
  for (const LevelNote &note : eraseImpossible(levels, gpu))
    texts.push_back(note.id.str() + ": " + note.text);
  return texts;
}

TEST(Levels, ThatCannotBeAreUnknown) {
  UnitLevels levels;
  levels.sm = 1.005;
  levels.smsp = 0.5;
  levels.issue = 0.505;
  EXPECT_TRUE(erasedFrom(levels, std::nullopt).empty());
  EXPECT_EQ(*levels.issue, 0.505);
  // Of two that contradict each other either may be wrong.
  levels.issue = 0.52;
  EXPECT_EQ(erasedFrom(levels, std::nullopt),
            (std::vector<std::string>{
                "issue: issue would be 52.0 %, and smsp 50.0 %",
                "smsp: issue would be 52.0 %, and smsp 50.0 %"}));
  EXPECT_FALSE(levels.smsp);
  EXPECT_FALSE(levels.issue);
  EXPECT_TRUE(levels.sm);
  levels.issue = 1.25;
  levels.smsp = 0.9;
  EXPECT_EQ(erasedFrom(levels, std::nullopt),
            std::vector<std::string>{"issue: it would be 125.0 %"});
  EXPECT_EQ(*levels.smsp, 0.9);
  // The others, and a bound from outside.
  levels = UnitLevels();
  levels.sm = 0.4;
  levels.tensorActive = 0.1;
  levels.issue = 0.15;
  levels.tensorIssue = 0.2;
  EXPECT_EQ(erasedFrom(levels, 0.3),
            (std::vector<std::string>{
                "sm: sm would be 40.0 %, and gpu 30.0 %",
                "tensor_issue: tensor_issue would be 20.0 %, and issue "
                "15.0 %",
                "issue: tensor_issue would be 20.0 %, and issue 15.0 %",
                "tensor_active: tensor_issue would be 20.0 %, and tensor_"
                "active 10.0 %"}));
  levels = UnitLevels();
  levels.sm = 0.2;
  levels.smsp = 0.4;
  EXPECT_EQ(erasedFrom(levels, 0.3).size(), 2u);
}

TEST(Levels, NotesSayWhereTheArticleMisleads) {
  UnitLevels levels;
  Gpu gpu;
  EXPECT_TRUE(levelNotes(levels, gpu).empty());
  gpu.capability = "8.0";
  levels.smsp = 0.8;
  levels.issue = 0.4;
  levels.tensorActive = 0.6;
  levels.tensorIssue = 0.1;
  std::vector<std::string> texts;
  for (const LevelNote &note : levelNotes(levels, gpu))
    texts.push_back(note.text);
  const std::vector<std::string> expected = {
      "tensor issue is 80.0 % of what saturates the tensor cores, 12.5 % of "
      "the issue slots: an instruction keeps them busy for several cycles",
      "Delestrac et al. say that issue slots are always below 50 % (abstract) "
      "and near 54 % (section VI); netc divides by elapsed cycles, as their "
      "Table I does",
      "Delestrac et al. bound the use of tensor cores by issued instructions "
      "and by active cycles (section IV), but divide by elapsed cycles (Table "
      "I), as netc does; of issued instructions tensor cores have 25.0 %; they "
      "are busy in 75.0 % of active cycles",
      "an A100 sends f16 arithmetic through the tensor pipe, too: instructions "
      "of kernels without any product are left out, at 32 threads each"};
  EXPECT_EQ(texts, expected);
  gpu.capability = "9.0";
  EXPECT_EQ(levelNotes(levels, gpu)[0].text,
            "tensor issue is 40.0 % of what saturates the tensor cores, 25.0 % "
            "of the issue slots: an instruction keeps them busy for several "
            "cycles; wgmma needs 0.8 %, so read tensor active instead");
}

} // namespace
