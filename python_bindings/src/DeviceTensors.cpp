// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "DeviceTensors.h"
#include "Arrays.h"
#include "DLPack.h"
#include "Gil.h"
#include "adjoint/Runner/DeviceHeaps.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <new>

namespace nb = nanobind;
using namespace adjoint_python;

namespace {

/// The Python class of device arrays, which have their tensor as `_tensor`. Never released.
PyObject *arrayClass = nullptr;

void raiseUnlessOk(const adrt::Outcome &outcome) {
  if (!outcome.ok())
    throw std::runtime_error(outcome.message);
}

std::shared_ptr<adrt::DeviceHeap> heapOf(const std::string &target) {
  std::string problem;
  std::shared_ptr<adrt::DeviceHeap> heap = mlir::ad::runner::getDeviceHeap(target, problem);
  if (!heap)
    throw nb::value_error(problem.empty() ? "it has no device memory" : problem.c_str());
  return heap;
}

adrt_type typeNamed(const std::string &name) {
  for (int32_t type = ADRT_F64; type <= ADRT_I64; ++type)
    if (name == adrt::typeName(type))
      return static_cast<adrt_type>(type);
  throw nb::value_error("no element type");
}

std::shared_ptr<adrt::DeviceBlock> allocate(adrt::DeviceHeap &heap, int64_t bytes) {
  adrt::Outcome outcome;
  std::shared_ptr<adrt::DeviceBlock> block = heap.allocate(bytes, "a device array", outcome);
  if (block)
    return block;
  PyErr_SetString(PyExc_MemoryError, outcome.message.c_str());
  throw nb::python_error();
}

DeviceTensor put(nb::handle array, const std::string &type, const std::string &target) {
  DeviceTensor tensor;
  tensor.type = typeNamed(type);
  ArrayView view;
  if (!view.take(array.ptr(), tensor.type))
    throw nb::type_error("no row-major array of the element type");
  tensor.shape.assign(view.shape(), view.shape() + view.rank());
  std::shared_ptr<adrt::DeviceHeap> heap = heapOf(target);
  tensor.block = allocate(*heap, view.bytes());
  adrt::Outcome outcome;
  {
    GilRelease release;
    outcome = heap->write(*tensor.block, view.tensor(tensor.type).data, view.bytes());
  }
  raiseUnlessOk(outcome);
  return tensor;
}

nb::object readToHost(const DeviceTensor &tensor) {
  int64_t bytes = tensor.bytes();
  adrt::Buffer copy;
  if (!copy.reserve(bytes))
    throw std::bad_alloc();
  std::shared_ptr<adrt::DeviceBlock> block = tensor.block; // another thread may donate it
  adrt::Outcome outcome;
  {
    GilRelease release;
    outcome = block->getHeap().read(copy.data(), *block, bytes);
  }
  raiseUnlessOk(outcome);
  return makeArray(std::move(copy), tensor.type, tensor.shape.data(), tensor.shape.size());
}

/// Waits for `stream` of the driver unless it is negative, on which the other library has its work.
DeviceTensor fromCapsule(nb::handle capsule, const std::string &target, int64_t stream) {
  std::shared_ptr<adrt::DeviceHeap> heap = heapOf(target);
  DeviceTensor tensor = importCapsule(capsule, *heap);
  if (stream >= 0)
    raiseUnlessOk(heap->waitForForeignStream(static_cast<uintptr_t>(stream)));
  return tensor;
}

/// Of `owner`, which is kept alive.
DeviceTensor fromAddress(uintptr_t address, const std::string &type, std::vector<int64_t> shape,
                         bool isReadOnly, nb::object owner, const std::string &target, int64_t stream) {
  std::shared_ptr<adrt::DeviceHeap> heap = heapOf(target);
  if (stream >= 0)
    raiseUnlessOk(heap->waitForForeignStream(static_cast<uintptr_t>(stream)));
  PyObject *kept = owner.inc_ref().ptr();
  try {
    return adoptMemory(*heap, reinterpret_cast<void *>(address), typeNamed(type), std::move(shape),
                       isReadOnly, [kept] {
                         if (!Py_IsInitialized())
                           return;
                         nb::gil_scoped_acquire gil;
                         Py_DECREF(kept);
                       });
  } catch (...) {
    Py_DECREF(kept);
    throw;
  }
}

nb::dict memoryOf(const std::string &target) {
  std::shared_ptr<adrt::DeviceHeap> heap = heapOf(target);
  nb::dict counts;
  counts["used"] = heap->getUsedBytes();
  counts["idle"] = heap->getIdleBytes();
  return counts;
}

nb::tuple transferCounts() {
  adrt::TransferCounts counts = adrt::getTransferCounts();
  return nb::make_tuple(counts.toDevice, counts.toHost);
}

} // namespace

DeviceTensor *adjoint_python::deviceTensorOf(PyObject *object) {
  if (reinterpret_cast<PyObject *>(Py_TYPE(object)) != arrayClass)
    return nullptr;
  // The array owns it.
  return nb::cast<DeviceTensor *>(nb::getattr(nb::handle(object), "_tensor"));
}

DeviceTensor adjoint_python::copyOnDevice(const DeviceTensor &tensor) {
  adrt::DeviceHeap &heap = tensor.block->getHeap();
  DeviceTensor made{allocate(heap, tensor.bytes()), tensor.type, tensor.shape, false};
  raiseUnlessOk(heap.copy(*made.block, *tensor.block, tensor.bytes()));
  return made;
}

void adjoint_python::bindDeviceTensors(nb::module_ &module) {
  nb::class_<DeviceTensor>(module, "DeviceTensor")
      .def_prop_ro("is_donated", [](const DeviceTensor &tensor) { return !tensor.block; })
      .def_prop_ro("type", [](const DeviceTensor &tensor) { return adrt::typeName(tensor.type); })
      .def_prop_ro("shape",
                   [](const DeviceTensor &tensor) {
                     nb::list sizes;
                     for (int64_t size : tensor.shape)
                       sizes.append(size);
                     return nb::tuple(sizes);
                   })
      .def_prop_ro("is_read_only", [](const DeviceTensor &tensor) { return tensor.isReadOnly; })
      // The following are of tensors that were not donated.
      .def_prop_ro("target", [](const DeviceTensor &tensor) { return tensor.target(); })
      .def_prop_ro("address",
                   [](const DeviceTensor &tensor) {
                     tensor.block->lend();
                     return reinterpret_cast<uintptr_t>(tensor.block->getData());
                   })
      .def("read", readToHost)
      .def("copy", copyOnDevice)
      .def("capsule", exportCapsule, nb::arg("versioned"));
  module.def("put", put, nb::arg("array"), nb::arg("type"), nb::arg("target"));
  module.def("device_tensor_of_capsule", fromCapsule, nb::arg("capsule"), nb::arg("target"),
             nb::arg("stream"));
  module.def("device_tensor_at", fromAddress, nb::arg("address"), nb::arg("type"), nb::arg("shape"),
             nb::arg("read_only"), nb::arg("owner"), nb::arg("target"), nb::arg("stream"));
  module.def("dlpack_device", dlpackDeviceOf, nb::arg("target"));
  module.def("device_memory", memoryOf, nb::arg("target"));
  module.def("transfer_counts", transferCounts);
  module.def("set_device_array_class", [](nb::handle cls) { arrayClass = nb::borrow(cls).release().ptr(); });
}
