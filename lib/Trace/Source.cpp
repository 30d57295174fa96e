// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Source.h"

#include "llvm/Support/Errno.h"

#include <zlib.h>

using namespace netc::trace;

llvm::Expected<std::unique_ptr<Source>> Source::open(llvm::StringRef path,
                                                     uint64_t maxBytes) {
  std::unique_ptr<Source> source(new Source);
  // zlib hands on what is not packed as it is.
  source->file = gzopen(path.str().c_str(), "rb");
  if (!source->file)
    return fail(error::CannotRead(path, llvm::sys::StrError()));
  // What zlib has unpacked into its buffer in front of damage is lost.
  gzbuffer(source->file, 1 << 14);
  source->buffer.resize(1 << 18);
  source->maxBytes = maxBytes;
  return source;
}

Source::~Source() {
  if (file)
    gzclose_r(file);
}

int Source::fill() {
  if (tooLong || !broken.empty())
    return -1;
  before += filled;
  at = filled = 0;
  int got = gzread(file, buffer.data(), buffer.size());
  int status = Z_OK;
  gzerror(file, &status);
  if (got < 0 || status == Z_DATA_ERROR || status == Z_BUF_ERROR)
    broken = status == Z_BUF_ERROR ? "the packed data end here"
                                   : "these packed data are damaged";
  if (got <= 0)
    return -1;
  if (before + got > maxBytes) {
    tooLong = true;
    got = int(maxBytes - before);
    if (got == 0)
      return -1;
  }
  filled = got;
  return uint8_t(buffer[0]);
}

llvm::StringRef Source::beginning() {
  if (before == 0 && filled == 0)
    fill();
  return llvm::StringRef(buffer.data(), filled).take_front(1 << 16);
}

bool Source::line(std::string &text) {
  constexpr size_t longest = 16 << 20;
  text.clear();
  int byte = next();
  if (byte < 0)
    return false;
  for (; byte >= 0 && byte != '\n'; byte = next())
    if (text.size() < longest)
      text += char(byte);
  if (!text.empty() && text.back() == '\r')
    text.pop_back();
  return true;
}
