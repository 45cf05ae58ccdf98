// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The arguments and outputs of one call.
#ifndef ADJOINT_PYTHON_ARGUMENTS_H
#define ADJOINT_PYTHON_ARGUMENTS_H

#include "Arrays.h"
#include "DeviceTensors.h"
#include "adjoint/Runner/Program.h"

#include <memory>

namespace adjoint_python {

/// The memory of arrays, for a run. Constructed and destroyed with the GIL held.
class Arguments {
public:
  /// One value per argument of the program. An array of the right type, shape and layout is used directly.
  /// For a donated argument it must also be writable and overlap no other argument. `prepare(index, value,
  /// copy)` makes such an array of any other value, a copy if `copy` is true, or raises. A program for the
  /// device of `target` takes device arrays there, too.
  Arguments(const std::vector<mlir::ad::runner::ProgramValue> &specs, nanobind::tuple values,
            nanobind::callable prepare, std::string target = "");

  const std::vector<adrt_tensor> &get() const { return tensors; }
  /// The array whose memory an argument uses: the given one, or the prepared one.
  nanobind::object arrayOf(size_t index) const;
  const ArrayView &viewOf(size_t index) const { return views[index]; }
  bool isOnDevice(size_t index) const { return tensors[index].memory == ADRT_DEVICE_MEMORY; }
  bool anyOnDevice() const;
  /// The memory of an argument on the device.
  const std::shared_ptr<adrt::DeviceBlock> &blockOf(size_t index) const { return onDevice[index].block; }
  /// Takes the memory of donated device arrays from Python.
  void takeDonated();
  size_t size() const { return specs.size(); }

private:
  bool takeDirectly(size_t index, nanobind::handle value);
  bool takeOnDevice(size_t index, nanobind::handle value);
  void takePrepared(size_t index, nanobind::handle value, const nanobind::callable &prepare, bool copy);
  bool overlapsAnother(size_t index) const;

  const std::vector<mlir::ad::runner::ProgramValue> &specs;
  nanobind::tuple values;
  std::unique_ptr<ArrayView[]> views;
  std::vector<nanobind::object> prepared;
  std::vector<adrt_tensor> tensors;
  std::string target;
  std::vector<DeviceTensor> onDevice; // those that have memory; empty without device arrays
};

/// The arrays that results are written to: those that the caller gives, and those of donated arguments.
class Outputs {
public:
  /// `given` is empty or has one object per result: an array of its type in row-major order that may be
  /// written, or None. `conflict(result, argument, other)` raises: the output overlaps an argument, or
  /// another output where the argument is -1. Other results stay on the device if `onDevice` is true.
  Outputs(const mlir::ad::runner::ProgramInterface &interface, nanobind::tuple given,
          const Arguments &arguments, const nanobind::callable &conflict, bool onDevice);

  const std::vector<adrt_tensor> &get() const { return tensors; }
  /// The array that holds the result after the run.
  nanobind::object arrayOf(size_t result) const { return arrays[result]; }

private:
  std::unique_ptr<ArrayView[]> views;
  std::vector<nanobind::object> arrays;
  std::vector<adrt_tensor> tensors;
};

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_ARGUMENTS_H
