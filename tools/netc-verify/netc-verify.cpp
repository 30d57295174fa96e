// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs training steps in this process and checks that what is counted is what
// is executed, that gradients are those of the loss, and that fast code
// computes what the reference does.

#include "dialect/Net.h"
#include "lib/Frontend/Diagnostics.h"
#include "lib/Frontend/Specification.h"
#include "lib/Pipelines/Pipelines.h"
#include "tools/netc-verify/JitStep.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <random>

using namespace netc;
using namespace mlir;
using runtime::Role;
using runtime::Slot;
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
static cl::list<std::string> sizes("size", cl::desc("Sizes of free axes"),
                                   cl::value_desc("N=8"), cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::init(1), cl::cat(category));
static cl::opt<bool> verbose("verbose", cl::desc("Say all errors found"),
                             cl::cat(category));

/// The largest relative error of a gradient: of a tensor, by its largest
/// element.
static constexpr double kGradientTolerance = 1e-6;

namespace {
/// One run of one file.
struct Subject {
  std::string file, run;

  std::string name() const {
    return (llvm::sys::path::filename(file) + ":" + run).str();
  }
};
} // namespace

static MLIRContext *context;
static DiagnosticPrinter *printer;

/// The module of the file, with gradients and updates; with `plainUpdate` each
/// parameter moves by minus its gradient.
static std::unique_ptr<Specification> load(StringRef file, bool plainUpdate) {
  FrontendOptions options;
  options.onRead = [&](StringRef path, StringRef text) {
    printer->addSource(path, text);
  };
  auto specification = Specification::load(context, file, options);
  if (!specification)
    return nullptr;
  ModuleOp module = specification->module();
  if (plainUpdate)
    module.walk([](OptimizerOp optimizer) {
      Block &block = optimizer.getBlock();
      while (!block.empty())
        block.back().erase();
      auto b = OpBuilder::atBlockEnd(&block);
      Location loc = optimizer.getLoc();
      Value rate = b.create<ConstantOp>(
          loc, tensorOf(netc::elementOf(optimizer.getParameter()), Shape()),
          llvm::APFloat(1.0));
      b.create<SgdOp>(loc, optimizer.getParameter(), optimizer.getGradient(),
                      rate, llvm::APFloat(0.0), llvm::APFloat(0.0), false,
                      false);
    });
  PassManager passes(module->getName());
  addPasses(passes, Stage::Step);
  if (failed(passes.run(module)))
    return nullptr;
  return specification;
}

static std::optional<JitStep> build(const Subject &subject,
                                    LoweringOptions options) {
  auto specification = load(subject.file, options.doubles);
  if (!specification)
    return std::nullopt;
  options.run = subject.run;
  options.sizes = sizes;
  FailureOr<CompiledStep> compiled =
      compile(specification->module(), options, {});
  if (failed(compiled))
    return std::nullopt;
  auto step = JitStep::load(std::move(*compiled));
  if (!step) {
    llvm::errs() << "netc-verify: error: " << toString(step.takeError())
                 << '\n';
    return std::nullopt;
  }
  return std::move(*step);
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

static bool verifyCounts(const Subject &subject) {
  LoweringOptions options;
  options.reference = options.counted = true;
  std::optional<JitStep> step = build(subject, options);
  if (!step)
    return false;
  step->reset(seed);
  step->run(1);
  bool same = true;
  int64_t total = 0;
  for (auto [i, op] : llvm::enumerate(step->program().ops)) {
    const int64_t *executed = step->counts() + 3 * i;
    int64_t counted[] = {op.matmul, op.other, op.transcendental};
    total += op.matmul + op.other;
    const char *kinds[] = {"matmul", "other", "transcendental"};
    for (int kind = 0; kind < 3; ++kind) {
      if (executed[kind] == counted[kind])
        continue;
      same = false;
      llvm::outs() << subject.name() << ": " << op.name << ": " << op.op << " ("
                   << op.phase << ") executes " << executed[kind] << ' '
                   << kinds[kind] << " FLOP, " << counted[kind]
                   << " are counted\n";
    }
  }
  if (same)
    llvm::outs() << subject.name() << ": executes the " << total
                 << " FLOP that are counted, op by op\n";
  return same;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

static bool verifyGradients(const Subject &subject) {
  LoweringOptions options;
  options.reference = options.doubles = true;
  std::optional<JitStep> step = build(subject, options);
  if (!step)
    return false;
  step->reset(seed);
  const std::vector<char> start = step->save();
  step->run(1);
  const std::vector<char> after = step->save();

  std::mt19937_64 random(seed);
  double worst = 0;
  bool holds = true;
  unsigned tensors = 0;
  for (const Slot &slot : step->program().slots) {
    if (slot.role != Role::Parameter)
      continue;
    auto gradientOf = [&](int64_t element) {
      step->restore(start);
      double before = step->read(slot, element);
      step->restore(after);
      return before - step->read(slot, element);
    };
    auto lossAt = [&](int64_t element, double shift) {
      step->restore(start);
      step->write(slot, element, step->read(slot, element) + shift);
      step->run(1);
      return step->loss();
    };
    int64_t count = slot.count();
    double largest = 0, error = 0;
    for (int64_t element = 0; element < count; ++element)
      largest = std::max(largest, std::abs(gradientOf(element)));
    for (int64_t sample = 0; sample < std::min<int64_t>(count, 12); ++sample) {
      int64_t element = count <= 12 ? sample : int64_t(random() % count);
      constexpr double step = 1e-5;
      double slope =
          (lossAt(element, step) - lossAt(element, -step)) / (2 * step);
      error = std::max(error, std::abs(slope - gradientOf(element)));
    }
    ++tensors;
    double relative = largest > 0 ? error / largest : error;
    worst = std::max(worst, relative);
    if (!(relative <= kGradientTolerance)) {
      holds = false;
      llvm::outs() << subject.name() << ": " << slot.name
                   << ": gradient is off by " << llvm::format("%.3g", relative)
                   << " of its largest, " << llvm::format("%.3g", largest)
                   << '\n';
    }
  }
  if (holds)
    llvm::outs() << subject.name() << ": gradients of " << tensors
                 << " parameters hold\n";
  if (verbose)
    llvm::outs() << "  largest error " << llvm::format("%.3g", worst) << '\n';
  return holds;
}

//===----------------------------------------------------------------------===//
// Fast against reference
//===----------------------------------------------------------------------===//

static bool verifyFast(const Subject &subject) {
  LoweringOptions options;
  std::optional<JitStep> quick = build(subject, options);
  options.reference = true;
  std::optional<JitStep> plain = build(subject, options);
  if (!quick || !plain)
    return false;
  constexpr int steps = 2;
  for (JitStep *step : {&*quick, &*plain}) {
    step->reset(seed);
    for (int i = 1; i <= steps; ++i)
      step->run(i);
  }
  // Sums are taken in another order: what they may differ by grows with the
  // largest element and, slowly, with what they sum.
  constexpr double tolerance = 1024 * 0x1p-23;
  bool holds = true;
  double worst = 0;
  for (const Slot &slot : plain->program().slots) {
    auto other = llvm::find_if(quick->program().slots, [&](const Slot &s) {
      return s.name == slot.name && s.role == slot.role;
    });
    double largest = 0, error = 0;
    for (int64_t i = 0; i < slot.count(); ++i) {
      double a = plain->read(slot, i), b = quick->read(*other, i);
      largest = std::max(largest, std::abs(a));
      error = std::max(error, std::isnan(b) ? INFINITY : std::abs(a - b));
    }
    double relative = error / std::max(largest, 1e-30);
    worst = std::max(worst, relative);
    if (!(error <= tolerance * largest)) {
      holds = false;
      llvm::outs() << subject.name() << ": " << slot.name << ": differs by "
                   << llvm::format("%.3g", relative) << " of its largest\n";
    }
  }
  if (holds)
    llvm::outs() << subject.name() << ": fast code computes what the reference "
                 << "does\n";
  if (verbose)
    llvm::outs() << "  largest difference " << llvm::format("%.3g", worst)
                 << '\n';
  return holds;
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "checks that steps run as counted\n");
  DialectRegistry registry;
  registry.insert<NetDialect>();
  registerLoweringInterfaces(registry);
  MLIRContext theContext(registry, MLIRContext::Threading::DISABLED);
  theContext.loadAllAvailableDialects();
  theContext.printOpOnDiagnostic(false);
  DiagnosticPrinter thePrinter(&theContext, llvm::errs(), 20, false);
  context = &theContext;
  printer = &thePrinter;

  bool holds = true;
  for (const std::string &file : files) {
    auto specification = load(file, /*plainUpdate=*/false);
    if (!specification)
      return 1;
    for (auto step : specification->module().getOps<StepOp>()) {
      Subject subject{file, step.getSymName().str()};
      if (counts)
        holds &= verifyCounts(subject);
      if (gradients)
        holds &= verifyGradients(subject);
      if (fast)
        holds &= verifyFast(subject);
    }
  }
  return holds ? 0 : 1;
}
