// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Pools.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

// The axis of an index value, which is a size itself.
static constexpr int64_t kItself = -1;

bool ad::fitsInMemory(RankedTensorType type) {
  constexpr int64_t addressSpace = int64_t(1) << 47;
  if (llvm::is_contained(type.getShape(), 0))
    return true;
  int64_t bytes = elementBytes(type);
  return llvm::all_of(type.getShape(), [&](int64_t size) {
    return ShapedType::isDynamic(size) || (!llvm::MulOverflow(bytes, size, bytes) && bytes <= addressSpace);
  });
}

// The operand that holds the size of a dynamic axis of the result.
static Value sizeOperand(ValueRange sizes, RankedTensorType type, int64_t axis) {
  return sizes[type.getDynamicDimIndex(axis)];
}

static Value sizeOfLaunch(LaunchOp launch, OpResult result, int64_t axis) {
  ValueRange sizes = launch.getSizes();
  for (OpResult before : launch->getResults().take_front(result.getResultNumber()))
    sizes = sizes.drop_front(cast<RankedTensorType>(before.getType()).getNumDynamicDims());
  return sizeOperand(sizes, cast<RankedTensorType>(result.getType()), axis);
}

// The origin of the size one operation back; none if the size is computed here.
std::optional<PoolAnalysis::Origin> PoolAnalysis::step(const Origin &origin) {
  if (!origin.value)
    return std::nullopt;
  if (origin.number == kItself) {
    if (std::optional<int64_t> constant = getConstantIntValue(origin.value))
      return Origin{Value(), *constant};
    auto dim = origin.value.getDefiningOp<tensor::DimOp>();
    std::optional<int64_t> axis = dim ? dim.getConstantIndex() : std::nullopt;
    auto type = dim ? dyn_cast<RankedTensorType>(dim.getSource().getType()) : RankedTensorType();
    bool known = axis && type && *axis >= 0 && *axis < type.getRank();
    return known ? std::optional(Origin{dim.getSource(), *axis}) : std::nullopt;
  }
  auto type = cast<RankedTensorType>(origin.value.getType());
  if (!type.isDynamicDim(origin.number))
    return Origin{Value(), type.getDimSize(origin.number)};
  // A carry keeps the sizes of its initial value: the lowered loop checks that.
  if (auto argument = dyn_cast<BlockArgument>(origin.value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop ? std::optional(Origin{loop.getTiedLoopInit(argument)->get(), origin.number}) : std::nullopt;
  }
  auto result = cast<OpResult>(origin.value);
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return Origin{loop.getInitArgs()[result.getResultNumber()], origin.number};
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Origin then = originOf(branch.thenYield().getOperand(result.getResultNumber()), origin.number);
    Origin other = originOf(branch.elseYield().getOperand(result.getResultNumber()), origin.number);
    return then == other ? std::optional(then) : std::nullopt;
  }
  if (isa<BarrierOp, CopyOp, tensor::CastOp>(op))
    return Origin{op->getOperand(result.getResultNumber()), origin.number};
  if (auto launch = dyn_cast<LaunchOp>(op))
    return Origin{sizeOfLaunch(launch, result, origin.number), kItself};
  if (auto feed = dyn_cast<FeedOp>(op))
    return Origin{sizeOperand(feed.getSizes(), type, origin.number), kItself};
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return Origin{sizeOperand(reshape.getSizes(), type, origin.number), kItself};
  return std::nullopt;
}

PoolAnalysis::Origin PoolAnalysis::originOf(Value tensor, int64_t axis) {
  SmallVector<Origin> path = {{tensor, axis}};
  Origin last = path.front();
  while (true) {
    if (auto found = known.find(last); found != known.end()) {
      last = found->second;
      break;
    }
    std::optional<Origin> next = step(last);
    if (!next)
      break;
    last = *next;
    path.push_back(last);
  }
  for (const Origin &passed : path)
    known[passed] = last;
  return last;
}

// A merged axis has the product of the sizes of the axes that it is made of.
void PoolAnalysis::addFactors(const Origin &size, std::vector<Origin> &factors) {
  auto product = size.number == kItself && size.value ? size.value.getDefiningOp<arith::MulIOp>() : nullptr;
  if (!product)
    return factors.push_back(size);
  for (Value operand : product->getOperands())
    addFactors(originOf(operand, kItself), factors);
}

int64_t PoolAnalysis::poolOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.hasStaticShape())
    return 0;
  std::vector<Origin> factors;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      addFactors(originOf(tensor, axis), factors);
  llvm::sort(factors);
  return pools.try_emplace(factors, count()).first->second;
}

bool PoolAnalysis::haveSameSize(Value a, Value b) {
  auto bytes = [](Value value) { return bytesPerUnit(cast<RankedTensorType>(value.getType())); };
  return bytes(a) == bytes(b) && poolOf(a) == poolOf(b);
}
