// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Prints tensors.
#include "Print.h"
#include "adjoint/Support/Elements.h"
#include "adjoint/Support/Printable.h"

#include <charconv>
#include <cmath>

using namespace mlir::ad::runner;

namespace {

// As in NumPy: of a tensor with more than a thousand elements, three remain at each end of an axis.
constexpr int64_t summaryThreshold = 1000;
constexpr int64_t edgeItems = 3;

/// The fewest digits that round-trip. 16- and 8-bit floats get the digits of their value in f32, which
/// represents them exactly.
std::string formatFloat(adrt_type type, double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char text[64];
  std::to_chars_result end = type == ADRT_F64
                                 ? std::to_chars(text, std::end(text), value)
                                 : std::to_chars(text, std::end(text), static_cast<float>(value));
  std::string result(text, end.ptr);
  if (result.find_first_of(".e") == std::string::npos)
    result += '.';
  return result;
}

class Printer {
public:
  Printer(llvm::raw_ostream &os, const adrt_tensor &tensor)
      : os(os), tensor(tensor),
        count(adrt::byteSize(tensor.type, tensor.rank, tensor.shape) / adrt::elementSize(tensor.type)) {}

  void print() {
    forEachShown(0, 0, [&](int64_t index) { width = std::max(width, formatElement(tensor, index).size()); });
    printAxis(0, 0, 1);
  }

private:
  bool skipsMiddle(int32_t axis) const {
    return count > summaryThreshold && tensor.shape[axis] > 2 * edgeItems;
  }

  int64_t stride(int32_t axis) const {
    int64_t elements = 1;
    for (int32_t inner = axis + 1; inner < tensor.rank; ++inner)
      elements *= tensor.shape[inner];
    return elements;
  }

  /// The indices along `axis` that are printed; -1 marks the omitted ones.
  std::vector<int64_t> shown(int32_t axis) const {
    std::vector<int64_t> indices;
    for (int64_t index = 0; index < tensor.shape[axis]; ++index) {
      if (skipsMiddle(axis) && index == edgeItems) {
        indices.push_back(-1);
        index = tensor.shape[axis] - edgeItems;
      }
      indices.push_back(index);
    }
    return indices;
  }

  template <typename Visit> void forEachShown(int32_t axis, int64_t offset, Visit visit) const {
    if (axis == tensor.rank)
      return visit(offset);
    for (int64_t index : shown(axis))
      if (index >= 0)
        forEachShown(axis + 1, offset + index * stride(axis), visit);
  }

  void printAxis(int32_t axis, int64_t offset, unsigned indent) {
    if (axis == tensor.rank) {
      os << llvm::StringRef(std::string(width, ' '))
                .drop_back(std::min(width, formatElement(tensor, offset).size()))
         << formatElement(tensor, offset);
      return;
    }
    bool innermost = axis + 1 == tensor.rank;
    os << '[';
    llvm::StringRef separator = "";
    std::string lineBreak = "\n" + std::string(indent, ' ');
    for (int64_t index : shown(axis)) {
      os << separator;
      if (index < 0)
        os << "...";
      else
        printAxis(axis + 1, offset + index * stride(axis), indent + 1);
      separator = innermost ? llvm::StringRef(" ") : llvm::StringRef(lineBreak);
    }
    os << ']';
  }

  llvm::raw_ostream &os;
  const adrt_tensor &tensor;
  int64_t count;
  size_t width = 0;
};

} // namespace

std::string mlir::ad::runner::formatElement(const adrt_tensor &tensor, int64_t index) {
  auto type = static_cast<adrt_type>(tensor.type);
  const char *element = static_cast<const char *>(tensor.data) + index * adrt::elementSize(type);
  if (isFloat(type))
    return formatFloat(type, adrt::loadAsDouble(type, element));
  int64_t value = adrt::loadAsInteger(type, element);
  return type == ADRT_I1 ? (value ? "true" : "false") : std::to_string(value);
}

void mlir::ad::runner::printTensor(llvm::raw_ostream &os, llvm::StringRef name, const adrt_tensor &tensor) {
  llvm::ArrayRef<int64_t> shape(tensor.shape, tensor.rank);
  os << printable(name) << ": " << formatType(static_cast<adrt_type>(tensor.type), shape) << " =";
  os << (shape.size() > 1 ? "\n" : " ");
  Printer(os, tensor).print();
  os << '\n';
}
