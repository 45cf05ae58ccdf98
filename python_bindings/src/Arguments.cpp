// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Takes arguments without a copy where that is possible.
#include "Arguments.h"

namespace nb = nanobind;
using namespace adjoint_python;
using mlir::ad::runner::ProgramValue;

namespace {

bool hasShape(const ArrayView &view, const ProgramValue &spec) {
  if (static_cast<size_t>(view.rank()) != spec.shape.size())
    return false;
  for (size_t axis = 0; axis < spec.shape.size(); ++axis)
    if (spec.shape[axis] >= 0 && spec.shape[axis] != view.shape()[axis])
      return false;
  return true;
}

/// Unsigned integers are no bf16 unless we made them so, and what the program may overwrite is not the
/// caller's.
bool mayTakeAsItIs(PyObject *value, const ProgramValue &spec) {
  bool hasFormat = spec.type != ADRT_BF16 && spec.type != ADRT_F8E4M3FN && spec.type != ADRT_F8E5M2;
  return hasFormat && spec.donatedTo < 0 && isPlainArray(value);
}

} // namespace

Arguments::Arguments(const std::vector<ProgramValue> &specs, nb::tuple values, nb::callable prepare)
    : views(new ArrayView[specs.size()]) {
  if (values.size() != specs.size())
    throw nb::type_error("the number of values is not that of the arguments");
  tensors.reserve(specs.size());
  for (size_t index = 0; index < specs.size(); ++index) {
    const ProgramValue &spec = specs[index];
    ArrayView &view = views[index];
    nb::object value = values[index];
    bool taken =
        mayTakeAsItIs(value.ptr(), spec) && view.take(value.ptr(), spec.type) && hasShape(view, spec);
    if (!taken) {
      prepared.push_back(prepare(index, value));
      if (!view.take(prepared.back().ptr(), spec.type) || !hasShape(view, spec))
        throw nb::type_error("prepare() made no array of the type and shape of the argument");
    }
    tensors.push_back(view.tensor(spec.type));
  }
}
