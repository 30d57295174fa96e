// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Checker.h"

#include "lib/Analysis/Query.h"
#include "lib/Driver/CountedFile.h"
#include "lib/Report/Format.h"

using namespace netc;

static std::string costOf(const Figures &figures) {
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

/// Adds what may follow `path`, which is `members` of a network or run.
template <typename Subject>
static void addMembers(const Subject &subject, const std::string &path,
                       std::vector<std::string> members, CheckedFile &result) {
  std::vector<std::string> names = membersOf(subject, members);
  for (const std::string &name : names) {
    members.push_back(name);
    addMembers(subject, path + "." + name, members, result);
    members.pop_back();
  }
  if (!names.empty())
    result.members[path] = std::move(names);
}

/// The instances that a network or run has at its top.
static std::vector<const Part *> instancesOf(const PartTree &tree) {
  std::vector<const Part *> parts;
  for (unsigned child : tree.root().children)
    if (!tree.parts[child].isLeaf())
      parts.push_back(&tree.parts[child]);
  return parts;
}

static void add(const Network &network, CheckedFile &result) {
  std::string name = network.name().str();
  addMembers(network, name, {}, result);
  result.costs[name] = costOf(network.parts.root().figures);
  for (const Part *part : instancesOf(network.parts)) {
    result.parts[name].push_back(part->path);
    result.costs[name + "." + part->path] = costOf(part->figures);
  }
}

static void add(llvm::ArrayRef<Run> runs, CheckedFile &result) {
  for (const Run &run : runs) {
    result.costs[run.name()] = costOf(run);
    addMembers(run, run.name().str(), {}, result);
    for (const Part *part : instancesOf(run.parts))
      result.parts[run.name()].push_back(part->path);
    add(run.jobs, result);
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
    add(network, result);
  add(file->analysis.runs, result);
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
