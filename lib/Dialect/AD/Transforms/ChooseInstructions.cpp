// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The tensor core instruction of a contraction, where its kernel may not choose: it follows from the
// operation alone, so that fused and unfused programs have the same bits (decision 0008).

#include "ContractedAxes.h"
#include "TensorCores.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/FormatVariadic.h"

#define DEBUG_TYPE "ad-choose-instructions"

namespace mlir::ad {
#define GEN_PASS_DEF_CHOOSEINSTRUCTIONSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

static Type elementOf(Value tensor) { return getElementTypeOrSelf(tensor.getType()); }

static bool isFloatOf(Type type, unsigned bits) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == bits;
}

// Why the axes are not those of products of matrices, (M, K) x (K, N): M is a free axis of one operand, N one
// of the other and the last of the result.
static StringRef whyNoMatrixProduct(Operation *op) {
  auto nest = cast<FusableOpInterface>(op);
  SmallVector<AffineMap> maps = nest.getAccessMaps();
  if (auto dot = dyn_cast<DotOp>(op); dot && !contractsOneAxis(dot))
    return "it contracts no axis, or several axes that are not adjacent in both operands";
  auto isFree = [&](AffineExpr axis, int of, int other) {
    unsigned loop = cast<AffineDimExpr>(axis).getPosition();
    return maps[of].isFunctionOfDim(loop) && !maps[other].isFunctionOfDim(loop);
  };
  ArrayRef<AffineExpr> axes = maps.back().getResults();
  auto isMatrix = [&](int a, int b) {
    return !axes.empty() && isFree(axes.back(), b, a) &&
           llvm::any_of(axes, [&](AffineExpr axis) { return isFree(axis, a, b); });
  };
  return isMatrix(0, 1) || isMatrix(1, 0) ? "" : "an operand has no free axis";
}

StringRef ad::whyNoTensorCores(Operation *op) {
  Type left = elementOf(op->getOperand(0)), right = elementOf(op->getOperand(1));
  if (!isa<FloatType>(left))
    return "its operands are no floats";
  bool bytes = isFloatOf(left, 8) && isFloatOf(right, 8);
  if (!bytes && !(isFloatOf(left, 16) && left == right))
    return "tensor cores multiply its types only after rounding them";
  OrderAttr order = cast<NumericsOpInterface>(op).getSummationOrder();
  if (order && order.hasLanes())
    return "it sums over lanes";
  if (order && order != OrderAttr::canonicalBlocks(op->getContext()))
    return "the program writes the order of its sum";
  return whyNoMatrixProduct(op);
}

static bool isNarrow(Operation *op) {
  return isFloatOf(elementOf(op->getOperand(0)), 8) || isFloatOf(elementOf(op->getOperand(0)), 16);
}

static void reportNone(Operation *op, StringRef reason) {
  LDBG() << op->getName() << " has no fixed instruction: " << reason;
  remark::missed(op->getLoc(), remark::RemarkOpts::name("no-tensor-cores").category("ad-gpu"))
      << remark::metric("operation", op->getName().getStringRef()) << remark::metric("reason", reason);
}

static bool mayChooseOrder(Operation *op) { return allows(op, Permissions::contract); }

static bool mayUseTensorCores(Operation *op) { return allows(op, Permissions::mma); }

static InstructionAttr usualInstruction(Operation *op) {
  bool bytes = isFloatOf(elementOf(op->getOperand(0)), 8);
  InstructionAttr instruction = bytes ? InstructionAttr::ofByteFloats(op->getContext())
                                      : InstructionAttr::ofShortFloats(op->getContext());
  return instruction.withChain(chainOnTensorCores(op));
}

static void choose(Operation *op) {
  Type element = elementOf(op->getOperand(0));
  if (isa<IntegerType>(element) || mayChooseOrder(op))
    return; // the kernel chooses
  bool permitted = mayUseTensorCores(op);
  StringRef reason = whyNoTensorCores(op);
  if (!reason.empty() && permitted && isNarrow(op))
    if (NumericsLog *log = NumericsLog::get(op->getContext()))
      log->record(op->getLoc(), "no-tensor-cores", reason);
  if (reason.empty() && !permitted)
    reason = "it lacks the permission mma";
  if (!reason.empty())
    return reportNone(op, reason);
  auto written = op->getAttrOfType<InstructionAttr>(
      kInstructionAttr); // the program may write how often sums are promoted
  if (!written && !allowsRewrite("tensor-cores", Permissions::mma, op))
    return reportNone(op, "the rewrite tensor-cores is left out");
  InstructionAttr instruction = written ? written : usualInstruction(op);
  op->setAttr(kInstructionAttr, instruction);
  std::string shape =
      llvm::formatv("mma.sync.m{0}n{1}k{2}", instruction.getM(), instruction.getN(), instruction.getK());
  LDBG() << op->getName() << " has the instruction " << instruction;
  auto remark = remark::passed(op->getLoc(), remark::RemarkOpts::name("tensor-cores").category("ad-gpu"));
  remark << remark::metric("operation", op->getName().getStringRef()) << remark::metric("instruction", shape);
  if (instruction.getPromote() != 0)
    remark << remark::metric("promote", instruction.getPromote());
  if (instruction.getChain() != 0)
    remark << remark::metric("chain", instruction.getChain());
}

namespace {
/// For products of 8-bit floats without a fixed instruction. f16 has all values of the 8-bit floats, so the
/// products and their sum stay the same.
template <typename OpTy> struct WidenBytes : NumericsPattern<OpTy> {
  WidenBytes(MLIRContext *context) : NumericsPattern<OpTy>(context, "widen-bytes") {}

  LogicalResult match(OpTy op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (!isFloatOf(elementOf(op.getLhs()), 8))
      return rewriter.notifyMatchFailure(op, "expected operands of 8-bit floats");
    if (op->hasAttr(kInstructionAttr) || (mayUseTensorCores(op) && !mayChooseOrder(op)))
      return rewriter.notifyMatchFailure(op, "expected a kernel that may choose its instruction");
    if (StringRef reason = whyNoTensorCores(op); !reason.empty())
      return rewriter.notifyMatchFailure(op, [&](Diagnostic &note) { note << reason; });
    return success();
  }

  void rewrite(OpTy op, PatternRewriter &rewriter) const override {
    LDBG() << "widened to f16: " << op;
    IRMapping operands;
    for (Value operand : op->getOperands())
      if (isFloatOf(elementOf(operand), 8))
        operands.map(operand, castTo(rewriter, op.getLoc(), operand, rewriter.getF16Type()));
    Operation *copy = rewriter.clone(*op, operands);
    copy->getResult(0).setType(op.getType().clone(rewriter.getF32Type()));
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), copy->getResult(0), elementOf(op.getResult())));
  }
};

struct ChooseInstructionsPass : ad::impl::ChooseInstructionsPassBase<ChooseInstructionsPass> {
  using ChooseInstructionsPassBase::ChooseInstructionsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    ChooseInstructionsPassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry);
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateInstructionPatterns(patterns);
    PatternLog log(DEBUG_TYPE);
    walkAndApplyPatterns(getOperation(), std::move(patterns), &log);
    getOperation()->walk([](Operation *op) {
      if (isa<DotOp, GemmOp>(op))
        choose(op);
    });
  }
};
} // namespace

void ad::populateInstructionPatterns(RewritePatternSet &patterns) {
  patterns.add<WidenBytes<DotOp>, WidenBytes<GemmOp>>(patterns.getContext());
}
