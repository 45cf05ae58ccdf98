// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The analysis relies on three guarantees of kernel classes (KernelClass::readsBeforeStoring). One loop nest
// computes all results of a kernel over one iteration space. It computes all values of a point before it
// stores the first of them, unless contractions read every argument of a result's type. If all reductions are
// over rows, it goes row by row, and computes the reductions of a row before it stores an element of the row.
// So a result may overwrite an argument that is read only at the element that is written, or, in a kernel
// over rows, also for reductions of the row that is written.

#include "Overwrite.h"
#include "adjoint/Codegen/Kernel/RowShape.h"
#include "adjoint/Dialect/AD/Transforms/KernelClass.h"
#include "adjoint/Dialect/AD/Transforms/OrderedWrite.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

static ArrayRef<int64_t> shapeOf(Type type) { return cast<RankedTensorType>(type).getShape(); }

// From loops over a space to its rows: all loops but the last, and perhaps a constant 0 for that.
static bool isRowMap(AffineMap map) {
  unsigned rows = map.getNumDims() - 1, results = map.getNumResults();
  if (map.getNumDims() == 0 || results < rows || results > rows + 1)
    return false;
  for (unsigned axis = 0; axis < rows; ++axis)
    if (map.getResult(axis) != getAffineDimExpr(axis, map.getContext()))
      return false;
  return results == rows || map.getResult(rows) == getAffineConstantExpr(0, map.getContext());
}

static bool mapsAre(linalg::GenericOp generic, ValueRange values, function_ref<bool(AffineMap)> predicate) {
  return llvm::all_of(generic->getOpOperands(), [&](OpOperand &operand) {
    return !llvm::is_contained(values, operand.get()) || predicate(generic.getMatchingIndexingMap(&operand));
  });
}

static bool isIdentity(AffineMap map) { return map.isIdentity(); }

// Whether the operation reduces the last axis of the space only.
static bool sumsRows(linalg::GenericOp generic, int64_t rank) {
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  return generic.getNumResults() == 1 && generic.getNumLoops() == static_cast<unsigned>(rank) &&
         reduced == SmallVector<unsigned>{generic.getNumLoops() - 1} &&
         mapsAre(generic, generic.getDpsInits(), isRowMap);
}

namespace {
/// How a value depends on the argument.
enum class Level {
  point, ///< an element on the one at the same index
  row    ///< an element per row, on the elements of that row
};
} // namespace

// The level of the results when the operand is at `level`; nothing when they depend on other elements.
static std::optional<Level> levelOfResults(linalg::GenericOp generic, OpOperand &use, Level level,
                                           int64_t rank) {
  AffineMap map = generic.getMatchingIndexingMap(&use);
  bool isSpace = generic.getNumLoops() == static_cast<unsigned>(rank);
  if (generic.isDpsInit(&use))
    return std::nullopt;
  if (generic.getNumReductionLoops() > 0) {
    bool fits = level == Level::point ? map.isIdentity() : isRowMap(map);
    return fits && sumsRows(generic, rank) ? std::optional(Level::row) : std::nullopt;
  }
  if (!mapsAre(generic, generic.getDpsInits(), isIdentity))
    return std::nullopt;
  if (map.isIdentity())
    return level;
  // A value of the row, repeated along it.
  return level == Level::row && isSpace && isRowMap(map) ? std::optional(Level::point) : std::nullopt;
}

// Whether a scatter updates elements of the operand.
static bool isStartOfWrite(OpOperand &use) {
  auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
  return generic && generic.isDpsInit(&use) && generic.getNumResults() == 1 &&
         matchOrderedWrite(generic.getResult(0));
}

// Slices are inserted into the argument, or some of its elements are updated; the others stay. The kernel
// reads its elements only where it writes them.
static bool isInsertedInto(BlockArgument argument) {
  return !argument.use_empty() && llvm::all_of(argument.getUses(), [](OpOperand &use) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    return isa<tensor::DimOp>(use.getOwner()) || (insert && &use == &insert.getDestMutable()) ||
           isStartOfWrite(use);
  });
}

OverwriteAnalysis::Reads OverwriteAnalysis::readsOf(BlockArgument argument) {
  if (!isa<RankedTensorType>(argument.getType()))
    return Reads::nothing;
  if (isInsertedInto(argument))
    return Reads::inserted;
  int64_t rank = shapeOf(argument.getType()).size();
  Reads reads = Reads::nothing;
  SmallVector<std::pair<Value, Level>> pending = {{argument, Level::point}};
  llvm::SmallDenseSet<std::pair<Value, unsigned>> seen;
  while (!pending.empty()) {
    auto [value, level] = pending.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      if (isa<tensor::DimOp>(use.getOwner()))
        continue;
      reads = std::max(reads, level == Level::row ? Reads::row : Reads::point);
      if (isa<YieldOp>(use.getOwner()))
        continue;
      auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
      std::optional<Level> next = generic ? levelOfResults(generic, use, level, rank) : std::nullopt;
      if (!next)
        return Reads::elsewhere;
      for (Value result : generic.getResults())
        if (seen.insert({result, static_cast<unsigned>(*next)}).second)
          pending.push_back({result, *next});
    }
  }
  return reads;
}

const OverwriteAnalysis::Facts &OverwriteAnalysis::factsOf(KernelOp kernel) {
  std::unique_ptr<Facts> &facts = known[kernel];
  if (facts)
    return *facts;
  facts = std::make_unique<Facts>();
  for (BlockArgument argument : kernel.getBody().getArguments())
    facts->arguments.push_back(readsOf(argument));
  OrderAttr order = kernel.getOrderAttr();
  int64_t rank = 0;
  for (Type type : kernel.getResultTypes())
    rank = std::max<int64_t>(rank, shapeOf(type).size());
  facts->rowsOnly = order && order.hasLanes() && llvm::all_of(kernel.getBody().front(), [&](Operation &op) {
                      auto generic = dyn_cast<linalg::GenericOp>(op);
                      return !generic || generic.getNumReductionLoops() == 0 || sumsRows(generic, rank);
                    });
  return *facts;
}

// Whether one nest over the space computes all results, each at its points or its rows.
static bool sharesOneNest(KernelOp kernel, ArrayRef<int64_t> space) {
  return llvm::all_of(kernel.getBody().front().getTerminator()->getOperands(), [&](Value result) {
    auto generic = result.getDefiningOp<linalg::GenericOp>();
    ArrayRef<int64_t> shape = shapeOf(result.getType());
    return generic && generic.getNumResults() == 1 && (shape == space || isRowShape(shape, space));
  });
}

bool OverwriteAnalysis::mayOverwrite(LaunchOp launch, unsigned input, unsigned result) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr());
  if (!kernel)
    return false;
  const Facts &facts = factsOf(kernel);
  auto tied = launch.getTied();
  if (tied && (*tied)[result] == static_cast<int64_t>(input))
    return facts.arguments[input] == Reads::inserted;
  Type type = kernel.getResultTypes()[result];
  if (facts.arguments[input] == Reads::nothing)
    return true;
  const auto *classes = KernelClassRegistry::get(kernel.getContext());
  if (classes && !classes->readsBeforeStoring(kernel))
    return false;
  if (kernel.getBody().getArgument(input).getType() != type || !sharesOneNest(kernel, shapeOf(type)))
    return false;
  // With several axes, each thread computes one row after another. A row of one element is a point.
  ArrayRef<int64_t> shape = shapeOf(type);
  bool hasRows = facts.rowsOnly && shape.size() > 1 && shape.back() != 1;
  return facts.arguments[input] == Reads::point || (facts.arguments[input] == Reads::row && hasRows);
}
