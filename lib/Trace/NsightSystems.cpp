// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Formats.h"
#include "lib/Trace/Json.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"

#include <sqlite3.h>
#include <unordered_map>

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

namespace {
struct Closing {
  void operator()(sqlite3 *database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt *query) const { sqlite3_finalize(query); }
};

/// The result of a query, row by row.
class Rows {
public:
  explicit Rows(sqlite3_stmt *query) : query(query) {}

  /// False at the end and if the database is damaged; isWhole() tells which.
  bool next() {
    status = query ? sqlite3_step(query.get()) : SQLITE_DONE;
    return status == SQLITE_ROW;
  }
  bool isNull(int column) const {
    return sqlite3_column_type(query.get(), column) == SQLITE_NULL;
  }
  int64_t integer(int column, int64_t otherwise = 0) const {
    return isNull(column) ? otherwise
                          : sqlite3_column_int64(query.get(), column);
  }
  double real(int column) const {
    return sqlite3_column_double(query.get(), column);
  }
  /// The integer in a column; none if it has another type.
  std::optional<int64_t> time(int column) const {
    if (sqlite3_column_type(query.get(), column) != SQLITE_INTEGER)
      return std::nullopt;
    return integer(column);
  }
  /// The end, in column 1, minus the start, in column 0.
  std::optional<int64_t> duration() const {
    return durationOf(time(0), time(1));
  }
  std::string text(int column) const {
    auto *text = reinterpret_cast<const char *>(
        sqlite3_column_text(query.get(), column));
    return text ? std::string(text, sqlite3_column_bytes(query.get(), column))
                : "";
  }
  bool isWhole() const { return status == SQLITE_DONE; }
  void bind(int64_t value) {
    sqlite3_reset(query.get());
    sqlite3_bind_int64(query.get(), 1, value);
  }

private:
  std::unique_ptr<sqlite3_stmt, Closing> query;
  int status = SQLITE_DONE;
};

/// A database of unknown origin. It is opened read-only, and its views and
/// triggers do not run.
class Database {
public:
  llvm::Error open(Source &source) {
    sqlite3 *opened = nullptr;
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    bool isInMemory = source.path().empty() || isCut(source);
    std::string uri = isInMemory ? ":memory:" : uriOf(source.path());
    int status = sqlite3_open_v2(uri.c_str(), &opened, flags, nullptr);
    database.reset(opened);
    if (status != SQLITE_OK)
      return problem();
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, 16 << 20);
    sqlite3_limit(opened, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
    sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
    for (int off : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW,
                    SQLITE_DBCONFIG_ENABLE_TRIGGER})
      sqlite3_db_config(opened, off, 0, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    // SQLite cannot open a compressed or truncated file: read it into memory.
    if (isInMemory) {
      while (source.bytes(1 << 20, bytes))
        ;
      if (source.isTooLong())
        return fail(error::TraceTooLong(source.limit()));
      cutAtItsEnd();
      auto *data = reinterpret_cast<unsigned char *>(bytes.data());
      status = sqlite3_deserialize(opened, "main", data, bytes.size(),
                                   bytes.size(), SQLITE_DESERIALIZE_READONLY);
      if (status != SQLITE_OK)
        return problem();
    }
    sqlite3_progress_handler(opened, 1000, onProgress, this);
    return llvm::Error::success();
  }

  Rows query(const std::string &text) {
    sqlite3_stmt *statement = nullptr;
    if (sqlite3_prepare_v2(database.get(), text.c_str(), -1, &statement,
                           nullptr) != SQLITE_OK)
      isBroken = true;
    return Rows(statement);
  }

  /// Whether there is a table of this name, and no view or virtual table.
  bool has(const std::string &table) {
    Rows rows = query("select 1 from sqlite_master where type = 'table' and "
                      "rootpage > 0 and name = '" +
                      table + "'");
    bool isThere = rows.next();
    isBroken |= !isThere && !rows.isWhole();
    return isThere;
  }
  bool hasLike(const std::string &pattern) {
    return query("select 1 from sqlite_master where name like '" + pattern +
                 "'")
        .next();
  }

  /// Selects columns of a table, with null for those that it lacks. No rows if
  /// there is no such table.
  Rows select(const std::string &table, llvm::ArrayRef<StringRef> columns,
              StringRef where = "") {
    if (!has(table))
      return Rows(nullptr);
    std::vector<std::string> there, asked;
    Rows rows = query("pragma table_info(" + table + ")");
    while (rows.next())
      there.push_back(rows.text(1));
    for (StringRef column : columns)
      asked.push_back(llvm::is_contained(there, column)
                          ? ("\"" + column + "\"").str()
                          : "null");
    return query("select " + llvm::join(asked, ", ") + " from " + table + " " +
                 where.str());
  }

  /// SQLite's message, which quotes no text of the database.
  llvm::Error problem() {
    return fail(error::TraceBroken(
        0, sqlite3_errstr(sqlite3_extended_errcode(database.get()))));
  }
  bool isBroken = false;
  /// The size of a truncated file in bytes; else 0.
  uint64_t end() const { return cutAt; }

private:
  /// SQLite's header has the size of a page at byte 16, and the number of pages
  /// at byte 28 (sqlite.org/fileformat.html).
  static uint64_t pageSize(StringRef header) {
    unsigned size = llvm::support::endian::read16be(header.data() + 16);
    return size == 1 ? 65536 : size;
  }
  static constexpr size_t headerSize = 100, pagesAt = 28;
  static bool lacksPages(StringRef header, uint64_t size) {
    return header.size() >= headerSize &&
           llvm::support::endian::read32be(header.data() + pagesAt) *
                   pageSize(header) >
               size;
  }
  static bool isCut(Source &source) {
    uint64_t size;
    return !llvm::sys::fs::file_size(source.path(), size) &&
           lacksPages(source.beginning(), size);
  }

  /// SQLite does not open a file that is shorter than its header says. With the
  /// number of pages corrected, it reads all rows that are left.
  void cutAtItsEnd() {
    if (!lacksPages(bytes, bytes.size()) || pageSize(bytes) < 512)
      return;
    isBroken = true;
    cutAt = bytes.size();
    llvm::support::endian::write32be(bytes.data() + pagesAt,
                                     bytes.size() / pageSize(bytes));
  }

  /// Aborts after 2e10 steps of SQLite's virtual machine. All rows of the
  /// largest file take fewer.
  static int onProgress(void *self) {
    constexpr uint64_t most = 20'000'000;
    return ++static_cast<Database *>(self)->thousands > most;
  }

  static std::string uriOf(StringRef path) {
    std::string uri = "file:";
    for (char c : path)
      if (llvm::isAlnum(c) || StringRef("/._-").contains(c))
        uri += c;
      else
        uri += "%" + llvm::utohexstr(uint8_t(c), false, 2);
    return uri + "?mode=ro&immutable=1";
  }

  std::string bytes;
  uint64_t cutAt = 0;
  std::unique_ptr<sqlite3, Closing> database;
  uint64_t thousands = 0;
};

class DatabaseReader {
public:
  DatabaseReader(Trace &trace, const TraceLimits &limits)
      : trace(trace), limits(limits) {}

  llvm::Error read(Source &source) {
    if (llvm::Error error = database.open(source))
      return error;
    if (!database.has("CUPTI_ACTIVITY_KIND_KERNEL") &&
        !database.has("NVTX_EVENTS"))
      return refuse();
    texts.emplace(database.select("StringIds", {"value"}, "where id = ?"));
    bool isWhole = readDevices();
    isWhole = readOnDevice("KERNEL", DeviceEvent::Kernel) && isWhole;
    isWhole = readOnDevice("MEMCPY", DeviceEvent::Copy) && isWhole;
    isWhole = readOnDevice("MEMSET", DeviceEvent::Set) && isWhole;
    isWhole = readLaunches() && isWhole;
    isWhole = readRanges() && isWhole;
    isWhole = readSamples() && isWhole;
    if (isTooMany)
      return fail(error::TraceTooManyEvents(limits.maxEvents));
    if (isWhole && !database.isBroken)
      return llvm::Error::success();
    return cut(trace, database.end(),
               "tables of the database are cut or damaged");
  }

private:
  llvm::Error refuse() {
    if (database.isBroken)
      return database.problem();
    if (database.has("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"))
      return fail(error::TraceClosed("a session of nvprof",
                                     "nvprof --import-profile FILE --csv"));
    if (database.hasLike("rocpd%"))
      return fail(error::TraceClosed("a database of rocprofv3",
                                     "rocprofv3 --output-format json"));
    return fail(error::TraceUnknown());
  }

  bool isFull() {
    isTooMany |= trace.host.size() + trace.kernels.size() >= limits.maxEvents;
    return isTooMany;
  }

  /// The process of a global id, whose lower 24 bits are the thread.
  static int64_t processOf(int64_t global) { return global & ~0xffffffll; }

  /// A correlation id that is unique in the trace. Each process has its own.
  int64_t correlationOf(int64_t process, int64_t id) {
    // CUPTI's ids have 32 bits.
    auto place = processes.try_emplace(process, processes.size()).first;
    return int64_t((place->second << 32) + uint64_t(id));
  }

  std::string textOf(int64_t id) {
    texts->bind(id);
    return texts->next() ? texts->text(0) : "";
  }

  Name nameOf(int64_t id) {
    auto [known, isNew] = names.try_emplace(id, 0);
    if (isNew)
      known->second = trace.names.intern(textOf(id));
    return known->second;
  }

  bool readDevices() {
    Rows rows = database.select(
        "TARGET_INFO_GPU", {"name", "smCount", "computeMajor", "computeMinor"});
    while (rows.next()) {
      ++trace.devices;
      if (trace.devices > 1)
        continue;
      trace.device = rows.text(0);
      if (!rows.isNull(1))
        trace.sms = rows.integer(1);
      if (!rows.isNull(2))
        trace.capability = rows.text(2) + "." + rows.text(3);
    }
    return rows.isWhole();
  }

  bool readOnDevice(const std::string &what, DeviceEvent::Kind kind) {
    Rows rows = database.select("CUPTI_ACTIVITY_KIND_" + what,
                                {"start", "end", "deviceId", "streamId",
                                 "correlationId", "globalPid", "demangledName",
                                 "shortName", "gridX", "gridY", "gridZ",
                                 "blockX", "blockY", "blockZ"});
    while (rows.next()) {
      if (isFull())
        return true;
      ++trace.read;
      auto start = rows.time(0), duration = rows.duration();
      if (!trace.takesTimes(start, duration))
        continue;
      DeviceEvent &event = trace.kernels.emplace_back();
      event.kind = kind;
      event.start = *start;
      event.duration = *duration;
      event.device = int32_t(rows.integer(2));
      event.stream = int32_t(rows.integer(3));
      if (!rows.isNull(4)) {
        event.correlation =
            correlationOf(processOf(rows.integer(5)), rows.integer(4));
        correlations.push_back(event.correlation);
      }
      hasProcesses |= !rows.isNull(5);
      if (kind != DeviceEvent::Kernel)
        continue;
      event.name = nameOf(rows.integer(rows.isNull(6) ? 7 : 6));
      Extents extents;
      for (int axis = 0; axis < 3; ++axis) {
        extents.grid[axis] = rows.integer(8 + axis);
        extents.block[axis] = rows.integer(11 + axis);
      }
      event.extents = trace.addExtents(extents);
    }
    return rows.isWhole();
  }

  HostEvent *addOnHost(HostEvent::Kind kind, const Rows &rows, int64_t thread) {
    ++trace.read;
    auto start = rows.time(0), duration = rows.duration();
    if (!trace.takesTimes(start, duration))
      return nullptr;
    auto [known, isNew] =
        threads.try_emplace(thread, uint32_t(trace.threads.size()));
    if (isNew)
      trace.threads.push_back({std::to_string((thread >> 24) & 0xffffff),
                               std::to_string(thread & 0xffffff)});
    HostEvent &event = trace.host.emplace_back();
    event.kind = kind;
    event.thread = known->second;
    event.start = *start;
    event.duration = *duration;
    return &event;
  }

  /// Reads the runtime calls that launched the device events. Drops others.
  bool readLaunches() {
    llvm::sort(correlations);
    Rows rows = database.select(
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        {"start", "end", "correlationId", "globalTid", "nameId"});
    while (rows.next()) {
      if (isFull())
        return true;
      int64_t correlation = correlationOf(
          hasProcesses ? processOf(rows.integer(3)) : 0, rows.integer(2));
      if (rows.isNull(2) ||
          !std::binary_search(correlations.begin(), correlations.end(),
                              correlation)) {
        ++trace.read;
        ++trace.dropped["other"];
        continue;
      }
      if (HostEvent *event =
              addOnHost(HostEvent::Launch, rows, rows.integer(3))) {
        event->correlation = correlation;
        event->name = nameOf(rows.integer(4));
      }
    }
    return rows.isWhole();
  }

  /// What the text of an NVTX range states.
  struct Range {
    Name name = 0;
    bool isOp = false;
    int64_t sequence = -1, id = -1;
    uint32_t inputs = 0;
  };

  /// PyTorch's `emit_nvtx` makes a range for each op: `aten::addmm, seq =
  /// 45480, op_id = 991316, sizes = [[..]]`.
  Range rangeOf(StringRef text) {
    auto [name, facts] = text.split(", ");
    auto fact = [facts = facts](StringRef key) {
      size_t at = facts.find(key);
      return at == StringRef::npos ? StringRef()
                                   : facts.substr(at + key.size());
    };
    auto number = [](StringRef text) {
      return integerIn(text.take_until([](char c) { return c == ','; }));
    };
    std::optional<int64_t> sequence = number(fact("seq = ")),
                           id = number(fact("op_id = "));
    Range range;
    range.isOp = sequence || id;
    range.name = trace.names.intern(range.isOp ? name : text);
    if (!range.isOp)
      return range;
    range.sequence = sequence.value_or(-1);
    range.id = id.value_or(-1);
    StringRef sizes = fact("sizes = ");
    size_t end = sizes.find("]]");
    range.inputs = trace.addInputs(
        {readShapes(end == StringRef::npos ? sizes : sizes.take_front(end + 2),
                    trace),
         {},
         {}});
    return range;
  }

  bool readRanges() {
    std::unordered_map<int64_t, Range> known; // by id of the text
    // Event type 59 is a range of one thread (push and pop), 60 one that
    // another thread may end (start and end).
    Rows rows = database.select(
        "NVTX_EVENTS", {"start", "end", "text", "textId", "globalTid"},
        "where eventType in (59, 60) and end is not null");
    while (rows.next()) {
      if (isFull())
        return true;
      HostEvent *event =
          addOnHost(HostEvent::Annotation, rows, rows.integer(4));
      if (!event)
        continue;
      Range range;
      if (rows.isNull(2)) {
        auto [text, isNew] = known.try_emplace(rows.integer(3));
        if (isNew)
          text->second = rangeOf(textOf(rows.integer(3)));
        range = text->second;
      } else {
        range = rangeOf(rows.text(2));
      }
      event->name = range.name;
      if (!range.isOp)
        continue;
      event->kind = HostEvent::Op;
      event->sequence = range.sequence;
      event->external = int32_t(range.id);
      event->inputs = range.inputs;
      trace.hasSequence |= range.sequence >= 0;
    }
    return rows.isWhole();
  }

  /// Reads the samples of `nsys profile --gpu-metrics-devices=..`. The lowest
  /// byte of a typeId is the device.
  bool readSamples() {
    llvm::DenseMap<int64_t, Name> metrics;
    Rows kinds =
        database.select("TARGET_INFO_GPU_METRICS", {"metricId", "metricName"});
    while (kinds.next())
      metrics[kinds.integer(0) & 0xffffffff] =
          trace.names.intern(kinds.text(1));
    Rows rows = database.select("GPU_METRICS",
                                {"timestamp", "metricId", "value", "typeId"},
                                "order by timestamp");
    while (rows.next()) {
      if (trace.samples.size() >= limits.maxEvents) {
        isTooMany = true;
        return true;
      }
      auto metric = metrics.find(rows.integer(1) & 0xffffffff);
      if (auto time = rows.time(0); time && metric != metrics.end())
        trace.samples.push_back({*time, metric->second,
                                 int32_t(rows.integer(3) & 0xff),
                                 float(rows.real(2))});
    }
    return kinds.isWhole() && rows.isWhole();
  }

  Trace &trace;
  const TraceLimits &limits;
  Database database;
  std::optional<Rows> texts;
  bool hasProcesses = false, isTooMany = false;
  // Not DenseMap: it reserves two keys, and an id may be any number.
  std::unordered_map<int64_t, Name> names;
  std::unordered_map<int64_t, uint32_t> threads;
  std::unordered_map<int64_t, uint64_t> processes;
  std::vector<int64_t> correlations; ///< of the device events
};
} // namespace

llvm::Expected<Trace>
netc::trace::readNsightSystems(Source &source, const TraceLimits &limits) {
  Trace trace;
  if (llvm::Error error = DatabaseReader(trace, limits).read(source))
    return error;
  return trace;
}
