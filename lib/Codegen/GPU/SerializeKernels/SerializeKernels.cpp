// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-serialize-kernels`: kernels in the LLVM and NVVM dialects become code of a GPU.

#include "Ptx.h"
#include "Toolkit.h"
#include "adjoint/Codegen/Passes.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-serialize-kernels"

namespace mlir::ad {
#define GEN_PASS_DEF_SERIALIZEKERNELSPASS
#include "adjoint/Codegen/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;
using ::mlir::gpu::CompilationTarget;

static const llvm::StringMap<CompilationTarget> formats = {{"isa", CompilationTarget::Assembly},
                                                           {"bin", CompilationTarget::Binary},
                                                           {"fatbin", CompilationTarget::Fatbin}};

namespace {
class SerializeKernelsPass : public ad::impl::SerializeKernelsPassBase<SerializeKernelsPass> {
public:
  using SerializeKernelsPassBase::SerializeKernelsPassBase;

private:
  void getDependentDialects(DialectRegistry &registry) const override {
    SerializeKernelsPassBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<Chip> known = findChip(chip);
    if (!known) {
      emitError(module.getLoc(), "unknown chip '") << chip << "', expected " << chipNames();
      return signalPassFailure();
    }
    if (!formats.count(format)) {
      emitError(module.getLoc(), "unknown format '") << format << "', expected isa, bin or fatbin";
      return signalPassFailure();
    }
    if (!codeFor.empty() && format != "fatbin") {
      emitError(module.getLoc(), "code-for=")
          << llvm::join(codeFor, ",") << " is for format=fatbin, but the format is " << format;
      return signalPassFailure();
    }
    for (const std::string &other : codeFor)
      if (!findChip(other)) {
        emitError(module.getLoc(), "unknown chip '") << other << "' in code-for, expected " << chipNames();
        return signalPassFailure();
      }
    if (failed(requireStage(getOperation(), Stage::emitted)))
      return signalPassFailure();
    for (auto kernels : llvm::make_early_inc_range(module.getOps<::mlir::gpu::GPUModuleOp>()))
      if (failed(serialize(kernels, *known)))
        return signalPassFailure();
  }

  LogicalResult serialize(::mlir::gpu::GPUModuleOp kernels, const Chip &known) {
    FailureOr<StringRef> version = ptxVersionFor(kernels, known);
    if (failed(version))
      return failure();
    FailureOr<std::string> code = emitPtx(kernels, known, *version);
    if (succeeded(code) && format == "bin")
      code = assemble(kernels, *code, known.name);
    else if (succeeded(code) && format == "fatbin")
      code = bundle(kernels, *code, known.name,
                    codeFor.empty() ? ArrayRef<std::string>(chip) : ArrayRef<std::string>(codeFor));
    if (failed(code))
      return failure();
    LDBG() << "@" << kernels.getName() << ": " << code->size() << " bytes of " << format << " for "
           << known.name << " from PTX " << *version;
    OpBuilder builder(kernels);
    auto target = NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/2, "nvptx64-nvidia-cuda", known.name,
                                            ("+" + *version).str());
    auto object =
        ::mlir::gpu::ObjectAttr::get(target, formats.find(format)->second, builder.getStringAttr(*code));
    ::mlir::gpu::BinaryOp::create(builder, kernels.getLoc(), kernels.getName(), /*offloadingHandler=*/nullptr,
                                  builder.getArrayAttr(object));
    kernels.erase();
    return success();
  }
};
} // namespace
