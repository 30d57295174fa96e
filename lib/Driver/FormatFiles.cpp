// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/FormatFiles.h"

#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Frontend/Formatter.h"
#include "lib/Frontend/Input.h"
#include "lib/Frontend/Parser.h"

using namespace netc;
using namespace netc::flags;

/// Reports the first place where `text` is not as it would be formatted.
static void reportDifference(Session &session, llvm::StringRef path,
                             llvm::StringRef text, llvm::StringRef better) {
  unsigned line = 1;
  auto [own, rest] = text.split('\n');
  auto [there, thereRest] = better.split('\n');
  while (own == there && !rest.empty()) {
    ++line;
    std::tie(own, rest) = rest.split('\n');
    std::tie(there, thereRest) = thereRest.split('\n');
  }
  size_t same =
      std::mismatch(own.begin(), own.end(), there.begin(), there.end()).first -
      own.begin();
  // Columns count characters. The bytes 10xxxxxx of UTF-8 do not start one.
  unsigned column = 1 + llvm::count_if(own.take_front(same), [](char byte) {
                      return (byte & 0xc0) != 0x80;
                    });
  auto place = mlir::FileLineColLoc::get(&session.context, path, line, column);
  mlir::InFlightDiagnostic error = emitError(place, error::NotFormatted);
  if (own.drop_front(same) == "\r")
    error.attachNote(place) << "the line ends in CR LF; `netc fmt` writes LF";
}

static Exit formatFile(Session &session, llvm::StringRef path) {
  llvm::Expected<std::string> text = readText(path, limits.maxInputBytes);
  auto start = mlir::FileLineColLoc::get(&session.context, path, 0, 0);
  if (!text) {
    emitError(start, error::CannotRead, path, llvm::toString(text.takeError()));
    return WrongInput;
  }
  session.frontend.onRead(path, *text);
  std::unique_ptr<SourceFile> file =
      parse(&session.context, path, *text, limits);
  if (file->hasErrors())
    return WrongInput;
  std::string better = formatted(*text, file->tree());
  if (isFmtCheck && better != *text) {
    reportDifference(session, path, *text, better);
    return WrongInput;
  }
  if (isFmtCheck || (better == *text && path != "-"))
    return Fine;
  return write(path, [&](llvm::raw_ostream &os) { os << better; });
}

Exit netc::formatFiles(Session &session) {
  Exit status = Fine;
  for (const std::string &path : inputs)
    status = std::max(status, formatFile(session, path));
  return status;
}
