// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-prepack-operands`: packs a loop-invariant matrix before the loop.

#include "adjoint/Codegen/Kernel/Contractions.h"
#include "adjoint/Codegen/Kernel/RegisterTile.h"
#include "adjoint/Dialect/AD/Transforms/KernelClass.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Support/NumericOption.h"
#include "adjoint/Support/TripCount.h"
#include "adjoint/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-prepack-operands"

namespace mlir::ad {
#define GEN_PASS_DEF_PREPACKOPERANDSPASS
#include "adjoint/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// Packing reads and writes a matrix once; an iteration saves about a third of the time of reading it.
static constexpr int64_t kMinIterations = 8;
// Smaller matrices are in the L1 cache in any order.
static constexpr int64_t kMinElements = 4096;

// The outermost loop around `op` in which the value stays the same, if the loops up to it have enough
// iterations.
static scf::ForOp loopToLeave(Operation *op, Value value) {
  scf::ForOp outermost;
  uint64_t iterations = 1;
  for (Operation *parent = op->getParentOp(); !isa<func::FuncOp>(parent); parent = parent->getParentOp()) {
    if (parent->isAncestor(value.getParentRegion()->getParentOp()))
      break;
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      outermost = loop;
      iterations = llvm::SaturatingMultiply<uint64_t>(iterations, staticTripCount(loop).value_or(0));
    }
  }
  return iterations >= kMinIterations ? outermost : nullptr;
}

namespace {
class PrepackOperandsPass : public ad::impl::PrepackOperandsPassBase<PrepackOperandsPass> {
public:
  using PrepackOperandsPassBase::PrepackOperandsPassBase;

private:
  void runOnOperation() override {
    if (failed(verifyVectorBytes(getOperation(), vectorWidth)) ||
        failed(requireStage(getOperation(), Stage::lowered)))
      return signalPassFailure();
    std::optional<TileTable> found = findTiles(tiles, vectorWidth);
    if (!found) {
      emitError(getOperation().getLoc(), "unknown table of tiles '") << tiles << "', expected large or small";
      return signalPassFailure();
    }
    table = *found;
    packings.clear();
    SmallVector<FusionOp> fusions;
    getOperation().walk([&](FusionOp fusion) { fusions.push_back(fusion); });
    for (FusionOp fusion : fusions)
      for (auto generic : fusion.getBody().front().getOps<linalg::GenericOp>())
        prepack(fusion, generic);
  }

  // The right operand of a product of matrices in row-major order: its columns are those of the result.
  void prepack(FusionOp fusion, linalg::GenericOp generic) {
    SmallVector<unsigned> reduced;
    generic.getReductionDims(reduced);
    if (generic.getNumLoops() != 3 || reduced != SmallVector<unsigned>{2} || generic.getNumDpsInputs() != 2 ||
        generic.getNumResults() != 1 || fusion.getKernel() != kContractionClass)
      return;
    OpOperand *right = generic.getDpsInputOperand(1);
    auto argument = dyn_cast<BlockArgument>(right->get());
    auto type = cast<RankedTensorType>(right->get().getType());
    AffineMap map = generic.getMatchingIndexingMap(right);
    if (!argument || type.getRank() != 2 || !type.hasStaticShape() || type.getNumElements() < kMinElements ||
        !map.isProjectedPermutation() || map.isFunctionOfDim(0))
      return;
    Value matrix = fusion.getInputs()[argument.getArgNumber()];
    scf::ForOp loop = loopToLeave(fusion, matrix);
    if (!loop) {
      LDBG() << "not packed, no loop repeats it often enough: " << matrix;
      return;
    }
    PackedLayout layout = layoutFor(fusion, generic);
    if (type.getDimSize(map.getDimPosition(0) == 1 ? 1 : 0) % layout.group != 0)
      return;
    bool transposed = map.getDimPosition(0) == 1;
    LDBG() << "packed before a loop in panels of " << layout.tile << " columns: " << matrix;
    Value packed = packBefore(loop, matrix, layout, transposed, fusion);
    AffineMap access = layout.map(3, /*columnLoop=*/1, /*loopK=*/2, &getContext());
    replaceOperand(fusion, generic, argument, packed, access);
  }

  PackedLayout layoutFor(FusionOp fusion, linalg::GenericOp generic) {
    int64_t lanes = vectorWidth / kLaneBytes;
    SmallVector<int64_t> sizes = generic.getStaticLoopRanges();
    RegisterTile tile =
        chooseRegisterTile(table, sizes[0], sizes[1], lanes, generic.getResultTypes().front());
    if (dotProducts && kByteDotProduct.hasVectors(lanes) && multipliesBytes(generic))
      return {tile.vectors * lanes, kByteDotProduct.group};
    bool pairs = dotProducts && kBF16DotProduct.hasVectors(lanes) &&
                 usesPairDotProducts(generic, fusion.getOrderAttr());
    return {tile.vectors * lanes, pairs ? kBF16DotProduct.group : 1};
  }

  // A fusion of one copy; the same for all users of the matrix in this layout.
  Value packBefore(scf::ForOp loop, Value matrix, PackedLayout layout, bool transposed, FusionOp user) {
    Value &known = packings[{loop, matrix.getAsOpaquePointer(), layout.tile, layout.group, transposed}];
    if (known)
      return known;
    auto type = cast<RankedTensorType>(matrix.getType());
    unsigned column = transposed ? 0 : 1, k = 1 - column;
    RankedTensorType packed = layout.type(type.getDimSize(k), type.getDimSize(column), type.getElementType());
    OpBuilder builder(loop);
    auto fusion = FusionOp::create(builder, user.getLoc(), packed, FusionKind::movement, matrix,
                                   builder.getStringAttr(kGenericClass), nullptr, nullptr);
    Block &body = fusion.getBody().emplaceBlock();
    body.addArgument(type, user.getLoc());
    builder.setInsertionPointToStart(&body);
    Value empty = tensor::EmptyOp::create(builder, user.getLoc(), packed.getShape(), packed.getElementType());
    SmallVector<utils::IteratorType> parallel(2, utils::IteratorType::parallel);
    auto copy = linalg::GenericOp::create(
        builder, user.getLoc(), packed, body.getArgument(0), empty,
        {builder.getMultiDimIdentityMap(2), layout.map(2, column, k, &getContext())}, parallel,
        [](OpBuilder &nested, Location loc, ValueRange scalars) {
          linalg::YieldOp::create(nested, loc, scalars[0]);
        });
    YieldOp::create(builder, user.getLoc(), copy.getResults());
    return known = fusion.getResult(0);
  }

  static void replaceOperand(FusionOp fusion, linalg::GenericOp generic, BlockArgument old, Value packed,
                             AffineMap access) {
    Block &body = fusion.getBody().front();
    OpOperand *right = generic.getDpsInputOperand(1);
    right->set(argumentFor(fusion, packed));
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    maps[right->getOperandNumber()] = access;
    generic.setIndexingMapsAttr(OpBuilder(generic).getAffineMapArrayAttr(maps));
    if (!old.use_empty())
      return;
    unsigned number = old.getArgNumber();
    fusion.getInputsMutable().erase(number);
    body.eraseArgument(number);
  }

  static Value argumentFor(FusionOp fusion, Value input) {
    Block &body = fusion.getBody().front();
    for (auto [number, known] : llvm::enumerate(fusion.getInputs()))
      if (known == input)
        return body.getArgument(number);
    fusion.getInputsMutable().append(input);
    return body.addArgument(input.getType(), fusion.getLoc());
  }

  TileTable table;
  std::map<std::tuple<Operation *, void *, int64_t, int64_t, bool>, Value> packings;
};
} // namespace
