// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/CommandLine.h"

#include "dialect/Spelling.h"
#include "lib/Driver/Help.h"
#include "lib/Driver/Session.h"
#include "lib/Report/Table.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/StringSaver.h"
#include <list>

using namespace netc;
using namespace netc::flags;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// The table of options
//===----------------------------------------------------------------------===//

namespace {
/// A command line, and a description of it.
struct Example {
  const char *command, *meaning;
};

/// A group of options in the help.
struct Group {
  const char *title;
  std::vector<Example> examples;
};

/// An option of the table. Options with a fixed set of values have a parser of
/// words.
struct Listed {
  const Group *group;
  const cl::Option *option;
  const cl::generic_parser_base *words;
  bool isRepeated;
  unsigned bits; ///< of a whole number
};
} // namespace

static std::vector<Listed> &listed() {
  static std::vector<Listed> options;
  return options;
}

namespace {
/// Adds an option to a group.
struct In {
  const Group &group;

  template <typename Opt> void apply(Opt &opt) const {
    const cl::Option &option = opt;
    const cl::generic_parser_base *words = nullptr;
    unsigned bits = 0;
    using Parser = std::remove_reference_t<decltype(opt.getParser())>;
    if constexpr (std::is_base_of_v<cl::generic_parser_base, Parser>)
      words = &opt.getParser();
    else if constexpr (std::is_unsigned_v<typename Parser::parser_data_type>)
      bits = 8 * sizeof(typename Parser::parser_data_type);
    listed().push_back({&group, &option, words,
                        option.getNumOccurrencesFlag() == cl::ZeroOrMore,
                        bits});
  }
};
} // namespace

namespace {
/// Adds the words of the targets to an option.
struct Targets {
  template <typename Opt> void apply(Opt &opt) const {
    for (const program::TargetTraits &target : program::targets())
      opt.getParser().addLiteralOption(target.name, target.kind, target.help);
  }
};
struct DeviceCodes {
  template <typename Opt> void apply(Opt &opt) const {
    static std::list<std::string> help;
    for (const program::TargetTraits &target : program::targets())
      if (target.deviceCode)
        opt.getParser().addLiteralOption(
            target.deviceCode, deviceCodeOf(target.kind),
            help.emplace_back("the kernels of `--target=" +
                              std::string(target.name) + "`, as text"));
  }
};
} // namespace

/// The help of `--arch`.
static std::string describeArchs() {
  std::string text;
  for (const program::TargetTraits &target : program::targets()) {
    if (target.archs.empty())
      continue;
    text += text.empty() ? "" : "; ";
    text += "of `--target=" + std::string(target.name) +
            "`: " + program::joined(target.archs) + " alone (default: ";
    text +=
        "code for " + std::string(target.archs.size() == 2 ? "both" : "all");
    if (target.deviceCode)
      text += "; of `--emit=" + std::string(target.deviceCode) + "`, " +
              target.archs.front();
    text += "; of `--measure`, ";
    text += "what the device runs)";
  }
  return text;
}

/// LLVM's library has options of these names, for linking and for its own help.
static const bool areNamesOurs = [] {
  for (llvm::StringRef name :
       {"threads", "help", "h", "help-list", "help-hidden", "help-list-hidden",
        "version", "print-options", "print-all-options"})
    if (cl::Option *other = cl::getRegisteredOptions().lookup(name))
      other->removeArgument();
  return true;
}();

static const Group toDo = {
    "What to do",
    {Example{"netc gpt.net", "report what it costs to train"},
     Example{"netc --check *.net", "see that all expects hold"},
     Example{"netc --compare a.net b.net", "what is different in b.net"},
     Example{"netc --measure --batch=1,8 lenet.net", "train on this machine"},
     Example{"netc --audit --trace=step.json.gz resnet.net",
             "what a profiler counted wrong"},
     Example{"netc --emit=exe --run=run lenet.net -o lenet",
             "make a program of it"},
     Example{"netc import config.json -o model.net",
             "describe a model from the hub"},
     Example{"netc fmt *.net", "format in place"},
     Example{"netc --hardware=H100", "what netc knows of an H100"}}};
static const Group toCount = {
    "What to count",
    {Example{"netc --set run.batch=64,128,256 gpt.net",
             "a table of batch sizes"},
     Example{"netc --set \"run.hardware=8 H100\" --set run.T=4096 gpt.net",
             "other devices and another length"},
     Example{"netc --set Gpt.layers=24 gpt.net", "a deeper network"}}};
static const Group toPrint = {"Output",
                              {Example{"netc --format=html -o gpt.html gpt.net",
                                       "a page with pictures"}}};
static const Group toRun = {"Code and measuring", {}};
static const Group toBound = {"Limits on what a file may ask for", {}};

namespace netc::flags {

static cl::list<std::string> unknown(cl::Sink);
cl::list<std::string> inputs(cl::Positional, cl::ZeroOrMore,
                             cl::desc("FILE..."));

Action action = Action::Estimate;
bool isFmtCheck = false;
static cl::list<Action> actions(
    cl::values(clEnumValN(Action::Estimate, "estimate",
                          "report networks, runs and expects (default)"),
               clEnumValN(Action::Check, "check",
                          "report errors and expects only"),
               clEnumValN(Action::Compare, "compare",
                          "report what is different in the second of two "
                          "files, block by block"),
               clEnumValN(Action::Measure, "measure",
                          "compile runs, let them train, and report their "
                          "times and utilization"),
               clEnumValN(Action::Audit, "audit",
                          "report what profilers count of a step that "
                          "`--trace` has, beside what it costs"),
               clEnumValN(Action::Import, "import",
                          "write the specification of a model by its "
                          "config.json, checked against the weights beside "
                          "it, or by its graph; also `netc import`"),
               clEnumValN(Action::Fmt, "fmt",
                          "format files in place; with `--check`, report "
                          "those that are not formatted; also `netc fmt`")),
    In{toDo});
cl::list<std::string>
    traces("trace", cl::value_desc("file,..."), cl::CommaSeparated,
           cl::desc("of `--audit`: what profilers wrote, as docs/Auditing.md "
                    "says"),
           In{toDo});
cl::opt<std::string>
    range("range", cl::value_desc("step"),
          cl::desc("of `--audit`: the step of a trace, by its number, the name "
                   "of a range, or times such as `10ms-25ms` (default: the "
                   "median one)"),
          In{toDo});
cl::list<std::string>
    opaqueOps("opaque", cl::value_desc("op,..."), cl::CommaSeparated,
              cl::desc("of `--import`: ops of a graph that netc does not know, "
                       "of which only the shapes of results are taken; their "
                       "cost is not known"),
              In{toDo});
cl::opt<Emit> emit(
    "emit", cl::value_desc("stage"),
    cl::desc("print a stage, of a run from `linalg` on, or make a program"),
    cl::values(clEnumValN(Emit::Graph, "graph",
                          "a network in PyTorch's ops, as JSON"),
               clEnumValN(Emit::Net, "net", "networks and losses"),
               clEnumValN(Emit::Step, "step", "with gradients and updates"),
               clEnumValN(Emit::Bound, "bound", "with a size for every axis"),
               clEnumValN(Emit::Trace, "trace",
                          "one step of a run at the peaks of its hardware, as "
                          "a profiler would write it"),
               clEnumValN(Emit::Linalg, "linalg", "lowered to tensors"),
               clEnumValN(Emit::Schedule, "schedule",
                          "how products are tiled, packed and shared by "
                          "threads"),
               clEnumValN(Emit::Llvm, "llvm", "in the LLVM dialect")),
    DeviceCodes(),
    cl::values(clEnumValN(Emit::Object, "obj", "an object file"),
               clEnumValN(Emit::Program, "exe",
                          "a program that trains and measures itself")),
    In{toDo});
cl::list<std::string> hardware(
    "hardware", cl::ValueOptional, cl::value_desc("name|file.yaml"),
    cl::desc("list the accelerators that netc knows, or show the one of this "
             "name; a file that ends in .yaml adds others, for the "
             "specifications on the same line"),
    In{toDo});
static cl::opt<HelpForm> help(
    "help", cl::ValueOptional, cl::value_desc("form"),
    cl::desc("list the options; or the same as a page of the manual, or as "
             "what a shell completes by"),
    cl::values(clEnumValN(HelpForm::Text, "", ""),
               clEnumValN(HelpForm::Man, "man", "for `man -l -`"),
               clEnumValN(HelpForm::Bash, "bash", "to be sourced"),
               clEnumValN(HelpForm::Zsh, "zsh", "a file `_netc`"),
               clEnumValN(HelpForm::Fish, "fish", "to be sourced")),
    In{toDo});
static cl::alias helpInShort("h", cl::aliasopt(help));
static cl::opt<bool> version("version", cl::desc("print the version"),
                             In{toDo});

cl::list<std::string>
    settings("set", cl::value_desc("run.key=value,..."),
             cl::desc("give a key of a run or job, a free axis, or a setting "
                      "of a net another value than the file does; several "
                      "values make a table"),
             In{toCount});
cl::list<std::string> definitions("D", cl::Prefix, cl::value_desc("name=value"),
                                  cl::desc("replace a top-level constant"),
                                  In{toCount});
cl::list<std::string> includeFolders("I", cl::Prefix, cl::value_desc("folder"),
                                     cl::desc("look for imports here, too"),
                                     In{toCount});
cl::list<std::string>
    onlyNetworks("net", cl::value_desc("name"),
                 cl::desc("count only what is named, this network"),
                 In{toCount});
cl::list<std::string> onlyRuns("run", cl::value_desc("name"),
                               cl::desc("count only what is named, this run"),
                               In{toCount});
cl::opt<MultiplyAdd>
    multiplyAdd("fma", cl::value_desc("number"),
                cl::desc("FLOP of a multiply-add in matmul figures"),
                cl::values(clEnumValN(MultiplyAdd::One, "1", "one"),
                           clEnumValN(MultiplyAdd::Two, "2", "two (default)")),
                In{toCount});
cl::opt<CountedMask> causalMask(
    "causal", cl::value_desc("part"),
    cl::desc("what attention under a causal mask counts"),
    cl::values(clEnumValN(CountedMask::Full, "full", "all of it (default)"),
               clEnumValN(CountedMask::Half, "half",
                          "only what is not hidden")),
    In{toCount});

cl::opt<Format> format(
    "format", cl::value_desc("format"), cl::desc("how to print the report"),
    cl::init(Format::Table),
    cl::values(
        clEnumValN(Format::Table, "table", "for people (default)"),
        clEnumValN(Format::Json, "json", "for programs; docs/*.schema.json"),
        clEnumValN(Format::Csv, "csv",
                   "layers and runs, or measured ops, a row each"),
        clEnumValN(Format::Markdown, "markdown", "as the table"),
        clEnumValN(Format::Html, "html", "a page for a browser, with pictures"),
        clEnumValN(Format::Svg, "svg",
                   "a picture of what is measured or audited")),
    In{toPrint});
cl::opt<DiagnosticFormat>
    diagnostics("diagnostics", cl::value_desc("format"),
                cl::desc("how to print errors and warnings"),
                cl::values(clEnumValN(DiagnosticFormat::Text, "text",
                                      "for people (default)"),
                           clEnumValN(DiagnosticFormat::Json, "json",
                                      "for programs: an object a line")),
                In{toPrint});
cl::opt<std::string> output("o", cl::value_desc("file"),
                            cl::desc("write to a file, whole or not at all"),
                            cl::init("-"), In{toPrint});
cl::opt<unsigned> depth("depth", cl::value_desc("number"),
                        cl::desc("levels of layers in a table (default 2)"),
                        cl::init(TableOptions().depth), In{toPrint});
cl::opt<bool> symbolic("symbolic",
                       cl::desc("also print the polynomials in the free axes"),
                       In{toPrint});

cl::opt<program::TargetKind>
    target("target", cl::value_desc("machine"),
           cl::desc("what code is for; an estimate plans its memory"),
           cl::init(program::TargetKind::Cpu), Targets(), In{toRun});
static const std::string archsHelp = describeArchs();
cl::opt<std::string> arch("arch", cl::value_desc("name"), cl::desc(archsHelp),
                          In{toRun});
cl::opt<LoweringKind>
    lowering("lowering", cl::value_desc("kind"), cl::desc("how code is made"),
             cl::init(LoweringKind::Fast),
             cl::values(clEnumValN(LoweringKind::Fast, "fast",
                                   "tiles, vectors, threads (default)"),
                        clEnumValN(LoweringKind::Reference, "reference",
                                   "plain loops that count what they execute")),
             In{toRun});
cl::list<uint64_t> batches("batch", cl::value_desc("number,..."),
                           cl::CommaSeparated,
                           cl::desc("examples in a step that is compiled or "
                                    "audited, in place of the run's"),
                           In{toRun});
cl::opt<unsigned> threads("threads", cl::value_desc("number"),
                          cl::desc("that are measured (default: one a core)"),
                          In{toRun});
cl::opt<double>
    seconds("seconds", cl::value_desc("seconds"),
            cl::desc("measure each batch size for so long at most (default "
                     "10)"),
            In{toRun});
cl::opt<uint64_t> steps("steps", cl::value_desc("number"),
                        cl::desc("or exactly so many steps"), In{toRun});
cl::opt<std::string>
    data("data", cl::value_desc("file,..."),
         cl::desc("train on npy files (default: synthetic data)"), In{toRun});

Limits limits;
cl::opt<size_t, true> maxInput("max-input", cl::value_desc("number"),
                               cl::desc("bytes in one file, unpacked"),
                               cl::location(limits.maxInputBytes), In{toBound});
cl::opt<unsigned, true> maxDepth("max-depth", cl::value_desc("number"),
                                 cl::desc("nesting"),
                                 cl::location(limits.maxDepth), In{toBound});
cl::opt<size_t, true> maxOps("max-ops", cl::value_desc("number"),
                             cl::desc("operations that it expands to"),
                             cl::location(limits.maxOps), In{toBound});
cl::opt<size_t, true> maxSweep("max-sweep", cl::value_desc("number"),
                               cl::desc("points of a sweep, in the file or by "
                                        "`--set`"),
                               cl::location(limits.maxSweepPoints),
                               In{toBound});
cl::opt<uint64_t> maxEvents("max-events", cl::value_desc("number"),
                            cl::desc("events of a trace that are kept"),
                            In{toBound});
cl::opt<unsigned, true> maxErrors("max-errors", cl::value_desc("number"),
                                  cl::desc("errors that are shown"),
                                  cl::location(limits.maxErrors), In{toBound});
cl::opt<unsigned, true> maxWarnings("max-warnings", cl::value_desc("number"),
                                    cl::desc("warnings that are shown"),
                                    cl::location(limits.maxWarnings),
                                    In{toBound});

} // namespace netc::flags

/// `--batch`, `-o`.
static std::string spelling(llvm::StringRef name) {
  return (name.size() == 1 ? "-" : "--") + name.str();
}

std::vector<OptionGroup> netc::optionGroups() {
  std::vector<OptionGroup> groups;
  for (const Listed &each : listed()) {
    if (groups.empty() || groups.back().title != each.group->title) {
      groups.push_back({each.group->title, {}, {}});
      for (auto &[command, meaning] : each.group->examples)
        groups.back().examples.emplace_back(command, meaning);
    }
    const cl::Option &option = *each.option;
    std::vector<std::pair<std::string, std::string>> words;
    for (unsigned i = 0; each.words && i < each.words->getNumOptions(); ++i)
      if (!each.words->getOption(i).empty())
        words.emplace_back(each.words->getOption(i),
                           each.words->getDescription(i));
    std::vector<OptionText> &options = groups.back().options;
    if (!option.hasArgStr()) {
      // Each word is an option of its own.
      for (auto &[word, text] : words)
        options.push_back({spelling(word), "", text, false, false, {}});
      continue;
    }
    options.push_back({spelling(option.ArgStr), option.ValueStr.str(),
                       option.HelpStr.str(),
                       option.getValueExpectedFlag() == cl::ValueOptional &&
                           !option.ValueStr.empty(),
                       each.isRepeated, words, each.bits});
  }
  return groups;
}

ConventionFlags netc::conventionFlags() {
  ConventionFlags flags;
  if (multiplyAdd.getNumOccurrences())
    flags.fma = unsigned(multiplyAdd.getValue());
  if (causalMask.getNumOccurrences())
    flags.causal = causalMask;
  return flags;
}

/// The values of `--hardware` that are files, or those that are not.
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

/// Suggests the option that was meant, if one is similar.
static Exit refuseUnknown(llvm::StringRef argument) {
  std::vector<std::string> names;
  for (const OptionGroup &group : optionGroups())
    for (const OptionText &option : group.options)
      names.push_back(llvm::StringRef(option.name).ltrim('-').str());
  llvm::SmallVector<llvm::StringRef> known(names.begin(), names.end());
  llvm::StringRef given = argument.split('=').first;
  llvm::StringRef meant = nearestName(given.ltrim('-'), known);
  return complain(WrongUsage,
                  "there is no option `" + given + "`" +
                      (meant.empty() ? "; `netc --help` lists them"
                                     : didYouMean(spelling(meant))));
}

/// Handles options that ask about netc itself, such as `--version`.
static Exit printInformation() {
  auto print = [](llvm::raw_ostream &os) {
    if (version) {
      os << "netc " NETC_VERSION "\n";
      return;
    }
    switch (help) {
    case HelpForm::Text:
      return printHelp(os);
    case HelpForm::Man:
      return printManPage(os);
    case HelpForm::Bash:
      return printBashCompletion(os);
    case HelpForm::Zsh:
      return printZshCompletion(os);
    case HelpForm::Fish:
      return printFishCompletion(os);
    }
  };
  return write(print);
}

static Exit refuse(const llvm::Twine &message) {
  return complain(WrongUsage, message);
}

/// Whether programs are asked for by `--emit=exe` itself.
static bool makesProgram() {
  return emit == Emit::Program && emit.getNumOccurrences();
}

/// Sets `action`. Refuses two actions.
static std::optional<Exit> takeAction(llvm::ArrayRef<const char *> arguments) {
  isFmtCheck = actions.size() == 2 && actions[0] == Action::Fmt &&
               actions[1] == Action::Check;
  for (size_t i = 0; i < actions.size() && !isFmtCheck; ++i)
    if (actions[i] != actions[0] || emit.getNumOccurrences())
      return refuse(
          "`" + llvm::Twine(arguments[actions.getPosition(0)]) + "` and `" +
          (emit.getNumOccurrences() ? "--emit"
                                    : arguments[actions.getPosition(i)]) +
          "` ask for two things; give one of them");
  if (!actions.empty())
    action = actions.front();
  return std::nullopt;
}

/// Refuses options that are for another action or target.
static std::optional<Exit> checkOptionsOfActions() {
  const cl::Option *measured[] = {&threads, &seconds, &steps, &data};
  for (const cl::Option *option : measured)
    if (option->getNumOccurrences() && action != Action::Measure)
      return refuse("`--" + option->ArgStr + "` is for `--measure`" +
                    (makesProgram() ? "; programs take it when they run" : ""));
  if (!traces.empty() && action != Action::Audit)
    return refuse(llvm::Twine("`--trace` is for `--audit`") +
                  (makesProgram() ? "; programs write one when they run" : ""));
  if (range.getNumOccurrences() && action != Action::Audit)
    return refuse("`--range` is for `--audit`");
  if (!opaqueOps.empty() && action != Action::Import)
    return refuse("`--opaque` is for `netc import`");
  if (arch.getNumOccurrences() && traitsOf(target).archs.empty())
    return refuse("`--arch` is for " + program::targetsWith([](auto &target) {
                    return !target.archs.empty();
                  }));
  for (const Listed &each : listed())
    if (action == Action::Fmt && each.option->getNumOccurrences() &&
        llvm::is_contained({&toCount, &toPrint, &toRun}, each.group) &&
        each.option != &diagnostics)
      return refuse("`netc fmt` sets blanks in the files themselves, and takes "
                    "no `" +
                    spelling(each.option->ArgStr) + "`");
  for (const program::TargetTraits &other : program::targets())
    if (emit.getNumOccurrences() && emit == deviceCodeOf(other.kind) &&
        target != other.kind)
      return refuse(llvm::Twine("`--emit=") + other.deviceCode +
                    "` is for `--target=" + other.name + "`");
  return std::nullopt;
}

/// Refuses values that an option does not take.
static std::optional<Exit> checkValues() {
  const std::vector<std::string> &archs = traitsOf(target).archs;
  if (arch.getNumOccurrences() && !llvm::is_contained(archs, arch.getValue()))
    return refuse("`--arch` takes " + program::joined(archs) + ", not `" +
                  arch + "`");
  if (llvm::is_contained(batches, 0u))
    return refuse("`--batch` takes sizes from 1 on");
  return std::nullopt;
}

static std::optional<Exit> checkInputs() {
  if (inputs.empty() && hardware.empty() && traces.empty())
    return refuse("no file is named; `netc FILE` reports what it costs, `netc "
                  "--help` lists the options");
  if (!inputs.empty() && !hardwareNames().empty()) {
    llvm::StringRef name = hardwareNames().front();
    return refuse("`--hardware` with a name, or without, is asked for by "
                  "itself; to count a run on other devices, write `--set "
                  "\"run.hardware=8 " +
                  (name.empty() ? "H100" : name) +
                  "\"`; the name of a file of accelerators ends in .yaml");
  }
  if (action == Action::Import && inputs.size() != 1)
    return refuse("`netc import` takes one file, the config.json or the graph "
                  "of a model");
  for (llvm::StringRef folder : includeFolders)
    if (!llvm::sys::fs::is_directory(folder))
      return refuse("`-I " + folder + "` names no folder");
  for (llvm::StringRef input : inputs)
    if (llvm::sys::fs::equivalent(input, output))
      return refuse("`-o " + output + "` would write over what is read");
  for (llvm::StringRef setting : settings)
    if (setting.find('=') == 0 || !setting.contains('='))
      return refuse("`--set " + setting +
                    "` is not of the form `--set run.key=value`");
  if (limits.maxDepth > 4096)
    return refuse("`--max-depth` is at most 4096, which is what the stack "
                  "carries");
  return std::nullopt;
}

/// Removes the options of LLVM's libraries.
static void keepOwnOptions() {
  llvm::SmallPtrSet<const cl::Option *, 32> own{&helpInShort};
  for (const Listed &each : listed())
    own.insert(each.option);
  llvm::SmallVector<cl::Option *> others;
  for (auto &entry : cl::getRegisteredOptions())
    if (!own.contains(entry.second))
      others.push_back(entry.second);
  for (cl::Option *other : others)
    other->removeArgument();
}

/// Refuses a value that an option cannot have, for which LLVM's errors name
/// types of C++. Values with a meaning of their own are checked later.
static std::optional<Exit> checkValue(const OptionText &option,
                                      llvm::StringRef value) {
  llvm::SmallVector<llvm::StringRef> words;
  for (auto &[word, help] : option.words)
    words.push_back(word);
  if (!words.empty() && !llvm::is_contained(words, value))
    return refuse("`" + option.name + "` takes " + llvm::join(words, ", ") +
                  ", not `" + value + "`" + didYouMean(value, words));
  double number;
  if (option.value == "seconds" && value.getAsDouble(number))
    return refuse("`--seconds` takes a positive number, not `" + value + "`");
  if (option.bits == 0)
    return std::nullopt;
  for (llvm::StringRef item : llvm::split(value, ',')) {
    if (item.empty() || !llvm::all_of(item, llvm::isDigit))
      return refuse("`" + option.name + "` takes a whole number, not `" + item +
                    "`");
    uint64_t number;
    if (item.getAsInteger(10, number) || !llvm::isUIntN(option.bits, number))
      return refuse("`" + option.name + "` takes a whole number below 2^" +
                    llvm::Twine(option.bits) + ", not `" + item + "`");
  }
  return std::nullopt;
}

/// Refuses options without their values, and values of the wrong kind.
static std::optional<Exit>
checkWritten(llvm::ArrayRef<const char *> arguments) {
  llvm::StringMap<OptionText> known;
  for (const OptionGroup &group : optionGroups())
    for (const OptionText &option : group.options)
      known[option.name] = option;
  for (size_t i = 1; i < arguments.size(); ++i) {
    llvm::StringRef argument = arguments[i];
    if (argument == "--")
      break;
    auto [name, value] = argument.split('=');
    auto found = known.find(name);
    if (found == known.end()) // `-depth`, as LLVM takes it
      found = known.find(("-" + name).str());
    if (found == known.end())
      continue;
    const OptionText &option = found->second;
    bool hasValue = argument.contains('=');
    if (option.value.empty()) {
      if (hasValue)
        return refuse("`" + option.name + "` takes no value, here is `" +
                      value + "`");
      continue;
    }
    if (!hasValue && !option.isValueOptional && ++i < arguments.size())
      value = arguments[i];
    if (value.empty() && option.isValueOptional)
      continue;
    if (value.empty())
      return refuse("`" + option.name + "` needs a value, as in `" +
                    option.name + (option.isLong() ? "=<" : " <") +
                    option.value + ">`");
    if (std::optional<Exit> refused = checkValue(option, value))
      return refused;
  }
  return std::nullopt;
}

std::optional<Exit> netc::parseCommandLine(int argc, char **argv) {
  keepOwnOptions();
  mlir::registerAsmPrinterCLOptions();
  // LLVM reads `@file` as a file with options. Here it is an input.
  llvm::BumpPtrAllocator memory;
  llvm::StringSaver saver(memory);
  llvm::SmallVector<const char *> arguments(argv, argv + argc);
  for (const char *&argument : llvm::drop_begin(arguments))
    if (*argument == '@')
      argument = saver.save("./" + llvm::Twine(argument)).data();
  if (arguments.size() > 1)
    for (auto [command, option] :
         {std::pair("import", "--import"), std::pair("fmt", "--fmt")})
      if (arguments[1] == llvm::StringRef(command))
        arguments[1] = option;
  if (std::optional<Exit> refused = checkWritten(arguments))
    return refused;
  if (!cl::ParseCommandLineOptions(argc, arguments.data(), "", &llvm::errs()))
    return WrongUsage;
  if (!unknown.empty())
    return refuseUnknown(unknown.front());
  if (help.getNumOccurrences() || version)
    return printInformation();
  if (std::optional<Exit> refused = takeAction(arguments))
    return refused;
  for (auto check : {checkOptionsOfActions, checkValues, checkInputs})
    if (std::optional<Exit> refused = check())
      return refused;
  return std::nullopt;
}
