// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Csv.h"
#include "lib/Report/MeasurementReport.h"

#include <fmt/format.h>

using namespace netc;
using llvm::json::OStream;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Writes a measured number to six digits; null if it is not known.
static void measured(OStream &json, llvm::StringRef key,
                     std::optional<double> value) {
  if (!value)
    return json.attribute(key, nullptr);
  json.attributeBegin(key);
  json.rawValue(fmt::format("{:.6g}", *value));
  json.attributeEnd();
}

static std::optional<double> quotient(double part,
                                      std::optional<double> whole) {
  return whole && *whole > 0 ? std::optional(part / *whole) : std::nullopt;
}

/// Writes FLOP, their rate, and its shares of the peaks.
static void printRate(OStream &json, llvm::StringRef key, const Rate &rate,
                      const Measurement &measurement, const Peaks &peaks) {
  json.attributeObject(key, [&] {
    json.attribute("flop", rate.flop());
    measured(json, "seconds", rate.seconds);
    measured(json, "flops", quotient(rate.flop(), rate.seconds));
    measured(json, "of_measured", rate.ofMeasured(peaks));
    measured(json, "of_datasheet", rate.ofDatasheet(peaks));
    if (measurement.device)
      measured(json, "of_clock", rate.ofClock(measurement));
  });
}

static void work(OStream &json, const Work &work) {
  json.attribute("matmul", work.matmul);
  json.attribute("other", work.other);
  json.attribute("bytes", work.bytes);
  auto time = [&](llvm::StringRef key, double seconds) {
    measured(json, key, work.isTimed ? std::optional(seconds) : std::nullopt);
  };
  json.attributeObject("seconds", [&] {
    time("forward", work.forward);
    time("backward", work.backward);
    time("update", work.update);
    time("total", work.seconds());
  });
  measured(json, "flops", quotient(work.flop(), work.seconds()));
  measured(json, "intensity", quotient(work.flop(), work.bytes));
  llvm::StringRef bound = work.bound();
  json.attribute("bound", bound.empty() ? llvm::json::Value(nullptr) : bound);
  measured(json, "roof_seconds",
           bound.empty() ? std::nullopt : std::optional(work.roof()));
  measured(json, "of_roof", quotient(work.roof(), work.seconds()));
  llvm::StringRef why = work.whyAboveRoof();
  json.attribute("why_above", why.empty() ? llvm::json::Value(nullptr) : why);
}

static void ops(OStream &json, const Measurement &measurement,
                const Peaks &peaks) {
  json.attributeArray("ops", [&] {
    for (const Measurement::Op &op : measurement.ops)
      json.object([&] {
        json.attribute("name", op.name);
        json.attribute("op", op.op);
        json.attribute("phase", op.phase);
        json.attribute("calls", op.calls);
        Work sum;
        sum.add(op, peaks);
        work(json, sum);
      });
  });
  json.attributeArray("parts", [&] {
    for (const MeasuredPart &part : measuredParts(measurement, peaks))
      json.object([&] {
        json.attribute("path", part.path);
        work(json, part.work);
      });
  });
}

static void batch(OStream &json, const Measurement &measurement,
                  const MeasuredRun &run, const Peaks &peaks) {
  json.object([&] {
    json.attribute("batch", measurement.batch);
    json.attribute("steps", measurement.steps);
    json.attribute("warmup", measurement.warmup);
    json.attribute("stable", measurement.stable);
    const Measurement::Step &step = measurement.step;
    json.attributeObject("step", [&] {
      measured(json, "median", step.median);
      measured(json, "low", step.low);
      measured(json, "high", step.high);
    });
    measured(json, "wall", measurement.wall);
    measured(json, "examples_per_second",
             quotient(measurement.batch, step.median));
    json.attributeArray("losses", [&] {
      for (double loss : measurement.losses)
        json.value(loss);
    });
    printRate(json, "model", modelRate(measurement), measurement, peaks);
    printRate(json, "hardware", hardwareRate(measurement), measurement, peaks);
    printRate(json, "all", rateOfAll(measurement), measurement, peaks);
    json.attributeObject("formats", [&] {
      for (const auto &[format, rate] : ratesByFormat(measurement))
        printRate(json, format, rate, measurement, peaks);
    });
    json.attributeObject("methods", [&] {
      for (Method method : allMethods) {
        if (std::optional<Rate> by = rateBy(method, run, measurement))
          printRate(json, nameOf(method), *by, measurement, peaks);
        else
          json.attribute(nameOf(method), nullptr);
      }
    });
    BackwardRatio ratio = backwardRatio(measurement);
    json.attributeObject("backward_over_forward", [&] {
      measured(json, "time", ratio.time);
      measured(json, "flop", ratio.flop);
    });
    measured(json, "outside_of_ops", outsideOfOps(measurement));
    MatmulShare share = matmulShare(measurement);
    json.attributeObject("matmul", [&] {
      measured(json, "time", share.time);
      measured(json, "flop", share.flop);
    });
    json.attributeObject("memory", [&] {
      json.attribute("arena", measurement.arena);
      json.attribute("buffers", measurement.buffers);
      json.attribute("peak_rss", measurement.peakRss);
    });
    json.attribute("data", measurement.dataText);
    if (measurement.device)
      json.attribute("device", measurement.deviceText);
    ops(json, measurement, peaks);
  });
}

/// What a point sets, if anything.
static void
printValues(OStream &json,
            const std::vector<std::pair<std::string, std::string>> &values) {
  if (!values.empty())
    json.attributeObject("values", [&] {
      for (const auto &[name, value] : values)
        json.attribute(name, value);
    });
}

void netc::printJson(llvm::raw_ostream &os, const MeasurementReport &report) {
  OStream json(os, /*IndentSize=*/2);
  const Measurement &any = report.runs.front().batches.front();
  json.object([&] {
    json.attribute("format", 1);
    json.attribute("netc", report.version);
    // The conventions of the ops, which peaks have, too; not those of the run.
    json.attributeObject("conventions", [&] {
      json.attribute("fma", 2);
      json.attribute("causal", "full");
    });
    json.attribute("threads", any.threads);
    // The last program has the highest peaks.
    json.attribute("machine", report.runs.back().batches.back().machineText);
    json.attributeArray("runs", [&] {
      for (const MeasuredRun &run : report.runs)
        json.object([&] {
          const Measurement &first = run.batches.front();
          json.attribute("name", first.run);
          json.attribute("network", first.network);
          printValues(json, run.values);
          json.attribute("lowering", first.lowering);
          json.attributeObject("target", [&] {
            json.attribute("name", first.target);
            json.attribute("isa", first.isa);
            json.attribute("cpu", first.cpu);
          });
          json.attributeArray("batches", [&] {
            for (const Measurement &measurement : run.batches)
              batch(json, measurement, run, report.peaks);
          });
        });
    });
    if (!report.misfits.empty())
      json.attributeArray("misfits", [&] {
        for (const Misfit &misfit : report.misfits)
          json.object([&] {
            json.attribute("name", misfit.run);
            printValues(json, misfit.values);
            json.attribute("batch", misfit.batch);
            json.attribute("needed", misfit.needed);
            json.attribute("available", misfit.available);
          });
      });
  });
  os << '\n';
}

//===----------------------------------------------------------------------===//
// CSV
//===----------------------------------------------------------------------===//

static std::string field(std::optional<double> value) {
  return value ? fmt::format("{:.6g}", *value) : "";
}

void netc::printCsv(llvm::raw_ostream &os, const MeasurementReport &report) {
  os << "run,network,values,batch,threads,isa,clock,peak,step,steps,wall,name,"
        "op,"
        "format,phase,calls,matmul,other,bytes,"
        "seconds,flops,intensity,bound,roof_seconds,of_roof,why_above,"
        "needed,available\r\n";
  for (const MeasuredRun &run : report.runs)
    for (const Measurement &measurement : run.batches)
      for (const Measurement::Op &op : measurement.ops) {
        Work work;
        work.add(op, report.peaks);
        os << csvField(measurement.run) << ',' << csvField(measurement.network)
           << ',' << csvField(textOf(run.values)) << ',' << measurement.batch
           << ',' << measurement.threads << ','
           << csvField(measurement.gpu.empty() ? measurement.isa
                                               : measurement.cpu)
           << ',' << field(report.peaks.clock) << ','
           << field(report.peaks.measured
                        ? std::optional(report.peaks.flopsOf(op.format))
                        : std::nullopt)
           << ',' << field(measurement.step.median) << ',' << measurement.steps
           << ',' << field(measurement.wall) << ',' << csvField(op.name) << ','
           << op.op << ',' << op.format << ',' << op.phase << ','
           << (op.calls ? std::to_string(*op.calls) : "") << ',' << op.matmul
           << ',' << op.other << ',' << work.bytes << ',' << field(op.seconds)
           << ',' << field(quotient(op.flop(), op.seconds)) << ','
           << field(quotient(op.flop(), work.bytes)) << ',' << work.bound()
           << ',' << (work.bound().empty() ? "" : field(work.roof())) << ','
           << field(quotient(work.roof(), op.seconds)) << ','
           << work.whyAboveRoof() << ",,\r\n";
      }
  // A misfit has no op.
  for (const Misfit &misfit : report.misfits)
    os << csvField(misfit.run) << ",," << csvField(textOf(misfit.values)) << ','
       << (misfit.batch ? std::to_string(*misfit.batch) : "")
       << std::string(23, ',') << misfit.needed << ',' << misfit.available
       << "\r\n";
}
