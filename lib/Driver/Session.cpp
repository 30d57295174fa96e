// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/Session.h"

#include "dialect/Spelling.h"
#include "lib/Analysis/ResolveHardware.h"
#include "lib/Diagnostics/Activity.h"
#include "lib/Diagnostics/DiagnosticPrinter.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Driver/Output.h"
#include "lib/Frontend/Input.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace netc;
using namespace netc::flags;

Exit netc::complain(Exit status, const llvm::Twine &message) {
  llvm::errs() << "netc: error: " << message << '\n';
  return status;
}

Exit netc::write(llvm::StringRef path,
                 llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (llvm::Error error = writeOutput(path, print))
    return complain(LackingEnvironment, "cannot write `" + path + "`: " +
                                            llvm::toString(std::move(error)));
  return Fine;
}

Exit netc::write(llvm::function_ref<void(llvm::raw_ostream &)> print) {
  return write(output, print);
}

TableOptions netc::tableOptions(llvm::raw_ostream &os) {
  return {depth, symbolic, isColourful(os), widthOf(os)};
}

std::unique_ptr<Page> netc::makePage(llvm::raw_ostream &os,
                                     llvm::StringRef title) {
  if (format == Format::Markdown)
    return markdownPage(os, tableOptions(os));
  if (format == Format::Html)
    return htmlPage(os, inputs.empty() ? title.str() : llvm::join(inputs, ", "),
                    NETC_VERSION);
  return textPage(os, tableOptions(os));
}

mlir::LogicalResult netc::runPasses(mlir::ModuleOp module, Stage stage) {
  mlir::PassManager passes(module->getName());
  // Tests verify the IR after each pass, for all examples.
  passes.enableVerifier(false);
  addPasses(passes, stage);
  return passes.run(module);
}

std::unique_ptr<Specification> Session::load(llvm::StringRef path, Stage stage,
                                             RolledCopies *rolled) const {
  Activity activity("reading", path);
  FrontendOptions options = frontend;
  options.rolled = rolled;
  auto specification = Specification::load(&context, path, options);
  // Formats of values, which passes assign, decide which peaks count.
  if (!specification || failed(runPasses(specification->module(), stage)) ||
      failed(resolveHardware(specification->module())))
    return nullptr;
  return specification;
}

mlir::LogicalResult Session::resolveHardware(mlir::ModuleOp module,
                                             mlir::ModuleOp written) const {
  return netc::resolveHardware(
      module, [&]() -> const AcceleratorTable & { return accelerators(); },
      written);
}

const AcceleratorTable &Session::accelerators() const {
  if (!table)
    table = AcceleratorTable::builtin();
  return *table;
}

mlir::LogicalResult Session::readAccelerators() {
  for (llvm::StringRef path : hardwareFiles()) {
    accelerators();
    llvm::Expected<std::string> text = readText(path, limits.maxInputBytes);
    if (!text) {
      complain(WrongInput, "cannot read `" + path +
                               "`: " + llvm::toString(text.takeError()));
      return mlir::failure();
    }
    frontend.onRead(path, *text);
    auto fail = [&](unsigned line, unsigned column, const Message &message) {
      return emitError(mlir::FileLineColLoc::get(&context, path, line, column),
                       message);
    };
    if (text->size() > limits.maxInputBytes)
      return fail(1, 1, longerThan(limits.maxInputBytes));
    llvm::Error error = table->addText(*text, path);
    if (!error)
      continue;
    llvm::handleAllErrors(std::move(error), [&](const HardwareError &wrong) {
      fail(wrong.line, wrong.column, {"", wrong.message});
    });
    return mlir::failure();
  }
  return mlir::success();
}

/// Whether a file has `name`, from the command line. Prints an error if none
/// has.
static bool isKnown(llvm::StringRef kind, llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> known) {
  if (llvm::is_contained(known, name))
    return true;
  complain(WrongUsage, "there is no " + kind + " `" + name + "`" +
                           netc::didYouMean(name, known));
  return false;
}

bool netc::areKnown(llvm::ArrayRef<Specification *> files) {
  std::vector<llvm::StringRef> networks, runs;
  for (Specification *file : files) {
    llvm::append_range(networks, file->networks());
    llvm::append_range(runs, file->runs());
  }
  std::vector<std::string> names;
  for (Specification *file : files)
    llvm::append_range(names, file->settable());
  llvm::SmallVector<llvm::StringRef> settable(names.begin(), names.end());
  return llvm::all_of(onlyNetworks,
                      [&](const std::string &name) {
                        return isKnown("net", name, networks);
                      }) &&
         llvm::all_of(onlyRuns,
                      [&](const std::string &name) {
                        return isKnown("run", name, runs);
                      }) &&
         llvm::all_of(settings, [&](llvm::StringRef setting) {
           llvm::StringRef path = setting.split('=').first;
           return isKnown("run or net", path.split('.').first.trim(), settable);
         });
}

bool netc::isOf(llvm::StringRef run, llvm::StringRef name) {
  return run.consume_front(name) && (run.empty() || run.front() == '.');
}

bool netc::isAskedFor(llvm::StringRef run) {
  return onlyRuns.empty() || llvm::any_of(onlyRuns, [&](llvm::StringRef name) {
           return isOf(run, name);
         });
}

/// Reads `-D` and similar options. None after an error, which is printed.
static std::optional<FrontendOptions> frontendOptions() {
  FrontendOptions options;
  options.limits = limits;
  options.includeFolders = includeFolders;
  options.onlyNetworks = onlyNetworks;
  options.onlyRuns = onlyRuns;
  options.makesTables = !emit.getNumOccurrences();
  options.settings = settings;
  for (llvm::StringRef definition : definitions) {
    auto [name, value] = definition.split('=');
    if (name.empty() || !definition.contains('=')) {
      complain(WrongUsage,
               "`-D " + definition + "` is not of the form `-D name=value`");
      return std::nullopt;
    }
    options.definitions.emplace_back(name, value);
  }
  return options;
}

static Exit run(llvm::function_ref<Exit(Session &)> work) {
  // It is never freed: freeing it piece by piece takes milliseconds.
  auto &context =
      *new mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<NetDialect>();
  context.printOpOnDiagnostic(false);
  DiagnosticPrinter printer(&context, llvm::errs(), limits.maxErrors,
                            limits.maxWarnings, isColourful(llvm::errs()),
                            diagnostics);
  std::optional<FrontendOptions> options = frontendOptions();
  if (!options)
    return WrongUsage;
  options->onRead = [&](llvm::StringRef path, llvm::StringRef text) {
    printer.addSource(path, text);
  };
  Progress progress(std::chrono::seconds(1));
  mlir::ScopedDiagnosticHandler beforeEach(&context, [&](mlir::Diagnostic &) {
    progress.clear();
    return mlir::failure(); // the next handler prints it
  });
  options->onPoint = [&](llvm::StringRef run, size_t index, size_t points) {
    progress.show(double(index) / points,
                  llvm::formatv("point {0} of {1} of the sweep of `{2}`",
                                index + 1, points, run)
                      .str());
  };
  Session session(context, std::move(*options), progress, printer);
  return failed(session.readAccelerators()) ? WrongInput : work(session);
}

/// This is not the stack of a thread, since single-threaded processes count
/// references and allocate without locks.
static void onDeepStack(llvm::function_ref<void()> work) {
  static llvm::function_ref<void()> todo;
  static ucontext_t here, deep;
  todo = work;
  void *stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED || getcontext(&deep))
    return work();
  mprotect(stack, getpagesize(), PROT_NONE);
  deep.uc_stack.ss_sp = stack;
  deep.uc_stack.ss_size = kStackBytes;
  deep.uc_link = &here;
  makecontext(
      &deep, [] { todo(); }, 0);
  swapcontext(&here, &deep);
}

// With the preset `coverage`, LLVM's runtime counts what is reached.
extern "C" [[gnu::weak]] int __llvm_profile_write_file();

void netc::leave(int status) {
  if (__llvm_profile_write_file)
    __llvm_profile_write_file();
  llvm::sys::Process::Exit(status, /*NoCleanup=*/true);
}

void netc::inSession(llvm::function_ref<Exit(Session &)> work) {
#ifdef __GLIBC__
  // Get memory in large pieces instead of single pages.
  mallopt(M_TOP_PAD, 16 << 20);
#endif
  Exit status = Fine;
  onDeepStack([&] { status = run(work); });
  leave(status);
}
