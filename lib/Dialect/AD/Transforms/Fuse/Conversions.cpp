// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Conversions.h"
#include "Rules.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

// With so few rows a contraction on a CPU has one tile of rows, which reads each element of its other operand
// once.
static constexpr int64_t kRowsOfOneTile = 8;
// A contraction on the CPU packs an operand only up to this size of K: larger panels do not fit the stack
// memory of a kernel. An operand that is not packed would be converted once per register tile.
static constexpr int64_t kLongestPackedK = 8192;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool fuse::isConversion(Operation *op) {
  if (!isElementwiseOp(op) || op->getNumOperands() != 1 || op->getNumResults() != 1)
    return false;
  Type from = getElementTypeOrSelf(op->getOperand(0)), to = getElementTypeOrSelf(op->getResult(0));
  return from != to && from.isIntOrFloat() && to.isIntOrFloat() && !to.isInteger(1);
}

// Whether the kernel that computes the value could store the converted value, too.
static bool hasProducerThatConverts(Value value, Block &block) {
  Operation *producer = value.getDefiningOp();
  auto passes = [](Operation *op) {
    return (isCopyableView(op) && viewKindOf(op) != ViewKind::dynamicSlice) || isConversion(op);
  };
  while (producer && producer->getBlock() == &block && passes(producer))
    producer = producer->getOperand(0).getDefiningOp();
  return producer && producer->getBlock() == &block && isa<FusableOpInterface>(producer) &&
         (mayReadThroughViews(producer) || viewKindOf(producer) == ViewKind::dynamicSlice);
}

// The number of rows that the contraction multiplies with the operand, which is that of its columns; nothing
// for an operand of the rows: each tile of columns would convert it again.
static std::optional<int64_t> rowsOfColumns(OpOperand &operand, AffineMap own, AffineMap out) {
  if (!own || !out || out.getNumResults() == 0 || !out.isProjectedPermutation() ||
      !own.isFunctionOfDim(out.getDimPosition(out.getNumResults() - 1)))
    return std::nullopt;
  int64_t rows = 1;
  for (auto [axis, size] : llvm::enumerate(typeOf(operand.getOwner()->getResult(0)).getShape()))
    if (!own.isFunctionOfDim(out.getDimPosition(axis)))
      rows = ShapedType::isDynamic(rows) || ShapedType::isDynamic(size) ? ShapedType::kDynamic : rows * size;
  return rows;
}

static bool canBePacked(OpOperand &operand, AffineMap own, AffineMap out) {
  RankedTensorType type = typeOf(operand.get());
  if (!type.hasStaticShape() || !own.isProjectedPermutation())
    return false;
  int64_t k = 1;
  for (auto [axis, size] : llvm::enumerate(type.getShape()))
    if (auto loop = dyn_cast<AffineDimExpr>(own.getResult(axis));
        loop && !out.isFunctionOfDim(loop.getPosition()))
      k *= size;
  return k <= kLongestPackedK;
}

// Whether the contraction converts each element of the operand once.
static bool contractionConverts(OpOperand &operand, int64_t maxConvertedRows) {
  Operation *op = operand.getOwner();
  if (!isContractionLike(op) || !isa<FloatType>(typeOf(operand.get()).getElementType()))
    return false;
  SmallVector<AffineMap> maps = cast<FusableOpInterface>(op).getAccessMaps();
  AffineMap own = maps[operand.getOperandNumber()], out = maps.back();
  std::optional<int64_t> rows = rowsOfColumns(operand, own, out);
  if (!rows)
    return false;
  bool unlimited = maxConvertedRows < 0;
  if (!ShapedType::isDynamic(*rows) && *rows <= (unlimited ? kRowsOfOneTile : maxConvertedRows))
    return true;
  return unlimited && canBePacked(operand, own, out);
}

static bool userConverts(OpOperand &use, const ClusterGraph &graph, int64_t maxConvertedRows) {
  Operation *user = use.getOwner();
  if (isContractionOp(user))
    return graph.clusterOf(user) && contractionConverts(use, maxConvertedRows);
  if (!graph.isCopied(user))
    return graph.clusterOf(user) && mayReadThroughViews(user);
  // A contraction packs converted elements, but not those of a view of them.
  bool packs = isConversion(user);
  return llvm::all_of(user->getUses(), [&](OpOperand &further) {
    return (packs || !isContractionOp(further.getOwner())) && userConverts(further, graph, maxConvertedRows);
  });
}

// A kernel of its own reads the elements and writes the converted ones, which the users read. Without it,
// each user reads the elements.
static bool savesBytes(Operation *op, const ClusterGraph &graph) {
  int64_t from = typeOf(op->getOperand(0)).getElementTypeBitWidth();
  int64_t to = typeOf(op->getResult(0)).getElementTypeBitWidth();
  int64_t uses = graph.usesOf(op->getResult(0)).size();
  return uses * (from - to) <= from + to;
}

// Whether the kernel that computes the operand stores it in 16 bits, rather than the wider result: what the
// backward pass reads is kept. Contractions read the wider one (WidenOperands.cpp).
static bool staysNarrow(Operation *op, const ClusterGraph &graph) {
  auto from = dyn_cast<FloatType>(getElementTypeOrSelf(op->getOperand(0)));
  auto to = dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  return from && to && from.getWidth() == 16 && to.getWidth() > 16 &&
         llvm::none_of(graph.usesOf(op->getResult(0)),
                       [](const ClusterGraph::Use &use) { return isContractionOp(use.operand->getOwner()); });
}

bool fuse::isConvertedByUsers(Operation *op, const ClusterGraph &graph, int64_t maxConvertedRows) {
  if (!isConversion(op) || op->use_empty() || isReadByOtherGroup(op, graph))
    return false;
  if (hasProducerThatConverts(op->getOperand(0), graph.getBlock()) && !staysNarrow(op, graph))
    return false;
  auto converts = [&](OpOperand &use) { return userConverts(use, graph, maxConvertedRows); };
  bool contracted = llvm::any_of(graph.usesOf(op->getResult(0)), [](const ClusterGraph::Use &use) {
    return isContractionOp(use.operand->getOwner());
  });
  return llvm::all_of(op->getUses(), converts) && (contracted || savesBytes(op, graph));
}
