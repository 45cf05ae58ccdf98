// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The decomposition of ad.argsort: short lines by ranks, long ones by a network.

#include "Argsort.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;

// The longest lines whose elements are all compared with one another: on a GPU, a network takes less time
// from here on, and of fewer elements it has more launches. Positions of a network have 32 bits.
static constexpr int64_t kLongestByRanks = 512, kFirstBeyondNetwork = int64_t(1) << 32;

static bool goesByRanks(int64_t length) { return length <= kLongestByRanks || length >= kFirstBeyondNetwork; }

static Value positionsAlongLast(OpBuilder &builder, Location loc, Value input, bool descending) {
  StepBuilder steps(builder, loc);
  OpFoldResult length = steps.sizesOf(input).back();
  if (std::optional<int64_t> known = isa<Attribute>(length) ? getConstantIntValue(length) : std::nullopt)
    return goesByRanks(*known) ? positionsByRanks(builder, loc, input, descending)
                               : positionsByNetwork(builder, loc, input, descending);
  auto holds = [&](arith::CmpIPredicate predicate, int64_t limit) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, cast<Value>(length),
                                 steps.index(steps.attr(limit)));
  };
  Value byRanks = arith::OrIOp::create(builder, loc, holds(arith::CmpIPredicate::ule, kLongestByRanks),
                                       holds(arith::CmpIPredicate::uge, kFirstBeyondNetwork));
  Type type = cast<RankedTensorType>(input.getType()).clone(builder.getI64Type());
  auto branch = scf::IfOp::create(builder, loc, type, byRanks, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, positionsByRanks(builder, loc, input, descending));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, positionsByNetwork(builder, loc, input, descending));
  return branch.getResult(0);
}

FailureOr<SmallVector<Value>> ArgsortOp::decompose(OpBuilder &builder) {
  Location loc = rememberWritten(*this);
  StepBuilder steps(builder, loc);
  int64_t last = getInput().getType().getRank() - 1, axis = getAxis();
  SmallVector<int64_t> swap = llvm::to_vector(llvm::seq<int64_t>(0, last + 1));
  std::swap(swap[axis], swap[last]);
  if (axis == last)
    return SmallVector<Value>{positionsAlongLast(builder, loc, getInput(), getDescending())};
  Value rows = steps.transposed(getInput(), swap);
  Value positions = ArgsortOp::create(builder, loc, rows, last, getDescending(), PermissionsAttr());
  return SmallVector<Value>{steps.transposed(positions, swap)};
}
