// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the command lines of all tools have in common: errors about unknown options, about values that are
// missing or given twice, and numbers and names with a range. OptTable and not cl::opt: libLLVM defines
// hundreds of global cl::opt, whose names collide with ours, and unknown options must exit with 2. Tools that
// include this header link LLVM's library of options.
#ifndef ADJOINT_SUPPORT_COMMANDLINE_H
#define ADJOINT_SUPPORT_COMMANDLINE_H

#include "adjoint/Support/Error.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"

#include <string>

namespace mlir::ad::runner {

/// `, did you mean 'x'?` with the value nearest to `given`; empty if none is near.
std::string suggestValue(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> known);

/// Parsed arguments.
class CommandLine {
public:
  CommandLine(const llvm::opt::OptTable &table, const llvm::opt::InputArgList &list,
              llvm::opt::Visibility visibility)
      : table(table), list(list), visibility(visibility) {}

  bool has(unsigned id) const { return list.hasArg(id); }
  std::string text(unsigned id, llvm::StringRef fallback = "") const {
    return list.getLastArgValue(id, fallback).str();
  }
  /// `--name`, without the = of its other spelling.
  llvm::StringRef nameOf(unsigned id) const { return table.getOption(id).getPrefixedName().rtrim('='); }

  /// `, did you mean '--name'?` for the option nearest to `given`, if any is near.
  std::string suggestOption(llvm::StringRef given) const;
  /// An error if an argument is no option. The tool may have said more about it before.
  llvm::Error checkUnknown(unsigned unknownId) const;
  /// An error if a value is empty, or if an option that may not be repeated is given twice.
  llvm::Error checkValues(llvm::ArrayRef<unsigned> repeatable) const;
  /// The number of an option, if it is given.
  llvm::Error readCount(unsigned id, unsigned minimum, unsigned maximum, unsigned &value) const;
  /// One of a few names, which the error lists; `value` is what an option that is not given has.
  llvm::Error readName(unsigned id, llvm::StringRef what, llvm::ArrayRef<llvm::StringRef> names,
                       std::string &value) const;

protected:
  const llvm::opt::OptTable &table;
  const llvm::opt::InputArgList &list;
  llvm::opt::Visibility visibility;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_SUPPORT_COMMANDLINE_H
