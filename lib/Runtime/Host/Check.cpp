/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The comparisons of the check dialect. A failed check states the index of the first difference, both values
   there, and the maximum difference: enough to tell rounding from a wrong program. */
#include "Failure.h"
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Support/Elements.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace adrt;

namespace {

/// The elements that fail.
struct Findings {
  int64_t failures = 0;
  int64_t first = -1;
  int64_t maxIndex = -1;
  double maximum = 0;
};

class Comparison {
public:
  Comparison(int32_t kind, double tolerance, bool relative, const adrt_tensor &actual,
             const adrt_tensor *expected)
      : kind(kind), tolerance(tolerance), relative(relative), actual(actual),
        expected(kind == ADRT_CHECK_FINITE ? nullptr : expected), width(elementSize(actual.type)) {}

  std::string run();

private:
  const char *at(const adrt_tensor &tensor, int64_t index) const {
    return static_cast<const char *>(tensor.data) + index * width;
  }
  double value(const adrt_tensor &tensor, int64_t index) const {
    return loadAsDouble(tensor.type, at(tensor, index));
  }
  bool holds(int64_t index) const;
  double difference(int64_t index) const;
  std::string element(const adrt_tensor &tensor, int64_t index) const;
  std::string position(int64_t index) const;
  std::string report(const Findings &found, int64_t count) const;

  int32_t kind;
  double tolerance;
  bool relative;
  const adrt_tensor &actual;
  const adrt_tensor *expected;
  int64_t width;
};

bool isInteger(int32_t type) { return type >= ADRT_I1; }

int64_t elementCount(const adrt_tensor &tensor) {
  int64_t bytes = byteSize(tensor.type, tensor.rank, tensor.shape);
  return bytes <= 0 ? bytes : bytes / elementSize(tensor.type);
}

std::string shapeText(const adrt_tensor &tensor) {
  std::string text;
  for (int32_t axis = 0; axis < tensor.rank; ++axis)
    text += std::to_string(tensor.shape[axis]) + "x";
  return text + typeName(tensor.type);
}

bool Comparison::holds(int64_t index) const {
  double a = value(actual, index);
  if (kind == ADRT_CHECK_FINITE)
    return std::isfinite(a);
  // Equal bits are equal in every kind, which also covers infinities and 64-bit integers beyond 2^53.
  if (std::memcmp(at(actual, index), at(*expected, index), static_cast<size_t>(width)) == 0)
    return true;
  double e = value(*expected, index);
  if (std::isnan(a) && std::isnan(e))
    return true;
  if (kind == ADRT_CHECK_EQUAL)
    return false;
  // Fails for a NaN, on one side or as tolerance. An infinite bound must not accept a finite value.
  double bound = relative ? tolerance * std::fabs(e) : tolerance;
  return std::isfinite(e) && difference(index) <= bound;
}

double Comparison::difference(int64_t index) const {
  if (actual.type == ADRT_I64) {
    int64_t a, e;
    std::memcpy(&a, at(actual, index), sizeof(a));
    std::memcpy(&e, at(*expected, index), sizeof(e));
    uint64_t distance = a < e ? static_cast<uint64_t>(e) - static_cast<uint64_t>(a)
                              : static_cast<uint64_t>(a) - static_cast<uint64_t>(e);
    return static_cast<double>(distance);
  }
  return std::fabs(value(actual, index) - value(*expected, index));
}

std::string Comparison::element(const adrt_tensor &tensor, int64_t index) const {
  char text[64];
  if (isInteger(tensor.type)) {
    std::snprintf(text, sizeof(text), "%lld",
                  static_cast<long long>(loadAsInteger(tensor.type, at(tensor, index))));
    return text;
  }
  int digits = tensor.type == ADRT_F64 ? 17 : 9;
  std::snprintf(text, sizeof(text), "%.*g", digits, value(tensor, index));
  std::string result = text;
  if (kind != ADRT_CHECK_EQUAL)
    return result;
  // A comparison of bits shows the bits: decimal digits may hide the difference (-0, adjacent values).
  uint64_t bits = 0;
  std::memcpy(&bits, at(tensor, index), static_cast<size_t>(width));
  std::snprintf(text, sizeof(text), " (0x%0*llx)", static_cast<int>(2 * width),
                static_cast<unsigned long long>(bits));
  return result + text;
}

std::string Comparison::position(int64_t index) const {
  std::string text;
  for (int32_t axis = actual.rank; axis-- > 0;) {
    text = std::to_string(index % actual.shape[axis]) + (text.empty() ? "" : ", ") + text;
    index /= actual.shape[axis];
  }
  return "[" + text + "]";
}

std::string Comparison::report(const Findings &found, int64_t count) const {
  std::string text = "failed at " + position(found.first) + ": got " + element(actual, found.first);
  std::string failing = std::to_string(found.failures) + " of " + std::to_string(count) + " elements";
  if (kind == ADRT_CHECK_FINITE)
    return text + ", expected a finite value; " + failing + " are not";
  text += ", expected " + element(*expected, found.first);
  if (kind == ADRT_CHECK_ALMOST_EQUAL) {
    char bound[48];
    std::snprintf(bound, sizeof(bound), " within %g%s", tolerance, relative ? " (relative)" : "");
    text += bound;
  }
  if (found.maxIndex >= 0) {
    char largest[48];
    std::snprintf(largest, sizeof(largest), "; largest difference %.9g", found.maximum);
    text += largest + (" at " + position(found.maxIndex));
  }
  return text + "; " + failing + " differ";
}

std::string Comparison::run() {
  int64_t count = elementCount(actual);
  if (count < 0)
    return "failed: the tensor has an invalid type or shape";
  if (expected && shapeText(actual) != shapeText(*expected))
    return "failed: got tensor<" + shapeText(actual) + ">, expected tensor<" + shapeText(*expected) + ">";
  Findings found;
  for (int64_t index = 0; index < count; ++index) {
    if (holds(index))
      continue;
    if (found.failures++ == 0)
      found.first = index;
    if (!expected)
      continue;
    double distance = difference(index);
    if (!std::isnan(distance) && (found.maxIndex < 0 || distance > found.maximum)) {
      found.maximum = distance;
      found.maxIndex = index;
    }
  }
  return found.failures == 0 ? std::string() : report(found, count);
}

} // namespace

std::string adrt::describeCheck(int32_t kind, double tolerance, bool relative, const adrt_tensor &actual,
                                const adrt_tensor *expected) {
  if (kind != ADRT_CHECK_EQUAL && kind != ADRT_CHECK_ALMOST_EQUAL && kind != ADRT_CHECK_FINITE)
    return "failed: unknown kind of check " + std::to_string(kind);
  if (kind != ADRT_CHECK_FINITE && !expected)
    return "failed: nothing to compare with";
  return Comparison(kind, tolerance, relative, actual, expected).run();
}
