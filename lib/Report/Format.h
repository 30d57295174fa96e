// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_FORMAT_H
#define NETC_LIB_REPORT_FORMAT_H

#include "lib/Analysis/Analysis.h"
#include "lib/Report/Grid.h"
#include "lib/Units/Units.h"

namespace netc {

/// A number rounded to a readable unit. A polynomial is not rounded.
std::string quantity(const Polynomial &value, const Dimension &dimension);
std::string flop(const Polynomial &value);
std::string bytes(const Polynomial &value);

/// A cell in a column of FLOP: `8.178 G`, or a dot for 0.
std::string flopCell(const Polynomial &value);

/// `25,557,032`. A fraction is rounded.
std::string exact(const Rational &value);
std::string exact(const Polynomial &value);
/// A number with its noun: `1 step`, `12,000 steps`.
std::string counted(const Polynomial &number, const std::string &thing);

/// `1.504 device-ms`, `96 device-hours`.
std::string deviceTime(const Rational &hours);

/// `1 multiply-add = 2 FLOP`
std::string conventionsText(const Conventions &conventions);

std::string percent(const Rational &share, int digits);

/// The text of one figure of a run; see RunReport::TextOf.
std::string inFlop(const Rational &value);
std::string inBytes(const Rational &value);
std::string inPercent(const Rational &share);
/// With as few digits as necessary: `40 %`, `37.8 %`.
std::string inRoundPercent(const Rational &share);
std::string inDeviceTime(const Rational &seconds);

/// A range behind a figure: ` (1.0 GFLOP to 1.4 GFLOP)`. Empty if both ends
/// have the same text.
std::string inParentheses(const std::string &low, const std::string &high);

/// `part` / `whole`. None if it depends on a free axis.
std::optional<Rational> shareOf(const Polynomial &part,
                                const Polynomial &whole);
std::string shareCell(const std::optional<Rational> &share);
/// A cell with the share as a bar. Empty if it depends on a free axis.
Grid::Cell barCell(const std::optional<Rational> &share);

/// `64×56`, or `scalar`.
std::string sizesText(llvm::ArrayRef<Polynomial> sizes);
/// The shapes of input and output of one example, `64×56×56 → 256×28×28`, or
/// one shape if they are equal.
std::string shapesOf(const Part &part);

/// The first or the last bytes of a longer text, at most `most` of them, and
/// `…` for the rest. It is cut between letters of UTF-8.
enum class Keep { First, Last };
std::string shortened(llvm::StringRef text, size_t most, Keep keep);

/// Escapes a text for HTML and SVG, attributes included.
std::string escapedHtml(llvm::StringRef text);

} // namespace netc

#endif // NETC_LIB_REPORT_FORMAT_H
