// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that move data: verifiers and type inference. A label such as slice_c4 is C4 of ad.slice in
// docs/spec/shape.md.

#include "../ShapeUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADShapeOps.cpp.inc"

void ADDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADShapeOps.cpp.inc"
      >();
}

// The operations whose result type is written: the element type stays (reshape_c1, broadcast_c1,
// sum_to_shape_c1, slice_c1, dynamic_slice_c1), and dynamic sizes of the result are operands (reshape_c2,
// broadcast_c2, sum_to_shape_c2, slice_c2, dynamic_slice_c5).
template <typename Op> static LogicalResult verifyMovement(Op op) {
  Type input = op.getInput().getType().getElementType(), result = op.getType().getElementType();
  if (input != result)
    return op.emitOpError("expected a result with elements of type ") << input << ", but got " << result;
  return verifySizes(op, op.getType(), op.getSizes());
}

// `small` broadcasts to `large` as far as static sizes tell.
static LogicalResult verifyRepetition(ArrayRef<int64_t> small, ArrayRef<int64_t> large, EmitError emitError) {
  if (small.size() > large.size()) // broadcast_c3, sum_to_shape_c3
    return emitError() << "cannot broadcast rank " << small.size() << " to rank " << large.size();
  ArrayRef<int64_t> aligned = large.take_back(small.size());
  for (auto [dimension, sizes] : llvm::enumerate(llvm::zip_equal(small, aligned))) {
    auto [from, to] = sizes;
    if (from != 1 && !maySizesAgree(from, to)) // broadcast_c4, sum_to_shape_c4
      return emitError() << "cannot broadcast " << shapeToString(small) << " to " << shapeToString(large)
                         << ": sizes " << from << " and " << to << " of dimension "
                         << large.size() - small.size() + dimension << " differ";
  }
  return success();
}

LogicalResult ReshapeOp::verify() {
  if (failed(verifyMovement(*this)))
    return failure();
  ArrayRef<int64_t> from = getInput().getType().getShape(), to = getType().getShape();
  std::optional<int64_t> before = countElements(from), after = countElements(to);
  if (before && after && *before != *after) // reshape_c3
    return emitOpError("cannot reshape ") << *before << " elements of shape " << shapeToString(from) << " to "
                                          << *after << " of shape " << shapeToString(to);
  return success();
}

LogicalResult BroadcastOp::verify() {
  if (failed(verifyMovement(*this)))
    return failure();
  return verifyRepetition(getInput().getType().getShape(), getType().getShape(),
                          [&] { return emitOpError(); });
}

LogicalResult SumToShapeOp::verify() {
  if (failed(verifyMovement(*this)))
    return failure();
  return verifyRepetition(getType().getShape(), getInput().getType().getShape(),
                          [&] { return emitOpError(); });
}

OrderAttr SumToShapeOp::getCanonicalOrder() {
  // The innermost axis is summed if the result lacks it or may have size 1 there while the input may have
  // another.
  ArrayRef<int64_t> from = getInput().getType().getShape(), to = getType().getShape();
  bool innermost = !from.empty() && (to.empty() || (maySizesAgree(to.back(), 1) && from.back() != 1));
  return innermost ? OrderAttr::canonicalLanes(getContext()) : OrderAttr::canonicalBlocks(getContext());
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto error = [&] { return inferenceError(location, getOperationName()); };
  if (!type)
    return error() << "expected a ranked tensor";
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  SmallVector<int64_t> sorted = llvm::to_vector(permutation);
  llvm::sort(sorted);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  if (sorted != all) // transpose_c1
    return error() << "expected a permutation of the axes of rank " << type.getRank() << ", but got ["
                   << permutation << "]";
  SmallVector<int64_t> shape;
  for (int64_t axis : permutation)
    shape.push_back(type.getDimSize(axis));
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

// Whether `size` elements from `offset` on, `stride` apart, end inside an axis of `available` elements.
static bool fitsInAxis(int64_t offset, int64_t size, int64_t stride, int64_t available) {
  int64_t last = 0;
  if (size == 0 || ShapedType::isDynamic(size) || ShapedType::isDynamic(available))
    return true;
  return !llvm::MulOverflow(size - 1, stride, last) && !llvm::AddOverflow(last, offset, last) &&
         last < available;
}

LogicalResult SliceOp::verify() {
  if (failed(verifyMovement(*this)))
    return failure();
  ArrayRef<int64_t> from = getInput().getType().getShape(), to = getType().getShape();
  int64_t rank = from.size();
  if (static_cast<int64_t>(to.size()) != rank || getOffsets().size() != from.size() ||
      getStrides().size() != from.size()) // slice_c3
    return emitOpError("expected a result of rank ")
           << rank << " and as many offsets and strides, but got " << to.size() << ", " << getOffsets().size()
           << " and " << getStrides().size();
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t offset = getOffsets()[axis], stride = getStrides()[axis];
    if (offset < 0 || stride < 1) // slice_c4
      return emitOpError("expected a non-negative offset and a positive stride along axis ")
             << axis << ", but got " << offset << " and " << stride;
    if (!fitsInAxis(offset, to[axis], stride, from[axis])) // slice_c5
      return emitOpError("cannot read ") << to[axis] << " elements from offset " << offset << " with stride "
                                         << stride << " along axis " << axis << " of size " << from[axis];
  }
  return success();
}

// A window of shape `part` at one offset operand per axis inside `whole`.
static LogicalResult verifyWindow(ArrayRef<int64_t> part, ArrayRef<int64_t> whole, size_t offsets,
                                  EmitError emitError) {
  if (part.size() != whole.size()) // dynamic_slice_c2, dynamic_update_slice_c2
    return emitError() << "expected a part of rank " << whole.size() << ", but got rank " << part.size();
  if (offsets != whole.size()) // dynamic_slice_c3, dynamic_update_slice_c3
    return emitError() << "expected one offset for each of " << whole.size() << " axes, but got " << offsets;
  for (auto [axis, sizes] : llvm::enumerate(llvm::zip_equal(part, whole)))
    if (!fitsInAxis(0, std::get<0>(sizes), 1,
                    std::get<1>(sizes))) // dynamic_slice_c4, dynamic_update_slice_c4
      return emitError() << "expected a part of at most " << std::get<1>(sizes) << " elements along axis "
                         << axis << ", but got " << std::get<0>(sizes);
  return success();
}

LogicalResult DynamicSliceOp::verify() {
  if (failed(verifyMovement(*this)))
    return failure();
  return verifyWindow(getType().getShape(), getInput().getType().getShape(), getOffsets().size(),
                      [&] { return emitOpError(); });
}

LogicalResult DynamicUpdateSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                     Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto whole = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto part = dyn_cast<RankedTensorType>(adaptor.getUpdate().getType());
  auto error = [&] { return inferenceError(location, getOperationName()); };
  if (!whole || !part)
    return error() << "expected ranked tensors";
  if (whole.getElementType() != part.getElementType()) // dynamic_update_slice_c1
    return error() << "expected an update with elements of type " << whole.getElementType() << ", but got "
                   << part.getElementType();
  if (failed(verifyWindow(part.getShape(), whole.getShape(), adaptor.getOffsets().size(), error)))
    return failure();
  types.push_back(whole);
  return success();
}

// The size after padding; none when it exceeds 64 bits.
static std::optional<int64_t> paddedSize(int64_t size, int64_t low, int64_t high, int64_t interior) {
  int64_t between = 0, sum = 0;
  if (ShapedType::isDynamic(size))
    return size;
  if (llvm::MulOverflow(std::max<int64_t>(size - 1, 0), interior, between) ||
      llvm::AddOverflow(size, between, sum) || llvm::AddOverflow(sum, low, sum) ||
      llvm::AddOverflow(sum, high, sum))
    return std::nullopt;
  return sum;
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto value = dyn_cast<RankedTensorType>(adaptor.getValue().getType());
  auto error = [&] { return inferenceError(location, getOperationName()); };
  if (!type || !value || value.getRank() != 0 || value.getElementType() != type.getElementType()) // pad_c1
    return error() << "expected a tensor and a rank-0 value with its element type, but got "
                   << adaptor.getInput().getType() << " and " << adaptor.getValue().getType();
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh(), interior = adaptor.getInterior();
  size_t rank = type.getRank();
  if (low.size() != rank || high.size() != rank || interior.size() != rank) // pad_c2
    return error() << "expected low, high and interior for each of " << rank << " axes, but got "
                   << low.size() << ", " << high.size() << " and " << interior.size();
  SmallVector<int64_t> shape;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (low[axis] < 0 || high[axis] < 0 || interior[axis] < 0) // pad_c3
      return error() << "expected non-negative padding along axis " << axis << ", but got " << low[axis]
                     << ", " << high[axis] << " and " << interior[axis];
    // Sums of these, and what they are multiplied by, stay in 64 bits also along axes of unknown size.
    int64_t most = std::max({low[axis], high[axis], interior[axis]});
    if (most > std::numeric_limits<int32_t>::max()) // pad_c3
      return error() << "expected padding of at most 2147483647 elements along axis " << axis << ", but got "
                     << most;
    std::optional<int64_t> size = paddedSize(type.getDimSize(axis), low[axis], high[axis], interior[axis]);
    if (!size) // pad_c4
      return error() << "expected a padded size below 2^63 along axis " << axis;
    shape.push_back(*size);
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

// Adds the shape of one more input of a concatenation to `shape`.
static LogicalResult appendInput(SmallVectorImpl<int64_t> &shape, ArrayRef<int64_t> next, int64_t axis,
                                 EmitError error) {
  for (int64_t dimension = 0, rank = shape.size(); dimension < rank; ++dimension) {
    if (dimension != axis) {
      if (!maySizesAgree(shape[dimension], next[dimension])) // concat_c4
        return error() << "expected inputs that agree outside axis " << axis << ", but dimension "
                       << dimension << " has sizes " << shape[dimension] << " and " << next[dimension];
      shape[dimension] = commonSize(shape[dimension], next[dimension]);
    } else if (ShapedType::isDynamic(shape[axis]) || ShapedType::isDynamic(next[axis])) {
      shape[axis] = ShapedType::kDynamic;
    } else if (llvm::AddOverflow(shape[axis], next[axis], shape[axis])) { // concat_c5
      return error() << "expected a size below 2^63 along axis " << axis;
    }
  }
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  if (adaptor.getInputs().empty()) // concat_c1
    return error() << "expected at least one input";
  auto first = dyn_cast<RankedTensorType>(adaptor.getInputs().front().getType());
  int64_t axis = adaptor.getAxis();
  if (!first)
    return error() << "expected ranked tensors";
  if (failed(verifyAxis(axis, first.getRank(), error))) // concat_c2
    return failure();
  SmallVector<int64_t> shape = llvm::to_vector(first.getShape());
  for (Type input : llvm::drop_begin(TypeRange(adaptor.getInputs()))) {
    auto next = dyn_cast<RankedTensorType>(input);
    if (!next || next.getRank() != first.getRank() ||
        next.getElementType() != first.getElementType()) // concat_c3
      return error() << "expected inputs of one rank and element type, but got " << first << " and " << input;
    if (failed(appendInput(shape, next.getShape(), axis, error)))
      return failure();
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

LogicalResult ReverseOp::verify() {
  return verifyAxes(getAxes(), getType().getRank(), [&] { return emitOpError(); }); // reverse_c1
}
