// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DIAGNOSTICS_ERRORS_H
#define NETC_LIB_DIAGNOSTICS_ERRORS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <string>
#include <utility>

namespace netc {

/// An error and its text.
struct Message {
  llvm::StringRef id; ///< `unknown-name`; shown as `[unknown-name]`
  std::string text;
};

/// The errors of Errors.def: `error::UnknownName("net", "A", "")` is a Message.
namespace error {

template <unsigned holes> struct Text {
  const char *id;
  const char *format;

  template <typename... Args> Message operator()(Args &&...args) const {
    static_assert(sizeof...(Args) == holes, "each hole takes one argument");
    return {id, llvm::formatv(format, std::forward<Args>(args)...).str()};
  }
};

/// The number of arguments of a format: one more than the greatest `n` of a
/// hole `{n}`.
constexpr unsigned holesOf(const char *format) {
  unsigned holes = 0;
  for (const char *at = format; *at; ++at)
    if (*at == '{') {
      ++at;
      if (*at >= '0' && *at <= '9' && unsigned(*at - '0') >= holes)
        holes = *at - '0' + 1;
    }
  return holes;
}

#define ERROR(enumerator, id, text)                                            \
  constexpr Text<holesOf(text)> enumerator{id, text};
#include "lib/Diagnostics/Errors.def"

} // namespace error
} // namespace netc

#endif // NETC_LIB_DIAGNOSTICS_ERRORS_H
