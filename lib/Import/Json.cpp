// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/Json.h"

#include <set>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

/// Whether an odd number of backslashes precedes the quote.
static bool isEscaped(const char *quote) {
  bool escaped = false;
  while (*--quote == '\\')
    escaped = !escaped;
  return escaped;
}

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

/// Checks keys and depth, which the parser does not, and finds where the keys
/// of the root are. Not a callback of the parser, which then searches each list
/// again for each of its elements.
class Keys : public Json::json_sax_t {
public:
  explicit Keys(const char *&reached) : begin(reached), reached(reached) {}

  bool start_object(std::size_t) override {
    keys.emplace_back();
    return enter();
  }
  bool key(std::string &key) override {
    // The parser is at the end of the key, which begins at the previous quote.
    const char *at = reached - 2;
    while (*at != '"' || isEscaped(at))
      --at;
    if (!keys.back().insert(key).second)
      return fail(at, error::JsonKeyTwice(shownName(key)));
    if (depth == 1)
      places[key] = at;
    return true;
  }
  bool end_object() override {
    keys.pop_back();
    return leave();
  }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const std::string &) override {
    return true;
  }
  bool string(std::string &) override { return true; }
  bool binary(binary_t &) override { return true; }

  bool parse_error(std::size_t, const std::string &,
                   const Json::exception &problem) override {
    // The parser's text ends with the reason: `[json.exception..] parse error
    // at line 1, column 3: ..`
    llvm::StringRef what = problem.what();
    what = what.substr(what.find("] ") + 2);
    if (what.starts_with("parse error"))
      what = what.substr(what.find(": ") + 2);
    return fail(reached == begin ? reached : reached - 1,
                error::JsonBroken(what.substr(0, what.rfind("; last read"))));
  }

  bool fail(const char *at, Message message) {
    wrongAt = at;
    wrong = std::move(message);
    return false;
  }

  std::map<std::string, const char *> places;
  const char *wrongAt = nullptr;
  std::optional<Message> wrong;

private:
  bool enter() {
    constexpr int maxDepth = 64;
    return depth++ < maxDepth ||
           fail(reached - 1, error::JsonTooDeep(maxDepth));
  }
  bool leave() {
    --depth;
    return true;
  }

  const char *const begin;
  const char *&reached;
  std::vector<std::set<std::string>> keys;
  int depth = 0;
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

std::optional<Document>
netc::import::parseObject(StringRef path, StringRef text, const Host &host) {
  const char *reached = text.begin();
  Keys keys(reached);
  // The parser takes a null character for the end of the file.
  if (size_t end = text.find('\0'); end != StringRef::npos)
    keys.fail(text.data() + end,
              error::JsonBroken("a null character is no text"));
  else
    Json::sax_parse(Bytes(text.begin(), reached), Bytes(text.end(), reached),
                    &keys);
  if (keys.wrong) {
    auto [line, column] = placeOf(text, keys.wrongAt);
    host.report({path.str(), line, column, *keys.wrong});
    return std::nullopt;
  }
  Document document;
  document.root = Json::parse(text);
  for (auto &[key, at] : keys.places)
    document.places[key] = placeOf(text, at);
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
