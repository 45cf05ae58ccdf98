// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations at indices that tensors hold: constraints, type inference and scalar code. A label such as
// gather_c4 is C4 of ad.gather in docs/spec/indexing.md.

#include "adjoint/Dialect/AD/IR/ADIndexingOps.h"
#include "../Attributes/NameDirectives.h"
#include "../ShapeUtils.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"
#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"

using namespace mlir;
using namespace mlir::ad;

static ParseResult parseOutside(OpAsmParser &parser, OutsideAttr &outside) {
  return parseName(parser, "error, clamp, fill or drop", symbolizeOutside, outside);
}
static void printOutside(OpAsmPrinter &printer, Operation *, OutsideAttr outside) {
  printer << stringifyOutside(outside.getValue());
}
static ParseResult parseScatterKind(OpAsmParser &parser, ScatterKindAttr &kind) {
  return parseName(parser, "set, add, max or min", symbolizeScatterKind, kind);
}
static void printScatterKind(OpAsmPrinter &printer, Operation *, ScatterKindAttr kind) {
  printer << stringifyScatterKind(kind.getValue());
}

//===- Constraints -===//

namespace {
/// The lists of an operation against the types of its operands.
class AccessVerifier {
public:
  AccessVerifier(const IndexedAccess &access, RankedTensorType tensor, ArrayRef<RankedTensorType> indices,
                 StringRef part, EmitError emitError)
      : access(access), tensor(tensor), indices(indices), part(part), emitError(emitError) {}

  LogicalResult verify() {
    if (failed(verifyTensorAxes()) || failed(verifyIndexAxes()) || failed(verifySizes()))
      return failure();
    return verifySlices();
  }

private:
  LogicalResult verifyTensorAxes() {
    if (indices.empty() || access.axes.size() != indices.size()) // gather_c1, scatter_c1
      return emitError() << "expected a tensor of indices for each of " << access.axes.size()
                         << " axes, and at least one, but got " << indices.size();
    for (ArrayRef<int64_t> axes : {ArrayRef(access.axes), ArrayRef(access.batch)}) // gather_c2, scatter_c2
      if (failed(verifyAxes(axes, access.rank, emitError)))
        return failure();
    for (int64_t axis : access.batch) // gather_c2, scatter_c2
      if (llvm::is_contained(access.axes, axis))
        return emitError() << "expected axis " << axis << " to be indexed or a batch axis, but it is both";
    return success();
  }

  LogicalResult verifyIndexAxes() {
    if (access.batch.size() != access.indexBatch.size()) // gather_c3, scatter_c3
      return emitError() << "expected as many batch axes of the indices as of the input, "
                         << access.batch.size() << ", but got " << access.indexBatch.size();
    SmallVector<int64_t> sorted(access.indexBatch);
    llvm::sort(sorted);
    return verifyAxes(sorted, access.indexRank, emitError); // gather_c3, scatter_c3
  }

  LogicalResult verifySizes() {
    for (RankedTensorType type : indices.drop_front()) // gather_c4, scatter_c4
      if (failed(verifyCompatibleShape(type.getShape(), indices.front().getShape())))
        return emitError() << "expected indices of one shape, but got "
                           << shapeToString(indices.front().getShape()) << " and "
                           << shapeToString(type.getShape());
    for (auto [axis, indexAxis] : llvm::zip_equal(access.batch, access.indexBatch)) {
      int64_t size = tensor.getDimSize(axis), other = indices.front().getDimSize(indexAxis);
      if (!maySizesAgree(size, other)) // gather_c4, scatter_c4
        return emitError() << "expected batch axes of one size, but axis " << axis << " has " << size
                           << " elements and axis " << indexAxis << " of the indices " << other;
    }
    return success();
  }

  LogicalResult verifySlices() {
    size_t expected = access.rank - access.axes.size() - access.batch.size();
    if (access.slices.size() != expected) // gather_c5, scatter_c5
      return emitError() << "expected " << expected << " slices, one for each axis of the input that is not "
                         << "indexed and no batch axis, but got " << access.slices.size();
    SmallVector<int64_t> outside = llvm::filter_to_vector(
        access.slices, [&](int64_t axis) { return axis < 0 || axis >= access.partRank(); });
    if (!outside.empty() || !llvm::is_sorted(access.slices, std::less_equal<>())) // gather_c5, scatter_c5
      return emitError() << "expected slices to be ascending axes of the " << part << ", which has rank "
                         << access.partRank() << ", but got [" << ArrayRef<int64_t>(access.slices) << "]";
    return success();
  }

  const IndexedAccess &access;
  RankedTensorType tensor;
  ArrayRef<RankedTensorType> indices;
  StringRef part;
  EmitError emitError;
};
} // namespace

// The shape of what is read or written.
static SmallVector<int64_t> shapeOfPart(const IndexedAccess &access, RankedTensorType tensor,
                                        ArrayRef<RankedTensorType> indices) {
  SmallVector<int64_t> shape(access.partRank());
  for (auto [from, axis] : llvm::enumerate(access.partAxesOfIndices())) {
    int64_t size = ShapedType::kDynamic;
    for (RankedTensorType type : indices)
      size = commonSize(size, type.getDimSize(from));
    shape[axis] = size;
  }
  SmallVector<int64_t> ofIndices = access.partAxesOfIndices();
  for (auto [axis, indexAxis] : llvm::zip_equal(access.batch, access.indexBatch))
    shape[ofIndices[indexAxis]] = commonSize(shape[ofIndices[indexAxis]], tensor.getDimSize(axis));
  for (auto [from, axis] : llvm::zip_equal(access.slicedAxes(), access.slices))
    shape[axis] = tensor.getDimSize(from);
  return shape;
}

// The types of operands whose verifiers have perhaps not run; none if one is no ranked tensor.
static std::optional<SmallVector<RankedTensorType>> rankedTypes(ValueRange values) {
  SmallVector<RankedTensorType> types;
  for (Value value : values) {
    types.push_back(dyn_cast<RankedTensorType>(value.getType()));
    if (!types.back())
      return std::nullopt;
  }
  return types;
}

// gather_c6, take_c2
static LogicalResult verifyFill(Outside outside, const APFloat &fill, EmitError emitError) {
  if (outside == Outside::drop)
    return emitError() << "expected an index outside to be an error, clamp or fill, but got drop";
  if (outside != Outside::fill && (!fill.isZero() || fill.isNegative()))
    return emitError() << "expected a value with `outside fill` only";
  return success();
}

//===- gather -===//

// While types are inferred, attributes that have their defaults may be null.
static void readList(SmallVectorImpl<int64_t> &list, DenseI64ArrayAttr attr) {
  if (attr)
    llvm::append_range(list, attr.asArrayRef());
}
static Outside valueOf(OutsideAttr attr) { return attr ? attr.getValue() : Outside::error; }
static APFloat valueOf(FloatAttr attr) { return attr ? attr.getValue() : APFloat(0.0); }

template <typename Adaptor> static IndexedAccess listsOf(Adaptor adaptor, int64_t rank, int64_t indexRank) {
  IndexedAccess access;
  readList(access.axes, adaptor.getAxesAttr());
  readList(access.batch, adaptor.getBatchAttr());
  readList(access.indexBatch, adaptor.getIndexBatchAttr());
  readList(access.slices, adaptor.getSlicesAttr());
  access.rank = rank;
  access.indexRank = indexRank;
  return access;
}

IndexedAccess GatherOp::getIndexedAccess() {
  return listsOf(*this, getInput().getType().getRank(),
                 cast<RankedTensorType>(getIndices().front().getType()).getRank());
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  std::optional<SmallVector<RankedTensorType>> indices = rankedTypes(adaptor.getIndices());
  if (!type || !indices)
    return error() << "expected ranked tensors";
  IndexedAccess access = listsOf(adaptor, type.getRank(), indices->empty() ? 0 : indices->front().getRank());
  if (failed(AccessVerifier(access, type, *indices, "result", error).verify()) ||
      failed(verifyFill(valueOf(adaptor.getOutsideAttr()), valueOf(adaptor.getFillAttr()), error)))
    return failure();
  types.push_back(type.clone(shapeOfPart(access, type, *indices)));
  return success();
}

//===- take and embedding -===//

static IndexedAccess takeAlong(int64_t axis, int64_t rank, int64_t indexRank) {
  IndexedAccess access;
  access.axes = {axis};
  access.rank = rank;
  access.indexRank = indexRank;
  for (int64_t slice = 0; slice < rank; ++slice)
    if (slice != axis)
      access.slices.push_back(slice < axis ? slice : slice - 1 + indexRank);
  return access;
}

static LogicalResult inferTake(Value tensor, Value indices, int64_t axis, EmitError error,
                               SmallVectorImpl<Type> &types) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  auto indexType = dyn_cast<RankedTensorType>(indices.getType());
  if (!type || !indexType)
    return error() << "expected ranked tensors";
  if (failed(verifyAxis(axis, type.getRank(), error))) // take_c1, embedding_c1
    return failure();
  IndexedAccess access = takeAlong(axis, type.getRank(), indexType.getRank());
  types.push_back(type.clone(shapeOfPart(access, type, indexType)));
  return success();
}

IndexedAccess TakeOp::getIndexedAccess() {
  return takeAlong(getAxis(), getInput().getType().getRank(), getIndices().getType().getRank());
}

LogicalResult TakeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  if (failed(verifyFill(valueOf(adaptor.getOutsideAttr()), valueOf(adaptor.getFillAttr()), error)))
    return failure();
  return inferTake(adaptor.getInput(), adaptor.getIndices(), adaptor.getAxis(), error, types);
}

IndexedAccess EmbeddingOp::getIndexedAccess() {
  return takeAlong(0, getTable().getType().getRank(), getIds().getType().getRank());
}

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  if (failed(inferTake(adaptor.getTable(), adaptor.getIds(), 0, error, types)))
    return failure();
  std::optional<uint64_t> padding = adaptor.getPadding();
  int64_t rows = cast<RankedTensorType>(adaptor.getTable().getType()).getDimSize(0);
  int64_t row = padding.value_or(0);
  if (row < 0 || (padding && !ShapedType::isDynamic(rows) && row >= rows)) // embedding_c2
    return error() << "expected padding to be a row of the table, which has " << rows << ", but got " << row;
  return success();
}

//===- scatter -===//

IndexedAccess ScatterOp::getIndexedAccess() {
  return listsOf(*this, getInput().getType().getRank(),
                 cast<RankedTensorType>(getIndices().front().getType()).getRank());
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto update = dyn_cast<RankedTensorType>(adaptor.getUpdate().getType());
  std::optional<SmallVector<RankedTensorType>> indices = rankedTypes(adaptor.getIndices());
  if (!type || !update || !indices)
    return error() << "expected ranked tensors";
  IndexedAccess access = listsOf(adaptor, type.getRank(), indices->empty() ? 0 : indices->front().getRank());
  if (failed(AccessVerifier(access, type, *indices, "update", error).verify()))
    return failure();
  if (valueOf(adaptor.getOutsideAttr()) == Outside::fill) // scatter_c6
    return error() << "expected an index outside to be an error, clamp or drop, but got fill";
  RankedTensorType expected = type.clone(shapeOfPart(access, type, *indices));
  if (update.getElementType() != type.getElementType() ||
      failed(verifyCompatibleShape(update, expected))) // scatter_c7
    return error() << "expected an update of type " << expected << ", but got " << update;
  if (adaptor.getKind() != ScatterKind::set && type.getElementType().isInteger(1)) // scatter_c8
    return error() << "expected numbers to combine, but got " << type;
  types.push_back(type);
  return success();
}

LogicalResult ScatterOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.emplace_back();
  for (int64_t axis = 0; axis < getType().getRank(); ++axis)
    shapes.back().push_back(sizeOf(builder, getLoc(), getInput(), axis));
  return success();
}

unsigned ScatterOp::getDestination() { return 0; }

unsigned ScatterOp::getLoopCount() { return getUpdate().getType().getRank(); }

SmallVector<ElementAccess> ScatterOp::getAccesses() {
  IndexedAccess access = getIndexedAccess();
  SmallVector<unsigned> indices = llvm::to_vector(llvm::seq<unsigned>(1, 1 + getIndices().size()));
  OutOfRange mode = getOutside() == Outside::error   ? OutOfRange::error
                    : getOutside() == Outside::clamp ? OutOfRange::clamp
                                                     : OutOfRange::drop;
  SmallVector<ElementAccess> accesses = {ElementAccess(access.tensorMap(getContext()), indices, mode)};
  accesses.front().wholeAxes = access.wholeAxes();
  accesses.append(indices.size(), access.indexMap(getContext()));
  accesses.push_back(AffineMap::getMultiDimIdentityMap(access.partRank(), getContext()));
  return accesses;
}

// An element that is set is no number to be widened.
Value ScatterOp::emitStart(OpBuilder &builder, Location loc, Value element) {
  if (getKind() == ScatterKind::set)
    return element;
  return convertScalar(builder, loc, element, computeType(element.getType()));
}

Value ScatterOp::emitUpdate(OpBuilder &builder, Location loc, ValueRange scalars, ValueRange) {
  ScalarCode code{builder, loc};
  Value old = scalars.front(), update = scalars.back();
  if (getKind() == ScatterKind::set)
    return update;
  update = code.convert(update, old.getType());
  if (getKind() == ScatterKind::add)
    return code.make<arith::AddFOp, arith::AddIOp>({old, update});
  return getKind() == ScatterKind::max ? code.make<arith::MaximumFOp, arith::MaxSIOp>({old, update})
                                       : code.make<arith::MinimumFOp, arith::MinSIOp>({old, update});
}

Value ScatterOp::emitResult(OpBuilder &builder, Location loc, Value accumulator) {
  return convertScalar(builder, loc, accumulator, getType().getElementType());
}

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADIndexingOps.cpp.inc"

void ADDialect::registerIndexingOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADIndexingOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADSortingOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADWindowOps.cpp.inc"
      >();
}
