// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/AuditReport.h"

#include "lib/Audit/Rules.h"
#include "lib/Report/Csv.h"
#include "lib/Report/JsonParts.h"

#include <fmt/format.h>

using namespace netc;
using namespace netc::audit;
using llvm::StringRef;
using llvm::json::OStream;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static double secondsOf(int64_t nanoseconds) { return nanoseconds * 1e-9; }

/// Seconds; none if the trace has no times.
static std::optional<double> secondsOf(const Audit &audit,
                                       int64_t nanoseconds) {
  return audit.step.hasTimes ? std::optional(secondsOf(nanoseconds))
                             : std::nullopt;
}

static void ruleOf(OStream &json, StringRef key, const RowClaim &claim,
                   const Row &row) {
  if (!claim.differs(row))
    return json.attribute(key, nullptr);
  json.attribute(key, claim.rules.empty() ? "unexplained"
                                          : claim.rules.front().rule->id);
}

static void traceOf(OStream &json, const Audit &audit) {
  const trace::Trace &trace = *audit.trace;
  json.attributeObject("trace", [&] {
    json.attribute("file", llvm::json::fixUTF8(audit.file));
    json.attribute("format", trace.format);
    json.attribute("tool", trace.tool);
    json.attributeObject("device", [&] {
      if (trace.device.empty())
        json.attribute("name", nullptr);
      else
        json.attribute("name", llvm::json::fixUTF8(trace.device));
      json.attribute("count", trace.devices);
    });
    json.attributeObject("has", [&] {
      json.attribute("shapes", trace.hasShapes);
      json.attribute("sequence", trace.hasSequence);
      json.attribute("kernels", !trace.kernels.empty());
      json.attribute("modules", trace.hasModules);
    });
    json.attributeObject("events", [&] {
      json.attribute("read", int64_t(trace.read));
      json.attribute("kept", int64_t(trace.host.size() + trace.kernels.size()));
      json.attribute("broken", int64_t(trace.broken));
      json.attributeObject("dropped", [&] {
        for (const auto &[category, events] : trace.dropped)
          json.attribute(category, int64_t(events));
      });
    });
    json.attribute("steps", int64_t(audit.step.steps));
    json.attribute("cut_steps", int64_t(audit.step.cutSteps));
    json.attribute("step", trace::shownName(audit.step.name));
    json.attribute("seconds",
                   audit.step.duration() > 0
                       ? std::optional(secondsOf(audit.step.duration()))
                       : std::nullopt);
    json.attribute("host_seconds",
                   audit.step.end > audit.step.start
                       ? secondsOf(audit, audit.step.end - audit.step.start)
                       : std::nullopt);
    json.attribute("memory", audit.step.memory);
  });
}

/// Writes levels, or null if there are none.
static void unitLevelsOf(OStream &json, StringRef key,
                         const UnitLevels *levels) {
  if (!levels)
    return json.attribute(key, nullptr);
  json.attributeObject(key, [&] {
    for (const Level &level : unitLevels())
      json.attribute(level.id, levels->*level.value);
  });
}

static void rowOf(OStream &json, const Audit &audit, const Row &row) {
  json.object([&] {
    json.attribute("layer", llvm::json::fixUTF8(row.layer));
    json.attribute("phase", row.phase);
    json.attribute("op", llvm::json::fixUTF8(row.op));
    json.attribute("confidence", nameOf(row.confidence));
    for (auto [key, flop] :
         {std::pair("exact", row.exact), {"traced", row.traced}}) {
      if (row.isUnknown)
        json.attribute(key, nullptr);
      else
        number(json, key, flop);
    }
    json.attributeObject("claims", [&] {
      for (auto [claim, has] : llvm::zip(audit.claims, row.claims))
        json.attributeObject(claim.id, [&] {
          if (has.isUnknown)
            json.attribute("flop", nullptr);
          else
            number(json, "flop", has.flop);
          ruleOf(json, "rule", has, row);
        });
    });
    json.attributeArray("events", [&] {
      for (unsigned product : row.products)
        json.value(int64_t(audit.step.products[product].event));
    });
    json.attribute("kernels", row.kernels);
    json.attribute("seconds", secondsOf(audit, row.nanoseconds));
    unitLevelsOf(json, "levels", row.levels.get());
  });
}

static void unmatched(OStream &json, const Audit &audit) {
  auto list = [&](StringRef key, bool ofTrace) {
    json.attributeArray(key, [&] {
      for (auto [i, row] : llvm::enumerate(audit.rows))
        if (!row.other && (ofTrace ? !row.isSpecified : !row.isTraced))
          json.value(int64_t(i));
    });
  };
  json.attributeObject("unmatched", [&] {
    list("specification", false);
    list("trace", true);
  });
}

static void coverageOf(OStream &json, const Audit &audit) {
  json.attributeObject("coverage", [&] {
    json.attributeObject("flop", [&] {
      for (Confidence confidence : {Confidence::Exact, Confidence::Sum,
                                    Confidence::Order, Confidence::None})
        number(json, nameOf(confidence),
               audit.coverage.flop[unsigned(confidence)]);
    });
    json.attribute("share", audit.coverage.share().toDouble());
    json.attribute("time", audit.coverage.time);
    json.attribute("joined", audit.joined ? std::optional(audit.joined->time)
                                          : std::nullopt);
    if (!audit.divergence)
      return json.attribute("first_divergence", nullptr);
    json.attributeObject("first_divergence", [&] {
      auto lines = [&](StringRef key, llvm::ArrayRef<std::string> texts) {
        json.attributeArray(key, [&] {
          for (const std::string &text : texts)
            json.value(llvm::json::fixUTF8(text));
        });
      };
      lines("specification", audit.divergence->specified);
      lines("trace", audit.divergence->traced);
    });
  });
}

static void claimsOf(OStream &json, const Audit &audit) {
  json.attributeArray("claims", [&] {
    for (auto [i, claim] : llvm::enumerate(audit.claims))
      json.object([&] {
        json.attribute("id", claim.id);
        json.attribute("source", claim.source);
        number(json, "total", claim.total);
        number(json, "of_unknown", claim.ofUnknown);
        estimate(json, "ratio", ratioOf(audit, claim));
        json.attributeArray("rules", [&] {
          for (const RuleShare &share : sharesOfRules(audit, i))
            json.object([&] {
              json.attribute("rule",
                             share.rule ? share.rule->id : "unexplained");
              json.attribute("rows", int64_t(share.rows));
              number(json, "difference", share.difference);
            });
        });
      });
  });
}

static void stepLevelsOf(OStream &json, const Audit &audit) {
  const Levels &levels = audit.step.levels;
  json.attributeObject("levels", [&] {
    auto shares = [&](const KernelTimes &times, double of) {
      auto share = [&](StringRef key, int64_t time) {
        json.attribute(key, times.kernels && of > 0 ? std::optional(time / of)
                                                    : std::nullopt);
      };
      share("gpu", times.sum);
      share("gpu_union", times.unionOfAll);
      share("gpu_without_communication", times.withoutCommunication);
    };
    shares(levels, double(audit.step.deviceTime()));
    json.attributeArray("devices", [&] {
      for (const DeviceTimes &device : levels.devices)
        json.object([&] {
          json.attribute("device", device.device);
          json.attribute("kernels", device.kernels);
          shares(device, double(audit.step.duration()));
        });
    });
    for (const Level &level : unitLevels())
      json.attribute(level.id, audit.levels ? audit.levels->levels.*level.value
                                            : std::optional<double>());
    json.attribute("tensor_issue_cap", audit.gpu.tensorIssueCap());
    unitLevelsOf(json, "joined",
                 audit.levels ? &audit.levels->joined : nullptr);
  });
}

static void utilizationOf(OStream &json, const Audit &audit) {
  json.attributeObject("utilization", [&] {
    estimate(json, "mfu", modelUtilization(audit, audit.ranModel));
    estimate(json, "hfu", modelUtilization(audit, audit.ranHardware));
    estimate(json, "in_kernels", utilizationInKernels(audit));
    json.attribute("at_clock", utilizationAtClock(audit));
    estimate(json, "peak",
             audit.run ? audit.run->peakOf(&Figures::model)
                       : std::optional<Rational>());
    json.attributeObject("by_claim", [&] {
      for (const Claim &claim : audit.claims)
        estimate(json, claim.id, modelUtilization(audit, claim.total));
    });
  });
}

static void auditOf(OStream &json, const Audit &audit) {
  traceOf(json, audit);
  if (const Run *run = audit.run)
    json.attributeObject("run", [&] {
      json.attribute("name", run->name());
      json.attribute("network", run->network());
      json.attributeObject("sizes", [&] {
        for (const auto &[axis, size] : audit.sizes)
          number(json, axis, size);
      });
      json.attribute("micro_batches",
                     std::max(int64_t(audit.passes.size()), int64_t(1)));
      estimate(json, "examples", audit.examples());
      estimate(json, "memory", audit.memory);
    });
  else
    json.attribute("run", nullptr);
  coverageOf(json, audit);
  number(json, "exact", audit.model);
  number(json, "exact_hardware", audit.hardware);
  claimsOf(json, audit);
  json.attributeArray("rows", [&] {
    for (const Row &row : audit.rows)
      rowOf(json, audit, row);
  });
  json.attributeArray("unknown", [&] {
    for (const Unknown &unknown : audit.unknown)
      json.object([&] {
        json.attribute(unknown.isKernel ? "kernel" : "op",
                       llvm::json::fixUTF8(unknown.name));
        json.attribute("times", unknown.times);
        json.attribute("seconds", secondsOf(audit, unknown.nanoseconds));
      });
  });
  json.attributeArray("kernels", [&] {
    for (const KernelRow &row : audit.kernels)
      json.object([&] {
        json.attribute("name", llvm::json::fixUTF8(row.name));
        json.attribute("launches", row.launches);
        json.attribute("seconds", secondsOf(row.nanoseconds));
        unitLevelsOf(json, "levels", row.levels.get());
      });
  });
  unmatched(json, audit);
  stepLevelsOf(json, audit);
  utilizationOf(json, audit);
  json.attributeArray("notes", [&] {
    for (const Note &note : audit.notes)
      json.object([&] {
        json.attribute("id", note.id);
        json.attribute("text", llvm::json::fixUTF8(note.text));
      });
  });
}

void netc::printAuditJson(llvm::raw_ostream &os, const AuditReport &report) {
  OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("format", 1);
    json.attribute("netc", report.version);
    json.attributeObject("conventions", [&] { json.attribute("fma", 2); });
    json.attributeArray("audits", [&] {
      for (const Audit *audit : report.audits)
        json.object([&] { auditOf(json, *audit); });
    });
    json.attributeArray("expects", [&] {
      for (const Verdict &verdict : report.expects)
        expect(json, verdict);
    });
    json.attributeArray("warnings", [&] {
      for (const Warning &item : report.warnings)
        warning(json, item);
    });
  });
  os << '\n';
}

//===----------------------------------------------------------------------===//
// CSV
//===----------------------------------------------------------------------===//

/// A CSV field. Names come from the trace, so text that a spreadsheet would
/// take for a formula gets an apostrophe in front.
static std::string field(StringRef text) {
  bool isFormula = !text.empty() && StringRef("=+-@").contains(text.front());
  return csvField(isFormula ? "'" + text.str() : text.str());
}

/// The last fields of a row: the number of devices, and how busy they were.
static void csvLevels(llvm::raw_ostream &os, const Audit &audit,
                      std::optional<double> gpu, const UnitLevels *levels) {
  os << ',' << audit.step.levels.devices.size();
  auto share = [&](std::optional<double> value) {
    os << ',' << (value ? fmt::format("{:.6g}", *value) : "");
  };
  share(gpu);
  for (const Level &level : unitLevels())
    share(levels ? *levels.*level.value : std::nullopt);
  os << "\r\n";
}

static void csvSeconds(llvm::raw_ostream &os, std::optional<double> seconds) {
  os << ',' << (seconds ? fmt::format("{}", *seconds) : "");
}

static void csvRow(llvm::raw_ostream &os, const Audit &audit, const Row &row,
                   llvm::ArrayRef<StringRef> claims) {
  os << ',' << field(row.layer) << ',' << row.phase << ',' << field(row.op)
     << ',' << nameOf(row.confidence) << ',';
  if (row.isUnknown)
    os << ',';
  else
    os << row.exact << ',' << row.traced;
  os << ',' << row.kernels;
  csvSeconds(os, secondsOf(audit, row.nanoseconds));
  for (StringRef id : claims) {
    auto claim = llvm::find_if(
        audit.claims, [&](const Claim &claim) { return claim.id == id; });
    if (claim == audit.claims.end()) {
      os << ",,";
      continue;
    }
    const RowClaim &has = row.claims[claim - audit.claims.begin()];
    os << ',' << (has.isUnknown ? "" : has.flop.str()) << ',';
    if (has.differs(row))
      os << (has.rules.empty() ? "unexplained" : has.rules.front().rule->id);
  }
  csvLevels(os, audit, audit.shareOfStep(row), row.levels.get());
}

static void csvRow(llvm::raw_ostream &os, const Audit &audit,
                   const KernelRow &row, llvm::ArrayRef<StringRef> claims) {
  os << ",,kernel," << field(row.name) << ",,,," << row.launches;
  csvSeconds(os, row.nanoseconds ? std::optional(secondsOf(row.nanoseconds))
                                 : std::nullopt);
  for (size_t i = 0; i < claims.size(); ++i)
    os << ",,";
  // Counters alone do not tell the time of the step.
  bool isStep = !audit.hasCountersAlone() && audit.wholeTime() > 0;
  csvLevels(os, audit,
            isStep ? std::optional(double(row.nanoseconds) /
                                   double(audit.wholeTime()))
                   : std::nullopt,
            row.levels.get());
}

void netc::printAuditCsv(llvm::raw_ostream &os, const AuditReport &report) {
  std::vector<StringRef> claims;
  for (const Audit *audit : report.audits)
    for (const Claim &claim : audit->claims)
      if (!llvm::is_contained(claims, claim.id))
        claims.push_back(claim.id);
  os << "trace,run,layer,phase,op,confidence,exact,traced,kernels,seconds";
  for (StringRef id : claims)
    os << ',' << field(id) << ',' << field((id + " rule").str());
  os << ",devices,gpu";
  for (const Level &level : unitLevels())
    os << ',' << level.id;
  os << "\r\n";
  for (const Audit *audit : report.audits) {
    auto add = [&](const auto &row) {
      os << field(audit->file) << ','
         << (audit->run ? field(audit->run->name()) : "");
      csvRow(os, *audit, row, claims);
    };
    llvm::for_each(audit->rows, add);
    if (audit->rows.empty())
      llvm::for_each(audit->kernels, add);
  }
}
