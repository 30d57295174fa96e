// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Diagnostics/DiagnosticPrinter.h"

#include "lib/Diagnostics/Diagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace llvm;
using namespace mlir;
using json = nlohmann::ordered_json;

namespace netc {

/// The number of bytes above which a line is not shown, since it would not help
/// the reader.
static constexpr size_t maxExcerpt = 1000;

static std::pair<StringRef, raw_ostream::Colors>
describe(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return {"note", raw_ostream::CYAN};
  case DiagnosticSeverity::Warning:
    return {"warning", raw_ostream::MAGENTA};
  case DiagnosticSeverity::Error:
    return {"error", raw_ostream::RED};
  case DiagnosticSeverity::Remark:
    return {"remark", raw_ostream::BLUE};
  }
  llvm_unreachable("not a severity");
}

/// `path:line:col: `, without the numbers that are 0.
static std::string printPlace(FileLineColLoc place) {
  std::string text;
  raw_string_ostream os(text);
  if (place) {
    os << place.getFilename().getValue() << ':';
    if (place.getLine())
      os << place.getLine() << ':';
    if (place.getLine() && place.getColumn())
      os << place.getColumn() << ':';
    os << ' ';
  }
  return text;
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext *context, raw_ostream &os,
                                     unsigned maxErrors, unsigned maxWarnings,
                                     bool colour, DiagnosticFormat format)
    : ScopedDiagnosticHandler(context), os(os), maxErrors(maxErrors),
      maxWarnings(maxWarnings), colour(colour), format(format) {
  setHandler([this](Diagnostic &diagnostic) {
    std::string key =
        printPlace(diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) +
        describe(diagnostic.getSeverity()).first.str() + ": " +
        diagnostic.str();
    if (!printed.insert(key).second)
      return;
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      ++errors;
    if (errors > this->maxErrors)
      return;
    if (diagnostic.getSeverity() == DiagnosticSeverity::Warning) {
      keep(diagnostic);
      if (warned.size() > this->maxWarnings)
        return;
    }
    if (this->format == DiagnosticFormat::Json)
      return printJson(diagnostic);
    print(diagnostic);
    for (const Diagnostic &note : diagnostic.getNotes())
      print(note);
  });
}

DiagnosticPrinter::~DiagnosticPrinter() {
  printTotal(errors, maxErrors, "errors");
  printTotal(warned.size(), maxWarnings, "warnings");
}

void DiagnosticPrinter::printTotal(size_t number, unsigned shown,
                                   StringRef kind) {
  if (number <= shown)
    return;
  std::string text = formatv("{0} {1}, of which the first {2} are shown "
                             "(`--max-{1}`)",
                             number, kind, shown);
  if (format == DiagnosticFormat::Json)
    text = json{{"severity", "remark"}, {"message", text}}.dump();
  os << text << '\n';
}

void DiagnosticPrinter::addSource(StringRef path, StringRef text) {
  sources[path] =
      texts.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, path), {});
}

void DiagnosticPrinter::keep(const Diagnostic &diagnostic) {
  auto [id, about] = idAndSubject(diagnostic.getLocation());
  Warning &warning = warned.emplace_back();
  warning.id = id.str();
  warning.about = about.str();
  warning.text = diagnostic.str();
  if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
    warning.file = place.getFilename().str();
    warning.line = place.getLine();
  }
}

void DiagnosticPrinter::print(const Diagnostic &diagnostic) {
  auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
  auto [severity, severityColour] = describe(diagnostic.getSeverity());
  os.enable_colors(colour);
  os.changeColor(raw_ostream::SAVEDCOLOR, /*Bold=*/true) << printPlace(place);
  os.changeColor(severityColour, /*Bold=*/true) << severity << ": ";
  os.resetColor();
  os << diagnostic.str();
  if (auto [id, about] = idAndSubject(diagnostic.getLocation()); !id.empty())
    os << (diagnostic.getSeverity() == DiagnosticSeverity::Warning ? " [-W"
                                                                   : " [")
       << id << ']';
  os << '\n';
  if (place)
    printExcerpt(place);
}

static json toJson(const Diagnostic &diagnostic) {
  json object = {{"severity", describe(diagnostic.getSeverity()).first.str()}};
  if (auto [id, about] = idAndSubject(diagnostic.getLocation()); !id.empty())
    object["id"] = id.str();
  object["message"] = diagnostic.str();
  auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
  if (place)
    object["file"] = place.getFilename().str();
  if (place && place.getLine())
    object["line"] = place.getLine();
  if (place && place.getLine() && place.getColumn())
    object["column"] = place.getColumn();
  return object;
}

void DiagnosticPrinter::printJson(const Diagnostic &diagnostic) {
  json object = toJson(diagnostic);
  object["notes"] = json::array();
  for (const Diagnostic &note : diagnostic.getNotes())
    object["notes"].push_back(toJson(note));
  os << object.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
}

void DiagnosticPrinter::printExcerpt(FileLineColLoc place) {
  auto source = sources.find(place.getFilename().getValue());
  if (source == sources.end() || !place.getLine() || !place.getColumn())
    return;
  const char *begin =
      texts.FindLocForLineAndColumn(source->second, place.getLine(), 1)
          .getPointer();
  if (!begin)
    return;
  const char *end = texts.getMemoryBuffer(source->second)->getBufferEnd();
  StringRef line(begin, end - begin);
  line = line.split('\n').first.rtrim('\r');
  if (line.empty() || line.size() > maxExcerpt)
    return;

  // The margin is as wide as the text before the caret on any terminal: a tab
  // for a tab, and blanks for other characters. Characters that a terminal may
  // interpret are printed as U+FFFD.
  std::string margin;
  for (unsigned column = 1; !line.empty(); ++column) {
    size_t size =
        std::min<size_t>(line.size(), getNumBytesForUTF8(UTF8(line.front())));
    int width = sys::unicode::columnWidthUTF8(line.take_front(size));
    if (width == sys::unicode::ErrorInvalidUTF8)
      size = 1;
    bool isTab = line.front() == '\t';
    os << (width < 0 && !isTab ? "\ufffd" : line.take_front(size));
    if (column < place.getColumn())
      margin +=
          isTab ? std::string("\t") : std::string(width < 0 ? 1 : width, ' ');
    line = line.drop_front(size);
  }
  os << '\n' << margin;
  os.changeColor(raw_ostream::GREEN, /*Bold=*/true) << '^';
  os.resetColor() << '\n';
}

} // namespace netc
