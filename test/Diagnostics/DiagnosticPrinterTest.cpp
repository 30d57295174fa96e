// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Diagnostics/DiagnosticPrinter.h"

#include "lib/Diagnostics/Diagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace netc;

namespace {

struct Diagnostics : testing::Test {
  Location at(unsigned line, unsigned column, StringRef path = "a.net") {
    return FileLineColLoc::get(&context, path, line, column);
  }

  MLIRContext context;
  std::string text;
  llvm::raw_string_ostream os{text};
};

} // namespace

TEST_F(Diagnostics, Layout) {
  DiagnosticPrinter printer(&context, os);
  printer.addSource("a.net", "x = 1\n  y = x + z\n");
  {
    InFlightDiagnostic error = emitError(at(2, 11), "unknown name `z`");
    error.attachNote(at(1, 1)) << "`x` is here";
  }
  emitWarning(at(3, 1, "b.net"), "odd");
  emitRemark(at(0, 0), "about the whole file");
  emitRemark(UnknownLoc::get(&context), "about nothing");
  EXPECT_EQ(text, "a.net:2:11: error: unknown name `z`\n"
                  "  y = x + z\n"
                  "          ^\n"
                  "a.net:1:1: note: `x` is here\n"
                  "x = 1\n"
                  "^\n"
                  "b.net:3:1: warning: odd\n"
                  "a.net: remark: about the whole file\n"
                  "remark: about nothing\n");
}

TEST_F(Diagnostics, InnermostPlaceCounts) {
  DiagnosticPrinter printer(&context, os);
  Location name = NameLoc::get(StringAttr::get(&context, "layer"), at(2, 1));
  emitError(CallSiteLoc::get(name, at(9, 9)), "one");
  emitError(FusedLoc::get(&context, {UnknownLoc::get(&context), at(3, 1)}),
            "two");
  EXPECT_EQ(text, "a.net:2:1: error: one\na.net:3:1: error: two\n");
}

TEST_F(Diagnostics, Id) {
  DiagnosticPrinter printer(&context, os);
  netc::emitError(at(1, 5), error::UnknownName, "z", "");
  warn(at(2, 1), "run", WarningId::NoPeak) << "odd";
  EXPECT_EQ(text, "a.net:1:5: error: unknown name `z` [unknown-name]\n"
                  "a.net:2:1: warning: odd [-Wno-peak]\n");
}

TEST_F(Diagnostics, Json) {
  {
    DiagnosticPrinter printer(&context, os, /*maxErrors=*/1, /*maxWarnings=*/1,
                              /*colour=*/false, DiagnosticFormat::Json);
    {
      InFlightDiagnostic error =
          netc::emitError(at(1, 5), error::UnknownName, "z", "");
      error.attachNote(at(0, 0)) << "\"here\"";
    }
    mlir::emitError(UnknownLoc::get(&context), "too much");
  }
  EXPECT_EQ(text,
            "{\"severity\":\"error\",\"id\":\"unknown-name\",\"message\":"
            "\"unknown name `z`\",\"file\":\"a.net\",\"line\":1,\"column\":5,"
            "\"notes\":[{\"severity\":\"note\",\"message\":\"\\\"here\\\"\","
            "\"file\":\"a.net\"}]}\n"
            "{\"severity\":\"remark\",\"message\":\"2 errors, of which the "
            "first 1 are shown (`--max-errors`)\"}\n");
}

TEST_F(Diagnostics, OneOfEach) {
  DiagnosticPrinter printer(&context, os);
  emitError(at(1, 1), "one");
  emitError(at(1, 1), "one");
  emitError(at(1, 2), "one");
  emitError(at(1, 1), "two");
  EXPECT_EQ(text, "a.net:1:1: error: one\n"
                  "a.net:1:2: error: one\n"
                  "a.net:1:1: error: two\n");
}

TEST_F(Diagnostics, CountsTheRest) {
  {
    DiagnosticPrinter printer(&context, os, 2);
    for (unsigned line = 1; line <= 5; ++line)
      emitError(at(line, 1), "bad");
  }
  EXPECT_EQ(text, "a.net:1:1: error: bad\n"
                  "a.net:2:1: error: bad\n"
                  "5 errors, of which the first 2 are shown "
                  "(`--max-errors`)\n");
}

TEST_F(Diagnostics, CountsWarningsApart) {
  {
    DiagnosticPrinter printer(&context, os, 20, /*maxWarnings=*/1);
    for (unsigned line = 1; line <= 3; ++line)
      emitWarning(at(line, 1), "odd");
    emitError(at(4, 1), "bad");
    EXPECT_EQ(printer.warnings().size(), 3u);
  }
  EXPECT_EQ(text, "a.net:1:1: warning: odd\n"
                  "a.net:4:1: error: bad\n"
                  "3 warnings, of which the first 1 are shown "
                  "(`--max-warnings`)\n");
}

TEST_F(Diagnostics, CaretUnderWideText) {
  DiagnosticPrinter printer(&context, os);
  printer.addSource("a.net", "\t\"\u00e9\u6f22\" z\n");
  emitError(at(1, 7), "bad");
  EXPECT_EQ(text, "a.net:1:7: error: bad\n"
                  "\t\"\u00e9\u6f22\" z\n"
                  "\t      ^\n");
}

TEST_F(Diagnostics, CaretBehindTheLine) {
  DiagnosticPrinter printer(&context, os);
  printer.addSource("a.net", "x =\r\n");
  emitError(at(1, 4), "bad");
  EXPECT_EQ(text, "a.net:1:4: error: bad\nx =\n   ^\n");
}

TEST_F(Diagnostics, ShowsNothingThatATerminalObeys) {
  DiagnosticPrinter printer(&context, os);
  printer.addSource("a.net", StringRef("a\0\x1b[31m\xff b", 10));
  emitError(at(1, 10), "bad");
  EXPECT_EQ(text, "a.net:1:10: error: bad\n"
                  "a\ufffd\ufffd[31m\ufffd b\n"
                  "         ^\n");
}

TEST_F(Diagnostics, ColourOnRequest) {
  DiagnosticPrinter printer(&context, os, 20, 100, /*colour=*/true);
  emitError(at(1, 1), "bad");
  EXPECT_NE(text.find("\x1b["), std::string::npos);
}
