// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The kernel classes for GPUs: what each covers, its plan, and which emitter makes the code. The emitters are
// in folders of their own.

#include "../Attention/AttentionClass.h"
#include "../Attention/AttentionGradClass.h"
#include "../Contraction/ContractionDivision.h"
#include "../Contraction/ContractionEmitter.h"
#include "../Contraction/Products/ByteFloats.h"
#include "../Elementwise/ElementwiseEmitter.h"
#include "../Generic/MergeRuns.h"
#include "../Generic/SlowKernels.h"
#include "../Reduction/ColumnRunEmitter.h"
#include "../Row/RowEmitter.h"
#include "../Scan/ScanTiles.h"
#include "../Scatter/RunsEmitter.h"
#include "../Scatter/ScatterEmitter.h"
#include "../Sort/SortClass.h"
#include "../Transpose/BoxTransposeEmitter.h"
#include "../Transpose/ShortTransposeEmitter.h"
#include "EmitterClass.h"
#include "adjoint/Dialect/AD/Transforms/ClusterKinds.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using ::mlir::gpu::GPUFuncOp;

//===- Elementwise --------------------------------------------------===//

namespace {
class ElementwiseClass : public EmitterClass {
public:
  ElementwiseClass() : EmitterClass(kElementwiseClass, /*benefit=*/4) {}

  bool covers(FusionOp fusion) const override { return isElementwiseCluster(fusion); }
  bool computesElements() const override { return true; }

  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp, const GPUTarget &, std::string &) const override {
    return std::make_unique<KernelPlan>();
  }

private:
  Emitter emitterFor(GPUFunctions &functions, GPUFuncOp function, const KernelPlan &) const override {
    return std::make_unique<ElementwiseEmitter>(functions.kernel, function);
  }
};
} // namespace

//===- Rows ---------------------------------------------------------===//

namespace {
struct RowPlan : KernelPlan {
  RowPlan(const Rows &rows, bool blockPerRow) : rows(rows), blockPerRow(blockPerRow) {}
  SmallVector<Fact> facts() const override {
    return {{"length", std::to_string(rows.length)}, {"row", blockPerRow ? "block" : "group"}};
  }
  Rows rows;
  bool blockPerRow; // otherwise a group of threads has a row
};

// Blocks for so few rows leave most of a GPU idle.
constexpr int64_t kFewRows = kDefaultSMCount / 4;

class RowClass : public EmitterClass {
public:
  RowClass() : EmitterClass(kRowClass, /*benefit=*/3) {}

  bool covers(FusionOp fusion) const override { return isRowCluster(fusion); }

  // Each row has one block. Where rows are few and long, a kernel that only reduces is divided instead, and
  // one that only maps has threads for each element.
  bool runsWell(FusionOp fusion) const override {
    auto [rows, length] = reducedRows(fusion);
    return ShapedType::isDynamic(rows) || rows > kFewRows || length < kLongRow || reducesRowsOnce(fusion);
  }

  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp kernel, const GPUTarget &,
                                         std::string &reason) const override {
    std::optional<Rows> rows = matchRows(kernel, reason);
    return rows ? std::make_unique<RowPlan>(*rows, usesBlockPerRow(kernel, *rows)) : nullptr;
  }

private:
  static const RowPlan &planOf(const KernelPlan &plan) { return static_cast<const RowPlan &>(plan); }

  Emitter emitterFor(GPUFunctions &functions, GPUFuncOp function, const KernelPlan &plan) const override {
    const Chip &chip = functions.target.chip;
    return std::make_unique<RowEmitter>(functions.kernel, function, planOf(plan).rows,
                                        BlockLimits{chip.sharedBytes, chip.clusterBlocks});
  }
  std::optional<Division> divisionOf(KernelOp kernel, const KernelPlan &plan) const override {
    return matchDivision(kernel, planOf(plan).blockPerRow);
  }
  Emitter nodeEmitter(KernelOp kernel, GPUFuncOp function, const KernelPlan &plan) const override {
    return std::make_unique<RowEmitter>(kernel, function, planOf(plan).rows, BlockLimits{0, 1});
  }
};
} // namespace

//===- Contractions -------------------------------------------------===//

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

  bool hasShortIndices() const override { return true; }

  bool covers(FusionOp fusion) const override { return isContractionCluster(fusion); }

  // A tile in registers belongs to one product, and its epilogue knows no other elements.
  bool runsWell(FusionOp fusion) const override { return isSingleContraction(fusion); }

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
    plan->contraction.loadsByTma = target.chip.hasWgmma && canLoadByTma(plan->contraction);
    plan->tile = chooseTile(plan->contraction, target.tile);
    if (mustDivide(*contraction) && plan->tile && !divideContraction(kernel, *contraction, *plan->tile)) {
      reason = "its instruction sums in chains, which it cannot join";
      return nullptr;
    }
    return plan;
  }

  LogicalResult verify(KernelOp kernel, const KernelPlan &plan, StringRef) const override {
    if (static_cast<const ContractionPlan &>(plan).contraction.instruction == MathInstruction::MmaSync)
      return success();
    return EmitterClass::verify(kernel, plan, "it multiplies other types");
  }

private:
  Emitter emitterFor(GPUFunctions &functions, GPUFuncOp function, const KernelPlan &plan) const override {
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

  std::optional<Division> divisionOf(KernelOp kernel, const KernelPlan &plan) const override {
    const auto &own = static_cast<const ContractionPlan &>(plan);
    return own.tile ? divideContraction(kernel, own.contraction, *own.tile) : std::nullopt;
  }
  Emitter nodeEmitter(KernelOp kernel, GPUFuncOp function, const KernelPlan &plan) const override {
    const auto &own = static_cast<const ContractionPlan &>(plan);
    return std::make_unique<ContractionEmitter>(kernel, function, own.contraction, *own.tile);
  }
};
} // namespace

//===- Transpositions -----------------------------------------------===//

namespace {
struct TransposePlan : KernelPlan {
  explicit TransposePlan(const Transposition &moved)
      : said{{"read-axes", listed(moved.readAxes)},
             {"through", hasShortAxis(moved) ? "registers" : "shared memory"},
             {"write-axes", listed(moved.writeAxes)}} {}
  SmallVector<Fact> facts() const override { return said; }
  static std::string listed(ArrayRef<int64_t> axes) {
    return llvm::join(llvm::map_range(axes, [](int64_t axis) { return std::to_string(axis); }), ",");
  }
  SmallVector<Fact> said;
};

class TransposeClass : public EmitterClass {
public:
  TransposeClass() : EmitterClass(kTranspositionClass, /*benefit=*/1) {}

  bool covers(FusionOp fusion) const override { return isTransposition(fusion); }

  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp kernel, const GPUTarget &,
                                         std::string &reason) const override {
    OwningOpRef<KernelOp> merged = kernel.clone();
    mergeRuns(*merged);
    std::optional<Transposition> moved = matchTransposition(*merged, reason);
    return moved ? std::make_unique<TransposePlan>(*moved) : nullptr;
  }

private:
  bool computesElements() const override { return true; }

  // Axes that are adjacent in both tensors have become one.
  Emitter emitterFor(GPUFunctions &functions, GPUFuncOp function, const KernelPlan &) const override {
    std::string reason;
    Transposition moved = *matchTransposition(functions.kernel, reason);
    if (hasShortAxis(moved))
      return std::make_unique<ShortTransposeEmitter>(functions.kernel, function, moved);
    if (hasAlignedRows(moved))
      return std::make_unique<TransposeEmitter>(functions.kernel, function, moved);
    return std::make_unique<BoxTransposeEmitter>(functions.kernel, function, moved);
  }
};
} // namespace

//===- Running reductions -------------------------------------------===//

namespace {
struct ScanPlan : KernelPlan {
  explicit ScanPlan(const TiledScan &scan) : scan(scan) {}
  SmallVector<Fact> facts() const override {
    return {{"chains", !scan.hasSquares() ? "adjacent" : scan.columns == 1 ? "contiguous" : "alternating"}};
  }
  TiledScan scan;
};

class ScanClass : public EmitterClass {
public:
  ScanClass() : EmitterClass(kScanClass, /*benefit=*/1) {}

  bool covers(FusionOp fusion) const override { return isScan(fusion); }

  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp kernel, const GPUTarget &,
                                         std::string &reason) const override {
    std::optional<TiledScan> scan = matchTiledScan(kernel, reason);
    return scan ? std::make_unique<ScanPlan>(*scan) : nullptr;
  }

private:
  static const TiledScan &scanOf(const KernelPlan &plan) { return static_cast<const ScanPlan &>(plan).scan; }

  Emitter emitterFor(GPUFunctions &functions, GPUFuncOp function, const KernelPlan &plan) const override {
    return std::make_unique<ScanTiles>(functions.kernel, function, scanOf(plan));
  }
  std::optional<Division> divisionOf(KernelOp, const KernelPlan &plan) const override {
    return divideScan(scanOf(plan));
  }
  Emitter nodeEmitter(KernelOp kernel, GPUFuncOp function, const KernelPlan &plan) const override {
    return std::make_unique<ScanTiles>(kernel, function, scanOf(plan));
  }
  Emitter joinEmitter(KernelOp kernel, GPUFuncOp function, const KernelPlan &plan) const override {
    return std::make_unique<ScanTiles>(kernel, function, scanOf(plan));
  }
  FailureOr<bool> emitSizes(KernelOp kernel, func::FuncOp host, const Division &division, int64_t,
                            const KernelPlan &plan) const override {
    return ScanSizes(kernel, host, scanOf(plan), division).emitSizes();
  }
};
} // namespace

//===- Scatters -----------------------------------------------------===//

namespace {
struct ScatterPlan : KernelPlan {
  explicit ScatterPlan(const OrderedWrite &write) : write(write), searched(write.searched) {}
  explicit ScatterPlan(const UpdateRuns &runs) : runs(runs), searched(runs.searched) {}
  SmallVector<Fact> facts() const override {
    auto listed = llvm::map_range(searched, [](unsigned axis) { return std::to_string(axis); });
    SmallVector<Fact> all = {{"indexed-axes", llvm::join(listed, ",")}};
    if (BlockArgument begins = runs ? runs->begins() : BlockArgument())
      all.push_back({"begins", std::to_string(begins.getArgNumber())});
    return all;
  }
  std::optional<OrderedWrite> write; // one of both
  std::optional<UpdateRuns> runs;
  SmallVector<unsigned> searched;
};

class ScatterClass : public EmitterClass {
public:
  ScatterClass() : EmitterClass(kScatterClass, /*benefit=*/1) {}

  bool covers(FusionOp fusion) const override { return isScatter(fusion); }

  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp kernel, const GPUTarget &,
                                         std::string &reason) const override {
    ValueRange results = kernel.getBody().front().getTerminator()->getOperands();
    if (results.size() == 1) {
      if (std::optional<OrderedWrite> write = matchOrderedWrite(results.front()))
        return std::make_unique<ScatterPlan>(*write);
      if (std::optional<UpdateRuns> runs = matchUpdateRuns(results.front()))
        return std::make_unique<ScatterPlan>(*runs);
    }
    reason = "its updates have another type than its result";
    return nullptr;
  }

  // An iteration updates one row, and does not look for it in all of them.
  std::optional<KernelCost> cost(KernelOp kernel, const KernelPlan &plan) const override {
    std::optional<KernelCost> searching = costOfKernel(kernel);
    const ScatterPlan &scatter = scatterOf(plan);
    SmallVector<int64_t> sizes = genericOf(scatter).getStaticLoopRanges();
    for (unsigned axis : scatter.searched)
      if (searching)
        searching->operations /= std::max<int64_t>(sizes[axis], 1);
    return searching;
  }

private:
  static const ScatterPlan &scatterOf(const KernelPlan &plan) {
    return static_cast<const ScatterPlan &>(plan);
  }
  static linalg::GenericOp genericOf(const ScatterPlan &plan) {
    return plan.runs ? plan.runs->generic : plan.write->generic;
  }
  Emitter emitterFor(GPUFunctions &functions, GPUFuncOp function, const KernelPlan &plan) const override {
    const ScatterPlan &scatter = scatterOf(plan);
    if (scatter.runs)
      return std::make_unique<RunsEmitter>(functions.kernel, function, *scatter.runs);
    return std::make_unique<ScatterEmitter>(functions.kernel, function, *scatter.write);
  }
  std::optional<Division> divisionOf(KernelOp, const KernelPlan &) const override { return std::nullopt; }
};
} // namespace

//===- Every kernel -------------------------------------------------===//

// Each thread computes an element, or a warp computes a row when the kernel sums over lanes. A value is
// computed where it is read.

// Whether the slice begins and ends at multiples of the longest vector.
static bool insertsVectors(tensor::InsertSliceOp insert) {
  RankedTensorType source = insert.getSourceType();
  int64_t axis = contiguousAxis(insert.getDestType().getShape());
  if (axis < 0 || source.getRank() != insert.getDestType().getRank())
    return false;
  int64_t length = kAccessBytes / memoryBytes(source.getElementType());
  std::optional<int64_t> offset = getConstantIntValue(insert.getMixedOffsets()[axis]);
  return offset && *offset % length == 0 && !source.isDynamicDim(axis) &&
         source.getDimSize(axis) % length == 0 && getConstantIntValue(insert.getMixedStrides()[axis]) == 1;
}

// Kernels without reductions, such as copies and insertions, can compute contiguous elements in a thread.
// Where a slice ends inside of a vector, the code of each element tells the sides apart; dynamic sizes have
// too many.
static bool canVectorize(KernelOp kernel) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.hasStaticShape();
  };
  bool allStatic =
      llvm::all_of(kernel.getArgumentTypes(), isStatic) && llvm::all_of(kernel.getResultTypes(), isStatic);
  return llvm::none_of(kernel.getBody().getOps<linalg::GenericOp>(), codegen::reduces) &&
         (allStatic || llvm::all_of(kernel.getBody().getOps<tensor::InsertSliceOp>(), insertsVectors));
}

namespace {
struct GenericPlan : KernelPlan {
  explicit GenericPlan(bool vectorizes) : vectorizes(vectorizes) {}
  SmallVector<Fact> facts() const override { return {{"vectors", vectorizes ? "yes" : "no"}}; }
  bool vectorizes;
};

class GenericClass : public EmitterClass {
public:
  GenericClass() : EmitterClass(kGenericClass, /*benefit=*/0) {}

  bool covers(FusionOp) const override { return true; }
  bool computesElements() const override { return true; }

  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp kernel, const GPUTarget &, std::string &) const override {
    return std::make_unique<GenericPlan>(canVectorize(kernel));
  }

  std::optional<KernelCost> cost(KernelOp kernel, const KernelPlan &) const override {
    return costOfKernel(kernel, /*recomputes=*/true);
  }

private:
  Emitter emitterFor(GPUFunctions &functions, GPUFuncOp function, const KernelPlan &plan) const override {
    KernelOp kernel = functions.kernel;
    if (std::string reason = whySlowInGenericClass(kernel); !reason.empty())
      remark::missed(kernel.getLoc(), remark::RemarkOpts::name("slow-kernel").category("ad-gpu"))
          << remark::metric("kernel", kernel.getSymName()) << remark::metric("reason", reason);
    if (static_cast<const GenericPlan &>(plan).vectorizes)
      return std::make_unique<ElementwiseEmitter>(functions.kernel, function);
    return reductionEmitter(kernel, function, matchUndividedRuns(kernel));
  }
  std::optional<Division> divisionOf(KernelOp kernel, const KernelPlan &plan) const override {
    std::optional<ColumnRuns> runs = matchUndividedRuns(kernel);
    return runs && hasAllLeaves(kernel, *runs) ? std::nullopt : EmitterClass::divisionOf(kernel, plan);
  }
  Emitter nodeEmitter(KernelOp kernel, GPUFuncOp function, const KernelPlan &) const override {
    return reductionEmitter(kernel, function, matchColumnRuns(kernel));
  }
  static Emitter reductionEmitter(KernelOp kernel, GPUFuncOp function,
                                  const std::optional<ColumnRuns> &runs) {
    if (runs)
      return std::make_unique<ColumnRunEmitter>(kernel, function, *runs);
    return std::make_unique<GPUKernelEmitter>(kernel, function);
  }
};
} // namespace

void ad::registerGPUKernelClasses(DialectRegistry &registry) {
  registerKernelClass<ElementwiseClass>(registry);
  registerKernelClass<RowClass>(registry);
  registerKernelClass<ScanClass>(registry);
  registerKernelClass<ScatterClass>(registry);
  registerKernelClass<SortClass>(registry);
  registerKernelClass<AttentionClass>(registry);
  registerKernelClass<AttentionGradClass>(registry);
  registerKernelClass<ContractionClass>(registry);
  registerKernelClass<TransposeClass>(registry);
  registerKernelClass<GenericClass>(registry);
}
