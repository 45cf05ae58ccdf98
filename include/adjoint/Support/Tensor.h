// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors on the host: the type that a program expects (TensorSpec), and values that own their memory
// (Tensor).
#ifndef ADJOINT_SUPPORT_TENSOR_H
#define ADJOINT_SUPPORT_TENSOR_H

#include "adjoint/Support/Buffer.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace mlir::ad::runner {

using Shape = llvm::SmallVector<int64_t, 4>;

/// A size that is only known at run time.
constexpr int64_t dynamicSize = -1;

/// Name, element type and shape of an argument, result, feed or received value.
struct TensorSpec {
  std::string name;
  adrt_type type = ADRT_F32;
  Shape shape;                ///< dynamicSize for each dynamic size
  std::optional<int> donated; ///< the result that may take this argument's buffer
};

/// `tensor<4x?xf32>`, as MLIR writes it.
std::string formatType(adrt_type type, llvm::ArrayRef<int64_t> shape);
inline std::string formatType(const TensorSpec &spec) { return formatType(spec.type, spec.shape); }

/// Whether `shape` has the rank of `expected` and all its known sizes.
bool shapeFits(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> expected);

std::optional<adrt_type> parseElementType(llvm::StringRef name);
bool isFloat(adrt_type type);

/// A dense row-major tensor with 64-byte aligned memory of its own.
class Tensor {
public:
  Tensor() = default;
  /// Uninitialised memory; an error when the size overflows or there is not enough memory.
  static llvm::Expected<Tensor> create(adrt_type type, llvm::ArrayRef<int64_t> shape);
  /// A copy of what the runtime passes.
  static llvm::Expected<Tensor> copyOf(const adrt_tensor &view);
  llvm::Expected<Tensor> clone() const;

  adrt_type getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  char *getData() { return static_cast<char *>(buffer.data()); }
  const char *getData() const { return static_cast<const char *>(buffer.data()); }
  int64_t getByteSize() const { return bytes; }
  int64_t getElementCount() const { return bytes / adrt::elementSize(type); }
  /// A view for the runtime. It is valid until this tensor is moved or destroyed.
  adrt_tensor view() const;

private:
  adrt_type type = ADRT_F32;
  Shape shape;
  adrt::Buffer buffer;
  int64_t bytes = 0;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_SUPPORT_TENSOR_H
