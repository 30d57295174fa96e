// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads specifications, counts their costs, and reports.

#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Driver/Audit.h"
#include "lib/Driver/Crash.h"
#include "lib/Driver/Estimate.h"
#include "lib/Driver/FormatFiles.h"
#include "lib/Driver/Output.h"
#include "lib/Driver/Prediction.h"
#include "lib/Export/GraphWriter.h"
#include "lib/Import/Import.h"
#include "lib/Report/HardwareTable.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace netc;
using namespace netc::flags;

/// Executes the program that also generates code. It is separate, since loading
/// LLVM's code generators takes longer than most estimates.
static Exit becomeCodegen(char **argv) {
  static int here;
  llvm::SmallString<128> path(llvm::sys::fs::getMainExecutable("netc", &here));
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "..", NETC_CODEGEN);
  execv(path.c_str(), argv);
  return complain(LackingEnvironment, "cannot run `" + path +
                                          "`, which generates code; is netc "
                                          "installed as a whole?");
}

/// Prints the selected network, or the inference, as a graph.
static Exit printGraph(llvm::ArrayRef<Specification *> files) {
  llvm::SmallVector<mlir::Operation *> graphs;
  std::vector<std::string> names;
  for (Specification *file : files)
    for (mlir::Operation &op : *file->module().getBody()) {
      auto step = llvm::dyn_cast<StepOp>(op);
      bool isNamed = onlyRuns.empty() ? llvm::isa<NetworkOp>(op)
                                      : step && isAskedFor(step.getSymName());
      if (!isNamed)
        continue;
      llvm::StringRef name = mlir::SymbolTable::getSymbolName(&op);
      if (step && !step.getRun().getFacts().isInference)
        return complain(WrongUsage,
                        "`" + name + "` trains; `--net=" + step.getNetwork() +
                            "` is the network of it");
      graphs.push_back(&op);
      names.push_back(name.str());
    }
  if (graphs.size() != 1)
    return complain(WrongUsage,
                    graphs.empty()
                        ? "there is no network"
                        : "`--emit=graph` writes one network, and here are " +
                              llvm::join(names, ", ") +
                              "; name one by `--net`, or an inference by "
                              "`--run`");
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!exportGraph(graphs.front(), os))
    return WrongInput;
  return write([&](llvm::raw_ostream &out) { out << os.str(); });
}

/// Prints the stage of `--emit`.
static Exit printStage(const Session &session) {
  Stage stage = emit <= Emit::Net    ? Stage::Net
                : emit == Emit::Step ? Stage::Step
                                     : Stage::Bound;
  std::vector<std::unique_ptr<Specification>> specifications;
  for (const std::string &path : inputs)
    if (auto specification = session.load(path, stage))
      specifications.push_back(std::move(specification));
  if (specifications.size() != inputs.size())
    return WrongInput;
  std::vector<Specification *> files;
  for (auto &specification : specifications)
    files.push_back(specification.get());
  if (!areKnown(files))
    return WrongUsage;
  if (emit == Emit::Graph)
    return printGraph(files);
  return write([&](llvm::raw_ostream &os) {
    for (auto &specification : specifications)
      os << specification->module() << '\n';
  });
}

/// Prints the accelerators of `--hardware`.
static Exit showHardware(const Session &session) {
  if (format != Format::Table)
    return complain(WrongUsage, "`--hardware` prints a table; for programs "
                                "there is lib/Hardware/Accelerators.yaml");
  const AcceleratorTable &table = session.accelerators();
  std::vector<Accelerator> shown;
  for (llvm::StringRef name : hardwareNames()) {
    if (name.empty())
      continue;
    std::optional<Accelerator> found = table.find(name);
    if (!found)
      return complain(WrongUsage, "there is no accelerator `" + name + "`" +
                                      table.didYouMean(name));
    shown.push_back(std::move(*found));
  }
  return write([&](llvm::raw_ostream &os) {
    if (shown.empty())
      printAccelerators(os, table, isColourful(os));
    for (const Accelerator &accelerator : shown)
      printAccelerator(os, accelerator, table, isColourful(os));
  });
}

/// Prints the specification of the model that a `config.json` or a graph
/// describes.
static Exit importModel(const Session &session) {
  import::Host host;
  auto report = [&](const import::Problem &problem) {
    emitError(mlir::FileLineColLoc::get(&session.context, problem.path,
                                        problem.line, problem.column),
              problem.message);
  };
  host.report = report;
  host.onRead = session.frontend.onRead;
  host.maxBytes = limits.maxInputBytes;
  host.context = &session.context;
  host.frontend = session.frontend;
  std::vector<std::string> withoutCost(opaqueOps.begin(), opaqueOps.end());
  host.opaque = withoutCost;
  std::optional<std::string> text = import::importModel(inputs[0], host);
  if (!text)
    return WrongInput;
  return write([&](llvm::raw_ostream &os) { os << *text; });
}

int main(int argc, char **argv) {
  explainCrashes(argc, argv);
  if (std::optional<Exit> status = parseCommandLine(argc, argv))
    return *status;
  if (needsCode())
    return becomeCodegen(argv);
  inSession([](Session &session) {
    return action == Action::Audit    ? auditTraces(session)
           : inputs.empty()           ? showHardware(session)
           : action == Action::Import ? importModel(session)
           : action == Action::Fmt    ? formatFiles(session)
           : emit == Emit::Trace && emit.getNumOccurrences() ? predict(session)
           : emit.getNumOccurrences() ? printStage(session)
                                      : estimate(session);
  });
}
