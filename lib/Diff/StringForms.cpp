// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The string forms of differences and values.
#include "adjoint/Diff/StringForms.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Diff/Statistics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir::ad::diff;

namespace {

/// A field of a difference. Python starts the maxima of a container from the integer 0; all fields of empty
/// tensors and of None are integers.
std::string fieldText(const MaxDiff &diff, double field, bool isSum = false,
                      std::optional<uint64_t> integer = std::nullopt) {
  bool isInteger = diff.start == FieldStart::Integers || (diff.start == FieldStart::IntegerMaxima && !isSum);
  return isInteger && field == 0 ? "0" : pythonNumber(field, integer);
}

std::string joinIndex(llvm::ArrayRef<int64_t> index, llvm::StringRef separator) {
  return llvm::join(llvm::map_range(index, [](int64_t i) { return std::to_string(i); }), separator);
}

std::string suffixOf(const MaxDiff &diff) {
  std::vector<std::string> counts;
  for (const ThresholdCount &above : diff.rep)
    if (above.count > 0)
      counts.push_back("#" + std::to_string(above.count) + thresholdKey(above.threshold));
  std::string text = (diff.rep.empty() ? "" : "/") + llvm::join(counts, "-");
  if (diff.argm)
    text += ",amax=" + joinIndex(*diff.argm, ",");
  else if (diff.isEmptyTensor())
    text += ",amax=None";
  if (diff.dev)
    text += ", dev=" + std::to_string(*diff.dev);
  return text;
}

/// A number of JSON as Python writes it, which has names for what JSON lacks.
std::string jsonNumber(const std::string &text) {
  return text == "inf" ? "Infinity" : text == "-inf" ? "-Infinity" : text == "nan" ? "NaN" : text;
}

class TypeWriter {
public:
  explicit TypeWriter(const StringTypeOptions &options) : options(options) {}
  std::string write(const Value &value) const;

private:
  std::string writeTensor(const Value &value) const;
  std::string writeItems(const Value &value) const;
  std::string writeEntries(const Value &value, char separator) const;
  std::string writeScalar(const char *name, const std::string &text) const {
    return options.minMax ? std::string(name) + "=" + text : name;
  }

  const StringTypeOptions &options;
};

std::string boolText(bool value) { return value ? "True" : "False"; }

/// An end of the range of a tensor.
std::string endText(adrt_type type, double number, int64_t integer) {
  if (type == ADRT_I1)
    return boolText(integer != 0);
  return mlir::ad::runner::isFloat(type) ? pythonNumber(number) : std::to_string(integer);
}

std::string rangeText(const adrt_tensor &tensor) {
  auto type = static_cast<adrt_type>(tensor.type);
  Statistics statistics = describeTensor(tensor);
  std::string nans = statistics.nans ? "N" + std::to_string(statistics.nans) + "nans" : "";
  if (tensor.rank == 0)
    return "=" + (statistics.nans ? "nan" : endText(type, statistics.min, statistics.minInteger));
  if (statistics.count == 0)
    return "[empty]";
  if (statistics.nans == statistics.count)
    return "[" + nans + "]";
  return "[" + endText(type, statistics.min, statistics.minInteger) + "," +
         endText(type, statistics.max, statistics.maxInteger) + ":A" + pythonNumber(statistics.mean) + nans +
         "]";
}

std::string TypeWriter::writeTensor(const Value &value) const {
  const adrt_tensor &tensor = value.tensor;
  std::string text = options.device ? value.device : "";
  text += value.tensorClass + std::to_string(onnxType(static_cast<adrt_type>(tensor.type)));
  if (!options.shape && !options.minMax)
    return text + "r" + std::to_string(tensor.rank);
  text += options.shape ? "s" + joinIndex({tensor.shape, static_cast<size_t>(tensor.rank)}, "x")
                        : "r" + std::to_string(tensor.rank);
  return options.minMax ? text + rangeText(tensor) : text;
}

std::string TypeWriter::writeItems(const Value &value) const {
  bool isLong = value.items.size() >= options.limit;
  std::vector<std::string> texts;
  for (const Value &item : llvm::ArrayRef(value.items).take_front(isLong ? 1 : value.items.size()))
    texts.push_back(write(item));
  std::string inner = llvm::join(texts, ",");
  if (isLong)
    return "#" + std::to_string(value.items.size()) + "[" + inner + ",...]";
  switch (value.kind) {
  case Value::Kind::Tuple:
    return "(" + inner + (value.items.size() == 1 ? ",)" : ")");
  case Value::Kind::Set:
    return "{" + inner + "}";
  default:
    return "#" + std::to_string(value.items.size()) + "[" + inner + "]";
  }
}

std::string TypeWriter::writeEntries(const Value &value, char separator) const {
  std::vector<std::string> texts;
  for (auto [key, item] : llvm::zip_equal(value.keys, value.items))
    texts.push_back(key + separator + write(item));
  return "(" + llvm::join(texts, separator == '=' ? ", " : ",") + ")";
}

std::string TypeWriter::write(const Value &value) const {
  switch (value.kind) {
  case Value::Kind::None:
    return "None";
  case Value::Kind::Bool:
    return writeScalar("bool", boolText(value.integer != 0));
  case Value::Kind::Int:
    return writeScalar("int", std::to_string(value.integer));
  case Value::Kind::Float:
    return writeScalar("float", pythonNumber(value.number));
  case Value::Kind::Text:
    return "str";
  case Value::Kind::Tensor:
    return writeTensor(value);
  case Value::Kind::List:
  case Value::Kind::Tuple:
  case Value::Kind::Set:
    return writeItems(value);
  case Value::Kind::Dict:
    return "dict" + writeEntries(value, ':');
  case Value::Kind::Object:
    return value.text + writeEntries(value, '=');
  }
  return "";
}

} // namespace

std::string mlir::ad::diff::thresholdKey(double threshold) { return ">" + pythonNumber(threshold); }

std::string mlir::ad::diff::stringDiff(const MaxDiff &diff) {
  std::string text = "abs=" + fieldText(diff, diff.abs, /*isSum=*/false, diff.integerAbs) +
                     ", rel=" + fieldText(diff, diff.rel);
  if (diff.abs != 0 && diff.rel != 0)
    text += ", n=" + fieldText(diff, diff.n, /*isSum=*/true);
  if (diff.dnan != 0)
    text += ", dnan=" + fieldText(diff, diff.dnan);
  return text + suffixOf(diff);
}

std::string mlir::ad::diff::stringDiffJSON(const MaxDiff &diff, bool ratios) {
  std::vector<std::string> fields;
  auto add = [&](const std::string &key, const std::string &value) {
    fields.push_back("\"" + key + "\": " + value);
  };
  add("abs", jsonNumber(fieldText(diff, diff.abs, /*isSum=*/false, diff.integerAbs)));
  add("rel", jsonNumber(fieldText(diff, diff.rel)));
  add("sum", jsonNumber(fieldText(diff, diff.sum, /*isSum=*/true, diff.integerSum)));
  add("n", jsonNumber(fieldText(diff, diff.n, /*isSum=*/true)));
  add("dnan", jsonNumber(fieldText(diff, diff.dnan)));
  if (diff.argm)
    add("argm", "[" + joinIndex(*diff.argm, ", ") + "]");
  else if (diff.isEmptyTensor())
    add("argm", "null");
  if (diff.dev)
    add("dev", std::to_string(*diff.dev));
  for (const ThresholdCount &above : diff.rep)
    add(thresholdKey(above.threshold), std::to_string(above.count));
  if (ratios && !diff.rep.empty()) {
    for (const ThresholdCount &above : diff.rep)
      add("%" + thresholdKey(above.threshold),
          jsonNumber(pythonNumber(static_cast<double>(above.count) / diff.n)));
    add("mean", jsonNumber(pythonNumber(diff.sum / diff.n)));
  }
  return "{" + llvm::join(fields, ", ") + "}";
}

std::string mlir::ad::diff::stringType(const Value &value, const StringTypeOptions &options) {
  return TypeWriter(options).write(value);
}

int mlir::ad::diff::onnxType(adrt_type type) {
  static constexpr int numbers[] = {11, 1, 10, 16, 17, 19, 9, 3, 6, 7};
  return numbers[type];
}
