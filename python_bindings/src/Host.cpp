// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Calls Python functions from a running program.
#include "Host.h"
#include "Arrays.h"
#include "Gil.h"

#include <cstring>

namespace nb = nanobind;
using namespace adjoint_python;

namespace {

std::unordered_map<std::string, nb::object> functionsOf(nb::dict functions) {
  std::unordered_map<std::string, nb::object> result;
  for (auto [name, function] : functions)
    result.emplace(nb::str(name).c_str(), nb::borrow(function));
  return result;
}

/// Adds the location in the program to an exception, if Python (since 3.11) and the exception support notes.
void addNote(nb::handle exception, const std::string &location) {
  try {
    if (!location.empty() && nb::hasattr(exception, "add_note"))
      exception.attr("add_note")(nb::str(location.c_str()));
  } catch (const nb::python_error &) {
    // The exception of the user is more important than the note.
  }
}

nb::tuple shapeOf(const adrt_tensor &tensor) {
  nb::list sizes;
  for (int32_t axis = 0; axis < tensor.rank; ++axis)
    sizes.append(tensor.shape[axis]);
  return nb::tuple(sizes);
}

nb::object copyOf(const adrt_tensor &tensor) {
  int64_t bytes = adrt::byteSize(tensor.type, tensor.rank, tensor.shape);
  adrt::Buffer data;
  if (!data.reserve(bytes))
    throw std::bad_alloc();
  std::memcpy(data.data(), tensor.data, static_cast<size_t>(bytes));
  return makeArray(std::move(data), static_cast<adrt_type>(tensor.type), tensor.shape,
                   static_cast<size_t>(tensor.rank));
}

} // namespace

Host::Host(nb::dict feeds, nb::dict receives) : feeds(functionsOf(feeds)), receives(functionsOf(receives)) {}

mlir::ad::runner::ProgramHost Host::callbacks() {
  mlir::ad::runner::ProgramHost host;
  host.feed = [this](const char *name, const adrt_tensor &destination, std::string &error) {
    return feed(name, destination, error);
  };
  if (!receives.empty())
    host.receive = [this](const char *name, const adrt_tensor *values, int32_t count, std::string &error) {
      return receive(name, values, count, error);
    };
  host.interrupted = [this] { return signals.raised(); };
  return host;
}

template <typename Body> int32_t Host::guarded(std::string &error, Body body) {
  GilAcquire gil;
  try {
    return body();
  } catch (const std::exception &problem) {
    exception = std::current_exception();
    error = problem.what();
    return ADRT_HOST_ERROR;
  }
}

int32_t Host::feed(const char *name, const adrt_tensor &destination, std::string &error) {
  auto source = feeds.find(name);
  if (source == feeds.end()) {
    error = "it has no source";
    return ADRT_HOST_ERROR;
  }
  return guarded(error, [&]() -> int32_t {
    nb::object value = source->second(shapeOf(destination));
    if (nb::isinstance<nb::str>(value)) {
      error = nb::str(value).c_str();
      return ADRT_HOST_ERROR;
    }
    ArrayView view;
    int64_t bytes = adrt::byteSize(destination.type, destination.rank, destination.shape);
    if (!view.take(value.ptr(), static_cast<adrt_type>(destination.type)) || view.bytes() != bytes)
      throw nb::type_error("the feed made no array of the type and shape that the program requested");
    std::memcpy(destination.data, view.tensor(static_cast<adrt_type>(destination.type)).data,
                static_cast<size_t>(bytes));
    return ADRT_OK;
  });
}

int32_t Host::receive(const char *name, const adrt_tensor *values, int32_t count, std::string &error) {
  auto receiver = receives.find(name);
  if (receiver == receives.end())
    return ADRT_OK;
  return guarded(error, [&]() -> int32_t {
    nb::list arrays;
    for (int32_t index = 0; index < count; ++index)
      arrays.append(copyOf(values[index]));
    receiver->second(*arrays);
    return ADRT_OK;
  });
}

void Host::rethrow(const std::string &location) const {
  signals.rethrow();
  if (!exception)
    return;
  try {
    std::rethrow_exception(exception);
  } catch (const nb::python_error &error) {
    addNote(error.value(), location);
    throw;
  }
}
