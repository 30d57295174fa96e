// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_CONFIG_H
#define NETC_LIB_IMPORT_CONFIG_H

#include "lib/Import/Families.h"
#include "lib/Import/Safetensors.h"

namespace netc::import {

/// The settings of a net by name, as text of the language.
class Settings {
public:
  void set(llvm::StringRef name, std::string text) {
    texts[name] = std::move(text);
  }
  bool has(llvm::StringRef name) const { return texts.count(name); }
  llvm::StringRef operator[](llvm::StringRef name) const {
    auto found = texts.find(name);
    return found == texts.end() ? "" : llvm::StringRef(found->second);
  }
  /// Whether a setting exists and is not 0, `false` or `none`.
  bool isOn(llvm::StringRef name) const;
  /// Evaluates a sum of products of settings and numbers. None if an operand is
  /// not an integer, or if the result exceeds 63 bits.
  std::optional<int64_t> evaluate(llvm::StringRef expression) const;

private:
  llvm::StringMap<std::string> texts;
};

/// A config in terms of its family's net.
struct Config {
  std::string type; ///< `model_type`
  const Family *family = nullptr;
  Settings settings;
  Ordered<std::string> stated;    ///< settings that the call states
  std::vector<std::string> notes; ///< for who reads the specification
};

/// None after an error, which is reported.
std::optional<Config> readConfig(llvm::StringRef path, const Document &document,
                                 const Host &host);

/// Why no net has the sizes of a config, by the names that it has for them:
/// `why` says it by those of settings. Reports it.
void reportImpossible(const Config &config, llvm::StringRef why,
                      llvm::StringRef path, const Document &document,
                      const Host &host);

/// The number of weights that follow from the config. None if the weights of
/// the file differ, which is reported.
std::optional<uint64_t> checkWeights(const Config &config,
                                     const Weights &weights, const Host &host);

} // namespace netc::import

#endif // NETC_LIB_IMPORT_CONFIG_H
