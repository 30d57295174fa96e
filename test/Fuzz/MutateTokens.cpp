// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// MutateTokens EVERY FILES..: deletes, inserts, swaps or doubles one token of a
// file, does every EVERYth of these edits, and prints where the first error is
// reported if that is far off. Fails if too few errors are near the edit.

#include "grammar/NetLexer.h"
#include "test/Fuzz/ReadSpecification.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <chrono>

using namespace netc;

namespace {

struct Place {
  size_t begin, end; ///< bytes
  unsigned line;
};

/// All tokens of an ASCII text but line breaks.
std::vector<Place> tokensIn(const std::string &text) {
  antlr4::ANTLRInputStream input(text);
  NetLexer lexer(&input);
  lexer.removeErrorListeners();
  std::vector<Place> places;
  for (const auto &token : lexer.getAllTokens())
    if (token->getChannel() == antlr4::Token::DEFAULT_CHANNEL &&
        !llvm::StringRef(token->getText()).trim().empty())
      places.push_back({token->getStartIndex(), token->getStopIndex() + 1,
                        unsigned(token->getLine())});
  return places;
}

/// How many edits were made, and where their first errors were reported.
struct Tally {
  unsigned cases = 0, right = 0, counted = 0, onLine = 0, near = 0;
  double longest = 0;
  std::string slowest;

  void add(const std::string &text, llvm::StringRef path, unsigned line,
           const std::string &what) {
    auto start = std::chrono::steady_clock::now();
    std::vector<Fault> faults = readSpecification(text, path);
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    ++cases;
    if (took.count() > longest) {
      longest = took.count();
      slowest = path.str() + ": " + what;
    }
    if (faults.empty()) {
      ++right;
      return;
    }
    // The edited text may be valid except that an `expect` has another count.
    if (llvm::StringRef(faults[0].text).contains(", it is ")) {
      ++counted;
      return;
    }
    int apart = std::abs(int(faults[0].line) - int(line));
    onLine += apart == 0;
    near += apart <= 2;
    if (apart > 2)
      llvm::outs() << path << ":" << line << ": " << what
                   << ": the first error is in " << faults[0].line << ": "
                   << faults[0].text << '\n';
  }
};

} // namespace

int main(int argc, char **argv) {
  llvm::EnablePrettyStackTrace();
  size_t every = 1, next = 0;
  llvm::StringRef(argv[1]).getAsInteger(10, every);
  Tally tally;
  for (int i = 2; i < argc; ++i) {
    auto file = llvm::MemoryBuffer::getFile(argv[i]);
    std::string text = file.get()->getBuffer().str();
    for (char &c : text)
      if (!llvm::isASCII(c))
        c = '?';
    std::vector<Place> tokens = tokensIn(text);
    for (size_t at = 0; at + 1 < tokens.size(); ++at) {
      auto [begin, end, line] = tokens[at];
      Place after = tokens[at + 1];
      const Place &other = tokens[(at * 7919 + 13) % tokens.size()];
      std::string own = text.substr(begin, end - begin);
      std::string front = text.substr(0, begin), back = text.substr(end);
      std::pair<const char *, std::string> edits[] = {
          {"deleted", front + back},
          {"inserted", front +
                           text.substr(other.begin, other.end - other.begin) +
                           " " + own + back},
          {"swapped", front +
                          text.substr(after.begin, after.end - after.begin) +
                          text.substr(end, after.begin - end) + own +
                          text.substr(after.end)},
          {"doubled", front + own + " " + own + back}};
      for (auto &[edit, edited] : edits)
        if (next++ % every == 0)
          tally.add(edited, argv[i], line,
                    std::string(edit) + " `" + own + "`");
    }
  }
  unsigned wrong = tally.cases - tally.right - tally.counted;
  auto share = [&](unsigned part) { return 100.0 * part / wrong; };
  llvm::outs() << llvm::formatv(
      "{0} files: {1} are right, {2} have other counts; of {3} with errors, "
      "the first is on the line in {4:f1} %, within two lines in {5:f1} %\n",
      tally.cases, tally.right, tally.counted, wrong, share(tally.onLine),
      share(tally.near));
  llvm::errs() << llvm::formatv("{0:f2} s at most, of {1}\n", tally.longest,
                                tally.slowest);
  return share(tally.onLine) < 94 || share(tally.near) < 99;
}
