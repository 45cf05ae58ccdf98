// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Casts around operations whose type a target has no kernel for. Bit-exact: operations on narrow floats
// compute in f32 and round once. Which roundings may then be skipped is the decision of ad-simplify.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/Transforms/MissingKernels.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Interfaces/FusableOpInterface.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-insert-precision-free-casts"

namespace mlir::ad {
#define GEN_PASS_DEF_INSERTPRECISIONFREECASTSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

static constexpr StringLiteral kMarker("InsertedPrecisionFreeCast_");
static constexpr StringLiteral kTypes[] = {"f16", "bf16", "f8E4M3FN", "f8E5M2"};

// Floats that are computed in f32.
static bool isNarrow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 32 && isa<RankedTensorType>(type);
}

static std::string nameOf(Type element) {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

// The name of a value in the source, or one that is made of the operation and its line.
static std::string valueName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    if (function && argument.getOwner()->isEntryBlock())
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), ADDialect::kNameAttr))
        return name.str();
    return "arg" + std::to_string(argument.getArgNumber());
  }
  Operation *op = value.getDefiningOp();
  if (auto named = op->getLoc()->findInstanceOf<NameLoc>()) {
    StringRef name = named.getName();
    name.consume_front(kMarker);
    return name.str();
  }
  auto file = op->getLoc()->findInstanceOf<FileLineColLoc>();
  return op->getName().stripDialect().str() + (file ? "_" + std::to_string(file.getLine()) : "");
}

static Value castMarked(OpBuilder &builder, Operation *op, Value value, Value named, Type element) {
  auto location = NameLoc::get(builder.getStringAttr(kMarker + valueName(named)), op->getLoc());
  auto type = cast<RankedTensorType>(value.getType()).clone(element);
  return CastOp::create(builder, location, type, value, op->getAttrOfType<PermissionsAttr>("allow"));
}

// A cast has no other type, and an operation that is no kernel has none that could lack.
static llvm::Error readEntry(MLIRContext *context, StringRef text, MissingKernels &kernels) {
  auto [op, type] = text.trim().split(':');
  auto name = RegisteredOperationName::lookup(("ad." + op).str(), context);
  if (!name || !name->hasInterface<FusableOpInterface>() || op == CastOp::getOperationName().drop_front(3))
    return llvm::createStringError("expected OP:TYPE with an operation of ad that computes tensors and is no "
                                   "cast, but got '" +
                                   text + "'");
  if (!llvm::is_contained(kTypes, type))
    return llvm::createStringError("expected f16, bf16, f8E4M3FN or f8E5M2 as the type, but got '" + text +
                                   "'");
  kernels.insert({("ad." + op).str(), type.str()});
  return llvm::Error::success();
}

llvm::Expected<MissingKernels> ad::parseMissingKernels(MLIRContext *context, StringRef text) {
  MissingKernels kernels;
  if (text.empty())
    return kernels;
  for (StringRef entry : llvm::split(text, ','))
    if (llvm::Error error = readEntry(context, entry, kernels))
      return std::move(error);
  return kernels;
}

namespace {
struct InsertPrecisionFreeCastsPass
    : ad::impl::InsertPrecisionFreeCastsPassBase<InsertPrecisionFreeCastsPass> {
  using InsertPrecisionFreeCastsPassBase::InsertPrecisionFreeCastsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    InsertPrecisionFreeCastsPassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry);
  }

  // The type for which the target has no kernel of the operation; null if it has all.
  Type missingType(Operation *op) {
    for (Value operand : op->getOperands())
      if (isNarrow(operand.getType())) {
        Type element = getElementTypeOrSelf(operand.getType());
        if (kernels.count({op->getName().getStringRef().str(), nameOf(element)}))
          return element;
      }
    return Type();
  }

  // The operation will compute in f32, so that it cannot use a tensor core instruction for the narrow type.
  // The program wrote the instruction, or named a kernel that has it, such as bf16x6.
  LogicalResult checkInstruction(Operation *op, Type missing) {
    Attribute instruction = op->getAttr(kInstructionAttr);
    if (!instruction)
      return success();
    std::string kernel = (op->getName().stripDialect() + ":" + nameOf(missing)).str();
    return op->emitOpError("has ") << kInstructionAttr << " = " << instruction << " for " << nameOf(missing)
                                   << ", but computes in f32, since " << kernel
                                   << " is one of the missing kernels; remove " << kInstructionAttr
                                   << " or the name of the kernel that has it, or leave " << kernel
                                   << " out of the missing kernels";
  }

  void computeInF32(Operation *op, Type missing) {
    OpBuilder builder(op);
    Type wide = builder.getF32Type();
    for (OpOperand &operand : op->getOpOperands())
      if (Value value = operand.get(); isNarrow(value.getType()))
        operand.set(castMarked(builder, op, value, value, wide));
    builder.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      if (!isNarrow(result.getType()))
        continue;
      Type narrow = getElementTypeOrSelf(result.getType());
      result.setType(cast<RankedTensorType>(result.getType()).clone(wide));
      Value rounded = castMarked(builder, op, result, result, narrow);
      result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
    }
    remark::passed(op->getLoc(), remark::RemarkOpts::name("precision-free-cast").category("ad-precision"))
        << remark::metric("operation", op->getName().getStringRef())
        << remark::metric("missing", nameOf(missing));
    if (NumericsLog *log = NumericsLog::get(op->getContext()))
      log->record(op->getLoc(), DEBUG_TYPE, (op->getName().stripDialect() + ":" + nameOf(missing)).str());
  }

  void runOnOperation() override {
    llvm::Expected<MissingKernels> parsed = parseMissingKernels(&getContext(), missing);
    if (!parsed) {
      emitError(getOperation().getLoc()) << "option missing: " << llvm::toString(parsed.takeError());
      return signalPassFailure();
    }
    kernels = std::move(*parsed);
    SmallVector<std::pair<Operation *, Type>> found;
    getOperation()->walk([&](Operation *op) {
      if (Type type = missingType(op))
        found.push_back({op, type});
    });
    LDBG() << found.size() << " operations have no kernel";
    llvm::SmallDenseSet<Location> refused; // a named kernel has several products of one place
    for (auto [op, type] : found)
      if (!refused.contains(op->getLoc()) && checkInstruction(op, type).failed())
        refused.insert(op->getLoc());
    if (!refused.empty())
      return signalPassFailure();
    for (auto [op, type] : found)
      computeInF32(op, type);
  }

  MissingKernels kernels;
};
} // namespace
