// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A queue of tensors on disk.
#include "TensorQueue.h"
#include "adjoint/Support/Buffer.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"

#include <cstdlib>
#include <unistd.h>

using namespace mlir;
using namespace mlir::ad::runner;

TensorQueue::~TensorQueue() {
  if (file)
    std::fclose(file);
}

llvm::Error TensorQueue::open(StringRef newFolder) {
  folder = newFolder.str();
  std::string path = folder + "/results-XXXXXX";
  int descriptor = mkstemp(path.data());
  if (descriptor < 0)
    return systemError("cannot make a temporary file in", folder);
  ::unlink(path.c_str());
  file = fdopen(descriptor, "w+b");
  return file ? llvm::Error::success() : systemError("cannot open a temporary file in", folder);
}

llvm::Error TensorQueue::push(const adrt_tensor &tensor) {
  int64_t header[2] = {tensor.type, tensor.rank};
  auto rank = static_cast<size_t>(tensor.rank);
  auto bytes = static_cast<size_t>(adrt::byteSize(tensor.type, tensor.rank, tensor.shape));
  bool written = std::fwrite(header, sizeof(header), 1, file) == 1 &&
                 std::fwrite(tensor.shape, sizeof(int64_t), rank, file) == rank &&
                 std::fwrite(tensor.data, 1, bytes, file) == bytes;
  return written ? llvm::Error::success() : systemError("cannot keep values of the run in", folder);
}

llvm::Error TensorQueue::rewind() {
  bool done = std::fflush(file) == 0 && std::fseek(file, 0, SEEK_SET) == 0;
  return done ? llvm::Error::success() : systemError("cannot keep values of the run in", folder);
}

std::optional<mlir::ad::reference::Tensor> TensorQueue::pop() {
  int64_t header[2];
  if (std::fread(header, sizeof(header), 1, file) != 1)
    return std::nullopt;
  auto rank = static_cast<size_t>(header[1]);
  SmallVector<int64_t> shape(rank);
  if (std::fread(shape.data(), sizeof(int64_t), rank, file) != rank)
    return std::nullopt;
  ad::reference::Tensor tensor(static_cast<ad::reference::ElementType>(header[0]), shape);
  auto bytes = static_cast<size_t>(tensor.getNumBytes());
  if (std::fread(tensor.bytes(), 1, bytes, file) != bytes)
    return std::nullopt;
  return tensor;
}
