// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads Families.yaml, which is embedded in the program. A test finds its
// errors.

#include "lib/Import/Families.h"

#include "yaml-cpp/yaml.h"
#include "llvm/ADT/STLExtras.h"

using namespace netc::import;

// Families.inc defines `texts`, with Families.yaml alone.
#include "lib/Import/Families.inc"

/// Converts a YAML value to JSON.
static Json asJson(const YAML::Node &node) {
  if (node.IsNull())
    return nullptr;
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const YAML::Node &each : node)
      list.push_back(asJson(each));
    return list;
  }
  if (node.IsMap()) {
    Json object = Json::object();
    for (const auto &each : node)
      object[each.first.Scalar()] = asJson(each.second);
    return object;
  }
  Json value = Json::parse(node.Scalar(), nullptr, false);
  return value.is_discarded() ? Json(node.Scalar()) : value;
}

/// Replaces the value of a name in `list`, or appends the name.
template <typename T>
static void put(Ordered<T> &list, const std::string &name, T value) {
  auto found =
      llvm::find_if(list, [&](auto &each) { return each.first == name; });
  if (found == list.end())
    list.emplace_back(name, std::move(value));
  else
    found->second = std::move(value);
}

static void putAll(Ordered<std::string> &list, const YAML::Node &node) {
  for (const auto &each : node)
    if (each.second.IsNull())
      llvm::erase_if(
          list, [&](auto &had) { return had.first == each.first.Scalar(); });
    else
      put(list, each.first.Scalar(), each.second.Scalar());
}

static Key readKey(const YAML::Node &node, const YAML::Node &wordLists) {
  Key key;
  if (YAML::Node size = node["size"]) {
    key.kind = Key::Size;
    key.setting = size.Scalar();
  } else if (YAML::Node option = node["option"]) {
    key.kind = Key::Option;
    key.setting = option.Scalar();
  } else if (YAML::Node only = node["only"]) {
    key.kind = Key::Only;
    for (const YAML::Node &each : only)
      key.only.push_back(asJson(each));
  } else if (YAML::Node same = node["same"]) {
    key.kind = Key::Same;
    key.setting = same.Scalar();
  } else if (YAML::Node noted = node["noted"]) {
    key.kind = Key::Noted;
    key.member = noted.Scalar() == "true" ? "" : noted.Scalar();
  } else if (node["missing"]) {
    key.kind = Key::Missing;
  }
  if (YAML::Node value = node["default"])
    key.byDefault = asJson(value);
  if (YAML::Node words = node["words"])
    putAll(key.words, words.IsMap() ? words : wordLists[words.Scalar()]);
  key.pattern = node["pattern"].as<std::string>("");
  key.second = node["second"].as<std::string>("");
  key.onlyIf = node["if"].as<std::string>("");
  key.also = node["also"].as<std::string>("");
  key.isRequired = node["required"].as<bool>(false);
  key.mayBeZero = node["zero"].as<bool>(false);
  if (YAML::Node none = node["none"])
    key.none = none.Scalar() == "true" ? "none" : none.Scalar();
  else if (key.byDefault && key.byDefault->is_boolean())
    key.none = "false"; // as Python takes it
  key.nullIsDefault = node["unset"].as<bool>(false);
  return key;
}

static std::map<std::string, Family> read() {
  const YAML::Node table = YAML::Load(texts[0].str());
  Family common;
  for (const YAML::Node &key : table["free"])
    common.keys.emplace_back(key.Scalar(), Key());
  for (const YAML::Node &key : table["noted"]) {
    common.keys.emplace_back(key.Scalar(), Key());
    common.keys.back().second.kind = Key::Noted;
  }
  for (const auto &each : table["only"]) {
    Key key;
    key.kind = Key::Only;
    for (const YAML::Node &value : each.second)
      key.only.push_back(asJson(value));
    common.keys.emplace_back(each.first.Scalar(), key);
  }
  std::map<std::string, Family> families;
  for (const auto &each : table["families"]) {
    const YAML::Node &node = each.second;
    Family family = node["like"] ? families[node["like"].Scalar()] : common;
    family.net = node["net"].Scalar();
    family.file = node["file"].as<std::string>(each.first.Scalar());
    family.architectures.clear();
    putAll(family.architectures, node["architectures"]);
    for (const auto &key : node["keys"])
      if (key.second.IsNull())
        llvm::erase_if(family.keys, [&](auto &had) {
          return had.first == key.first.Scalar();
        });
      else
        put(family.keys, key.first.Scalar(),
            readKey(key.second, table["words"]));
    putAll(family.let, node["let"]);
    putAll(family.weights, node["weights"]);
    putAll(family.renamed, node["renamed"]);
    if (node["prefix"])
      family.prefix = node["prefix"].Scalar();
    if (node["later"])
      family.later = node["later"].Scalar();
    for (const YAML::Node &spare : node["spare"])
      family.spare.push_back(spare.Scalar());
    families[each.first.Scalar()] = std::move(family);
  }
  return families;
}

const std::map<std::string, Family> &netc::import::families() {
  static const std::map<std::string, Family> table = read();
  return table;
}
