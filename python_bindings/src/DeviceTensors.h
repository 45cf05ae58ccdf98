// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors in device memory, which Python's device arrays hold.
#ifndef ADJOINT_PYTHON_DEVICETENSORS_H
#define ADJOINT_PYTHON_DEVICETENSORS_H

#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Runtime/Host/DeviceHeap.h"

#include <memory>
#include <nanobind/nanobind.h>
#include <string>
#include <vector>

namespace adjoint_python {

/// The memory has an owner count: views of other libraries, and results in a donated argument, share it.
struct DeviceTensor {
  std::shared_ptr<adrt::DeviceBlock> block; ///< null once the tensor was donated
  adrt_type type = ADRT_F32;
  std::vector<int64_t> shape;
  bool isReadOnly = false; ///< memory of another library that says so

  int64_t bytes() const { return adrt::byteSize(type, static_cast<int32_t>(shape.size()), shape.data()); }
  /// Null data once donated. Valid as long as this object.
  adrt_tensor tensor() const {
    return {block ? block->getData() : nullptr, shape.data(), static_cast<int32_t>(shape.size()), type,
            ADRT_DEVICE_MEMORY};
  }
  const std::string &target() const { return block->getHeap().getTarget(); }
};

/// The tensor of a Python object that is a device array; null for any other object.
DeviceTensor *deviceTensorOf(PyObject *object);

/// The tensor that copies another one inside of the memory of the device. Raises MemoryError.
DeviceTensor copyOnDevice(const DeviceTensor &tensor);

void bindDeviceTensors(nanobind::module_ &module);

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_DEVICETENSORS_H
