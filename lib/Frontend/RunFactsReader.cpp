// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads the facts of a run: its length, hardware and conventions.

#include "lib/Frontend/RunFactsReader.h"
#include "dialect/ElementName.h"
#include "lib/Hardware/Defaults.h"
#include "lib/Hardware/Precision.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

/// Far more than exist. With this number, no figure exceeds 128 bits.
static constexpr int64_t maxDevices = 1'000'000'000;

static bool isOf(const Number &number, Dimension::Base base) {
  return number.dimension == Dimension(base);
}

/// Whether all entries are free of errors.
static bool areKnown(llvm::ArrayRef<SectionEntry> dataset) {
  return llvm::none_of(dataset, [](const SectionEntry &entry) {
    return entry.value.isUnknown();
  });
}

bool RunFactsReader::speaksOfTokens() {
  auto isInTokens = [&](StringRef key) {
    std::optional<Value> value = valueOf(key);
    std::optional<Number> number =
        value ? netc::numberOf(*value) : std::nullopt;
    return number && isOf(*number, Dimension::Token);
  };
  return isInTokens("batch") || isInTokens("duration") ||
         llvm::any_of(dataset, [](const SectionEntry &entry) {
           return entry.name == "tokens";
         });
}

bool RunFactsReader::readTokens() {
  // The axes along which there may be tokens. An input with one number per
  // example, such as a label, has none.
  auto axesBehindN = [](const NetInput &input) {
    std::vector<std::pair<Label, Polynomial>> found;
    for (auto [label, size] : llvm::zip_equal(input.labels, input.shape.sizes))
      if (!(label == kBatchAxis) && size != Polynomial::symbol(kBatchAxis))
        found.push_back({label, size});
    return found;
  };
  // Take the first input with positions, else the first input.
  auto input = llvm::find_if(inputs, [&](const NetInput &input) {
    return mlir::isa<mlir::IntegerType>(input.element) &&
           llvm::is_contained(input.labels, kSequenceAxis);
  });
  if (input == inputs.end())
    input = llvm::find_if(inputs, [&](const NetInput &input) {
      return mlir::isa<mlir::IntegerType>(input.element) &&
             !axesBehindN(input).empty();
    });
  if (input == inputs.end())
    return true;
  auto candidates = axesBehindN(*input);
  std::optional<Polynomial> positions;
  for (auto &[label, size] : candidates)
    if (label == kSequenceAxis)
      positions = size;
  if (!positions && !speaksOfTokens())
    return true;
  if (!positions && candidates.size() > 1) {
    e.fail(input->tree, error::NoTokenAxis, input->name,
           TensorBuilder::sizesText(input->shape));
    return false;
  }
  if (!positions)
    positions = candidates.front().second;
  for (const std::string &symbol : positions->symbols())
    if (unsized.empty() && !axes.count(symbol))
      unsized = symbol;
  run.tokensPerExample =
      positions
          ->evaluate(
              [&](StringRef symbol, unsigned power) -> std::optional<Rational> {
                auto found = axes.find(symbol.str());
                if (found == axes.end())
                  return std::nullopt;
                return found->second.moment(power);
              })
          .constant();
  return true;
}

bool RunFactsReader::readAmounts() {
  if (!readTokens())
    return false;
  for (const SectionEntry &entry : dataset)
    if (entry.name == "examples" || entry.name == "tokens")
      if (std::optional<Number> number = netc::numberOf(entry.value))
        (entry.name == "examples" ? datasetExamples : datasetTokens) =
            number->exact.constant();
  if (datasetExamples && !datasetTokens && run.tokensPerExample)
    datasetTokens = *datasetExamples * *run.tokensPerExample;
  if (datasetTokens && !datasetExamples && run.tokensPerExample)
    datasetExamples = *datasetTokens / *run.tokensPerExample;
  return true;
}

void RunFactsReader::failTokens(StringRef key, const Message &why) {
  if (unsized.empty())
    e.fail(placeOf(key), why);
  else
    e.fail(placeOf(key), error::NoSize, unsized);
}

bool RunFactsReader::isReported() {
  // With isFacts, the ops are those of the step that was built before.
  StepOp made = step;
  if (isFacts)
    made = mlir::dyn_cast_or_null<StepOp>(e.program.operationNamed(symbol()));
  bool isOpaque =
      made && made.walk([](OpaqueOp) { return mlir::WalkResult::interrupt(); })
                  .wasInterrupted();
  return isOpaque && !valueOf("optimizer");
}

/// The error of a batch of more than one example, if no input has the axis `N`.
static std::optional<Message>
mistakeInBatchAxis(llvm::ArrayRef<NetInput> inputs, const Rational &batch) {
  const NetInput *fixed = nullptr;
  size_t place = 0;
  for (const NetInput &input : inputs)
    for (auto [axis, size] : llvm::enumerate(input.shape.sizes)) {
      if (llvm::is_contained(size.symbols(), kBatchAxis))
        return std::nullopt;
      if (!fixed && input.labels[axis] == kBatchAxis) {
        fixed = &input;
        place = axis;
      }
    }
  if (fixed)
    return error::BatchSizeFixed(fixed->name, fixed->shape[place].str());
  // A step without a batch axis computes one example.
  if (inputs.empty() || batch == Rational(1))
    return std::nullopt;
  const NetInput &input = inputs.front();
  std::string axis = input.labels.empty() ? "" : input.labels.front().name();
  bool isNamed = !axis.empty() && !input.shape[0].isConstant();
  // The first of several axes is probably that of the examples.
  Shape meant = input.shape;
  if (meant.rank() > 1)
    meant[0] = Polynomial::symbol(kBatchAxis);
  else
    meant.sizes.insert(meant.sizes.begin(), Polynomial::symbol(kBatchAxis));
  return error::BatchAxis(input.name, TensorBuilder::sizesText(input.shape),
                          isNamed ? "; did you mean to call `" + axis + "` `N`?"
                                  : "; did you mean `" +
                                        TensorBuilder::sizesText(meant) + "`?");
}

bool RunFactsReader::addBatch() {
  std::optional<Number> batch = numberOf("batch");
  if (!batch) {
    bool isOptional = !jobsIn(job).empty() || isReported();
    if (!valueOf("batch") && !isOptional && !hasUnknownKey)
      e.fail(job, error::NoBatch);
    return !valueOf("batch") && isOptional;
  }
  Rational amount = *batch->exact.constant();
  bool isCount = !isOf(*batch, Dimension::Token);
  if (amount <= Rational(0) || (isCount && !amount.isInteger())) {
    e.fail(placeOf("batch"), error::BatchNotWhole, textOf(Value(*batch)));
    return false;
  }
  if (isOf(*batch, Dimension::Token)) {
    if (!run.tokensPerExample) {
      // The jobs interpret the batch.
      if (!jobsIn(job).empty())
        return true;
      if (areKnown(dataset))
        failTokens("batch", error::BatchInTokens());
      return false;
    }
    amount = amount / *run.tokensPerExample;
  } else if (!batch->dimension.isNone() && !isOf(*batch, Dimension::Example)) {
    e.fail(placeOf("batch"), error::BatchUnit, batch->dimension.str());
    return false;
  }
  if (amount < Rational(1)) {
    e.fail(placeOf("batch"), error::BatchBelowExample,
           formatQuantity(*run.tokensPerExample, Dimension::Token),
           textOf(Value(*batch)));
    return false;
  }
  Rational parts = 1;
  if (std::optional<Number> number =
          isInference() ? std::nullopt : numberOf("accumulate"))
    parts = *number->exact.constant();
  if (!parts.isInteger() || parts < Rational(1) || parts > amount) {
    e.fail(placeOf("accumulate"), error::AccumulateParts,
           formatQuantity(amount, Dimension::Example), parts.str());
    return false;
  }
  if (parts != Rational(1)) {
    run.accumulate = parts;
    note("accumulate");
  }
  if (isCount && !(amount / parts).isInteger())
    e.warn(placeOf("accumulate"), symbol(), WarningId::UnequalParts,
           "a batch of " + formatQuantity(amount, Dimension::Example) +
               " does not fall into " + parts.str() +
               " equal parts; each is counted as one of " +
               (amount / parts).str());
  if (std::optional<Message> mistake =
          mistakeInBatchAxis(inputs, amount / parts)) {
    e.fail(placeOf("batch"), *mistake);
    return false;
  }
  axes.insert({kBatchAxis.str(), Moments(amount / parts)});
  run.batch = amount;
  return true;
}

bool RunFactsReader::addTimes() {
  std::optional<Number> times = numberOf("times");
  if (!times && valueOf("times"))
    return false;
  Rational amount = times ? *times->exact.constant() : Rational(1);
  if (!around->run.steps) {
    e.fail(job, error::NoDuration, nameOf(job));
    return false;
  }
  run.steps = amount * *around->run.steps;
  if (amount <= Rational(0) || !run.steps->isInteger()) {
    e.fail(placeOf("times"), error::TimesNotWhole, amount.str(),
           around->run.steps->str());
    return false;
  }
  run.times = amount;
  if (amount != 1)
    note("times");
  return true;
}

bool RunFactsReader::addSteps() {
  std::optional<Number> duration = numberOf("duration");
  if (!duration && valueOf("duration"))
    return false;
  std::optional<Rational> examples;
  if (!duration) {
    // Phases have their own durations. A phase that states its time needs none.
    bool isPhase = outer && !around->run.steps && !valueOf("times") &&
                   (!jobsIn(job).empty() || valueOf("took"));
    if (!outer || isPhase)
      return true;
    if (!addTimes())
      return false;
  }
  Tree *at = placeOf("duration");
  if (duration) {
    Rational amount = *duration->exact.constant();
    if (amount <= Rational(0) ||
        (isOf(*duration, Dimension::Step) && !amount.isInteger())) {
      e.fail(at, error::StepsNotWhole, textOf(Value(*duration)));
      return false;
    }
    if (isOf(*duration, Dimension::Step)) {
      run.steps = amount;
    } else if (isOf(*duration, Dimension::Epoch)) {
      if (!datasetExamples) {
        if (areKnown(dataset))
          failTokens("duration", error::DurationInEpochs());
        return false;
      }
      examples = amount * *datasetExamples;
      run.epochs = amount;
    } else if (isOf(*duration, Dimension::Example)) {
      examples = amount;
    } else if (isOf(*duration, Dimension::Token)) {
      if (!run.tokensPerExample && isReported() && !run.batch) {
        run.tokens = amount;
        return true;
      }
      if (!run.tokensPerExample) {
        failTokens("duration", error::DurationInTokens());
        return false;
      }
      examples = amount / *run.tokensPerExample;
    } else if (isOf(*duration, Dimension::Time)) {
      e.fail(at, error::TimeAsDuration, sourceText(at));
      return false;
    } else {
      e.fail(at, error::DurationUnit,
             duration->dimension.isNone() ? ""
                                          : "; this is " + textOf(*duration));
      return false;
    }
  }
  if (!run.steps && !run.batch && !isReported()) {
    e.fail(at, error::DurationWithoutBatch);
    return false;
  }
  if (!run.steps && run.batch)
    run.steps = (*examples / *run.batch).ceil();
  if (!examples && run.batch)
    examples = *run.steps * *run.batch;
  if ((run.steps && !run.steps->isValid()) ||
      (examples && !examples->isValid())) {
    e.fail(at, error::RunOutOfRange);
    return false;
  }
  if (!examples)
    return true;
  run.examples = examples;
  if (run.tokensPerExample)
    run.tokens = *examples * *run.tokensPerExample;
  if (datasetExamples && !run.epochs)
    run.epochs = *examples / *datasetExamples;
  return true;
}

/// The first free axis other than the batch axis, or empty.
static std::string freeAxisOf(const Shape &shape) {
  for (const Polynomial &size : shape.sizes)
    if (size != Polynomial::symbol(kBatchAxis) && size.symbols().size() == 1)
      return size.symbols().front();
  return "";
}

std::set<std::string> RunFactsReader::positions() const {
  std::set<std::string> found;
  auto add = [&](const std::string &axis) {
    if (!axis.empty())
      found.insert(axis);
  };
  if (isFacts) {
    auto written = mlir::cast<StepOp>(e.program.operationNamed(symbol()));
    add(written.getRun().getFacts().decodeAxis);
    return found;
  }
  for (auto &[name, value] : *results.results)
    if (auto *tensor = value.as<Tensor>(); tensor && found.empty())
      add(freeAxisOf(shapeOf(tensor->value)));
  if (found.empty())
    for (const NetInput &input : inputs)
      add(freeAxisOf(input.shape));
  return found;
}

/// Reads `{ last = 256, together = 4 }`. None if the record has another form.
static std::optional<std::pair<Number, int64_t>>
passesOf(const Record &record) {
  std::optional<Number> last, together;
  for (const auto &[name, value] : *record.fields)
    if (name == "last")
      last = netc::numberOf(value);
    else if (name == "together")
      together = netc::numberOf(value);
    else
      return std::nullopt;
  if (!last || last->real || !last->exact.constant() || !together ||
      together->real)
    return std::nullopt;
  std::optional<int64_t> size = together->exact.toInt64();
  if (!size || *size < 1)
    return std::nullopt;
  return std::pair(*last, *size);
}

bool RunFactsReader::addDecoding() {
  Tree *at = placeOf("decode");
  std::optional<Number> decode;
  int64_t together = 1;
  std::optional<Value> value = valueOf("decode");
  if (auto *record = value ? value->as<Record>() : nullptr) {
    auto passes = passesOf(*record);
    if (!passes) {
      e.fail(at, error::DecodeArgument);
      return false;
    }
    std::tie(decode, together) = *passes;
  } else {
    decode = numberOf("decode");
  }
  // A run of jobs has no net. Each job reads the key for its own.
  bool hasNet = isFacts || results.results;
  if (!decode || !isInference() || !hasNet)
    return true;
  std::set<std::string> found = positions();
  if (found.size() > 1) {
    e.fail(at, error::DecodeOfInputs, llvm::join(found, "` or `"));
    return false;
  }
  std::string axis = found.empty() ? "" : *found.begin();
  auto length = axes.find(axis);
  if (length != axes.end() && !length->second.isFixed()) {
    e.fail(at, error::DecodeDistribution, axis);
    return false;
  }
  if (length == axes.end()) {
    e.fail(at, error::DecodeWithoutAxis);
    return false;
  }
  Rational amount = *decode->exact.constant();
  if (!amount.isInteger() || amount < Rational(1) ||
      amount > length->second.mean()) {
    e.fail(at, error::DecodeLength, length->second.mean().str(), axis,
           textOf(Value(*decode)));
    return false;
  }
  run.decode = amount;
  if (together != 1)
    run.decodeTogether = together;
  run.decodeAxis = axis;
  note("decode");
  return true;
}

bool RunFactsReader::addSeed() {
  std::optional<Number> seed = numberOf("seed");
  if (!seed)
    return !valueOf("seed");
  if (seed->dimension.isNone() && seed->exact.constant()->isInteger() &&
      !seed->exact.constant()->isNegative())
    return true;
  e.fail(placeOf("seed"), error::SeedNotWhole, textOf(Value(*seed)));
  return false;
}

bool RunFactsReader::addSchedule() {
  run.isTuning = flagOf("tuning");
  if (sweep)
    run.places["sweep"] = e.locationOf(sweep);
  return readAmounts() && addSeed() && addBatch() && addSteps() &&
         addDecoding();
}

std::optional<std::string> netc::precisionOf(const Value &value) {
  if (auto *text = value.as<std::string>())
    return *text;
  if (auto *type = value.as<TypeValue>(); type && !type->isShaped)
    return elementName(type->element);
  if (value.is<None>())
    return "none";
  auto *record = value.as<Record>();
  if (!record)
    return std::nullopt;
  std::vector<std::string> parts;
  for (auto &[name, part] : *record->fields)
    parts.push_back(name + " = " + precisionOf(part).value_or(""));
  return parts.empty() ? "{}" : "{ " + llvm::join(parts, ", ") + " }";
}

bool RunFactsReader::addPrecision() {
  auto found = keys.find("precision");
  if (found == keys.end())
    return true;
  Value value = e.precisions.eval(found->second.expr);
  if (value.isUnknown() || value.is<None>())
    return true;
  if (std::optional<Precision> precision =
          e.precisions.precisionOf(found->second.expr, value))
    run.precision = precision->str();
  note("precision");
  return true;
}

bool RunFactsReader::addDevices() {
  // The key may be missing in the run, since a sweep may vary it.
  Tree *place = placeOf("hardware");
  auto refuse = [&](const Message &message) {
    e.fail(place, message);
    return false;
  };
  if (auto *device = ruleCast<NetParser::RefContext>(place);
      device && !e.nameTable.lookup(device->getText())) {
    std::string name = device->getText();
    return refuse(llvm::isUpper(name[0]) ? error::DeviceWithoutCount(name)
                                         : error::HardwareArgument());
  }
  if (auto *product = ruleCast<NetParser::MulContext>(place))
    for (size_t i : {0, 1})
      if (Tree *device = product->expr(i), *number = product->expr(1 - i);
          ruleCast<NetParser::RefContext>(device) &&
          ruleCast<NetParser::LitContext>(number) &&
          !e.nameTable.lookup(device->getText())) {
        std::string name = device->getText();
        e.fail(device, error::UnknownName, name,
               "; write `" + number->getText() + " " + name + "`");
        return false;
      }
  // `8 H100-SXM5`
  if (auto *difference = ruleCast<NetParser::AddContext>(place);
      difference && difference->op->getText() == "-" &&
      ruleCast<NetParser::RefContext>(difference->right) &&
      !e.nameTable.lookup(difference->right->getText()))
    return refuse(error::DeviceInWords());
  std::optional<Number> hardware = numberOf("hardware");
  if (!hardware)
    return true;
  if (hardware->dimension != Dimension(Dimension::Device))
    return refuse(error::HardwareArgument());
  std::optional<Rational> devices = hardware->exact.constant();
  if (!devices->isInteger() || *devices < Rational(1))
    return refuse(error::TooFewDevices(textOf(Value(*hardware))));
  if (*devices > Rational(maxDevices))
    return refuse(error::TooManyDevices(textOf(Value(*hardware))));
  run.devices = devices;
  run.device = hardware->device;
  run.places["device"] = e.locationOf(place);
  return addDevice(hardware->device);
}

bool RunFactsReader::addTook() {
  std::optional<Number> took = numberOf("took");
  if (!took)
    return true;
  Rational amount = *took->exact.constant();
  if (amount <= Rational(0))
    e.fail(placeOf("took"), error::TookNothing, textOf(Value(*took)));
  else if (amount * Rational(1'000'000'000) < Rational(1))
    e.fail(placeOf("took"), error::TookTooLittle, textOf(Value(*took)));
  Dimension time = Dimension::Time, device = Dimension::Device,
            flop = Dimension::Flop;
  if (took->dimension == flop) {
    run.tookFlop = amount;
    return true;
  }
  note("took");
  if (took->dimension == time) {
    run.took = amount;
  } else if (took->dimension == time * device) {
    run.tookDeviceSeconds = amount;
    if (run.device.empty() && !took->device.empty()) {
      run.device = took->device;
      run.places["device"] = e.locationOf(placeOf("took"));
      return addDevice(took->device);
    }
    if (!took->device.empty())
      run.tookDevice = took->device;
  } else {
    e.fail(placeOf("took"), error::TookUnit);
  }
  return true;
}

bool RunFactsReader::addConventions() {
  std::optional<Value> count = valueOf("count");
  if (!count)
    return true;
  auto *record = count->as<Record>();
  if (!record) {
    e.fail(placeOf("count"), error::CountArgument);
    return false;
  }
  for (auto &[name, value] : *record->fields) {
    std::optional<Number> number = netc::numberOf(value);
    auto *word = value.as<std::string>();
    if (name == "fma" && number &&
        (number->exact == Polynomial(1) || number->exact == Polynomial(2)))
      run.fma = number->exact.constant();
    else if (name == "causal" && word && symbolizeCountedMask(*word))
      run.causal = symbolizeCountedMask(*word);
    else if (!value.isUnknown())
      e.fail(placeOf("count"), error::CountKeys);
  }
  return true;
}

void RunFactsReader::addQuantity(StringRef key, RunFacts::Number &fact,
                                 Dimension dimension, StringRef expected) {
  std::optional<Number> number = numberOf(key);
  if (!number)
    return;
  if (number->dimension != dimension)
    e.fail(placeOf(key), error::WrongKind, key, expected,
           textOf(Value(*number)));
  else if (*number->exact.constant() <= Rational(0))
    e.fail(placeOf(key), error::NotPositive, key, textOf(Value(*number)));
  else
    fact = number->exact.constant();
}

bool RunFactsReader::addHardware() {
  if (!addPrecision() || !addDevices())
    return false;
  addQuantity("utilization", run.utilization, {}, "a share such as `30%`");
  if (run.utilization && *run.utilization > Rational(1))
    e.fail(placeOf("utilization"), error::UtilizationAboveOne,
           textOf(*valueOf("utilization")));
  if (!addTook() || !addConventions())
    return false;
  // In place of those of its devices.
  if (std::optional<Value> peak = valueOf("peak"); peak && peak->is<Record>()) {
    if (std::optional<Message> mistake = mistakeInPeak(*peak))
      e.fail(placeOf("peak"), *mistake);
    else
      addPeak(*peak, placeOf("peak"));
  } else if (peak) {
    run.peaks.clear();
    addQuantity("peak", run.peak,
                Dimension(Dimension::Flop) / Dimension(Dimension::Time),
                "a rate such as `125 TFLOP/s`");
  }
  valueOf("parallel");
  addCircumstances();
  return true;
}

void RunFactsReader::addCircumstances() {
  if (std::optional<Number> year = numberOf("year")) {
    Rational number = *year->exact.constant();
    if (!year->dimension.isNone() || !number.isInteger() || number < 1950 ||
        number > 2100)
      e.fail(placeOf("year"), error::YearArgument, textOf(Value(*year)));
    else
      run.year = number;
  }
  auto oneOf = [&](StringRef key, llvm::ArrayRef<StringRef> words) {
    std::optional<Value> value = valueOf(key);
    if (!value || value->isUnknown())
      return std::string();
    auto *word = value->as<std::string>();
    if (word && llvm::is_contained(words, *word))
      return *word;
    std::string list;
    for (StringRef known : words)
      list += (list.empty() ? "\"" : ", \"") + known.str() + "\"";
    e.fail(placeOf(key), error::NotOneOf, key, list,
           word ? ", not \"" + *word + "\"" : "");
    return std::string();
  };
  run.trainedBy =
      symbolizeTrainedBy(oneOf("trained_by", {"company", "university"}));
  run.framework = oneOf("framework", knownFrameworks());
}

bool RunFactsReader::addDevice(const std::string &device) {
  auto found = file.names.find(device);
  // The accelerator table knows it, or reports it as unknown.
  if (found == file.names.end())
    return true;
  auto *section = ruleCast<NetParser::SectionContext>(found->second.tree);
  if (!section || section->kind->getText() != "hardware") {
    e.fail(placeOf("hardware"), error::NotHardware, device);
    return false;
  }
  run.hasOwnDevice = true;
  for (const SectionEntry &entry :
       e.program.entriesOf({&file, section, device, nullptr})) {
    auto take = [&](StringRef key, RunFacts::Number &fact) {
      std::optional<Number> number =
          entry.name == key ? netc::numberOf(entry.value) : std::nullopt;
      if (number)
        fact = number->exact.constant();
    };
    take("memory", run.deviceMemory);
    take("bandwidth", run.deviceBandwidth);
    if (entry.name == "peak")
      addPeak(entry.value, entry.at);
  }
  return true;
}

void RunFactsReader::addPeak(const Value &value, Tree *at) {
  run.peak.reset();
  run.peaks.clear();
  auto peakOf = [&](const Value &rate) -> RunFacts::Number {
    std::optional<Number> number = netc::numberOf(rate);
    RunFacts::Number peak = number ? number->exact.constant() : std::nullopt;
    if (peak && *peak <= Rational(0))
      e.fail(at, error::PeakNotPositive);
    return peak;
  };
  if (auto *record = value.as<Record>()) {
    for (auto &[format, rate] : *record->fields)
      if (RunFacts::Number peak = peakOf(rate))
        run.peaks.insert({format, *peak});
  } else {
    run.peak = peakOf(value);
  }
}
