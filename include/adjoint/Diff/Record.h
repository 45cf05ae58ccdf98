// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Records of a run: a line for each value that it computed. A file of records is a table whose cells are
// separated by tabs, with the columns kind, dtype, shape, summary, op and name. Further columns may follow,
// in this order: value, hash, location, run, origin.
#ifndef ADJOINT_DIFF_RECORD_H
#define ADJOINT_DIFF_RECORD_H

#include "adjoint/Runtime/adrt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::ad::diff {

/// A size of a shape, which may be a symbol.
struct Dim {
  int64_t size = 0;
  std::string symbol; ///< empty if the size is known

  bool operator==(const Dim &other) const { return size == other.size && symbol == other.symbol; }
};

struct Record {
  std::string kind;  ///< INPUT, OUTPUT, RESULT, INITIA (a constant) or NODE
  std::string dtype; ///< as NumPy calls it
  std::optional<std::vector<Dim>> shape;
  std::string summary; ///< the fingerprint
  std::string op;      ///< of a result: the operation that computed it
  std::string name;
  std::string value;    ///< a file with the tensor; empty if it was not kept
  std::string hash;     ///< of type, sizes and elements (contentHash); empty if it is not known
  std::string location; ///< of the operation in the program
  uint64_t run = 0;     ///< how often the operation had run before, in loops
  std::string origin;   ///< `recomputed` if no kernel of the run wrote the value; empty otherwise

  /// The record in columns of fixed width, before it is fitted into a table.
  std::string toText() const;
};

/// Reads a shape: `2x3`, `ax16`, empty for a scalar, `?` if it is not known.
std::optional<std::vector<Dim>> parseShape(llvm::StringRef text);

/// The type as NumPy and ml_dtypes call it.
const char *dtypeName(adrt_type type);

/// The element type of a record; none if it has another name.
std::optional<adrt_type> elementType(const Record &record);

/// The record of a value: its type, shape and fingerprint.
Record makeRecord(std::string kind, const adrt_tensor &tensor, std::string op, std::string name);

/// 16 hexadecimal digits that are equal for equal bits. All NaNs count as one: their bits are not in the
/// contract.
std::string contentHash(const adrt_tensor &tensor);

/// What is known about the bits of two values.
enum class Verdict { Equal, Different, Unknown };

/// Whether two values have the same bits, NaNs aside. Hashes decide, or types and fingerprints that differ:
/// equal fingerprints decide nothing.
Verdict compareBits(const Record &left, const Record &right);

/// Gives each record with a kept tensor the hash of that tensor. An error if a file is none of its record.
llvm::Error hashKeptTensors(std::vector<Record> &records);

/// The text of a file of records. Columns after `value` are left out if no record has a hash. A `value` is
/// the name of a file in the folder of the records.
std::string formatRecords(llvm::ArrayRef<Record> records);

/// Reads the text of a file of records. Files of tensors are named from the folder of `file`.
llvm::Expected<std::vector<Record>> parseRecords(llvm::StringRef text, llvm::StringRef file);

/// Reads a file of records, or `records.tsv` of a folder. That of a trace must have as many records as
/// run.json says.
llvm::Expected<std::vector<Record>> readRecords(llvm::StringRef path);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_RECORD_H
