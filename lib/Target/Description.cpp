// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Description.h"

using namespace netc;
using namespace mlir;
namespace json = llvm::json;

static std::string nameOf(Type element) {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  return name;
}

/// The attribute as JSON; only what lowering puts there occurs.
static json::Value toJson(Attribute attr) {
  if (auto text = dyn_cast<StringAttr>(attr))
    return text.str();
  if (auto list = dyn_cast<DenseI64ArrayAttr>(attr))
    return json::Array(list.asArrayRef());
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  return cast<IntegerAttr>(attr).getInt();
}

static json::Object toJson(DictionaryAttr row) {
  json::Object object;
  for (NamedAttribute field : row) {
    auto type = dyn_cast<TypeAttr>(field.getValue());
    if (!type) {
      object[field.getName().str()] = toJson(field.getValue());
      continue;
    }
    auto tensor = cast<ShapedType>(type.getValue());
    object["element"] = ::nameOf(tensor.getElementType());
    json::Array shape;
    for (int64_t size : tensor.getShape())
      shape.push_back(size);
    object["shape"] = std::move(shape);
  }
  return object;
}

std::string netc::describe(ModuleOp module, json::Object base) {
  for (auto &[name, value] :
       toJson(module->getAttrOfType<DictionaryAttr>("net.step")))
    base[name] = std::move(value);
  for (StringRef figure : {"arena", "buffers"})
    base[figure] = toJson(module->getAttr(("net." + figure).str()));
  if (Attribute stack = module->getAttr("net.stack"))
    base["stack"] = toJson(stack);
  for (StringRef list : {"slots", "ops"}) {
    json::Array rows;
    for (auto row : module->getAttrOfType<ArrayAttr>(("net." + list).str())
                        .getAsRange<DictionaryAttr>())
      rows.push_back(toJson(row));
    base[list] = std::move(rows);
  }
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(base));
  return text;
}
