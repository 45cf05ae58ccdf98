// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Between Python's arrays and the tensors of the runtime.
#ifndef ADJOINT_PYTHON_ARRAYS_H
#define ADJOINT_PYTHON_ARRAYS_H

#include "adjoint/Runtime/Host/Context.h"

#include <functional>
#include <nanobind/nanobind.h>

namespace adjoint_python {

/// The memory of a Python object for as long as this lives. NumPy has no name for bf16 and f8 in the buffer
/// protocol: their arrays arrive as unsigned integers of the same size.
class ArrayView {
public:
  ArrayView() = default;
  ArrayView(const ArrayView &) = delete;
  ArrayView &operator=(const ArrayView &) = delete;
  ~ArrayView() { release(); }

  /// Takes the memory as it is: row-major, aligned elements of `type`, booleans of 0 and 1. False if it is
  /// anything else, or not `writable` where that is asked for.
  bool take(PyObject *object, adrt_type type, bool writable = false);
  /// The same for memory to write to: what it holds does not matter.
  bool takeOutput(PyObject *object, adrt_type type);
  void release();

  int32_t rank() const { return view.ndim; }
  const int64_t *shape() const { return view.shape; }
  int64_t bytes() const { return view.len; }
  bool overlaps(const ArrayView &other) const;
  bool isSameAs(const ArrayView &other) const {
    return view.buf == other.view.buf && view.len == other.view.len;
  }
  adrt_tensor tensor(adrt_type type) const { return {view.buf, view.shape, view.ndim, type}; }

private:
  bool takeBuffer(PyObject *object, adrt_type type, bool writable);
  bool holdsBooleans() const;
  Py_buffer view = {};
};

/// Whether `object` is a numpy.ndarray and of no subclass of it.
bool isPlainArray(PyObject *object);

/// A NumPy array that owns `data`. When it dies, `recycle`, if there is one, takes the memory.
nanobind::object makeArray(adrt::Buffer data, adrt_type type, const int64_t *shape, size_t rank,
                           std::function<void(adrt::Buffer)> recycle = nullptr);

/// What lies in a capsule of the DLPack protocol whose elements NumPy may not know: the name of its element
/// type and an array of unsigned integers of the same size.
nanobind::tuple importBits(nanobind::handle capsule);

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_ARRAYS_H
