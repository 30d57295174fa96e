// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Options.h"
#include "lib/Runtime/Failure.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <getopt.h>
#include <limits>

using namespace netc::runtime;

const char *const
    Options::usage(R"(  --steps=N             train for exactly N steps
  --seconds=S           or measure until the median step time is known within 2 %,
                        for S seconds at most (default 10)
  --warmup=N            leave the first N steps out of the times (default: until they are stable)
  --threads=N           of a program for the processor, at most 1024 (default: OMP_NUM_THREADS,
                        else one a core)
  --seed=N              of the initial parameters, synthetic data and dropout (default 0)
  --data=FILE,...       npy files with the inputs in their order, or NAME=FILE; one batch after
                        another along the first axis (default: synthetic); floating-point numbers
                        as f2, f4, f8, bf16 in u2, or whole ones as i1, i2, u1; integers as i1,
                        i2, i4, i8, u1, u2
  --batches=N           synthetic batches to take turns (default 4)
  --weights=FOLDER,...  npy files with the initial parameters, called NAME.npy, or NAME=FILE
  --dump=FOLDER         write parameters and state after the last step, as NAME.npy
  --results=FOLDER      write what the last step returns, as NAME.npy: a loss, or what an inference computes
  --trace=FILE          write when each op of the last step ran, as torch.profiler writes it; Perfetto
                        shows it, `netc --audit` compares it with the specification
  --peaks[=FILE]        measure the peaks of this machine, or of its GPU, too; or take those of FILE,
                        which a program wrote by --json, and measure again if steps exceed them
  --caches=NxBYTES,...  and those of a processor's caches: how many there are of a level, from the
                        nearest on, and how large each of them is
  --driver=FILE         the library that is the CUDA driver, of a program for a GPU (default:
                        libcuda.so.1)
  --simulate            run such a program on netc's simulator, without a GPU: nothing is measured
  --json[=FILE]         write all figures as JSON
  --quiet               no progress, no table
  --help
)");

static Failure wrong(const std::string &what) {
  return Failure(2, what + "; `--help` lists the options");
}

static const int64_t anything = std::numeric_limits<int64_t>::max();

/// Parses an integer from `low` to `high`.
static int64_t integer(const char *option, const char *text, int64_t low,
                       int64_t high) {
  char *end;
  errno = 0;
  long long value = std::strtoll(text, &end, 10);
  if (errno || end == text || *end || value < low || value > high)
    throw wrong("`--" + std::string(option) + "` takes an integer from " +
                std::to_string(low) +
                (high == anything ? " on" : " to " + std::to_string(high)) +
                ", not `" + text + "`");
  return value;
}

/// Splits at commas; `what` names the parts in errors.
static std::vector<std::string>
split(const char *option, const std::string &text, const char *what) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find(',', start), text.size());
    if (end == start)
      throw wrong("`--" + std::string(option) + "` takes " + what + ", not `" +
                  text + "`");
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

/// Parses a cache such as `2x32768`.
static Cache cache(const std::string &text) {
  size_t cross = std::min(text.find('x'), text.size());
  auto number = [&](size_t begin, size_t end, int64_t high) {
    int64_t value = 0;
    auto [rest, error] =
        std::from_chars(text.data() + begin, text.data() + end, value);
    return error == std::errc() && rest == text.data() + end && value <= high
               ? value
               : 0;
  };
  int64_t count = number(0, cross, 1 << 20);
  int64_t bytes =
      number(std::min(cross + 1, text.size()), text.size(), int64_t(1) << 40);
  if (count < 1 || bytes < 1)
    throw wrong("`--caches` takes how many and how large they are, as "
                "`2x32768`, not `" +
                text + "`");
  return {int(count), bytes};
}

static double seconds(const char *text) {
  char *end;
  double value = std::strtod(text, &end);
  if (end == text || *end || !(value > 0) || !std::isfinite(value))
    throw wrong("`--seconds` takes a positive number, not `" +
                std::string(text) + "`");
  return value;
}

template <std::vector<std::string> Options::*files>
static void addFiles(Options &options, const char *name, const char *value) {
  for (std::string &file : split(name, value, "files"))
    (options.*files).push_back(std::move(file));
}

template <std::string Options::*text>
static void setText(Options &options, const char *, const char *value) {
  options.*text = value;
}

template <bool Options::*flag>
static void setFlag(Options &options, const char *, const char *) {
  options.*flag = true;
}

namespace {
/// An option, and what it does with its value, which is null if it has none.
struct Known {
  const char *name;
  int argument; ///< as getopt_long calls it
  void (*take)(Options &options, const char *name, const char *value);
};
} // namespace

static const Known knownOptions[] = {
    {"steps", required_argument,
     [](Options &options, const char *name, const char *value) {
       options.steps = integer(name, value, 1, anything);
     }},
    {"seconds", required_argument,
     [](Options &options, const char *, const char *value) {
       options.seconds = seconds(value);
     }},
    {"warmup", required_argument,
     [](Options &options, const char *name, const char *value) {
       options.warmup = integer(name, value, 0, anything);
     }},
    {"threads", required_argument,
     [](Options &options, const char *name, const char *value) {
       options.threads = int(integer(name, value, 1, Options::maxThreads));
     }},
    {"seed", required_argument,
     [](Options &options, const char *name, const char *value) {
       options.seed = uint64_t(integer(name, value, 0, anything));
     }},
    {"data", required_argument, addFiles<&Options::data>},
    {"batches", required_argument,
     [](Options &options, const char *name, const char *value) {
       options.batches = integer(name, value, 1, 1 << 20);
     }},
    {"weights", required_argument, addFiles<&Options::weights>},
    {"dump", required_argument, setText<&Options::dump>},
    {"results", required_argument, setText<&Options::results>},
    {"trace", required_argument, setText<&Options::trace>},
    {"peaks", optional_argument,
     [](Options &options, const char *, const char *value) {
       options.peaks = true;
       options.peaksFile = value ? value : "";
     }},
    {"caches", required_argument,
     [](Options &options, const char *name, const char *value) {
       for (const std::string &text : split(name, value, "caches"))
         options.caches.push_back(cache(text));
     }},
    {"driver", required_argument, setText<&Options::driver>},
    {"simulate", no_argument, setFlag<&Options::simulate>},
    {"json", optional_argument,
     [](Options &options, const char *, const char *value) {
       options.json = true;
       options.jsonFile = value ? value : "";
     }},
    {"quiet", no_argument, setFlag<&Options::quiet>},
    {"help", no_argument, setFlag<&Options::help>},
};

/// The error for an argument that getopt_long does not accept.
static Failure unknown(const std::string &seen) {
  // An unexpected value is reported as the option.
  std::string name = seen.substr(0, seen.find('='));
  bool isKnown = std::any_of(std::begin(knownOptions), std::end(knownOptions),
                             [&](const Known &known) {
                               return name == std::string("--") + known.name;
                             });
  return wrong(isKnown ? "`" + name + "` takes no value"
                       : "there is no option `" + seen + "`");
}

/// Throws if options exclude each other.
static void check(const Options &options, bool hasSeconds) {
  if (options.steps && hasSeconds)
    throw wrong("`--steps` and `--seconds` exclude each other");
  if (options.simulate && !options.driver.empty())
    throw wrong("`--driver` and `--simulate` exclude each other");
  if (!options.caches.empty() && !options.peaks)
    throw wrong("`--caches` is for `--peaks`");
  if (options.steps && options.warmup && *options.warmup >= *options.steps)
    throw wrong("`--warmup=" + std::to_string(*options.warmup) +
                "` leaves none of `--steps=" + std::to_string(*options.steps) +
                "` to be measured");
}

Options Options::parse(int argc, char **argv) {
  std::vector<option> table;
  for (const Known &known : knownOptions)
    table.push_back({known.name, known.argument, nullptr, 0});
  table.push_back({nullptr, 0, nullptr, 0});
  Options options;
  bool hasSeconds = false;
  optind = 0; // restart
  opterr = 0;
  int found, place = -1;
  while ((found = getopt_long(argc, argv, ":", table.data(), &place)) != -1) {
    if (found == ':')
      throw wrong("`" + std::string(argv[optind - 1]) + "` lacks its value");
    if (found != 0)
      throw unknown(argv[optind - 1]);
    const Known &known = knownOptions[place];
    if (optarg && !*optarg)
      throw wrong("`--" + std::string(known.name) + "` lacks its value");
    known.take(options, known.name, optarg);
    hasSeconds |= known.name == std::string("seconds");
  }
  if (optind < argc)
    throw wrong("only options are taken, not `" + std::string(argv[optind]) +
                "`");
  check(options, hasSeconds);
  return options;
}
