// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Panels of packed operands: where tiles load them from and the first tile stores them to.

#include "PackedPanels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// The prefetch distance in rows. Each row of an operand that is read in place is on its own page, which the
// hardware does not prefetch; the prefetched rows must fit the one set of the first-level cache that rows a
// multiple of the page size apart map to.
static int64_t rowsAhead(ArrayRef<int64_t> shape, int64_t elementBytes, bool inPlace) {
  return inPlace && areRowsPagesApart(shape.back(), elementBytes) ? 8 : 40;
}

// Panels of a dynamic K are as long as K is, rounded up to whole vectors.
Value PackedPanels::panelElements(const PackedOperand &packed) {
  if (!packed.isDynamicK())
    return indexConstant(packed.sizeK * packed.tile);
  Value steps =
      binary<arith::CeilDivUIOp>(elementsOf(packed).sizes[packed.axisK], indexConstant(packed.group));
  Value vectors = binary<arith::CeilDivUIOp>(steps, indexConstant(vectorLanes));
  return binary<arith::MulIOp>(vectors, indexConstant(vectorLanes * packed.tile));
}

// Whether the panels of all operands with a dynamic K have room for it; null if there is none.
Value PackedPanels::fitsPanels(ArrayRef<PackedOperand> packed) {
  Value all;
  for (const PackedOperand &operand : packed) {
    if (!operand.mayNotFit())
      continue;
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                       elementsOf(operand).sizes[operand.axisK], indexConstant(operand.maxK));
    all = both(all, fits);
  }
  return all;
}

// The offset of element (k, column): the panel of the column, then k, then the column in the panel.
Value PackedPanels::packedIndex(const PackedOperand &packed, Value indexK, Value column) {
  Value width = indexConstant(packed.tile);
  Value offset = binary<arith::SubIOp>(column, packed.start);
  Value panel = binary<arith::DivUIOp>(offset, width);
  Value within = binary<arith::RemUIOp>(offset, width);
  Value index = binary<arith::MulIOp>(panel, packed.stride);
  index = binary<arith::AddIOp>(index, within);
  return binary<arith::AddIOp>(index, binary<arith::MulIOp>(indexK, width));
}

Value PackedPanels::packedPointer(const PackedOperand &packed, ArrayRef<Index> loops) {
  auto generic = cast<linalg::GenericOp>(packed.operand->getOwner());
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  const Index &column = loops[loops.size() - reduced.size() - 1];
  Value indexK = loops[reduced.front()].base;
  for (unsigned loop : ArrayRef(reduced).drop_front())
    indexK = binary<arith::AddIOp>(
        binary<arith::MulIOp>(indexK, indexConstant(generic.getStaticLoopRanges()[loop])), loops[loop].base);
  if (packed.firstK)
    indexK = binary<arith::SubIOp>(indexK, packed.firstK);
  return pointerToPacked(packed, indexK, column.base);
}

Value PackedPanels::pointerToPacked(const PackedOperand &packed, Value indexK, Value column) {
  Buffer target;
  target.pointer = packed.pointer;
  target.element = packed.memory;
  return memoryAccess.pointerAt(target, packedIndex(packed, indexK, column));
}

Value PackedPanels::loadPacked(const PackedOperand &packed, ArrayRef<Index> loops) {
  Type type = lanes > 1 ? Type(VectorType::get(lanes, packed.memory)) : packed.memory;
  // Panels have elements for lanes past the last column.
  Value value = LLVM::LoadOp::create(builder, loc, type, packedPointer(packed, loops),
                                     packed.memory.getIntOrFloatBitWidth() / 8);
  return packed.group > 1 ? value : fromMemory(value, getElementTypeOrSelf(packed.operand->get().getType()));
}

// The rows of a tile use one value, which is stored once, or never if no other tile loads it.
void PackedPanels::fillPacked(PackedOperand &packed, ArrayRef<Index> loops, Value value) {
  if (!packed.filled.insert(value.getAsOpaquePointer()).second)
    return;
  if (!packed.inPlace)
    LLVM::StoreOp::create(builder, loc, value, packedPointer(packed, loops),
                          getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8);
  SmallVector<unsigned> reduced;
  cast<linalg::GenericOp>(packed.operand->getOwner()).getReductionDims(reduced);
  SmallVector<Index> later(loops);
  Index &indexK = later[reduced.front()];
  const Buffer &buffer = buffers.find(packed.operand->get())->second;
  int64_t ahead = rowsAhead(buffer.shape, packed.memory.getIntOrFloatBitWidth() / 8, packed.inPlace);
  indexK.base = binary<arith::AddIOp>(indexK.base, indexConstant(ahead));
  int64_t step;
  Value indices;
  Value index = memoryAccess.linearIndex(buffer, maps.apply(packed.map, later), step, indices);
  LLVM::Prefetch::create(builder, loc, memoryAccess.pointerAt(buffer, index), /*rw=*/0, /*hint=*/3,
                         /*cache=*/1);
}

bool PackedPanels::canPrefetch(const PackedOperand &packed) {
  Type element = getElementTypeOrSelf(packed.operand->get().getType());
  return packed.group == 1 && !packed.flat && !packed.isTransposed() && memoryType(element) == element &&
         buffers.count(packed.operand->get());
}

bool PackedPanels::canFill(const PackedOperand &packed) {
  return !packed.prepacked && !packed.inPlace && canPrefetch(packed);
}

// The part of a flat operand that is packed, as a matrix.
Buffer PackedPanels::flatElements(const PackedOperand &packed, const Buffer &whole) {
  int64_t columns = whole.shape.back(), sizeK = 1;
  for (int64_t size : ArrayRef(whole.shape).drop_back())
    sizeK *= size;
  Buffer part{whole.pointer, whole.element, {sizeK, columns}, {indexConstant(sizeK), whole.sizes.back()}};
  if (!packed.firstK)
    return part;
  part.pointer = memoryAccess.pointerAt(whole, binary<arith::MulIOp>(packed.firstK, indexConstant(columns)));
  part.shape.front() = ShapedType::kDynamic;
  part.sizes.front() = packed.sizeOfPart;
  return part;
}

// An operand that the kernel converts has sizes, but no address.
Buffer PackedPanels::elementsOf(const PackedOperand &packed) {
  if (packed.flat)
    return flatElements(packed, buffers.find(packed.operand->get())->second);
  if (auto found = buffers.find(packed.operand->get()); found != buffers.end())
    return found->second;
  auto type = cast<RankedTensorType>(packed.operand->get().getType());
  Buffer buffer{{}, type.getElementType(), SmallVector<int64_t>(type.getShape()), {}};
  for (int64_t size : type.getShape())
    buffer.sizes.push_back(indexConstant(size));
  return buffer;
}

// The position of an element of the operand, with batch axes from the outer loops.
Position PackedPanels::operandPosition(const PackedOperand &packed, const Position &outer, Index indexK,
                                       Index column) {
  Position position(packed.map.getNumResults());
  for (auto [axis, expr] : llvm::enumerate(packed.map.getResults()))
    position[axis] = int64_t(axis) == packed.columnAxis ? column
                     : int64_t(axis) == packed.axisK    ? indexK
                                                        : outer[cast<AffineDimExpr>(expr).getPosition()];
  return position;
}
