// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_FORMAT_H
#define NETC_LIB_REPORT_FORMAT_H

#include "lib/Analysis/Analysis.h"
#include "lib/Report/Grid.h"
#include "lib/Units/Units.h"

namespace netc {

/// A number in a readable unit, rounded to four digits: `312 TFLOP/s`. `value`
/// is in the units of Dimension::Base. A polynomial is not rounded.
std::string quantity(const Polynomial &value, const Dimension &dimension);
/// A number of FLOP: `8.178 GFLOP`.
std::string flop(const Polynomial &value);
/// A number of bytes: `102.2 MB`.
std::string bytes(const Polynomial &value);

/// A cell in a column of FLOP: `8.178 G`, or a dot for 0.
std::string flopCell(const Polynomial &value);

/// A number with all digits: `25,557,032`. A fraction is rounded, a large one
/// to a whole number.
std::string exact(const Rational &value);
std::string exact(const Polynomial &value);
/// A number with its noun: `1 step`, `12,000 steps`.
std::string counted(const Polynomial &number, const std::string &thing);

/// Device-hours: `1.504 device-ms`, `96 device-hours`.
std::string deviceTime(const Rational &hours);

/// The conventions as text: `1 multiply-add = 2 FLOP`.
std::string conventionsText(const Conventions &conventions);

/// A share of 1 in percent, with `digits` decimals: `37.8 %`.
std::string percent(const Rational &share, int digits);

/// The text of a figure of a run in FLOP, bytes, shares of 1, or
/// device-seconds; see RunReport::TextOf.
std::string inFlop(const Rational &value);
std::string inBytes(const Rational &value);
std::string inPercent(const Rational &share);
/// inPercent() with as few digits as necessary: `40 %`, `37.8 %`.
std::string inRoundPercent(const Rational &share);
std::string inDeviceTime(const Rational &seconds);

/// A range behind a figure: ` (1.0 GFLOP to 1.4 GFLOP)`. Empty if both ends
/// have the same text.
std::string inParentheses(const std::string &low, const std::string &high);

/// `part` / `whole`, a share of 1. None if it depends on a free axis, or if
/// `whole` is 0.
std::optional<Rational> shareOf(const Polynomial &part,
                                const Polynomial &whole);
/// A cell with the share in percent. Empty for 0 and for an unknown share.
std::string shareCell(const std::optional<Rational> &share);
/// A cell with the share as a bar. Empty for an unknown share.
Grid::Cell barCell(const std::optional<Rational> &share);

/// Sizes of a tensor: `64×56`, or `scalar`.
std::string sizesText(llvm::ArrayRef<Polynomial> sizes);
/// The shapes of input and output of one example, `64×56×56 → 256×28×28`, or
/// one shape if they are equal.
std::string shapesOf(const Part &part);

/// Which end of a text is kept.
enum class Keep { First, Last };
/// The first or the last `most` bytes of a longer text, with `…` for the rest.
/// Characters of UTF-8 are not cut.
std::string shortened(llvm::StringRef text, size_t most, Keep keep);

/// Escapes a text for HTML and SVG, attributes included.
std::string escapedHtml(llvm::StringRef text);

} // namespace netc

#endif // NETC_LIB_REPORT_FORMAT_H
