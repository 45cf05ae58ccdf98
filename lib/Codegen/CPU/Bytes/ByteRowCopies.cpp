// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies of rows of i8 that are not contiguous along K, in chunks that stay in the second-level cache.

#include "ByteRowCopies.h"
#include "../Movement/VectorShuffles.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// The products whose rows are copied, in the order in which the results need them.
SmallVector<ByteProduct> ByteRowCopies::productsWithCopies(const CPUNest &nest) {
  llvm::MapVector<Operation *, ByteProduct> copied;
  for (Value output : nest.outputs)
    dependsOn(output, [&](linalg::GenericOp generic) {
      if (auto found = byteProducts.chosen.find(generic);
          found != byteProducts.chosen.end() && found->second.copiesRows)
        copied.insert({generic, found->second});
      return false;
    });
  return llvm::to_vector(llvm::make_second_range(copied));
}

// The rows from `lower` to `upper` in chunks whose copies fit.
LogicalResult ByteRowCopies::overRowChunks(const CPUNest &nest, const Position &outer, Value lower,
                                           Value upper, function_ref<LogicalResult(Value, Value)> body) {
  SmallVector<ByteProduct> products = productsWithCopies(nest);
  if (products.empty())
    return body(lower, upper);
  int64_t count = nest.rowCount(), rows = std::numeric_limits<int64_t>::max();
  for (const ByteProduct &product : products)
    rows = std::min(rows, byteProducts.copiedRowsOf(nest, product.sizeK));
  bool oneChunk = !ShapedType::isDynamic(count) && count <= rows;
  SmallVector<Buffer> targets;
  for (ByteProduct &product : products) {
    Value step = indexConstant(vectorLanes * kBytesPerLane);
    Value pitch =
        binary<arith::MulIOp>(binary<arith::CeilDivUIOp>(byteProducts.sizeOfK(product), step), step);
    Buffer target{nullptr,
                  builder.getI8Type(),
                  {1, constantOf(pitch).value_or(ShapedType::kDynamic)},
                  {indexConstant(1), pitch}};
    Value &memory = byteProducts.rowMemory[product.rows];
    int64_t fitting = byteProducts.copiedRowsOf(nest, product.sizeK);
    if (!memory)
      memory = stackMemory.allocate(
          target.element,
          byteProducts.scratchBytes(ShapedType::isDynamic(count) ? fitting : std::min(count, fitting),
                                    product.sizeK));
    target.pointer = memory;
    targets.push_back(target);
  }
  auto chunk = [&](Value from) -> LogicalResult {
    Value to =
        oneChunk ? upper : binary<arith::MinUIOp>(binary<arith::AddIOp>(from, indexConstant(rows)), upper);
    for (auto [product, target] : llvm::zip_equal(products, targets)) {
      // Row `from` is the first row of the copy.
      Value back = binary<arith::MulIOp>(from, binary<arith::SubIOp>(indexConstant(0), target.sizes[1]));
      Buffer shifted(target);
      shifted.pointer = memoryAccess.pointerAt(target, back);
      copyRows(product, shifted, outer, from, to);
      copied[product.rows] = shifted;
    }
    return body(from, to);
  };
  return oneChunk ? chunk(lower) : emitLoop(lower, upper, indexConstant(rows), chunk);
}

ByteRowCopies::RowCopy ByteRowCopies::copyOf(const ByteProduct &product, const Buffer &target,
                                             const Position &outer) {
  AffineMap map = cast<linalg::GenericOp>(product.rows->getOwner()).getMatchingIndexingMap(product.rows);
  RowCopy copy{byteProducts.bufferOf(product.rows), target, {}, int64_t(map.getNumResults()) - 1, 0};
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (loop == product.loopK)
      copy.axisK = axis;
    bool isOuter = loop != product.loopK && int64_t(axis) != copy.rowAxis;
    copy.position.push_back(isOuter ? outer[loop] : Index{indexConstant(0), 0, nullptr});
  }
  return copy;
}

// A block of as many rows and groups as there are lanes, from `row` and the group with that number on: groups
// of adjacent rows, transposed in registers. Zeros pad a block of fewer than `lanes` groups.
LogicalResult ByteRowCopies::copyBlock(RowCopy &copy, Value row, Value number, int64_t count, Value active) {
  copy.position[copy.rowAxis] = {row, 1, nullptr};
  SmallVector<Value> groups;
  mask = active;
  for (int64_t i = 0; i < count; ++i) {
    copy.position[copy.axisK] = {binary<arith::AddIOp>(number, indexConstant(i)), 0, nullptr};
    groups.push_back(laneValues.splat(byteGroups.groupAt(copy.source, copy.position, copy.axisK), lanes));
  }
  mask = nullptr;
  groups.resize(lanes, byteGroups.zerosLike(groups.front()));
  transposeInRegisters(builder, loc, groups);
  Value first = binary<arith::MulIOp>(number, indexConstant(kBytesPerLane));
  for (int64_t i = 0; i < lanes; ++i) {
    Position at = {{binary<arith::AddIOp>(row, indexConstant(i)), 0, nullptr}, {first, 0, nullptr}};
    int64_t step;
    Value indices, index = memoryAccess.linearIndex(copy.target, at, step, indices);
    LLVM::StoreOp::create(builder, loc, groups[i], memoryAccess.pointerAt(copy.target, index), kBytesPerLane);
  }
  return success();
}

// Zeros after the end of K pad the last block. Rows past the last one are never read.
void ByteRowCopies::copyRows(const ByteProduct &product, const Buffer &target, const Position &outer,
                             Value lower, Value upper) {
  RowCopy copy = copyOf(product, target, outer);
  Value sizeK = byteProducts.sizeOfK(product), block = indexConstant(vectorLanes * kBytesPerLane);
  Value whole = binary<arith::MulIOp>(binary<arith::DivUIOp>(sizeK, block), indexConstant(vectorLanes));
  Value all = binary<arith::CeilDivUIOp>(sizeK, indexConstant(kBytesPerLane));
  int64_t rest = constantOf(binary<arith::SubIOp>(all, whole)).value_or(vectorLanes);
  WithLanes vectorCode(context, vectorLanes, nullptr);
  auto rows = [&](Value row, Value active) -> LogicalResult {
    (void)emitLoop(indexConstant(0), whole, indexConstant(lanes),
                   [&](Value number) { return copyBlock(copy, row, number, lanes, active); });
    llvm::SaveAndRestore inRest(byteGroups.inPartialGroup, product.isDynamicK());
    return emitLoop(whole, all, indexConstant(lanes),
                    [&](Value number) { return copyBlock(copy, row, number, rest, active); });
  };
  Value width = indexConstant(lanes), size = binary<arith::SubIOp>(upper, lower);
  Value middle = binary<arith::SubIOp>(upper, binary<arith::RemUIOp>(size, width));
  (void)emitLoop(lower, middle, width, [&](Value row) { return rows(row, nullptr); });
  (void)emitLoop(middle, upper, width, [&](Value row) {
    return rows(row, laneValues.lanesBelow(binary<arith::SubIOp>(upper, row)));
  });
}
