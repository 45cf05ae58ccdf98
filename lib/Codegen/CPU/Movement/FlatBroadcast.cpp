// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise kernels whose last axis is shorter than a vector. A loop along that axis would leave most lanes
// inactive, so the loop enumerates the elements of all axes. The index of a broadcast operand's element is
// computed by quotients and remainders of the element's number, and the element is gathered.

#include "FlatBroadcast.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Whether the axes of the operand are loops in their order, at full size, or have size 1. The number of an
// element is then found without the constant index: in a longer axis it would select a slice.
static bool isBroadcast(AffineMap map, ArrayRef<int64_t> operand, ArrayRef<int64_t> loops) {
  int64_t previous = -1;
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    if (operand[axis] == 1 && isa<AffineConstantExpr>(expr))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || dim.getPosition() <= previous || operand[axis] != loops[dim.getPosition()])
      return false;
    previous = dim.getPosition();
  }
  return true;
}

static bool isBroadcastElementwise(linalg::GenericOp generic) {
  SmallVector<int64_t> loops = generic.getStaticLoopRanges();
  auto isRegular = [&](OpOperand &operand) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    return !type ||
           (generic.isDpsInit(&operand) ? map.isIdentity() : isBroadcast(map, type.getShape(), loops));
  };
  return generic.getNumReductionLoops() == 0 && !llvm::any_of(loops, ShapedType::isDynamic) &&
         llvm::all_of(generic->getOpOperands(), isRegular) &&
         llvm::none_of(*generic.getBlock(),
                       [](Operation &op) { return isa<linalg::IndexOp, tensor::ExtractOp>(op); });
}

// Whether a loop over all elements of the nest fills more lanes than one along its last axis, and the
// operands of the value can be found from the number of an element.
bool FlatBroadcast::isFlatBroadcast(Value output, const CPUNest &nest) {
  int64_t axis = nest.laneAxis();
  if (axis < 0 || ShapedType::isDynamic(nest.shape[axis]) || nest.shape[axis] > vectorLanes / 2)
    return false;
  return kernelOutputs.isFlat(output, isBroadcastElementwise);
}

// Calculates with the numbers of elements: scalars of type index, or vectors, of 32 bits where those are
// enough, since CPUs have no vector instruction that divides or multiplies high halves of 64 bits.
namespace {
class Numbers {
public:
  Numbers(OpBuilder &builder, Location loc, Value numbers, int64_t count) : builder(builder), loc(loc) {
    type = numbers.getType();
    if (auto vector = dyn_cast<VectorType>(type); vector && llvm::isInt<32>(count))
      type = VectorType::get(vector.getShape(), builder.getI32Type());
    all = cast(numbers, type);
  }

  /// The numbers divided by `divisor`, modulo `modulus`, times `factor`.
  Value digit(int64_t divisor, int64_t modulus, int64_t factor) {
    Value value = all;
    if (divisor != 1)
      value = builder.createOrFold<arith::DivUIOp>(loc, value, constant(divisor));
    if (modulus != 0)
      value = builder.createOrFold<arith::RemUIOp>(loc, value, constant(modulus));
    return factor == 1 ? value : builder.createOrFold<arith::MulIOp>(loc, value, constant(factor));
  }
  Value add(Value a, Value b) { return a ? builder.createOrFold<arith::AddIOp>(loc, a, b) : b; }
  Value indices(Value value) {
    auto vector = dyn_cast<VectorType>(type);
    Type index = builder.getIndexType();
    return cast(value, vector ? Type(VectorType::get(vector.getShape(), index)) : index);
  }

private:
  Value cast(Value value, Type to) {
    return value.getType() == to ? value : Value(arith::IndexCastUIOp::create(builder, loc, to, value));
  }
  Value constant(int64_t value) {
    auto element = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(vector, Attribute(element)));
    return arith::ConstantOp::create(builder, loc, element);
  }

  OpBuilder &builder;
  Location loc;
  Type type;
  Value all;
};

} // namespace

// The row-major offset in the operand, computed from the row-major offset in the result. Adjacent axes that
// the operand has too need one quotient and remainder together.
Position FlatBroadcast::flatPosition(OpOperand *input, ArrayRef<Index> loops) {
  auto generic = cast<linalg::GenericOp>(input->getOwner());
  AffineMap map = generic.getMatchingIndexingMap(input);
  SmallVector<int64_t> sizes = generic.getStaticLoopRanges();
  if (map.isIdentity())
    return Position(loops);
  const Index &number = loops.front();
  bool isVector = number.lanes || (lanes > 1 && number.step != 0);
  Numbers numbers(builder, loc, isVector ? laneValues.laneVector(number) : number.base,
                  llvm::product_of(sizes));
  auto isKept = [&](int64_t dim) { return sizes[dim] == 1 || map.isFunctionOfDim(dim); };
  Value sum;
  int64_t inner = 1, stride = 1; // elements of the generic and of the operand after the axis
  for (int64_t dim = sizes.size() - 1, first; dim >= 0; dim = first) {
    int64_t size = 1;
    bool kept = isKept(dim);
    for (first = dim; first >= 0 && isKept(first) == kept; --first)
      size *= sizes[first];
    if (kept && first < 0 && inner == 1)
      return Position(loops);
    if (kept && size > 1) {
      sum = numbers.add(sum, numbers.digit(inner, first < 0 ? 0 : size, stride));
      stride *= size;
    }
    inner *= size;
  }
  if (!sum)
    return {{indexConstant(0), 0, nullptr}};
  sum = numbers.indices(sum);
  return {isVector ? Index{nullptr, 0, sum} : Index{sum, 0, nullptr}};
}
