// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_JSON_H
#define NETC_LIB_TRACE_JSON_H

#include "lib/Trace/Source.h"

#include <nlohmann/json.hpp>

namespace netc::trace {

/// Parses JSON and passes on scalars, with the keys around them. Memory depends
/// neither on the length of the text nor on its nesting.
class JsonReader : public nlohmann::json_sax<nlohmann::json> {
public:
  /// Reads the whole text. If it is damaged, sets `trace.cutAt`; an error if
  /// `trace` is still empty. Too many events are an error, too.
  llvm::Error read(Source &source, Trace &trace, const TraceLimits &limits);

  bool null() override { return scalar(""); }
  bool boolean(bool value) override { return scalar(value ? "True" : "False"); }
  bool number_integer(int64_t value) override {
    return scalar(std::to_string(value));
  }
  bool number_unsigned(uint64_t value) override {
    return scalar(std::to_string(value));
  }
  bool number_float(double, const std::string &text) override {
    return scalar(text);
  }
  bool string(std::string &text) override { return scalar(text); }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override { return open(true); }
  bool start_array(size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string &text) override {
    if (nesting <= maxPath)
      path[nesting - 1].assign(text);
    return true;
  }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::detail::exception &problem) override;

protected:
  /// Called for each scalar: a number, a string, `True`, `False`, or an empty
  /// text for null. Parsing stops if this or another handler returns false.
  virtual bool onScalar(llvm::StringRef text) = 0;
  virtual bool onOpen(bool isObject) { return true; }
  /// Called while depth() still counts the object or array that ends.
  virtual bool onClose() { return true; }

  /// Stops parsing, since there are more events than `--max-events` allows.
  bool stopAtTooMany() {
    isTooMany = true;
    return false;
  }

  /// The number of objects and arrays around the current position.
  size_t depth() const { return nesting; }
  /// The key in the object at a level; 1 is the outermost. Empty in an array,
  /// and at levels beyond `maxPath`.
  llvm::StringRef keyAt(size_t level) const {
    return level >= 1 && level <= maxPath ? llvm::StringRef(path[level - 1])
                                          : llvm::StringRef();
  }

private:
  static constexpr size_t maxPath = 10;

  bool scalar(llvm::StringRef text) { return onScalar(text); }
  bool open(bool isObject) {
    ++nesting;
    if (nesting <= maxPath)
      path[nesting - 1].clear();
    return onOpen(isObject);
  }
  bool close() {
    bool goesOn = onClose();
    --nesting;
    return goesOn;
  }

  size_t nesting = 0;
  std::array<std::string, maxPath> path;
  bool isTooMany = false;
  std::string wrong;
  uint64_t wrongAt = 0;
  llvm::function_ref<uint64_t()> offset; ///< in the source, in bytes
};

/// Parses a decimal 64-bit integer, with blanks around it.
std::optional<int64_t> integerIn(llvm::StringRef text);

/// Adds the shapes of an op's inputs to `trace`, from the text that PyTorch
/// prints: `[[2, 3], [], [3, 4]]`. Empty if the text is truncated or has
/// another form.
Slice readShapes(llvm::StringRef text, Trace &trace);

} // namespace netc::trace

#endif // NETC_LIB_TRACE_JSON_H
