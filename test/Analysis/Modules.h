// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TEST_ANALYSIS_MODULES_H
#define NETC_TEST_ANALYSIS_MODULES_H

#include "lib/Analysis/Analysis.h"
#include "lib/Diagnostics/Diagnostics.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

/// Modules of the dialect, as the pipeline leaves them to the analyses.
class AnalysisTest : public testing::Test {
protected:
  AnalysisTest() {
    context.loadDialect<netc::NetDialect>();
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &it) {
      messages += it.str() + " [" +
                  netc::idAndSubject(it.getLocation()).first.str() + "]\n";
    });
  }

  netc::Analysis analyze(llvm::StringRef text,
                         const netc::ConventionFlags &flags = {}) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << messages;
      return {};
    }
    auto analysis = netc::analyze(*module, flags);
    return failed(analysis) ? netc::Analysis() : std::move(*analysis);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string messages; ///< all diagnostics, each with its id
};

/// Two layers, trained with SGD: 784 -> 128 -> 10.
extern const char *const perceptron;

#endif // NETC_TEST_ANALYSIS_MODULES_H
