// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Bindings of Runner/Analysis.h and of the comparison of traces. Each function returns a Failure if it fails.
#include "Analysis.h"
#include "Arguments.h"
#include "Describe.h"
#include "Gil.h"
#include "Host.h"
#include "adjoint/Diff/Record.h"
#include "adjoint/Runner/Analysis.h"
#include "adjoint/Runner/StandardHooks.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/FolderFile.h"
#include "adjoint/Support/Printable.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
namespace ad = mlir::ad;
namespace diff = mlir::ad::diff;
using namespace mlir::ad::runner;
using namespace adjoint_python;

namespace {

/// A program and the inputs of one run, as Python gives them.
struct CallInputs {
  nb::bytes source;
  std::string name;
  ProgramOptions options;
  nb::tuple values;
  nb::callable prepare;
  nb::dict feeds, receives;
};

/// Calls `body` without the GIL. It gets a call of a program and returns whether it succeeded. None if it
/// did, else the failure; exceptions of feeds, receivers and signal handlers are raised.
template <typename Body> nb::object runCall(const Program &program, const CallInputs &inputs, Body body) {
  // No argument is overwritten.
  std::vector<ProgramValue> specs = program.getInterface().arguments;
  for (ProgramValue &spec : specs)
    spec.donatedTo = -1;
  Arguments arguments(specs, inputs.values, inputs.prepare);
  Host host(inputs.feeds, inputs.receives);
  ProgramCall call{{inputs.source.c_str(), inputs.source.size()},
                   inputs.name,
                   inputs.options,
                   arguments.get(),
                   host.callbacks()};
  Failure failure;
  bool done = false;
  {
    GilRelease release;
    done = body(call, failure);
  }
  if (done)
    return nb::none();
  host.rethrow(failure.location.empty() ? "" : "in " + failure.operation + " at " + failure.location);
  return nb::cast(std::move(failure));
}

nb::list arraysOf(std::vector<ProgramResult> results) {
  nb::list arrays;
  for (ProgramResult &result : results)
    arrays.append(makeArray(std::move(result.data), result.type, result.shape.data(), result.shape.size()));
  return arrays;
}

nb::object trace(const Program &program, const CallInputs &inputs, const std::string &folder,
                 const std::string &tensors) {
  std::vector<ProgramResult> results;
  std::string warning;
  nb::object failure = runCall(program, inputs, [&](const ProgramCall &call, Failure &reason) {
    return traceRun(call, {folder, tensors}, standardHooks(), results, warning, reason);
  });
  return failure.is_none() ? nb::make_tuple(arraysOf(std::move(results)), warning) : failure;
}

nb::tuple describe(const Analysis &analysis) {
  return nb::make_tuple(analysis.text, analysis.json, analysis.warnings);
}

nb::object nonFinites(const Program &program, const CallInputs &inputs) {
  Analysis analysis;
  nb::object failure = runCall(program, inputs, [&](const ProgramCall &call, Failure &reason) {
    return findNonFinites(call, standardHooks(), analysis, reason);
  });
  return nb::make_tuple(failure, analysis.json.empty() ? nb::object(nb::none()) : describe(analysis));
}

nb::object shadow(const Program &program, const CallInputs &inputs, unsigned samples, uint64_t seed,
                  const std::string &bound) {
  Analysis analysis;
  nb::object failure = runCall(program, inputs, [&](const ProgramCall &call, Failure &reason) {
    return measureErrors(call, samples, seed, bound, standardHooks(), analysis, reason);
  });
  return failure.is_none() ? describe(analysis) : failure;
}

nb::object precision(const Program &program, const CallInputs &inputs, const std::string &policy,
                     const std::string &bound) {
  Analysis analysis;
  nb::object failure = runCall(program, inputs, [&](const ProgramCall &call, Failure &reason) {
    return searchPrecision(call, policy, bound, standardHooks(), analysis, reason);
  });
  return failure.is_none() ? describe(analysis) : failure;
}

nb::object replay(const std::string &folder, const std::string &target, std::optional<unsigned> threads) {
  Host host({}, {});
  Replay found;
  Failure failure;
  bool done = false;
  {
    GilRelease release;
    ProgramHost callbacks;
    callbacks.interrupted = host.callbacks().interrupted;
    done = replayRun({folder, target, threads}, standardHooks(), callbacks, found, failure);
  }
  if (!done) {
    host.rethrow("");
    return nb::cast(std::move(failure));
  }
  return nb::make_tuple(adjoint_python::describe(found.interface), found.target, found.numerics,
                        arraysOf(std::move(found.results)), found.different);
}

nb::object runs(const std::string &left, const std::string &right, const std::string &bound) {
  Failure failure;
  Analysis analysis;
  bool done = false;
  {
    GilRelease release;
    done = compareTraces(left, right, bound, analysis, failure);
  }
  return done ? describe(analysis) : nb::cast(std::move(failure));
}

nb::object shapeOf(const diff::Record &record) {
  if (!record.shape)
    return nb::none();
  nb::list sizes;
  for (const diff::Dim &dim : *record.shape)
    sizes.append(dim.symbol.empty() ? nb::object(nb::int_(dim.size))
                                    : nb::object(nb::str(ad::printable(dim.symbol).c_str())));
  return nb::tuple(sizes);
}

nb::object records(const std::string &path) {
  Failure failure;
  llvm::Expected<std::vector<diff::Record>> found = diff::readRecords(path);
  if (!found) {
    failure.reason = Failure::Reason::Options;
    failure.message = llvm::toString(found.takeError());
    return nb::cast(std::move(failure));
  }
  nb::list rows;
  for (const diff::Record &record : *found)
    rows.append(nb::make_tuple(record.kind, record.dtype, shapeOf(record), ad::printable(record.summary),
                               ad::printable(record.op), ad::printable(record.name), record.value,
                               ad::printable(record.hash), ad::printable(record.location), record.run,
                               ad::printable(record.origin)));
  return std::move(rows);
}

nb::object fileInFolder(const std::string &folder, const std::string &name) {
  llvm::Expected<std::string> path = ad::fileInFolder(folder, name);
  if (path)
    return nb::cast(*path);
  Failure failure;
  failure.reason = Failure::Reason::File;
  failure.message = llvm::toString(path.takeError());
  return nb::cast(std::move(failure));
}

} // namespace

void adjoint_python::bindAnalysis(nb::module_ &module) {
  nb::class_<CallInputs>(module, "CallInputs")
      .def(
          "__init__",
          [](CallInputs *inputs, nb::bytes source, std::string name, const ProgramOptions &options,
             nb::tuple values, nb::callable prepare, nb::dict feeds, nb::dict receives) {
            new (inputs) CallInputs{source, std::move(name), options, values, prepare, feeds, receives};
          },
          nb::arg("source"), nb::arg("name"), nb::arg("options"), nb::arg("values"), nb::arg("prepare"),
          nb::arg("feeds"), nb::arg("receives"));
  module.def("trace", trace, nb::arg("program"), nb::arg("inputs"), nb::arg("folder"), nb::arg("tensors"));
  module.def("replay", replay, nb::arg("folder"), nb::arg("target"), nb::arg("threads").none());
  module.def("runs", runs, nb::arg("left"), nb::arg("right"), nb::arg("bound"));
  module.def("file_in_folder", fileInFolder, nb::arg("folder"), nb::arg("name"));
  module.def("records", records, nb::call_guard<adrt::FloatingPointScope>(), nb::arg("path"));
  module.def("find_nonfinite", nonFinites, nb::arg("program"), nb::arg("inputs"));
  module.def("precision", precision, nb::arg("program"), nb::arg("inputs"), nb::arg("policy"),
             nb::arg("bound"));
  module.def("shadow", shadow, nb::arg("program"), nb::arg("inputs"), nb::arg("samples"), nb::arg("seed"),
             nb::arg("bound"));
}
