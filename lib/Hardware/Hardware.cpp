// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Hardware/Hardware.h"

#include "dialect/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// One accelerator
//===----------------------------------------------------------------------===//

std::optional<int> Accelerator::year() const {
  int year;
  if (StringRef(released).take_front(4).getAsInteger(10, year))
    return std::nullopt;
  return year;
}

bool Accelerator::hasPeaksOf(const Accelerator &other) const {
  return std::equal(peaks.begin(), peaks.end(), other.peaks.begin(),
                    other.peaks.end(), [](const Peak &a, const Peak &b) {
                      return a.format == b.format && a.unit == b.unit &&
                             a.flopPerSecond.value == b.flopPerSecond.value;
                    });
}

const Peak *Accelerator::fastest(NumberFormat format) const {
  auto fastestOf = [&](NumberFormat exactly) {
    const Peak *best = nullptr;
    for (const Peak &peak : peaks)
      if (peak.format == exactly && peak.unit != ArithmeticUnit::NarrowMatrix &&
          (!best || best->flopPerSecond.value < peak.flopPerSecond.value))
        best = &peak;
    return best;
  };
  const Peak *best = fastestOf(format);
  // A datasheet mostly has one number for both 8-bit formats.
  if (!best && format == NumberFormat::F8E5M2)
    return fastestOf(NumberFormat::F8E4M3);
  if (!best && format == NumberFormat::F8E4M3)
    return fastestOf(NumberFormat::F8E5M2);
  return best;
}

llvm::Expected<PeakChoice> Accelerator::peakFor(NumberFormat format) const {
  StringRef formatName = traitsOf(format).name;
  const Peak *peak = fastest(format);
  const Peak *asF32 = fastest(f32RunsAs.value_or(NumberFormat::F32));
  bool mayRunAsF32 = format == NumberFormat::F16 ||
                     format == NumberFormat::BF16 ||
                     format == NumberFormat::TF32;
  if (format == NumberFormat::F32 ||
      (mayRunAsF32 && asF32 &&
       (!peak || peak->flopPerSecond.value < asF32->flopPerSecond.value)))
    peak = asF32;

  if (peaks.empty())
    return llvm::createStringError(
        "`" + name + "` does not say which accelerator: its peak is unknown");
  if (!peak) {
    std::vector<StringRef> known;
    for (const FormatTraits &traits : allFormats())
      if (llvm::any_of(peaks, [&](const Peak &other) {
            return other.format == traits.format;
          }))
        known.push_back(traits.name);
    return llvm::createStringError("no " + formatName + " rate is known for `" +
                                   name + "`, only " + llvm::join(known, ", "));
  }

  StringRef takenName = traitsOf(peak->format).name;
  PeakChoice choice{*peak, (takenName + (peak->unit == ArithmeticUnit::Vector
                                             ? " on vector units"
                                             : " on matrix units"))
                               .str()};
  if (format == NumberFormat::F32 && peak->format != format)
    choice.reason += ("; `" + name + "` runs f32 as " + takenName).str();
  else if (mayRunAsF32 && peak->format != format)
    choice.reason += ("; `" + name + "` has no faster " + formatName).str();
  return choice;
}

/// A device that is one part of `whole`.
static Accelerator partOf(Accelerator whole) {
  auto share = [&](std::optional<Figure> &figure) {
    if (figure)
      figure->value /= whole.parts;
  };
  for (Peak &peak : whole.peaks)
    peak.flopPerSecond.value /= whole.parts;
  share(whole.memoryBytes);
  share(whole.bandwidthBytesPerSecond);
  share(whole.watts);
  whole.linkBytesPerSecond.reset();
  whole.linkKind.clear();
  whole.aliases.clear();
  whole.title += ", one " + whole.part + " of " + std::to_string(whole.parts);
  whole.name += "_" + whole.part;
  whole.part.clear();
  whole.parts = 1;
  return whole;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

std::string netc::nameKey(StringRef name) {
  std::string key;
  for (char c : name)
    if (c != '-' && c != '_' && c != ' ')
      key += llvm::toLower(c);
  return key;
}

const AcceleratorTable::Name *
AcceleratorTable::lookUp(const std::string &key) const {
  auto found = names.find(key);
  return found == names.end() ? nullptr : &found->second;
}

void AcceleratorTable::add(Accelerator accelerator) {
  size_t index = entries.size();
  std::string key = nameKey(accelerator.name);
  const Name *known = lookUp(key);
  if (known && nameKey(entries[known->index].name) == key)
    index = known->index;
  else
    entries.emplace_back();

  for (const std::string &alias : accelerator.aliases)
    names[nameKey(alias)] = {index, alias};
  if (!accelerator.title.empty())
    names[nameKey(accelerator.title)] = {index, accelerator.title};
  names[key] = {index, accelerator.name};
  entries[index] = std::move(accelerator);
}

std::optional<Accelerator> AcceleratorTable::find(StringRef name) const {
  std::string key = nameKey(name);
  if (const Name *found = lookUp(key)) {
    const Name *singular =
        name.ends_with("s") ? lookUp(key.substr(0, key.size() - 1)) : nullptr;
    if (singular && singular->index != found->index)
      return std::nullopt;
    return entries[found->index];
  }
  for (const Accelerator &whole : entries) {
    StringRef rest = key;
    if (whole.part.empty() || !rest.consume_back(whole.part))
      continue;
    const Name *found = lookUp(rest.str());
    if (found && &entries[found->index] == &whole)
      return partOf(whole);
  }
  return std::nullopt;
}

std::string AcceleratorTable::didYouMean(StringRef name) const {
  std::string key = nameKey(name);
  const Name *plural = name.ends_with("s") ? lookUp(key) : nullptr;
  if (plural)
    if (const Name *singular = lookUp(key.substr(0, key.size() - 1)))
      return "; did you mean `" + singular->text + "` or `" + plural->text +
             "`?";
  std::vector<StringRef> keys;
  for (const auto &known : names)
    keys.push_back(known.first);
  const Name *meant = lookUp(nearestName(key, keys).str());
  return netc::didYouMean(meant ? StringRef(meant->text) : StringRef());
}

StringRef AcceleratorTable::source(StringRef id) const {
  auto found = sources.find(id.str());
  return found == sources.end() ? StringRef() : found->second;
}

const TypicalPeak *AcceleratorTable::typical(int year) const {
  auto found = typicalPeaks.find(year);
  return found == typicalPeaks.end() ? nullptr : &found->second;
}

std::pair<int, const TypicalPeak *>
AcceleratorTable::nearestTypical(int year) const {
  std::pair<int, const TypicalPeak *> nearest{year, nullptr};
  for (auto &[other, peak] : typicalPeaks)
    if (!nearest.second ||
        std::abs(other - year) < std::abs(nearest.first - year))
      nearest = {other, &peak};
  return nearest;
}
