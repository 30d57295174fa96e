// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/ExecutionTrace.h"
#include "lib/Trace/Formats.h"
#include "lib/Trace/Quantity.h"
#include "test/Trace/Traces.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

using namespace netc;
using namespace netc::trace;

namespace {

Trace readInput(const std::string &name) {
  return expectRead(read(INPUTS + name), name);
}

/// What a trace is refused with, and the id.
std::string errorOf(llvm::Expected<Trace> trace) {
  std::string message;
  if (!trace)
    llvm::handleAllErrors(trace.takeError(), [&](const TraceError &error) {
      message = error.message.text + " [" + error.message.id.str() + "]";
    });
  return message;
}

std::string errorOf(const std::string &text) {
  return errorOf(read(*Source::of(text), TraceLimits()));
}

double counter(const Trace &trace, size_t kernel, llvm::StringRef metric) {
  return trace.counter(trace.counted[kernel].counters, metric).value_or(-1);
}

TEST(Readers, ContentSaysWhichFormat) {
  struct Expected {
    const char *file, *format, *tool;
  };
  const Expected formats[] = {
      {"add-a100.execution.json.gz", "execution-trace",
       "PyTorch execution trace"},
      {"add-a100.kineto.json.gz", "kineto", "PyTorch Profiler"},
      {"bert-attention-a100.ncu.csv.gz", "ncu-csv", "Nsight Compute"},
      {"../../Audit/Inputs/gemm8192-wmma-h100.ncu.txt", "ncu-text",
       "Nsight Compute"},
      {"gemm8192-h100.nsys-kern-sum.txt", "nsys-stats", "Nsight Systems"},
      {"two-kernels.nsys.sqlite.gz", "nsys-sqlite", "Nsight Systems"},
      {"jax-conv3d-mi300.xplane.pb.gz", "xspace", "XLA profiler"},
      {"lenet300.flops.csv", "event-counts", "torch.profiler"},
      {"lenet300.table.txt.gz", "key-averages", "torch.profiler"},
      {"lenet300.counter.json", "flop-counter", "FlopCounterMode"},
  };
  for (const Expected &expected : formats) {
    Trace trace = readInput(expected.file);
    EXPECT_EQ(trace.format, expected.format) << expected.file;
    EXPECT_EQ(trace.tool, expected.tool) << expected.file;
  }
}

/// What holds no text of a profiler yet says what makes one of it.
TEST(Readers, EncodingsAreNamed) {
  struct Expected {
    std::string beginning, name, command;
  };
  const Expected encodings[] = {
      {"\xff\xfe{", "text in UTF-16, as PowerShell writes it",
       "iconv -f UTF-16 -t UTF-8 FILE"},
      {"\xfe\xff{", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE"},
      {"\x1f\x8b\x08", "gzip within gzip", "gzip -dc FILE"},
      {"\x28\xb5\x2f\xfd", "packed by zstd", "zstd -dc FILE"},
      {"\xfd\x37zXZ", "packed by xz", "xz -dc FILE"},
      {"BZh9", "packed by bzip2", "bzip2 -dc FILE"},
      {"PK\x03\x04", "a zip archive", "unzip -p FILE"},
  };
  for (const Expected &expected : encodings)
    EXPECT_EQ(errorOf(expected.beginning),
              "byte 0: this is " + expected.name + "; `" + expected.command +
                  "` prints what netc reads [trace-broken]");
  EXPECT_EQ(errorOf(""), "byte 0: the file is empty; a profiler writes its "
                         "trace when it ends [trace-broken]");
}

//===----------------------------------------------------------------------===//
// Nsight Compute
//===----------------------------------------------------------------------===//

TEST(Readers, NsightComputeCsvHasARowForEachCounter) {
  Trace trace = readInput("bert-attention-flash-a100.ncu.csv.gz");
  ASSERT_EQ(trace.counted.size(), 10u);
  EXPECT_EQ(counter(trace, 0, "dram__bytes.sum"), 384);
  EXPECT_EQ(
      counter(trace, 0, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum"),
      983040);
  EXPECT_NEAR(
      counter(trace, 0, "sm__warps_active.avg.pct_of_peak_sustained_active"),
      49.16, 1e-9);
}

TEST(Readers, NsightComputeCsvHasCommasAndUnits) {
  Trace trace = readInput("dropout.ncu.csv.gz");
  ASSERT_GE(trace.counted.size(), 3u);
  EXPECT_EQ(counter(trace, 0, "dram__bytes.sum"), 4194688);
  EXPECT_NEAR(counter(trace, 0, "gpu__time_duration.sum"), 11744e-9, 1e-15);
}

TEST(Readers, NsightComputeCsvMayBeWide) {
  Trace trace = readText(
      "epoch 1, loss \"0.5\n==PROF== Connected to process 7\n"
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\","
      "\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
      "\"gpu__time_duration.sum\",\"dram__bytes.sum\",\"smsp__cycles_active."
      "avg\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"usecond\","
      "\"Mbyte\",\"cycle\"\n"
      "\"0\",\"7\",\"python\",\"host\",\"void gemm<int, 2>(float *)\",\"1\","
      "\"7\",\"(128, 1, 1)\",\"(2, 66, 1)\",\"0\",\"8.0\",\"1,234.5\",\"2.5\","
      "\"n/a\"\n"
      "\"1\",\"7\",\"python\",\"host\",\"relu\",\"1\",\"7\",\"(64, 1, 1)\","
      "\"(9, 1, 1)\",\"0\",\"8.0\",\"10.25\",\"nan\",\"12\"\n");
  ASSERT_EQ(trace.counted.size(), 2u);
  EXPECT_EQ(trace.capability, "8.0");
  EXPECT_EQ(trace.counted[0].grid[1], 66);
  EXPECT_EQ(trace.counted[0].block[0], 128);
  EXPECT_NEAR(counter(trace, 0, "gpu__time_duration.sum"), 1234.5e-6, 1e-12);
  EXPECT_EQ(counter(trace, 0, "dram__bytes.sum"), 2.5e6);
  EXPECT_EQ(counter(trace, 0, "smsp__cycles_active.avg"), -1);
  EXPECT_EQ(counter(trace, 1, "dram__bytes.sum"), -1);
  EXPECT_EQ(counter(trace, 1, "smsp__cycles_active.avg"), 12);
}

TEST(Readers, NumbersFollowTheLocaleThatWroteThem) {
  constexpr NumberStyle comma = NumberStyle::Comma;
  EXPECT_EQ(numberIn("4,194,688"), 4194688);
  EXPECT_EQ(numberIn("12,34,567.5"), 1234567.5);
  EXPECT_EQ(numberIn("1.234,5", comma), 1234.5);
  EXPECT_EQ(numberIn("1.000.000", comma), 1000000);
  EXPECT_EQ(numberIn("1\u202f234,5", comma), 1234.5);
  EXPECT_EQ(numberIn("1'234.5"), 1234.5);
  EXPECT_EQ(numberIn("12 (3; 9)"), 12);
  EXPECT_EQ(numberIn("-1.5e3"), -1500);
  for (const char *text : {"n/a", "inf", "0x12", "80,5", "1.000.000", "0,234",
                           "1234,567", "1,23,4", "", "-"})
    EXPECT_EQ(numberIn(text), std::nullopt) << text;
  EXPECT_EQ(numberIn("80.5", comma), std::nullopt);
  EXPECT_EQ(styleOf("80,5"), comma);
  EXPECT_EQ(styleOf("1.000.000"), comma);
  EXPECT_EQ(styleOf("0,234"), comma);
  EXPECT_EQ(styleOf("80.5"), NumberStyle::Point);
  EXPECT_EQ(styleOf("1,000,000"), NumberStyle::Point);
  for (const char *text : {"12", "1,234", "1.234", "n/a", "7.0.1"})
    EXPECT_EQ(styleOf(text), std::nullopt) << text;
  EXPECT_EQ(scaleOf("nsecond"), 1e-9);
  EXPECT_EQ(scaleOf("Kbyte/block"), 1e3);
  EXPECT_EQ(scaleOf("Ghz"), 1e9);
  EXPECT_EQ(scaleOf("cycle/usecond"), 1 / 1e-6);
  EXPECT_EQ(scaleOf("%"), 1);
  EXPECT_EQ(scaleOf("inst"), 1);
}

/// The capability has a point in every locale. 1.024 is a number in both
/// styles, until 80,5 tells.
TEST(Readers, CountersHaveDecimalCommas) {
  Trace trace = readText(
      "\"ID\",\"Kernel Name\",\"CC\",\"Metric Name\",\"Metric Unit\","
      "\"Metric Value\"\n"
      "\"0\",\"gemm\",\"8.0\",\"sm__cycles_active.sum\",\"cycle\",\"1.024\"\n"
      "\"0\",\"gemm\",\"8.0\",\"achieved_occupancy\",\"\",\"0,5\"\n"
      "\"0\",\"gemm\",\"8.0\",\"sm__cycles_elapsed.sum\",\"cycle\","
      "\"1.000.000\"\n"
      "\"0\",\"gemm\",\"8.0\",\"sm__throughput.pct\",\"%\",\"80.5\"\n");
  EXPECT_EQ(counter(trace, 0, "sm__cycles_active.sum"), 1024);
  EXPECT_EQ(counter(trace, 0, "achieved_occupancy"), 0.5);
  EXPECT_EQ(counter(trace, 0, "sm__cycles_elapsed.sum"), 1e6);
  // What is not written as the others is lost, not another number.
  EXPECT_EQ(counter(trace, 0, "sm__throughput.pct"), -1);
  EXPECT_EQ(trace.brokenCounters, 1u);
}

TEST(Readers, NoCounterIsNegativeOrBeyond64Bits) {
  Trace trace =
      readText("\"ID\",\"Kernel Name\",\"a__a.sum\",\"b__b.sum\",\"c__c.sum\"\n"
               "\"0\",\"gemm\",\"-5\",\"" +
               std::string(60, '9') + "\",\"18446744073709549568\"\n");
  EXPECT_EQ(trace.brokenCounters, 2u);
  EXPECT_EQ(trace.counted[0].counters.size, 1u);
  EXPECT_EQ(counter(trace, 0, "c__c.sum"), 18446744073709549568.);
  trace = readText(
      R"j({"traceEvents": [{"ph": "X", "cat": "cuda_profiler_range", )j"
      R"j("name": "gemm", "ts": 1, "dur": 1, "args": )j"
      R"j({"a__a.sum": -1, "b__b.sum": 7}}]})j");
  EXPECT_EQ(trace.brokenCounters, 1u);
  EXPECT_EQ(trace.counted[0].counters.size, 1u);
}

//===----------------------------------------------------------------------===//
// Nsight Systems
//===----------------------------------------------------------------------===//

/// By correlation alone, there are 798 launches for the kernels of the two
/// processes.
TEST(Readers, NsightSystemsKeepsProcessesApart) {
  Trace trace = readInput("diffusion-2xh100.nsys.sqlite.gz");
  size_t kernels = 0, launches = 0, ops = 0, numbered = 0;
  std::map<int64_t, size_t> byCorrelation;
  for (const DeviceEvent &event : trace.kernels)
    if (event.kind == DeviceEvent::Kernel) {
      ++kernels;
      ++byCorrelation[event.correlation];
    }
  for (const HostEvent &event : trace.host) {
    launches += event.kind == HostEvent::Launch &&
                byCorrelation.count(event.correlation);
    ops += event.kind == HostEvent::Op;
    numbered += event.sequence >= 0;
  }
  EXPECT_EQ(kernels, 724u);
  EXPECT_EQ(byCorrelation.size(), 724u);
  EXPECT_EQ(launches, 724u);
  EXPECT_GT(ops, 1000u);
  EXPECT_GT(numbered, 100u);
  EXPECT_TRUE(trace.hasSequence);
}

TEST(Readers, NsightSystemsMayHaveFewTables) {
  Trace trace = readInput("two-kernels.nsys.sqlite.gz");
  EXPECT_EQ(trace.device, "NVIDIA H100 80GB HBM3");
  ASSERT_EQ(trace.kernels.size(), 400u);
  EXPECT_EQ(trace.kernels[0].duration, 1000000);
  EXPECT_EQ(trace.extentsOf(trace.kernels[0]).grid[0], 128);
  EXPECT_EQ(trace.names[trace.kernels[1].name],
            "void cutlass::gemm_nn_128x128<float>(float*, float*)");
  EXPECT_EQ(trace.host.size(), 400u);
}

TEST(Readers, NsightSystemsSums) {
  Trace trace = readInput("gemm8192-h100.nsys-kern-sum.txt");
  ASSERT_EQ(trace.counted.size(), 8u);
  EXPECT_EQ(trace.counted[5].invocations, 11);
  EXPECT_NEAR(counter(trace, 5, "gpu__time_duration.sum"), 15853543e-9 / 11,
              1e-12);
  EXPECT_EQ(trace.names[trace.counted[5].name],
            "nvjet_sm90_hss_320x128_64x3_1x2_h_bz_coopB_NNT");
}

TEST(Readers, NsightSystemsTraceOfKernels) {
  Trace trace = readText(
      "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,"
      "StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,"
      "DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
      "1000,250,17,2,66,1,128,1,1,32,0.000,0.000,,,,,NVIDIA H100 80GB HBM3 "
      "(3),1,,7,\"gemm(int, int)\"\n"
      "2000,50,18,,,,,,,,,,1.5,10,Pageable,Device,NVIDIA H100 80GB HBM3 (3),1,"
      ",7,[CUDA memcpy Host-to-Device]\n"
      "2000,-50,18,,,,,,,,,,1.5,10,Pageable,Device,NVIDIA H100 80GB HBM3 (3),"
      "1,,7,relu\n");
  ASSERT_EQ(trace.kernels.size(), 2u);
  EXPECT_EQ(trace.broken, 1u);
  EXPECT_EQ(trace.device, "NVIDIA H100 80GB HBM3");
  const DeviceEvent &kernel = trace.kernels[0];
  EXPECT_EQ(kernel.start, 1000);
  EXPECT_EQ(kernel.duration, 250);
  EXPECT_EQ(kernel.correlation, 17);
  EXPECT_EQ(kernel.device, 3);
  EXPECT_EQ(kernel.stream, 7);
  EXPECT_EQ(trace.extentsOf(kernel).grid[1], 66);
  EXPECT_EQ(trace.names[kernel.name], "gemm(int, int)");
  EXPECT_EQ(trace.kernels[1].kind, DeviceEvent::Copy);
}

//===----------------------------------------------------------------------===//
// nvprof, rocprofv3, XLA
//===----------------------------------------------------------------------===//

TEST(Readers, NvprofGivesMeans) {
  Trace trace = readText(
      "==42== NVPROF is profiling process 42, command: python a.py\n"
      "==42== Metric result:\n"
      "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric "
      "Description\",\"Min\",\"Max\",\"Avg\"\n"
      "\"Tesla P100-PCIE-16GB (0)\",\"void gemm(float*, int)\",16,"
      "\"flop_count_sp\",\"FLOP, single\",100,300,200\n"
      "\"Tesla P100-PCIE-16GB (0)\",\"void gemm(float*, int)\",16,"
      "\"sm_efficiency\",\"\",40.000000%,60.000000%,50.250000%\n"
      "\"Tesla P100-PCIE-16GB (0)\",\"relu\",2,\"dram_read_throughput\",\"\","
      "1GB/s,2GB/s,1.5GB/s\n");
  EXPECT_EQ(trace.device, "Tesla P100-PCIE-16GB");
  ASSERT_EQ(trace.counted.size(), 2u);
  EXPECT_EQ(trace.counted[0].invocations, 16);
  EXPECT_EQ(counter(trace, 0, "flop_count_sp"), 200);
  EXPECT_EQ(counter(trace, 0, "sm_efficiency"), 50.25);
  EXPECT_EQ(counter(trace, 1, "dram_read_throughput"), 1.5e9);
}

TEST(Readers, NvprofHasARowOfUnits) {
  Trace trace = readText(
      "==1== NVPROF is profiling process 1, command: a\n"
      "==1== Profiling result:\n"
      "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\","
      "\"Block Y\",\"Block Z\",\"Size\",\"Device\",\"Context\",\"Stream\","
      "\"Name\"\n"
      "ms,us,,,,,,,MB,,,,\n"
      "1.000,10.5,4,1,1,32,1,1,,\"Tesla V100 (1)\",\"1\",\"7\",\"gemm(int) "
      "[115]\"\n"
      "1.020,2,,,,,,,1.5,\"Tesla V100 (1)\",\"1\",\"8\",\"[CUDA memcpy "
      "HtoD]\"\n");
  EXPECT_EQ(trace.tool, "nvprof");
  EXPECT_EQ(trace.format, "nvprof");
  EXPECT_EQ(trace.device, "Tesla V100");
  EXPECT_EQ(trace.broken, 0u);
  ASSERT_EQ(trace.kernels.size(), 2u);
  EXPECT_EQ(trace.kernels[0].start, 1000000);
  EXPECT_EQ(trace.kernels[0].duration, 10500);
  EXPECT_EQ(trace.kernels[0].device, 1);
  EXPECT_EQ(trace.kernels[0].correlation, 115);
  EXPECT_EQ(trace.names[trace.kernels[0].name], "gemm(int)");
  EXPECT_EQ(trace.extentsOf(trace.kernels[0]).grid[0], 4);
  EXPECT_EQ(trace.kernels[1].kind, DeviceEvent::Copy);
  EXPECT_EQ(trace.kernels[1].stream, 8);
}

TEST(Readers, RocprofGivesItsGridInThreads) {
  Trace trace = readText(
      R"j({"rocprofiler-sdk-tool": [{"agents": [{"name": "cpu", "type": 1}, )j"
      R"j({"id": {"handle": 9}, "name": "gfx942", "product_name": )j"
      R"j("AMD Instinct MI300X", "type": 2, "cu_count": 304}], )j"
      R"j("buffer_records": {"kernel_dispatch": [{"start_timestamp": 100, )j"
      R"j("end_timestamp": 350, "correlation_id": {"internal": 5}, )j"
      R"j("dispatch_info": {"kernel_id": 18446744073709551615, )j"
      R"j("agent_id": {"handle": 9}, "queue_id": {"handle": 1}, )j"
      R"j("workgroup_size": {"x": 256, "y": 1, "z": 1}, )j"
      R"j("grid_size": {"x": 1000, "y": 2, "z": 1}}}, )j"
      R"j({"start_timestamp": 400, "end_timestamp": 450, "dispatch_info": )j"
      R"j({"kernel_id": 3}}, {"start_timestamp": 500, "end_timestamp": 510, )j"
      R"j("dispatch_info": {"kernel_id": {"handle": 3}}}, )j"
      R"j({"start_timestamp": 9, "end_timestamp": 1}]}, )j"
      R"j("kernel_symbols": [{"kernel_id": 3, "kernel_name": "a.kd", )j"
      R"j("formatted_kernel_name": "a(int)"}]}]})j");
  EXPECT_EQ(trace.device, "AMD Instinct MI300X");
  EXPECT_EQ(trace.sms, 304);
  EXPECT_EQ(trace.broken, 1u);
  ASSERT_EQ(trace.kernels.size(), 3u);
  EXPECT_EQ(trace.kernels[0].duration, 250);
  EXPECT_EQ(trace.kernels[0].correlation, 5);
  EXPECT_EQ(trace.extentsOf(trace.kernels[0]).grid,
            (std::array<int64_t, 3>{4, 2, 1}));
  EXPECT_EQ(trace.extentsOf(trace.kernels[1]).grid[0], 0); // not said
  EXPECT_EQ(trace.names[trace.kernels[1].name], "a(int)");
  EXPECT_EQ(trace.names[trace.kernels[2].name], "a(int)");
}

TEST(Readers, XSpaceHasKernelsAndTheirLaunches) {
  Trace trace = readInput("jax-conv3d-mi300.xplane.pb.gz");
  EXPECT_EQ(trace.devices, 2);
  size_t ofModules = 0, launched = 0;
  std::set<int64_t> launches;
  for (const HostEvent &event : trace.host)
    launches.insert(event.correlation);
  for (const DeviceEvent &event : trace.kernels) {
    ofModules += trace.names[event.op] == "XlaModule:";
    launched += launches.count(event.correlation);
  }
  EXPECT_EQ(trace.kernels.size(), 85u);
  EXPECT_EQ(ofModules, 48u);
  EXPECT_EQ(launched, 85u);
  EXPECT_EQ(trace.extentsOf(trace.kernels[0]).block[0], 512);
}

TEST(Readers, XSpaceMayBeCut) {
  std::string bytes;
  auto source = Source::open(INPUTS "jax-conv3d-mi300.xplane.pb.gz", 1 << 24);
  ASSERT_TRUE(bool(source));
  (*source)->bytes(1 << 24, bytes);
  bytes.resize(bytes.size() / 2);
  Trace trace = readText(bytes);
  EXPECT_FALSE(trace.kernels.empty());
  EXPECT_EQ(trace.cutAt, bytes.size());
  // The first plane has 4,428 bytes.
  trace = readText(bytes.substr(0, 2000));
  EXPECT_EQ(trace.kernels.size(), 46u);
  EXPECT_EQ(trace.cutAt, 2000u);
  EXPECT_EQ(trace.cutBy,
            "the file ends here, within the plane that begins at byte 0; what "
            "its kernels are called stands at the end of a plane");
  EXPECT_EQ(errorOf(bytes.substr(0, 50)),
            "byte 50: " + trace.cutBy + " [trace-broken]");
  // A field of the second plane is of no type.
  bytes[4431] = char(0x0f);
  trace = readText(bytes);
  EXPECT_EQ(trace.cutAt, 4428u);
  EXPECT_EQ(trace.cutBy, "a plane begins here that is damaged");
}

//===----------------------------------------------------------------------===//
// PyTorch
//===----------------------------------------------------------------------===//

TEST(Readers, ExecutionTracesHaveShapesButNoTimes) {
  Trace execution = readInput("add-a100.execution.json.gz");
  EXPECT_FALSE(execution.hasTimes);
  EXPECT_EQ(execution.host.size(), 38u);
  Trace trace = readInput("add-a100.kineto.json.gz");
  EXPECT_FALSE(trace.hasShapes);
  EXPECT_EQ(addShapes(trace, execution), 28u);
  EXPECT_TRUE(trace.hasShapes);
  for (const HostEvent &event : trace.host)
    if (trace.names[event.name] == "aten::add") {
      EXPECT_EQ(trace.shape(event, 0).size(), 2u);
    }
}

TEST(Readers, ExecutionTracesMayBeOfTheNewSchema) {
  Trace trace = readText(
      R"j({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [)j"
      R"j({"id": 3, "name": "aten::mm", "ctrl_deps": 2, "inputs": {"values": )j"
      R"j([[5, 6, 0, 6, 4, "cpu"], [7, 8, 0, 12, 4, "cpu"]], "shapes": )j"
      R"j([[2, 3], [3, 4]], "types": ["Tensor(float)", "Tensor(float)"]}, )j"
      R"j("attrs": [{"name": "rf_id", "type": "uint64", "value": 11}, )j"
      R"j({"name": "seq_id", "type": "int64", "value": 4}]}, )j"
      R"j({"id": 2, "name": "aten::matmul", "ctrl_deps": 1, "inputs": )j"
      R"j({"values": [[1, 2], true], "shapes": [[], []], "types": )j"
      R"j(["GenericList[Int,Int]", "Bool"]}, "attrs": []}, )j"
      R"j({"id": 8, "name": "own ancestor", "ctrl_deps": 9}, )j"
      R"j({"id": 9, "name": "own ancestor", "ctrl_deps": 8}]})j");
  EXPECT_EQ(trace.broken, 2u);
  ASSERT_EQ(trace.host.size(), 2u);
  const HostEvent &product = trace.host[0], &around = trace.host[1];
  EXPECT_EQ(product.record, 11);
  EXPECT_EQ(product.sequence, 4);
  EXPECT_EQ(trace.shape(product, 1), llvm::ArrayRef<int64_t>({3, 4}));
  EXPECT_EQ(trace.value(product, 0), "");
  EXPECT_EQ(trace.value(around, 0), "[1, 2]");
  EXPECT_EQ(trace.value(around, 1), "True");
  EXPECT_LT(around.start, product.start);
  EXPECT_GT(around.end(), product.end());
}

int64_t total(const Trace &trace, llvm::StringRef module = "") {
  int64_t sum = 0;
  for (const Count &count : trace.counts)
    if (trace.names[count.module] == module)
      sum += count.flop;
  return sum;
}

/// 112,680,000 a step, of which two were recorded.
TEST(Readers, CountsThatWereHandedIn) {
  Trace events = readInput("lenet300.flops.csv");
  EXPECT_EQ(total(events), 2 * 112680000);
  EXPECT_EQ(events.shape({}, 0).size(), 0u);
  const Count &first = events.counts[0];
  EXPECT_EQ(events.names[first.op], "aten::addmm");
  EXPECT_EQ(events.names[first.parent], "aten::linear");
  EXPECT_EQ(first.order, 112);
  EXPECT_EQ(first.sequence, 31);
  EXPECT_EQ(first.flop, 47040000);
  EXPECT_EQ(first.shapes.size, 5u);

  Trace table = readInput("lenet300.table.txt.gz");
  EXPECT_EQ(table.countedSteps, 2);
  EXPECT_EQ(total(table), 2 * 112680000);
  EXPECT_EQ(table.counts[0].unit, 1);
  EXPECT_EQ(table.counts[0].calls, 4);
  EXPECT_EQ(table.counts[0].shapes.size, 2u);

  Trace modules = readInput("lenet300.counter.json");
  EXPECT_EQ(total(modules, "Global"), 112680000);
  EXPECT_EQ(total(modules, "Sequential.3"), 18000000);
}

TEST(Readers, TablesRoundToTheirUnit) {
  const std::string rule = "----  ----------  ------------  \n";
  Trace trace = readText(rule + "Name  # of Calls  Total GFLOPs  \n" + rule +
                         "  mm           2         1.025  \n" +
                         "  mm           1            --  \n" + rule);
  ASSERT_EQ(trace.counts.size(), 1u);
  EXPECT_EQ(trace.counts[0].flop, 1025000000);
  EXPECT_EQ(trace.counts[0].unit, 1000000);
  EXPECT_EQ(errorOf(rule + "Name  # of Calls      CPU time  \n" + rule),
            "the table has no column of FLOP; `profile(with_flops=True)` makes "
            "one [trace-without-flop]");
}

/// PyTorch prints 100 rows unless it is told otherwise.
TEST(Readers, TablesHaveAllRows) {
  const std::string rule = "----  ----------  ----------  -----------  \n";
  std::string table = rule + "Name  Self CPU %  # of Calls  Total FLOPs  \n" +
                      rule +
                      "  mm      60.01%           2        4.000  \n"
                      " add      39.98%           1        1.000  \n";
  EXPECT_EQ(total(readText(table + rule)), 5);
  table.erase(table.find(" add"));
  EXPECT_EQ(errorOf(table + rule),
            "the table lacks rows, whose FLOP are not known: those that it "
            "has, 1, have 60.0 % of the time; PyTorch prints all with "
            "`row_limit=-1` [trace-fewer-rows]");
}

TEST(Readers, CountsAreWholeInAnySpelling) {
  Trace trace = readText(
      R"j({"Global": {"aten.mm": 12.0, "aten.bmm": 3, "aten.addmm": 0.5}})j");
  EXPECT_EQ(total(trace, "Global"), 15);
  EXPECT_EQ(trace.broken, 1u);
}

//===----------------------------------------------------------------------===//
// Broken and hostile files
//===----------------------------------------------------------------------===//

TEST(Readers, DamagedDatabasesAreErrors) {
  std::string bytes;
  auto source = Source::open(INPUTS "two-kernels.nsys.sqlite.gz", 1 << 24);
  ASSERT_TRUE(bool(source));
  (*source)->bytes(1 << 24, bytes);
  EXPECT_EQ(errorOf(bytes.substr(0, 4000)),
            "byte 0: database disk image is malformed [trace-broken]");
  // The pages of tables are damaged, not the list of them.
  std::string damaged = bytes;
  for (size_t i = damaged.size() / 2 / 4096 * 4096; i < damaged.size();
       i += 4096)
    damaged[i] = '\x7f';
  EXPECT_EQ(errorOf(damaged),
            "byte 0: tables of the database are cut or damaged [trace-broken]");
}

/// What is complete in front of the place where a copy ended.
TEST(Readers, FilesMayBeCut) {
  auto bytesOf = [](const std::string &name) {
    std::string bytes;
    (*Source::open(INPUTS + name, 1 << 24))->bytes(1 << 24, bytes);
    return bytes;
  };
  Trace whole = readInput("diffusion-2xh100.nsys.sqlite.gz");
  std::string bytes = bytesOf("diffusion-2xh100.nsys.sqlite.gz");
  Trace trace = readText(bytes.substr(0, bytes.size() * 3 / 4));
  EXPECT_EQ(trace.kernels.size(), whole.kernels.size());
  EXPECT_GT(trace.host.size(), 0u);
  EXPECT_LT(trace.host.size(), whole.host.size());
  EXPECT_EQ(trace.cutAt, bytes.size() * 3 / 4);
  // In the plane of the first device, whose names stand behind its events.
  bytes = bytesOf("jax-conv3d-mi300.xplane.pb.gz");
  trace = readText(bytes.substr(0, bytes.find("/device:GPU:0") + 2000));
  EXPECT_GT(trace.kernels.size(), 10u);
  EXPECT_TRUE(trace.cutAt);
  EXPECT_EQ(trace.names[trace.kernels[0].name], "?");
}

/// An event that is whole, and what follows it.
Trace readBehindAnEvent(const std::string &text) {
  return readText(R"j({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": )j"
                  R"j("aten::mm", "pid": 1, "tid": "main", "ts": 5, "dur": )j"
                  R"j(2}, )j" +
                  text + "]}");
}

TEST(Readers, WhatIsInFrontOfDamageIsRead) {
  for (const char *text : {R"j({"ts": 0x10, "name": "Users"})j", "{]"}) {
    Trace trace = readBehindAnEvent(text);
    EXPECT_EQ(trace.host.size(), 1u) << text;
    EXPECT_TRUE(trace.cutAt.has_value()) << text;
    // Nothing that the trace says is repeated.
    EXPECT_EQ(trace.cutBy.find("Users"), std::string::npos) << trace.cutBy;
  }
}

TEST(Readers, WhatIsNoJsonIsReadOn) {
  const std::string digits = "{\"ts\": " + std::string(700, '9') + "}";
  for (const char *text :
       {R"j({"ts": 1e999})j", R"j({"ts": -1.5E+400, "b": [true, false]})j",
        digits.c_str(), R"j({"name": "C:\Users\x"})j",
        "{\"name\": \"\xff\xfe\"}", R"j({"ts": NaN})j",
        R"j({"ts": -Infinity})j", "{\"name\": \"a\nb\"}"}) {
    Trace trace = readBehindAnEvent(text);
    EXPECT_EQ(trace.read, 2u) << text;
    EXPECT_FALSE(trace.cutAt) << text;
    EXPECT_GE(trace.mended, 1u) << text;
    EXPECT_GE(*trace.mendedAt, 95u) << text;
  }
}

TEST(Readers, EventsMayBeOdd) {
  const std::string op = R"j({"ph": "X", "cat": "cpu_op", "name": "a", )j";
  Trace trace = readBehindAnEvent(
      // No length, none that fits, one before its start; not in order; a key
      // twice; another process with the same thread; a nest of 10^5 lists.
      op + R"j("ts": 9}, )j" + op + R"j("ts": 9, "dur": 1e300}, )j" + op +
      R"j("ts": 9, "dur": -1}, )j" + op +
      R"j("ts": 99999999999999999999999, "dur": 1}, )j" + op +
      R"j("pid": 2, "tid": "main", "ts": 1, "ts": 3, "dur": 1}, )j" + op +
      R"j("ts": 2, "dur": 1, "args": {"Input Dims": )j" +
      std::string(100000, '[') + std::string(100000, ']') + "}}");
  EXPECT_FALSE(trace.cutAt);
  EXPECT_EQ(trace.broken, 4u);
  ASSERT_EQ(trace.host.size(), 3u);
  EXPECT_EQ(trace.host[1].start, 3000);
  EXPECT_NE(trace.host[0].thread, trace.host[1].thread);
}

TEST(Readers, BlanksMayBeMany) {
  const std::string blanks = std::string(1 << 20, ' ') + "\r\n\t";
  Trace trace = readBehindAnEvent(blanks + "{" + blanks + "\"name\"" + blanks +
                                  ": \"" + std::string(200, ' ') + "\"}");
  EXPECT_EQ(trace.read, 2u);
  EXPECT_EQ(trace.mended, 0u);
  EXPECT_FALSE(trace.cutAt);
  // Between two digits they are no part of a number.
  EXPECT_TRUE(readBehindAnEvent("{\"ts\": 1" + blanks + "2}").cutAt);
}

TEST(Readers, TheProcessOfAKernelIsItsDevice) {
  Trace trace = readBehindAnEvent(
      R"j({"ph": "X", "cat": "kernel", "name": "k", "pid": 3, "tid": 7, )j"
      R"j("ts": 1, "dur": 2, "args": {"stream": 7}})j");
  ASSERT_EQ(trace.kernels.size(), 1u);
  EXPECT_EQ(trace.kernels[0].device, 3);
}

TEST(Readers, NamesOfHostsAreNotShown) {
  EXPECT_EQ(shownName("to 2001:db8::7, [fe80::a7:1]:29500 and "
                      "fe80::1:29500 at me@node, tcp:1:2:3:4:5:6:7:8"),
            "to ?, [?]:29500 and ? at ?, ?");
  EXPECT_EQ(shownName("gpu-07.hpc.example.de node7.example.io a.com"), "? ? ?");
  EXPECT_EQ(shownName("host=gpu-17 rack-2-node-3 fd00::7_mm"), "host=? ? ?");
  EXPECT_EQ(shownName("mm_10.0.0.7 2001:db8::1::gemm ::ffff:10.0.0.7"),
            "? ? ?");
  EXPECT_EQ(shownName("gemm [me-desktop:22] [node7] x[0] [clone .kd]"),
            "gemm [?] [?] x[0] [clone .kd]");
  // A machine in a URL, a Windows user, a path with blanks.
  EXPECT_EQ(shownName("NODE\\me ssh://node //node \\\\node gemm"),
            "? ? ? ? gemm");
  EXPECT_EQ(shownName("gemm /Users/A Me/My Files/x.cu:7 C:\\My Files\\y.cu"),
            "gemm x.cu:7 y.cu");
  // Letters of a URL, once and twice.
  EXPECT_EQ(shownName("file%2F%2Fnode %2fhome%2Fme %252Fhome%252fme%252Fx 7%"),
            "? ? x 7%");
  // A user's own folder; a letter that turns the order of those behind it.
  EXPECT_EQ(shownName("gemm /home/me /Users/me C:\\Users\\me /home/me/gemm.cu"),
            "gemm ? ? ? gemm.cu");
  EXPECT_EQ(shownName("a\u202eb\u200bc\u0085d \u00e9\u00d7"),
            "a?b?c?d \u00e9\u00d7");
  for (const char *name :
       {"at::native::add", "ns::f32", "ad::add", "layers.0.attn.in",
        "encoder.layer.bn", "block.in", "scale.py:7", "fusion.12", "12:30:45",
        "shape:1:2:3", "c10::BFloat16", "NVIDIA A100-PG509-200",
        "sgemm_64x64-nt", "ns::a1::f", "operator/ (a, b)", "rate %"})
    EXPECT_EQ(shownName(name), name);
}

TEST(Readers, FilesAreNamedAfterNoHost) {
  EXPECT_EQ(shownFile("logs/node7_1512.1795678469.pt.trace.json"),
            "?_1512.1795678469.pt.trace.json");
  EXPECT_EQ(shownFile("me@node7.pc.1795678469.pt.trace.json.gz"),
            "?.1795678469.pt.trace.json.gz");
  EXPECT_EQ(shownFile("x/plugins/profile/2021_03/node7.pc.xplane.pb"),
            "?.xplane.pb");
  for (const char *name : {"resnet.pt.trace.json", "x.7", "gpt.xplane.pb"})
    EXPECT_EQ(shownFile(std::string("a/") + name), name);
}

TEST(Readers, KernelsMayBeOdd) {
  Trace trace = readBehindAnEvent(
      R"j({"ph": "X", "cat": "kernel", "name": ")j" +
      std::string(1 << 20, 'k') +
      R"j(", "ts": 1, "dur": 2, "args": {"grid": [-1, 99999999999999999999], )j"
      R"j("block": [1, 2, 3, 4, 5], "stream": "x", "device": -9}})j");
  ASSERT_EQ(trace.kernels.size(), 1u);
  EXPECT_EQ(trace.extentsOf(trace.kernels[0]).grid[0], -1);
  EXPECT_EQ(trace.names[trace.kernels[0].name].size(), size_t(1 << 20));
}

/// A file whose table of kernels is what code makes of another.
TEST(Readers, NothingInADatabaseRuns) {
  std::string path = testing::TempDir() + "netc ?#%41.sqlite";
  std::remove(path.c_str());
  auto make = [&](const char *text) {
    sqlite3 *database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, text, nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(database);
  };
  auto error = [&] { return errorOf(read(path)); };
  make("create view CUPTI_ACTIVITY_KIND_KERNEL as with recursive n(i) as "
       "(select 1 union all select i + 1 from n) select i as start, i + 1 as "
       "end from n");
  EXPECT_TRUE(llvm::StringRef(error()).starts_with("this is no trace"));
  make("create table rocpd_kernel_dispatch(start integer)");
  EXPECT_EQ(error(),
            "this is a database of rocprofv3, which only its own tool reads; "
            "`rocprofv3 --output-format json` exports it [trace-closed]");
  make("create table CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start integer)");
  EXPECT_EQ(
      error(),
      "this is a session of nvprof, which only its own tool "
      "reads; `nvprof --import-profile FILE --csv` exports it [trace-closed]");
  make("create table NVTX_EVENTS(start integer, end integer, eventType integer,"
       " text text, globalTid integer);"
       "insert into NVTX_EVENTS values(1, 5, 59, 'aten::mm, seq = 7, op_id = 3,"
       " sizes = [[2, 3], [3, 4]]', 16777217), (2, 1, 59, 'x', 1), "
       "(1, null, 59, 'open', 1), (1, 2, 34, 'mark', 1)");
  EXPECT_EQ(error(), "");
  Trace trace = cantFail(read(path));
  std::remove(path.c_str());
  EXPECT_EQ(trace.broken, 1u);
  ASSERT_EQ(trace.host.size(), 1u);
  EXPECT_EQ(trace.host[0].sequence, 7);
  EXPECT_EQ(trace.host[0].external, 3);
  EXPECT_EQ(trace.names[trace.host[0].name], "aten::mm");
  EXPECT_EQ(trace.shape(trace.host[0], 1), llvm::ArrayRef<int64_t>({3, 4}));
}

TEST(Readers, RangesOfOneTextAreAlike) {
  std::string path = testing::TempDir() + "netc-ranges.sqlite";
  std::remove(path.c_str());
  sqlite3 *database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(
          database,
          "create table StringIds(id integer, value text);"
          "create table NVTX_EVENTS(start integer, end integer, eventType "
          "integer, textId integer, globalTid integer);"
          "insert into StringIds values (4, 'aten::mm, seq = 7, op_id = 3, "
          "sizes = [[2, 3], [3, 4]]'), (5, 'layer, first');"
          "insert into NVTX_EVENTS values (1, 5, 59, 4, 1), (6, 9, 59, 4, 1),"
          "(10, 11, 59, 5, 1), (12, 13, 59, 5, 1), (14, 15, 59, 6, 1)",
          nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(database);
  Trace trace = expectRead(read(path), path);
  std::remove(path.c_str());
  ASSERT_EQ(trace.host.size(), 5u);
  for (size_t i : {0, 1}) {
    EXPECT_EQ(trace.host[i].kind, HostEvent::Op);
    EXPECT_EQ(trace.names[trace.host[i].name], "aten::mm");
    EXPECT_EQ(trace.host[i].sequence, 7);
    EXPECT_EQ(trace.shape(trace.host[i], 1), llvm::ArrayRef<int64_t>({3, 4}));
  }
  EXPECT_EQ(trace.names[trace.host[3].name], "layer, first");
  EXPECT_EQ(trace.names[trace.host[4].name], "");
}

TEST(Readers, ClaimsOfLengthTakeNoMemory) {
  // A plane of 2^62 bytes, of which there are four.
  EXPECT_EQ(errorOf("\n\x80\x80\x80\x80\x80\x80\x80\x80\x40\x12\x02hi"),
            "byte 14: the file ends here, within the plane that begins at byte "
            "0; what its kernels are called stands at the end of a plane "
            "[trace-broken]");
}

} // namespace
