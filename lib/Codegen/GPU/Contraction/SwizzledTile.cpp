// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Matrix descriptors and `wgmma`, by the tables of the PTX ISA.

#include "SwizzledTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Of a descriptor, from its lowest bit: addresses and distances in units of 16 bytes, and the swizzle.
static constexpr unsigned kUnitShift = 4, kLeadingShift = 16, kStrideShift = 32, kSwizzleShift = 62;
static constexpr uint64_t kAddressMask = 0x3fff, kSwizzle128 = 1;
// Eight lines, after which the exchange of chunks begins again.
static constexpr uint64_t kGroupBytes = 8 * kSwizzleBytes;

static Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), value);
}

int64_t SwizzledTile::offsetOf(int64_t row, int64_t deep) const {
  return alongDepth ? row * kSwizzleBytes + deep * elementBytes
                    : row / lineElements() * slabBytes() + deep * kSwizzleBytes;
}

// The stride leads from one group of eight lines to the next; the leading distance from one slab to the next,
// where there are several, and is not read otherwise.
Value SwizzledTile::describe(OpBuilder &builder, Location loc, Value pointer) const {
  uint64_t leading = alongDepth ? 1 : static_cast<uint64_t>(slabBytes()) >> kUnitShift;
  uint64_t bits =
      leading << kLeadingShift | (kGroupBytes >> kUnitShift) << kStrideShift | kSwizzle128 << kSwizzleShift;
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

// Sums of integers wrap, unless the instruction is told to saturate.
Value device::multiplyInWarpgroup(OpBuilder &builder, Location loc, Type element, Value rows,
                                  bool rowsAlongDepth, Value columns, bool columnsAlongDepth, Value sums) {
  int64_t count = 2 * cast<LLVM::LLVMStructType>(sums.getType()).getBody().size();
  NVVM::WGMMATypes type = instructionType(element),
                   sumType = element.isInteger() ? NVVM::WGMMATypes::s32 : NVVM::WGMMATypes::f32;
  auto shape = NVVM::MMAShapeAttr::get(builder.getContext(), kWarpgroupRows, count,
                                       kStepBytes * 8 / element.getIntOrFloatBitWidth());
  return NVVM::WgmmaMmaAsyncOp::create(
      builder, loc, sums.getType(), sums, rows, columns, shape, type, type, sumType, NVVM::WGMMAScaleOut::one,
      NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
      rowsAlongDepth ? NVVM::MMALayout::row : NVVM::MMALayout::col,
      columnsAlongDepth ? NVVM::MMALayout::col : NVVM::MMALayout::row, NVVM::MMAIntOverflowAttr());
}

Value device::zeroSums(OpBuilder &builder, Location loc, Type type, int64_t columns) {
  SmallVector<Type> words(columns / 2, type);
  Type sums = LLVM::LLVMStructType::getLiteral(builder.getContext(), words);
  return LLVM::ZeroOp::create(builder, loc, sums);
}
