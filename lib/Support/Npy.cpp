// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reading and writing .npy files. Reads go through a file descriptor, not a mapping: a file that shrinks
// while it is read is an error here, and a crash there.
#include "adjoint/Support/Npy.h"
#include "NpyInternal.h"
#include "adjoint/Support/CountText.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Errno.h"

#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::ad::runner;

//===- Reading ------------------------------------------------------------===//

namespace {

/// The parser refuses larger headers, after it has read their length.
constexpr uint64_t headBytes = (1 << 20) + 64;

/// Prepends the path to the message of `error`, and keeps its exit code.
llvm::Error inFile(llvm::StringRef path, llvm::Error error) {
  auto [code, message] = consumeExitError(std::move(error));
  return exitError(code, "'" + path + "': " + message);
}

/// Reads `bytes` bytes, or less at the end of the file; -1 on failure.
int64_t readFully(int descriptor, uint64_t offset, char *destination, int64_t bytes) {
  int64_t done = 0;
  while (done < bytes) {
    ssize_t step =
        llvm::sys::RetryAfterSignal(-1, ::pread, descriptor, destination + done,
                                    static_cast<size_t>(bytes - done), static_cast<off_t>(offset + done));
    if (step < 0)
      return -1;
    if (step == 0)
      break;
    done += step;
  }
  return done;
}

/// Copies Fortran-ordered data into row-major order.
void copyFromFortran(const char *source, char *destination, llvm::ArrayRef<int64_t> shape, int64_t width) {
  Shape strides(shape.size()), index(shape.size(), 0);
  int64_t count = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = count;
    count *= shape[axis];
  }
  int64_t position = 0;
  for (int64_t element = 0; element < count; ++element) {
    std::memcpy(destination + element * width, source + position * width, static_cast<size_t>(width));
    for (size_t axis = shape.size(); axis-- > 0;) {
      position += strides[axis];
      if (++index[axis] < shape[axis])
        break;
      position -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

llvm::Error checkBooleans(const Tensor &tensor) {
  for (int64_t index = 0; index < tensor.getByteSize(); ++index)
    if (static_cast<unsigned char>(tensor.getData()[index]) > 1)
      return usageError("element " + llvm::Twine(index) + " of a boolean array is " +
                        llvm::Twine(static_cast<int>(static_cast<unsigned char>(tensor.getData()[index]))) +
                        ", expected 0 or 1");
  return llvm::Error::success();
}

} // namespace

NpyFile::NpyFile(NpyFile &&other) noexcept
    : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)),
      header(std::move(other.header)) {}

NpyFile::~NpyFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

llvm::Expected<NpyFile> NpyFile::open(llvm::StringRef path) {
  // Non-blocking, so that a pipe without a writer is refused below and does not block.
  int descriptor =
      llvm::sys::RetryAfterSignal(-1, ::open, path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return systemError("cannot read", path);
  NpyFile file(path.str(), descriptor);
  struct stat status;
  if (::fstat(descriptor, &status) != 0)
    return systemError("cannot read", path);
  if (!S_ISREG(status.st_mode))
    return usageError("'" + path + "': not a regular file");
  uint64_t size = static_cast<uint64_t>(status.st_size);
  std::vector<char> head(std::min(size, headBytes));
  int64_t got = readFully(descriptor, 0, head.data(), static_cast<int64_t>(head.size()));
  if (got < 0)
    return systemError("cannot read", path);
  head.resize(static_cast<size_t>(got));
  llvm::Expected<NpyHeader> header = parseNpyHeader(head, size);
  if (!header)
    return inFile(path, header.takeError());
  file.header = std::move(*header);
  return std::move(file);
}

std::string NpyFile::getWarning() const {
  if (header.partialBytes == 0)
    return "";
  return "'" + path + "': the last value is incomplete, since it was being written; " +
         mlir::ad::countText(static_cast<uint64_t>(header.shape.front()), "whole value") + " before it";
}

llvm::Error NpyFile::read(int64_t offset, char *destination, int64_t bytes) const {
  int64_t got = readFully(descriptor, header.dataOffset + static_cast<uint64_t>(offset), destination, bytes);
  if (got < 0)
    return systemError("cannot read", path);
  if (got < bytes)
    return usageError("'" + path + "': the file became shorter while it was read");
  return llvm::Error::success();
}

llvm::Expected<Tensor> NpyFile::load(adrt_type type) const {
  if (!npyTypeFits(header.dtype, type))
    return npyTypeError(path, header.dtype, type);
  llvm::Expected<Tensor> tensor = Tensor::create(type, header.shape);
  if (!tensor)
    return inFile(path, tensor.takeError());
  if (header.fortranOrder && header.shape.size() > 1) {
    llvm::Expected<Tensor> raw = Tensor::create(type, header.shape);
    if (!raw)
      return inFile(path, raw.takeError());
    if (llvm::Error error = read(0, raw->getData(), header.dataBytes))
      return std::move(error);
    copyFromFortran(raw->getData(), tensor->getData(), header.shape, header.elementBytes);
  } else if (llvm::Error error = read(0, tensor->getData(), header.dataBytes)) {
    return std::move(error);
  }
  if (type == ADRT_I1)
    if (llvm::Error error = checkBooleans(*tensor))
      return inFile(path, std::move(error));
  return tensor;
}

//===- Writing ------------------------------------------------------------===//

namespace {

llvm::StringRef npyTypeName(adrt_type type) {
  static constexpr llvm::StringLiteral names[] = {"<f8", "<f4", "<f2", "<V2", "|V1",
                                                  "|V1", "|b1", "|i1", "<i4", "<i8"};
  return names[type];
}

} // namespace

std::string mlir::ad::runner::makeNpyHeader(adrt_type type, llvm::ArrayRef<int64_t> shape, bool isStream) {
  std::string text = "{'descr': '" + npyTypeName(type).str() + "', 'fortran_order': False, 'shape': (";
  for (auto [axis, size] : llvm::enumerate(shape)) {
    constexpr size_t countRoom = 20;
    std::string digits = std::to_string(size);
    if (isStream && axis == 0)
      digits.insert(0, countRoom - digits.size(), ' ');
    text += digits + (shape.size() == 1 ? "," : ", ");
  }
  if (shape.size() > 1)
    text.resize(text.size() - 2);
  text += "), }";
  constexpr size_t prefix = 10, alignment = 64;
  size_t total = (prefix + text.size() + alignment) / alignment * alignment;
  text.resize(total - prefix - 1, ' ');
  text += '\n';
  // The header length of version 1 has two bytes, which is enough for 64 dimensions of 20 digits.
  size_t length = text.size();
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 0xff) +
         static_cast<char>(length >> 8) + text;
}

llvm::Error mlir::ad::runner::writeNpy(llvm::StringRef path, const adrt_tensor &tensor) {
  llvm::ArrayRef<int64_t> shape(tensor.shape, tensor.rank);
  int64_t bytes = adrt::byteSize(tensor.type, tensor.rank, tensor.shape);
  if (bytes < 0)
    return usageError("cannot write '" + path + "': the tensor has an invalid type or shape");
  std::string header = makeNpyHeader(static_cast<adrt_type>(tensor.type), shape);
  llvm::StringRef data(static_cast<const char *>(tensor.data), static_cast<size_t>(bytes));
  return writeFile(path, {header, data});
}
