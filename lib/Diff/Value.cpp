// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Trees of values and their differences.
#include "adjoint/Diff/Value.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir::ad::diff;

namespace {

constexpr double scalarBase = 1e-5;
constexpr double nanNumber = 1e10;

using Pointers = std::vector<const Value *>;

void setKeys(Value &value, std::vector<std::pair<std::string, Value>> entries) {
  for (auto &[key, item] : entries) {
    value.keys.push_back(key);
    value.items.push_back(std::move(item));
  }
}

Pointers itemsOf(const Value &value) {
  Pointers items;
  for (const Value &item : value.items)
    items.push_back(&item);
  return items;
}

/// The items in the order of the keys.
Pointers itemsByKey(const Value &value) {
  std::vector<size_t> order(value.keys.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::sort(order, [&](size_t a, size_t b) { return value.keys[a] < value.keys[b]; });
  Pointers items;
  for (size_t index : order)
    items.push_back(&value.items[index]);
  return items;
}

bool haveSameKeys(const Value &left, const Value &right) {
  std::vector<std::string> leftKeys = left.keys, rightKeys = right.keys;
  llvm::sort(leftKeys);
  llvm::sort(rightKeys);
  return leftKeys == rightKeys;
}

void flattenInto(const Value &value, Pointers &leaves) {
  if (!value.isContainer()) {
    leaves.push_back(&value);
    return;
  }
  for (const Value *item : value.hasKeys() ? itemsByKey(value) : itemsOf(value))
    flattenInto(*item, leaves);
}

Pointers flattened(const Value &value) {
  Pointers leaves;
  flattenInto(value, leaves);
  return leaves;
}

/// A number without rounding; a long double has the 64 bits of an integer.
long double exactNumber(const Value &value) {
  if (value.kind != Value::Kind::Float)
    return static_cast<long double>(value.integer);
  return std::isnan(value.number) ? nanNumber : value.number;
}

MaxDiff compareNumbers(const Value &expected, const Value &got, llvm::ArrayRef<double> thresholds) {
  bool expectedNaN = std::isnan(expected.asDouble()), gotNaN = std::isnan(got.asDouble());
  MaxDiff result;
  result.n = 1;
  result.dnan = expectedNaN != gotNaN;
  result.nanPairs = expectedNaN && gotNaN;
  long double e = exactNumber(expected), g = exactNumber(got), exact = exactDistance(e, g);
  result.abs = result.sum = static_cast<double>(exact);
  if (expected.kind != Value::Kind::Float && got.kind != Value::Kind::Float)
    result.integerAbs = result.integerSum = static_cast<uint64_t>(exact);
  result.rel = result.abs / (std::fabs(static_cast<double>(e)) + scalarBase);
  NormDifference norms;
  double difference = std::fabs(got.asDouble() - expected.asDouble());
  norms.add({expected.asDouble()}, {got.asDouble()}, {std::isfinite(difference) ? result.abs : difference});
  result.l2 = result.max = norms.l2();
  result.largest = norms.getLargest();
  for (double threshold : thresholds)
    result.rep.push_back({threshold, result.abs > threshold});
  return result;
}

class Comparison {
public:
  explicit Comparison(const MaxDiffOptions &options) : options(options) {}

  MaxDiff compare(const Value &expected, const Value &got, bool isTop);

private:
  MaxDiff compareLeaves(const Value &expected, const Value &got) const;
  MaxDiff compareItems(Pointers expected, Pointers got, bool isTop);
  void join(MaxDiff &all, const MaxDiff &one) const;
  void select(Pointers &items) const;

  const MaxDiffOptions &options;
};

void Comparison::join(MaxDiff &all, const MaxDiff &one) const {
  all.raiseAbs(one);
  all.rel = std::max(all.rel, one.rel);
  all.l2 = std::max(all.l2, one.l2);
  all.max = std::max(all.max, one.max);
  all.dnan = std::max(all.dnan, one.dnan);
  all.sum += one.sum;
  all.n += one.n;
  all.nanPairs += one.nanPairs;
  if (one.ulp)
    all.ulp = std::max(all.ulp.value_or(0), *one.ulp);
  if (one.dev)
    all.dev = all.dev.value_or(0) + *one.dev;
  if (all.rep.empty())
    all.rep = one.rep;
  else
    for (auto [sum, count] : llvm::zip(all.rep, one.rep))
      sum.count += count.count;
}

void Comparison::select(Pointers &items) const {
  auto size = static_cast<int64_t>(items.size());
  int64_t end = options.end < 0 ? size : std::min(options.end, size);
  int64_t begin = std::clamp<int64_t>(options.begin, 0, end);
  items = Pointers(items.begin() + begin, items.begin() + end);
}

MaxDiff Comparison::compareItems(Pointers expected, Pointers got, bool isTop) {
  if (expected.size() != got.size())
    return makeIncomparable();
  if (isTop) {
    select(expected);
    select(got);
  }
  MaxDiff all;
  all.start = FieldStart::IntegerMaxima;
  for (auto [left, right] : llvm::zip_equal(expected, got)) {
    bool oneIsNone = (left->kind == Value::Kind::None) != (right->kind == Value::Kind::None);
    if (!(options.skipNone && oneIsNone))
      join(all, compare(*left, *right, /*isTop=*/false));
  }
  return all;
}

MaxDiff Comparison::compareLeaves(const Value &expected, const Value &got) const {
  if (expected.isNumber() && got.isNumber())
    return compareNumbers(expected, got, options.thresholds);
  if (expected.kind != got.kind)
    return makeIncomparable();
  if (expected.kind == Value::Kind::Text)
    return expected.text == got.text ? MaxDiff() : makeIncomparable();
  if (expected.kind != Value::Kind::Tensor) {
    MaxDiff none;
    none.start = FieldStart::Integers;
    return none;
  }
  MaxDiff result = compareTensors(expected.tensor, got.tensor, options.thresholds);
  if (!expected.device.empty() && !got.device.empty())
    result.dev = expected.device != got.device;
  return result;
}

MaxDiff Comparison::compare(const Value &expected, const Value &got, bool isTop) {
  if (!expected.isContainer() && !got.isContainer())
    return compareLeaves(expected, got);
  // One value and a container of it.
  if (!expected.isContainer() && got.items.size() == 1 && !got.hasKeys())
    return compare(expected, got.items.front(), isTop);
  if (!got.isContainer() && expected.items.size() == 1 && !expected.hasKeys())
    return compare(expected.items.front(), got, isTop);
  bool byKey = expected.hasKeys() && got.hasKeys();
  if (byKey && haveSameKeys(expected, got))
    return compareItems(itemsByKey(expected), itemsByKey(got), isTop);
  bool sameKind = expected.isContainer() && got.isContainer() && !expected.hasKeys() && !got.hasKeys();
  if (sameKind && (expected.items.size() == got.items.size() || !options.flatten))
    return compareItems(itemsOf(expected), itemsOf(got), isTop);
  if (options.flatten)
    return compareItems(flattened(expected), flattened(got), isTop);
  return makeIncomparable();
}

} // namespace

Value Value::container(Kind kind, std::vector<Value> items) {
  Value value;
  value.kind = kind;
  value.items = std::move(items);
  return value;
}

Value Value::fromBool(bool number) {
  Value value;
  value.kind = Kind::Bool;
  value.integer = number;
  return value;
}

Value Value::fromInt(int64_t number) {
  Value value;
  value.kind = Kind::Int;
  value.integer = number;
  return value;
}

Value Value::fromFloat(double number) {
  Value value;
  value.kind = Kind::Float;
  value.number = number;
  return value;
}

Value Value::fromText(std::string text) {
  Value value;
  value.kind = Kind::Text;
  value.text = std::move(text);
  return value;
}

Value Value::fromTensor(const adrt_tensor &tensor, std::string tensorClass, std::string device) {
  Value value;
  value.kind = Kind::Tensor;
  value.tensor = tensor;
  value.tensorClass = std::move(tensorClass);
  value.device = std::move(device);
  return value;
}

Value Value::dict(std::vector<std::pair<std::string, Value>> entries) {
  Value value = container(Kind::Dict, {});
  setKeys(value, std::move(entries));
  return value;
}

Value Value::object(std::string name, std::vector<std::pair<std::string, Value>> fields) {
  Value value = container(Kind::Object, {});
  value.text = std::move(name);
  setKeys(value, std::move(fields));
  return value;
}

MaxDiff mlir::ad::diff::compareValues(const Value &expected, const Value &got,
                                      const MaxDiffOptions &options) {
  return Comparison(options).compare(expected, got, /*isTop=*/true);
}
