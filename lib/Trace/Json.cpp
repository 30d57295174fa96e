// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

namespace {
/// The text of a source, with what is not JSON replaced, since profilers write
/// it: `NaN` and infinities by null, control characters and invalid UTF-8 or
/// UTF-16 by `?`, numbers beyond double by numbers beyond 64 bits. A backslash
/// that begins no escape is doubled.
class Mended {
public:
  Mended(Source &source, Trace &trace) : source(source), trace(trace) {}

  int peek() { return at != end ? uint8_t(*at) : more(); }
  void next() {
    if (peek() >= 0)
      ++at;
  }
  /// The position of the next byte in the source.
  uint64_t offset() const {
    return source.offset() + (isOfSource ? at - begin : 0);
  }

private:
  /// Gets the next bytes: those of the source up to one that may not be JSON,
  /// or what replaces that one. Returns the first byte, or -1 at the end.
  int more() {
    source.skip(isOfSource ? at - begin : 0);
    isOfSource = false;
    int byte = source.peek();
    if (byte < 0)
      return byte;
    StringRef rest = source.buffered();
    size_t size = plainIn(rest);
    if (size == 0)
      return isInString ? inString(byte) : word(byte);
    isOfSource = true;
    return take(rest.take_front(size));
  }
  int take(StringRef text) {
    begin = at = text.begin();
    end = text.end();
    return uint8_t(*at);
  }

  /// The number of bytes before the next one that may have to be replaced. The
  /// parser reports other errors.
  size_t plainIn(StringRef text) {
    size_t size = 0;
    for (; size < text.size(); ++size) {
      int byte = uint8_t(text[size]);
      if (byte == '"')
        isInString = !isInString;
      else if (isInString ? byte < 0x20 || byte >= 0x80 || byte == '\\'
                          : mayBeWord(byte) || isTooLong(byte))
        break;
    }
    return size;
  }
  static bool mayBeWord(int byte) {
    return byte == 'N' || byte == 'n' || byte == 'I' || byte == 'i' ||
           byte == '-' || byte == 'e' || byte == 'E';
  }
  static bool isBlank(int byte) {
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
  }
  /// Whether this byte continues more digits or blanks than any useful text
  /// has. The parser would keep them all in memory.
  bool isTooLong(int byte) {
    digits = llvm::isDigit(byte) ? digits + 1 : 0;
    blanks = isBlank(byte) ? blanks + 1 : 0;
    return digits > longest || blanks > longest;
  }

  /// Passes `size` bytes on as they are.
  int pass(size_t size) {
    instead = source.ahead(size).str();
    source.skip(size);
    return take(instead);
  }
  /// Passes on a text in place of `size` bytes.
  int replace(size_t size, StringRef text) {
    if (trace.mended++ == 0)
      trace.mendedAt = source.offset();
    source.skip(size);
    instead = text.str();
    return take(instead);
  }

  /// The `e` of a number, or a letter of `true` or `false`.
  int exponent() {
    StringRef text = source.ahead(16), number = text.drop_front();
    number.consume_front("+");
    StringRef power = number.take_while(llvm::isDigit);
    constexpr unsigned most = 200; // doubles end at 1e308
    unsigned value;
    if (power.empty() || (!power.getAsInteger(10, value) && value <= most))
      return pass(1);
    return replace(number.data() + power.size() - text.data(), "e200");
  }

  template <typename Is> void skipWhile(Is is) {
    while (is(source.peek()))
      source.skip(1);
  }

  int word(int byte) {
    if (byte == 'e' || byte == 'E')
      return exponent();
    if (llvm::isDigit(byte)) {
      int mended = replace(1, "0");
      skipWhile([](int next) { return llvm::isDigit(next); });
      return mended;
    }
    if (isBlank(byte)) {
      int blank = pass(1);
      skipWhile(isBlank);
      return blank;
    }
    for (StringRef name :
         {"NaN", "nan", "-NaN", "-nan", "Infinity", "-Infinity", "inf", "-inf"})
      if (byte == name[0] && source.ahead(name.size()) == name)
        return replace(name.size(), "null");
    return pass(1);
  }

  int inString(int byte) {
    if (byte == '\\')
      return escape();
    if (byte < 0x20)
      return replace(1, "?");
    size_t size = letterIn(source.ahead(4));
    return size ? pass(size) : replace(1, "?");
  }

  int escape() {
    StringRef text = source.ahead(12);
    if (text.size() > 1 && StringRef("\"\\/bfnrt").contains(text[1]))
      return pass(2);
    std::optional<unsigned> unit = unitIn(text);
    if (!unit)
      return replace(1, "\\\\");
    if (*unit < 0xd800 || *unit >= 0xe000)
      return pass(6);
    std::optional<unsigned> second = unitIn(text.drop_front(6));
    bool isPair =
        *unit < 0xdc00 && second && *second >= 0xdc00 && *second < 0xe000;
    return isPair ? pass(12) : replace(6, "?");
  }

  /// The UTF-16 code unit of an escape such as `\u00e9`.
  static std::optional<unsigned> unitIn(StringRef text) {
    unsigned unit;
    if (text.size() < 6 || !text.starts_with("\\u") ||
        !llvm::all_of(text.substr(2, 4), llvm::isHexDigit) ||
        text.substr(2, 4).getAsInteger(16, unit))
      return std::nullopt;
    return unit;
  }

  /// The size in bytes of the UTF-8 character that a text begins with; 0 if it
  /// is invalid.
  static size_t letterIn(StringRef text) {
    auto *bytes = reinterpret_cast<const llvm::UTF8 *>(text.data());
    size_t size = llvm::getNumBytesForUTF8(bytes[0]);
    return size <= text.size() && llvm::isLegalUTF8Sequence(bytes, bytes + size)
               ? size
               : 0;
  }

  Source &source;
  Trace &trace;
  static constexpr size_t longest = 100;
  bool isInString = false;
  size_t digits = 0, blanks = 0; ///< up to here, in a row
  std::string instead;           ///< what pass() or replace() passes on
  bool isOfSource = false;       ///< whether begin..end is the source's buffer
  const char *begin = nullptr, *at = nullptr, *end = nullptr;
};

/// An iterator over the text, for the parser.
class Bytes {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = char;

  Bytes() = default;
  explicit Bytes(Mended &text) : text(&text) {}
  char operator*() const { return char(text->peek()); }
  Bytes &operator++() {
    text->next();
    return *this;
  }
  bool operator==(const Bytes &) const { return !text || text->peek() < 0; }
  bool operator!=(const Bytes &other) const { return !(*this == other); }

private:
  Mended *text = nullptr;
};
} // namespace

bool JsonReader::parse_error(size_t, const std::string &,
                             const nlohmann::detail::exception &problem) {
  // The message is `parse error at line 1, column 3: REASON; last read: ..`.
  StringRef text = problem.what();
  text = text.substr(text.find(": ") + 2);
  wrong = text.substr(0, text.find("; last read")).str();
  wrongAt = offset();
  return false;
}

llvm::Error JsonReader::read(Source &text, Trace &trace,
                             const TraceLimits &limits) {
  Mended mended(text, trace);
  auto offsetNow = [&] { return mended.offset(); };
  offset = offsetNow;
  bool isWhole = nlohmann::json::sax_parse(Bytes(mended), Bytes(), this);
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
