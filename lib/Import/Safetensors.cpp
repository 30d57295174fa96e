// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/Safetensors.h"

#include "lib/Frontend/Input.h"
#include "lib/Import/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

static constexpr uint64_t maxHeader = 100'000'000;
static constexpr size_t maxRank = 16;

namespace {
/// Reads the weights of a header by events of the parser, so that a text of
/// many megabytes is never stored as a tree.
class Header : public nlohmann::json_sax<nlohmann::json> {
public:
  explicit Header(uint64_t bytes) : bytes(bytes) {}

  bool key(std::string &text) override {
    if (depth == 1) {
      name = text;
      if (!names.insert(text).second)
        return fail("`" + shownName(text) + "` is there twice");
    } else {
      member = text;
    }
    return true;
  }
  bool start_object(size_t) override {
    if (++depth > 2)
      return fail("nested too deep");
    type = 0;
    shape.reset();
    offsets.clear();
    return true;
  }
  bool end_object() override {
    return --depth != 1 || name == "__metadata__" || addWeight();
  }
  bool start_array(size_t) override {
    if (depth != 2 || isInList ||
        (member != "shape" && member != "data_offsets"))
      return fail("an unexpected list");
    isInList = true;
    if (member == "shape")
      shape.emplace();
    return true;
  }
  bool end_array() override {
    isInList = false;
    return true;
  }
  bool string(std::string &text) override {
    if (depth != 2)
      return fail("an unexpected text");
    if (name == "__metadata__")
      return true;
    if (member != "dtype")
      return fail("`" + shownName(name) + "` has an unknown member `" +
                  shownName(member) + "`");
    type = llvm::StringSwitch<unsigned>(text)
               .Cases("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", 1)
               .Cases("I16", "U16", "F16", "BF16", 2)
               .Cases("I32", "U32", "F32", 4)
               .Cases("I64", "U64", "F64", 8)
               .Default(0);
    return type || fail("`" + shownName(name) + "` has the unknown type `" +
                        shownName(text) + "`");
  }
  bool number_unsigned(uint64_t value) override {
    if (!isInList)
      return fail("an unexpected number");
    if (member != "shape")
      offsets.push_back(value);
    else
      shape->push_back(value);
    return (shape && shape->size() > maxRank) || offsets.size() > 2
               ? fail("`" + shownName(name) + "` has too many numbers")
               : true;
  }
  bool number_integer(int64_t) override { return fail("a negative number"); }
  bool number_float(double, const std::string &text) override {
    // A whole number is here one that 64 bits do not hold.
    return fail(StringRef(text).find_first_of(".eE") == StringRef::npos
                    ? "the number " + text + ", which is too large"
                    : "a number with a fraction");
  }
  bool null() override { return fail("an unexpected null"); }
  bool boolean(bool) override { return fail("an unexpected truth value"); }
  bool binary(binary_t &) override { return true; }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::detail::exception &problem) override {
    StringRef text = problem.what();
    text = text.substr(text.find("] ") + 2);
    return fail(text.substr(0, text.rfind("; last read")).str());
  }

  /// Whether the weights are contiguous and fill the file.
  bool isComplete() {
    llvm::sort(ranges);
    uint64_t end = 0;
    for (auto &[from, to] : ranges) {
      if (from != end)
        return fail("its weights overlap, or leave a gap");
      end = to;
    }
    return end == bytes || fail("its weights have " + std::to_string(end) +
                                " bytes, and the file " +
                                std::to_string(bytes) + " behind the header");
  }

  std::vector<std::pair<std::string, WeightShape>> weights;
  std::string wrong;

private:
  bool fail(std::string text) {
    wrong = std::move(text);
    return false;
  }
  bool addWeight() {
    if (!type || !shape || offsets.size() != 2)
      return fail("`" + shownName(name) + "` lacks its type, shape or place");
    uint64_t size = type;
    for (uint64_t n : *shape)
      if (__builtin_mul_overflow(size, n, &size))
        return fail("the shape of `" + shownName(name) + "` is too large");
    if (offsets[0] > offsets[1] || offsets[1] - offsets[0] != size)
      return fail("`" + shownName(name) +
                  "` has the wrong number of bytes for its shape");
    ranges.emplace_back(offsets[0], offsets[1]);
    weights.emplace_back(name, *shape);
    return true;
  }

  uint64_t bytes;
  unsigned depth = 0, type = 0;
  bool isInList = false;
  std::string name, member;
  std::set<std::string> names;
  std::optional<WeightShape> shape;
  std::vector<uint64_t> offsets;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
};
} // namespace

/// The weights of one file. None after an error, which is reported.
static std::optional<std::vector<std::pair<std::string, WeightShape>>>
readHeader(StringRef path, const Host &host) {
  auto fail = [&](const Message &message) {
    host.report({path.str(), 1, 1, message});
    return std::nullopt;
  };
  fs::file_status status;
  if (std::error_code error = fs::status(path, status))
    return fail(error::ImportCannotRead(error.message()));
  if (!fs::is_regular_file(status))
    return fail(error::ImportCannotRead("it is not a regular file"));
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file)
    return fail(error::ImportCannotRead(llvm::toString(file.takeError())));
  auto close = llvm::make_scope_exit([&] { fs::closeFile(*file); });
  auto readAt = [&](uint64_t at, llvm::MutableArrayRef<char> to) {
    while (!to.empty()) {
      llvm::Expected<size_t> size = fs::readNativeFileSlice(*file, to, at);
      if (!size) {
        llvm::consumeError(size.takeError());
        return false;
      }
      if (*size == 0)
        return false;
      at += *size;
      to = to.drop_front(*size);
    }
    return true;
  };
  char head[8];
  if (status.getSize() < sizeof head || !readAt(0, head))
    return fail(error::WeightsHeader("the file has less than 8 bytes"));
  if (StringRef(head, sizeof head) == "version ")
    return fail(error::WeightsHeader(
        "it is a pointer of Git LFS; `git lfs pull` fetches the file"));
  uint64_t length = llvm::support::endian::read64le(head);
  uint64_t rest = status.getSize() - sizeof head;
  std::string text(std::min({length, rest, maxHeader}), '\0');
  if (length > text.size() || !readAt(sizeof head, {text.data(), text.size()}))
    return fail(error::WeightsHeader(
        "it is said to have " + std::to_string(length) + " bytes, of at most " +
        std::to_string(text.size())));
  Header header(rest - length);
  if (!nlohmann::json::sax_parse(text, &header) || !header.isComplete())
    return fail(error::WeightsHeader(header.wrong));
  return std::move(header.weights);
}

/// The weights of the files that an index lists.
static std::optional<Weights> readIndex(StringRef folder, StringRef path,
                                        const Host &host) {
  auto fail = [&](const Message &message) {
    host.report({path.str(), 1, 1, message});
    return std::nullopt;
  };
  llvm::Expected<std::string> text = readText(path, maxHeader);
  if (!text)
    return fail(error::ImportCannotRead(llvm::toString(text.takeError())));
  if (text->size() > maxHeader)
    return fail(error::InputTooLong(maxHeader));
  std::optional<Document> index = parseObject(path, *text, host);
  if (!index)
    return std::nullopt;
  auto map = index->root.find("weight_map");
  if (map == index->root.end() || !map->is_object())
    return fail(error::WeightsIndex("`weight_map` is missing"));
  std::map<std::string, std::set<std::string>> listed;
  for (auto &[name, file] : map->items()) {
    if (!file.is_string())
      return fail(error::WeightsIndex("`" + shownName(name) + "` has no file"));
    const auto &shard = file.get_ref<const std::string &>();
    if (shard.empty() || shard.find_first_of("/\\") != std::string::npos ||
        shard[0] == '.' || shard.find('\0') != std::string::npos)
      return fail(error::WeightsIndex("`" + shownName(name) + "` is in " +
                                      shown(file) +
                                      ", which is no file of this folder"));
    listed[shard].insert(name);
  }
  Weights weights = {path.str(), {}};
  for (auto &[shard, names] : listed) {
    llvm::SmallString<128> at(folder);
    llvm::sys::path::append(at, shard);
    auto part = readHeader(at, host);
    if (!part)
      return std::nullopt;
    for (auto &[name, shape] : *part)
      if (!names.erase(name))
        return fail(error::WeightsIndex("`" + shownName(name) + "` is in `" +
                                        shard + "`, and not listed there"));
      else
        weights.shapes[name] = std::move(shape);
    if (!names.empty())
      return fail(error::WeightsIndex("`" + shownName(*names.begin()) +
                                      "` is not in `" + shownName(shard) +
                                      "`"));
  }
  return weights;
}

std::optional<Weights> netc::import::readWeights(StringRef folder,
                                                 const Host &host) {
  llvm::SmallString<128> one(folder), several(folder);
  llvm::sys::path::append(one, "model.safetensors");
  llvm::sys::path::append(several, "model.safetensors.index.json");
  if (fs::exists(one)) {
    auto read = readHeader(one, host);
    if (!read)
      return std::nullopt;
    return Weights{one.str().str(), {read->begin(), read->end()}};
  }
  return fs::exists(several) ? readIndex(folder, several, host) : Weights();
}
