// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The container of programs that were compiled ahead of time. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_AOT_ADXFILE_H
#define ADJOINT_LIB_RUNNER_AOT_ADXFILE_H

#include "Adx.h"

namespace mlir::ad::runner {

/// Whether these are the first bytes of an .adx file.
bool isAdx(llvm::StringRef head);

/// The length that the first bytes of an .adx file state; an error if they are not those of an .adx file.
llvm::Expected<uint64_t> readAdxLength(llvm::StringRef head);

/// The sections of a whole file; they point into `bytes`.
llvm::Expected<std::vector<AdxSection>> openAdx(llvm::StringRef bytes);

llvm::Error writeAdxFile(llvm::StringRef path, llvm::ArrayRef<AdxSection> sections);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_AOT_ADXFILE_H
