// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_AUDITPICTURES_H
#define NETC_LIB_REPORT_AUDITPICTURES_H

#include "lib/Report/AuditReport.h"

namespace netc {

/// A drawing in SVG, in units of its own; nothing is drawn if `body` is empty.
struct Picture {
  llvm::StringLiteral kind;  ///< `timeline`
  llvm::StringLiteral label; ///< its title
  std::string body;
  double height = 0;
  static constexpr double width = 1000;
};

/// The products of a step by thread, above its kernels by stream; what is
/// pointed at says its layer. Nothing of a step without a length.
Picture timelineOf(const audit::Audit &audit);

/// The FLOP of each layer, exact and by each claim. Nothing where too little is
/// matched.
Picture claimBarsOf(const audit::Audit &audit);

/// How busy each part of the device was: in the step, its phases and its
/// layers. Nothing without kernels.
Picture levelBarsOf(const audit::Audit &audit);

/// Throughput and memory by batch. Nothing of traces of one batch.
Picture batchBarsOf(llvm::ArrayRef<const audit::Audit *> audits);

/// The pictures of a trace, in their order.
std::vector<Picture> picturesOf(const audit::Audit &audit);

/// The end of a layer's path, as long as there is room for in front of a bar.
std::string pictureLabel(llvm::StringRef layer);

/// As a part of a page.
std::string inlineSvg(const Picture &picture);

/// All pictures as a file of their own.
void printAuditSvg(llvm::raw_ostream &os, const AuditReport &report);

/// The style of their classes.
llvm::StringRef pictureStyle();

} // namespace netc

#endif // NETC_LIB_REPORT_AUDITPICTURES_H
