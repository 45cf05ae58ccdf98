// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Uses the memory of arguments without a copy if possible.
#include "Arguments.h"

namespace nb = nanobind;
using namespace adjoint_python;
using mlir::ad::runner::ProgramValue;

namespace {

bool hasShape(size_t rank, const int64_t *shape, const ProgramValue &spec) {
  if (rank != spec.shape.size())
    return false;
  for (size_t axis = 0; axis < spec.shape.size(); ++axis)
    if (spec.shape[axis] >= 0 && spec.shape[axis] != shape[axis])
      return false;
  return true;
}

bool hasShape(const ArrayView &view, const ProgramValue &spec) {
  return hasShape(static_cast<size_t>(view.rank()), view.shape(), spec);
}

bool overlap(const DeviceTensor &left, const DeviceTensor &right) {
  auto begin = [](const DeviceTensor &tensor) {
    return reinterpret_cast<uintptr_t>(tensor.block->getData());
  };
  auto end = [&](const DeviceTensor &tensor) {
    return begin(tensor) + static_cast<uintptr_t>(tensor.bytes());
  };
  return left.block && right.block && begin(left) < end(right) && begin(right) < end(left);
}

} // namespace

// Only arrays that `prepare` made are bf16 or f8: the buffer protocol has no format for them.
bool Arguments::takeDirectly(size_t index, nb::handle value) {
  const ProgramValue &spec = specs[index];
  bool hasFormat = spec.type != ADRT_BF16 && spec.type != ADRT_F8E4M3FN && spec.type != ADRT_F8E5M2;
  return hasFormat && isPlainArray(value.ptr()) &&
         views[index].take(value.ptr(), spec.type, /*writable=*/spec.donatedTo >= 0) &&
         hasShape(views[index], spec);
}

bool Arguments::takeOnDevice(size_t index, nb::handle value) {
  const ProgramValue &spec = specs[index];
  const DeviceTensor *tensor = target.empty() ? nullptr : deviceTensorOf(value.ptr());
  if (!tensor || !tensor->block || tensor->target() != target || tensor->type != spec.type ||
      !hasShape(tensor->shape.size(), tensor->shape.data(), spec) ||
      (spec.donatedTo >= 0 && tensor->isReadOnly))
    return false;
  onDevice.resize(specs.size());
  onDevice[index] = *tensor;
  return true;
}

void Arguments::takePrepared(size_t index, nb::handle value, const nb::callable &prepare, bool copy) {
  prepared[index] = prepare(index, value, copy);
  if (takeOnDevice(index, prepared[index]))
    return;
  if (!views[index].take(prepared[index].ptr(), specs[index].type) || !hasShape(views[index], specs[index]))
    throw nb::type_error("prepare() made no array of the type and shape of the argument");
}

nb::object Arguments::arrayOf(size_t index) const {
  return prepared[index].is_valid() ? prepared[index] : nb::borrow(values[index]);
}

bool Arguments::overlapsAnother(size_t index) const {
  for (size_t other = 0; other < specs.size(); ++other)
    if (other != index && (views[index].overlaps(views[other]) ||
                           (!onDevice.empty() && overlap(onDevice[index], onDevice[other]))))
      return true;
  return false;
}

bool Arguments::anyOnDevice() const { return !onDevice.empty(); }

// From now on no other call can read what this one overwrites.
void Arguments::takeDonated() {
  for (size_t index = 0; index < specs.size(); ++index)
    if (specs[index].donatedTo >= 0 && isOnDevice(index))
      if (DeviceTensor *given = deviceTensorOf(values[index].ptr()))
        given->block = nullptr;
}

Arguments::Arguments(const std::vector<ProgramValue> &specs, nb::tuple values, nb::callable prepare,
                     std::string target)
    : specs(specs), values(values), views(new ArrayView[specs.size()]), prepared(specs.size()),
      target(std::move(target)) {
  if (values.size() != specs.size())
    throw nb::type_error("the number of values is not that of the arguments");
  for (size_t index = 0; index < specs.size(); ++index)
    if (!takeDirectly(index, values[index]) && !takeOnDevice(index, values[index]))
      takePrepared(index, values[index], prepare, /*copy=*/false);
  tensors.reserve(specs.size());
  for (size_t index = 0; index < specs.size(); ++index) {
    bool isHere = onDevice.empty() || !onDevice[index].block;
    if (specs[index].donatedTo >= 0 && overlapsAnother(index)) {
      if (isHere)
        takePrepared(index, values[index], prepare, /*copy=*/true);
      else
        onDevice[index] = copyOnDevice(onDevice[index]);
    }
    tensors.push_back(isHere ? views[index].tensor(specs[index].type) : onDevice[index].tensor());
  }
}

Outputs::Outputs(const mlir::ad::runner::ProgramInterface &interface, nb::tuple given,
                 const Arguments &arguments, const nb::callable &conflict, bool onDevice)
    : views(new ArrayView[interface.results.size()]), arrays(interface.results.size()),
      tensors(interface.results.size(), adrt_tensor{}) {
  if (onDevice)
    for (adrt_tensor &tensor : tensors)
      tensor.memory = ADRT_DEVICE_MEMORY;
  for (size_t index = 0; index < arguments.size() && !onDevice; ++index)
    if (int result = interface.arguments[index].donatedTo; result >= 0) {
      arrays[result] = arguments.arrayOf(index);
      tensors[result] = arguments.get()[index];
    }
  for (size_t result = 0; result < given.size(); ++result) {
    if (given[result].is_none())
      continue;
    adrt_type type = interface.results[result].type;
    if (!views[result].takeOutput(given[result].ptr(), type))
      throw nb::type_error("an output is no array of the type of its result that may be written");
    for (size_t index = 0; index < arguments.size(); ++index) {
      bool isDonated = interface.arguments[index].donatedTo == static_cast<int>(result) &&
                       views[result].isSameAs(arguments.viewOf(index));
      if (!isDonated && views[result].overlaps(arguments.viewOf(index)))
        conflict(result, index, -1);
    }
    for (size_t other = 0; other < result; ++other)
      if (views[result].overlaps(views[other]))
        conflict(result, -1, other);
    arrays[result] = nb::borrow(given[result]);
    tensors[result] = views[result].tensor(type);
  }
}
