// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/Json.h"

#include <set>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

namespace {
/// The bytes of a text in memory, as an iterator for the parser. It records the
/// position that the parser has reached, which the parser does not tell.
class Bytes {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = char;

  Bytes(const char *at, const char *&reached) : at(at), reached(reached) {}
  char operator*() const { return *at; }
  Bytes &operator++() {
    reached = ++at;
    return *this;
  }
  bool operator==(const Bytes &other) const { return at == other.at; }
  bool operator!=(const Bytes &other) const { return at != other.at; }

private:
  const char *at;
  const char *&reached;
};

/// Thrown from the parser's callback.
struct Wrong {
  const char *at;
  Message message;
};
} // namespace

/// The line and column of a byte.
static std::pair<unsigned, unsigned> placeOf(StringRef text, const char *at) {
  StringRef before = text.take_front(at - text.data());
  unsigned column = 1;
  for (char c : before.substr(before.rfind('\n') + 1))
    column += (c & 0xC0) != 0x80;
  return {unsigned(before.count('\n')) + 1, column};
}

/// Whether an odd number of backslashes precedes the quote.
static bool isEscaped(const char *quote) {
  bool escaped = false;
  while (*--quote == '\\')
    escaped = !escaped;
  return escaped;
}

std::optional<Document>
netc::import::parseObject(StringRef path, StringRef text, const Host &host) {
  constexpr int maxDepth = 64;
  Document document;
  const char *reached = text.begin();
  std::vector<std::set<std::string>> keys;
  auto visit = [&](int depth, Json::parse_event_t event, Json &value) {
    if (depth > maxDepth)
      throw Wrong{reached, error::JsonTooDeep(maxDepth)};
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    if (event != Json::parse_event_t::key)
      return true;
    // The parser is at the end of the key, which begins at the previous quote.
    const auto &key = value.get_ref<const std::string &>();
    const char *at = reached - 2;
    while (*at != '"' || isEscaped(at))
      --at;
    if (!keys.back().insert(key).second)
      throw Wrong{at, error::JsonKeyTwice(shownName(key))};
    if (depth == 1)
      document.places[key] = placeOf(text, at);
    return true;
  };
  try {
    document.root = Json::parse(Bytes(text.begin(), reached),
                                Bytes(text.end(), reached), visit);
  } catch (const Wrong &wrong) {
    auto [line, column] = placeOf(text, wrong.at);
    host.report({path.str(), line, column, wrong.message});
    return std::nullopt;
  } catch (const Json::exception &problem) {
    // The parser's text ends with the reason: `[json.exception..] parse error
    // at line 1, column 3: ..`
    StringRef what = problem.what();
    what = what.substr(what.find("] ") + 2);
    if (what.starts_with("parse error"))
      what = what.substr(what.find(": ") + 2);
    const char *at = reached == text.begin() ? reached : reached - 1;
    auto [line, column] = placeOf(text, at);
    host.report({path.str(), line, column,
                 error::JsonBroken(what.substr(0, what.rfind("; last read")))});
    return std::nullopt;
  }
  if (document.root.is_object())
    return document;
  host.report({path.str(), 1, 1, error::JsonNoObject(shown(document.root))});
  return std::nullopt;
}

std::string netc::import::shown(const Json &value) {
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true,
                                Json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

std::string netc::import::shownName(StringRef name, size_t most) {
  std::string text =
      Json(name.str())
          .dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  text = text.substr(1, text.size() - 2);
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}
