// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Whether a kernel may write a result over an argument. The analysis goes from each result back to the
// elements of the argument that one point of it needs, as one affine map. Overwrite.cpp, which plans, goes
// from the argument forward, so that the proof does not repeat a mistake of the planner.

#include "VerifyMemoryPlan.h"
#include "adjoint/Dialect/AD/Transforms/OrderedWrite.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

namespace {
/// The elements of a value that a point of the kernel's space needs: indices as functions of the point, in
/// which s0 is the index that a sum runs over. A null map: any elements.
using Need = std::pair<Value, AffineMap>;

class NeedsOfKernel {
public:
  explicit NeedsOfKernel(unsigned rank) : rank(rank) {}

  void add(Value value, AffineMap map) {
    if (seen.insert({value, map}).second)
      pending.push_back({value, map});
  }
  /// Follows all that was added back to the arguments.
  SmallVector<Need> ofArguments();

private:
  void addOperands(linalg::GenericOp generic, OpResult result, AffineMap map);

  unsigned rank;
  SmallVector<Need> pending;
  llvm::SmallDenseSet<Need> seen;
};
} // namespace

// The loops as functions of the point follow from the indices at which the result is needed.
void NeedsOfKernel::addOperands(linalg::GenericOp generic, OpResult result, AffineMap map) {
  AffineMap written = generic.getIndexingMapMatchingResult(result);
  SmallVector<AffineExpr> loops(generic.getNumLoops(), getAffineSymbolExpr(0, generic.getContext()));
  for (auto [index, expression] : llvm::enumerate(written.getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(expression); loop && map)
      loops[loop.getPosition()] = map.getResult(index);
  auto at = AffineMap::get(rank, 1, loops, generic.getContext());
  for (OpOperand &operand : generic->getOpOperands())
    add(operand.get(), map ? generic.getMatchingIndexingMap(&operand).compose(at) : AffineMap());
  generic.getBody()->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      add(operand, AffineMap());
  });
}

SmallVector<Need> NeedsOfKernel::ofArguments() {
  SmallVector<Need> arguments;
  while (!pending.empty()) {
    auto [value, map] = pending.pop_back_val();
    Operation *producer = value.getDefiningOp();
    if (!producer)
      arguments.push_back({value, map});
    else if (auto generic = dyn_cast<linalg::GenericOp>(producer))
      addOperands(generic, cast<OpResult>(value), map);
    else if (!isa<tensor::DimOp>(producer))
      for (Value operand : producer->getOperands())
        add(operand, AffineMap());
  }
  return arguments;
}

// Where a result is stored at a point of the space; null if the store needs a loop nest of its own.
static AffineMap storedAt(Value result, ArrayRef<int64_t> space, AffineMap point) {
  auto generic = result.getDefiningOp<linalg::GenericOp>();
  ArrayRef<int64_t> shape = shapeOf(result);
  if (!generic || generic.getNumResults() != 1)
    return AffineMap();
  if (shape == space)
    return point;
  if (space.empty() || shape.take_front(space.size() - 1) != space.drop_back())
    return AffineMap();
  if (shape.size() < space.size())
    return point.dropResult(space.size() - 1);
  return shape.size() == space.size() && shape.back() == 1 ? point : AffineMap();
}

// A kernel whose reductions are all over rows, in lanes, computes one row after another.
static bool takesWholeRows(KernelOp kernel, unsigned rank) {
  return kernel.getOrderAttr() && kernel.getOrderAttr().hasLanes() &&
         llvm::all_of(kernel.getBody().getOps<linalg::GenericOp>(), [&](linalg::GenericOp generic) {
           SmallVector<unsigned> summed;
           generic.getReductionDims(summed);
           return summed.empty() || (generic.getNumResults() == 1 && generic.getNumLoops() == rank &&
                                     summed == SmallVector<unsigned>{rank - 1});
         });
}

// The slices that make up the result go into the argument, and nothing else looks at it.
static bool isInsertedInto(BlockArgument argument, Value result) {
  while (auto insert = result.getDefiningOp<tensor::InsertSliceOp>())
    result = insert.getDest();
  return result == argument && llvm::all_of(argument.getUses(), [](OpOperand &use) {
           auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
           return isa<tensor::DimOp>(use.getOwner()) || (insert && &use == &insert.getDestMutable());
         });
}

// A scatter updates elements of the argument, and nothing else looks at it.
static bool isUpdated(BlockArgument argument, Value result) {
  std::optional<OrderedWrite> write = matchOrderedWrite(result);
  return write && write->start() == argument && llvm::all_of(argument.getUses(), [&](OpOperand &use) {
           return isa<tensor::DimOp>(use.getOwner()) ||
                  (use.getOwner() == write->generic && write->generic.isDpsInit(&use));
         });
}

bool ad::mayWriteOver(KernelOp kernel, unsigned input, unsigned number) {
  BlockArgument argument = kernel.getBody().getArgument(input);
  ValueRange results = kernel.getBody().front().getTerminator()->getOperands();
  if (isInsertedInto(argument, results[number]) || isUpdated(argument, results[number]))
    return true;
  ArrayRef<int64_t> space = shapeOf(results[number]);
  unsigned rank = space.size();
  auto identity = AffineMap::getMultiDimIdentityMap(rank, kernel.getContext());
  auto point = AffineMap::get(rank, 1, identity.getResults(), kernel.getContext());
  NeedsOfKernel needs(rank);
  for (Value result : results)
    needs.add(result, storedAt(result, space, point));
  // The reductions of a row are computed before its first element is written.
  AffineMap row;
  if (rank > 1 && space.back() != 1 && takesWholeRows(kernel, rank))
    row = point.dropResult(rank - 1).insertResult(getAffineSymbolExpr(0, kernel.getContext()), rank - 1);
  return llvm::all_of(needs.ofArguments(), [&](const Need &need) {
    return need.first != argument || (argument.getType() == results[number].getType() && need.second &&
                                      (need.second == point || need.second == row));
  });
}
