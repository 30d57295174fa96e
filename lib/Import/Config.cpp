// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/Config.h"

#include "dialect/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <set>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

bool Settings::isOn(StringRef name) const {
  StringRef text = (*this)[name];
  return !text.empty() && text != "0" && text != "false" && text != "none";
}

std::optional<int64_t> Settings::evaluate(StringRef expression) const {
  int64_t sum = 0;
  for (StringRef term : llvm::split(expression, '+')) {
    int64_t product = 1;
    bool isDivided = false;
    for (StringRef factor : llvm::split(term.trim(), ' ')) {
      if (factor == "*" || factor == "/") {
        isDivided = factor == "/";
        continue;
      }
      std::string digits = (has(factor) ? (*this)[factor] : factor).str();
      llvm::erase(digits, '_');
      int64_t value;
      if (StringRef(digits).getAsInteger(10, value) ||
          (isDivided && value == 0) ||
          (!isDivided && __builtin_mul_overflow(product, value, &product)))
        return std::nullopt;
      if (isDivided)
        product /= value;
    }
    if (__builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// `32_000`.
static std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  if (number >= 10'000)
    for (int i = int(digits.size()) - 3; i > 0; i -= 3)
      digits.insert(i, "_");
  return digits;
}

static std::string numberText(const Json &value) {
  if (value.is_number_float()) {
    double number = value.get<double>();
    if (!(number >= 0 && number < 1e15 && number == std::floor(number)))
      return value.dump();
    return grouped(uint64_t(number));
  }
  return grouped(value.get<uint64_t>());
}

constexpr uint64_t largestSize = uint64_t(1) << 40;

static bool isSize(const Json &value) {
  return value.is_number_integer() && value > 0 && value <= largestSize;
}

/// Which layers see all positions, by their kinds. None if these are others.
static std::optional<std::vector<bool>> fullLayers(const Json &kinds) {
  if (!kinds.is_array() || kinds.empty())
    return std::nullopt;
  std::vector<bool> isFull;
  for (const Json &each : kinds) {
    if (each != "full_attention" && each != "sliding_attention")
      return std::nullopt;
    isFull.push_back(each == "full_attention");
  }
  return isFull;
}

/// `[0, 3]`.
static std::string numberList(llvm::ArrayRef<uint64_t> numbers) {
  std::vector<std::string> texts;
  for (uint64_t number : numbers)
    texts.push_back(std::to_string(number));
  return "[" + llvm::join(texts, ", ") + "]";
}

static std::string fullText(const Json &kinds) {
  std::optional<std::vector<bool>> isFull = fullLayers(kinds);
  if (!isFull)
    return "";
  std::vector<uint64_t> full;
  for (size_t i = 0; i < isFull->size(); ++i)
    if ((*isFull)[i])
      full.push_back(i);
  return numberList(full);
}

/// The setting that a list becomes. Empty if the list does not match.
static std::string patternOf(const Key &key, const Json &value) {
  if (key.pattern == "entries")
    return value.is_object() && !value.empty() ? grouped(value.size()) : "";
  if (key.pattern == "sides") {
    bool areTwo = value.is_array() && value.size() == 2 &&
                  (value[0] == value[1] || !key.second.empty()) &&
                  isSize(value[1]);
    const Json &side = areTwo ? value[0] : value;
    return isSize(side) ? numberText(side) : "";
  }
  if (key.pattern == "list") {
    if (!value.is_array() || !llvm::all_of(value, [](const Json &each) {
          return each.is_number_unsigned();
        }))
      return "";
    return numberList(value.get<std::vector<uint64_t>>());
  }
  if (key.pattern == "full")
    return fullText(value);
  std::optional<std::vector<bool>> layers = fullLayers(value);
  if (!layers)
    return "";
  const std::vector<bool> &isFull = *layers;
  size_t count = isFull.size(), first = 0;
  if (key.pattern == "from") {
    while (first < count && isFull[first])
      ++first;
    return std::find(isFull.begin() + first, isFull.end(), true) == isFull.end()
               ? grouped(first)
               : "";
  }
  while (first < count && !isFull[first])
    ++first;
  for (size_t i = 0; i < count; ++i)
    if (isFull[i] != ((i + 1) % (first + 1) == 0))
      return "";
  return grouped(first + 1);
}

/// The same of `second`. Empty if it is not needed.
static std::string secondOf(const Key &key, const Json &value) {
  if (key.second.empty() || !value.is_array())
    return "";
  if (key.pattern != "sides")
    return patternOf(key, value).empty() ? fullText(value) : "";
  return patternOf(key, value).empty() || value[0] == value[1]
             ? ""
             : numberText(value[1]);
}

/// Whether it is a part of a whole, such as of the features that are dropped.
static bool isShare(const Key &key) {
  return key.setting == "share" || StringRef(key.setting).ends_with("drop");
}

/// The values that a key accepts, for an error about this one.
static std::string rightFor(const Key &key, const Json &given) {
  std::vector<std::string> words;
  for (auto &[word, text] : key.words)
    words.push_back('"' + word + '"');
  for (const Json &value : key.only)
    words.push_back(shown(value));
  if (key.pattern == "each")
    return "a list of " + words.back();
  if (!words.empty())
    return llvm::join(words, ", ");
  if (key.pattern == "list")
    return "a list of layers, from 0 on";
  if (key.pattern == "sides")
    return key.second.empty() ? "a whole number above 0, or two equal ones"
                              : "a whole number above 0, or two";
  if (key.pattern == "every" || key.pattern == "from" || key.pattern == "full")
    return "a list of \"full_attention\" and \"sliding_attention\"";
  if (key.pattern == "entries")
    return "an object with an entry for each";
  if (key.byDefault && key.byDefault->is_boolean())
    return "true or false";
  if (isShare(key))
    return "a number from 0 to 1";
  if (key.kind != Key::Size ||
      (key.byDefault && key.byDefault->is_number_float()))
    return "a number";
  if (given.is_number() && given > largestSize)
    return "a whole number up to " + std::to_string(largestSize);
  return key.mayBeZero ? "a whole number" : "a whole number above 0";
}

/// The value as text of the language. Empty if the key does not accept it.
static std::string textOf(const Key &key, const Json &value) {
  if (!key.pattern.empty())
    return patternOf(key, value);
  if (!key.words.empty()) {
    if (value.is_string())
      for (auto &[word, text] : key.words)
        if (word == value.get_ref<const std::string &>())
          return text;
    return "";
  }
  if (key.byDefault && key.byDefault->is_boolean())
    return value.is_boolean() ? value.dump() : "";
  if (!value.is_number() || value < 0 || (isShare(key) && value > 1))
    return "";
  if (key.kind == Key::Size &&
      !(key.byDefault && key.byDefault->is_number_float()) &&
      (!value.is_number_integer() || value > largestSize ||
       (value == 0 && !key.mayBeZero)))
    return "";
  return numberText(value);
}

/// The same for the value that an omitted key has. Empty if there is none.
static std::string defaultTextOf(const Key &key) {
  if (!key.byDefault)
    return "";
  if (key.byDefault->is_null())
    return "none";
  return key.pattern.empty() ? textOf(key, *key.byDefault)
                             : numberText(*key.byDefault);
}

/// The value at a path of keys; null if it is missing.
static const Json *find(const Json &root, StringRef path) {
  const Json *at = &root;
  for (StringRef name : llvm::split(path, '.')) {
    if (!at->is_object() || !at->contains(name.str()))
      return nullptr;
    at = &(*at)[name.str()];
  }
  return at;
}

/// Whether a value asks for a feature that is only noted: it is not empty, not
/// 1, and not a `member` with the value `default`.
static bool isAskedFor(const Json &value, StringRef member) {
  if (member.empty())
    return !(value.is_null() || value == 0 || value == 1 || value == false ||
             value.empty());
  if (!value.is_object())
    return false;
  return llvm::any_of(value.items(), [&](auto &&each) {
    return each.key() == member ? each.value() != "default"
                                : isAskedFor(each.value(), member);
  });
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

namespace {
class Reader {
public:
  Reader(StringRef path, const Document &document, const Host &host)
      : path(path), document(document), root(document.root), host(host) {}

  std::optional<Config> read() {
    if (!findFamily())
      return std::nullopt;
    for (auto &[name, key] : config.family->keys)
      if (const Json *value = valueOf(name, key))
        readKey(name, key, *value);
    refuseUnknown();
    readClass();
    addDefaults();
    checkSame();
    if (!isWrong)
      checkLayers();
    if (isWrong)
      return std::nullopt;
    state();
    return std::move(config);
  }

private:
  void fail(StringRef key, const Message &message) {
    isWrong = true;
    auto place = document.places.find(key);
    auto [line, column] =
        place == document.places.end() ? std::make_pair(1u, 1u) : place->second;
    host.report({path.str(), line, column, message});
  }

  bool findFamily() {
    llvm::SmallVector<StringRef> known;
    for (auto &[type, family] : families())
      known.push_back(type);
    const Json *type = find(root, "model_type");
    if (!type || !type->is_string()) {
      fail("model_type", error::ConfigNoFamily(llvm::join(known, ", ")));
      return false;
    }
    config.type = type->get<std::string>();
    auto found = families().find(config.type);
    if (found == families().end()) {
      // Of a model of images and texts, netc has the part for texts.
      std::string text = config.type + "_text";
      std::string hint =
          !families().count(text) ? didYouMean(config.type, known)
          : !find(root, "text_config")
              ? "; did you mean `" + text + "`?"
              : "; its `text_config` is that of a `" + text +
                    "`, and may be a file of its own with this `model_type`";
      fail("model_type",
           error::ConfigUnknownFamily(shownName(config.type), hint,
                                      llvm::join(known, ", ")));
      return false;
    }
    config.family = &found->second;
    return true;
  }

  /// Null if the key is omitted, or if another key makes it irrelevant.
  const Json *valueOf(StringRef name, const Key &key) {
    if (!isMeant(key))
      return nullptr;
    const Json *value = find(root, name);
    if (!value && !key.also.empty())
      value = find(root, key.also);
    return value && value->is_null() && key.nullIsDefault ? nullptr : value;
  }
  bool isMeant(const Key &key) {
    if (key.onlyIf.empty())
      return true;
    const Json *other = find(root, key.onlyIf);
    return other && *other == true;
  }

  void readKey(StringRef name, const Key &key, const Json &value) {
    auto refuse = [&] {
      fail(name, error::ConfigWrongValue(name, shown(value), config.type,
                                         rightFor(key, value)));
    };
    auto note = [&](StringRef what) {
      config.notes.push_back((what + ": " + name + " = " + shown(value)).str());
    };
    switch (key.kind) {
    case Key::Free:
    case Key::Same: // checked once all settings are known
      return;
    case Key::Noted:
      if (isAskedFor(value, key.member))
        note("No count depends on this, and the net does not have it");
      return;
    case Key::Missing:
      if (value.is_number() && value > 0)
        note("The net does not have these layers, and no count has them");
      return;
    case Key::Only:
      if (!llvm::is_contained(key.only, value) &&
          !(key.pattern == "each" && value.is_array() &&
            llvm::all_of(value, [&](const Json &each) {
              return llvm::is_contained(key.only, each);
            })))
        refuse();
      return;
    case Key::Size:
    case Key::Option:
      break;
    }
    if (value.is_null() || (key.pattern == "list" && value.empty())) {
      if (!key.none.empty())
        set(key, key.none);
      else if ((key.byDefault || key.isRequired) && !hasOwn(key.setting))
        refuse();
      return;
    }
    std::string text = textOf(key, value), second = secondOf(key, value);
    if (text.empty() && second.empty())
      return refuse();
    if (!text.empty())
      set(key, text);
    if (!second.empty())
      addSetting(key.second, second);
  }

  bool isOption(StringRef setting) const {
    return llvm::any_of(config.family->keys, [&](auto &each) {
      return each.second.kind == Key::Option && each.second.setting == setting;
    });
  }

  /// Whether the table derives the setting from others.
  bool hasOwn(StringRef setting) {
    return llvm::any_of(config.family->let,
                        [&](auto &let) { return let.first == setting; });
  }

  /// Sets a setting. The text may contain further ones, as in `gelu, gated =
  /// true`.
  void set(const Key &key, StringRef text) {
    auto [value, more] =
        text.starts_with("[") ? std::pair(text, StringRef()) : text.split(", ");
    config.settings.set(key.setting, value.str());
    if (key.kind == Key::Size || defaultTextOf(key) != text)
      isStated.insert(key.setting);
    if (!more.empty())
      addSetting(more.split(" = ").first, more.split(" = ").second);
  }
  void addSetting(StringRef name, StringRef text) {
    config.settings.set(name, text.str());
    added.emplace_back(name.str(), text.str());
  }

  void refuseUnknown() {
    llvm::SmallVector<StringRef> known;
    for (auto &[name, key] : config.family->keys) {
      known.push_back(name);
      if (!key.also.empty() && !StringRef(key.also).contains('.'))
        known.push_back(key.also);
    }
    for (auto &[name, value] : root.items())
      if (!llvm::is_contained(known, name))
        fail(name,
             error::ConfigUnknownKey(shownName(name), shown(value), config.type,
                                     didYouMean(name, known)));
  }

  /// Reads the class of the model from `architectures`.
  void readClass() {
    const auto &known = config.family->architectures;
    const std::string *with = &known.front().second;
    const Json *classes = find(root, "architectures");
    if (classes && !classes->is_null() && !classes->empty()) {
      auto found = llvm::find_if(known, [&](auto &each) {
        return classes->is_array() &&
               llvm::any_of(*classes,
                            [&](const Json &one) { return one == each.first; });
      });
      if (found == known.end()) {
        std::vector<StringRef> names;
        for (auto &each : known)
          names.push_back(each.first);
        fail("architectures", error::ConfigUnknownClass(
                                  shown(*classes), llvm::join(names, ", ")));
        return;
      }
      with = &found->second;
    }
    if (with->empty())
      return;
    auto [name, value] = StringRef(*with).split(" = ");
    config.settings.set(name, value.trim('"').str());
    added.emplace_back(name.str(), value.str());
  }

  void addDefaults() {
    for (auto &[name, key] : config.family->keys) {
      if (key.setting.empty() || key.kind == Key::Same ||
          config.settings.has(key.setting) || !isMeant(key))
        continue;
      const Json *value = valueOf(name, key);
      if (key.isRequired && !value)
        fail(name, error::ConfigMissingKey(name, config.type));
      // `null` asks for the value that the table derives from others.
      if (key.byDefault && !(value && value->is_null()))
        set(key, defaultTextOf(key));
    }
    for (auto &[name, expression] : config.family->let) {
      std::optional<int64_t> value = config.settings.evaluate(expression);
      std::string text = value ? grouped(*value) : expression;
      if (!config.settings.has(name)) {
        checkWhole(expression);
        config.settings.set(name, text);
        isStated.insert(name);
      }
      if (isOption(name) && config.settings[name] == text)
        isStated.erase(name);
    }
  }

  void checkSame() {
    for (auto &[name, key] : config.family->keys) {
      const Json *value = key.kind == Key::Same ? find(root, name) : nullptr;
      if (!value || value->is_null())
        continue;
      std::string ours = config.settings[key.setting].str();
      if (ours.empty())
        ours = "false";
      std::string theirs =
          value->is_boolean() ? value->dump() : textOf(key, *value);
      if (theirs != ours)
        fail(name,
             error::ConfigWrongValue(name, shown(*value), config.type,
                                     "what other keys say, `" + key.setting +
                                         " = " + ours + "`"));
    }
  }

  /// A list has each layer by its kind, or the numbers of some.
  void checkLayers() {
    std::optional<int64_t> layers = config.settings.evaluate("layers");
    for (auto &[each, key] : config.family->keys) {
      const auto &name = each; // as lambdas capture no bindings
      static const std::set<StringRef> ofKinds = {"each", "every", "from",
                                                  "full"};
      const Json *value = find(root, name);
      if (!layers || !value || !value->is_array() || value->empty())
        continue;
      auto wantLayers = [&](bool isRight, const std::string &right) {
        if (!isRight)
          fail(name, error::ConfigWrongValue(name, shown(*value), config.type,
                                             right));
      };
      if (ofKinds.count(key.pattern))
        wantLayers(int64_t(value->size()) == *layers,
                   "the kind of each of its " + std::to_string(*layers) +
                       " layers, and these are " +
                       std::to_string(value->size()));
      std::set<Json> numbers(value->begin(), value->end());
      if (key.pattern == "list")
        wantLayers(numbers.size() == value->size() &&
                       *numbers.rbegin() < *layers,
                   "a list of layers, each once, from 0 to " +
                       std::to_string(*layers - 1));
    }
  }

  /// The width of a head, `d / heads`, where the config has none.
  void checkWhole(StringRef expression) {
    auto [whole, part] = expression.split(" / ");
    std::optional<int64_t> a = config.settings.evaluate(whole),
                           b = config.settings.evaluate(part);
    if (part.contains(' ') || !a || !b || !*b || *a % *b == 0)
      return;
    reportImpossible(config,
                     llvm::formatv("the heads divide the features; here "
                                   "{0} = {1}, {2} = {3}",
                                   whole, *a, part, *b)
                         .str(),
                     path, document, host);
    isWrong = true;
  }

  /// The settings of the call, in the order of the table.
  void state() {
    for (auto &[name, key] : config.family->keys)
      if (!key.setting.empty() && isStated.erase(key.setting))
        config.stated.emplace_back(key.setting,
                                   config.settings[key.setting].str());
    llvm::append_range(config.stated, added);
  }

  StringRef path;
  const Document &document;
  const Json &root;
  const Host &host;
  Config config;
  std::set<std::string> isStated;
  Ordered<std::string> added;
  bool isWrong = false;
};
} // namespace

void netc::import::reportImpossible(const Config &config, StringRef why,
                                    StringRef path, const Document &document,
                                    const Host &host) {
  auto [text, sizes] = why.rsplit("; here ");
  std::vector<std::string> named;
  auto place = document.places.end();
  for (StringRef size : llvm::split(sizes, ", ")) {
    auto [setting, value] = size.split(" = ");
    std::string ours = config.settings[setting].str();
    llvm::erase(ours, '_');
    if (ours.empty() || ours != value)
      continue;
    for (auto &[name, key] : config.family->keys)
      if (key.setting == setting) {
        named.push_back("`" + name + "` is " + value.str());
        if (place == document.places.end())
          place = document.places.find(name);
        break;
      }
  }
  for (auto &[name, key] : config.family->keys)
    if (named.empty() && key.setting == "share" &&
        document.places.count(name)) { // of which the library computed a size
      named.push_back("`" + name + "` is " + config.settings["share"].str());
      place = document.places.find(name);
    }
  StringRef reason = text.contains("does not hold: ")
                         ? text.split("does not hold: ").second
                         : text;
  auto [line, column] =
      place == document.places.end() ? std::make_pair(1u, 1u) : place->second;
  if (named.empty() && !sizes.empty()) // what the standard library computed
    reason = why.substr(why.find(reason));
  host.report({path.str(), line, column,
               error::ConfigImpossible(named.empty() ? "no net has these sizes"
                                                     : llvm::join(named, ", "),
                                       reason)});
}

std::optional<Config> netc::import::readConfig(StringRef path,
                                               const Document &document,
                                               const Host &host) {
  return Reader(path, document, host).read();
}
