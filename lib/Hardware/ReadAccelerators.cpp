// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Hardware/Hardware.h"

#include "dialect/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"

#include <set>
#include <sstream>

using namespace netc;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

char HardwareError::ID = 0;

HardwareError::HardwareError(StringRef file, unsigned line, unsigned column,
                             const Twine &message)
    : file(file), line(line), column(column), message(message.str()) {}

void HardwareError::log(llvm::raw_ostream &os) const {
  os << file << ':';
  if (line != 0)
    os << line << ':' << column << ':';
  os << ' ' << message;
}

std::error_code HardwareError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

// yaml-cpp throws exceptions that carry the position. Errors in the contents
// are thrown the same way, and addText() turns all of them into HardwareErrors.
[[noreturn]] static void fail(const YAML::Mark &mark, const Twine &message) {
  throw YAML::ParserException(mark, message.str());
}

//===----------------------------------------------------------------------===//
// YAML
//===----------------------------------------------------------------------===//

namespace {
struct Node {
  enum Kind { Null, Scalar, List, Map };

  Kind kind;
  YAML::Mark mark;
  std::string text;
  std::vector<Node> items; ///< of a list; for a map, keys and values in turn
};

class TreeBuilder : public YAML::EventHandler {
public:
  Node root{Node::Null, {}, {}, {}};

  void OnDocumentStart(const YAML::Mark &mark) override {
    if (documents++ != 0)
      fail(mark, "a second document in one file");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark &mark, YAML::anchor_t) override {
    insert({Node::Null, mark, {}, {}});
  }
  void OnScalar(const YAML::Mark &mark, const std::string &, YAML::anchor_t,
                const std::string &text) override {
    if (text.size() > maxText)
      fail(mark, "text of more than " + Twine(maxText) + " bytes");
    // An escape may stand for any character, and messages may print the text.
    if (llvm::sys::unicode::columnWidthUTF8(text) < 0)
      fail(mark, "text with characters that do not print");
    insert({Node::Scalar, mark, text, {}});
  }
  void OnSequenceStart(const YAML::Mark &mark, const std::string &,
                       YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(Node::List, mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark &mark, const std::string &, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(Node::Map, mark);
  }
  void OnMapEnd() override { close(); }
  // Nested aliases multiply: a short text may expand to any size.
  void OnAnchor(const YAML::Mark &mark, const std::string &) override {
    fail(mark, "anchors and aliases are not supported; `like` names an "
               "accelerator to start from");
  }
  void OnAlias(const YAML::Mark &mark, YAML::anchor_t) override {
    OnAnchor(mark, "");
  }

private:
  static constexpr unsigned maxDepth = 8;
  static constexpr size_t maxText = 1000;

  void open(Node::Kind kind, const YAML::Mark &mark) {
    if (stack.size() == maxDepth)
      fail(mark, "nested more than " + Twine(maxDepth) + " deep");
    stack.push_back({kind, mark, {}, {}});
  }
  void close() {
    Node node = std::move(stack.back());
    stack.pop_back();
    insert(std::move(node));
  }
  void insert(Node node) {
    (stack.empty() ? root : stack.back().items.emplace_back()) =
        std::move(node);
  }

  std::vector<Node> stack;
  unsigned documents = 0;
};
} // namespace

/// Refuses characters that YAML does not allow, so that no message repeats
/// them.
static void checkBytes(StringRef text) {
  size_t bad = text.size();
  StringRef problem = "not UTF-8";
  bool isValid = llvm::json::isUTF8(text, &bad);
  StringRef valid = text.take_front(bad);
  size_t control =
      llvm::find_if(valid,
                    [](unsigned char c) {
                      return (c < ' ' && c != '\t' && c != '\n' && c != '\r') ||
                             c == 0x7f;
                    }) -
      valid.begin();
  if (control != valid.size()) {
    bad = control;
    problem = "a control character";
  } else if (isValid) {
    return;
  }
  StringRef before = text.take_front(bad);
  YAML::Mark mark;
  mark.line = before.count('\n');
  mark.column = before.size() - (before.rfind('\n') + 1);
  fail(mark, problem);
}

namespace {
/// An event of the YAML parser, as net-embed-yaml writes it.
struct Event {
  enum Kind { Null, Scalar, ListStart, MapStart, End };

  Kind kind;
  int line, column; ///< 0-based
  StringRef text;
};
} // namespace

static constexpr Event builtinTable[] = {
#include "lib/Hardware/Accelerators.inc"
};

static Node readTree(llvm::ArrayRef<Event> events) {
  TreeBuilder builder;
  for (const Event &event : events) {
    YAML::Mark mark;
    mark.line = event.line;
    mark.column = event.column;
    switch (event.kind) {
    case Event::Null:
      builder.OnNull(mark, 0);
      break;
    case Event::Scalar:
      builder.OnScalar(mark, "", 0, event.text.str());
      break;
    case Event::ListStart:
      builder.OnSequenceStart(mark, "", 0, YAML::EmitterStyle::Default);
      break;
    case Event::MapStart:
      builder.OnMapStart(mark, "", 0, YAML::EmitterStyle::Default);
      break;
    case Event::End:
      builder.OnMapEnd();
      break;
    }
  }
  return std::move(builder.root);
}

static Node readTree(StringRef text) {
  checkBytes(text);
  std::istringstream stream(text.str());
  YAML::Parser parser(stream);
  TreeBuilder builder;
  while (parser.HandleNextDocument(builder))
    continue;
  return std::move(builder.root);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static StringRef textOf(const Node &node) {
  if (node.kind != Node::Scalar)
    fail(node.mark, "expected text");
  return node.text;
}

static llvm::ArrayRef<Node> listOf(const Node &node) {
  if (node.kind != Node::List)
    fail(node.mark, "expected a list: `[a, b]`");
  return node.items;
}

static int integerOf(const Node &node, int least, int most) {
  int value;
  if (textOf(node).getAsInteger(10, value) || value < least || value > most)
    fail(node.mark, "expected an integer from " + Twine(least) + " to " +
                        Twine(most) + ", found `" + node.text + "`");
  return value;
}

static void forEachEntry(
    const Node &map,
    llvm::function_ref<void(const Node &key, const Node &value)> read) {
  if (map.kind != Node::Map)
    fail(map.mark, "expected a map: `key: value`");
  std::set<StringRef> seen;
  for (size_t i = 0; i != map.items.size(); i += 2) {
    const Node &key = map.items[i];
    if (!seen.insert(textOf(key)).second)
      fail(key.mark, "`" + key.text + "` is given twice");
    read(key, map.items[i + 1]);
  }
}

/// The value of `key`, or null if there is none.
static const Node *findEntry(const Node &map, StringRef key) {
  const Node *found = nullptr;
  forEachEntry(map, [&](const Node &other, const Node &value) {
    if (other.text == key)
      found = &value;
  });
  return found;
}

[[noreturn]] static void failOnKey(const Node &key,
                                   llvm::ArrayRef<StringRef> known) {
  fail(key.mark,
       "unknown key `" + key.text + "`" + didYouMean(key.text, known));
}

namespace {
/// A unit of figures.
struct Scale {
  StringRef name;
  Rational size;
};
} // namespace

static const Scale teraFlop{"10^12 FLOP/s", Rational(10).pow(12)},
    gigabyte{"10^9 bytes", Rational(10).pow(9)},
    gigabytePerSecond{"10^9 bytes/s", Rational(10).pow(9)}, watt{"W", 1};

static Rational numberOf(const Node &node, const Scale &scale) {
  std::optional<Rational> number = Rational::parse(textOf(node));
  Rational value = number.value_or(Rational::invalid()) * scale.size;
  if (!(value > 0))
    fail(node.mark, "expected a positive number, in " + scale.name +
                        ", found `" + node.text + "`");
  return value;
}

static NumberFormat formatOf(const Node &node) {
  if (std::optional<NumberFormat> format = parseNumberFormat(textOf(node)))
    return *format;
  fail(node.mark, "unknown number format `" + node.text + "`" +
                      didYouMean(node.text, formatNames()));
}

static bool isIdentifier(StringRef text) {
  return !text.empty() && !llvm::isDigit(text[0]) &&
         llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// `2017-06` or `2017`.
static std::string dateOf(const Node &node) {
  auto [year, month] = textOf(node).split('-');
  unsigned number;
  bool isMonth = month.size() == 2 && !month.getAsInteger(10, number) &&
                 number >= 1 && number <= 12;
  bool isYear = year.size() == 4 && !year.getAsInteger(10, number);
  if (!isYear || !(isMonth || node.text.size() == 4))
    fail(node.mark,
         "expected a date, `2017-06` or `2017`, found `" + node.text + "`");
  return node.text;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace netc {
class AcceleratorReader {
public:
  explicit AcceleratorReader(AcceleratorTable &table) : table(table) {}

  void readFile(const Node &root) {
    if (const Node *ids = findEntry(root, "sources"))
      forEachEntry(*ids, [&](const Node &id, const Node &text) {
        table.sources[id.text] = textOf(text);
      });
    forEachEntry(root, [&](const Node &key, const Node &value) {
      if (key.text == "accelerators")
        forEachEntry(value, [&](const Node &name, const Node &contents) {
          // Each accelerator may copy another one's figures by `like`, so the
          // number is limited.
          if (++accelerators > maxAccelerators)
            fail(name.mark, "more than " + Twine(maxAccelerators) +
                                " accelerators in one file");
          table.add(readAccelerator(name, contents));
        });
      else if (key.text == "typical")
        forEachEntry(value, [&](const Node &year, const Node &contents) {
          table.typicalPeaks[integerOf(year, 1900, 2200)] =
              readTypicalPeak(contents);
        });
      else if (key.text != "sources")
        failOnKey(key, {"accelerators", "sources", "typical"});
    });
  }

private:
  static constexpr size_t maxAccelerators = 1000;

  /// A name may occur once in a file. Another file may reuse it.
  void claim(const Node &node, StringRef owner) {
    auto [known, isNew] = owners.try_emplace(nameKey(node.text), owner.str());
    if (!isNew && known->second != owner)
      fail(node.mark,
           "`" + node.text + "` is a name of `" + known->second + "`");
  }

  /// The figures of the accelerator after `like`.
  Accelerator startFrom(const Node &like) {
    std::optional<Accelerator> model = table.find(textOf(like));
    if (!model) {
      fail(like.mark, "unknown accelerator `" + like.text + "`" +
                          table.didYouMean(like.text));
    }
    model->title.clear();
    model->aliases.clear();
    model->note.clear();
    return std::move(*model);
  }

  Accelerator readAccelerator(const Node &name, const Node &contents) {
    if (!isIdentifier(name.text))
      fail(name.mark, "`" + name.text +
                          "` is not a name that a specification can write; "
                          "names are of letters, digits and `_`");
    const Node *like = findEntry(contents, "like");
    Accelerator result = like ? startFrom(*like) : Accelerator();
    result.name = name.text;
    claim(name, result.name);
    forEachEntry(contents, [&](const Node &key, const Node &value) {
      readKey(key, value, result);
    });
    return result;
  }

  /// `125`, `[125, sources]` or `[125, sources, uncertain]`.
  Figure figureOf(const Node &node, const Scale &scale) const {
    if (node.kind != Node::List)
      return {numberOf(node, scale), "", false};
    if (node.items.empty() || node.items.size() > 3)
      fail(node.mark, "expected `[number, sources]` or "
                      "`[number, sources, uncertain]`");
    Figure figure{numberOf(node.items[0], scale), "", false};
    if (node.items.size() > 1) {
      const Node &source = node.items[1];
      figure.source = textOf(source);
      StringRef id = StringRef(figure.source).take_while(llvm::isAlnum);
      if (!figure.source.empty() && table.source(id).empty())
        fail(source.mark,
             "`" + source.text + "` begins with no id of `sources`");
    }
    if (node.items.size() > 2) {
      const Node &last = node.items[2];
      if (textOf(last) != "uncertain")
        fail(last.mark, "expected `uncertain`, found `" + last.text + "`");
      figure.isUncertain = true;
    }
    return figure;
  }

  void readPeaks(const Node &map, ArithmeticUnit unit,
                 std::vector<Peak> &peaks) const {
    forEachEntry(map, [&](const Node &key, const Node &value) {
      Peak peak{formatOf(key), unit, figureOf(value, teraFlop)};
      auto given = llvm::find_if(peaks, [&](const Peak &other) {
        return other.format == peak.format && other.unit == unit;
      });
      if (given == peaks.end())
        peaks.push_back(peak);
      else
        *given = peak;
    });
  }

  void readKey(const Node &key, const Node &value, Accelerator &result) {
    StringRef name = key.text;
    if (name == "like")
      return;
    if (name == "title") {
      result.title = textOf(value);
      claim(value, result.name);
    } else if (name == "aliases") {
      for (const Node &alias : listOf(value)) {
        result.aliases.push_back(textOf(alias).str());
        claim(alias, result.name);
      }
    } else if (name == "vendor") {
      result.vendor = textOf(value);
    } else if (name == "released") {
      result.released = dateOf(value);
    } else if (name == "note") {
      result.note = textOf(value);
    } else if (name == "vector") {
      readPeaks(value, ArithmeticUnit::Vector, result.peaks);
    } else if (name == "matrix") {
      readPeaks(value, ArithmeticUnit::Matrix, result.peaks);
    } else if (name == "narrow_matrix") {
      readPeaks(value, ArithmeticUnit::NarrowMatrix, result.peaks);
    } else if (name == "f32_runs_as") {
      result.f32RunsAs = formatOf(value);
    } else if (name == "memory") {
      result.memoryBytes = figureOf(value, gigabyte);
    } else if (name == "bandwidth") {
      result.bandwidthBytesPerSecond = figureOf(value, gigabytePerSecond);
    } else if (name == "link") {
      result.linkBytesPerSecond = figureOf(value, gigabytePerSecond);
    } else if (name == "link_kind") {
      result.linkKind = textOf(value);
    } else if (name == "power") {
      result.watts = figureOf(value, watt);
    } else if (name == "parts") {
      forEachEntry(value, [&](const Node &part, const Node &count) {
        if (!isIdentifier(part.text) || part.text != nameKey(part.text))
          fail(part.mark, "a part is named in lower-case letters");
        result.part = part.text;
        result.parts = integerOf(count, 1, 1024);
      });
    } else {
      failOnKey(key,
                {"title", "aliases", "like", "vendor", "released", "note",
                 "vector", "matrix", "narrow_matrix", "f32_runs_as", "memory",
                 "bandwidth", "link", "link_kind", "power", "parts"});
    }
  }

  TypicalPeak readTypicalPeak(const Node &contents) {
    for (StringRef key : {"f32", "best", "models", "chips"})
      if (!findEntry(contents, key))
        fail(contents.mark, "a year has no `" + key +
                                "`; expected `f32`, `best`, `models`, `chips`");
    TypicalPeak result;
    forEachEntry(contents, [&](const Node &key, const Node &value) {
      if (key.text == "f32")
        result.f32FlopPerSecond = numberOf(value, teraFlop);
      else if (key.text == "best")
        result.bestFlopPerSecond = numberOf(value, teraFlop);
      else if (key.text == "models")
        result.models = integerOf(value, 1, 1'000'000);
      else if (key.text == "chips")
        result.chips = textOf(value);
      else
        failOnKey(key, {"f32", "best", "models", "chips"});
    });
    return result;
  }

  AcceleratorTable &table;
  size_t accelerators = 0;
  /// The accelerator that claimed each name in this file, by nameKey.
  std::map<std::string, std::string> owners;
};
} // namespace netc

template <typename Source>
llvm::Error AcceleratorTable::addTree(Source source, StringRef fileName) {
  AcceleratorTable extended = *this;
  try {
    AcceleratorReader(extended).readFile(readTree(source));
  } catch (const YAML::Exception &error) {
    return llvm::make_error<HardwareError>(fileName, error.mark.line + 1,
                                           error.mark.column + 1, error.msg);
  }
  *this = std::move(extended);
  return llvm::Error::success();
}

llvm::Error AcceleratorTable::addText(StringRef text, StringRef fileName) {
  return addTree(text, fileName);
}

AcceleratorTable AcceleratorTable::builtin() {
  AcceleratorTable table;
  llvm::cantFail(table.addTree(llvm::ArrayRef(builtinTable),
                               "lib/Hardware/Accelerators.yaml"));
  return table;
}
