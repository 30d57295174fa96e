// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Hardware/Precision.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <tuple>

using namespace netc;
using llvm::StringRef;

/// Whether tensors in memory have this format. Products in tf32 read f32
/// tensors, and the operands of 8-bit products are converted for them alone.
static bool isLow(NumberFormat format) {
  return format == NumberFormat::BF16 || format == NumberFormat::F16;
}

static bool isEightBitFloat(NumberFormat format) {
  return format == NumberFormat::F8E4M3 || format == NumberFormat::F8E5M2;
}

llvm::ArrayRef<EightBitRecipe> netc::allEightBitRecipes() {
  static const EightBitRecipe recipes[] = {
      {"DelayedScaling", NumberFormat::F8E5M2, 16},
      {"Float8CurrentScaling", NumberFormat::F8E5M2, 16},
      {"Float8BlockScaling", NumberFormat::F8E4M3, 16},
      {"MXFP8BlockScaling", NumberFormat::F8E4M3, 32}, // whole blocks
  };
  return recipes;
}

/// What `precision = format` means: f64 is the format of everything, and others
/// of products alone, beside f32.
static Precision of(NumberFormat format) {
  NumberFormat rest =
      format == NumberFormat::F64 ? NumberFormat::F64 : NumberFormat::F32;
  return {format, rest, rest, std::nullopt, rest, rest};
}

NumberFormat Precision::low() const {
  if (isLow(residual))
    return residual;
  if (gradientsIn8Bits())
    return NumberFormat::BF16;
  return isLow(products) ? products : NumberFormat::F32;
}

std::optional<NumberFormat> Precision::gradientsIn8Bits() const {
  if (!isEightBitFloat(products))
    return std::nullopt;
  return recipe ? recipe->gradients : products;
}

NumberFormat Precision::otherWeights() const {
  if (!isEightBitFloat(weights))
    return weights;
  NumberFormat widest = parameters();
  return traitsOf(residual).bits < traitsOf(widest).bits ? residual : widest;
}

bool Precision::isF64() const { return *this == of(NumberFormat::F64); }

std::optional<StringRef> Precision::conflict() const {
  auto isKept = [](NumberFormat format) {
    return format == NumberFormat::F32 || isLow(format);
  };
  if (isF64())
    return std::nullopt;
  if (products == NumberFormat::F64)
    return "`products` in f64 go with no other format; `precision = f64` has "
           "everything in f64";
  if (!isKept(residual))
    return "`residual` is f32, bf16 or f16";
  if (isLow(products) && isLow(residual) && products != residual)
    return "`products` and `residual` are of two 16-bit formats";
  if (isLow(residual) && !isLow(products) && !isEightBitFloat(products))
    return "with a `residual` of 16 bits, `products` are of the same format or "
           "of an 8-bit float";
  if (master &&
      (!isKept(*master) || traitsOf(*master).bits <= traitsOf(weights).bits))
    return "`master` is f32, bf16 or f16, and has more bits than `weights`";
  if (!isKept(weights) &&
      !(master && isEightBitFloat(weights) && weights == products))
    return "`weights` are f32, bf16 or f16, or beside a `master` also the "
           "8-bit float of `products`";
  if (!isKept(gradients))
    return "`gradients` are f32, bf16 or f16";
  if (!isKept(states) && states != NumberFormat::I8)
    return "`states` are f32, bf16, f16 or i8";
  return std::nullopt;
}

/// The preset with this name; none if there is no such preset of the format.
static std::optional<Precision> preset(StringRef name, NumberFormat format) {
  constexpr NumberFormat f32 = NumberFormat::F32;
  if (name == "mixed" &&
      (format == f32 || isLow(format) || isEightBitFloat(format)))
    return of(format);
  if (!isLow(format))
    return std::nullopt;
  // Narayanan et al. 2021 (arXiv:2104.04473): weights are low, but the updated
  // copies and the sums of gradients are f32.
  if (name == "megatron")
    return Precision{format, format, format, f32, f32, f32};
  if (name == "pure")
    return Precision{format, format, format, std::nullopt, format, format};
  return std::nullopt;
}

static std::optional<Precision> fp8(StringRef name) {
  for (const EightBitRecipe &recipe : allEightBitRecipes())
    if (name == recipe.name) {
      Precision precision = *preset("mixed", NumberFormat::F8E4M3);
      precision.recipe = &recipe;
      return precision;
    }
  return std::nullopt;
}

namespace {
struct PartOfPrecision {
  StringRef name;
  NumberFormat &(*of)(Precision &);
};
} // namespace

static const PartOfPrecision kParts[] = {
    {"products", [](Precision &p) -> NumberFormat & { return p.products; }},
    {"residual", [](Precision &p) -> NumberFormat & { return p.residual; }},
    {"weights", [](Precision &p) -> NumberFormat & { return p.weights; }},
    {"master",
     [](Precision &p) -> NumberFormat & {
       if (!p.master)
         p.master = NumberFormat::F32;
       return *p.master;
     }},
    {"gradients", [](Precision &p) -> NumberFormat & { return p.gradients; }},
    {"states", [](Precision &p) -> NumberFormat & { return p.states; }},
};

/// Whether inputs may have this type, but no value that is computed.
static bool isTypeOfInputs(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases("i64", "i32", "i16", "bool", true)
      .Cases("u64", "u32", "u16", "u8", true)
      .Default(false);
}

static std::string quoted(StringRef text) { return ("`" + text + "`").str(); }

static std::string namesOfParts() {
  std::string names;
  for (const PartOfPrecision &part : kParts)
    names += (names.empty()                   ? ""
              : &part == std::end(kParts) - 1 ? " and "
                                              : ", ") +
             quoted(part.name);
  return names;
}

/// Reads `part = format, ..` into `precision`. Returns false, and says `why`,
/// for an unknown part or format, and for a part that occurs twice.
static bool readParts(StringRef text, Precision &precision, std::string &why) {
  llvm::SmallVector<StringRef> parts;
  llvm::SmallDenseSet<StringRef> seen;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  return llvm::all_of(parts, [&](StringRef part) {
    auto [name, value] = part.split('=');
    auto known = llvm::find_if(kParts, [&, name = name](const auto &each) {
      return each.name == name.trim();
    });
    std::optional<NumberFormat> format = parseNumberFormat(value.trim());
    if (known == std::end(kParts))
      why = "there is no part " + quoted(name.trim()) + "; the parts are " +
            namesOfParts();
    else if (!format)
      why = quoted(value.trim()) +
            (isTypeOfInputs(value.trim())
                 ? " is a type of inputs; a number format belongs here, as in "
                 : " is no number format, as in ") +
            quoted((known->name + " = bf16").str());
    else if (!seen.insert(known->name).second)
      why = quoted(known->name) + " occurs twice in it";
    else
      known->of(precision) = *format;
    return why.empty();
  });
}

/// What `precision = format` does, after these words.
static StringRef whatChanges(NumberFormat format) {
  if (format == NumberFormat::F32 || format == NumberFormat::F64)
    return " has everything in it";
  return isEightBitFloat(format)
             ? " has linear layers in it, and all else as `bf16` has it"
             : " changes products alone";
}

/// Reads a preset or a recipe with the parts that differ.
static std::optional<Precision> readPreset(StringRef text, std::string &why) {
  auto [name, settings] = text.split('(');
  auto [format, parts] = settings.split(',');
  name = name.trim();
  std::optional<NumberFormat> known = parseNumberFormat(format.trim());
  std::optional<Precision> found = name == "fp8" ? fp8(format.trim())
                                   : known       ? preset(name, *known)
                                                 : std::nullopt;
  if (!found) {
    StringRef formats = llvm::StringSwitch<StringRef>(known ? name : "")
                            .Case("mixed", "f32, bf16, f16 or an 8-bit float")
                            .Cases("megatron", "pure", "bf16 or f16")
                            .Default("");
    if (!formats.empty())
      why = (quoted(name) + " takes " + formats + "; " +
             quoted("precision = " + traitsOf(*known).name.str()) +
             whatChanges(*known))
                .str();
    return std::nullopt;
  }
  NumberFormat products = found->products;
  if (!readParts(parts, *found, why))
    return std::nullopt;
  // The residual of `megatron` and `pure` has the format in the parentheses.
  if (found->products == products || isLow(found->residual))
    return found;
  why = "the format in the parentheses is that of `products`";
  return std::nullopt;
}

static std::optional<Precision> read(StringRef text, std::string &why) {
  if (std::optional<NumberFormat> format = parseNumberFormat(text))
    return of(*format);
  Precision precision;
  if (text.starts_with("{") && text.drop_front().trim() == "}") {
    why = "it takes parts, as `{ products = bf16, states = bf16 }`; they are " +
          namesOfParts();
    return std::nullopt;
  }
  if (text.consume_front("{"))
    return text.consume_back("}") && readParts(text, precision, why)
               ? std::optional(precision)
               : std::nullopt;
  return text.consume_back(")") ? readPreset(text, why) : std::nullopt;
}

std::optional<Precision> netc::parsePrecision(StringRef text,
                                              std::string *why) {
  std::string reason;
  std::optional<Precision> precision = read(text.trim(), reason);
  if (!precision && why)
    *why = !reason.empty()
               ? reason
               : "write a number format such as `bf16`, `mixed(f16)`, "
                 "`megatron(bf16)`, `pure(bf16)` or `fp8(DelayedScaling)`, or "
                 "what differs from one: `mixed(bf16, states = bf16)`; the "
                 "parts are " +
                     namesOfParts();
  return precision;
}

bool Precision::operator==(const Precision &other) const {
  auto tie = [](const Precision &p) {
    return std::tie(p.products, p.residual, p.weights, p.master, p.gradients,
                    p.states, p.recipe);
  };
  return tie(*this) == tie(other);
}

static std::string nameOf(NumberFormat format) {
  return traitsOf(format).name.str();
}

/// None for a master that `precision` does not have.
static std::optional<NumberFormat> formatOf(const PartOfPrecision &part,
                                            Precision precision) {
  if (part.name == "master" && !precision.master)
    return std::nullopt;
  return part.of(precision);
}

/// The parts of `precision` that differ from `base`; all of them without one.
/// None if `base` has a master and `precision` does not: no text removes it.
static std::optional<std::vector<std::string>>
writtenParts(const Precision &precision, const std::optional<Precision> &base) {
  if (base && base->master && !precision.master)
    return std::nullopt;
  std::vector<std::string> parts;
  for (const PartOfPrecision &part : kParts) {
    std::optional<NumberFormat> format = formatOf(part, precision);
    if (format && !(base && formatOf(part, *base) == format))
      parts.push_back(part.name.str() + " = " + nameOf(*format));
  }
  return parts;
}

std::string Precision::str() const {
  std::string format = nameOf(products);
  if (!recipe && !isLow(products) && of(products) == *this)
    return format;
  // Write the preset from which the fewest parts differ.
  std::string written;
  std::optional<size_t> fewest;
  auto consider = [&](StringRef name, StringRef of,
                      const std::optional<Precision> &base) {
    auto parts = base ? writtenParts(*this, base) : std::nullopt;
    if (!parts || (fewest && parts->size() >= *fewest))
      return;
    fewest = parts->size();
    parts->insert(parts->begin(), of.str());
    written = (name + "(" + llvm::join(*parts, ", ") + ")").str();
  };
  if (recipe)
    consider("fp8", recipe->name, fp8(recipe->name));
  else
    for (StringRef name : {"mixed", "megatron", "pure"})
      consider(name, format, preset(name, products));
  if (fewest)
    return written;
  return "{ " + llvm::join(*writtenParts(*this, std::nullopt), ", ") + " }";
}
