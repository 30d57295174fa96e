// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Checker.h"

using namespace netc;

CheckedFile netc::check(const CheckRequest &request) {
  CheckedFile result;
  auto context = std::make_shared<mlir::MLIRContext>(
      mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<NetDialect>();
  context->printOpOnDiagnostic(false);
  llvm::raw_null_ostream nowhere;
  DiagnosticPrinter printer(context.get(), nowhere);
  ProblemCollector collector(context.get(), result.problems);
  FrontendOptions options;
  options.includeFolders = request.includeFolders;
  options.bufferOf = [&](llvm::StringRef path) -> std::optional<std::string> {
    auto found = request.buffers.find(path);
    if (found == request.buffers.end())
      return std::nullopt;
    return found->second;
  };
  auto noteIn = [&](std::map<TextPlace, Texts> &known) {
    return [&known, &request](mlir::Location name, const std::string &text) {
      auto place = mlir::cast<mlir::FileLineColLoc>(name);
      if (place.getFilename() == request.path)
        known[{place.getLine(), place.getColumn()}].insert(text);
    };
  };
  options.onTensor = noteIn(result.types);
  options.onPart = noteIn(result.parts);
  Progress progress;
  Session session(*context, std::move(options), progress, printer);
  if (std::optional<CountedFile> file = countWhole(session, request.path))
    result.counts = std::make_shared<Counts>(context, std::move(*file));
  return result;
}

Checker::Checker(OnChecked onChecked)
    : onChecked(std::move(onChecked)),
      thread(std::optional<unsigned>(kStackBytes), [this] { work(); }) {}

void Checker::request(CheckRequest request) {
  {
    std::lock_guard lock(mutex);
    llvm::erase_if(pending, [&](const CheckRequest &other) {
      return other.path == request.path;
    });
    pending.push_back(std::move(request));
  }
  changed.notify_one();
}

void Checker::work() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return !pending.empty(); });
    CheckRequest next = std::move(pending.front());
    pending.erase(pending.begin());
    lock.unlock();
    onChecked(next, check(next));
    lock.lock();
  }
}
