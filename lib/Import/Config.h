// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_CONFIG_H
#define NETC_LIB_IMPORT_CONFIG_H

#include "lib/Import/Families.h"
#include "lib/Import/Safetensors.h"

namespace netc::import {

/// Settings of a net by name, each as it is written there.
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
  /// Whether it is there, and not 0, `false` or `none`.
  bool isOn(llvm::StringRef name) const;
  /// A sum of products of settings and numbers; none where a part is no whole
  /// number, or the result is none of 63 bits.
  std::optional<int64_t> evaluate(llvm::StringRef expression) const;

private:
  llvm::StringMap<std::string> texts;
};

/// What a config says, in the words of the net of its family.
struct Config {
  std::string type; ///< the `model_type`
  const Family *family = nullptr;
  Settings settings;
  Ordered<std::string> stated; ///< those that the call states
  std::vector<std::string> notes;
};

/// None after an error, which is reported.
std::optional<Config> readConfig(llvm::StringRef path, const Document &document,
                                 const Host &host);

/// How many numbers the weights are that follow from the config. None if those
/// of the file are others, which is reported.
std::optional<uint64_t> checkWeights(const Config &config,
                                     const Weights &weights, const Host &host);

} // namespace netc::import

#endif // NETC_LIB_IMPORT_CONFIG_H
