// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Executes training steps in this process, and checks that the counted
// operations are those that are executed, that gradients are those of the loss,
// that fast code computes what the reference does, and that neither accesses
// memory outside of tensors. Code for a GPU runs on the simulator, or on a GPU.
// docs/Execution.md defines the checks.

#include "tools/netc-verify/Checks.h"
#include "tools/netc-verify/Subject.h"

#include "lib/Diagnostics/DiagnosticPrinter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

using namespace netc;
using namespace mlir;
namespace cl = llvm::cl;

static cl::OptionCategory category("netc-verify options");
static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("FILE.net..."), cl::cat(category));
static cl::opt<bool> counts("counts",
                            cl::desc("Count what the reference executes"),
                            cl::cat(category));
static cl::opt<bool>
    gradients("gradients",
              cl::desc("Compare gradients with central differences in f64"),
              cl::cat(category));
static cl::opt<bool> fast("fast", cl::desc("Compare fast code with reference"),
                          cl::cat(category));
static cl::opt<bool>
    bounds("bounds",
           cl::desc("Compare them with integers that point outside of tensors"),
           cl::cat(category));
static const std::string isas =
    "native, " + llvm::join(llvm::ArrayRef(program::isas), ", ");
static const std::string vectorsHelp =
    "The widest vectors of fast code, each by itself: of " + isas +
    " (default: native, those of this machine)";
static cl::list<std::string> vectors("isa", cl::desc(vectorsHelp),
                                     cl::value_desc("NAME,..."),
                                     cl::CommaSeparated, cl::cat(category));
static std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (const program::TargetTraits &each : program::targets())
    names.push_back(each.name);
  return names;
}
static const std::string targetsHelp =
    "Check code for this target: " + program::joined(targetNames()) +
    " (default: that of the host)";
static cl::opt<std::string>
    target("target", cl::init(program::nameOf(program::TargetKind::Cpu)),
           cl::value_desc("NAME"), cl::desc(targetsHelp), cl::cat(category));
static cl::opt<std::string>
    arch("arch", cl::value_desc("NAME"),
         cl::desc("Check code for this device, such as `sm_80`, alone"),
         cl::cat(category));
static cl::opt<std::string>
    driver("driver", cl::value_desc("FILE"),
           cl::desc("Run code for a device on the first one of this library, "
                    "such as `libcuda.so.1`, not on the simulator"),
           cl::cat(category));
static cl::list<std::string> sizes("size", cl::desc("Sizes of free axes"),
                                   cl::value_desc("N=8"), cl::cat(category));
static cl::list<std::string> runs("run", cl::desc("Only these runs"),
                                  cl::value_desc("NAME"), cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::init(1),
                              cl::desc("Of initial weights and data"),
                              cl::cat(category));
static cl::opt<bool> verbose("verbose", cl::desc("Say the largest errors"),
                             cl::cat(category));
static cl::opt<bool> quiet("quiet", cl::desc("Say only what does not hold"),
                           cl::cat(category));

/// Checks every run of a file.
static bool verify(StringRef file, const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  DiagnosticPrinter printer(&context, llvm::errs());
  auto subjects =
      loadSubjects(context, file, runs, [&](StringRef path, StringRef text) {
        printer.addSource(path, text);
      });
  if (!subjects)
    return false;
  bool all = !counts && !gradients && !fast && !bounds, holds = true,
       found = false;
  for (Subject &subject : *subjects) {
    if (!runs.empty() && !llvm::is_contained(runs, subject.run))
      continue;
    found = true;
    subject.sizes = sizes;
    subject.target = *program::targetNamed(target);
    subject.arch = arch;
    subject.driver = driver;
    Verifier verifier(subject, seed, verbose, quiet);
    if (all || counts)
      holds &= verifier.verifyCounts();
    if (all || gradients)
      holds &= verifier.verifyGradients();
    for (const std::string &name : vectors) {
      subject.isa = program::isaNamed(name);
      verifier.dropFast();
      if (all || fast)
        holds &= verifier.verifyFast();
    }
    if (!isHost(subject.target) && (all || counts || fast))
      holds &= verifier.verifyOrders();
    if (bounds)
      holds &= verifier.verifyBounds();
  }
  if (!found)
    llvm::errs() << file << ": error: there is no run to check\n";
  return holds && found;
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(
      [](raw_ostream &os) { os << "netc-verify " NETC_VERSION "\n"; });
  // With a stream for its errors, LLVM does not exit with 1, as a check does
  // that fails.
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "checks that training steps execute what is counted, that their "
          "gradients are right, and that fast code computes the same; these "
          "three unless options choose\n",
          &llvm::errs()))
    return 2;
  if (vectors.empty())
    vectors.push_back("native");
  for (const std::string &name : vectors)
    if (name != "native" && !program::isaNamed(name)) {
      llvm::errs() << "netc-verify: error: `--isa` takes " << isas << ", not `"
                   << name << "`\n";
      return 2;
    }
  if (!program::targetNamed(target)) {
    llvm::errs() << "netc-verify: error: `--target` takes "
                 << program::joined(targetNames()) << ", not `" << target
                 << "`\n";
    return 2;
  }
  const program::TargetTraits &traits = traitsOf(*program::targetNamed(target));
  if (!driver.empty() && !traits.driver) {
    llvm::errs() << "netc-verify: error: `--driver` is for "
                 << program::targetsWith(
                        [](auto &each) { return each.driver != nullptr; })
                 << '\n';
    return 2;
  }
  if (!arch.empty() && traits.archs.empty()) {
    llvm::errs() << "netc-verify: error: `--arch` is for "
                 << program::targetsWith(
                        [](auto &each) { return !each.archs.empty(); })
                 << '\n';
    return 2;
  }
  if (!arch.empty() && !llvm::is_contained(traits.archs, arch.getValue())) {
    llvm::errs() << "netc-verify: error: `--arch` takes "
                 << program::joined(traits.archs) << ", not `" << arch << "`\n";
    return 2;
  }
  DialectRegistry registry;
  registry.insert<NetDialect>();
  registerLoweringInterfaces(registry);
  bool holds = true;
  for (const std::string &file : files)
    holds &= verify(file, registry);
  return holds ? 0 : 1;
}
