// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// net-embed-yaml FILE.yaml OUTPUT: writes the events of a YAML parser for a
// file as rows of C++, `{Event::Scalar, line, column, "text"},`. A program with
// these rows has the contents without parsing the file.

#include "llvm/Support/raw_ostream.h"

#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"

#include <fstream>

namespace {
class Writer : public YAML::EventHandler {
public:
  explicit Writer(llvm::raw_ostream &os) : os(os) {}

  void OnDocumentStart(const YAML::Mark &) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark &mark, YAML::anchor_t) override {
    write("Null", mark);
  }
  void OnScalar(const YAML::Mark &mark, const std::string &, YAML::anchor_t,
                const std::string &text) override {
    write("Scalar", mark, text);
  }
  void OnSequenceStart(const YAML::Mark &mark, const std::string &,
                       YAML::anchor_t, YAML::EmitterStyle::value) override {
    write("ListStart", mark);
  }
  void OnSequenceEnd() override { write("End", {}); }
  void OnMapStart(const YAML::Mark &mark, const std::string &, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    write("MapStart", mark);
  }
  void OnMapEnd() override { write("End", {}); }
  void OnAnchor(const YAML::Mark &mark, const std::string &) override {
    throw YAML::ParserException(mark, "anchors are not supported");
  }
  void OnAlias(const YAML::Mark &mark, YAML::anchor_t) override {
    OnAnchor(mark, "");
  }

private:
  void write(llvm::StringRef kind, const YAML::Mark &mark,
             llvm::StringRef text = "") {
    os << "{Event::" << kind << ", " << mark.line << ", " << mark.column
       << ", \"";
    os.write_escaped(text) << "\"},\n";
  }

  llvm::raw_ostream &os;
};
} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    llvm::errs() << "usage: net-embed-yaml FILE.yaml OUTPUT\n";
    return 2;
  }
  std::ifstream file(argv[1]);
  std::error_code error;
  llvm::raw_fd_ostream os(argv[2], error);
  if (!file || error) {
    llvm::errs() << "net-embed-yaml: error: cannot open `"
                 << (file ? argv[2] : argv[1]) << "`\n";
    return 1;
  }
  try {
    YAML::Parser parser(file);
    Writer writer(os);
    parser.HandleNextDocument(writer);
  } catch (const YAML::Exception &error) {
    llvm::errs() << argv[1] << ':' << error.mark.line + 1 << ':'
                 << error.mark.column + 1 << ": error: " << error.msg << '\n';
    return 1;
  }
  return 0;
}
