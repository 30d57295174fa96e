// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Source.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"

#include <zlib.h>

using namespace netc;
using namespace netc::trace;

llvm::Expected<std::unique_ptr<Source>> Source::open(llvm::StringRef path,
                                                     uint64_t maxBytes) {
  if (llvm::sys::fs::is_directory(path))
    return fail(error::CannotRead(path, "it is a folder"));
  std::unique_ptr<Source> source(new Source);
  // zlib also reads files that are not compressed.
  source->file = gzopen(path.str().c_str(), "rb");
  if (!source->file)
    return fail(error::CannotRead(path, llvm::sys::StrError()));
  // Of a damaged file, zlib loses the data that is in its buffer: keep it
  // small.
  gzbuffer(source->file, 1 << 14);
  source->buffer.resize(1 << 18);
  source->maxBytes = maxBytes;
  source->more();
  if (gzdirect(source->file))
    source->plainPath = path.str();
  source->skipMark();
  return source;
}

std::unique_ptr<Source> Source::of(llvm::StringRef text) {
  std::unique_ptr<Source> source(new Source);
  source->buffer.assign(text.begin(), text.end());
  source->filled = text.size();
  source->maxBytes = text.size();
  source->skipMark();
  return source;
}

Source::~Source() {
  if (file)
    gzclose_r(file);
}

/// Reads more of the file into the buffer, after what is left there. False at
/// the end.
bool Source::more() {
  if (tooLong || !broken.empty() || !file)
    return false;
  std::copy(buffer.begin() + at, buffer.begin() + filled, buffer.begin());
  before += at;
  filled -= at;
  at = 0;
  int got = gzread(file, buffer.data() + filled, buffer.size() - filled);
  int status = Z_OK;
  gzerror(file, &status);
  if (got < 0 || status == Z_DATA_ERROR || status == Z_BUF_ERROR)
    broken = status == Z_BUF_ERROR ? "the packed data end here"
                                   : "these packed data are damaged";
  if (got <= 0)
    return false;
  if (before + filled + got > maxBytes) {
    tooLong = true;
    got = int(maxBytes - before - filled);
  }
  filled += got;
  return got > 0;
}

/// Programs on Windows begin UTF-8 with a byte order mark.
void Source::skipMark() {
  if (beginning().starts_with("\xef\xbb\xbf"))
    at = 3;
}

llvm::StringRef Source::beginning() { return buffered().take_front(1 << 16); }

llvm::StringRef Source::ahead(size_t size) {
  while (filled - at < size && more())
    ;
  return buffered().take_front(size);
}

bool Source::line(std::string &text) {
  constexpr size_t longest = 16 << 20;
  text.clear();
  if (peek() < 0)
    return false;
  while (peek() >= 0) {
    llvm::StringRef rest(buffer.data() + at, filled - at);
    llvm::StringRef part = rest.take_front(rest.find('\n'));
    text.append(
        part.data(),
        std::min(part.size(), longest - std::min(longest, text.size())));
    at += part.size();
    if (part.size() < rest.size()) {
      ++at;
      break;
    }
  }
  if (!text.empty() && text.back() == '\r')
    text.pop_back();
  return true;
}

bool Source::bytes(uint64_t size, std::string &to) {
  while (size && peek() >= 0) {
    size_t part = std::min<uint64_t>(size, filled - at);
    to.append(buffer.data() + at, part);
    at += part;
    size -= part;
  }
  return size == 0;
}

bool Source::skip(uint64_t size) {
  while (size && peek() >= 0) {
    size_t part = std::min<uint64_t>(size, filled - at);
    at += part;
    size -= part;
  }
  return size == 0;
}

llvm::Error netc::trace::cut(Trace &trace, uint64_t at, llvm::StringRef why) {
  if (trace.isEmpty())
    return fail(error::TraceBroken(at, why));
  trace.cutAt = at;
  trace.cutBy = why.str();
  return llvm::Error::success();
}

llvm::Error netc::trace::cutWhere(const Source &source, Trace &trace) {
  if (source.isTooLong())
    return fail(error::TraceTooLong(source.limit()));
  if (!source.problem().empty())
    return cut(trace, source.offset(), source.problem());
  return llvm::Error::success();
}
