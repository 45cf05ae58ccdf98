// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-lower-to-nvvm`: what the emitters for GPUs make becomes the LLVM and NVVM dialects in one
// walk.

#include "../FenceExtensions.h"
#include "adjoint/Codegen/Kernel/Grid.h"
#include "adjoint/Conversion/Passes.h"
#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-lower-to-nvvm"

namespace mlir::ad {
#define GEN_PASS_DEF_LOWERTONVVMPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

static RewritePatternSet collectPatterns(LLVMTypeConverter &converter) {
  RewritePatternSet patterns(&converter.getContext());
  // With precedence over the patterns of upstream for GPUs, which call functions of libdevice.
  populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false, /*benefit=*/2);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  return patterns;
}

namespace {
class LowerToNVVMPass : public ad::impl::LowerToNVVMPassBase<LowerToNVVMPass> {
  void runOnOperation() override {
    LLVMTypeConverter converter(&getContext());
    configureGpuToNVVMTypeConverter(converter);
    FrozenRewritePatternSet patterns(collectPatterns(converter));
    LLVMConversionTarget target(getContext());
    target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect, ::mlir::gpu::GPUDialect,
                             index::IndexDialect, math::MathDialect>();
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addLegalOp<::mlir::gpu::GPUModuleOp>();
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target, patterns, config)) ||
        failed(refuseLibraryCalls()))
      return signalPassFailure();
    fenceExtensions(getOperation());
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (auto maps = function->getAttrOfType<ArrayAttr>(kTensorMapsAttr))
        passByValue(function, maps.size());
  }

  // The last arguments are tensor maps: bytes of the launch that no thread changes. Functions of the gpu
  // dialect cannot say so.
  static void passByValue(LLVM::LLVMFuncOp function, unsigned count) {
    LDBG() << "@" << function.getSymName() << " takes " << count << " tensor maps by value";
    Builder builder(function.getContext());
    Type bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), device::kTensorMapBytes);
    unsigned all = function.getNumArguments();
    for (unsigned number = all - std::min(count, all); number < all; ++number) {
      function.setArgAttr(number, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
      function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(device::kTensorMapAlignment));
      function.setArgAttr(number, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
    }
    function->removeAttr(kTensorMapsAttr);
  }

  LogicalResult refuseLibraryCalls() {
    WalkResult result = getOperation()->walk([](LLVM::CallOp call) -> WalkResult {
      if (!call.getCallee() || !call.getCallee()->starts_with("__nv_"))
        return WalkResult::advance();
      return call.emitError("needs '")
             << *call.getCallee() << "' of a library whose bits are its own; run ad-expand-scalar-ops first";
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
