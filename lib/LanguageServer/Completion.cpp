// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Completion.h"

#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

StringRef netc::pathAtEnd(StringRef text) {
  size_t begin = text.size();
  while (begin != 0 && (llvm::isAlnum(text[begin - 1]) ||
                        StringRef("_.@'").contains(text[begin - 1])))
    --begin;
  StringRef path = text.drop_front(begin);
  // `0.5` is a number, and `..` makes a range.
  size_t range = path.rfind("..");
  path = range == StringRef::npos ? path : path.drop_front(range + 2);
  return !path.empty() && llvm::isDigit(path.front()) ? "" : path;
}

StringRef netc::calleeAtEnd(StringRef text) {
  unsigned open = 0;
  while (!text.empty()) {
    char last = text.back();
    text = text.drop_back();
    if (StringRef(")]}").contains(last))
      ++open;
    else if (StringRef("([{").contains(last) && open-- == 0)
      return last == '(' ? pathAtEnd(text) : "";
  }
  return "";
}

std::vector<std::string> netc::settingsOf(const Declaration &declared) {
  auto *block = ruleCast<NetParser::BlockDeclContext>(declared.tree);
  if (!block || !block->params())
    return {};
  std::vector<std::string> names;
  bool isSetting = false;
  for (antlr4::tree::ParseTree *child : block->params()->children) {
    isSetting |= child->getText() == ";";
    auto *param = dynamic_cast<NetParser::ParamContext *>(child);
    if (isSetting && param && param->name())
      names.push_back(param->name()->getText());
  }
  return names;
}
