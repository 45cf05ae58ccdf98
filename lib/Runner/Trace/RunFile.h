// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// run.json of a trace: what ran, how and where. Internal to traces.
#ifndef ADJOINT_LIB_RUNNER_TRACE_RUNFILE_H
#define ADJOINT_LIB_RUNNER_TRACE_RUNFILE_H

#include "adjoint/Runner/IO/Report.h"
#include "adjoint/Runner/Options/Options.h"
#include "adjoint/Support/Tensor.h"
#include "llvm/Support/JSON.h"

#include <functional>

namespace mlir::ad::runner {

constexpr llvm::StringLiteral kRunFile("run.json");

/// The name of the program in the folder of a trace.
std::string programFileName(const Options &options);
/// Copies the files that options name: a precision policy, a choice of rewrites.
llvm::Error copyOptionFiles(const Options &options, llvm::StringRef folder);

/// Versions, the machine and the options.
llvm::json::Object runToJSON(const Options &options, const Report &report);
/// Name, type, file and source of each value.
llvm::json::Array valuesToJSON(llvm::ArrayRef<TensorSpec> specs, llvm::ArrayRef<Assignment> sources,
                               const std::function<std::string(llvm::StringRef)> &fileOf);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_TRACE_RUNFILE_H
