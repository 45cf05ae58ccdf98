// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What programs take and return, as a tree: tensors, scalars, and containers of them. Differences and string
// forms are defined on such trees.
#ifndef ADJOINT_DIFF_VALUE_H
#define ADJOINT_DIFF_VALUE_H

#include "adjoint/Diff/MaxDiff.h"
#include "adjoint/Runtime/adrt.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::ad::diff {

struct Value {
  enum class Kind { None, Bool, Int, Float, Text, Tensor, List, Tuple, Set, Dict, Object };

  Kind kind = Kind::None;
  int64_t integer = 0;     ///< of Bool and Int
  double number = 0;       ///< of Float
  std::string text;        ///< of Text; the class of an Object
  adrt_tensor tensor = {}; ///< not owned
  std::string device;      ///< of a tensor: C, G, or empty if its class does not say
  std::string tensorClass; ///< of a tensor, such as A for an array of NumPy
  std::vector<Value> items;
  std::vector<std::string> keys; ///< of Dict and Object, one for each item

  static Value fromBool(bool value);
  static Value fromInt(int64_t value);
  static Value fromFloat(double value);
  static Value fromText(std::string text);
  static Value fromTensor(const adrt_tensor &tensor, std::string tensorClass = "A", std::string device = "");
  static Value list(std::vector<Value> items) { return container(Kind::List, std::move(items)); }
  static Value tuple(std::vector<Value> items) { return container(Kind::Tuple, std::move(items)); }
  static Value set(std::vector<Value> items) { return container(Kind::Set, std::move(items)); }
  static Value dict(std::vector<std::pair<std::string, Value>> entries);
  /// An object whose fields are compared and printed, such as a cache of keys and values.
  static Value object(std::string name, std::vector<std::pair<std::string, Value>> fields);

  bool isNumber() const { return kind == Kind::Bool || kind == Kind::Int || kind == Kind::Float; }
  bool isContainer() const { return kind >= Kind::List; }
  bool hasKeys() const { return kind == Kind::Dict || kind == Kind::Object; }
  double asDouble() const { return kind == Kind::Float ? number : static_cast<double>(integer); }

private:
  static Value container(Kind kind, std::vector<Value> items);
};

struct MaxDiffOptions {
  llvm::ArrayRef<double> thresholds;
  /// Of a container on top, the items from `begin` on, to before `end` if that is not negative.
  int64_t begin = 0, end = -1;
  bool flatten = false;  ///< containers inside of containers count as one if lengths differ
  bool skipNone = false; ///< a pair with a None on one side is left out
};

/// The differences of two trees. In containers abs, rel, l2, max, dnan and ulp are the largest ones of the
/// items; sum, n, rep and dev are sums.
MaxDiff compareValues(const Value &expected, const Value &got, const MaxDiffOptions &options = {});

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_VALUE_H
