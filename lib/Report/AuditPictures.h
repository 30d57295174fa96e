// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_AUDITPICTURES_H
#define NETC_LIB_REPORT_AUDITPICTURES_H

#include "lib/Report/AuditReport.h"

namespace netc {

/// A drawing in SVG, in units of its own. Without a body, nothing is drawn.
struct Picture {
  llvm::StringLiteral kind;  ///< `timeline`
  llvm::StringLiteral label; ///< title
  std::string body;
  double height = 0;
  static constexpr double width = 1000;
};

/// The products of a step by thread, above its kernels by stream. Tooltips show
/// the layers. Empty for a step without a length.
Picture timelineOf(const audit::Audit &audit);

/// The FLOP of each layer: the exact count and that of each claim. Empty if too
/// little is matched.
Picture claimBarsOf(const audit::Audit &audit);

/// How busy each part of the device was in the step, its phases and its layers.
/// Empty without kernels.
Picture levelBarsOf(const audit::Audit &audit);

/// Throughput and memory by batch size. Empty without sizes.
Picture batchBarsOf(llvm::ArrayRef<BatchFigures> sizes);

/// The pictures of a trace, from top to bottom.
std::vector<Picture> picturesOf(const audit::Audit &audit);

/// The end of a layer's path that fits in front of a bar.
std::string pictureLabel(llvm::StringRef layer);

/// The picture as an SVG element of an HTML page; empty without a body.
std::string inlineSvg(const Picture &picture);

/// Prints all pictures as an SVG file.
void printAuditSvg(llvm::raw_ostream &os, const AuditReport &report);

/// The style sheet for the pictures' classes.
llvm::StringRef pictureStyle();

} // namespace netc

#endif // NETC_LIB_REPORT_AUDITPICTURES_H
