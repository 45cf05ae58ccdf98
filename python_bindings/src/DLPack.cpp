// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "DLPack.h"
#include "Gil.h"

#include <cstring>

namespace nb = nanobind;
using namespace adjoint_python;

namespace {

// The structures and numbers of dlpack.h.
struct DLDevice {
  int32_t kind, number;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t rank;
  DLDataType type;
  int64_t *shape, *strides;
  uint64_t offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void *owner;
  void (*deleter)(DLManagedTensor *);
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *owner;
  void (*deleter)(DLManagedTensorVersioned *);
  uint64_t flags;
  DLTensor tensor;
};
constexpr int32_t deviceCuda = 2, deviceExtension = 12;
constexpr uint64_t flagReadOnly = 1;
constexpr const char *capsuleName = "dltensor", *versionedName = "dltensor_versioned";

// By adrt_type: floats are 2, brain floats 4, booleans 6, integers 0, 8-bit floats 10 and 12.
constexpr DLDataType types[] = {{2, 64, 1}, {2, 32, 1}, {2, 16, 1}, {4, 16, 1}, {10, 8, 1},
                                {12, 8, 1}, {6, 8, 1},  {0, 8, 1},  {0, 32, 1}, {0, 64, 1}};

adrt_type typeOf(const DLDataType &type) {
  for (size_t number = 0; number < std::size(types); ++number)
    if (types[number].code == type.code && types[number].bits == type.bits && type.lanes == 1)
      return static_cast<adrt_type>(number);
  throw nb::value_error(("a tensor of DLPack type " + std::to_string(type.code) + " of " +
                         std::to_string(type.bits) + " bits has no element type of Adjoint")
                            .c_str());
}

/// What an exported capsule points to.
template <typename Managed> struct Exported {
  Managed managed = {};
  std::shared_ptr<adrt::DeviceBlock> block;
  std::vector<int64_t> shape, strides;
};

template <typename Managed> void freeExported(Managed *managed) {
  delete static_cast<Exported<Managed> *>(managed->owner);
}

/// A capsule that nobody has taken owns its tensor.
template <typename Managed> void freeCapsule(PyObject *capsule, const char *name) {
  if (!PyCapsule_IsValid(capsule, name))
    return;
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter)
    managed->deleter(managed);
}

template <typename Managed> Managed *makeManaged(const DeviceTensor &tensor) {
  auto *made = new Exported<Managed>{{}, tensor.block, tensor.shape, tensor.shape};
  int64_t stride = 1;
  for (size_t axis = made->shape.size(); axis-- > 0; stride *= std::max<int64_t>(made->shape[axis], 1))
    made->strides[axis] = stride;
  made->managed.owner = made;
  made->managed.deleter = freeExported<Managed>;
  made->managed.tensor = {tensor.block->getData(),
                          {dlpackDeviceOf(tensor.target()), 0},
                          static_cast<int32_t>(tensor.shape.size()),
                          types[tensor.type],
                          made->shape.data(),
                          made->strides.data(),
                          0};
  return &made->managed;
}

bool isRowMajor(const DLTensor &tensor) {
  int64_t stride = 1;
  for (int32_t axis = tensor.rank; tensor.strides && axis-- > 0; stride *= tensor.shape[axis]) {
    if (tensor.shape[axis] == 0)
      return true;
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != stride)
      return false;
  }
  return true;
}

/// Called on any thread; the deleters of other libraries may be Python's.
template <typename Managed> void freeImported(Managed *managed) {
  if (!managed->deleter || !Py_IsInitialized() || isEnding())
    return;
  nb::gil_scoped_acquire gil;
  managed->deleter(managed);
}

template <typename Managed>
DeviceTensor takeCapsule(nb::handle capsule, const char *name, const char *used, adrt::DeviceHeap &heap) {
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule.ptr(), name));
  const DLTensor &tensor = managed->tensor;
  if (tensor.device.kind != dlpackDeviceOf(heap.getTarget()) || tensor.device.number != 0)
    throw nb::value_error(("it is on device (" + std::to_string(tensor.device.kind) + ", " +
                           std::to_string(tensor.device.number) + ") of DLPack, " + heap.getTarget() +
                           " is (" + std::to_string(dlpackDeviceOf(heap.getTarget())) + ", 0)")
                              .c_str());
  adrt_type type = typeOf(tensor.type);
  if (!isRowMajor(tensor))
    throw nb::value_error("it is not in row-major order; make it contiguous first");
  bool isReadOnly = false;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>)
    isReadOnly = managed->flags & flagReadOnly;
  DeviceTensor made = adoptMemory(heap, static_cast<char *>(tensor.data) + tensor.offset, type,
                                  std::vector<int64_t>(tensor.shape, tensor.shape + tensor.rank), isReadOnly,
                                  [managed] { freeImported(managed); });
  PyCapsule_SetName(capsule.ptr(), used);
  return made;
}

} // namespace

int32_t adjoint_python::dlpackDeviceOf(const std::string &target) {
  return target == "cuda" ? deviceCuda : deviceExtension;
}

nb::object adjoint_python::exportCapsule(const DeviceTensor &tensor, bool versioned) {
  tensor.block->lend();
  if (!versioned)
    return nb::steal(PyCapsule_New(makeManaged<DLManagedTensor>(tensor), capsuleName, [](PyObject *capsule) {
      freeCapsule<DLManagedTensor>(capsule, capsuleName);
    }));
  auto *managed = makeManaged<DLManagedTensorVersioned>(tensor);
  managed->major = 1;
  managed->flags = tensor.isReadOnly ? flagReadOnly : 0;
  return nb::steal(PyCapsule_New(managed, versionedName, [](PyObject *capsule) {
    freeCapsule<DLManagedTensorVersioned>(capsule, versionedName);
  }));
}

DeviceTensor adjoint_python::importCapsule(nb::handle capsule, adrt::DeviceHeap &heap) {
  if (PyCapsule_IsValid(capsule.ptr(), versionedName)) {
    auto *managed =
        static_cast<DLManagedTensorVersioned *>(PyCapsule_GetPointer(capsule.ptr(), versionedName));
    if (managed->major != 1)
      throw nb::value_error(("it is of version " + std::to_string(managed->major) + " of DLPack").c_str());
    return takeCapsule<DLManagedTensorVersioned>(capsule, versionedName, "used_dltensor_versioned", heap);
  }
  if (PyCapsule_IsValid(capsule.ptr(), capsuleName))
    return takeCapsule<DLManagedTensor>(capsule, capsuleName, "used_dltensor", heap);
  throw nb::value_error("it gave no DLPack capsule");
}

DeviceTensor adjoint_python::adoptMemory(adrt::DeviceHeap &heap, void *data, adrt_type type,
                                         std::vector<int64_t> shape, bool isReadOnly,
                                         std::function<void()> release) {
  DeviceTensor tensor{nullptr, type, std::move(shape), isReadOnly};
  adrt::Outcome outcome;
  // Memory that is refused stays with its owner.
  auto wanted = std::make_shared<bool>(true);
  tensor.block = heap.adopt(
      data, tensor.bytes(), [release = std::move(release), wanted] { *wanted ? release() : void(); },
      outcome);
  if (!tensor.block)
    throw nb::value_error(outcome.message.c_str());
  constexpr uintptr_t alignment = 64; // see adrt_entry
  if (reinterpret_cast<uintptr_t>(data) % alignment == 0)
    return tensor;
  try {
    return copyOnDevice(tensor);
  } catch (...) {
    *wanted = false;
    throw;
  }
}
