// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Converts descriptions to Python values.
#include "Describe.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace mlir::ad::runner;

namespace {

nb::list describeValues(const std::vector<ProgramValue> &values) {
  nb::list result;
  for (const ProgramValue &value : values)
    result.append(nb::make_tuple(value.name, adrt::typeName(value.type), value.shape, value.donatedTo));
  return result;
}

} // namespace

nb::dict adjoint_python::describe(const ProgramInterface &interface) {
  nb::list receives;
  for (const ProgramReceive &receive : interface.receives)
    receives.append(nb::make_tuple(receive.name, describeValues(receive.values)));
  nb::dict result;
  result["entry"] = interface.entry;
  result["arguments"] = describeValues(interface.arguments);
  result["results"] = describeValues(interface.results);
  result["feeds"] = describeValues(interface.feeds);
  result["receives"] = receives;
  return result;
}

nb::list adjoint_python::describe(const std::vector<Message> &messages) {
  nb::list result;
  for (const Message &message : messages)
    result.append(nb::make_tuple(message.severity, message.file, message.line, message.column, message.text,
                                 describe(message.notes)));
  return result;
}

const char *adjoint_python::describe(Failure::Reason reason) {
  switch (reason) {
  case Failure::Reason::Options:
    return "options";
  case Failure::Reason::Source:
    return "source";
  case Failure::Reason::Target:
    return "target";
  case Failure::Reason::Program:
    return "program";
  case Failure::Reason::Check:
    return "check";
  case Failure::Reason::Host:
    return "host";
  case Failure::Reason::Output:
    return "output";
  case Failure::Reason::Interrupted:
    return "interrupted";
  case Failure::Reason::File:
    return "file";
  }
  return "";
}
