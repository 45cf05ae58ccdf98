// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Computes each operation for the actual operands and for their shadows, and compares.
#include "adjoint/Runner/Trace/ShadowRun.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Diff/NormDifference.h"
#include "adjoint/Numerics/Casts.h"
#include "adjoint/Numerics/Random.h"
#include "mlir/Interfaces/CallInterfaces.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ad::runner;
using mlir::ad::numerics::ElementType;
namespace reference = mlir::ad::reference;

//===- Numbers ---------------------------------------------------------===//

namespace {

/// Bits of the significand, with the hidden one, and the exponent of the smallest normal number.
struct Format {
  int precision, minExponent;
};

Format formatOf(ElementType type) {
  static constexpr Format formats[] = {{53, -1022}, {24, -126}, {11, -14}, {8, -126}, {4, -6}, {3, -14}};
  return formats[static_cast<int>(type)];
}

double ulpAt(double value, ElementType type) {
  Format format = formatOf(type);
  int exponent = value == 0 ? format.minExponent : std::max(std::ilogb(value), format.minExponent);
  return std::ldexp(1.0, exponent - (format.precision - 1));
}

/// Equal infinities do not differ, nor do NaNs.
double distance(double got, double exact) {
  if (got == exact || (std::isnan(got) && std::isnan(exact)))
    return 0;
  return std::isfinite(got) && std::isfinite(exact) ? std::fabs(got - exact) : HUGE_VAL;
}

double significantDigits(double relativeError, ElementType type) {
  double most = digitsOfType(type);
  // + 0.0: no negative zero
  return relativeError == 0 ? most : std::clamp(-std::log10(relativeError), 0.0, most) + 0.0;
}

double largestMagnitude(const reference::Tensor &tensor) {
  double largest = 0;
  for (int64_t i = 0, count = tensor.getNumElements(); i < count; ++i)
    largest = std::max(largest, std::fabs(elementAt(tensor, i)));
  return largest;
}

double largestDistance(const reference::Tensor &left, const reference::Tensor &right) {
  double largest = 0;
  for (int64_t i = 0, count = left.getNumElements(); i < count; ++i)
    largest = std::max(largest, distance(elementAt(left, i), elementAt(right, i)));
  return largest;
}

/// By norms, so that single elements near 0 do not count.
double relativeDistance(const reference::Tensor &got, const reference::Tensor &exact) {
  double error = largestDistance(got, exact);
  return error == 0 ? 0 : error / largestMagnitude(exact);
}

/// Mean and standard deviation of one element over the samples.
double relativeDeviation(ArrayRef<reference::Tensor> samples, int64_t element) {
  double mean = 0, squares = 0;
  for (const reference::Tensor &sample : samples)
    mean += elementAt(sample, element) / static_cast<double>(samples.size());
  for (const reference::Tensor &sample : samples)
    squares += std::pow(distance(elementAt(sample, element), mean), 2);
  if (squares == 0)
    return 0;
  return std::sqrt(squares / static_cast<double>(samples.size() - 1)) / std::fabs(mean);
}

double minDigits(ArrayRef<reference::Tensor> samples, ElementType type) {
  double digits = digitsOfType(type);
  for (int64_t i = 0, count = samples[0].getNumElements(); i < count; ++i)
    digits = std::min(digits, significantDigits(relativeDeviation(samples, i), type));
  return digits;
}

} // namespace

double mlir::ad::runner::digitsOfType(ElementType type) { return formatOf(type).precision * std::log10(2.0); }

double mlir::ad::runner::roundStochastically(ElementType type, double x, double uniform) {
  uint64_t bits = ad::numerics::fromDouble(type, x);
  double nearest = ad::numerics::toDouble(type, bits);
  if (nearest == x || !std::isfinite(nearest))
    return nearest;
  // The bits of floats are a sign and a magnitude.
  bool isSmaller = std::fabs(nearest) < std::fabs(x);
  double other;
  if (nearest == 0)
    other = std::copysign(ulpAt(0, type), x);
  else
    other = ad::numerics::toDouble(type, isSmaller ? bits + 1 : bits - 1);
  double low = std::min(nearest, other), high = std::max(nearest, other);
  return uniform < (x - low) / (high - low) ? high : low;
}

void ErrorSize::add(const ErrorSize &other) {
  abs = std::max(abs, other.abs);
  rel = std::max(rel, other.rel);
  ulp = std::max(ulp, other.ulp);
  l2 = std::max(l2, other.l2);
  max = std::max(max, other.max);
}

/// `ulp` is one of `type`.
static ErrorSize measure(const reference::Tensor &got, const reference::Tensor &exact, ElementType type) {
  ErrorSize size;
  SmallVector<double> wanted, found, errors;
  for (int64_t i = 0, count = exact.getNumElements(); i < count; ++i) {
    double g = elementAt(got, i), e = elementAt(exact, i), error = distance(g, e);
    wanted.push_back(e);
    found.push_back(g);
    errors.push_back(error);
    if (error == 0)
      continue;
    size.abs = std::max(size.abs, error);
    size.rel = std::max(size.rel, e == 0 || std::isnan(e) ? HUGE_VAL : error / std::fabs(e));
    size.ulp = std::max(size.ulp, std::isfinite(e) ? error / ulpAt(e, type) : HUGE_VAL);
  }
  mlir::ad::diff::NormDifference norms;
  norms.add(wanted, found, errors);
  size.l2 = norms.l2();
  size.max = norms.max();
  return size;
}

//===- Executions ------------------------------------------------------===//

OperationErrors &ShadowRun::errorsOf(Operation *op, ElementType type) {
  auto [entry, isNew] = operations.insert({op, OperationErrors()});
  if (isNew) {
    entry->second.op = op;
    entry->second.digits = digitsOfType(type);
  }
  return entry->second;
}

SmallVector<reference::Tensor> ShadowRun::operandsOf(const Execution &execution, size_t sample) const {
  SmallVector<reference::Tensor> operands;
  for (const Tensors &values : execution.operandShadows)
    operands.push_back(values[sample]);
  return operands;
}

// The actual results stand in for those of an operation that does not run in f64, or has no rounding.
SmallVector<reference::Tensor> ShadowRun::evaluate(const Execution &execution,
                                                   ArrayRef<reference::Tensor> operands) {
  if (WideEvaluator::computes(execution.op)) {
    FailureOr<SmallVector<reference::Tensor>> wide = evaluator.evaluate(execution.op, operands);
    bool fits = succeeded(wide);
    for (size_t i = 0; fits && i < wide->size(); ++i)
      fits = (*wide)[i].getShape() == execution.results[i].getShape();
    if (fits)
      return *wide;
  }
  return llvm::map_to_vector(execution.results, widen);
}

void ShadowRun::keep(const Execution &execution, size_t result, Tensors values) {
  const reference::Tensor &actual = execution.results[result];
  Type type = execution.op->getResult(static_cast<unsigned>(result)).getType();
  bool isControl = !isa<RankedTensorType>(type);
  if (!isFloat(actual)) {
    bool differs = llvm::any_of(
        values, [&](const reference::Tensor &value) { return largestDistance(value, actual) != 0; });
    if (differs) {
      auto [entry, isNew] = decisions.insert({execution.op, Decision()});
      entry->second.executions += isNew ? 0 : 1;
      if (isNew)
        entry->second.text = executionText(execution.op, position.get());
      entry->second.isControl = isControl;
    }
    if (isControl)
      return;
  }
  shadows.set(actual, std::move(values));
}

void ShadowRun::noteErrors(const Execution &execution, size_t result, const reference::Tensor &local,
                           const reference::Tensor &shadow) {
  const reference::Tensor &actual = execution.results[result];
  ElementType type = actual.getType();
  OperationErrors &errors = errorsOf(execution.op, type);
  ErrorSize localNow = measure(actual, local, type);
  errors.propagated.add(measure(local, shadow, type));
  errors.total.add(measure(actual, shadow, type));
  if (errors.executions == 0 || localNow.rel > errors.local.rel)
    errors.worst = position.get();
  errors.local.add(localNow);
  errors.digits = std::min(errors.digits, significantDigits(errors.total.rel, type));
  double before = 0;
  for (auto [operand, values] : llvm::zip_equal(execution.operands, execution.operandShadows))
    if (isFloat(operand))
      before = std::max(before, relativeDistance(operand, values[0]));
  double after = relativeDistance(local, shadow);
  if (before > 0 && std::isfinite(before) && after > 0)
    errors.amplification = std::max(errors.amplification, after / before);
}

void ShadowRun::runExact(const Execution &execution) {
  SmallVector<reference::Tensor> actual = llvm::map_to_vector(execution.operands, widen);
  SmallVector<reference::Tensor> local = evaluate(execution, actual);
  bool isExact = llvm::none_of(execution.operands,
                               [&](const reference::Tensor &operand) { return shadows.has(operand); });
  SmallVector<reference::Tensor> wide = isExact ? local : evaluate(execution, operandsOf(execution, 0));
  for (size_t i = 0; i < execution.results.size(); ++i) {
    if (isFloat(execution.results[i]) && WideEvaluator::computes(execution.op))
      noteErrors(execution, i, local[i], wide[i]);
    keep(execution, i, {wide[i]});
  }
}

void ShadowRun::noteDigits(const Execution &execution, size_t result, ArrayRef<reference::Tensor> samples) {
  ElementType type = execution.results[result].getType();
  OperationErrors &errors = errorsOf(execution.op, type);
  double digits = minDigits(samples, type);
  if (errors.executions == 0 || digits < errors.digits)
    errors.worst = position.get();
  errors.digits = std::min(errors.digits, digits);
  for (const reference::Tensor &sample : samples)
    errors.total.add(measure(execution.results[result], sample, type));
}

void ShadowRun::runSamples(const Execution &execution) {
  std::vector<Tensors> samples(execution.results.size());
  for (size_t sample = 0; sample < shadows.size(); ++sample) {
    SmallVector<reference::Tensor> wide = evaluate(execution, operandsOf(execution, sample));
    for (size_t i = 0; i < wide.size(); ++i) {
      ElementType type = execution.results[i].getType();
      if (!ad::numerics::isFloat(type) || type == ElementType::F64) {
        samples[i].push_back(wide[i]);
        continue;
      }
      reference::Tensor rounded(ElementType::F64, wide[i].getShape());
      for (int64_t element = 0, count = rounded.getNumElements(); element < count; ++element)
        rounded.data<double>()[element] = roundStochastically(
            type, elementAt(wide[i], element), ad::numerics::uniformDoubleAt(options.seed, roundings++));
      samples[i].push_back(std::move(rounded));
    }
  }
  for (size_t i = 0; i < execution.results.size(); ++i) {
    if (isFloat(execution.results[i]) && WideEvaluator::computes(execution.op))
      noteDigits(execution, i, samples[i]);
    keep(execution, i, samples[i]);
  }
}

int32_t ShadowRun::ran(Operation *op, ArrayRef<reference::Tensor> operands,
                       ArrayRef<reference::Tensor> results) {
  if (auto receive = dyn_cast<ad::ReceiveOp>(op))
    for (auto [index, operand] : llvm::enumerate(operands)) {
      if (options.samples == 0)
        exactReceived.push_back(shadows.get(operand).front());
      if (isFloat(operand))
        received.push_back(summarize(
            receive.getName().str() + (operands.size() > 1 ? "." + std::to_string(index) : ""), operand));
    }
  // Others have the results of operations inside of them.
  if (op->getNumRegions() > 0 || isa<CallOpInterface>(op) || results.empty())
    return ADRT_OK;
  Execution execution{op, operands, results, {}};
  for (const reference::Tensor &operand : operands)
    execution.operandShadows.push_back(shadows.get(operand));
  if (options.samples == 0)
    runExact(execution);
  else
    runSamples(execution);
  if (auto found = operations.find(op); found != operations.end())
    ++found->second.executions;
  return ADRT_OK;
}

//===- Summaries -------------------------------------------------------===//

ResultErrors ShadowRun::summarize(std::string name, const reference::Tensor &actual) const {
  ResultErrors summary;
  summary.name = std::move(name);
  ElementType type = actual.getType();
  Tensors values = shadows.get(actual);
  for (const reference::Tensor &value : values)
    summary.total.add(measure(actual, value, type));
  if (ad::numerics::isFloat(type))
    summary.digits =
        options.samples == 0 ? significantDigits(summary.total.rel, type) : minDigits(values, type);
  return summary;
}

void ShadowRun::returned(ArrayRef<reference::Tensor> tensors) {
  for (const reference::Tensor &tensor : tensors) {
    results.push_back(isFloat(tensor) ? summarize("", tensor) : ResultErrors());
    if (options.samples == 0)
      exactResults.push_back(shadows.get(tensor).front());
  }
}

std::vector<OperationErrors> ShadowRun::getOperations() const {
  std::vector<OperationErrors> list;
  for (const auto &[op, errors] : operations)
    list.push_back(errors);
  return list;
}

std::vector<Decision> ShadowRun::getDecisions() const {
  std::vector<Decision> list;
  for (const auto &[op, decision] : decisions)
    list.push_back(decision);
  return list;
}
