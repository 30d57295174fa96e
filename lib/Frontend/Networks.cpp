// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Elaborates the items of a file in text order. A net becomes a net.network.

#include "lib/Diagnostics/Activity.h"
#include "lib/Frontend/Mentions.h"
#include "lib/Frontend/RunKeys.h"
#include "lib/Std/Std.h"

using namespace netc;
using llvm::StringRef;

bool Program::load(StringRef path) {
  if (e.options.onRead)
    e.options.onRead(preludePath, *standardLibrary(preludePath));
  e.files.main = e.files.readFile(path, {});
  if (!e.files.main)
    return false;
  for (NetParser::ItemContext *item : e.files.main->source->tree()->item())
    if (auto *stmt = ruleCast<NetParser::JobStmtContext>(item->stmt()))
      jobs.try_emplace(nameOf(stmt->job()), stmt->job());
  if (!e.commandLine.readOptions())
    return false;
  return elaborateFile(*e.files.main) && e.errorCount() == 0;
}

bool Program::leavesOut() const {
  return !e.options.onlyNetworks.empty() || !e.options.onlyRuns.empty();
}

bool Program::isWanted(const std::string &name, std::vector<std::string> &all,
                       llvm::ArrayRef<std::string> only) {
  all.push_back(name);
  if (!leavesOut() || llvm::is_contained(only, name))
    return true;
  leftOut.insert(name);
  return false;
}

bool Program::elaborateFile(FileScope &file) {
  Evaluator::TopScope top(e, file);

  // A net that is bound to another name with other settings is reported only
  // under that name.
  llvm::StringSet<> renamed;
  for (NetParser::ItemContext *item : file.source->tree()->item())
    if (auto *bind = ruleCast<NetParser::BindContext>(item->stmt()))
      if (ruleCast<NetParser::CallContext>(bind->expr()))
        renamed.insert(leftSpine(bind->expr()).front()->getText());
  for (NetParser::ItemContext *item : file.source->tree()->item())
    if (auto *stmt = ruleCast<NetParser::JobStmtContext>(item->stmt())) {
      std::vector<NetParser::JobContext *> jobs{stmt->job()};
      while (!jobs.empty()) {
        NetParser::JobContext *job = jobs.back();
        jobs.pop_back();
        if (!job->expr().empty())
          renamed.erase(job->expr(0)->getText());
        llvm::append_range(jobs, jobsIn(job));
      }
    }
  // Where an expect needs an instance, the name of a net means the net without
  // settings.
  for (NetParser::ItemContext *item : file.source->tree()->item())
    if (auto *expect = ruleCast<NetParser::ExpectContext>(item->stmt()))
      for (antlr4::Token *token : tokensOf(expect))
        renamed.erase(token->getText());

  for (NetParser::ItemContext *item : file.source->tree()->item()) {
    if (NetParser::BlockDeclContext *tree = item->blockDecl()) {
      std::string name = tree->ID()->getText();
      Value value = e.nameTable.valueOf(file, file.names.find(name)->second);
      const Function &function = *value.as<Function>();
      bool closed =
          llvm::all_of(e.calls.parametersOf(function).settings,
                       [](const Parameter &p) { return !p.required; });
      if (function.block->isNet && closed && !renamed.count(name) &&
          isWanted(name, networks, e.options.onlyNetworks))
        elaborateNetwork(tree, name, file, *e.module);
    } else if (NetParser::SectionContext *section = item->section()) {
      checkSection({&file, section, section->ID()->getText(), nullptr});
    } else if (NetParser::StmtContext *stmt = item->stmt()) {
      elaborateItem(file, stmt);
    }
  }
  e.commandLine.finishOverrides();
  for (const BlockDecl &block : file.blocks)
    if (e.errorCount() == 0 && (block.isUsed || block.isNet))
      warnOfUnread(block);
    else if (e.errorCount() == 0 && !leavesOut())
      checkUnused(block);
  return e.errorCount() == 0;
}

/// The names in the losses of runs about `block`.
static Mentions namesInLosses(const FileScope &file, const BlockDecl &block) {
  Mentions names;
  for (NetParser::ItemContext *item : file.source->tree()->item()) {
    auto *stmt = ruleCast<NetParser::JobStmtContext>(item->stmt());
    if (!stmt)
      continue;
    Mentions about;
    about.addStructure(stmt->job());
    about.follow(file);
    std::vector<NetParser::JobContext *> jobs{stmt->job()};
    for (size_t i = 0; i < jobs.size() && about.contains(block.name); ++i) {
      llvm::append_range(jobs, jobsIn(jobs[i]));
      if (jobs[i]->body())
        for (NetParser::StmtContext *inner : jobs[i]->body()->stmt())
          if (auto *bind = ruleCast<NetParser::BindContext>(inner);
              bind && bind->target(0)->getText() == "loss")
            names.add(bind->expr());
    }
  }
  return names;
}

void Program::warnOfUnread(const BlockDecl &block) {
  llvm::ArrayRef<Mention> all = block.file->resolver.mentionsIn(block.tree);
  llvm::StringMap<unsigned> mentions;
  for (const Mention &each : all)
    mentions[each.name] += each.token->getType() == NetLexer::ID;
  std::optional<Mentions> losses;
  // A loss reads inputs of the net, too.
  auto isInLoss = [&](const std::string &name) {
    if (!losses)
      losses = namesInLosses(*block.file, block);
    return losses->contains(name);
  };
  for (const Mention &each : all) {
    if (each.role != Mention::Declares || mentions[each.name] != 1 ||
        each.name[0] == '_')
      continue;
    bool isSetting = each.declaration->kind == Declaration::Setting;
    bool isVariable = each.declaration->kind == Declaration::Variable &&
                      !e.statements.isBoundToTensor(each.tree);
    // A block may have a parameter only because similar blocks read it.
    bool isInput = block.isNet &&
                   each.declaration->kind == Declaration::Tensor &&
                   !isInLoss(each.name);
    const char *kind = isSetting    ? "setting"
                       : isVariable ? "name"
                       : isInput    ? "input"
                                    : nullptr;
    if (kind)
      e.warn(each.tree, "", WarningId::UnreadName,
             "nothing reads the " + llvm::Twine(kind) + " `" + each.name +
                 "` of `" + block.name + "`");
  }
}

void Program::checkUnused(const BlockDecl &block) {
  // A file of blocks alone is one that others import.
  if (llvm::any_of(block.file->resolver.declarations(),
                   [](const Declaration &each) {
                     return each.kind == Declaration::Net ||
                            each.kind == Declaration::Run;
                   }))
    e.warn(block.tree, "", WarningId::UnusedBlock,
           "`" + block.name + "` is not used; only its names are checked");
  llvm::ArrayRef<Mention> all = block.file->resolver.mentionsIn(block.tree);
  llvm::StringSet<> own;
  for (const Mention &each : all)
    if (each.role == Mention::Declares)
      own.insert(each.name);
  for (const Mention &each : all)
    if (each.role == Mention::Reads && !own.contains(each.name) &&
        !StringRef(each.name).ends_with("'") && !e.nameTable.lookup(each.name))
      e.fail(each.tree, e.nameTable.unknownName(each.name));
}

void Program::elaborateItem(FileScope &file, NetParser::StmtContext *stmt) {
  if (auto *bind = ruleCast<NetParser::BindContext>(stmt)) {
    for (NetParser::TargetContext *target : bind->target()) {
      std::string name = target->getStart()->getText();
      Value value = e.nameTable.valueOf(file, file.names.find(name)->second);
      auto *instance = value.as<std::shared_ptr<Instance>>();
      if (instance && (*instance)->function.block &&
          (*instance)->function.block->isNet &&
          isWanted(name, networks, e.options.onlyNetworks))
        elaborateNetwork(bind, name, file, *e.module);
    }
  } else if (auto *expect = ruleCast<NetParser::ExpectContext>(stmt)) {
    expectations.push_back({expect, &file});
  } else if (auto *job = ruleCast<NetParser::JobStmtContext>(stmt)) {
    elaborateRun(file, job->job(), *e.module);
  } else if (ruleCast<NetParser::RequireContext>(stmt)) {
    e.statements.run(stmt);
  } else {
    e.fail(stmt, error::NotAtTopLevel, stmt->getStart()->getText());
  }
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

std::shared_ptr<Instance> Program::netInstance(Tree *at, const Value &value) {
  std::shared_ptr<Instance> instance;
  if (auto *made = value.as<std::shared_ptr<Instance>>())
    instance = std::make_shared<Instance>(**made);
  else if (auto *function = value.as<Function>(); function && function->block)
    instance = e.calls.instantiate(at, value);
  if (!instance || !instance->function.block ||
      !instance->function.block->isNet) {
    if (!value.isUnknown())
      e.fail(at, error::NotANet, kindOf(value),
             value.is<std::string>() ? "; write it without quotes" : "");
    return nullptr;
  }
  if (value.is<Function>() && !e.calls.completeSettings(at, *instance))
    return nullptr;
  // Names of instances start from the net.
  e.graph->root = instance->identity;
  e.graph->root->parent = nullptr;
  e.frame->self = e.graph->root.get();
  return instance;
}

/// Whether a default is a type, as in `x = f32[N, 8]`.
bool Program::isGivenType(const Parameter &parameter) {
  auto *type = ruleCast<NetParser::IndexContext>(parameter.tree->fallback);
  return type && ruleCast<NetParser::RefContext>(type->left) &&
         e.eval(type->left).is<TypeValue>();
}

std::optional<std::vector<NetInput>> Program::inputsOf(Instance &instance) {
  const BlockDecl &block = *instance.function.block;
  const Parameters &all = e.calls.parametersOf(instance.function);
  Evaluator::TopScope top(e, *block.file);
  for (auto [parameter, value] :
       llvm::zip_equal(all.settings, instance.settings))
    top.scope.names[parameter.name] = value.value_or(Value());
  std::vector<NetInput> inputs;
  for (const Parameter &parameter : all.tensors) {
    if (!parameter.required && !isGivenType(parameter))
      continue;
    std::optional<TypeValue> type;
    if (parameter.tree->type)
      type = e.tensors.typeOf(parameter.tree->type);
    else
      e.fail(parameter.tree, error::UntypedInput, parameter.name);
    if (!type)
      return std::nullopt;
    std::optional<TensorBuilder::Sizes> sizes =
        e.tensors.declare(*type, /*isNet=*/true);
    if (!sizes)
      return std::nullopt;
    inputs.push_back({parameter.name,
                      type->element ? type->element : e.builder.getF32Type(),
                      sizes->shape, sizes->labels, parameter.tree});
  }
  return inputs;
}

Value Program::applyNet(Tree *at, Instance &instance,
                        llvm::ArrayRef<NetInput> inputs,
                        llvm::ArrayRef<mlir::Value> values) {
  const Parameters &all = e.calls.parametersOf(instance.function);
  llvm::StringMap<Tensor> given;
  for (auto [input, value] : llvm::zip_equal(inputs, values))
    given[input.name] = Tensor{value, input.labels};
  for (auto [parameter, slot] : llvm::zip_equal(all.tensors, instance.tensors))
    if (auto tensor = given.find(parameter.name); tensor != given.end())
      slot = {tensor->second};
  return e.applier.applyBlock(at, instance);
}

/// Warns of weights that no result depends on. They are not counted.
static void warnOfIdle(mlir::Block &entry) {
  llvm::DenseSet<mlir::Operation *> idle;
  llvm::MapVector<mlir::Location, std::string> weights;
  for (mlir::Operation &op : llvm::reverse(entry)) {
    bool isRead = llvm::any_of(op.getUsers(), [&](mlir::Operation *user) {
      return !idle.count(entry.findAncestorOpInBlock(*user));
    });
    if (isRead || !mlir::wouldOpBeTriviallyDead(&op))
      continue;
    idle.insert(&op);
    if (auto parameter = mlir::dyn_cast<ParameterOp>(op)) {
      std::string &names =
          weights[op.getLoc()->findInstanceOf<mlir::FileLineColLoc>()];
      names += (names.empty() ? "`" : ", `") + parameter.getName().str() + "`";
    }
  }
  for (auto &[place, names] : llvm::reverse(weights))
    netc::warn(place, mlir::SymbolTable::getSymbolName(entry.getParentOp()),
               WarningId::NotCounted)
        << "not counted, as no result depends on it: " << names;
}

mlir::Operation *Program::elaborateNetwork(Tree *at, StringRef symbol,
                                           FileScope &file,
                                           mlir::ModuleOp into) {
  Activity activity("elaborating the net", symbol);
  mlir::OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToEnd(into.getBody());
  unsigned before = e.errorCount();
  Ranges::Reads reads(e.ranges);
  ErrorNote note = e.commandLine.overrideNote(nullptr);
  auto network = e.builder.create<NetworkOp>(
      e.locationOf(at), e.builder.getStringAttr(symbol),
      e.builder.getStrArrayAttr({}), e.builder.getDictionaryAttr({}));
  mlir::Block *entry = e.builder.createBlock(&network.getBody());
  Evaluator::GraphScope scope(e, file, entry);
  std::shared_ptr<Instance> instance = netInstance(
      at, e.nameTable.valueOf(file, file.names.find(symbol.str())->second));
  std::optional<std::vector<NetInput>> inputs;
  if (instance)
    inputs = inputsOf(*instance);
  Value result;
  if (inputs) {
    llvm::SmallVector<mlir::Value> values;
    std::vector<llvm::StringRef> names;
    for (const NetInput &input : *inputs) {
      values.push_back(entry->addArgument(tensorOf(input.element, input.shape),
                                          e.locationOf(at)));
      names.push_back(input.name);
    }
    network.setInputsAttr(e.builder.getStrArrayAttr(names));
    e.commandLine.readOverriddenAxes(symbol, *instance, *inputs);
    result = applyNet(at, *instance, *inputs, values);
  }
  if (!reads.empty() && e.errorCount() == before)
    e.fail(at, error::RangeInNet);
  if (e.errorCount() != before || !result.results) {
    network.erase();
    return nullptr;
  }
  llvm::SmallVector<mlir::Value> values;
  std::vector<llvm::StringRef> names;
  for (auto &[name, value] : *result.results) {
    if (auto *tensor = value.as<Tensor>()) {
      values.push_back(tensor->value);
      names.push_back(name.empty() ? "result" : StringRef(name));
    } else if (value.isUnknown()) { // a part of it has an error
      network.erase();
      return nullptr;
    } else {
      e.fail(at, error::NetReturnsNoTensor,
             name.empty() ? "this" : "`" + name + "`", kindOf(value),
             e.calls.lackOf(value));
    }
  }
  e.builder.create<ReturnOp>(e.locationOf(at), values,
                             e.builder.getStrArrayAttr(names));
  warnOfIdle(*entry);
  operations[symbol] = network;
  return network;
}
