// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SwizzledTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Fields of a matrix descriptor, from its lowest bit: the address, the leading and the stride byte offset,
// each in units of 16 bytes, and the swizzle mode.
static constexpr unsigned kUnitShift = 4, kLeadingShift = 16, kStrideShift = 32, kSwizzleShift = 62;
static constexpr uint64_t kAddressMask = 0x3fff, kSwizzle128 = 1;
// Eight rows, after which the swizzle repeats.
static constexpr uint64_t kCoreMatrixBytes = 8 * kSwizzleBytes;

static Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), value);
}

int64_t SwizzledTile::offsetOf(int64_t index, int64_t step) const {
  return kMajor ? index * kSwizzleBytes + step * elementBytes
                : index / rowElements() * slabBytes() + step * kSwizzleBytes;
}

// The stride byte offset leads from one group of eight rows to the next; the leading byte offset from one
// slab to the next. With one slab the hardware does not read it.
Value SwizzledTile::describe(OpBuilder &builder, Location loc, Value pointer) const {
  uint64_t leading = kMajor ? 1 : static_cast<uint64_t>(slabBytes()) >> kUnitShift;
  uint64_t bits = leading << kLeadingShift | (kCoreMatrixBytes >> kUnitShift) << kStrideShift |
                  kSwizzle128 << kSwizzleShift;
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer);
  Value units = arith::ShRUIOp::create(builder, loc, address, constant(builder, loc, kUnitShift));
  units = arith::AndIOp::create(builder, loc, units, constant(builder, loc, kAddressMask));
  return arith::OrIOp::create(builder, loc, units, constant(builder, loc, static_cast<int64_t>(bits)));
}

Value SwizzledTile::advance(OpBuilder &builder, Location loc, Value descriptor, int64_t bytes) {
  return builder.createOrFold<arith::AddIOp>(loc, descriptor, constant(builder, loc, bytes >> kUnitShift));
}

static NVVM::WGMMATypes instructionType(Type element) {
  if (element.isInteger(8))
    return NVVM::WGMMATypes::s8;
  if (element.isF32())
    return NVVM::WGMMATypes::tf32;
  return element.isF16() ? NVVM::WGMMATypes::f16 : NVVM::WGMMATypes::bf16;
}

// Sums of integers wrap, since the instruction is without .satfinite.
Value device::emitWgmma(OpBuilder &builder, Location loc, Type element, Value a, bool aKMajor, Value b,
                        bool bKMajor, Value accumulators) {
  int64_t n = 2 * cast<LLVM::LLVMStructType>(accumulators.getType()).getBody().size();
  NVVM::WGMMATypes type = instructionType(element),
                   accumulatorType = element.isInteger() ? NVVM::WGMMATypes::s32 : NVVM::WGMMATypes::f32;
  auto shape = NVVM::MMAShapeAttr::get(builder.getContext(), kWgmmaM, n,
                                       kWgmmaKBytes * 8 / element.getIntOrFloatBitWidth());
  return NVVM::WgmmaMmaAsyncOp::create(
      builder, loc, accumulators.getType(), accumulators, a, b, shape, type, type, accumulatorType,
      NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
      aKMajor ? NVVM::MMALayout::row : NVVM::MMALayout::col,
      bKMajor ? NVVM::MMALayout::col : NVVM::MMALayout::row, NVVM::MMAIntOverflowAttr());
}

Value device::zeroAccumulators(OpBuilder &builder, Location loc, Type type, int64_t columns) {
  SmallVector<Type> elements(columns / 2, type);
  Type accumulators = LLVM::LLVMStructType::getLiteral(builder.getContext(), elements);
  return LLVM::ZeroOp::create(builder, loc, accumulators);
}
