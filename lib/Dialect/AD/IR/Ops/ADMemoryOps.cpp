// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Buffers and copies of the memory plan: assembly and verifiers. Labels are those of docs/spec/kernels.md.

#include "../Attributes/BufferAssembly.h"
#include "../Destinations.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::ad;

#include "adjoint/Dialect/AD/IR/ADBufferEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "adjoint/Dialect/AD/IR/ADTypes.cpp.inc"

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADMemoryOps.cpp.inc"

void ADDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "adjoint/Dialect/AD/IR/ADTypes.cpp.inc"
      >();
}

void ADDialect::registerMemoryOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADMemoryOps.cpp.inc"
      >();
}

//===- #ad.buffer ---------------------------------------------------------===//

using EmitError = function_ref<InFlightDiagnostic()>;

ParseResult ad::parseStorage(AsmParser &parser, StorageKind &storage) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<StorageKind> known = symbolizeStorageKind(word);
  if (!known)
    return parser.emitError(loc, "expected arena, pool, argument or result, but got '") << word << "'";
  storage = *known;
  return success();
}

void ad::printStorage(AsmPrinter &printer, StorageKind storage) { printer << stringifyStorageKind(storage); }

// More pools than any program has. The plan has a row for each number up to the largest one.
static constexpr int64_t kMaxNumber = int64_t(1) << 20;

static LogicalResult verifyNumber(EmitError emitError, StorageKind storage, int64_t number) {
  if (storage == StorageKind::arena && number != 0)
    return emitError() << "expected no number of the arena, but got " << number;
  if (storage == StorageKind::pool && number < 1)
    return emitError() << "expected the number of a pool, from 1, but got " << number;
  if (number < 0)
    return emitError() << "expected number to be at least 0, but got " << number;
  if (number > kMaxNumber)
    return emitError() << "expected number to be at most 2^20, but got " << number;
  return success();
}

LogicalResult BufferAttr::verify(EmitError emitError, StorageKind storage, int64_t number, int64_t offset,
                                 int64_t bytes) {
  if (failed(verifyNumber(emitError, storage, number)))
    return failure();
  if (offset < 0)
    return emitError() << "expected offset to be at least 0, but got " << offset;
  if (bytes < 0)
    return emitError() << "expected bytes to be at least 0, but got " << bytes;
  constexpr int64_t maxBytes = int64_t(1) << 60; // more than any memory; sums fit in 64 bits
  if (offset > maxBytes || bytes > maxBytes)
    return emitError() << "expected offset and bytes to be at most 2^60, but got " << offset << " and "
                       << bytes;
  bool isWhole = storage == StorageKind::argument || storage == StorageKind::result;
  if (isWhole && offset != 0)
    return emitError() << "expected offset 0 in the memory of an argument or result, but got " << offset;
  return success();
}

//===- ad.buffer ----------------------------------------------------------===//

LogicalResult ad::verifyDestinations(Operation *op, ValueRange destinations) {
  for (Value destination : destinations)
    if (!destination.getDefiningOp<BufferOp>())
      return op->emitOpError("expected 'into' to be a direct result of ad.buffer");
  return success();
}

// %arena, %pool1, %argument0, %result0
void BufferOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  BufferAttr buffer = getAllocation();
  std::string name = stringifyStorageKind(buffer.getStorage()).str();
  if (buffer.getStorage() != StorageKind::arena)
    name += std::to_string(buffer.getNumber());
  setName(getResult(), name);
}

LogicalResult BufferOp::verify() {
  auto function = dyn_cast_or_null<func::FuncOp>((*this)->getParentOp());
  if (!function) // buffer_c1
    return emitOpError("expected a func.func as its parent");
  BufferAttr buffer = getAllocation();
  bool isResult = buffer.getStorage() == StorageKind::result;
  if (!isResult && buffer.getStorage() != StorageKind::argument)
    return success();
  ArrayRef<Type> types = isResult ? function.getResultTypes() : function.getArgumentTypes();
  StringRef kind = stringifyStorageKind(buffer.getStorage());
  if (buffer.getNumber() >= static_cast<int64_t>(types.size())) // buffer_c2
    return emitOpError("expected one of ") << types.size() << " " << kind << "s of the function, but got "
                                           << kind << " " << buffer.getNumber();
  auto type = dyn_cast<RankedTensorType>(types[buffer.getNumber()]);
  if (!type) // buffer_c2
    return emitOpError("expected ") << kind << " " << buffer.getNumber() << " to be a tensor, but got "
                                    << types[buffer.getNumber()];
  if (buffer.getBytes() != bytesPerUnit(type)) // buffer_c2
    return emitOpError("expected ") << bytesPerUnit(type) << " bytes, as " << type << " has, but got "
                                    << buffer.getBytes();
  return success();
}
