// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions of windows: constraints, type inference and sizes. A label such as reduce_window_c3 is C3 of
// ad.reduce_window in docs/spec/windows.md.

#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
#include "../ShapeUtils.h"
#include "WindowLists.h"

using namespace mlir;
using namespace mlir::ad;

static ParseResult parseKeyword(OpAsmParser &parser, StringAttr &kind) {
  std::string word;
  if (parser.parseKeywordOrString(&word))
    return failure();
  kind = parser.getBuilder().getStringAttr(word);
  return success();
}
static void printKeyword(OpAsmPrinter &printer, Operation *, StringAttr kind) {
  printer.printKeywordOrString(kind.getValue());
}

//===- Lists -===//

namespace {
/// The lists of an operation, with a number for each axis or none.
struct Lists {
  template <typename OpT>
  explicit Lists(OpT op)
      : window(numbersOf(op.getWindowAttr())), strides(numbersOf(op.getStridesAttr())),
        dilation(numbersOf(op.getDilationAttr())), low(numbersOf(op.getLowAttr())),
        high(numbersOf(op.getHighAttr())) {}

  LogicalResult verify(int64_t rank, EmitError error) const {
    if (int64_t(window.size()) != rank) // reduce_window_c2, arg_reduce_window_c2, spread_window_c2
      return error() << "expected a window of " << rank << " sizes, one for each axis, but got "
                     << window.size();
    for (auto [name, list] : named()) {
      int64_t least = name == "low" || name == "high" ? 0 : 1;
      // reduce_window_c2, arg_reduce_window_c2, spread_window_c2, reduce_window_c3, arg_reduce_window_c3,
      // spread_window_c3
      if (failed(verifyNumbers(name, list, rank, "axis", least, error)))
        return failure();
    }
    return success();
  }

  SmallVector<WindowAxis> axes() const {
    SmallVector<WindowAxis> axes(window.size());
    for (auto [i, axis] : llvm::enumerate(axes)) {
      auto at = [&](ArrayRef<int64_t> list, int64_t otherwise) { return list.empty() ? otherwise : list[i]; };
      axis.size = window[i];
      axis.stride = at(strides, 1);
      axis.dilation = at(dilation, 1);
      axis.low = at(low, 0);
      axis.high = at(high, 0);
    }
    return axes;
  }

  SmallVector<int64_t> places(ArrayRef<int64_t> shape) const {
    SmallVector<int64_t> places;
    for (auto [axis, size] : llvm::zip_equal(axes(), shape))
      places.push_back(axis.places(size));
    return places;
  }

private:
  SmallVector<std::pair<StringRef, ArrayRef<int64_t>>> named() const {
    return {{"window", window}, {"strides", strides}, {"dilation", dilation}, {"low", low}, {"high", high}};
  }
  ArrayRef<int64_t> window, strides, dilation, low, high;
};
} // namespace

SmallVector<WindowAxis> ReduceWindowOp::getWindowAxes() { return Lists(*this).axes(); }
SmallVector<WindowAxis> ArgReduceWindowOp::getWindowAxes() { return Lists(*this).axes(); }
SmallVector<WindowAxis> SpreadWindowOp::getWindowAxes() { return Lists(*this).axes(); }

//===- Types -===//

// A reduction without positions that has the shape of the places.
template <typename Adaptor>
static LogicalResult inferPlaces(Adaptor adaptor, Type element, EmitError error,
                                 SmallVectorImpl<Type> &types) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!type)
    return error() << "expected a ranked tensor";
  Lists lists(adaptor);
  if (failed(lists.verify(type.getRank(), error)))
    return failure();
  types.push_back(
      RankedTensorType::get(lists.places(type.getShape()), element ? element : type.getElementType()));
  return success();
}

LogicalResult ReduceWindowOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  StringRef kind = adaptor.getKindAttr() ? adaptor.getKind() : "";
  if (!llvm::is_contained({"max", "min", "sum", "mean"}, kind)) // reduce_window_c1
    return error() << "expected max, min, sum or mean, but got '" << kind << "'";
  if (failed(inferPlaces(adaptor, Type(), error, types)))
    return failure();
  auto type = cast<RankedTensorType>(types.front());
  if (kind == "mean" && !isa<FloatType>(type.getElementType())) // reduce_window_c1
    return error() << "expected floats for a mean, but got " << type.getElementType();
  Value positions = adaptor.getPositions();
  if (!positions)
    return success();
  if (kind != "sum") // reduce_window_c4
    return error() << "expected a sum at positions, but got '" << kind << "'";
  if (failed(verifyCompatibleShape(positions.getType(), type))) // reduce_window_c4
    return error() << "expected positions of shape " << shapeToString(type.getShape()) << ", but got "
                   << positions.getType();
  return success();
}

LogicalResult ArgReduceWindowOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                  Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  StringRef kind = adaptor.getKindAttr() ? adaptor.getKind() : "";
  if (kind != "max" && kind != "min") // arg_reduce_window_c1
    return error() << "expected max or min, but got '" << kind << "'";
  return inferPlaces(adaptor, IntegerType::get(context, 64), error, types);
}

LogicalResult SpreadWindowOp::verifyWindows() {
  RankedTensorType from = getInput().getType(), to = getType();
  auto error = [&] { return emitOpError(); };
  if (from.getElementType() != to.getElementType() || from.getRank() != to.getRank()) // spread_window_c1
    return error() << "expected a result of the operand's element type and rank, but got " << to;
  if (failed(verifySizes(*this, to, getSizes()))) // spread_window_c1
    return failure();
  Lists lists(*this);
  if (failed(lists.verify(from.getRank(), error)))
    return failure();
  if (Value positions = getPositions();
      positions && failed(verifyCompatibleShape(positions.getType(), from))) // spread_window_c4
    return error() << "expected positions of shape " << shapeToString(from.getShape()) << ", but got "
                   << positions.getType();
  SmallVector<int64_t> places = lists.places(to.getShape());
  for (auto [axis, size, count] : llvm::enumerate(from.getShape(), places))
    if (!maySizesAgree(size, count)) // spread_window_c5
      return error() << "expected " << count << " elements along axis " << axis
                     << ", as many as places of the "
                     << "window, but got " << size;
  return success();
}

//===- Sizes -===//

static SmallVector<OpFoldResult> placesOf(OpBuilder &builder, Operation *op, ArrayRef<WindowAxis> axes) {
  SmallVector<OpFoldResult> sizes;
  for (auto [i, axis] : llvm::enumerate(axes))
    sizes.push_back(axis.places(builder, op->getLoc(), sizeOf(builder, op->getLoc(), op->getOperand(0), i),
                                builder.getIndexAttr(axis.size)));
  return normalizeSizes(builder, op->getLoc(), cast<RankedTensorType>(op->getResult(0).getType()), sizes);
}

LogicalResult ReduceWindowOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(placesOf(builder, *this, getWindowAxes()));
  return success();
}
LogicalResult ArgReduceWindowOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(placesOf(builder, *this, getWindowAxes()));
  return success();
}
LogicalResult SpreadWindowOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(mixedSizes(builder, getType(), getSizes()));
  return success();
}

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADWindowOps.cpp.inc"
