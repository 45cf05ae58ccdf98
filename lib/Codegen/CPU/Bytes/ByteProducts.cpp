// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which contractions of i8 have tiles that multiply groups of four elements, and how many of their rows are
// copied at once.

#include "ByteProducts.h"
#include "adjoint/Codegen/Kernel/Contractions.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Of the rows that are copied at once for one operand.
static constexpr int64_t kRowBytes = kCore.secondLevelBytes / 4;

// Rows of a dynamic K are copied up to this length.
static constexpr int64_t kLongestCopy = 4096;

// Whether the results of the contraction have the layout that the nest enumerates.
static bool hasResultsOf(linalg::GenericOp generic, size_t rank) {
  AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  return out.getNumResults() == rank && llvm::all_of(llvm::enumerate(out.getResults()), [&](auto each) {
           return each.value() == getAffineDimExpr(each.index(), out.getContext());
         });
}

// The number of iterations, dynamic unless the type of an operand has it.
static int64_t sizeOfLoop(linalg::GenericOp generic, unsigned loop) {
  for (OpOperand *operand : generic.getDpsInputOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand->get().getType()))
      for (auto [axis, expr] : llvm::enumerate(generic.getMatchingIndexingMap(operand).getResults()))
        if (expr == getAffineDimExpr(loop, generic.getContext()) && !type.isDynamicDim(axis))
          return type.getDimSize(axis);
  return generic.getStaticLoopRanges()[loop];
}

// The roles of the operands, when tiles of the nest can read both in groups.
std::optional<ByteProduct> ByteProducts::byteProductOf(linalg::GenericOp generic, const CPUNest &nest,
                                                       unsigned columnLoop) {
  if (!multipliesBytes(generic) || !hasResultsOf(generic, nest.shape.size()))
    return std::nullopt;
  ByteProduct product;
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  product.loopK = reduced.front();
  product.sizeK = sizeOfLoop(generic, product.loopK);
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    bool isColumns = generic.getMatchingIndexingMap(operand).isFunctionOfDim(columnLoop);
    (isColumns ? product.columns : product.rows) = operand;
    if (!buffers.count(operand->get()))
      return std::nullopt;
  }
  if (!product.rows || !product.columns || product.sizeK == 0)
    return std::nullopt;
  AffineMap rows = generic.getMatchingIndexingMap(product.rows);
  AffineMap columns = generic.getMatchingIndexingMap(product.columns);
  if (!rows.isProjectedPermutation())
    return std::nullopt;
  bool lastLanes = columnLoop + 1 == nest.shape.size();
  if (!columns.isProjectedPermutation()) {
    auto layout = PackedLayout::match(columns, cast<RankedTensorType>(product.columns->get().getType()),
                                      generic.getStaticLoopRanges(), columnLoop, product.loopK);
    if (!layout || product.isDynamicK() || layout->group != kBytesPerLane ||
        layout->tile % vectorLanes != 0 || !nest.blocked || !lastLanes)
      return std::nullopt;
  }
  product.copiesRows = rows.getResults().back() != builder.getAffineDimExpr(product.loopK);
  if (!product.copiesRows)
    return product;
  bool rowsAreLast = nest.blocked && lastLanes && nest.rowAxes.size() == 1 &&
                     rows.getResults().back() == builder.getAffineDimExpr(nest.rowAxes.front());
  return rowsAreLast && copiedRowsOf(nest, product.sizeK) > 0 ? std::optional(product) : std::nullopt;
}

// Copies of rows share half of what is left of the stack.
void ByteProducts::chooseByteProducts(const CPUNest &nest, unsigned columnLoop) {
  chosen.clear();
  rowMemory.clear();
  if (!context.hasDotProducts || !kByteDotProduct.hasVectors(vectorLanes))
    return;
  ReductionsAtPoints atPoints = reductionsAtPoints(nest.outputs);
  auto choose = [&](linalg::GenericOp generic) {
    if (!atPoints.contains(generic))
      return false;
    if (std::optional<ByteProduct> product = byteProductOf(generic, nest, columnLoop))
      chosen[generic] = *product;
    return false;
  };
  auto chooseAll = [&] {
    chosen.clear();
    for (Value output : nest.outputs)
      dependsOn(output, choose);
  };
  int64_t all = stackMemory.left() / 2;
  rowBytes = std::min(kRowBytes, all);
  chooseAll();
  int64_t copies = llvm::count_if(chosen, [](auto &each) { return each.second.copiesRows; });
  if (copies * rowBytes <= all)
    return;
  rowBytes = all / copies;
  chooseAll();
}

// The memory of an operand in place. K is static if the type of either operand says it.
Buffer ByteProducts::bufferOf(OpOperand *operand) {
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  const ByteProduct &product = chosen.find(generic)->second;
  Buffer buffer = buffers.lookup(operand->get());
  for (auto [axis, expr] : llvm::enumerate(generic.getMatchingIndexingMap(operand).getResults()))
    if (expr == builder.getAffineDimExpr(product.loopK) && !product.isDynamicK()) {
      buffer.shape[axis] = product.sizeK;
      buffer.sizes[axis] = indexConstant(product.sizeK);
    }
  return buffer;
}

// The size of K at run time.
Value ByteProducts::sizeOfK(const ByteProduct &product) {
  if (!product.isDynamicK())
    return indexConstant(product.sizeK);
  AffineMap map =
      cast<linalg::GenericOp>(product.columns->getOwner()).getMatchingIndexingMap(product.columns);
  const auto *axis = llvm::find(map.getResults(), builder.getAffineDimExpr(product.loopK));
  return bufferOf(product.columns).sizes[axis - map.getResults().begin()];
}

//===- Rows that are not contiguous along K -===//

static int64_t pitchOf(int64_t sizeK, int64_t lanes) {
  return llvm::alignTo(ShapedType::isDynamic(sizeK) ? kLongestCopy : sizeK, lanes * kBytesPerLane);
}

// Whether each dynamic K of rows that are copied is short enough; null if there is none.
Value ByteProducts::fitsCopies() {
  Value all;
  for (ByteProduct &product : llvm::make_second_range(chosen)) {
    if (!product.copiesDynamicK())
      continue;
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, sizeOfK(product),
                                       indexConstant(kLongestCopy));
    all = both(all, fits);
  }
  return all;
}

// The number of rows that are copied at once: whole tiles, 0 if no tile fits.
int64_t ByteProducts::copiedRowsOf(const CPUNest &nest, int64_t sizeK) {
  int64_t maxRows = rowBytes / pitchOf(sizeK, vectorLanes) / vectorLanes * vectorLanes;
  return maxRows / nest.rows * nest.rows;
}

int64_t ByteProducts::scratchBytes(int64_t rows, int64_t sizeK) {
  return llvm::alignTo(rows, vectorLanes) * pitchOf(sizeK, vectorLanes);
}

int64_t ByteProducts::scratchForRows(const CPUNest &nest) {
  int64_t bytes = 0;
  for (auto &[operation, product] : chosen)
    if (product.copiesRows)
      bytes += scratchBytes(copiedRowsOf(nest, product.sizeK), product.sizeK);
  return bytes;
}
