// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Permissions, orders and broadcasts of operations that lack them.

#include "WriteContract.h"

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-set-numerics"

using namespace mlir;
using namespace mlir::ad;

// The value of each size of the result that the types leave open, from the origins of the operands' sizes;
// null for static ones. Operands of size 1 do not count, unless all have it.
static Value commonSize(OpBuilder &builder, Location loc, ArrayRef<SizeOrigin> origins) {
  Value one, common;
  for (const SizeOrigin &origin : origins) {
    Value size = materializeSize(builder, loc, origin);
    if (!common) {
      common = size;
      continue;
    }
    if (!one)
      one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value isOne = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, common, one);
    common = arith::SelectOp::create(builder, loc, isOne, size, common);
  }
  return common;
}

// Those of the operation; of one without any, those of the contract around it.
static PermissionsAttr permissionsFor(Operation *op) {
  auto allow = op->getAttrOfType<PermissionsAttr>("allow");
  NumericsAttr contract = allow ? NumericsAttr() : numericsInForceAt(op);
  return contract ? PermissionsAttr::get(op->getContext(), contract.permissions()) : allow;
}

namespace {
// Makes the broadcasts of one elementwise operation explicit.
class BroadcastMaker {
public:
  BroadcastMaker(Operation *op, SizeAnalysis &sizes)
      : op(op), type(cast<RankedTensorType>(op->getResult(0).getType())), sizes(sizes), builder(op) {}

  void run() {
    if (type.getRank() == 0)
      return;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      collectOrigins(dim);
    SmallVector<OpOperand *> toBroadcast;
    for (OpOperand &operand : op->getOpOperands())
      if (needsBroadcast(operand.get()))
        toBroadcast.push_back(&operand);
    if (toBroadcast.empty())
      return;
    SmallVector<Value> dynamicSizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        dynamicSizes.push_back(commonSize(builder, op->getLoc(), origins[dim]));
    for (OpOperand *operand : toBroadcast)
      broadcast(*operand, dynamicSizes);
  }

private:
  // The distinct origins of one dimension among the operands; those that are 1 for sure count only if all
  // are.
  void collectOrigins(int64_t dim) {
    SmallVector<SizeOrigin, 2> found;
    for (Value operand : op->getOperands()) {
      std::optional<SizeOrigin> origin = originIn(operand, dim);
      if (origin && origin->number != 1 && !llvm::is_contained(found, *origin))
        found.push_back(*origin);
    }
    if (found.empty())
      found.push_back(SizeOrigin{1, Value(), -1});
    origins.push_back(std::move(found));
  }

  std::optional<SizeOrigin> originIn(Value operand, int64_t dim) {
    auto operandType = dyn_cast<RankedTensorType>(operand.getType());
    if (!operandType)
      return std::nullopt;
    int64_t aligned = dim - (type.getRank() - operandType.getRank());
    return aligned < 0 ? std::nullopt : std::optional<SizeOrigin>(sizes.originOfSize(operand, aligned));
  }

  bool needsBroadcast(Value operand) {
    auto operandType = dyn_cast<RankedTensorType>(operand.getType());
    if (!operandType)
      return false;
    if (operandType.getShape() != type.getShape())
      return true;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim) &&
          (origins[dim].size() > 1 || *originIn(operand, dim) != origins[dim].front()))
        return true;
    return false;
  }

  void broadcast(OpOperand &operand, ValueRange dynamicSizes) {
    auto target = type.clone(cast<RankedTensorType>(operand.get().getType()).getElementType());
    PermissionsAttr allow = permissionsFor(op);
    LDBG() << op->getName() << " broadcasts operand " << operand.getOperandNumber() << " to " << target;
    Location loc = rememberWritten(op, operand.getOperandNumber());
    operand.set(BroadcastOp::create(builder, loc, target, operand.get(), dynamicSizes, allow));
  }

  Operation *op;
  RankedTensorType type;
  SizeAnalysis &sizes;
  OpBuilder builder;
  SmallVector<SmallVector<SizeOrigin, 2>> origins;
};

// The operand may broadcast to the result as long as the types say how. If a size is open, the operand gets
// an explicit broadcast, which checks at run time.
void broadcastOperand(Operation *op, OpOperand &operand, SizeAnalysis &sizes) {
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  auto operandType = cast<RankedTensorType>(operand.get().getType());
  int64_t lead = type.getRank() - operandType.getRank();
  bool open = llvm::any_of(llvm::seq<int64_t>(0, operandType.getRank()), [&](int64_t axis) {
    return operandType.isDynamicDim(axis) &&
           sizes.originOfSize(operand.get(), axis) != sizes.originOfSize(result, lead + axis);
  });
  if (!open)
    return;
  OpBuilder builder(op);
  SmallVector<Value> dynamicSizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      dynamicSizes.push_back(materializeSize(builder, op->getLoc(), sizes.originOfSize(result, axis)));
  Location loc = rememberWritten(op, operand.getOperandNumber());
  operand.set(BroadcastOp::create(builder, loc, type.clone(operandType.getElementType()), operand.get(),
                                  dynamicSizes, op->getAttrOfType<PermissionsAttr>("allow")));
}
} // namespace

static void writeBroadcasts(Operation *op, SizeAnalysis &sizes) {
  if (isElementwiseOp(op))
    BroadcastMaker(op, sizes).run();
  auto numerics = dyn_cast<NumericsOpInterface>(op);
  if (OpOperand *operand = numerics ? numerics.getBroadcastOperand() : nullptr)
    broadcastOperand(op, *operand, sizes);
}

static void writeContract(NumericsOpInterface op) {
  if (NumericsAttr contract = op.hasPermissions() ? NumericsAttr() : numericsInForceAt(op))
    op.setPermissions(contract.permissions());
  if (!op.getSummationOrder())
    if (OrderAttr order = op.getCanonicalOrder())
      op.setSummationOrder(order);
}

void ad::writeContract(ArrayRef<Operation *> ops) {
  SizeAnalysis sizes;
  for (Operation *op : ops) {
    if (auto numerics = dyn_cast<NumericsOpInterface>(op))
      ::writeContract(numerics);
    ::writeBroadcasts(op, sizes);
  }
}

void ad::writeContract(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) { ops.push_back(op); });
  writeContract(ops);
}

void ad::writeBroadcasts(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) { ops.push_back(op); });
  SizeAnalysis sizes;
  for (Operation *op : ops)
    ::writeBroadcasts(op, sizes);
}

bool ad::hasWrittenContract(Operation *root) {
  auto lacksPermissions = [](NumericsOpInterface op) {
    return op.hasPermissions() ? WalkResult::advance() : WalkResult::interrupt();
  };
  return numericsInForceAt(root) && !root->walk(lacksPermissions).wasInterrupted();
}
