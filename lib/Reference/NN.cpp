// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Neural-network operations as their written decomposition, computed in f32 (f64 for f64) throughout and
// rounded to the type of the result once at the end. ad-decompose makes the same steps.

#include "Accumulation.h"
#include "Interpreter.h"
#include "Scalars/Arithmetic.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;
using numerics::Elementary;

//===- Steps: one operation each on f32 or f64 -------------------------===//

/// f(x, y) with y broadcast to the shape of x.
template <class F> static Tensor step(const Tensor &x, const Tensor &y, F f) {
  Tensor repeated = broadcastTo(y, x.getShape());
  return withFloat(x.getType(), [&](auto tag) { return map<decltype(tag)>(x, repeated, f); });
}

static Tensor sub(const Tensor &x, const Tensor &y) {
  return step(x, y, [](auto a, auto b) { return a - b; });
}
static Tensor mul(const Tensor &x, const Tensor &y) {
  return step(x, y, [](auto a, auto b) { return a * b; });
}
static Tensor div(const Tensor &x, const Tensor &y) {
  return step(x, y, [](auto a, auto b) { return a / b; });
}
static Tensor plus(const Tensor &x, const Tensor &y) {
  return step(x, y, [](auto a, auto b) { return a + b; });
}
static Tensor plus(const Tensor &x, double constant) {
  return withFloat(x.getType(), [&](auto tag) {
    using T = decltype(tag);
    return map<T>(x, [&](T a) { return a + static_cast<T>(constant); });
  });
}
static Tensor neg(const Tensor &x) {
  return withFloat(x.getType(), [&](auto tag) { return map<decltype(tag)>(x, [](auto a) { return -a; }); });
}

static int32_t setRounded(Operation *op, Frame &frame, const Tensor &computed) {
  Value result = op->getResult(0);
  return frame.set(result, convert(computed, *elementTypeOf(result.getType())));
}

//===- Softmax ---------------------------------------------------------===//

static Tensor softmax(const Tensor &x, int64_t axis, OrderAttr order) {
  Tensor m = reduce(Reduction::Maximum, x, axis, order);
  Tensor e = apply(Elementary::Exp, sub(x, m));
  Tensor z = reduce(Reduction::Sum, e, axis, order);
  return div(e, z);
}

static Tensor logSoftmax(const Tensor &x, int64_t axis, OrderAttr order) {
  Tensor m = reduce(Reduction::Maximum, x, axis, order);
  Tensor s = sub(x, m);
  Tensor z = reduce(Reduction::Sum, apply(Elementary::Exp, s), axis, order);
  return sub(s, apply(Elementary::Log, z));
}

static int32_t runSoftmax(SoftmaxOp op, Frame &frame) {
  return setRounded(op, frame, softmax(widen(frame[op.getInput()]), op.getAxis(), orderOf(op)));
}

static int32_t runLogSoftmax(LogSoftmaxOp op, Frame &frame) {
  return setRounded(op, frame, logSoftmax(widen(frame[op.getInput()]), op.getAxis(), orderOf(op)));
}

//===- Norms -----------------------------------------------------------===//

/// Scale and bias have as many elements as the last axis.
static int32_t checkLastAxis(Operation *op, Frame &frame, const Tensor &x, const Tensor &vector) {
  int64_t expected = x.getShape().back(), actual = vector.getDim(0);
  return expected == actual ? ADRT_OK : frame.fail(op, ADRT_FAIL_SAME_SIZE, {0, expected, actual});
}

/// 1 / sqrt(mean(q) + epsilon) along the last axis.
static Tensor inverseDeviation(const Tensor &q, double epsilon, OrderAttr order) {
  Tensor v = mean(q, q.getRank() - 1, order);
  return apply(Elementary::Rsqrt, plus(v, epsilon));
}

static int32_t runLayerNorm(LayerNormOp op, Frame &frame) {
  Tensor x = widen(frame[op.getInput()]), scale = widen(frame[op.getScale()]),
         bias = widen(frame[op.getBias()]);
  if (int32_t status = checkLastAxis(op, frame, x, scale))
    return status;
  if (int32_t status = checkLastAxis(op, frame, x, bias))
    return status;
  OrderAttr order = orderOf(op);
  Tensor d = sub(x, mean(x, x.getRank() - 1, order));
  Tensor r = inverseDeviation(mul(d, d), op.getEpsilon().convertToDouble(), order);
  return setRounded(op, frame, plus(mul(mul(d, r), scale), bias));
}

static int32_t runRmsNorm(RmsNormOp op, Frame &frame) {
  Tensor x = widen(frame[op.getInput()]), scale = widen(frame[op.getScale()]);
  if (int32_t status = checkLastAxis(op, frame, x, scale))
    return status;
  Tensor r = inverseDeviation(mul(x, x), op.getEpsilon().convertToDouble(), orderOf(op));
  return setRounded(op, frame, mul(mul(x, r), scale));
}

//===- Cross entropy ---------------------------------------------------===//

/// l where the index along the last axis is the label and this is not ignored, else 0.
static Tensor chosen(const Tensor &l, const Tensor &labels, std::optional<int64_t> ignored) {
  Tensor result(l.getType(), l.getShape());
  Tensor numbers = convert(labels, ElementType::I64);
  int64_t classes = l.getShape().back();
  withFloat(l.getType(), [&](auto tag) {
    using T = decltype(tag);
    for (int64_t row = 0, rows = numbers.getNumElements(); row < rows; ++row) {
      int64_t label = numbers.data<int64_t>()[row];
      if (label >= 0 && label < classes && label != ignored)
        result.data<T>()[row * classes + label] = l.data<T>()[row * classes + label];
    }
  });
  return result;
}

/// Fails where a label is neither a class nor ignored; the largest one of these is named, or else the
/// smallest.
static int32_t checkClasses(CrossEntropyOp op, Frame &frame, const Tensor &labels, int64_t classes) {
  std::optional<uint64_t> ignored = op.getIgnored();
  int64_t largest = -1, smallest = 0;
  Tensor numbers = convert(labels, ElementType::I64);
  for (int64_t row = 0, rows = numbers.getNumElements(); row < rows; ++row) {
    int64_t label = numbers.data<int64_t>()[row];
    if (ignored && label == static_cast<int64_t>(*ignored))
      continue;
    largest = std::max(largest, label);
    smallest = std::min(smallest, label);
  }
  if (largest >= classes)
    return frame.fail(op, ADRT_FAIL_CLASS, {largest, classes});
  return ignored && smallest < 0 ? frame.fail(op, ADRT_FAIL_CLASS, {smallest, classes}) : int32_t(ADRT_OK);
}

static int32_t runCrossEntropy(CrossEntropyOp op, Frame &frame) {
  Tensor x = widen(frame[op.getLogits()]), labels = frame[op.getLabels()];
  for (auto [axis, size] : llvm::enumerate(labels.getShape()))
    if (size != x.getDim(axis))
      return frame.fail(op, ADRT_FAIL_SAME_SIZE, {static_cast<int64_t>(axis), x.getDim(axis), size});
  OrderAttr order = orderOf(op);
  int64_t axis = x.getRank() - 1;
  bool areClasses = !numerics::isFloat(labels.getType());
  if (int32_t status = areClasses ? checkClasses(op, frame, labels, x.getDim(axis)) : ADRT_OK)
    return status;
  Tensor l = logSoftmax(x, axis, order);
  Tensor p = areClasses ? chosen(l, labels, op.getIgnored()) : mul(widen(labels), l);
  Tensor loss = neg(reduce(Reduction::Sum, p, axis, order));
  return setRounded(op, frame, loss.reshaped(x.getShape().drop_back()));
}

void mlir::ad::reference::registerNN(Semantics &semantics) {
  semantics.add(runSoftmax);
  semantics.add(runLogSoftmax);
  semantics.add(runLayerNorm);
  semantics.add(runRmsNorm);
  semantics.add(runCrossEntropy);
}
