// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The folder that --trace writes: records of all values, the program, its stages, inputs and outputs.
#ifndef ADJOINT_LIB_RUNNER_TRACE_TRACE_H
#define ADJOINT_LIB_RUNNER_TRACE_TRACE_H

#include "adjoint/Runner/Session/Tracer.h"

namespace mlir::ad::runner {

/// A tracer for `options.trace`. `program` is the text of the program, or bytecode.
std::unique_ptr<Tracer> makeTracer(const Options &options, llvm::StringRef program);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_TRACE_TRACE_H
