// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors as text, like NumPy prints them.
#ifndef ADJOINT_LIB_RUNNER_IO_PRINT_H
#define ADJOINT_LIB_RUNNER_IO_PRINT_H

#include "adjoint/Support/Tensor.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::ad::runner {

/// Prints `name: tensor<2x2xf32> =` and the values: with the fewest digits that round-trip, aligned columns,
/// and without the middle of large tensors.
void printTensor(llvm::raw_ostream &os, llvm::StringRef name, const adrt_tensor &tensor);

/// One element, e.g. `1.5`, `-0.`, `nan`, `7`, `true`.
std::string formatElement(const adrt_tensor &tensor, int64_t index);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_IO_PRINT_H
