// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "../Contraction/ByteFloats.h"
#include "../Contraction/ContractionEmitter.h"
#include "Classes.h"
#include "EmitterClass.h"
#include "adjoint/Dialect/AD/Transforms/ClusterKinds.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

namespace {
struct ContractionPlan : KernelPlan {
  explicit ContractionPlan(const Contraction &contraction) : contraction(contraction) {}
  SmallVector<Fact> facts() const override {
    std::string instruction = promotionStep(contraction.op) != 0 ? describePromoted(contraction)
                                                                 : nameOf(contraction.instruction).str();
    return {{"instruction", instruction}, {"tile", tile ? tile->name() : "none"}};
  }

  Contraction contraction;
  std::optional<ContractionTile> tile; // none if the option names no tile of the instruction
  std::string whyNoWgmma;              // although the chip has it; otherwise empty
};

class ContractionClass : public EmitterClass {
public:
  ContractionClass() : EmitterClass(kContractionClass, /*benefit=*/2) {}

  bool covers(FusionOp fusion) const override { return isContractionCluster(fusion); }

  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp kernel, const GPUTarget &target,
                                         std::string &reason) const override {
    std::optional<Contraction> contraction = matchContraction(kernel, reason);
    if (!contraction)
      return nullptr;
    auto plan = std::make_unique<ContractionPlan>(*contraction);
    // Nothing proves that wgmma adds like mma.sync, and the layout of operands would decide which of the two.
    if (contraction->instruction == MathInstruction::MmaSync && target.chip.hasWgmma &&
        !fixedInstruction(contraction->op)) {
      plan->whyNoWgmma = whyNoWgmma(*contraction);
      if (plan->whyNoWgmma.empty())
        plan->contraction.instruction = MathInstruction::Wgmma;
    }
    plan->tile = chooseTile(plan->contraction, target.tile);
    return plan;
  }

  LogicalResult verify(KernelOp kernel, const KernelPlan &plan, StringRef) const override {
    if (static_cast<const ContractionPlan &>(plan).contraction.instruction == MathInstruction::MmaSync)
      return success();
    return EmitterClass::verify(kernel, plan, "it multiplies other types");
  }

private:
  Emitter emitterFor(GPUFunctions &functions, ::mlir::gpu::GPUFuncOp function,
                     const KernelPlan &plan) const override {
    const auto &own = static_cast<const ContractionPlan &>(plan);
    KernelOp kernel = functions.kernel;
    if (!own.whyNoWgmma.empty())
      remark::missed(kernel.getLoc(), remark::RemarkOpts::name("wgmma").category("ad-gpu"))
          << remark::metric("kernel", kernel.getSymName()) << remark::metric("reason", own.whyNoWgmma);
    if (own.tile)
      return std::make_unique<ContractionEmitter>(kernel, function, own.contraction, *own.tile);
    SmallVector<std::string> names;
    for (const ContractionTile &known : tilesFor(own.contraction))
      names.push_back(known.name());
    kernel.emitOpError("unknown tile '")
        << functions.target.tile << "' for " << nameOf(own.contraction.instruction) << ", expected "
        << llvm::join(names, " or ");
    return nullptr;
  }

  // They have enough tiles for all multiprocessors, or their K is split before.
  std::optional<Division> divisionOf(KernelOp, const KernelPlan &) const override { return std::nullopt; }
};
} // namespace

void device::registerContractionClass(DialectRegistry &registry) {
  registerKernelClass<ContractionClass>(registry);
}
