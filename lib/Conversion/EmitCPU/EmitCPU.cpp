// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-emit-cpu`: a function for each kernel.

#include "../NormalizeKernel.h"
#include "KernelEmitter.h"
#include "adjoint/Conversion/Passes.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Support/NumericOption.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::ad {
#define GEN_PASS_DEF_EMITCPUPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
class EmitCPUPass : public ad::impl::EmitCPUPassBase<EmitCPUPass> {
public:
  using EmitCPUPassBase::EmitCPUPassBase;

private:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<TileTable> table = findTiles(tiles);
    if (!table) {
      emitError(module.getLoc(), "unknown table of tiles '") << tiles << "', expected large or small";
      return signalPassFailure();
    }
    if (failed(verifyVectorBytes(module, vectorWidth)) ||
        failed(requireStage(getOperation(), Stage::planned)))
      return signalPassFailure();
    for (KernelOp kernel : llvm::make_early_inc_range(module.getOps<KernelOp>())) {
      if (failed(normalizeKernel(kernel)))
        return signalPassFailure();
      func::FuncOp function = declare(kernel);
      // A lane holds 32 bits on average; f64 takes two registers.
      cpu::KernelEmitter emitter(kernel, function, vectorWidth / 4, *table, dotProducts);
      if (failed(emitter.emit()))
        return signalPassFailure();
      OpBuilder atEnd = OpBuilder::atBlockEnd(&function.getBody().back());
      func::ReturnOp::create(atEnd, kernel.getLoc());
      kernel.erase();
    }
  }

  static func::FuncOp declare(KernelOp kernel) {
    OpBuilder builder(kernel);
    Type index = builder.getIndexType(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
    SmallVector<Type> types;
    auto add = [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      types.push_back(tensor ? pointer : type);
      if (tensor)
        types.append(tensor.getNumDynamicDims(), index);
    };
    llvm::for_each(kernel.getArgumentTypes(), add);
    llvm::for_each(kernel.getResultTypes(), add);
    types.append(2, index);
    auto function = func::FuncOp::create(builder, kernel.getLoc(), kernel.getSymName(),
                                         builder.getFunctionType(types, {}));
    function.setPrivate();
    function.addEntryBlock();
    return function;
  }
};
} // namespace
