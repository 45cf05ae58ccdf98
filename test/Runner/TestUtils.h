// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Helpers of the unit tests of the runner: tensors, texts of errors, and a folder for files.
#ifndef ADJOINT_TEST_RUNNER_TESTUTILS_H
#define ADJOINT_TEST_RUNNER_TESTUTILS_H

#include "ExpectText.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/Tensor.h"

#include <string>

namespace unit {

/// A path in a folder of this process, which is removed after the last test.
std::string scratch(llvm::StringRef name);

/// The message of an error, and its exit code in front.
inline std::string text(llvm::Error error) {
  auto [code, message] = mlir::ad::runner::consumeExitError(std::move(error));
  return code == 0 ? "ok" : std::to_string(code) + ": " + message;
}
template <typename T> std::string text(llvm::Expected<T> value) {
  return value ? "ok" : text(value.takeError());
}

/// A tensor of `type` with the given elements.
mlir::ad::runner::Tensor tensor(adrt_type type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values);

} // namespace unit

#endif // ADJOINT_TEST_RUNNER_TESTUTILS_H
