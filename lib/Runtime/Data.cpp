// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Data.h"
#include "lib/Runtime/Arena.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/Initialize.h"
#include "lib/Runtime/OutputFile.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

using namespace netc::program;
using namespace netc::runtime;

/// The most bytes of all synthetic batches, if there are several.
static const int64_t mostBytes = int64_t(1) << 30;

/// If `text` is NAME=FILE and a slot has that name, returns the slot and
/// shortens `text` to FILE.
static const Slot *named(const std::vector<const Slot *> &slots,
                         std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos)
    return nullptr;
  for (const Slot *slot : slots)
    if (text.compare(0, equals, slot->name) == 0) {
      text.erase(0, equals + 1);
      return slot;
    }
  return nullptr;
}

/// The name in NAME=FILE; empty if the whole text is a file name.
static std::string nameIn(const std::string &text) {
  size_t equals = text.find('=');
  bool isFile = equals == std::string::npos || !access(text.c_str(), F_OK);
  return isFile ? "" : text.substr(0, equals);
}

static std::string list(const std::vector<const Slot *> &slots) {
  std::string names;
  for (const Slot *slot : slots)
    names += (names.empty() ? "`" : ", `") + slot->name + "`";
  return names.empty() ? "none" : names;
}

static std::vector<const Slot *> inputsOf(const Program &program) {
  std::vector<const Slot *> slots;
  for (const Slot &slot : program.slots)
    if (slot.role == Role::Input)
      slots.push_back(&slot);
  return slots;
}

/// The files of the options, by slot.
static std::map<const Slot *, std::string>
filesOf(const std::vector<const Slot *> &slots, const Options &options) {
  std::map<const Slot *, std::string> files;
  size_t next = 0;
  for (std::string text : options.data) {
    const Slot *slot = named(slots, text);
    if (!slot) {
      if (std::string name = nameIn(text); !name.empty())
        throw Failure(1, "there is no input `" + name + "`; the inputs are " +
                             list(slots));
      if (next == slots.size())
        throw Failure(1, "there is no input for `" + text +
                             "`; the inputs are " + list(slots));
      slot = slots[next++];
    }
    if (!files.emplace(slot, text).second)
      throw Failure(1, "`" + files[slot] + "` and `" + text +
                           "` are both for the input `" + slot->name + "`");
  }
  return files;
}

/// The number of synthetic batches.
static int64_t batchesOf(const std::vector<const Slot *> &slots,
                         const Options &options) {
  int64_t bytes = 0;
  for (const Slot *slot : slots)
    bytes += slot->bytes();
  return std::min(
      options.batches,
      std::max(mostBytes / std::max(bytes, int64_t(1)), int64_t(1)));
}

int64_t netc::runtime::syntheticBytes(const Program &program,
                                      const Options &options) {
  std::vector<const Slot *> slots = inputsOf(program);
  std::map<const Slot *, std::string> files = filesOf(slots, options);
  int64_t bytes = 0;
  for (const Slot *slot : slots)
    if (!files.count(slot))
      bytes += slot->bytes();
  return bytes * batchesOf(slots, options);
}

Data::Data(const Program &program, const Options &options) {
  if (std::optional<LackOfMemory> lack =
          lackOfMemory(program.arena, syntheticBytes(program, options)))
    throw *lack;
  std::vector<const Slot *> slots = inputsOf(program);
  std::map<const Slot *, std::string> files = filesOf(slots, options);
  const int64_t batches = batchesOf(slots, options);
  const Source *firstFile = nullptr;
  sources.reserve(slots.size());
  for (const Slot *slot : slots) {
    sources.push_back({slot, std::nullopt, {}, batches});
    Source &source = sources.back();
    auto file = files.find(slot);
    if (file == files.end()) {
      for (int64_t batch = 0; batch < batches; ++batch) {
        source.batches.emplace_back(new char[size_t(slot->bytes())]);
        synthesize(*slot, options.seed, batch, source.batches.back().get());
      }
      continue;
    }
    source.file.emplace(file->second);
    source.batches.emplace_back(new char[size_t(slot->bytes())]);
    source.count =
        source.file->check(*slot, /*many=*/true, program.takesNegative(*slot));
    if (int64_t rest = source.file->leftOver(*slot))
      std::fprintf(stderr,
                   "warning: the last %s of `%s` are no whole batch of "
                   "%s, and are left out\n",
                   std::to_string(rest).c_str(), file->second.c_str(),
                   std::to_string(slot->shape[0]).c_str());
    if (firstFile && firstFile->count != source.count)
      throw Failure(1, "`" + firstFile->file->path + "` holds " +
                           std::to_string(firstFile->count) + " batches, `" +
                           file->second + "` " + std::to_string(source.count));
    if (!firstFile)
      firstFile = &source;
  }
}

void Data::load(int64_t step, Device &device) const {
  for (const Source &source : sources) {
    int64_t batch = step % source.count;
    const Slot &slot = *source.slot;
    char *rows = source.batches[source.file ? 0 : size_t(batch)].get();
    if (source.file)
      source.file->read(slot, batch, rows);
    device.write(slot, rows);
  }
}

/// The names of the npy files in a folder, without extension.
static std::vector<std::string> npyFiles(const std::string &folder) {
  std::vector<std::string> names;
  DIR *directory = opendir(folder.c_str());
  if (!directory)
    throw Failure(1, "the folder `" + folder +
                         "` cannot be opened: " + std::strerror(errno));
  while (dirent *entry = readdir(directory)) {
    std::string name = entry->d_name;
    if (name.size() > 4 && name.compare(name.size() - 4, 4, ".npy") == 0)
      names.push_back(name.substr(0, name.size() - 4));
  }
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

static std::vector<const Slot *> slotsOf(const Program &program,
                                         std::initializer_list<Role> roles) {
  std::vector<const Slot *> slots;
  for (const Slot &slot : program.slots)
    if (std::find(roles.begin(), roles.end(), slot.role) != roles.end())
      slots.push_back(&slot);
  return slots;
}

static const std::initializer_list<Role> weights = {Role::Parameter,
                                                    Role::State};

std::vector<std::string> netc::runtime::loadWeights(const Program &program,
                                                    const Options &options,
                                                    Device &device) {
  std::vector<const Slot *> slots = slotsOf(program, weights);
  // A file given as NAME=FILE takes precedence over one in a folder.
  std::map<const Slot *, std::string> files, found;
  std::vector<std::string> folders;
  auto take = [](auto &files, const Slot *slot, const std::string &path) {
    if (!files.emplace(slot, path).second)
      throw Failure(1, "`" + files[slot] + "` and `" + path +
                           "` are both for `" + slot->name + "`");
  };
  for (std::string text : options.weights) {
    if (const Slot *slot = named(slots, text))
      take(files, slot, text);
    else if (std::string name = nameIn(text); !name.empty())
      throw Failure(1, "there is no parameter and no state `" + name + "`");
    else
      folders.push_back(text);
  }
  for (const std::string &text : folders) {
    for (const std::string &name : npyFiles(text)) {
      auto slot = std::find_if(slots.begin(), slots.end(),
                               [&](const Slot *s) { return s->name == name; });
      if (slot == slots.end())
        throw Failure(
            1, "`" + text + "/" + name +
                   ".npy` is for no parameter and no state of this program");
      take(found, *slot, text + "/" + name + ".npy");
    }
  }
  files.insert(found.begin(), found.end());
  // State without a file keeps its initial value: momentum, running statistics.
  if (!folders.empty())
    for (const Slot *slot : slots)
      if (slot->role == Role::Parameter && !files.count(slot))
        throw Failure(1, "`" + folders.back() + "/" + slot->name +
                             ".npy` is missing");

  std::vector<std::string> names;
  for (const Slot *slot : slots) {
    std::vector<char> rows(size_t(slot->bytes()));
    auto file = files.find(slot);
    if (file == files.end()) {
      initialize(*slot, options.seed, rows.data());
    } else {
      NpyFile array(file->second);
      array.check(*slot, /*many=*/false);
      array.read(*slot, 0, rows.data());
      names.push_back(slot->name);
    }
    device.write(*slot, rows.data());
  }
  return names;
}

static void write(const std::vector<const Slot *> &slots,
                  const std::string &folder, const Device &device) {
  if (folder.empty())
    return;
  if (mkdir(folder.c_str(), 0777) && errno != EEXIST)
    throw cannotWrite(folder, std::strerror(errno));
  for (const Slot *slot : slots)
    writeNpy(folder + "/" + slot->name + ".npy", *slot,
             device.read(*slot).data());
}

void netc::runtime::dump(const Program &program, const Options &options,
                         const Device &device) {
  write(slotsOf(program, weights), options.dump, device);
  write(slotsOf(program, {Role::Result}), options.results, device);
}
