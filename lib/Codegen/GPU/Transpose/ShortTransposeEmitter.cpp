// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ShortTransposeEmitter.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Elements along a short axis: with more, a tile in shared memory is faster. And elements that a thread keeps
// in registers.
static constexpr int64_t kMaxShort = 8, kMaxElements = 32;

// Dynamic if one of the axes is.
static int64_t elementsAlong(const Transposition &transposition, ArrayRef<int64_t> axes) {
  auto type = cast<RankedTensorType>(transposition.op->getResult(0).getType());
  int64_t count = 1;
  for (int64_t axis : axes)
    count = type.isDynamicDim(axis) || ShapedType::isDynamic(count) ? ShapedType::kDynamic
                                                                    : count * type.getDimSize(axis);
  return count;
}

static bool isShort(const Transposition &transposition, ArrayRef<int64_t> axes) {
  int64_t count = elementsAlong(transposition, axes);
  return !ShapedType::isDynamic(count) && count > 0 && count <= kMaxShort;
}

bool device::hasShortAxis(const Transposition &transposition) {
  return isShort(transposition, transposition.readAxes) || isShort(transposition, transposition.writeAxes);
}

ShortTransposeEmitter::ShortTransposeEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function,
                                             const Transposition &given)
    : TransposeEmitter(kernel, function, given) {
  int64_t read = elementsAlong(transposition, transposition.readAxes),
          write = elementsAlong(transposition, transposition.writeAxes);
  readsShort = isShort(transposition, transposition.readAxes) &&
               (!isShort(transposition, transposition.writeAxes) || read <= write);
  shortAxes = readsShort ? transposition.readAxes : transposition.writeAxes;
  longAxes = readsShort ? transposition.writeAxes : transposition.readAxes;
  count = readsShort ? read : write;
  run = runLength();
}

// Neighbours along the long axis are contiguous in one tensor. If they are adjacent in the other one, too, a
// thread takes as many as divide the axis, so that all its accesses are aligned.
int64_t ShortTransposeEmitter::runLength() const {
  linalg::GenericOp op = transposition.op;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  // Axes of the result in the order of the tensor that has the short ones innermost.
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  if (readsShort)
    for (auto [axis, expr] : llvm::zip_equal(order, map.getResults()))
      axis = cast<AffineDimExpr>(expr).getPosition();
  llvm::erase_if(order, [&](int64_t axis) { return type.getDimSize(axis) == 1; });
  auto *outermost = llvm::find_if(order, [&](int64_t axis) { return llvm::is_contained(shortAxes, axis); });
  int64_t size = type.getDimSize(longAxes.back());
  bool isAdjacent = outermost != order.begin() && *(outermost - 1) == longAxes.back();
  int64_t longest = isAdjacent && !ShapedType::isDynamic(size) ? std::gcd(size, length) : 1;
  while (longest > 1 && longest * count > kMaxElements)
    longest /= 2;
  return longest;
}

LogicalResult ShortTransposeEmitter::emitOutputs() {
  launchShape = {MappingLevel::thread, 0, static_cast<int64_t>(results.front().shape.size())};
  launchShape.elements = count * run;
  PerThread perThread(mapping);
  Value threads = binary<arith::DivUIOp>(sizeAlong(longAxes), indexConstant(run));
  for (auto [axis, size] : llvm::enumerate(results.front().sizes))
    if (!isAlong(axis))
      threads = binary<arith::MulIOp>(threads, size);
  return emitLoop(mapping.thread, threads, mapping.gridThreads, [&](Value number) {
    moveElements(originOf(number));
    return success();
  });
}

// The first element of a thread. Adjacent threads are adjacent along the long axis.
Position ShortTransposeEmitter::originOf(Value number) {
  ArrayRef<Value> sizes = results.front().sizes;
  auto next = [&](Value size) -> Value {
    Value index = binary<arith::RemUIOp>(number, size);
    number = binary<arith::DivUIOp>(number, size);
    return index;
  };
  Position origin(sizes.size());
  Value first = next(binary<arith::DivUIOp>(sizeAlong(longAxes), indexConstant(run)));
  setIndices(origin, longAxes, binary<arith::MulIOp>(first, indexConstant(run)));
  for (int64_t axis = int64_t(sizes.size()) - 1; axis >= 0; --axis)
    if (!isAlong(axis))
      origin[axis].base = next(sizes[axis]);
  return origin;
}

Position ShortTransposeEmitter::positionAt(const Position &origin, int64_t neighbour, int64_t along) {
  Position position(origin);
  Value &index = position[longAxes.back()].base;
  index = binary<arith::AddIOp>(index, indexConstant(neighbour));
  setIndices(position, shortAxes, indexConstant(along));
  return position;
}

void ShortTransposeEmitter::moveElements(const Position &origin) {
  int64_t all = count * run, piece = std::gcd(all, length);
  // In the order of the tensor with the short axis, where they are one piece of memory.
  SmallVector<Value> elements(all);
  auto forRows = [&](auto &&code) {
    for (int64_t along = 0; along < count; ++along)
      code(positionAt(origin, 0, along), along);
  };
  auto forPieces = [&](auto &&code) {
    for (int64_t at = 0; at < all; at += piece)
      code(positionAt(origin, at / count, at % count), at);
  };
  if (readsShort) {
    forPieces([&](const Position &position, int64_t at) {
      llvm::copy(loadOperand(position, piece), elements.begin() + at);
    });
    forRows([&](const Position &position, int64_t along) {
      SmallVector<Value> row;
      for (int64_t neighbour = 0; neighbour < run; ++neighbour)
        row.push_back(elements[neighbour * count + along]);
      vectorized.storeVector(results.front(), position, row);
    });
    return;
  }
  forRows([&](const Position &position, int64_t along) {
    for (auto [neighbour, value] : llvm::enumerate(loadOperand(position, run)))
      elements[neighbour * count + along] = value;
  });
  forPieces([&](const Position &position, int64_t at) {
    vectorized.storeVector(results.front(), position, ArrayRef(elements).slice(at, piece));
  });
}
