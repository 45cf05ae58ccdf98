// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversions between Python's arrays and tensors of the runtime.
#ifndef ADJOINT_PYTHON_ARRAYS_H
#define ADJOINT_PYTHON_ARRAYS_H

#include "adjoint/Runtime/Host/Context.h"

#include <functional>
#include <nanobind/nanobind.h>

namespace adjoint_python {

/// The memory of a Python object, during the lifetime of this view. The buffer protocol has no format for
/// bf16 and f8: their arrays are passed as unsigned integers of the same size.
class ArrayView {
public:
  ArrayView() = default;
  ArrayView(const ArrayView &) = delete;
  ArrayView &operator=(const ArrayView &) = delete;
  ~ArrayView() { release(); }

  /// Views the memory of `object`. False unless it has row-major, aligned elements of `type`, booleans are 0
  /// or 1, and it can be written if `writable` is true.
  bool take(PyObject *object, adrt_type type, bool writable = false);
  /// The same for memory to write to, whose content is not checked.
  bool takeOutput(PyObject *object, adrt_type type);
  void release();

  int32_t rank() const { return view.ndim; }
  const int64_t *shape() const { return view.shape; }
  int64_t bytes() const { return view.len; }
  bool overlaps(const ArrayView &other) const;
  bool isSameAs(const ArrayView &other) const {
    return view.buf == other.view.buf && view.len == other.view.len;
  }
  adrt_tensor tensor(adrt_type type) const {
    return {view.buf, view.shape, view.ndim, type, ADRT_HOST_MEMORY};
  }

private:
  bool takeBuffer(PyObject *object, adrt_type type, bool writable);
  bool holdsBooleans() const;
  Py_buffer view = {};
};

/// Whether the type of `object` is numpy.ndarray itself, and no subclass.
bool isPlainArray(PyObject *object);

/// A NumPy array that owns `data`. When it is freed, `recycle`, if given, gets the memory.
nanobind::object makeArray(adrt::Buffer data, adrt_type type, const int64_t *shape, size_t rank,
                           std::function<void(adrt::Buffer)> recycle = nullptr);

/// Imports a DLPack capsule whose element type NumPy may lack: the name of the element type, and an array of
/// unsigned integers of the same size.
nanobind::tuple importBits(nanobind::handle capsule);

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_ARRAYS_H
