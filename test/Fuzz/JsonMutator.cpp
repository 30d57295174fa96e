// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lets libFuzzer edit JSON by values. Most edits of bytes are errors of syntax.

#include "lib/Import/Foreign.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

using Json = nlohmann::ordered_json;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

namespace {

/// One edit of a document.
class Edit {
public:
  Edit(Json &root, unsigned seed) : random(seed) { collect(root); }

  void apply() {
    Json &value = any();
    switch (below(5)) {
    case 0: // another value of the document
      value = Json(any());
      break;
    case 1:
      if (value.is_structured() && !value.empty())
        value.erase(std::next(value.begin(), below(value.size())));
      break;
    case 2: // an element twice
      if (value.is_array() && !value.empty())
        value.push_back(Json(value[below(value.size())]));
      break;
    case 3: {
      static const Json others[] = {0,
                                    1,
                                    2,
                                    -1,
                                    1.5,
                                    1e300,
                                    INT64_MAX,
                                    INT64_MIN,
                                    UINT64_MAX,
                                    true,
                                    nullptr,
                                    "",
                                    "N",
                                    Json::array(),
                                    Json::object()};
      value = others[below(std::size(others))];
      break;
    }
    case 4: // a size near it, or an op
      if (value.is_number_integer())
        value = value.get<int64_t>() / 2 + int64_t(below(3));
      else if (value.is_string())
        value = ops[below(ops.size())].str();
    }
  }

private:
  size_t below(size_t bound) { return random() % bound; }
  Json &any() { return *values[below(values.size())]; }
  void collect(Json &value) {
    values.push_back(&value);
    if (value.is_structured())
      for (Json &inner : value)
        collect(inner);
  }

  const llvm::ArrayRef<llvm::StringRef> ops = netc::import::foreignNames();
  std::vector<Json *> values;
  std::minstd_rand random;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned seed) {
  Json root = Json::parse(data, data + size, nullptr,
                          /*allow_exceptions=*/false);
  // Few edits of bytes reach more than the parser.
  if (root.is_discarded() || seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, most);
  for (unsigned edits = 0; edits <= seed / 8 % 3; ++edits)
    Edit(root, seed + edits).apply();
  std::string text = root.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > most)
    return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
