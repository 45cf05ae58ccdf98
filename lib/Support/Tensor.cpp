// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors on the host's side.
#include "adjoint/Support/Tensor.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/MemoryLimit.h"

#include <cstdlib>
#include <cstring>

using namespace mlir::ad::runner;

std::string mlir::ad::runner::formatType(adrt_type type, llvm::ArrayRef<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += (size == dynamicSize ? "?" : std::to_string(size)) + "x";
  return text + adrt::typeName(type) + ">";
}

bool mlir::ad::runner::shapeFits(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> expected) {
  if (shape.size() != expected.size())
    return false;
  for (auto [size, wanted] : llvm::zip(shape, expected))
    if (wanted != dynamicSize && size != wanted)
      return false;
  return true;
}

std::optional<adrt_type> mlir::ad::runner::parseElementType(llvm::StringRef name) {
  for (int type = ADRT_F64; type <= ADRT_I64; ++type)
    if (name == adrt::typeName(type))
      return static_cast<adrt_type>(type);
  return std::nullopt;
}

bool mlir::ad::runner::isFloat(adrt_type type) { return type < ADRT_I1; }

// Where tensors begin after a multiple of 64 bytes. Tests and measurements set it: arrays of other libraries
// begin anywhere, those of NumPy at 16.
static int64_t offsetOf(adrt_type type) {
  static const int64_t offset = [] {
    const char *given = secure_getenv("ADJOINT_ARRAY_OFFSET");
    int64_t bytes = 0;
    bool isNumber = given && !llvm::StringRef(given).getAsInteger(10, bytes);
    return isNumber && bytes > 0 && bytes < adrt::Buffer::alignment ? bytes : 0;
  }();
  return offset / adrt::elementSize(type) * adrt::elementSize(type);
}

llvm::Expected<Tensor> Tensor::create(adrt_type type, llvm::ArrayRef<int64_t> shape) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.bytes = adrt::byteSize(type, static_cast<int32_t>(shape.size()), shape.data());
  if (tensor.bytes < 0)
    return usageError("a " + formatType(type, shape) + " is too large for this machine");
  if (!tensor.buffer.reserve(tensor.bytes, offsetOf(type)))
    return exitError(ExitNoTarget, "not enough memory for a " + formatType(type, shape) + " of " +
                                       adrt::describeLackOfMemory(tensor.bytes));
  return std::move(tensor);
}

llvm::Expected<Tensor> Tensor::copyOf(const adrt_tensor &view) {
  llvm::Expected<Tensor> copy =
      create(static_cast<adrt_type>(view.type), {view.shape, static_cast<size_t>(view.rank)});
  if (copy && copy->getByteSize() > 0)
    std::memcpy(copy->getData(), view.data, static_cast<size_t>(copy->getByteSize()));
  return copy;
}

llvm::Expected<Tensor> Tensor::clone() const {
  llvm::Expected<Tensor> copy = create(type, shape);
  if (copy)
    std::memcpy(copy->getData(), getData(), static_cast<size_t>(bytes));
  return copy;
}

adrt_tensor Tensor::view() const {
  return {buffer.data(), shape.data(), static_cast<int32_t>(shape.size()), type};
}
