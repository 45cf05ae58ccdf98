// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-lower-to-llvm`: what emitters and host programs are made of becomes the LLVM dialect in one
// walk. A pass for each dialect would walk the program as many times, with casts between their types.

#include "../FenceExtensions.h"
#include "adjoint/Conversion/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-lower-to-llvm"

namespace mlir::ad {
#define GEN_PASS_DEF_LOWERTOLLVMPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

static RewritePatternSet collectPatterns(LLVMTypeConverter &converter, SymbolTableCollection &symbols) {
  RewritePatternSet patterns(&converter.getContext());
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  cf::populateAssertToLLVMConversionPattern(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns, &symbols);
  return patterns;
}

static bool isPassedAsBits(Type type) { return type.isBF16(); }

static Value bitcastTo(OpBuilder &builder, Location loc, Type type, Value value) {
  return arith::BitcastOp::create(builder, loc, type, value);
}

// Functions take bf16 as its bits: CPUs without instructions for bf16 pass it as f32, and LLVM then calls a
// function of a runtime library to round it.
static void passBF16AsBits(ModuleOp module, SymbolTableCollection &symbols) {
  llvm::StringSet<> asValues; // their type is that of the value, too
  module.walk([&](func::ConstantOp function) { asValues.insert(function.getValue()); });
  Type bits = IntegerType::get(module.getContext(), 16);
  auto asBits = [&](Type type) { return isPassedAsBits(type) ? bits : type; };
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.isPrivate() || asValues.contains(function.getSymName()) ||
        llvm::none_of(function.getArgumentTypes(), isPassedAsBits))
      continue;
    OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
    for (BlockArgument argument : function.getArguments()) {
      Type type = argument.getType();
      if (!isPassedAsBits(type))
        continue;
      argument.setType(bits);
      Value value = bitcastTo(builder, argument.getLoc(), type, argument);
      argument.replaceAllUsesExcept(value, value.getDefiningOp());
    }
    function.setType(builder.getFunctionType(llvm::map_to_vector(function.getArgumentTypes(), asBits),
                                             function.getResultTypes()));
  }
  module.walk([&](func::CallOp call) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee)
      return;
    OpBuilder builder(call);
    for (auto [operand, type] : llvm::zip(call->getOpOperands(), callee.getArgumentTypes()))
      if (operand.get().getType() != type)
        operand.set(bitcastTo(builder, call.getLoc(), type, operand.get()));
  });
}

// Nothing outside of the module calls a private function, so that two programs may be linked into one.
static void makePrivateInternal(ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.isPrivate() && !function.isExternal())
      function.setLinkage(LLVM::Linkage::Internal);
}

namespace {
class LowerToLLVMPass : public ad::impl::LowerToLLVMPassBase<LowerToLLVMPass> {
  // Its functions would be refused in words of the conversion.
  LogicalResult requireCode() {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (llvm::any_of(llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()),
                       llvm::IsaPred<TensorType>))
        return function.emitOpError("is a program on tensors; --ad-to-cpu runs all passes up to this one");
    return success();
  }

  void runOnOperation() override {
    if (failed(requireCode()))
      return signalPassFailure();
    SymbolTableCollection symbols;
    passBF16AsBits(getOperation(), symbols);
    LDBG() << "converts " << llvm::range_size(getOperation().getOps<func::FuncOp>()) << " functions";
    LLVMTypeConverter converter(&getContext());
    FrozenRewritePatternSet patterns(collectPatterns(converter, symbols));
    LLVMConversionTarget target(getContext());
    target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                             index::IndexDialect, math::MathDialect, vector::VectorDialect>();
    ConversionConfig config;
    config.allowPatternRollback = false; // a program that cannot be converted is refused
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target, patterns, config)))
      return signalPassFailure();
    makePrivateInternal(getOperation());
    fenceExtensions(getOperation());
  }
};
} // namespace
