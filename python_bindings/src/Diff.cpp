// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Converts Python values to the trees of lib/Diff. `storage`, a function of Python, gives for an array the
// MLIR name of its element type and a contiguous array of its bits, or None for other objects.
#include "Diff.h"
#include "Arrays.h"
#include "adjoint/Diff/Alignment.h"
#include "adjoint/Diff/DiffMatrix.h"
#include "adjoint/Diff/Fingerprint.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/StringForms.h"
#include "adjoint/Support/FloatingPointState.h"

#include <deque>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
namespace diff = mlir::ad::diff;
using namespace adjoint_python;

namespace {

/// A list that contains itself, or is nested too deeply, is a RecursionError.
class RecursionGuard {
public:
  RecursionGuard() {
    if (Py_EnterRecursiveCall(" while the items of a value are converted") != 0)
      throw nb::python_error();
  }
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
  RecursionGuard(const RecursionGuard &) = delete;
  RecursionGuard &operator=(const RecursionGuard &) = delete;
};

int64_t convertInt(nb::handle object) {
  int64_t value = 0;
  if (!nb::try_cast(object, value))
    throw nb::value_error("expected integers of at most 64 bits");
  return value;
}

/// The trees of one call, with views of the arrays in them.
class Trees {
public:
  explicit Trees(nb::callable storage) : storage(std::move(storage)) {}

  diff::Value convert(nb::handle object);
  adrt_tensor tensor(nb::handle object);

private:
  std::optional<adrt_tensor> findTensor(nb::handle object);
  std::vector<diff::Value> convertItems(nb::handle items);
  diff::Value convertDict(const nb::dict &dict);

  nb::callable storage;
  std::deque<ArrayView> views;
  std::vector<nb::object> kept; ///< what the views are of
};

std::optional<adrt_tensor> Trees::findTensor(nb::handle object) {
  nb::object stored = storage(object);
  if (stored.is_none())
    return std::nullopt;
  auto [name, bits] = nb::cast<std::pair<std::string, nb::object>>(stored);
  std::optional<adrt_type> type = mlir::ad::runner::parseElementType(name);
  ArrayView &view = views.emplace_back();
  if (!type || !view.take(bits.ptr(), *type))
    throw nb::value_error("expected an array in row-major order with aligned elements");
  kept.push_back(bits);
  return view.tensor(*type);
}

adrt_tensor Trees::tensor(nb::handle object) {
  if (std::optional<adrt_tensor> found = findTensor(object))
    return *found;
  throw nb::type_error("expected an array");
}

std::vector<diff::Value> Trees::convertItems(nb::handle items) {
  std::vector<diff::Value> values;
  for (nb::handle item : items)
    values.push_back(convert(item));
  return values;
}

diff::Value Trees::convertDict(const nb::dict &dict) {
  std::vector<std::pair<std::string, diff::Value>> entries;
  for (auto [key, item] : dict)
    entries.emplace_back(nb::cast<std::string>(nb::str(key)), convert(item));
  return diff::Value::dict(std::move(entries));
}

diff::Value Trees::convert(nb::handle object) {
  RecursionGuard guard;
  if (object.is_none())
    return {};
  if (nb::isinstance<nb::bool_>(object))
    return diff::Value::fromBool(nb::cast<bool>(object));
  if (nb::isinstance<nb::str>(object))
    return diff::Value::fromText(nb::cast<std::string>(object));
  if (std::optional<adrt_tensor> found = findTensor(object))
    return diff::Value::fromTensor(*found);
  if (nb::isinstance<nb::int_>(object))
    return diff::Value::fromInt(convertInt(object));
  if (nb::isinstance<nb::float_>(object))
    return diff::Value::fromFloat(nb::cast<double>(object));
  if (nb::isinstance<nb::dict>(object))
    return convertDict(nb::cast<nb::dict>(object));
  if (nb::isinstance<nb::list>(object))
    return diff::Value::list(convertItems(object));
  if (nb::isinstance<nb::tuple>(object))
    return diff::Value::tuple(convertItems(object));
  if (nb::isinstance<nb::set>(object))
    return diff::Value::set(convertItems(object));
  std::string name = nb::type_name(object.type()).c_str();
  throw nb::type_error(("expected arrays, numbers, texts and containers of them, found " + name).c_str());
}

/// An int beyond the integers that a float has.
nb::object numberOf(double value, std::optional<uint64_t> integer) {
  return integer && value >= diff::kFirstInexact ? nb::cast(*integer) : nb::cast(value);
}

nb::dict toDict(const diff::MaxDiff &difference) {
  nb::dict counts, result;
  for (const diff::ThresholdCount &above : difference.rep)
    counts[diff::thresholdKey(above.threshold).c_str()] = above.count;
  result["abs"] = numberOf(difference.abs, difference.integerAbs);
  result["rel"] = difference.rel;
  result["l2"] = difference.l2;
  result["max"] = difference.max;
  result["sum"] = numberOf(difference.sum, difference.integerSum);
  result["n"] = difference.n;
  result["dnan"] = difference.dnan;
  result["counts"] = counts;
  result["index"] = nb::none();
  if (difference.argm)
    result["index"] =
        nb::tuple(nb::cast(std::vector<int64_t>(difference.argm->begin(), difference.argm->end())));
  result["ulp"] = nb::none();
  if (difference.ulp)
    result["ulp"] = *difference.ulp == UINT64_MAX && !difference.integerAbs ? nb::object(nb::float_(HUGE_VAL))
                                                                            : nb::cast(*difference.ulp);
  result["text"] = diff::stringDiff(difference);
  return result;
}

nb::dict maxDiff(nb::handle expected, nb::handle got, nb::callable storage,
                 const std::vector<double> &thresholds, int64_t begin, int64_t end, bool flatten,
                 bool skipNone) {
  Trees trees(std::move(storage));
  diff::Value left = trees.convert(expected), right = trees.convert(got);
  return toDict(diff::compareValues(left, right, {thresholds, begin, end, flatten, skipNone}));
}

std::string stringType(nb::handle value, nb::callable storage, bool shape, bool minMax, size_t limit) {
  Trees trees(std::move(storage));
  diff::StringTypeOptions options;
  options.shape = shape;
  options.minMax = minMax;
  options.limit = limit;
  return diff::stringType(trees.convert(value), options);
}

std::string fingerprintOf(nb::handle array, nb::callable storage) {
  Trees trees(std::move(storage));
  return diff::fingerprint(trees.tensor(array));
}

nb::tuple matrixOf(nb::list arrays, const std::vector<std::string> &labels, nb::callable storage,
                   const std::string &measure) {
  constexpr int digits = 8;
  Trees trees(std::move(storage));
  std::vector<adrt_tensor> tensors;
  for (nb::handle array : arrays)
    tensors.push_back(trees.tensor(array));
  diff::DiffMatrix matrix = diff::comparePairwise(tensors, labels, measure);
  std::vector<std::vector<double>> rows(matrix.size());
  for (size_t row = 0; row < matrix.size(); ++row)
    for (size_t column = 0; column < matrix.size(); ++column)
      rows[row].push_back(matrix.at(row, column));
  return nb::make_tuple(rows, matrix.findEqual(), matrix.toTable(digits).toText());
}

/// Rows of (kind, name, operation, array).
std::vector<diff::Record> recordsOf(nb::handle rows, Trees &trees) {
  std::vector<diff::Record> records;
  for (nb::handle row : rows) {
    std::tuple<std::string, std::string, std::string, nb::object> cells;
    if (!nb::try_cast(row, cells))
      throw nb::type_error("expected records of a kind, a name, an operation and an array");
    auto &[kind, name, op, array] = cells;
    adrt_tensor tensor = trees.tensor(array);
    records.push_back(diff::makeRecord(kind, tensor, op, name));
    records.back().hash = diff::contentHash(tensor);
  }
  return records;
}

template <class T> T valueOf(llvm::Expected<T> expected) {
  if (!expected)
    throw nb::value_error(llvm::toString(expected.takeError()).c_str());
  return std::move(*expected);
}

nb::tuple alignOf(nb::list left, nb::list right, size_t column, nb::callable storage) {
  Trees trees(std::move(storage));
  std::vector<diff::Record> leftRecords = recordsOf(left, trees), rightRecords = recordsOf(right, trees);
  diff::Alignment alignment = valueOf(diff::align(leftRecords, rightRecords));
  std::string text = valueOf(diff::alignmentText(alignment, leftRecords, rightRecords, column));
  nb::list pairs;
  for (const diff::AlignedPair &pair : alignment.pairs)
    pairs.append(
        nb::make_tuple(pair.left, pair.right, std::string(1, static_cast<char>(pair.symbol)), pair.distance));
  return nb::make_tuple(alignment.distance, pairs, text);
}

} // namespace

void adjoint_python::bindDiff(nb::module_ &module) {
  using Guard = nb::call_guard<adrt::FloatingPointScope>;
  module.def("max_diff", maxDiff, Guard(), nb::arg("expected").none(), nb::arg("got").none(),
             nb::arg("storage"), nb::arg("thresholds"), nb::arg("begin"), nb::arg("end"), nb::arg("flatten"),
             nb::arg("skip_none"));
  module.def("string_type", stringType, Guard(), nb::arg("value").none(), nb::arg("storage"),
             nb::arg("shape"), nb::arg("min_max"), nb::arg("limit"));
  module.def("fingerprint", fingerprintOf, Guard(), nb::arg("array").none(), nb::arg("storage"));
  module.def("matrix", matrixOf, Guard(), nb::arg("arrays"), nb::arg("labels"), nb::arg("storage"),
             nb::arg("measure"));
  module.def("align", alignOf, Guard(), nb::arg("left"), nb::arg("right"), nb::arg("column"),
             nb::arg("storage"));
}
