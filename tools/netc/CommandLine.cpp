// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/netc/CommandLine.h"

#include "lib/Report/Table.h"
#include "mlir/IR/AsmState.h"
#include "tools/netc/Session.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/StringSaver.h"

using namespace netc;
using namespace netc::flags;
namespace cl = llvm::cl;

namespace netc::flags {

static cl::OptionCategory category("netc options");

cl::list<std::string> inputs(cl::Positional, cl::ZeroOrMore,
                             cl::desc("FILE..."), cl::cat(category));

cl::opt<Action>
    action(cl::desc("What to do:"), cl::init(Action::Estimate),
           cl::values(clEnumValN(Action::Estimate, "estimate",
                                 "report networks, runs and expects (default)"),
                      clEnumValN(Action::Check, "check",
                                 "report errors and expects only"),
                      clEnumValN(Action::Compare, "compare",
                                 "report what is different in the second of "
                                 "two files, block by block"),
                      clEnumValN(Action::Measure, "measure",
                                 "compile runs, let them train, and report "
                                 "their times and utilization")),
           cl::cat(category));
Choice<Emit> emit(
    "emit", cl::desc("Print a stage instead, of a run from `linalg` on:"),
    cl::values(clEnumValN(Emit::Net, "net", "networks and losses"),
               clEnumValN(Emit::Step, "step", "with gradients and updates"),
               clEnumValN(Emit::Bound, "bound", "with a size for every axis"),
               clEnumValN(Emit::Linalg, "linalg", "lowered to tensors"),
               clEnumValN(Emit::Llvm, "llvm", "in the LLVM dialect"),
               clEnumValN(Emit::Object, "obj", "an object file"),
               clEnumValN(Emit::Program, "exe",
                          "a program that trains and measures itself")),
    cl::cat(category));
Choice<Target>
    target("target", cl::desc("What code is for; estimates plan its memory:"),
           cl::init(Target::Cpu),
           cl::values(clEnumValN(Target::Cpu, "cpu", "this machine (default)")),
           cl::cat(category));
Choice<LoweringKind>
    lowering("lowering", cl::desc("How code is made:"),
             cl::init(LoweringKind::Fast),
             cl::values(clEnumValN(LoweringKind::Fast, "fast",
                                   "tiles, vectors, threads (default)"),
                        clEnumValN(LoweringKind::Reference, "reference",
                                   "plain loops that count what they execute")),
             cl::cat(category));
cl::list<uint64_t> batches("batch", cl::desc("Examples in a step of it"),
                           cl::value_desc("number,..."), cl::CommaSeparated,
                           cl::cat(category));
/// LLVM's library has an option of this name, for linking.
static const bool isThreadsOurs = [] {
  if (cl::Option *other = cl::getRegisteredOptions().lookup("threads"))
    other->removeArgument();
  return true;
}();
cl::opt<unsigned> threads("threads",
                          cl::desc("That are measured (default: one a "
                                   "core)"),
                          cl::value_desc("number"), cl::cat(category));
cl::opt<double> seconds(
    "seconds",
    cl::desc("Measure each batch size for so long at most (default 10)"),
    cl::value_desc("number"), cl::cat(category));
cl::opt<uint64_t> steps("steps", cl::desc("or exactly so many steps"),
                        cl::value_desc("number"), cl::cat(category));
cl::opt<std::string>
    data("data", cl::desc("Train on npy files (default: synthetic data)"),
         cl::value_desc("file,..."), cl::cat(category));
Choice<Format> format(
    "format", cl::desc("How to print the report:"), cl::init(Format::Table),
    cl::values(
        clEnumValN(Format::Table, "table", "for people (default)"),
        clEnumValN(Format::Json, "json", "for programs; docs/*.schema.json"),
        clEnumValN(Format::Csv, "csv",
                   "layers and runs, or measured ops, a row each"),
        clEnumValN(Format::Markdown, "markdown", "as the table; of estimates"),
        clEnumValN(Format::Html, "html",
                   "a page for a browser, with pictures; of estimates"),
        clEnumValN(Format::Svg, "svg", "a picture of what is measured")),
    cl::cat(category));
cl::list<std::string> hardware(
    "hardware", cl::ValueOptional,
    cl::desc("List the accelerators, or show this one, or add those of a file "
             "that ends in .yaml"),
    cl::value_desc("name|file.yaml"), cl::cat(category));
cl::opt<std::string> output("o", cl::desc("Write to a file"),
                            cl::value_desc("file"), cl::init("-"),
                            cl::cat(category));
cl::list<std::string> definitions("D", cl::Prefix,
                                  cl::desc("Replace a top-level constant"),
                                  cl::value_desc("name=value"),
                                  cl::cat(category));
cl::list<std::string> includeFolders("I", cl::Prefix,
                                     cl::desc("Look for imports here, too"),
                                     cl::value_desc("folder"),
                                     cl::cat(category));
cl::list<std::string>
    onlyNetworks("net", cl::desc("Count only what is named, this network"),
                 cl::value_desc("name"), cl::cat(category));
cl::list<std::string> onlyRuns("run",
                               cl::desc("Count only what is named, this run"),
                               cl::value_desc("name"), cl::cat(category));
cl::opt<unsigned> depth("depth",
                        cl::desc("Levels of layers in a table (default 2)"),
                        cl::init(TableOptions().depth), cl::cat(category));
cl::opt<bool> symbolic("symbolic",
                       cl::desc("Also print the polynomials in the free axes"),
                       cl::cat(category));
Choice<MultiplyAdd>
    multiplyAdd("fma", cl::desc("FLOP of a multiply-add in matmul figures:"),
                cl::values(clEnumValN(MultiplyAdd::One, "1", "one"),
                           clEnumValN(MultiplyAdd::Two, "2", "two (default)")),
                cl::cat(category));
Choice<Conventions::Causal> causalMask(
    "causal", cl::desc("What attention under a causal mask counts:"),
    cl::values(clEnumValN(Conventions::Full, "full", "all of it (default)"),
               clEnumValN(Conventions::Half, "half",
                          "only what is not hidden")),
    cl::cat(category));

Limits limits;
cl::opt<size_t, true> maxInput("max-input", cl::desc("Bytes in one file"),
                               cl::location(limits.maxInputBytes),
                               cl::cat(category));
cl::opt<unsigned, true> maxDepth("max-depth", cl::desc("Nesting of a file"),
                                 cl::location(limits.maxDepth),
                                 cl::cat(category));
cl::opt<size_t, true> maxOps("max-ops",
                             cl::desc("Operations that a file expands to"),
                             cl::location(limits.maxOps), cl::cat(category));
cl::opt<size_t, true> maxSweep("max-sweep", cl::desc("Points of a sweep"),
                               cl::location(limits.maxSweepPoints),
                               cl::cat(category));
cl::opt<unsigned, true> maxErrors("max-errors",
                                  cl::desc("Errors that are shown"),
                                  cl::location(limits.maxErrors),
                                  cl::cat(category));

} // namespace netc::flags

ConventionFlags netc::conventionFlags() {
  ConventionFlags flags;
  if (multiplyAdd.getNumOccurrences())
    flags.fma = unsigned(multiplyAdd.getValue());
  if (causalMask.getNumOccurrences())
    flags.causal = causalMask;
  return flags;
}

/// Those values of `--hardware` that are files, or those that are not.
static std::vector<llvm::StringRef> hardwareValues(bool files) {
  std::vector<llvm::StringRef> values;
  for (llvm::StringRef value : hardware)
    if (files == (value.ends_with(".yaml") || value.ends_with(".yml") ||
                  value.contains('/')))
      values.push_back(value);
  return values;
}

std::vector<llvm::StringRef> netc::hardwareFiles() {
  return hardwareValues(true);
}

std::vector<llvm::StringRef> netc::hardwareNames() {
  return hardwareValues(false);
}

bool netc::needsCode() {
  return action == Action::Measure ||
         (emit.getNumOccurrences() ? emit >= Emit::Linalg
                                   : target.getNumOccurrences() > 0);
}

/// `--version`.
static void printVersion(llvm::raw_ostream &os) {
  os << "netc " NETC_VERSION "\n";
}

bool netc::parseCommandLine(int argc, char **argv) {
  mlir::registerAsmPrinterCLOptions();
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(printVersion);
  // To LLVM `@file` stands for the options in that file. Here it is a file.
  llvm::BumpPtrAllocator memory;
  llvm::StringSaver saver(memory);
  llvm::SmallVector<const char *> arguments(argv, argv + argc);
  for (const char *&argument : llvm::drop_begin(arguments))
    if (*argument == '@')
      argument = saver.save("./" + llvm::Twine(argument)).data();
  if (!cl::ParseCommandLineOptions(argc, arguments.data(),
                                   "what it costs to train a neural network\n",
                                   &llvm::errs()))
    return false;
  auto refuse = [](const llvm::Twine &message) {
    complain(WrongUsage, message);
    return false;
  };
  const cl::Option *measured[] = {&threads, &seconds, &steps, &data};
  for (const cl::Option *option : measured)
    if (option->getNumOccurrences() &&
        (action != Action::Measure || emit.getNumOccurrences()))
      return refuse("`--" + option->ArgStr + "` is for `--measure`" +
                    (emit == Emit::Program && emit.getNumOccurrences()
                         ? "; programs take it when they run"
                         : ""));
  if (llvm::is_contained(batches, 0u))
    return refuse("`--batch` takes sizes from 1 on");
  if (inputs.empty() && hardware.empty())
    return refuse("no file is named; `netc FILE` reports what it costs, `netc "
                  "--help` lists the options");
  if (!inputs.empty() && !hardwareNames().empty())
    return refuse("`--hardware` with a name, or without, is asked for by "
                  "itself; the name of a file of accelerators ends in .yaml");
  for (llvm::StringRef folder : includeFolders)
    if (!llvm::sys::fs::is_directory(folder))
      return refuse("`-I " + folder + "` names no folder");
  for (llvm::StringRef input : inputs)
    if (llvm::sys::fs::equivalent(input, output))
      return refuse("`-o " + output + "` would write over what is read");
  if (limits.maxDepth > 4096)
    return refuse("`--max-depth` is at most 4096, which is what the stack "
                  "carries");
  return true;
}
