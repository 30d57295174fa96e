// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_SOURCE_H
#define NETC_LIB_TRACE_SOURCE_H

#include "lib/Trace/Read.h"

#include <memory>

namespace netc::trace {

/// The text of a file, read in pieces, decompressed if it is gzip, and without
/// a byte order mark of UTF-8.
class Source {
public:
  /// Fails if the file cannot be opened, or is a folder.
  static llvm::Expected<std::unique_ptr<Source>> open(llvm::StringRef path,
                                                      uint64_t maxBytes);
  /// A text in memory, which is not compressed.
  static std::unique_ptr<Source> of(llvm::StringRef text);
  ~Source();

  /// The next byte, without consuming it. -1 at the end, at damage, and after
  /// `maxBytes`.
  int peek() { return at < filled ? uint8_t(buffer[at]) : fill(); }
  /// Like peek(), but consumes the byte.
  int next() {
    int byte = peek();
    at += byte >= 0;
    return byte;
  }
  /// The next `size` bytes, or all that remain, without consuming them. At most
  /// the size of the buffer.
  llvm::StringRef ahead(size_t size);
  /// The bytes in the buffer, without consuming them. At least one if peek()
  /// found one.
  llvm::StringRef buffered() const {
    return llvm::StringRef(buffer.data() + at, filled - at);
  }
  /// Reads a line without its end. Drops what exceeds 16 MiB. False at the end
  /// of the text.
  bool line(std::string &text);
  /// Appends `size` bytes to `to`. If fewer remain, appends those and returns
  /// false.
  bool bytes(uint64_t size, std::string &to);
  /// Skips `size` bytes; false if there are fewer.
  bool skip(uint64_t size);
  /// The beginning of the text, at most 64 KiB, without consuming it.
  llvm::StringRef beginning();

  /// The path of the file; empty if it is compressed or in memory.
  llvm::StringRef path() const { return plainPath; }
  /// The position of the next byte in the decompressed text.
  uint64_t offset() const { return before + at; }
  bool isTooLong() const { return tooLong; }
  uint64_t limit() const { return maxBytes; }
  /// Why the text ended early; empty if it did not.
  const std::string &problem() const { return broken; }
  /// Ends the text in front of what a reader cannot use.
  void end(llvm::StringRef why) {
    if (broken.empty())
      broken = why.str();
  }

private:
  Source() = default;
  int fill() { return more() ? uint8_t(buffer[at]) : -1; }
  bool more();
  void skipMark();

  /// Reads a file that may be gzip.
  class File;
  std::unique_ptr<File> file;
  std::string plainPath;
  std::vector<char> buffer;
  size_t at = 0, filled = 0;
  uint64_t before = 0; ///< bytes that precede the buffer
  uint64_t maxBytes = 0;
  bool tooLong = false;
  std::string broken;
};

/// Reports damage at byte `at`: an error if `trace` is empty; else sets its
/// `cutAt` and `cutBy`.
llvm::Error cut(Trace &trace, uint64_t at, llvm::StringRef why);

/// Reports where the source ended early, if it did. A source beyond its limit
/// is an error.
llvm::Error cutWhere(const Source &source, Trace &trace);

} // namespace netc::trace

#endif // NETC_LIB_TRACE_SOURCE_H
