// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Source.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"

#include <array>
#include <cstdio>

#include <zlib.h>

using namespace netc;
using namespace netc::trace;

/// gzopen() of zlib would do, but it is silent about what follows gzip's data.
class Source::File {
public:
  explicit File(llvm::StringRef path)
      : file(std::fopen(path.str().c_str(), "rb")) {
    if (!file)
      return;
    fill();
    isPacked = input.starts_with("\x1f\x8b");
    // 16 stands for gzip.
    if (isPacked && inflateInit2(&stream, MAX_WBITS + 16) != Z_OK)
      llvm::report_bad_alloc_error("zlib");
  }
  ~File() {
    if (isPacked)
      inflateEnd(&stream);
    if (file)
      std::fclose(file);
  }
  File(const File &) = delete;

  bool isOpen() const { return file; }
  bool isGzip() const { return isPacked; }

  /// Reads up to `size` bytes. Returns their number: 0 at the end, or at
  /// damage, for which it sets `broken`.
  size_t read(char *to, size_t size, std::string &broken) {
    if (!isPacked) {
      if (input.empty())
        return std::fread(to, 1, size, file);
      size = std::min(size, input.size());
      std::copy_n(input.begin(), size, to);
      input = input.drop_front(size);
      return size;
    }
    stream.next_out = reinterpret_cast<Bytef *>(to);
    stream.avail_out = size;
    while (stream.avail_out == size) {
      if (input.empty() && !fill()) {
        if (!isBetween)
          broken = "the packed data end here";
        return 0;
      }
      if (isBetween && !begins(broken))
        return 0;
      stream.next_in =
          reinterpret_cast<Bytef *>(const_cast<char *>(input.data()));
      stream.avail_in = input.size();
      int status = inflate(&stream, Z_NO_FLUSH);
      input = input.take_back(stream.avail_in);
      isBetween = status == Z_STREAM_END;
      if (isBetween)
        inflateReset(&stream);
      else if (status != Z_OK && status != Z_BUF_ERROR) {
        broken = "these packed data are damaged";
        break;
      }
    }
    return size - stream.avail_out;
  }

private:
  bool fill() {
    input = llvm::StringRef(bytes.data(),
                            std::fread(bytes.data(), 1, bytes.size(), file));
    return !input.empty();
  }

  /// Whether more gzip follows behind the end of one. Zeros only fill a block.
  bool begins(std::string &broken) {
    while (input.ltrim('\0').empty())
      if (!fill())
        return false;
    input = input.ltrim('\0');
    isBetween = input.front() != '\x1f';
    if (isBetween)
      broken = "what follows the packed data here is not gzip";
    return !isBetween;
  }

  std::FILE *file;
  std::array<char, 1 << 14> bytes;
  llvm::StringRef input; ///< of `bytes`, those that are not used yet
  z_stream stream = {};
  bool isPacked = false, isBetween = false;
};

llvm::Expected<std::unique_ptr<Source>> Source::open(llvm::StringRef path,
                                                     uint64_t maxBytes) {
  namespace fs = llvm::sys::fs;
  if (fs::is_directory(path))
    return fail(error::CannotRead(path, "it is a folder"));
  // A pipe may block, and a device may never end.
  if (fs::exists(path) && !fs::is_regular_file(path))
    return fail(error::CannotRead(path, "it is not a regular file"));
  std::unique_ptr<Source> source(new Source);
  source->file = std::make_unique<File>(path);
  if (!source->file->isOpen())
    return fail(error::CannotRead(path, llvm::sys::StrError()));
  source->buffer.resize(1 << 18);
  source->maxBytes = maxBytes;
  source->more();
  if (!source->file->isGzip())
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

Source::~Source() = default;

/// Reads more of the file into the buffer, after what is left there. False at
/// the end.
bool Source::more() {
  if (tooLong || !broken.empty() || !file)
    return false;
  std::copy(buffer.begin() + at, buffer.begin() + filled, buffer.begin());
  before += at;
  filled -= at;
  at = 0;
  size_t got =
      file->read(buffer.data() + filled, buffer.size() - filled, broken);
  if (!got)
    return false;
  if (before + filled + got > maxBytes) {
    tooLong = true;
    got = maxBytes - before - filled;
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
