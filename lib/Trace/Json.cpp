// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Json.h"

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

namespace {
/// The bytes of a source, as an iterator for the parser.
class Bytes {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = char;

  Bytes() = default;
  explicit Bytes(Source &source) : source(&source) {}
  char operator*() const { return char(source->peek()); }
  Bytes &operator++() {
    source->next();
    return *this;
  }
  bool operator==(const Bytes &) const { return !source || source->peek() < 0; }
  bool operator!=(const Bytes &other) const { return !(*this == other); }

private:
  Source *source = nullptr;
};
} // namespace

bool JsonReader::parse_error(size_t, const std::string &,
                             const nlohmann::detail::exception &problem) {
  // The parser's text ends with the reason: `parse error at line 1, column 3:
  // ..`
  StringRef text = problem.what();
  text = text.substr(text.find(": ") + 2);
  wrong = text.substr(0, text.rfind("; last read")).str();
  wrongAt = source->offset();
  return false;
}

llvm::Error JsonReader::read(Source &text, Trace &trace,
                             const TraceLimits &limits) {
  source = &text;
  bool isWhole = nlohmann::json::sax_parse(Bytes(text), Bytes(), this);
  if (isTooMany)
    return fail(error::TraceTooManyEvents(limits.maxEvents));
  if (llvm::Error error = cutWhere(text, trace))
    return error;
  if (!isWhole && !trace.cutAt)
    return cut(trace, wrongAt, wrong);
  return llvm::Error::success();
}

std::optional<int64_t> netc::trace::integerIn(StringRef text) {
  int64_t value;
  if (text.trim().getAsInteger(10, value))
    return std::nullopt;
  return value;
}

Slice netc::trace::readShapes(StringRef text, Trace &trace) {
  auto shapes = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (!shapes.is_array())
    return {};
  std::vector<std::vector<int64_t>> lists;
  for (const auto &shape : shapes) {
    std::vector<int64_t> &list = lists.emplace_back();
    if (shape.is_array())
      for (const auto &size : shape)
        if (size.is_number_integer())
          list.push_back(size.get<int64_t>());
  }
  return trace.addShapes(lists);
}
