// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A file's items in text order; a net becomes a net.network.

#include "lib/Frontend/RunBuilder.h"

using namespace netc;
using llvm::StringRef;

bool Elaborator::isWanted(const std::string &name,
                          std::vector<std::string> &all,
                          llvm::ArrayRef<std::string> only) {
  all.push_back(name);
  if (!leavesOut() || llvm::is_contained(only, name))
    return true;
  leftOut.insert(name);
  return false;
}

bool Elaborator::elaborateFile(FileScope &file) {
  TopScope top(*this, file);

  // A net that is only given other settings under another name is reported
  // there.
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
  // Where an instance is needed, a net's name means the net without settings.
  for (NetParser::ItemContext *item : file.source->tree()->item())
    if (auto *expect = ruleCast<NetParser::ExpectContext>(item->stmt()))
      for (antlr4::Token *token : tokensOf(expect))
        renamed.erase(token->getText());

  for (NetParser::ItemContext *item : file.source->tree()->item()) {
    if (NetParser::BlockDeclContext *tree = item->blockDecl()) {
      std::string name = tree->ID()->getText();
      Value value = valueOf(file, file.names.find(name)->second);
      const Function &function = *value.as<Function>();
      bool closed =
          llvm::all_of(parametersOf(function).settings,
                       [](const Parameter &p) { return !p.required; });
      if (function.block->isNet && closed && !renamed.count(name) &&
          isWanted(name, networks, options.onlyNetworks))
        elaborateNetwork(tree, name, file, *module);
    } else if (NetParser::SectionContext *section = item->section()) {
      checkSection({&file, section, section->ID()->getText(), nullptr});
    } else if (NetParser::StmtContext *stmt = item->stmt()) {
      elaborateItem(file, stmt);
    }
  }
  finishOverrides();
  for (const BlockDecl &block : file.blocks)
    if (errors == 0 && (block.isUsed || block.isNet))
      warnOfUnread(block);
    else if (errors == 0 && !leavesOut())
      checkUnused(block);
  return errors == 0;
}

void Elaborator::warnOfUnread(const BlockDecl &block) {
  llvm::ArrayRef<Mention> all = block.file->resolver.mentionsIn(block.tree);
  llvm::StringMap<unsigned> mentions;
  for (const Mention &each : all)
    mentions[each.name] += each.token->getType() == NetLexer::ID;
  for (const Mention &each : all) {
    if (each.role != Mention::Declares || mentions[each.name] != 1 ||
        each.name[0] == '_')
      continue;
    bool isSetting = each.declaration->kind == Declaration::Setting;
    bool isVariable = each.declaration->kind == Declaration::Variable &&
                      !boundToTensors.contains(each.tree);
    if (isSetting || isVariable)
      warn(each.tree, "", "unread-name",
           "nothing reads the " + llvm::Twine(isSetting ? "setting" : "name") +
               " `" + each.name + "` of `" + block.name + "`");
  }
}

void Elaborator::checkUnused(const BlockDecl &block) {
  warn(block.tree, "", "unused-block",
       "`" + block.name + "` is not used; only its names are checked");
  llvm::ArrayRef<Mention> all = block.file->resolver.mentionsIn(block.tree);
  llvm::StringSet<> own;
  for (const Mention &each : all)
    if (each.role == Mention::Declares)
      own.insert(each.name);
  for (const Mention &each : all)
    if (each.role == Mention::Reads && !own.contains(each.name) &&
        !StringRef(each.name).ends_with("'") && !lookup(each.name))
      fail(each.tree, unknownName(each.name));
}

void Elaborator::elaborateItem(FileScope &file, NetParser::StmtContext *stmt) {
  if (auto *bind = ruleCast<NetParser::BindContext>(stmt)) {
    for (NetParser::TargetContext *target : bind->target()) {
      std::string name = target->getStart()->getText();
      Value value = valueOf(file, file.names.find(name)->second);
      auto *instance = value.as<std::shared_ptr<Instance>>();
      if (instance && (*instance)->function.block &&
          (*instance)->function.block->isNet &&
          isWanted(name, networks, options.onlyNetworks))
        elaborateNetwork(bind, name, file, *module);
    }
  } else if (auto *expect = ruleCast<NetParser::ExpectContext>(stmt)) {
    expectations.push_back({expect, &file});
  } else if (auto *job = ruleCast<NetParser::JobStmtContext>(stmt)) {
    elaborateRun(file, job->job(), *module);
  } else if (ruleCast<NetParser::RequireContext>(stmt)) {
    visit(stmt);
  } else {
    fail(stmt, "`" + stmt->getStart()->getText() +
                   "` stands in a body; the top level holds declarations, "
                   "constants, runs, "
                   "`require` and `expect`");
  }
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Elaborator::TopScope::TopScope(Elaborator &elaborator, FileScope &file)
    : elaborator(elaborator), outerFrame(elaborator.frame), frame(outerFrame) {
  frame.file = &file;
  frame.scope = &scope;
  elaborator.frame = &frame;
}

Elaborator::TopScope::~TopScope() { elaborator.frame = outerFrame; }

Elaborator::GraphScope::GraphScope(Elaborator &elaborator, FileScope &file,
                                   mlir::Block *entry)
    : TopScope(elaborator, file), guard(elaborator.builder),
      outerGraph(elaborator.graph) {
  graph.id = ++elaborator.graphs;
  graph.entry = entry;
  graph.file = std::make_shared<Identity>();
  graph.root = graph.file;
  frame.self = graph.root.get();
  elaborator.graph = &graph;
  elaborator.builder.setInsertionPointToEnd(entry);
}

Elaborator::GraphScope::~GraphScope() { elaborator.graph = outerGraph; }

std::shared_ptr<Instance> Elaborator::netInstance(Tree *at,
                                                  const Value &value) {
  std::shared_ptr<Instance> instance;
  if (auto *made = value.as<std::shared_ptr<Instance>>())
    instance = std::make_shared<Instance>(**made);
  else if (auto *function = value.as<Function>(); function && function->block)
    instance = instantiate(at, value);
  if (!instance || !instance->function.block ||
      !instance->function.block->isNet) {
    if (!value.isUnknown())
      fail(at, "expected a net, this is " + kindOf(value));
    return nullptr;
  }
  if (value.is<Function>() && !completeSettings(at, *instance))
    return nullptr;
  // The net is the root of the names.
  graph->root = instance->identity;
  graph->root->parent = nullptr;
  frame->self = graph->root.get();
  return instance;
}

std::optional<std::vector<NetInput>> Elaborator::inputsOf(Instance &instance) {
  const BlockDecl &block = *instance.function.block;
  const Parameters &all = parametersOf(instance.function);
  TopScope top(*this, *block.file);
  for (auto [parameter, value] :
       llvm::zip_equal(all.settings, instance.settings))
    top.scope.names[parameter.name] = value.value_or(Value());
  std::vector<NetInput> inputs;
  for (const Parameter &parameter : all.tensors) {
    if (!parameter.required)
      continue;
    std::optional<TypeValue> type;
    if (parameter.tree->COLON())
      type = typeOf(parameter.tree->expr(0));
    else
      fail(parameter.tree, "an input of a net needs a type, such as `" +
                               parameter.name + ": f32[N, d]`");
    if (!type)
      return std::nullopt;
    std::optional<Sizes> sizes = declare(*type, /*isNet=*/true);
    if (!sizes)
      return std::nullopt;
    inputs.push_back({parameter.name,
                      type->element ? type->element : builder.getF32Type(),
                      sizes->shape, sizes->labels, parameter.tree});
  }
  return inputs;
}

Value Elaborator::applyNet(Tree *at, Instance &instance,
                           llvm::ArrayRef<NetInput> inputs,
                           llvm::ArrayRef<mlir::Value> values) {
  const Parameters &all = parametersOf(instance.function);
  for (auto [parameter, slot] : llvm::zip_equal(all.tensors, instance.tensors))
    for (auto [input, value] : llvm::zip_equal(inputs, values))
      if (input.name == parameter.name)
        slot = {Tensor{value, input.labels}};
  return applyBlock(at, instance);
}

/// Weights that no result depends on are not counted, which few expect.
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
               "not-counted")
        << "not counted, as no result depends on it: " << names;
}

mlir::Operation *Elaborator::elaborateNetwork(Tree *at, StringRef symbol,
                                              FileScope &file,
                                              mlir::ModuleOp into) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(into.getBody());
  unsigned before = errors;
  Ranges::Reads reads(ranges);
  ErrorNote note = overrideNote(nullptr);
  auto network = builder.create<NetworkOp>(
      locationOf(at), builder.getStringAttr(symbol),
      builder.getStrArrayAttr({}), builder.getDictionaryAttr({}));
  mlir::Block *entry = builder.createBlock(&network.getBody());
  GraphScope scope(*this, file, entry);
  std::shared_ptr<Instance> instance =
      netInstance(at, valueOf(file, file.names.find(symbol.str())->second));
  std::optional<std::vector<NetInput>> inputs;
  if (instance)
    inputs = inputsOf(*instance);
  Value result;
  if (inputs) {
    llvm::SmallVector<mlir::Value> values;
    std::vector<llvm::StringRef> names;
    for (const NetInput &input : *inputs) {
      values.push_back(entry->addArgument(tensorOf(input.element, input.shape),
                                          locationOf(at)));
      names.push_back(input.name);
    }
    network.setInputsAttr(builder.getStrArrayAttr(names));
    readOverriddenAxes(symbol, *instance, *inputs);
    result = applyNet(at, *instance, *inputs, values);
  }
  if (!reads.empty() && errors == before)
    fail(at, "a net is made for one value of each setting, not for what lies "
             "`between` two");
  if (errors != before || !result.results) {
    network.erase();
    return nullptr;
  }
  llvm::SmallVector<mlir::Value> values;
  std::vector<llvm::StringRef> names;
  for (auto &[name, value] : *result.results) {
    if (auto *tensor = value.as<Tensor>()) {
      values.push_back(tensor->value);
      names.push_back(name.empty() ? "result" : StringRef(name));
    } else if (value.isUnknown()) { // what it is made of has an error
      network.erase();
      return nullptr;
    } else {
      fail(at, "a net returns tensors, " +
                   (name.empty() ? "this" : "`" + name + "`") + " is " +
                   kindOf(value) + lackOf(value));
    }
  }
  builder.create<ReturnOp>(locationOf(at), values,
                           builder.getStrArrayAttr(names));
  warnOfIdle(*entry);
  return network;
}
