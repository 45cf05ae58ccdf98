// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The extension module: bindings of the runner's library. The Python package around it is the interface for
// users.
#include "Analysis.h"
#include "Arguments.h"
#include "Builder.h"
#include "Describe.h"
#include "DeviceTensors.h"
#include "Diff.h"
#include "Gil.h"
#include "Host.h"
#include "Trees.h"
#include "adjoint/Builder/LowerProgram.h"
#include "adjoint/Runner/ProgramFile.h"
#include "adjoint/Runner/StandardHooks.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/Printable.h"

#include "llvm/Support/ErrorHandling.h"

#include <cstring>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <new>

namespace nb = nanobind;
using namespace mlir::ad::runner;
using namespace adjoint_python;

namespace {

nb::object compile(nb::bytes source, const std::string &name, const ProgramOptions &options) {
  std::string_view text(source.c_str(), source.size());
  SignalWatch signals;
  Failure failure;
  std::unique_ptr<Program> program;
  {
    GilRelease release;
    program =
        Program::compile(text, name, options, standardHooks(), [&] { return signals.raised(); }, failure);
  }
  signals.rethrow();
  if (!program)
    return nb::cast(std::move(failure));
  return nb::cast(program.release(), nb::rv_policy::take_ownership);
}

nb::object loadFile(nb::bytes file, const std::string &name, std::optional<unsigned> threads) {
  Failure failure;
  std::unique_ptr<Program> program;
  {
    GilRelease release;
    program = Program::load({file.c_str(), file.size()}, name, threads, failure);
  }
  if (!program)
    return nb::cast(std::move(failure));
  return nb::cast(program.release(), nb::rv_policy::take_ownership);
}

/// Compiles the program to a file, with values of the arguments at `indices`.
nb::object writeFile(const Program &program, nb::bytes source, const std::string &name,
                     const ProgramOptions &options, const std::vector<size_t> &indices, nb::tuple values,
                     nb::callable prepare, const std::string &path) {
  std::vector<ProgramValue> specs;
  for (size_t index : indices) {
    specs.push_back(program.getInterface().arguments.at(index));
    specs.back().donatedTo = -1;
  }
  Arguments arguments(specs, values, prepare);
  std::vector<BoundArgument> bound;
  for (size_t index = 0; index < specs.size(); ++index)
    bound.push_back({specs[index].name, arguments.get()[index]});
  SignalWatch signals;
  Failure failure;
  bool done = false;
  {
    GilRelease release;
    done = writeProgram(
        {source.c_str(), source.size()}, name, options, bound, path, standardHooks(),
        [&] { return signals.raised(); }, failure);
  }
  signals.rethrow();
  return done ? nb::none() : nb::cast(std::move(failure));
}

/// The text of a program after passes, or the failure.
nb::object lowerText(nb::bytes source, const std::string &name, const std::string &pipeline) {
  Failure failure;
  std::string text;
  bool done = false;
  {
    GilRelease release;
    done = mlir::ad::lowerProgram({source.c_str(), source.size()}, name, pipeline, text, failure);
  }
  return done ? nb::cast(mlir::ad::printableLines(text)) : nb::cast(std::move(failure));
}

nb::list boundValues(const Program &program) {
  nb::list values;
  for (const BoundArgument &bound : program.getBound()) {
    const adrt_tensor &value = bound.value;
    int64_t bytes = adrt::byteSize(value.type, value.rank, value.shape);
    adrt::Buffer copy;
    if (!copy.reserve(bytes))
      throw std::bad_alloc();
    std::memcpy(copy.data(), value.data, static_cast<size_t>(bytes));
    values.append(nb::make_tuple(
        bound.name, makeArray(std::move(copy), static_cast<adrt_type>(value.type), value.shape, value.rank)));
  }
  return values;
}

// Smaller blocks cost no page faults.
constexpr int64_t recycledBytes = 64 * 1024;

nb::object arrayOf(const Program &program, size_t index, ProgramResult result) {
  std::function<void(adrt::Buffer)> recycle;
  if (result.data.capacity() >= recycledBytes)
    recycle = [give = program.getRecycler(), index](adrt::Buffer data) { give(index, std::move(data)); };
  return makeArray(std::move(result.data), result.type, result.shape.data(), result.shape.size(),
                   std::move(recycle));
}

/// A result on the device; one that has the memory of its donated argument shares it.
nb::object deviceTensorOf(const Program &program, size_t index, ProgramResult result,
                          const Arguments &arguments) {
  DeviceTensor tensor{std::move(result.onDevice), result.type, std::move(result.shape), false};
  for (size_t argument = 0; argument < arguments.size() && !tensor.block; ++argument)
    if (program.getInterface().arguments[argument].donatedTo == static_cast<int>(index))
      tensor.block = arguments.blockOf(argument);
  return nb::cast(std::move(tensor));
}

/// Results stay on the device if `keep` is true, or if an argument is a device array.
nb::object run(const Program &program, nb::tuple values, nb::callable prepare, nb::dict feeds,
               nb::dict receives, nb::tuple outs, nb::callable conflict, bool keep) {
  Arguments arguments(program.getInterface().arguments, values, prepare, program.getTarget());
  Outputs outputs(program.getInterface(), outs, arguments, conflict, keep || arguments.anyOnDevice());
  Host host(feeds, receives);
  std::vector<ProgramResult> results;
  Failure failure;
  bool done = false;
  if (arguments.anyOnDevice())
    arguments.takeDonated();
  {
    GilRelease release;
    done = program.run(arguments.get(), host.callbacks(), results, failure, outputs.get());
  }
  if (!done) {
    host.rethrow(failure.location.empty() ? "" : "in " + failure.operation + " at " + failure.location);
    return nb::cast(std::move(failure));
  }
  nb::list arrays;
  for (size_t index = 0; index < results.size(); ++index)
    arrays.append(results[index].onDevice || results[index].isDonated
                      ? deviceTensorOf(program, index, std::move(results[index]), arguments)
                  : results[index].data.data() ? arrayOf(program, index, std::move(results[index]))
                                               : outputs.arrayOf(index));
  return std::move(arrays);
}

/// For numbers that Python reads or rounds for us.
nb::object inOwnState(nb::callable function, nb::args arguments) { return function(*arguments); }

void bindOptions(nb::module_ &module) {
  nb::class_<ProgramOptions>(module, "Options")
      .def(nb::init<>())
      .def_rw("entry", &ProgramOptions::entry)
      .def_rw("target", &ProgramOptions::target)
      .def_rw("numerics", &ProgramOptions::numerics)
      .def_rw("precision", &ProgramOptions::precision)
      .def_rw("kernels", &ProgramOptions::kernels)
      .def_rw("cpu", &ProgramOptions::cpu)
      .def_rw("cache", &ProgramOptions::cache)
      .def_rw("threads", &ProgramOptions::threads)
      .def_rw("optimize", &ProgramOptions::optimize)
      .def_rw("allow_native", &ProgramOptions::allowNative);
}

void bindFailure(nb::module_ &module) {
  nb::class_<Failure>(module, "Failure")
      .def_prop_ro("reason", [](const Failure &failure) { return describe(failure.reason); })
      // Strings of Python are Unicode, and texts of files may be any bytes.
      .def_prop_ro("message",
                   [](const Failure &failure) { return mlir::ad::printableLines(failure.message); })
      .def_prop_ro("location", [](const Failure &failure) { return mlir::ad::printable(failure.location); })
      .def_prop_ro("operation", [](const Failure &failure) { return mlir::ad::printable(failure.operation); })
      .def_prop_ro("diagnostics", [](const Failure &failure) { return describe(failure.diagnostics); });
}

void bindProgram(nb::module_ &module) {
  nb::class_<Program>(module, "Program")
      .def("run", run, nb::arg("values"), nb::arg("prepare"), nb::arg("feeds"), nb::arg("receives"),
           nb::arg("outs"), nb::arg("conflict"), nb::arg("keep"))
      .def_prop_ro("interface", [](const Program &program) { return describe(program.getInterface()); })
      .def_prop_ro("numerics", &Program::getNumerics)
      .def_prop_ro("cpu", &Program::getCpu)
      .def_prop_ro("cache_use", &Program::getCacheUse)
      .def_prop_ro("target", &Program::getTarget)
      .def_prop_ro("bound", boundValues)
      .def_prop_ro("report", &Program::getReport)
      .def_prop_ro("messages", [](const Program &program) { return describe(program.getMessages()); });
}

} // namespace

NB_MODULE(_adjoint, module) {
  // Leak warnings help developers of these bindings only: a program may have globals when it ends.
  nb::set_leak_warnings(false);
  // LLVM would end the process. Python raises it as MemoryError.
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { throw std::bad_alloc(); });
  module.def("set_leak_warnings", nb::set_leak_warnings, nb::arg("value"));
  module.def("end_threads", endThreads);
  module.def("in_own_state", inOwnState, nb::call_guard<adrt::FloatingPointScope>());
  module.def("import_bits", importBits, nb::arg("capsule"));
  module.def("compile", compile, nb::arg("source"), nb::arg("name"), nb::arg("options"));
  module.def("load", loadFile, nb::arg("file"), nb::arg("name"), nb::arg("threads").none());
  module.def("write", writeFile, nb::arg("program"), nb::arg("source"), nb::arg("name"), nb::arg("options"),
             nb::arg("indices"), nb::arg("values"), nb::arg("prepare"), nb::arg("path"));
  module.def("lower", lowerText, nb::arg("source"), nb::arg("name"), nb::arg("pipeline"));
  bindOptions(module);
  bindFailure(module);
  bindProgram(module);
  bindDiff(module);
  bindAnalysis(module);
  bindBuilder(module);
  bindTrees(module);
  bindDeviceTensors(module);
}
