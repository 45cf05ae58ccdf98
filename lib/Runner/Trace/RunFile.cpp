// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the options of a run so that another machine can repeat it: no path leaves the folder.
#include "RunFile.h"
#include "adjoint/Runner/Session/Compile.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::StringRef;

namespace {

constexpr llvm::StringLiteral policyFile("precision.yaml");

bool hasPolicyFile(const Options &options) { return StringRef(options.precision).ends_with(".yaml"); }

std::string numericsText(const Options &options) {
  std::string text = options.numericsMode;
  for (const std::string &permission : options.numericsPermissions)
    text += "," + permission;
  return text;
}

/// The source without the folder of a file.
std::string shortSource(StringRef source) {
  auto [file, cycle] = source.split(',');
  std::string ending = cycle.empty() ? "" : ("," + cycle).str();
  return file.ends_with(".npy") ? llvm::sys::path::filename(file).str() + ending : source.str();
}

llvm::json::Object optionsToJSON(const Options &options) {
  static constexpr StringRef schedules[] = {"eager", "lazy", "shuffled"};
  return llvm::json::Object{{"entry", options.entry},
                            {"target", targetName(options.target)},
                            {"numerics", numericsText(options)},
                            {"precision", hasPolicyFile(options) ? policyFile.str() : options.precision},
                            {"kernels", options.kernels},
                            {"missing_kernels", options.missingKernels},
                            {"optimize", options.optimize},
                            {"fuse", options.fuse},
                            {"tiles", options.tiles},
                            {"tile", options.tile},
                            {"cpu", options.cpu},
                            {"chip", options.chip},
                            {"threads", options.threads},
                            {"schedule", schedules[static_cast<size_t>(options.emulation.schedule)]},
                            {"seed", static_cast<int64_t>(options.emulation.seed)},
                            {"sm_count", options.emulation.smCount},
                            {"replay", options.replay}};
}

} // namespace

std::string mlir::ad::runner::programFileName(const Options &options) {
  return options.input == kStandardOutput ? "program.mlir" : llvm::sys::path::filename(options.input).str();
}

Error mlir::ad::runner::copyPolicy(const Options &options, StringRef folder) {
  if (!hasPolicyFile(options))
    return Error::success();
  auto text = llvm::MemoryBuffer::getFile(options.precision);
  if (!text)
    return usageError("cannot read '" + options.precision + "': " + text.getError().message());
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, policyFile);
  return writeFile(path, {(*text)->getBuffer()});
}

llvm::json::Object mlir::ad::runner::runToJSON(const Options &options, const Report &report) {
  return llvm::json::Object{
      {"format", 1},
      {"versions", llvm::json::Object{{"adjoint", ADJOINT_VERSION}, {"llvm", LLVM_VERSION_STRING}}},
      {"program", programFileName(options)},
      {"options", optionsToJSON(options)},
      {"numerics", report.numerics},
      {"cpu", report.cpu.empty() ? hostCpu().cpu : report.cpu},
      {"threads", report.threads}};
}

llvm::json::Array mlir::ad::runner::valuesToJSON(llvm::ArrayRef<TensorSpec> specs,
                                                 llvm::ArrayRef<Assignment> sources,
                                                 const std::function<std::string(StringRef)> &fileOf) {
  llvm::json::Array array;
  for (const TensorSpec &spec : specs) {
    llvm::json::Object object{{"name", spec.name}, {"type", formatType(spec)}, {"file", fileOf(spec.name)}};
    for (const Assignment &source : sources)
      if (StringRef(source.name + "=" + source.value).starts_with(spec.name + "="))
        object["source"] =
            shortSource(StringRef(source.name + "=" + source.value).substr(spec.name.size() + 1));
    array.push_back(std::move(object));
  }
  return array;
}
