// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Binds the program builder. Its functions raise BuildError with the reason.
#include "Builder.h"
#include "adjoint/Builder/ProgramBuilder.h"
#include "adjoint/Support/Printable.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <stdexcept>

namespace nb = nanobind;
using mlir::ad::BuilderOperation;
using mlir::ad::BuilderPlace;
using mlir::ad::BuilderSize;
using mlir::ad::ProgramBuilder;

namespace {

struct BuildError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void require(bool done, const ProgramBuilder &builder) {
  if (!done)
    throw BuildError(mlir::ad::printableLines(builder.getError()));
}

using Values = std::vector<uint32_t>;
using Texts = std::vector<std::string>;
using Attributes = std::vector<std::pair<std::string, std::string>>;

/// (file, line, column, name) of Python.
BuilderPlace placeOf(nb::tuple place) {
  return {nb::cast<std::string>(place[0]), nb::cast<unsigned>(place[1]), nb::cast<unsigned>(place[2]),
          nb::cast<std::string>(place[3])};
}

BuilderOperation operationOf(const std::string &name, Values operands, Attributes attributes, Texts types,
                             unsigned regions, nb::tuple place) {
  return {name, std::move(operands), std::move(attributes), std::move(types), regions, placeOf(place)};
}

Values beginFunction(ProgramBuilder &builder, const std::string &name, bool isEntry, const Texts &types,
                     nb::tuple place) {
  Values arguments;
  require(builder.beginFunction(name, isEntry, types, placeOf(place), arguments), builder);
  return arguments;
}

uint32_t addArgument(ProgramBuilder &builder, const std::string &type, nb::tuple place) {
  uint32_t argument = 0;
  require(builder.addArgument(type, placeOf(place), argument), builder);
  return argument;
}

Values beginRegion(ProgramBuilder &builder, const Texts &types, nb::tuple place) {
  Values arguments;
  require(builder.beginRegion(types, placeOf(place), arguments), builder);
  return arguments;
}

Values create(ProgramBuilder &builder, const std::string &name, Values operands, Attributes attributes,
              Texts types, unsigned regions, nb::tuple place) {
  Values results;
  require(builder.create(
              operationOf(name, std::move(operands), std::move(attributes), std::move(types), regions, place),
              results),
          builder);
  return results;
}

} // namespace

void adjoint_python::bindBuilder(nb::module_ &module) {
  nb::exception<BuildError>(module, "BuildError");
  nb::class_<ProgramBuilder>(module, "Builder")
      .def(nb::init<>())
      .def("begin_function", beginFunction, nb::arg("name"), nb::arg("is_entry"), nb::arg("types"),
           nb::arg("place"))
      .def("add_argument", addArgument, nb::arg("type"), nb::arg("place"))
      .def("set_argument_attribute",
           [](ProgramBuilder &builder, const std::string &function, unsigned index, const std::string &name,
              const std::string &text) {
             require(builder.setArgumentAttribute(function, index, name, text), builder);
           })
      .def("set_result_attribute",
           [](ProgramBuilder &builder, const std::string &function, unsigned index, const std::string &name,
              const std::string &text) {
             require(builder.setResultAttribute(function, index, name, text), builder);
           })
      .def("end_function",
           [](ProgramBuilder &builder, const Values &results, nb::tuple place) {
             require(builder.endFunction(results, placeOf(place)), builder);
           })
      .def("erase_function", &ProgramBuilder::eraseFunction)
      .def("begin_region", beginRegion, nb::arg("types"), nb::arg("place"))
      .def("end_region",
           [](ProgramBuilder &builder, const std::string &terminator, Values operands, Attributes attributes,
              nb::tuple place) {
             require(builder.endRegion(
                         operationOf(terminator, std::move(operands), std::move(attributes), {}, 0, place)),
                     builder);
           })
      .def("abandon_region", &ProgramBuilder::abandonRegion)
      .def("drop_regions", &ProgramBuilder::dropRegions, nb::arg("count"))
      .def("create", create, nb::arg("name"), nb::arg("operands"), nb::arg("attributes"), nb::arg("types"),
           nb::arg("regions"), nb::arg("place"))
      .def("find_size",
           [](const ProgramBuilder &builder, uint32_t value, unsigned axis) {
             std::vector<BuilderSize> origins;
             nb::list found;
             if (builder.findSize(value, axis, origins))
               for (const BuilderSize &size : origins)
                 found.append(nb::make_tuple(size.number, size.argument, size.dimension));
             return found;
           })
      .def("get_type", &ProgramBuilder::getType)
      .def("get_text", &ProgramBuilder::getText, nb::arg("with_locations"));
}
