// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes the numerics contract explicit: the mode on the module, permissions and orders on operations,
// broadcasts as operations of their own.

#include "VerifyReproducible.h"

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/NumericsContract.h"
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
  if ((extra & *one) != Permissions::none)
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

// The bias of a gemm may broadcast as long as the types say how. Where a size is open, it gets a broadcast,
// which checks.
void broadcastBias(GemmOp gemm, SizeAnalysis &sizes) {
  if (!gemm.getBias())
    return;
  auto type = cast<RankedTensorType>(gemm.getType());
  auto biasType = cast<RankedTensorType>(gemm.getBias().getType());
  int64_t lead = type.getRank() - biasType.getRank();
  bool open = llvm::any_of(llvm::seq<int64_t>(0, biasType.getRank()), [&](int64_t axis) {
    return biasType.isDynamicDim(axis) &&
           sizes.originOfSize(gemm.getBias(), axis) != sizes.originOfSize(gemm.getResult(), lead + axis);
  });
  if (!open)
    return;
  OpBuilder builder(gemm);
  SmallVector<Value> dynamicSizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      dynamicSizes.push_back(
          materializeSize(builder, gemm.getLoc(), sizes.originOfSize(gemm.getResult(), axis)));
  OpOperand &bias = gemm.getBiasMutable()[0];
  Location loc = rememberWritten(gemm, bias.getOperandNumber());
  bias.set(BroadcastOp::create(builder, loc, type.clone(biasType.getElementType()), bias.get(), dynamicSizes,
                               gemm.getAllowAttr()));
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

  // A contract under another name, `numerics` or `da.numerics`, would be read by nobody.
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
      auto fusable = dyn_cast<FusableOpInterface>(op.getOperation());
      if (fusable && fusable.getFusionKind() == FusionKind::elementwise)
        BroadcastMaker(op, sizes).run();
      if (auto gemm = dyn_cast<GemmOp>(op.getOperation()))
        broadcastBias(gemm, sizes);
    }
  }
};
} // namespace
