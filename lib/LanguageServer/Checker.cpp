// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Checker.h"

#include "lib/Driver/CountedFile.h"
#include "lib/Report/Format.h"

using namespace netc;

static std::string costOf(const Network &network) {
  const Figures &figures = network.parts.root().figures;
  return exact(figures.parameters) + " parameters, forward " +
         flop(figures[Phase::Forward].matmul) + ", backward " +
         flop(figures.backward().matmul);
}

static std::string costOf(const Run &run) {
  std::string text;
  if (run.hasStep())
    text = "a step " + flop(run.step().model().matmul);
  if (std::optional<Rational> model = run.modelFlop())
    text += (text.empty() ? "" : ", in all ") + inFlop(*model);
  if (std::optional<Rational> bytes = run.memoryPerDevice())
    text += ", memory " + inBytes(*bytes);
  return text;
}

static void addCosts(llvm::ArrayRef<Run> runs,
                     llvm::StringMap<std::string> &costs) {
  for (const Run &run : runs) {
    costs[run.shortName()] = costOf(run);
    addCosts(run.jobs, costs);
  }
}

CheckedFile netc::check(const CheckRequest &request) {
  CheckedFile result;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<NetDialect>();
  context.printOpOnDiagnostic(false);
  llvm::raw_null_ostream nowhere;
  DiagnosticPrinter printer(&context, nowhere);
  ProblemCollector collector(&context, result.problems);
  FrontendOptions options;
  options.bufferOf = [&](llvm::StringRef path) -> std::optional<std::string> {
    auto found = request.buffers.find(path);
    if (found == request.buffers.end())
      return std::nullopt;
    return found->second;
  };
  options.onTensor = [&](mlir::Location name, const std::string &type) {
    auto place = mlir::cast<mlir::FileLineColLoc>(name);
    if (place.getFilename() != request.path)
      return;
    auto [known, isNew] =
        result.types.insert({{place.getLine(), place.getColumn()}, type});
    if (!isNew && type != known->second &&
        !llvm::StringRef(known->second).ends_with(".."))
      known->second += " ..";
  };
  Progress progress;
  Session session(context, std::move(options), progress, printer);
  std::optional<CountedFile> file = countWhole(session, request.path);
  if (!file)
    return result;
  for (const Network &network : file->analysis.networks)
    result.costs[network.name()] = costOf(network);
  addCosts(file->analysis.runs, result.costs);
  return result;
}

Checker::Checker(OnChecked onChecked)
    : onChecked(std::move(onChecked)),
      thread(std::optional<unsigned>(kStackBytes), [this] { work(); }) {}

Checker::~Checker() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
  }
  changed.notify_one();
  thread.join();
}

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
    changed.wait(lock, [&] { return isEnding || !pending.empty(); });
    if (isEnding)
      return;
    CheckRequest next = std::move(pending.front());
    pending.erase(pending.begin());
    lock.unlock();
    onChecked(next, check(next));
    lock.lock();
  }
}
