// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "HostProgram.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::ad;

static bool isSupported(Operation *op) {
  if (isa<LaunchOp, FeedOp, ReceiveOp, RequireOp, BarrierOp, ReshapeOp, ConstantOp, func::ReturnOp>(op) ||
      isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp>(op) ||
      isa<tensor::CastOp, tensor::DimOp, tensor::ExtractOp, arith::SelectOp>(op) ||
      op->getName().getDialectNamespace() == "check")
    return true;
  // Scalar code. On tensors it is work for a kernel.
  bool onTensors = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) ||
                   llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
  return !onTensors && (isa<arith::ArithDialect>(op->getDialect()) || isa<ElementaryOp, ConvertOp>(op));
}

// For what is most often met in programs that were written for other compilers.
static StringRef insteadOf(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
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
      .StartsWith("cf.", "scf.if, scf.for or scf.while")
      .Default("operations of the ad dialect");
}

// Calls were inlined as far as possible.
static LogicalResult refuseCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (callee && callee.isExternal())
    return call.emitOpError("expected '") << call.getCallee() << "' to have a body";
  return call.emitOpError("is part of a recursion, which cannot be compiled; write a loop");
}

static LogicalResult verify(Operation *op) {
  if (isSupported(op))
    return success();
  if (auto call = dyn_cast<func::CallOp>(op))
    return refuseCall(call);
  if (isa<ADDialect>(op->getDialect()))
    return op->emitOpError("is in no kernel; ") << howToReach(Stage::outlined);
  return op->emitOpError("is not supported in a program for this target; write ")
         << insteadOf(op) << " instead";
}

// In the order of the program, so that an operation that makes no sense here is named and not what it leads
// to.
LogicalResult ad::verifyHostProgram(func::FuncOp function) {
  WalkResult result =
      function.getBody().walk<WalkOrder::PreOrder>([](Operation *op) { return WalkResult(verify(op)); });
  return failure(result.wasInterrupted());
}
