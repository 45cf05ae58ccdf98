// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that order elements, by the comparison of the specification. Equal elements are compared by
// their positions, which makes the order stable.

#include "Interpreter.h"
#include "Movement.h"
#include "Scalars/Arithmetic.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

/// Whether a comes before b.
template <class T> static bool comesBefore(T a, T b, bool descending) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b))
      return !std::isnan(a);
  return descending ? a > b : a < b;
}

/// The lines of a tensor along an axis.
namespace {
struct Lines {
  Lines(ArrayRef<int64_t> shape, int64_t axis) : length(shape[axis]) {
    for (int64_t size : shape.drop_front(axis + 1))
      stride *= size;
    for (int64_t size : shape.take_front(axis))
      outer *= size;
  }
  /// Calls back with the first element of each line.
  template <class Body> void forEach(Body body) const {
    for (int64_t i = 0; i < outer; ++i)
      for (int64_t j = 0; j < stride; ++j)
        body(i * length * stride + j);
  }

  int64_t length, stride = 1, outer = 1;
};
} // namespace

static Tensor argsort(const Tensor &input, int64_t axis, bool descending) {
  Tensor keys = widen(input), result(ElementType::I64, input.getShape());
  Lines lines(input.getShape(), axis);
  withNumber(keys.getType(), [&](auto tag) {
    using T = decltype(tag);
    std::vector<int64_t> order(lines.length);
    lines.forEach([&](int64_t first) {
      auto key = [&](int64_t i) { return keys.data<T>()[first + i * lines.stride]; };
      std::iota(order.begin(), order.end(), 0);
      llvm::sort(order, [&](int64_t a, int64_t b) {
        bool isBefore = comesBefore<T>(key(a), key(b), descending);
        return isBefore || (a < b && !comesBefore<T>(key(b), key(a), descending));
      });
      for (int64_t i = 0; i < lines.length; ++i)
        result.data<int64_t>()[first + i * lines.stride] = order[i];
    });
  });
  return result;
}

/// The first elements of each line of the positions, or the elements of the input that they name.
static Tensor firstAlong(const Tensor &input, const Tensor &positions, int64_t axis, int64_t count,
                         bool read) {
  Shape shape(input.getShape());
  shape[axis] = count;
  const Tensor &from = read ? input : positions;
  Tensor result(from.getType(), shape);
  int64_t bytes = sizeInBytes(from.getType());
  Lines lines(input.getShape(), axis), written(shape, axis);
  for (int64_t i = 0; i < lines.outer; ++i)
    for (int64_t n = 0; n < count; ++n)
      for (int64_t j = 0; j < lines.stride; ++j) {
        int64_t base = i * lines.length * lines.stride + j, place = base + n * lines.stride;
        if (read)
          place = base + positions.data<int64_t>()[place] * lines.stride;
        std::memcpy(result.bytes() + ((i * count + n) * lines.stride + j) * bytes,
                    from.bytes() + place * bytes, bytes);
      }
  return result;
}

static int32_t runArgsort(ArgsortOp op, Frame &frame) {
  return frame.set(op.getResult(), argsort(frame[op.getInput()], op.getAxis(), op.getDescending()));
}

static int32_t runSort(SortOp op, Frame &frame) {
  const Tensor &key = frame[op.getInputs().front()];
  int64_t axis = op.getAxis();
  for (Value input : op.getInputs().drop_front())
    for (int64_t i = 0; i < key.getRank(); ++i)
      if (int64_t size = frame[input].getDim(i); size != key.getDim(i))
        return frame.fail(op, ADRT_FAIL_SAME_SIZE, {i, key.getDim(i), size});
  Tensor positions = argsort(key, axis, op.getDescending());
  SmallVector<Tensor> sorted;
  for (Value input : op.getInputs())
    sorted.push_back(firstAlong(frame[input], positions, axis, positions.getDim(axis), /*read=*/true));
  for (auto [result, tensor] : llvm::zip_equal(op.getResults(), sorted))
    frame.set(result, tensor);
  return ADRT_OK;
}

static int32_t runTopK(TopKOp op, Frame &frame) {
  Tensor input = frame[op.getInput()];
  int64_t axis = op.getAxis(), count = op.getK(), size = input.getDim(axis);
  if (count > size)
    return frame.fail(op, ADRT_FAIL_BOUNDS, {axis, count - 1, size});
  Tensor positions = argsort(input, axis, !op.getSmallest());
  frame.set(op.getValues(), firstAlong(input, positions, axis, count, /*read=*/true));
  return frame.set(op.getPositions(), firstAlong(input, positions, axis, count, /*read=*/false));
}

void mlir::ad::reference::registerSorting(Semantics &semantics) {
  semantics.add(runArgsort);
  semantics.add(runSort);
  semantics.add(runTopK);
}
