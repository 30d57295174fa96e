// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/AuditPictures.h"

#include "lib/Audit/Join.h"
#include "lib/Audit/OpNames.h"
#include "lib/Report/Format.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <fmt/format.h>

using namespace netc;
using namespace netc::audit;
using llvm::StringRef;

namespace {
/// A bar; its time is that of the trace, in nanoseconds.
struct Span {
  int64_t start, duration;
  const Row *row; ///< null if it belongs to no product
  std::string title;
  bool mayMultiply = false; ///< of a kernel of no product, by its name
};

/// The bars of one thread or stream.
struct Lane {
  std::string name;
  std::vector<Span> spans;
};

class Timeline {
public:
  explicit Timeline(const Audit &audit) : audit(audit) {
    begin = audit.step.start;
    end = audit.step.end;
    addOps();
    keepLanes(mostLanes / 2);
    addKernels();
    keepLanes(mostLanes);
    keepSpans();
  }

  Picture picture() const {
    Picture picture{"timeline", "Ops and kernels of a step", "", 0};
    if (!audit.step.hasTimes || end <= begin || lanes.empty())
      return picture;
    picture.body = key();
    for (auto [i, lane] : llvm::enumerate(lanes))
      picture.body += draw(lane, top + laneHeight * i);
    picture.body += axis();
    picture.height = top + laneHeight * lanes.size() + axisHeight;
    if (lanesLeftOut || spansLeftOut) {
      picture.body +=
          fmt::format("<text class=\"dim\" x=\"{}\" y=\"{:.1f}\">{}</text>\n",
                      left, picture.height + 15, leftOut());
      picture.height += axisHeight;
    }
    return picture;
  }

private:
  static constexpr double width = Picture::width, left = 90, top = 24,
                          laneHeight = 30, barHeight = 22, axisHeight = 24,
                          leastBar = 0.4;
  static constexpr size_t mostLanes = 32, mostSpans = 20000;

  double x(int64_t time) const {
    return left + (width - left) * double(time - begin) / double(end - begin);
  }

  void addOps() {
    std::map<uint32_t, Lane> byThread;
    for (const Row &row : audit.rows)
      for (unsigned product : row.products) {
        const trace::HostEvent &event =
            audit.trace->host[audit.step.products[product].event];
        byThread[event.thread].spans.push_back(
            {event.start, event.duration, &row, titleOf(row, event.duration)});
      }
    for (auto &[thread, lane] : byThread) {
      lane.name = fmt::format("ops {}", lanes.size() + 1);
      lanes.push_back(std::move(lane));
    }
  }

  void addKernels() {
    std::vector<const Row *> rowOf(audit.step.products.size());
    for (const Row &row : audit.rows)
      for (unsigned product : row.products)
        rowOf[product] = &row;
    trace::OncePerName<std::string> names(
        audit.trace->names, [](StringRef name) {
          return shortened(trace::shownName(name), 80, Keep::First);
        });
    trace::OncePerName<bool> multiplies(audit.trace->names, [](StringRef name) {
      return multipliesByName(kernelBaseName(name));
    });
    std::map<std::pair<int32_t, int32_t>, Lane> byStream;
    for (const StepKernel &each : audit.step.kernels) {
      const trace::DeviceEvent &kernel = audit.trace->kernels[each.kernel];
      const Row *row = each.product ? rowOf[*each.product] : nullptr;
      byStream[{kernel.device, kernel.stream}].spans.push_back(
          {kernel.start, kernel.duration, row,
           names[kernel.name] +
               (row ? "\n" + titleOf(*row, kernel.duration) : ""),
           !row && multiplies[kernel.name]});
      // A kernel may end after its step on the host, or, if clocks differ,
      // start before it.
      begin = std::min(begin, kernel.start);
      end = std::max(end, kernel.end());
    }
    for (auto &[stream, lane] : byStream) {
      lane.name = audit.step.levels.devices.size() > 1
                      ? fmt::format("GPU {} · {}", stream.first, stream.second)
                      : fmt::format("stream {}", stream.second);
      lanes.push_back(std::move(lane));
    }
  }

  static std::string titleOf(const Row &row, int64_t duration) {
    return fmt::format("{} {} {}, {}", row.layer, row.op, row.phase.str(),
                       formatQuantity(Rational::fraction(duration, 1000000000),
                                      Dimension::Time));
  }

  /// A page stays small also if each kernel has a stream of its own.
  void keepLanes(size_t most) {
    size_t kept = std::min(lanes.size(), most);
    lanesLeftOut += lanes.size() - kept;
    lanes.resize(kept);
  }
  void keepSpans() {
    for (Lane &lane : lanes) {
      size_t kept = std::min(lane.spans.size(), mostSpans / lanes.size());
      spansLeftOut += lane.spans.size() - kept;
      lane.spans.resize(kept);
    }
  }

  std::string leftOut() const {
    std::vector<std::string> parts;
    if (lanesLeftOut)
      parts.push_back(fmt::format(
          "{} of {} threads and streams", exact(Rational(lanesLeftOut)),
          exact(Rational(lanes.size() + lanesLeftOut))));
    if (spansLeftOut)
      parts.push_back(
          fmt::format("the last {} bars", exact(Rational(spansLeftOut))));
    return "left out: " + llvm::join(parts, "; ");
  }

  static StringRef classOf(const Span &span) {
    if (!span.row)
      return span.mayMultiply ? "unknown" : "other";
    StringRef phase = span.row->phase;
    return phase == "forward"     ? "forward"
           : phase == "recompute" ? "again"
                                  : "backward";
  }

  static std::string key() {
    constexpr std::pair<StringRef, StringRef> classes[] = {
        {"forward", "forward"},
        {"backward", "backward"},
        {"again", "run again"},
        {"unknown", "not known"},
        {"other", "no product"}};
    std::string text;
    double at = left;
    for (auto [name, label] : classes) {
      text += fmt::format(
          "<rect class=\"{0}\" x=\"{1}\" y=\"3\" width=\"10\" height=\"10\"/>"
          "<text x=\"{2}\" y=\"13\">{3}</text>\n",
          name.str(), at, at + 15, label.str());
      at += 90;
    }
    return text;
  }

  std::string draw(const Lane &lane, double y) const {
    std::string text =
        fmt::format("<text class=\"dim\" y=\"{:.1f}\">{}</text>\n", y + 15,
                    escapedHtml(lane.name));
    for (const Span &span : lane.spans)
      text += fmt::format(
          "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
          "height=\"{}\"><title>{}</title></rect>\n",
          classOf(span).str(), x(span.start), y,
          std::max(leastBar, x(span.start + span.duration) - x(span.start)),
          barHeight, escapedHtml(span.title));
    return text;
  }

  std::string axis() const {
    constexpr int marks = 8;
    double y = top + laneHeight * lanes.size();
    std::string text = fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n", left, width, y, y);
    double whole = double(end - begin),
           unit = std::pow(10, std::floor(std::log10(whole / marks)));
    for (double step : {1., 2., 5., 10.})
      if (unit * step * marks >= whole) {
        unit *= step;
        break;
      }
    constexpr double halfOfLabel = 30;
    for (double at = 0; at <= whole; at += unit)
      text += fmt::format(
          "<text class=\"dim\" x=\"{:.1f}\" y=\"{:.1f}\" "
          "text-anchor=\"{}\">{}</text>\n",
          x(begin + int64_t(at)), y + 16,
          x(begin + int64_t(at)) + halfOfLabel > width ? "end" : "middle",
          at == 0 ? "0"
                  : formatQuantity(Rational::fraction(int64_t(at), 1000000000),
                                   Dimension::Time));
    return text;
  }

  const Audit &audit;
  std::vector<Lane> lanes;
  size_t lanesLeftOut = 0, spansLeftOut = 0;
  int64_t begin, end;
};
} // namespace

Picture netc::timelineOf(const Audit &audit) {
  return Timeline(audit).picture();
}

namespace {
/// FLOP of a layer by one count.
struct Counted {
  Rational flop;
  bool isPartial = false; ///< whether those of a product are not known

  void add(const Rational &more, bool isUnknown) {
    flop += more;
    isPartial |= isUnknown;
  }
  std::string text() const {
    return isPartial ? flop.isZero() ? "?" : "≥ " + inFlop(flop) : inFlop(flop);
  }
};

/// The exact count of a layer, and then that of each claim.
struct LayerCounts {
  std::string layer;
  std::vector<Counted> counts;
};
} // namespace

/// The counts of layers in program order.
static std::vector<LayerCounts> countsOfLayers(const Audit &audit) {
  std::vector<LayerCounts> layers;
  for (const Row &row : audit.rows) {
    if (row.other)
      continue;
    const std::string &layer = row.layer.empty() ? row.op : row.layer;
    auto found = llvm::find_if(
        layers, [&](const LayerCounts &each) { return each.layer == layer; });
    if (found == layers.end()) {
      layers.push_back({layer, std::vector<Counted>(audit.claims.size() + 1)});
      found = layers.end() - 1;
    }
    found->counts[0].add(row.exact, row.isUnknown);
    for (auto [i, claim] : llvm::enumerate(row.claims))
      found->counts[i + 1].add(claim.flop, claim.isUnknown);
  }
  return layers;
}

Picture netc::claimBarsOf(const Audit &audit) {
  Picture picture{"claims", "FLOP by layer, exact and as tools count them", "",
                  0};
  if (!audit.isComparable() || audit.claims.empty())
    return picture;
  std::vector<LayerCounts> layers = countsOfLayers(audit);
  constexpr size_t most = 60;
  layers.resize(std::min(layers.size(), most));
  if (layers.empty())
    return picture;
  constexpr double left = 260, right = 90, thickness = 12, gap = 8, top = 24;
  double height = (audit.claims.size() + 1) * thickness + gap;
  Rational largest = 1;
  for (const LayerCounts &each : layers)
    for (const Counted &count : each.counts)
      largest = std::max(largest, count.flop);
  picture.height = top + height * layers.size();
  std::string &text = picture.body;
  constexpr double letter = 6.4;
  double at = left;
  auto key = [&](size_t i, StringRef name) {
    text += fmt::format(
        "<rect class=\"claim{0}\" x=\"{1:.0f}\" y=\"3\" width=\"10\" "
        "height=\"10\"/><text x=\"{2:.0f}\" y=\"13\">{3}</text>\n",
        i, at, at + 15, escapedHtml(name));
    at += 15 + letter * name.size() + 20;
  };
  key(0, "exact");
  for (auto [i, claim] : llvm::enumerate(audit.claims))
    key(i + 1, claim.id);
  for (auto [i, each] : llvm::enumerate(layers)) {
    double y = top + height * i;
    text += fmt::format("<text class=\"right\" x=\"{:.0f}\" "
                        "y=\"{:.1f}\">{}</text>\n",
                        left - 8, y + thickness - 2,
                        escapedHtml(pictureLabel(each.layer)));
    for (const Counted &count : each.counts) {
      double length =
          (count.flop / largest).toDouble() * (Picture::width - left - right);
      text += fmt::format(
          "<rect class=\"claim{}\" x=\"{}\" y=\"{:.1f}\" width=\"{:.2f}\" "
          "height=\"{}\"/><text class=\"dim small\" x=\"{:.1f}\" "
          "y=\"{:.1f}\">{}</text>\n",
          &count - each.counts.data(), left, y, length, thickness - 2,
          left + length + 5, y + thickness - 3, count.text());
      y += thickness;
    }
  }
  return picture;
}
