// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_HARDWARE_HARDWARE_H
#define NETC_LIB_HARDWARE_HARDWARE_H

#include "dialect/Rational.h"
#include "lib/Hardware/NumberFormat.h"

#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace netc {

/// A number and where it is from.
struct Figure {
  Rational value;
  /// Ids of AcceleratorTable::source with remarks, the first being the source
  /// taken: `E25 D`, `HP (67); GK 66.9`. May be empty.
  std::string source;
  /// The sources conflict or are weak.
  bool isUncertain = false;
};

enum class ArithmeticUnit {
  Vector,
  Matrix,      ///< 16-bit formats accumulate in f32
  NarrowMatrix ///< accumulates in f16; no training peak
};

/// A dense peak; 2:4 sparsity is never counted. An FMA is two FLOP.
struct Peak {
  NumberFormat format;
  ArithmeticUnit unit;
  Figure flopPerSecond; ///< OP/s for an integer format
};

/// The peak that a utilization is measured against.
struct PeakChoice {
  Peak peak;
  /// What was taken and why: "bf16 on matrix units", "f32 on vector units;
  /// `K40` has no faster f16".
  std::string reason;
};

/// One device, as a specification counts them: a chip, or a board of several.
struct Accelerator {
  std::string name; ///< an identifier of the language
  std::string title;
  std::vector<std::string> aliases;
  std::string vendor;
  std::string released; ///< `2017-06`, `2017`, or empty
  std::string note;
  std::vector<Peak> peaks;
  /// The format that f32 matmuls run in unless told otherwise, if not f32.
  std::optional<NumberFormat> f32RunsAs;
  /// The marketed figure, a GB being 10^9 bytes.
  std::optional<Figure> memoryBytes;
  std::optional<Figure> bandwidthBytesPerSecond;
  /// To other devices; `linkKind` says over what and in which directions.
  std::optional<Figure> linkBytesPerSecond;
  std::string linkKind;
  std::optional<Figure> watts;
  /// What a device has several of: two `core` in a TPUv3. Empty if nothing.
  std::string part;
  unsigned parts = 1;

  std::optional<int> year() const;

  /// Whether all peaks are those of `other`, which may differ in memory.
  bool hasPeaksOf(const Accelerator &other) const;
  /// The faster of the vector and matrix units, or null.
  const Peak *fastest(NumberFormat format) const;

  /// The peak for matmuls in `format`. Formats that frameworks run in f32 where
  /// that is faster or the only way (f16, bf16, tf32) fall back to it. An error
  /// if the table has no figure; it names those it has.
  llvm::Expected<PeakChoice> peakFor(NumberFormat format) const;
};

/// What the hardware of a year's notable models could do: the geometric mean.
struct TypicalPeak {
  Rational f32FlopPerSecond;  ///< vector units
  Rational bestFlopPerSecond; ///< the better of f32 and 16-bit matrix units
  unsigned models = 0;        ///< below 5 it is a guess
  std::string chips;          ///< the most used
};

/// Prints as `file:line:column: message`; without a place in the file, line is
/// 0 and only the file is printed.
class HardwareError : public llvm::ErrorInfo<HardwareError> {
public:
  static char ID;

  HardwareError(llvm::StringRef file, unsigned line, unsigned column,
                const llvm::Twine &message);
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  std::string file;
  unsigned line, column; ///< 1-based
  std::string message;
};

/// The accelerators by name. Names are compared without case, `-`, `_` and
/// spaces.
class AcceleratorTable {
public:
  AcceleratorTable() = default;

  /// The table that travels in the binary, Accelerators.yaml.
  static AcceleratorTable builtin();

  /// Adds the accelerators of a YAML text of the shape of Accelerators.yaml. On
  /// an error, a HardwareError, the table is as before. Anchors and aliases are
  /// refused.
  llvm::Error addText(llvm::StringRef text, llvm::StringRef fileName);

  /// An accelerator of a name that is there replaces that one, and keeps what
  /// else it is called; otherwise it is new, and takes the names that it gives
  /// from the accelerators that had them.
  void add(Accelerator accelerator);

  /// By name, title or alias. `TPUv3-core` is a device of one part, with its
  /// share of everything but the link. Lower-case `V100s` is none: it may be
  /// more than one V100 or a V100S.
  std::optional<Accelerator> find(llvm::StringRef name) const;

  /// The end of a message about an unknown name, `; did you mean `x`?`, or
  /// empty.
  std::string didYouMean(llvm::StringRef name) const;

  llvm::ArrayRef<Accelerator> accelerators() const { return entries; }

  /// What an id in Figure::source stands for, or empty.
  llvm::StringRef source(llvm::StringRef id) const;

  /// The peak to impute where only the year of publication is known, or null.
  const TypicalPeak *typical(int year) const;
  /// That of the nearest year that there is one of, the earlier of two; null in
  /// an empty table.
  std::pair<int, const TypicalPeak *> nearestTypical(int year) const;

private:
  friend class AcceleratorReader;
  struct Name {
    size_t index;
    std::string text;
  };

  template <typename Source>
  llvm::Error addTree(Source source, llvm::StringRef fileName);
  const Name *lookUp(const std::string &key) const;

  std::vector<Accelerator> entries;
  std::map<std::string, Name> names; ///< by nameKey
  std::map<std::string, std::string> sources;
  std::map<int, TypicalPeak> typicalPeaks;
};

/// What of a name counts in a comparison.
std::string nameKey(llvm::StringRef name);

} // namespace netc

#endif // NETC_LIB_HARDWARE_HARDWARE_H
