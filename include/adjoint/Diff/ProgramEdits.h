// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which operations differ between the texts of two programs: those that were edited, inserted or deleted. The
// names of values do not count, nor do blanks and comments. It needs no compiler: a statement is the lines
// from the name of an operation to the next one.
#ifndef ADJOINT_DIFF_PROGRAMEDITS_H
#define ADJOINT_DIFF_PROGRAMEDITS_H

#include "adjoint/Diff/Record.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::ad::diff {

/// An operation in the text of a program.
struct Statement {
  std::string text;      ///< with single blanks, without comments
  std::string operation; ///< such as ad.dot; empty for braces and labels
  std::string location;  ///< FILE:LINE:COLUMN of the operation, or the one that its text names
};

/// An operation that only one program has, or one that is another one there.
struct ProgramEdit {
  std::optional<Statement> left, right;
};

/// In the order of the texts. The names are those of the files in locations.
std::vector<ProgramEdit> findEdits(llvm::StringRef left, llvm::StringRef leftName, llvm::StringRef right,
                                   llvm::StringRef rightName);

/// Those between two files of programs, or the programs of two traces. A run without the text of its program,
/// such as a table alone, has none.
llvm::Expected<std::vector<ProgramEdit>> findEditsOfRuns(llvm::StringRef left, llvm::StringRef right);

/// Whether an operation of the edit computed the value, by its location.
bool computes(const std::optional<Statement> &statement, const Record &record);

/// `ad.relu at a.mlir:6:8, ad.tanh at b.mlir:6:8`.
std::string editText(const ProgramEdit &edit);
/// A paragraph about some edits, and how many more there are; empty without edits.
std::string editsText(llvm::ArrayRef<ProgramEdit> edits);
llvm::json::Array editsToJSON(llvm::ArrayRef<ProgramEdit> edits);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_PROGRAMEDITS_H
