// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Records of a run and the files that hold them.
#include "adjoint/Diff/Record.h"
#include "RunFiles.h"
#include "adjoint/Diff/Fingerprint.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FolderFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace mlir::ad::diff;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using mlir::ad::fileInFolder;
using mlir::ad::runner::usageError;

namespace {

constexpr StringRef columns[] = {"kind",  "dtype", "shape",    "summary", "op",    "name",
                                 "value", "hash",  "location", "run",     "origin"};
constexpr size_t requiredColumns = 6, columnsWithoutHash = 7;
constexpr StringRef kinds[] = {"INPUT", "OUTPUT", "RESULT", "INITIA", "SPARSE", "NODE"};

/// Cut or filled with blanks to `width`.
std::string fit(StringRef text, size_t width) {
  std::string fitted = text.take_front(width).str();
  fitted.resize(width, ' ');
  return fitted;
}

std::string shapeText(const std::optional<std::vector<Dim>> &shape) {
  if (!shape)
    return "?";
  return llvm::join(
      llvm::map_range(
          *shape, [](const Dim &dim) { return dim.symbol.empty() ? std::to_string(dim.size) : dim.symbol; }),
      "x");
}

/// A cell without the characters that end cells and lines.
std::string cellText(StringRef text) {
  std::string cell = text.str();
  std::replace_if(cell.begin(), cell.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return cell;
}

class RecordReader {
public:
  RecordReader(StringRef text, StringRef file) : rest(text), file(file) {}
  Expected<std::vector<Record>> read();

private:
  bool nextLine(llvm::SmallVectorImpl<StringRef> &cells);
  Expected<Record> readRecord(llvm::ArrayRef<StringRef> cells) const;
  llvm::Error errorAt(const llvm::Twine &message) const {
    return usageError("'" + file + "', line " + llvm::Twine(line) + ": " + message);
  }

  StringRef rest, file;
  unsigned line = 0;
};

bool RecordReader::nextLine(llvm::SmallVectorImpl<StringRef> &cells) {
  while (!rest.empty()) {
    StringRef text;
    std::tie(text, rest) = rest.split('\n');
    ++line;
    text = text.rtrim('\r');
    if (text.empty())
      continue;
    cells.clear();
    text.split(cells, '\t');
    return true;
  }
  return false;
}

Expected<Record> RecordReader::readRecord(llvm::ArrayRef<StringRef> cells) const {
  if (cells.size() < requiredColumns || cells.size() > std::size(columns))
    return errorAt("expected 6 to " + llvm::Twine(std::size(columns)) + " cells separated by tabs, found " +
                   llvm::Twine(cells.size()));
  Record record;
  record.kind = cells[0].str();
  if (!llvm::is_contained(kinds, cells[0]))
    return errorAt("unknown kind '" + cells[0] + "', expected " + llvm::join(llvm::ArrayRef(kinds), ", "));
  record.dtype = cells[1].str();
  record.shape = parseShape(cells[2]);
  if (!record.shape && cells[2] != "?")
    return errorAt("expected a shape such as 2x3, found '" + cells[2] + "'");
  record.summary = cells[3].str();
  record.op = cells[4].str();
  record.name = cells[5].str();
  if (cells.size() > requiredColumns && !cells[6].empty()) {
    StringRef folder = llvm::sys::path::parent_path(file);
    if (Error error = fileInFolder(folder.empty() ? "." : folder, cells[6]).moveInto(record.value))
      return std::move(error);
    if (folder.empty())
      record.value = cells[6].str();
  }
  auto cell = [&](size_t column) { return column < cells.size() ? cells[column] : StringRef(); };
  record.hash = cell(7).str();
  record.location = cell(8).str();
  if (!cell(9).empty() && cell(9).getAsInteger(10, record.run))
    return errorAt("expected a number of runs, found '" + cell(9) + "'");
  record.origin = cell(10).str();
  return record;
}

Expected<std::vector<Record>> RecordReader::read() {
  llvm::SmallVector<StringRef> cells;
  bool hasHeader = nextLine(cells) && cells.size() >= requiredColumns && cells.size() <= std::size(columns) &&
                   llvm::equal(cells, llvm::ArrayRef(columns).take_front(cells.size()));
  if (!hasHeader)
    return usageError("'" + file + "' is no table of records: expected the columns " +
                      llvm::join(llvm::ArrayRef(columns).take_front(requiredColumns), ", ") +
                      ", separated by tabs");
  std::vector<Record> records;
  while (nextLine(cells)) {
    Expected<Record> record = readRecord(cells);
    if (!record)
      return record.takeError();
    records.push_back(std::move(*record));
  }
  if (records.empty())
    return usageError("'" + file + "' has no records");
  return records;
}

} // namespace

std::string Record::toText() const {
  constexpr size_t kindWidth = 6, dtypeWidth = 8, shapeWidth = 18, opWidth = 15;
  std::string rank = !shape || shape->empty() ? "  " : std::to_string(shape->size()) + ":";
  return fit(kind, kindWidth) + " " + fit(dtype, dtypeWidth) + " " + rank +
         fit(shapeText(shape), shapeWidth) + " " + summary + " " + fit(op, opWidth) + " " + name;
}

const char *mlir::ad::diff::dtypeName(adrt_type type) {
  // In the order of adrt_type.
  static constexpr const char *dtypes[] = {"float64",     "float32", "float16", "bfloat16", "float8_e4m3fn",
                                           "float8_e5m2", "bool",    "int8",    "int32",    "int64"};
  return dtypes[type];
}

std::optional<adrt_type> mlir::ad::diff::elementType(const Record &record) {
  for (int type = ADRT_F64; type <= ADRT_I64; ++type)
    if (record.dtype == dtypeName(static_cast<adrt_type>(type)))
      return static_cast<adrt_type>(type);
  return std::nullopt;
}

Record mlir::ad::diff::makeRecord(std::string kind, const adrt_tensor &tensor, std::string op,
                                  std::string name) {
  std::vector<Dim> shape;
  for (int64_t size : llvm::ArrayRef(tensor.shape, static_cast<size_t>(tensor.rank)))
    shape.push_back({size, ""});
  Record record;
  record.kind = std::move(kind);
  record.dtype = dtypeName(static_cast<adrt_type>(tensor.type));
  record.shape = std::move(shape);
  record.summary = fingerprint(tensor);
  record.op = std::move(op);
  record.name = std::move(name);
  return record;
}

std::string mlir::ad::diff::formatRecords(llvm::ArrayRef<Record> records) {
  bool haveHashes = llvm::any_of(records, [](const Record &record) { return !record.hash.empty(); });
  size_t width = haveHashes ? std::size(columns) : columnsWithoutHash;
  std::string text = llvm::join(llvm::ArrayRef(columns).take_front(width), "\t") + "\n";
  for (const Record &record : records) {
    const std::string cells[] = {record.kind,
                                 record.dtype,
                                 shapeText(record.shape),
                                 record.summary,
                                 cellText(record.op),
                                 cellText(record.name),
                                 cellText(record.value),
                                 record.hash,
                                 cellText(record.location),
                                 std::to_string(record.run),
                                 record.origin};
    text += llvm::join(llvm::ArrayRef(cells).take_front(width), "\t") + "\n";
  }
  return text;
}

std::optional<std::vector<Dim>> mlir::ad::diff::parseShape(StringRef text) {
  std::vector<Dim> shape;
  if (text == "?")
    return std::nullopt;
  if (text.empty())
    return shape;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, 'x');
  for (StringRef part : parts) {
    Dim dim;
    if (part.empty())
      return std::nullopt;
    if (part.getAsInteger(10, dim.size))
      dim.symbol = part.str();
    else if (dim.size < 0)
      return std::nullopt;
    shape.push_back(std::move(dim));
  }
  return shape;
}

Expected<std::vector<Record>> mlir::ad::diff::parseRecords(StringRef text, StringRef file) {
  return RecordReader(text, file).read();
}

Expected<std::vector<Record>> mlir::ad::diff::readRecords(StringRef path) {
  std::string file = path.str();
  if (llvm::sys::fs::is_directory(path))
    if (Error error = fileInFolder(path, "records.tsv").moveInto(file))
      return std::move(error);
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return usageError("cannot read '" + file + "': " + buffer.getError().message());
  Expected<std::vector<Record>> records = parseRecords((*buffer)->getBuffer(), file);
  if (!records || file == path)
    return records;
  Expected<std::optional<int64_t>> count = recordCount(path);
  if (!count)
    return count.takeError();
  if (*count && **count != static_cast<int64_t>(records->size()))
    return usageError("the trace '" + path + "' is not whole: it has " +
                      countText(records->size(), "record") + ", and its run.json says " +
                      llvm::Twine(**count));
  return records;
}
