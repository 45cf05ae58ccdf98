// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Transforms/HostProgram.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

// Operations that the reference interpreter supports too.
static bool isScalarCode(Operation *op) {
  using namespace arith;
  return isa<AddIOp, SubIOp, MulIOp, AndIOp, OrIOp, XOrIOp, ShLIOp, ShRUIOp, ShRSIOp, MinSIOp, MaxSIOp,
             MinUIOp, MaxUIOp, DivSIOp, RemSIOp, DivUIOp, RemUIOp, FloorDivSIOp, CeilDivSIOp, CeilDivUIOp,
             AddUIExtendedOp, MulSIExtendedOp, MulUIExtendedOp>(op) ||
         isa<AddFOp, SubFOp, MulFOp, DivFOp, RemFOp, NegFOp, MinimumFOp, MaximumFOp, MinNumFOp, MaxNumFOp>(
             op) ||
         isa<math::AbsFOp, math::FloorOp, math::CeilOp, math::RoundEvenOp, math::SqrtOp>(op) ||
         isa<CmpIOp, CmpFOp, arith::SelectOp, arith::ConstantOp, IndexCastOp, IndexCastUIOp, ExtSIOp, ExtUIOp,
             TruncIOp, ExtFOp, TruncFOp, SIToFPOp, UIToFPOp, FPToSIOp, FPToUIOp, arith::BitcastOp>(op) ||
         isa<ElementaryOp, ConvertOp>(op);
}

static bool isSupported(Operation *op) {
  if (isa<LaunchOp, FeedOp, ReceiveOp, RequireOp, BarrierOp, ReshapeOp, ConstantOp, func::ReturnOp>(op) ||
      isa<BufferOp, CopyOp>(op) ||
      isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp>(op) ||
      isa<tensor::CastOp, tensor::DimOp, tensor::ExtractOp, arith::SelectOp>(op) ||
      op->getName().getDialectNamespace() == "check")
    return true;
  // Scalar code. On tensors it is work for a kernel.
  bool onTensors = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) ||
                   llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
  return !onTensors && isScalarCode(op);
}

// The mnemonic of `ad` for a foreign operation, whose name may end in the kind of its elements: arith.addf,
// math.exp. Empty for none. A list, since the program may have no operation of `ad`, and then the dialect is
// not loaded.
static std::string sameName(Operation *op) {
  static constexpr StringRef names[] = {
      "abs",   "add",   "and",   "atan2",  "broadcast", "ceil", "cos", "div", "erf",  "exp",       "exp2",
      "expm1", "floor", "fma",   "log",    "log1p",     "log2", "max", "min", "mul",  "neg",       "or",
      "pow",   "rem",   "rsqrt", "select", "sin",       "sqrt", "sub", "tan", "tanh", "transpose", "xor"};
  StringRef stem = op->getName().stripDialect();
  for (StringRef end : {"", "f", "i", "si"})
    if (StringRef name = stem; name.consume_back(end) && llvm::is_contained(names, name))
      return ("ad." + name).str();
  return "";
}

// For operations that are frequent in programs written for other compilers.
static std::string insteadOf(Operation *op) {
  return llvm::StringSwitch<std::string>(op->getName().getStringRef())
      .Case("arith.constant", "ad.constant")
      .Cases({"tensor.empty", "tensor.splat", "linalg.fill"}, "ad.full")
      .Cases({"tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape"}, "ad.reshape")
      .Case("tensor.extract_slice", "ad.slice")
      .Case("tensor.insert_slice", "ad.dynamic_update_slice")
      .Case("tensor.pad", "ad.pad")
      .Case("tensor.concat", "ad.concat")
      .Cases({"linalg.matmul", "linalg.batch_matmul"}, "ad.dot")
      .Cases({"scf.forall", "scf.parallel"}, "scf.for")
      .Cases({"scf.index_switch", "scf.execute_region"}, "scf.if")
      .Case("cf.assert", "check.expect_eq on a tensor")
      .Cases({"arith.maximumf", "arith.maxnumf", "arith.maxsi"}, "ad.max")
      .Cases({"arith.minimumf", "arith.minnumf", "arith.minsi"}, "ad.min")
      .Cases({"arith.cmpf", "arith.cmpi"}, "ad.compare")
      .Cases({"arith.extf", "arith.truncf", "arith.extsi", "arith.trunci", "arith.sitofp", "arith.fptosi"},
             "ad.cast")
      .Case("arith.shli", "ad.shift_left")
      .Case("arith.shrsi", "ad.shift_right")
      .Case("arith.shrui", "ad.shift_right_logical")
      .Case("math.roundeven", "ad.round_even")
      .StartsWith("cf.", "scf.if, scf.for or scf.while")
      .Default(sameName(op));
}

// Calls were inlined as far as possible.
static LogicalResult refuseCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (callee && callee.isExternal())
    return call.emitOpError("expected '") << call.getCallee() << "' to have a body";
  return call.emitOpError("is part of a recursion, which cannot be compiled; write a loop");
}

// Iterations are counted in 64 bits.
static LogicalResult verifyIndex(scf::ForOp loop) {
  Type type = loop.getInductionVar().getType();
  if (type.isIndex() || type.getIntOrFloatBitWidth() <= 64)
    return success();
  return loop.emitOpError("requires an index of at most 64 bits, but got ") << type;
}

static LogicalResult verify(Operation *op, Stage stage) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return verifyIndex(loop);
  if (isSupported(op))
    return success();
  if (auto call = dyn_cast<func::CallOp>(op))
    return refuseCall(call);
  if (isa_and_nonnull<ADDialect>(op->getDialect()))
    return op->emitOpError("is in no kernel; ") << howToReach(stage);
  InFlightDiagnostic error = op->emitOpError("is not supported in a program for this target; write ");
  if (std::string instead = insteadOf(op); !instead.empty())
    return error << instead << " instead";
  return error << "operations of the ad dialect instead, or give the operation a kernel by "
                  "FusableOpInterface if the "
                  "dialect is yours";
}

static bool isElement(Type type) {
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(type) ||
         llvm::any_of(ArrayRef<unsigned>{1, 8, 32, 64},
                      [&](unsigned width) { return type.isSignlessInteger(width); });
}

static bool isHostScalar(Type type) {
  constexpr unsigned maxWidth = 64;
  return isElement(type) || type.isIndex() ||
         (type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= maxWidth);
}

// Elements of tensors are numbers of the runtime.
static bool isHostType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? isElement(tensor.getElementType()) : isHostScalar(type);
}

// Loops of targets count elements in 64 bits, also those of tensors that no memory ever holds.
static bool isCountable(RankedTensorType type) {
  int64_t count = 1;
  return !type.hasStaticShape() || llvm::is_contained(type.getShape(), 0) ||
         llvm::all_of(type.getShape(), [&](int64_t size) { return !llvm::MulOverflow(count, size, count); });
}

LogicalResult ad::verifyHostType(Location loc, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && !isCountable(tensor))
    return emitError(loc, "expected a tensor of fewer than 2^63 elements, but got ") << type;
  if (isHostType(type))
    return success();
  return emitError(loc, "a value of type ")
         << type
         << " runs on no target; expected a ranked tensor of i1, i8, i32, i64, f16, bf16, f32, f64, "
            "f8E4M3FN or f8E5M2, or a scalar: one of these, an index or an integer of up to 64 bits";
}

static LogicalResult verifyResults(Operation *op) {
  return success(llvm::all_of(op->getResultTypes(), [&](Type type) {
    return isa<BufferType>(type) || succeeded(verifyHostType(op->getLoc(), type));
  }));
}

static LogicalResult verifyArguments(func::FuncOp function) {
  return success(llvm::all_of(function.getArguments(), [](BlockArgument argument) {
    return succeeded(verifyHostType(argument.getLoc(), argument.getType()));
  }));
}

// All of them, in the order of the program: the first alone is often only an allocation for the one that
// matters. The operations inside a refused operation are not reported.
LogicalResult ad::verifyHostProgram(func::FuncOp function, Stage stage) {
  bool isValid = succeeded(verifyArguments(function));
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (succeeded(verify(op, stage)) && succeeded(verifyResults(op)))
      return WalkResult::advance();
    isValid = false;
    return WalkResult::skip();
  });
  return success(isValid);
}
