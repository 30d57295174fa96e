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

/// A number with its source.
struct Figure {
  Rational value;
  /// Ids of AcceleratorTable::source with remarks: `E25 D`, `HP (67); GK 66.9`.
  /// The value is from the first source. May be empty.
  std::string source;
  /// Whether the sources conflict or are weak.
  bool isUncertain = false;
};

/// The units of a device that compute products.
enum class ArithmeticUnit {
  Vector,
  Matrix,      ///< accumulates 16-bit formats in f32
  NarrowMatrix ///< accumulates in f16, so it has no training peak
};

/// A dense peak; 2:4 sparsity never counts. An FMA is two FLOP.
struct Peak {
  NumberFormat format;
  ArithmeticUnit unit;
  Figure flopPerSecond; ///< operations per second for an integer format
};

/// The peak to which a utilization refers.
struct PeakChoice {
  Peak peak;
  /// The choice and the reason: "bf16 on matrix units", "f32 on vector units;
  /// `K40` has no faster f16".
  std::string reason;
};

/// A device as specifications count it: a chip, or a board with several chips.
struct Accelerator {
  std::string name; ///< an identifier in the language
  std::string title;
  std::vector<std::string> aliases;
  std::string vendor;
  std::string released; ///< `2017-06`, `2017`, or empty
  std::string note;
  std::vector<Peak> peaks;
  /// The default format of f32 matmuls, if it is not f32.
  std::optional<NumberFormat> f32RunsAs;
  /// Bytes as marketed, with a GB of 10^9 bytes.
  std::optional<Figure> memoryBytes;
  std::optional<Figure> bandwidthBytesPerSecond;
  /// Bytes per second to other devices. `linkKind` names the link and its
  /// directions.
  std::optional<Figure> linkBytesPerSecond;
  std::string linkKind;
  std::optional<Figure> watts;
  /// The name of one of several equal parts: a TPUv3 has two of `core`. Empty
  /// without parts.
  std::string part;
  unsigned parts = 1;

  /// The year of the release; none if it is not known.
  std::optional<int> year() const;

  /// Whether all peaks equal those of `other`. Memory may differ.
  bool hasPeaksOf(const Accelerator &other) const;
  /// The highest peak of the vector and matrix units, or null.
  const Peak *fastest(NumberFormat format) const;

  /// The peak for matmuls in `format`. f16, bf16 and tf32 fall back to f32 if
  /// that is faster or the only figure, as frameworks do. Fails, with the
  /// formats that have a figure, if the table has none.
  llvm::Expected<PeakChoice> peakFor(NumberFormat format) const;
};

/// The geometric mean of the peaks of the hardware that notable models of a
/// year were trained on, in FLOP/s.
struct TypicalPeak {
  Rational f32FlopPerSecond;  ///< vector units
  Rational bestFlopPerSecond; ///< the higher one of f32 and 16-bit matrix units
  /// The number of models; below 5 the mean is a guess.
  unsigned models = 0;
  std::string chips; ///< the most frequent chips
};

/// Prints as `file:line:column: message`. If line is 0, there is no position
/// and only the file is printed.
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

/// The accelerators by name. Comparisons of names ignore case, `-`, `_` and
/// spaces.
class AcceleratorTable {
public:
  AcceleratorTable() = default;

  /// The table that is compiled in, from Accelerators.yaml.
  static AcceleratorTable builtin();

  /// Adds the accelerators of a YAML text in the format of Accelerators.yaml.
  /// Fails with a HardwareError, and leaves the table unchanged. Anchors and
  /// aliases are refused.
  llvm::Error addText(llvm::StringRef text, llvm::StringRef fileName);

  /// Adds an accelerator. It replaces one with the same name, whose other names
  /// stay valid. It takes its title and aliases from accelerators that had
  /// them.
  void add(Accelerator accelerator);

  /// Finds an accelerator by name, title or alias. `TPUv3-core` is one part of
  /// a device: it has its share of every figure, but no link. Returns none for
  /// an ambiguous name: lower-case `V100s` may be several V100 or a V100S.
  std::optional<Accelerator> find(llvm::StringRef name) const;

  /// The end of a message about an unknown name, `; did you mean `x`?`, or
  /// empty.
  std::string didYouMean(llvm::StringRef name) const;

  llvm::ArrayRef<Accelerator> accelerators() const { return entries; }

  /// The source with this id in Figure::source, or empty.
  llvm::StringRef source(llvm::StringRef id) const;

  /// The typical peak of a year, or null.
  const TypicalPeak *typical(int year) const;
  /// The nearest year with a typical peak, the earlier one of two, and that
  /// peak. Null in an empty table.
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

/// The part of a name that comparisons use: lower case, without `-`, `_` and
/// spaces.
std::string nameKey(llvm::StringRef name);

} // namespace netc

#endif // NETC_LIB_HARDWARE_HARDWARE_H
