// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of the tensor dialect that move elements.

#include "Importer.h"
#include "LoopNest.h"
#include "adjoint/Dialect/AD/IR/ADIndexingOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace mlir::ad;

static std::optional<SmallVector<int64_t>> constants(ArrayRef<OpFoldResult> numbers) {
  return getConstantIntValues(numbers);
}

static SmallVector<OpFoldResult> withoutAxes(ArrayRef<OpFoldResult> sizes,
                                             const llvm::SmallBitVector &dropped) {
  SmallVector<OpFoldResult> kept;
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (!dropped.test(axis))
      kept.push_back(size);
  return kept;
}

//===- Slices -===//

// Elements at offset + i * stride: with computed offsets, those of a part without strides first.
static Value slice(TensorCode code, Value source, ArrayRef<OpFoldResult> offsets,
                   ArrayRef<OpFoldResult> sizes, ArrayRef<int64_t> strides) {
  Type element = TensorCode::elementOf(source);
  auto type = typeOfSizes(sizes, element);
  if (std::optional<SmallVector<int64_t>> known = constants(offsets))
    return SliceOp::create(code.builder, code.loc, type, source, *known, strides, code.dynamicAmong(sizes),
                           nullptr);
  SmallVector<OpFoldResult> span;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
    if (stride == 1 || isConstantIntValue(size, 0)) {
      span.push_back(size);
      continue;
    }
    OpFoldResult steps = addSizes(code.builder, code.loc, size, code.builder.getIndexAttr(-1));
    span.push_back(addSizes(code.builder, code.loc,
                            mulSizes(code.builder, code.loc, steps, code.builder.getIndexAttr(stride)),
                            code.builder.getIndexAttr(1)));
  }
  Value part = DynamicSliceOp::create(code.builder, code.loc, typeOfSizes(span, element), source,
                                      code.indices(offsets), code.dynamicAmong(span), nullptr);
  if (llvm::all_of(strides, [](int64_t stride) { return stride == 1; }))
    return part;
  SmallVector<int64_t> zeros(sizes.size(), 0);
  return SliceOp::create(code.builder, code.loc, type, part, zeros, strides, code.dynamicAmong(sizes),
                         nullptr);
}

static std::optional<SmallVector<int64_t>> positiveStrides(ArrayRef<OpFoldResult> strides) {
  std::optional<SmallVector<int64_t>> known = constants(strides);
  bool arePositive = known && llvm::all_of(*known, [](int64_t stride) { return stride > 0; });
  return arePositive ? known : std::nullopt;
}

static FailureOr<Value> extractSlice(tensor::ExtractSliceOp op, TensorCode code, Refusals &refusals) {
  std::optional<SmallVector<int64_t>> strides = positiveStrides(op.getMixedStrides());
  if (!strides)
    return refusals.add(op, "has strides that are not positive constants");
  Value part = slice(code, op.getSource(), op.getMixedOffsets(), op.getMixedSizes(), *strides);
  return code.reshape(part, withoutAxes(op.getMixedSizes(), op.getDroppedDims()));
}

// With strides, the elements are those of a scatter along each axis.
static Value scatterSlice(TensorCode code, Value source, Value destination, ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes, ArrayRef<int64_t> strides) {
  SmallVector<Value> indices;
  Type i64 = code.builder.getI64Type();
  for (auto [axis, offset] : llvm::enumerate(offsets)) {
    Value number = arith::IndexCastOp::create(code.builder, code.loc, i64, code.index(offset));
    Value step = integerConstant(code.builder, code.loc, i64, strides[axis]);
    Value steps = code.mul(code.iota(sizes, axis), step);
    indices.push_back(code.add(steps, code.full(number, RankedTensorType::get({}, i64), {})));
  }
  SmallVector<int64_t> axes(offsets.size());
  std::iota(axes.begin(), axes.end(), 0);
  return ScatterOp::create(code.builder, code.loc, ScatterKind::set, destination, indices, source, axes,
                           ArrayRef<int64_t>(), ArrayRef<int64_t>(), ArrayRef<int64_t>(), Outside::error,
                           PermissionsAttr());
}

static FailureOr<Value> insertSlice(tensor::InsertSliceOp op, TensorCode code, Refusals &refusals) {
  std::optional<SmallVector<int64_t>> strides = positiveStrides(op.getMixedStrides());
  if (!strides)
    return refusals.add(op, "has strides that are not positive constants");
  Value source = code.reshape(op.getSource(), op.getMixedSizes());
  if (llvm::any_of(*strides, [](int64_t stride) { return stride != 1; }))
    return scatterSlice(code, source, op.getDest(), op.getMixedOffsets(), op.getMixedSizes(), *strides);
  return Value(DynamicUpdateSliceOp::create(code.builder, code.loc, op.getDest(), source,
                                            code.indices(op.getMixedOffsets()), PermissionsAttr()));
}

static Value insertElement(tensor::InsertOp op, TensorCode code) {
  SmallVector<OpFoldResult> ones(op.getIndices().size(), code.builder.getIndexAttr(1));
  Value update = code.reshape(code.ofScalar(op.getScalar()), ones);
  return DynamicUpdateSliceOp::create(code.builder, code.loc, op.getDest(), update, op.getIndices(),
                                      PermissionsAttr());
}

//===- Padding -===//

// The elements around are computed at each point of the result, over which the source is written.
static FailureOr<Value> padInto(tensor::PadOp op, TensorCode code, Refusals &refusals) {
  SmallVector<OpFoldResult> sizes;
  for (auto [axis, low, high] : llvm::enumerate(op.getMixedLowPad(), op.getMixedHighPad())) {
    OpFoldResult inner = sizeOfAxis(code, op.getSource(), axis);
    sizes.push_back(addSizes(code.builder, code.loc, addSizes(code.builder, code.loc, low, inner), high));
  }
  BodyRaiser raiser(code, sizes, op.getRegion(), refusals, [](BlockArgument) { return Value(); });
  for (auto [loop, argument] : llvm::enumerate(op.getRegion().getArguments()))
    raiser.setIteration(argument, loop);
  FailureOr<Value> around = raiser.raise(op.getBody()->getTerminator()->getOperand(0));
  if (failed(around))
    return failure();
  Value outer = code.broadcast(*around, sizes);
  return Value(DynamicUpdateSliceOp::create(code.builder, code.loc, outer, op.getSource(),
                                            code.indices(op.getMixedLowPad()), PermissionsAttr()));
}

static FailureOr<Value> pad(tensor::PadOp op, TensorCode code, Refusals &refusals) {
  std::optional<SmallVector<int64_t>> low = constants(op.getMixedLowPad()),
                                      high = constants(op.getMixedHighPad());
  for (auto *side : {&low, &high})
    if (*side && llvm::any_of(**side, [](int64_t count) { return count < 0; }))
      return refusals.add(
          op, "has negative padding; expected tensor.extract_slice for elements that are cut off");
  Value value = op.getConstantPaddingValue();
  if (!low || !high || !value)
    return padInto(op, code, refusals);
  SmallVector<int64_t> interior(low->size(), 0);
  return Value(PadOp::create(code.builder, code.loc, op.getSource(), code.ofScalar(value), *low, *high,
                             interior, PermissionsAttr()));
}

//===- Shapes -===//

static Value collapse(tensor::CollapseShapeOp op, TensorCode code) {
  SmallVector<OpFoldResult> sizes;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    OpFoldResult size = code.builder.getIndexAttr(1);
    for (int64_t axis : group)
      size = mulSizes(code.builder, code.loc, size, sizeOfAxis(code, op.getSrc(), axis));
    sizes.push_back(size);
  }
  return code.reshape(op.getSrc(), sizes);
}

static Value reshape(tensor::ReshapeOp op, TensorCode code) {
  SmallVector<OpFoldResult> sizes;
  for (auto [axis, size] : llvm::enumerate(cast<RankedTensorType>(op.getType()).getShape())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(code.builder.getIndexAttr(size));
      continue;
    }
    Value at = arith::ConstantIndexOp::create(code.builder, code.loc, axis);
    Value number = tensor::ExtractOp::create(code.builder, code.loc, op.getShape(), at);
    Type index = code.builder.getIndexType();
    sizes.push_back(number.getType().isIndex()
                        ? number
                        : Value(arith::IndexCastOp::create(code.builder, code.loc, index, number)));
  }
  return code.reshape(op.getSource(), sizes);
}

//===- Gather and scatter -===//

// Indices are the last axis of a tensor, one for each of `axes`.
static SmallVector<Value> splitIndices(TensorCode code, Value indices, size_t count) {
  SmallVector<OpFoldResult> sizes = code.sizes(indices);
  SmallVector<OpFoldResult> kept(ArrayRef(sizes).drop_back());
  SmallVector<Value> lists;
  for (size_t number = 0; number < count; ++number) {
    SmallVector<OpFoldResult> offsets(sizes.size(), code.builder.getIndexAttr(0));
    offsets.back() = code.builder.getIndexAttr(number);
    SmallVector<OpFoldResult> part = kept;
    part.push_back(code.builder.getIndexAttr(1));
    Value list = slice(code, indices, offsets, part, SmallVector<int64_t>(sizes.size(), 1));
    list = code.reshape(list, kept);
    bool isList = TensorCode::elementOf(list).isInteger(32) || TensorCode::elementOf(list).isInteger(64);
    lists.push_back(isList ? list : code.cast(list, code.builder.getI64Type()));
  }
  return lists;
}

// Where the axes that are not listed are in the result: behind those of the indices.
static SmallVector<int64_t> slicePlaces(int64_t rank, size_t listed, int64_t batch) {
  SmallVector<int64_t> places(rank - listed);
  std::iota(places.begin(), places.end(), batch);
  return places;
}

static Value gather(tensor::GatherOp op, TensorCode code) {
  ArrayRef<int64_t> axes = op.getGatherDims();
  int64_t rank = TensorCode::typeOf(op.getSource()).getRank();
  int64_t batch = TensorCode::typeOf(op.getIndices()).getRank() - 1;
  Value read = GatherOp::create(code.builder, code.loc, op.getSource(),
                                splitIndices(code, op.getIndices(), axes.size()), axes, ArrayRef<int64_t>(),
                                ArrayRef<int64_t>(), slicePlaces(rank, axes.size(), batch), Outside::error,
                                APFloat(0.0), PermissionsAttr());
  // Gathered axes may stay, with one element.
  if (TensorCode::typeOf(op.getResult()).getRank() == TensorCode::typeOf(read).getRank())
    return read;
  SmallVector<OpFoldResult> given = code.sizes(read), sizes(given.begin(), given.begin() + batch);
  for (int64_t axis = 0, next = batch; axis < rank; ++axis)
    sizes.push_back(llvm::is_contained(axes, axis) ? OpFoldResult(code.builder.getIndexAttr(1))
                                                   : given[next++]);
  return code.reshape(read, sizes);
}

static Value scatter(tensor::ScatterOp op, TensorCode code) {
  ArrayRef<int64_t> axes = op.getScatterDims();
  int64_t rank = TensorCode::typeOf(op.getDest()).getRank();
  int64_t batch = TensorCode::typeOf(op.getIndices()).getRank() - 1;
  SmallVector<OpFoldResult> given = code.sizes(op.getSource()), sizes(given.begin(), given.begin() + batch);
  bool keepsAxes = static_cast<int64_t>(given.size()) == batch + rank;
  for (int64_t axis = 0, next = batch; axis < rank; ++axis) {
    bool isListed = llvm::is_contained(axes, axis);
    if (!isListed)
      sizes.push_back(given[next]);
    next += keepsAxes || !isListed;
  }
  return ScatterOp::create(code.builder, code.loc, ScatterKind::set, op.getDest(),
                           splitIndices(code, op.getIndices(), axes.size()),
                           code.reshape(op.getSource(), sizes), axes, ArrayRef<int64_t>(),
                           ArrayRef<int64_t>(), slicePlaces(rank, axes.size(), batch), Outside::error,
                           PermissionsAttr());
}

//===- All of them -===//

LogicalResult Importer::importTensor(Operation *op) {
  if (failed(refusals.verifyTypes(op)))
    return failure();
  TensorCode code = codeFor(op);
  using Made = FailureOr<Value>;
  Made made =
      llvm::TypeSwitch<Operation *, Made>(op)
          .Case([&](tensor::ExtractSliceOp op) { return extractSlice(op, code, refusals); })
          .Case([&](tensor::InsertSliceOp op) { return insertSlice(op, code, refusals); })
          .Case([&](tensor::InsertOp op) { return insertElement(op, code); })
          .Case([&](tensor::PadOp op) { return pad(op, code, refusals); })
          .Case([&](tensor::CollapseShapeOp op) { return collapse(op, code); })
          .Case([&](tensor::ExpandShapeOp op) { return code.reshape(op.getSrc(), op.getMixedOutputShape()); })
          .Case([&](tensor::ReshapeOp op) { return reshape(op, code); })
          .Case([&](tensor::ConcatOp op) -> Made {
            return Value(
                ConcatOp::create(rewriter, code.loc, op.getInputs(), op.getDim(), PermissionsAttr()));
          })
          .Case([&](tensor::GatherOp op) { return gather(op, code); })
          .Case([&](tensor::ScatterOp op) { return scatter(op, code); })
          .Case([&](tensor::BitcastOp op) {
            return code.bitcast(op.getSource(), getElementTypeOrSelf(op.getType()));
          })
          .Default(failure());
  if (succeeded(made))
    return replace(op, code, *made);
  return importMaker(op);
}
