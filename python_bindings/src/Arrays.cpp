// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Converts between Python's arrays and tensors of the runtime.
#include "Arrays.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace adjoint_python;

namespace {

constexpr size_t maxRank = 64; // of NumPy

/// The format letters of the buffer protocol for the elements of `type`.
const char *formatOf(adrt_type type) {
  static constexpr const char *formats[] = {"d", "f", "e", "H", "B", "B", "?", "b", "i", "lq"};
  return formats[type];
}

nb::dlpack::dtype dtypeOf(adrt_type type) {
  using nb::dlpack::dtype_code;
  auto make = [](dtype_code code, int bits) {
    return nb::dlpack::dtype{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
  };
  int bits = static_cast<int>(adrt::elementSize(type)) * 8;
  switch (type) {
  case ADRT_F64:
  case ADRT_F32:
  case ADRT_F16:
    return make(dtype_code::Float, bits);
  case ADRT_BF16:
  case ADRT_F8E4M3FN:
  case ADRT_F8E5M2:
    return make(dtype_code::UInt, bits);
  case ADRT_I1:
    return make(dtype_code::Bool, bits);
  default:
    return make(dtype_code::Int, bits);
  }
}

/// The MLIR name of an element type that NumPy lacks, and a name for messages of other types.
std::string nameOf(nb::dlpack::dtype dtype) {
  using nb::dlpack::dtype_code;
  switch (static_cast<dtype_code>(dtype.code)) {
  case dtype_code::Bfloat:
    return "bf16";
  case dtype_code::Float8_E4M3FN:
    return "f8E4M3FN";
  case dtype_code::Float8_E5M2:
    return "f8E5M2";
  case dtype_code::Float:
    return "f" + std::to_string(dtype.bits);
  case dtype_code::Int:
    return "i" + std::to_string(dtype.bits);
  default:
    return "DLPack type " + std::to_string(dtype.code) + " of " + std::to_string(dtype.bits) + " bits";
  }
}

} // namespace

bool ArrayView::takeBuffer(PyObject *object, adrt_type type, bool writable) {
  release();
  int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object, &view, flags) != 0) {
    PyErr_Clear();
    view = {};
    return false;
  }
  auto size = static_cast<uintptr_t>(adrt::elementSize(type));
  if (view.format && std::strlen(view.format) == 1 && std::strchr(formatOf(type), view.format[0]) &&
      view.itemsize == static_cast<Py_ssize_t>(size) && reinterpret_cast<uintptr_t>(view.buf) % size == 0)
    return true;
  release();
  return false;
}

bool ArrayView::holdsBooleans() const {
  auto *bytes = static_cast<const uint8_t *>(view.buf);
  return std::all_of(bytes, bytes + view.len, [](uint8_t byte) { return byte <= 1; });
}

bool ArrayView::take(PyObject *object, adrt_type type, bool writable) {
  if (!takeBuffer(object, type, writable))
    return false;
  if (type != ADRT_I1 || holdsBooleans())
    return true;
  release();
  return false;
}

bool ArrayView::takeOutput(PyObject *object, adrt_type type) {
  return takeBuffer(object, type, /*writable=*/true);
}

bool ArrayView::overlaps(const ArrayView &other) const {
  auto begin = reinterpret_cast<uintptr_t>(view.buf),
       otherBegin = reinterpret_cast<uintptr_t>(other.view.buf);
  return begin < otherBegin + static_cast<uintptr_t>(other.view.len) &&
         otherBegin < begin + static_cast<uintptr_t>(view.len);
}

void ArrayView::release() {
  if (view.obj)
    PyBuffer_Release(&view);
}

bool adjoint_python::isPlainArray(PyObject *object) {
  // Never released.
  static PyObject *const type = nb::module_::import_("numpy").attr("ndarray").inc_ref().ptr();
  return reinterpret_cast<PyObject *>(Py_TYPE(object)) == type;
}

nb::object adjoint_python::makeArray(adrt::Buffer data, adrt_type type, const int64_t *shape, size_t rank,
                                     std::function<void(adrt::Buffer)> recycle) {
  if (rank > maxRank)
    throw nb::value_error("NumPy arrays have at most 64 axes");
  size_t sizes[maxRank];
  std::copy(shape, shape + rank, sizes);
  struct Owned {
    adrt::Buffer data;
    std::function<void(adrt::Buffer)> recycle;
  };
  auto *owned = new Owned{std::move(data), std::move(recycle)};
  nb::capsule owner(owned, [](void *pointer) noexcept {
    std::unique_ptr<Owned> dead(static_cast<Owned *>(pointer));
    if (dead->recycle)
      dead->recycle(std::move(dead->data));
  });
  return nb::cast(nb::ndarray<nb::numpy>(owned->data.data(), rank, sizes, owner, nullptr, dtypeOf(type)));
}

nb::tuple adjoint_python::importBits(nb::handle capsule) {
  nb::ndarray<nb::ro, nb::device::cpu> array;
  if (!nb::try_cast(capsule, array))
    throw nb::value_error("not a DLPack capsule");
  size_t rank = std::min(array.ndim(), maxRank), sizes[maxRank];
  for (size_t axis = 0; axis < rank; ++axis)
    sizes[axis] = array.shape(axis);
  nb::dlpack::dtype bits{static_cast<uint8_t>(nb::dlpack::dtype_code::UInt), array.dtype().bits, 1};
  // Keeps the DLPack tensor alive during the lifetime of the imported array.
  auto *lent = new decltype(array)(array);
  nb::capsule owner(lent, [](void *pointer) noexcept { delete static_cast<decltype(array) *>(pointer); });
  nb::ndarray<nb::numpy, nb::ro> copy(array.data(), rank, sizes, owner, array.stride_ptr(), bits);
  return nb::make_tuple(nameOf(array.dtype()), nb::cast(copy));
}
