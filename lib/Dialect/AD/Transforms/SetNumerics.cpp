// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes the numerics contract explicit: the mode on the module, permissions and orders on operations,
// broadcasts as operations of their own.

#include "VerifyReproducible.h"

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/NumericsContract.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-set-numerics"

namespace mlir::ad {
#define GEN_PASS_DEF_SETNUMERICSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// One permission after the mode; empty unless it is refused.
static std::string addPermission(StringRef word, StringRef mode, Permissions &extra) {
  std::optional<Permissions> one = symbolizePermissions(word);
  if (symbolizeNumericsMode(word))
    return ("expected permissions after the mode '" + mode + "', but got '" + word +
            "', a mode too; give one mode")
        .str();
  if (!one || *one == Permissions::none)
    return ("expected reorder, algebra, contract, widen, mma, narrow, approx or finite as a permission, "
            "but got '" +
            word + "'")
        .str();
  if (allows(extra, *one))
    return ("expected distinct permissions, but got '" + word + "' twice").str();
  extra = extra | *one;
  return "";
}

FailureOr<NumericsAttr> ad::parseNumerics(MLIRContext *context, StringRef text, std::string &error) {
  SmallVector<StringRef> words;
  text.split(words, ',');
  std::optional<NumericsMode> mode = symbolizeNumericsMode(words.front().trim());
  if (!mode) {
    error =
        ("expected reproducible, strict or fast as the numerics mode, but got '" + words.front().trim() + "'")
            .str();
    return failure();
  }
  Permissions extra = Permissions::none;
  for (StringRef word : ArrayRef(words).drop_front())
    if (error = addPermission(word.trim(), words.front().trim(), extra); !error.empty())
      return failure();
  if (error = checkContract(*mode, extra); !error.empty())
    return failure();
  return NumericsAttr::get(context, *mode, extra);
}

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
    PermissionsAttr allow = op->getAttrOfType<PermissionsAttr>("allow");
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

struct SetNumericsPass : ad::impl::SetNumericsPassBase<SetNumericsPass> {
  using SetNumericsPassBase::SetNumericsPassBase;

  LogicalResult setModuleAttribute() {
    ModuleOp module = getOperation();
    NumericsAttr contract = module->getAttrOfType<NumericsAttr>(ADDialect::kNumericsAttr);
    if (!numerics.empty()) {
      std::string error;
      FailureOr<NumericsAttr> given = parseNumerics(&getContext(), numerics, error);
      if (failed(given))
        return emitError(module.getLoc()) << "option numerics: " << error;
      contract = *given;
    } else if (!contract) {
      contract = NumericsAttr::get(&getContext(), NumericsMode::strict, Permissions::none);
    }
    LDBG() << "the contract of the module is " << contract;
    module->setAttr(ADDialect::kNumericsAttr, contract);
    return success();
  }

  // No pass reads a contract under another name, such as `numerics` or `da.numerics`.
  LogicalResult checkNames() {
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (!isa<ModuleOp, FunctionOpInterface>(op))
        return WalkResult::advance();
      for (NamedAttribute attribute : op->getAttrs()) {
        StringRef name = attribute.getName();
        if (!isa<NumericsAttr>(attribute.getValue()) || name == ADDialect::kNumericsAttr ||
            name == ADDialect::kAdjointNumericsAttr)
          continue;
        op->emitOpError("expected a contract as ad.numerics or ad.adjoint_numerics, but got it as '")
            << name << "', which nothing reads";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  void runOnOperation() override {
    if (failed(checkNames()) || failed(setModuleAttribute()) || failed(verifyReproducible(getOperation())))
      return signalPassFailure();
    SmallVector<NumericsOpInterface> ops;
    getOperation()->walk([&](NumericsOpInterface op) { ops.push_back(op); });
    SizeAnalysis sizes;
    for (NumericsOpInterface op : ops) {
      if (!op.hasPermissions())
        op.setPermissions(numericsInForceAt(op).permissions());
      if (!op.getSummationOrder())
        if (OrderAttr order = op.getCanonicalOrder())
          op.setSummationOrder(order);
      if (isElementwiseOp(op))
        BroadcastMaker(op, sizes).run();
      if (OpOperand *operand = op.getBroadcastOperand())
        broadcastOperand(op, *operand, sizes);
    }
  }
};
} // namespace
