// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The interface of a program: arguments, results, feeds, received values. It is read from the module once and
// stored with the compiled object, so that a program from the cache runs without being parsed.
#ifndef ADJOINT_RUNNER_EXECUTABLE_SIGNATURE_H
#define ADJOINT_RUNNER_EXECUTABLE_SIGNATURE_H

#include "adjoint/Support/Tensor.h"
#include "llvm/Support/JSON.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mlir::ad::runner {

/// The tensors of one `ad.receive`.
struct ReceiveSpec {
  std::string name;
  std::vector<TensorSpec> values;
};

struct Signature {
  std::string entry;
  std::vector<TensorSpec> arguments, results, feeds;
  std::vector<ReceiveSpec> receives;
};

/// Reads the signature of function `entry`: names from `ad.name`, else arg0…, res0…; feeds and receives of
/// all functions that it may call. Errors about the program are emitted as diagnostics.
llvm::Expected<Signature> readSignature(mlir::ModuleOp module, llvm::StringRef entry);

llvm::json::Value toJSON(const Signature &signature);
bool fromJSON(const llvm::json::Value &value, Signature &signature, llvm::json::Path path);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_EXECUTABLE_SIGNATURE_H
