// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Leaves and types of arguments, for calls of traced functions with many of them. What is not in a dict with
// strings as keys, a list, a tuple or a module is left to Python.
#include "Trees.h"
#include "Arrays.h"
#include "DeviceTensors.h"

#include <string>

namespace nb = nanobind;

namespace {

class Signature {
public:
  explicit Signature(nb::handle moduleType) : moduleType(moduleType) {}

  /// False if Python has to look at the value.
  bool visit(PyObject *value) {
    if (++depth > maxDepth)
      return false;
    bool isKnown = visitValue(value);
    --depth;
    return isKnown;
  }

  std::string key;
  nb::list leaves;

private:
  static constexpr int maxDepth = 200;

  bool visitValue(PyObject *value) {
    if (adjoint_python::isPlainArray(value))
      return visitArray(value);
    if (const adjoint_python::DeviceTensor *tensor = adjoint_python::deviceTensorOf(value))
      return visitDeviceTensor(value, *tensor);
    if (PyDict_CheckExact(value)) {
      key += '{';
      return visitItems(value) && close('}');
    }
    if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) {
      key += PyTuple_CheckExact(value) ? '(' : '[';
      PyObject **items = PySequence_Fast_ITEMS(value);
      for (Py_ssize_t index = 0, count = PySequence_Fast_GET_SIZE(value); index < count; ++index)
        if (!visit(items[index]))
          return false;
      return close(')');
    }
    if (value == Py_None)
      return close('N');
    if (PyFloat_CheckExact(value) || PyBool_Check(value) || PyLong_CheckExact(value)) {
      leaves.append(nb::borrow(value));
      return close(PyFloat_CheckExact(value) ? 'f' : PyBool_Check(value) ? 'b' : 'i');
    }
    return visitModule(value);
  }

  bool close(char letter) {
    key += letter;
    return true;
  }

  void append(const void *bytes, size_t size) { key.append(static_cast<const char *>(bytes), size); }

  bool visitArray(PyObject *value) {
    Py_buffer view;
    // bf16 and f8 have no format.
    if (PyObject_GetBuffer(value, &view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      return false;
    }
    key += 'a';
    key += view.format;
    key += static_cast<char>('0' + view.ndim);
    append(view.shape, sizeof(Py_ssize_t) * view.ndim);
    PyBuffer_Release(&view);
    leaves.append(nb::borrow(value));
    return true;
  }

  // A program takes arrays of the host and of its device.
  bool visitDeviceTensor(PyObject *value, const adjoint_python::DeviceTensor &tensor) {
    static constexpr const char *formats[] = {"d",      "f", "e", "bf16", "f8E4M3FN",
                                              "f8E5M2", "?", "b", "i",    "l"};
    key += 'a';
    key += formats[tensor.type];
    key += static_cast<char>('0' + tensor.shape.size());
    append(tensor.shape.data(), sizeof(int64_t) * tensor.shape.size());
    leaves.append(nb::borrow(value));
    return true;
  }

  bool visitItems(PyObject *items) {
    Py_ssize_t position = 0;
    PyObject *name, *value;
    while (PyDict_Next(items, &position, &name, &value)) {
      if (!appendText(name) || !visit(value))
        return false;
    }
    return true;
  }

  bool appendText(PyObject *text) {
    Py_ssize_t size = 0;
    const char *bytes = PyUnicode_CheckExact(text) ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
    if (!bytes) {
      PyErr_Clear();
      return false;
    }
    key += 'k'; // so that it is no end of a dict
    append(&size, sizeof size);
    append(bytes, size);
    return true;
  }

  /// A module by its class and its attributes; those that are no trees are part of the key.
  bool visitModule(PyObject *value) {
    int isModule = PyObject_IsInstance(value, moduleType.ptr());
    if (isModule != 1) {
      PyErr_Clear();
      return false;
    }
    PyTypeObject *type = Py_TYPE(value);
    key += 'm';
    append(&type, sizeof type);
    nb::object attributes = nb::getattr(nb::handle(value), "__dict__");
    Py_ssize_t position = 0;
    PyObject *name, *attribute;
    while (PyDict_Next(attributes.ptr(), &position, &name, &attribute))
      if (!appendText(name) || !visitAttribute(attribute))
        return false;
    return close('M');
  }

  bool visitAttribute(PyObject *value) {
    if (++depth > maxDepth)
      return false;
    bool isKnown = visitAttributeValue(value);
    --depth;
    return isKnown;
  }

  bool visitAttributeValue(PyObject *value) {
    if (PyTuple_CheckExact(value)) {
      key += '(';
      for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(value); ++index)
        if (!visitAttribute(PyTuple_GET_ITEM(value, index)))
          return false;
      return close(')');
    }
    if (PyDict_CheckExact(value) || PyList_CheckExact(value)) {
      size_t before = leaves.size();
      return visit(value) && leaves.size() > before; // without tensors it is no tree of the module
    }
    if (adjoint_python::isPlainArray(value) || adjoint_python::deviceTensorOf(value) ||
        PyObject_IsInstance(value, moduleType.ptr()) == 1)
      return visit(value);
    if (PyFunction_Check(value)) {
      // The program that belongs to the key holds the function.
      key += 'C';
      append(&value, sizeof value);
      return true;
    }
    if (PyUnicode_CheckExact(value))
      return close('s') && appendText(value);
    if (PyFloat_CheckExact(value)) {
      double number = PyFloat_AS_DOUBLE(value);
      key += 'F';
      append(&number, sizeof number);
      return true;
    }
    if (PyLong_CheckExact(value) || PyBool_Check(value)) {
      int overflow = 0;
      long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
      key += PyBool_Check(value) ? 'B' : 'I';
      append(&number, sizeof number);
      return !overflow;
    }
    return value == Py_None && close('N');
  }

  nb::handle moduleType;
  int depth = 0;
};

nb::object signature(nb::tuple arguments, nb::handle moduleType) {
  Signature found(moduleType);
  if (!found.visit(arguments.ptr()))
    return nb::none();
  return nb::make_tuple(nb::bytes(found.key.data(), found.key.size()), found.leaves);
}

} // namespace

void adjoint_python::bindTrees(nb::module_ &module) {
  module.def("signature", signature, nb::arg("arguments"), nb::arg("module_type"));
}
