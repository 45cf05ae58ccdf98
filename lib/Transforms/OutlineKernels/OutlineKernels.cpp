// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-outline-kernels`: the code of each fusion becomes a kernel, the fusion a launch.

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/KernelClass.h"
#include "adjoint/Dialect/AD/Transforms/OrderedWrite.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Support/SymbolName.h"
#include "adjoint/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-outline-kernels"

namespace mlir::ad {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "adjoint/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
/// A kernel, and the attributes of the fusion that it was made of.
struct OutlinedKernel {
  DictionaryAttr attributes;
  KernelOp kernel;

  bool isMadeOf(FusionOp fusion) {
    return attributes == fusion->getAttrDictionary() &&
           OperationEquivalence::isRegionEquivalentTo(&kernel.getBody(), &fusion.getBody(),
                                                      OperationEquivalence::IgnoreLocations);
  }
};

/// Kernels by a hash of their code, without locations.
using Kernels = llvm::DenseMap<size_t, SmallVector<OutlinedKernel, 1>>;
} // namespace

static size_t hashOf(FusionOp fusion) {
  llvm::hash_code hash = hash_value(fusion->getAttrDictionary());
  for (Type type : fusion.getBody().getArgumentTypes())
    hash = llvm::hash_combine(hash, type);
  fusion.getBody().walk([&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                                   OperationEquivalence::ignoreHashValue,
                                                                   OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

// For each result the argument whose content its destination must hold: the tensor into which slices are
// inserted, or whose elements a scatter updates.
static SmallVector<int64_t> tiedArguments(Block &body) {
  SmallVector<int64_t> tied;
  for (Value value : body.getTerminator()->getOperands()) {
    bool inserts = false;
    while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>()) {
      value = insert.getDest();
      inserts = true;
    }
    if (std::optional<OrderedWrite> write = inserts ? std::nullopt : matchOrderedWrite(value)) {
      value = write->start();
      inserts = true;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    tied.push_back(inserts && argument ? int64_t(argument.getArgNumber()) : -1);
  }
  return tied;
}

// Whether the operation of a kernel converts each element of a tensor to another type, and does nothing else.
static bool isCast(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  return llvm::hasSingleElement(body->without_terminator()) && isa<ConvertOp>(body->front()) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
}

// What a kernel is named for. A kernel that only casts is work that a contraction or another kernel could do
// while it reads or writes, so reports list such kernels.
static StringRef subjectOf(FusionOp fusion) {
  bool onlyCasts = true, any = false;
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    if (auto computation = dyn_cast<linalg::LinalgOp>(op)) {
      any = true;
      onlyCasts &= isCast(computation);
    } else {
      onlyCasts &= isa<tensor::EmptyOp, tensor::DimOp, arith::ConstantOp>(op);
    }
  }
  return any && onlyCasts ? StringRef("cast") : stringifyFusionKind(fusion.getKind());
}

namespace {
class OutlineKernelsPass : public ad::impl::OutlineKernelsPassBase<OutlineKernelsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (KernelOp kernel : module.getOps<KernelOp>())
      if (failed(makeLinkable(kernel, symbols)))
        return signalPassFailure();
    module.walk([&](LaunchOp launch) { tieAnew(launch, symbols); });
    Kernels kernels;
    if (failed(requireStage(getOperation(), Stage::lowered)))
      return signalPassFailure();
    SmallVector<FusionOp> fusions;
    module.walk([&](FusionOp fusion) { fusions.push_back(fusion); });
    for (FusionOp fusion : fusions)
      if (failed(outline(fusion, symbols, kernels)))
        return signalPassFailure();
  }

  // Of launches of the input program: what their kernels insert into is what the results start from, whatever
  // the program says.
  static void tieAnew(LaunchOp launch, SymbolTable &symbols) {
    auto kernel = symbols.lookup<KernelOp>(launch.getKernelAttr().getLeafReference());
    if (!kernel)
      return;
    SmallVector<int64_t> tied = tiedArguments(kernel.getBody().front());
    bool any = llvm::any_of(tied, [](int64_t argument) { return argument >= 0; });
    launch.setTiedAttr(any ? DenseI64ArrayAttr::get(launch.getContext(), tied) : DenseI64ArrayAttr());
  }

  // Kernels of the input program may have names that linkers or PTX refuse, or names of functions that code
  // calls: services of the runtime, `memcpy`, functions that a pass makes. None of these has the prefix.
  static LogicalResult makeLinkable(KernelOp kernel, SymbolTable &symbols) {
    constexpr StringLiteral prefix("kernel_");
    std::string name = adrt::symbolName(kernel.getSymName());
    if (!StringRef(name).starts_with(prefix))
      name = (prefix + name).str();
    if (name == kernel.getSymName())
      return success();
    while (symbols.lookup(name))
      name += "_";
    return symbols.rename(kernel, name);
  }

  LogicalResult outline(FusionOp fusion, SymbolTable &symbols, Kernels &kernels) {
    OpBuilder builder(fusion);
    SmallVector<Value> sizes;
    if (failed(resultSizes(builder, fusion, sizes)))
      return fusion.emitOpError("has results whose sizes do not follow from its operands");
    SmallVector<int64_t> tied = tiedArguments(fusion.getBody().front());
    SmallVector<OutlinedKernel, 1> &similar = kernels[hashOf(fusion)];
    auto *known = llvm::find_if(similar, [&](OutlinedKernel &kernel) { return kernel.isMadeOf(fusion); });
    bool isNew = known == similar.end();
    if (isNew) {
      DictionaryAttr attributes = fusion->getAttrDictionary();
      similar.push_back({attributes, makeKernel(fusion, symbols)});
    }
    KernelOp kernel = isNew ? similar.back().kernel : known->kernel;
    LDBG() << "the fusion at " << fusion.getLoc() << (isNew ? " becomes @" : " is equal to @")
           << kernel.getSymName();
    bool anyTied = llvm::any_of(tied, [](int64_t argument) { return argument >= 0; });
    auto launch = LaunchOp::create(builder, fusion.getLoc(), fusion.getResultTypes(), kernel.getSymName(),
                                   fusion.getInputs(), sizes, ValueRange(),
                                   anyTied ? builder.getDenseI64ArrayAttr(tied) : nullptr);
    fusion.replaceAllUsesWith(launch);
    fusion.erase();
    return success();
  }

  // The dynamic sizes of all results, in order.
  static LogicalResult resultSizes(OpBuilder &builder, FusionOp fusion, SmallVectorImpl<Value> &sizes) {
    if (llvm::all_of(fusion.getResultTypes(),
                     [](Type type) { return cast<ShapedType>(type).hasStaticShape(); }))
      return success();
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(builder, fusion, shapes)))
      return failure();
    for (auto [type, shape] : llvm::zip_equal(fusion.getResultTypes(), shapes))
      for (auto [i, size] : llvm::enumerate(shape))
        if (cast<ShapedType>(type).isDynamicDim(i))
          sizes.push_back(getValueOrCreateConstantIndexOp(builder, fusion.getLoc(), size));
    return success();
  }

  static KernelOp makeKernel(FusionOp fusion, SymbolTable &symbols) {
    OpBuilder builder(fusion->getParentOfType<ModuleOp>().getBodyRegion());
    auto type = builder.getFunctionType(fusion.getBody().getArgumentTypes(), fusion.getResultTypes());
    auto name = (subjectOf(fusion) + "_0").str();
    auto kernel = KernelOp::create(builder, fusion.getLoc(), name, type, builder.getStringAttr("private"),
                                   /*arg_attrs=*/nullptr, /*res_attrs=*/nullptr,
                                   fusion.getKernel().value_or(kGenericClass), fusion.getOrderAttr(),
                                   fusion.getAllowAttr());
    if (Attribute others = fusion->getAttr(kOtherClassesAttr))
      kernel->setAttr(kOtherClassesAttr, others);
    kernel.getBody().takeBody(fusion.getBody());
    symbols.insert(kernel);
    return kernel;
  }
};
} // namespace
