// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_SOURCE_H
#define NETC_LIB_TRACE_SOURCE_H

#include "lib/Trace/Read.h"

#include <memory>

struct gzFile_s;

namespace netc::trace {

/// The text of a file, unpacked where it is packed by gzip, piece by piece.
class Source {
public:
  /// None, and an error, if the file cannot be opened.
  static llvm::Expected<std::unique_ptr<Source>> open(llvm::StringRef path,
                                                      uint64_t maxBytes);
  /// Of a text that is in memory, and not packed.
  static std::unique_ptr<Source> of(llvm::StringRef text);
  ~Source();

  /// The next byte, or -1 at the end, at what cannot be unpacked, and where
  /// there is more than `maxBytes`.
  int peek() { return at < filled ? uint8_t(buffer[at]) : fill(); }
  int next() {
    int byte = peek();
    at += byte >= 0;
    return byte;
  }
  /// A line without its end; false at the end of the text. What is longer than
  /// 16 MiB is cut.
  bool line(std::string &text);
  /// Appends up to `size` bytes; false if there are not as many.
  bool bytes(uint64_t size, std::string &to);
  /// Passes over `size` bytes; false if there are not as many.
  bool skip(uint64_t size);
  /// The beginning of the text, 64 KiB at most, which is read again later.
  llvm::StringRef beginning();

  /// The file, if it is there as it is read: not packed, nor in memory only.
  llvm::StringRef path() const { return plainPath; }
  uint64_t offset() const { return before + at; }
  bool isTooLong() const { return tooLong; }
  uint64_t limit() const { return maxBytes; }
  /// Why it ended before its end; empty if it did not.
  const std::string &problem() const { return broken; }

private:
  Source() = default;
  int fill();

  gzFile_s *file = nullptr;
  std::string plainPath;
  std::vector<char> buffer;
  size_t at = 0, filled = 0;
  uint64_t before = 0; ///< bytes in front of the buffer
  uint64_t maxBytes = 0;
  bool tooLong = false;
  std::string broken;
};

/// Says that a trace is broken at a byte. An error if it has nothing in front
/// of it; otherwise `trace.cutAt` has it.
llvm::Error cut(Trace &trace, uint64_t at, llvm::StringRef why);

/// The same where the source ended too early; no error where it did not. An
/// error where it is longer than it may be.
llvm::Error cutWhere(const Source &source, Trace &trace);

} // namespace netc::trace

#endif // NETC_LIB_TRACE_SOURCE_H
