// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/Import.h"

#include "lib/Frontend/Input.h"
#include "lib/Import/Config.h"
#include "lib/Import/Graph.h"
#include "llvm/Support/Path.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

/// The call of the family's net, wrapped to lines of moderate length.
static std::string call(const Config &config) {
  constexpr size_t width = 110;
  std::string text = config.type + " = " + config.family->net + "(";
  size_t indent = text.size(), line = text.size();
  StringRef comma = "";
  for (auto &[name, value] : config.stated) {
    std::string next = name + " = " + value;
    text += comma;
    if (line + next.size() + 2 > width) {
      text += "\n" + std::string(indent, ' ');
      line = indent;
    } else if (!comma.empty()) {
      text += ' ';
    }
    text += next;
    line += next.size() + 2;
    comma = ",";
  }
  return text + ")\n";
}

std::optional<std::string> netc::import::importModel(StringRef path,
                                                     const Host &host) {
  auto fail = [&](const Message &message) {
    host.report({path.str(), 1, 1, message});
    return std::nullopt;
  };
  llvm::Expected<std::string> read = readText(path, host.maxBytes);
  if (!read)
    return fail(error::ImportCannotRead(llvm::toString(read.takeError())));
  if (read->size() > host.maxBytes)
    return fail(longerThan(host.maxBytes));
  if (path.ends_with_insensitive(".onnx"))
    return fail(error::ImportCannotRead(
        "it is an ONNX model; `netc.from_onnx` in Python takes one"));
  host.onRead(path, *read);
  std::optional<Document> document = parseObject(path, *read, host);
  if (!document)
    return std::nullopt;
  if (document->root.contains("netc_graph")) {
    std::optional<Graph> graph = readGraph(path, *document, host);
    return graph ? writeGraph(path, std::move(*graph), host.opaque, host)
                 : std::nullopt;
  }
  std::optional<Config> config = readConfig(path, *document, host);
  if (!config)
    return std::nullopt;

  std::string text = "# A model of the family `" + config->type +
                     "`, by its config.json; what that leaves out is as in "
                     "transformers 5.24.\n";
  for (const std::string &note : config->notes)
    text += "# " + note + "\n";
  text += "import std.models." + config->family->file + "\n\n" + call(*config);
  if (std::string why = elaborationError(text, host); !why.empty()) {
    reportImpossible(*config, why, path, *document, host);
    return std::nullopt;
  }
  if (path == "-")
    return text;
  std::optional<Weights> weights =
      readWeights(llvm::sys::path::parent_path(path), host);
  if (!weights)
    return std::nullopt;
  if (weights->path.empty())
    return text;
  std::optional<uint64_t> total = checkWeights(*config, *weights, host);
  if (!total)
    return std::nullopt;
  return text + "expect " + config->type +
         ".params == " + std::to_string(*total) + "\n";
}
