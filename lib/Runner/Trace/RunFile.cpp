// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the options of a run so that another machine can repeat it: no path leaves the folder.
#include "RunFile.h"
#include "../Session/Replay.h"
#include "adjoint/Runner/Compile/Compile.h"
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
constexpr llvm::StringLiteral rewritesOnlyFile("rewrites-only.tsv"),
    rewritesExceptFile("rewrites-except.tsv");

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
  return llvm::json::Object{
      {"entry", options.entry},
      {"target", targetName(options.target)},
      {"numerics", numericsText(options)},
      {"precision", hasPolicyFile(options) ? policyFile.str() : options.precision},
      {"kernels", options.kernels},
      {"rewrites_only", options.rewritesOnly.empty() ? "" : rewritesOnlyFile.str()},
      {"rewrites_except", options.rewritesExcept.empty() ? "" : rewritesExceptFile.str()},
      {"missing_kernels", options.missingKernels},
      {"optimize", options.optimize},
      {"fuse", options.fuse},
      {"tiles", options.tiles},
      {"tile", options.tile},
      {"cpu", options.cpu},
      {"chip", options.chip},
      {"threads", options.threads},
      {"schedule", adsim::kScheduleNames[static_cast<size_t>(options.emulation.schedule)]},
      {"seed", static_cast<int64_t>(options.emulation.seed)},
      {"sm_count", options.emulation.smCount},
      {"replay", options.replay}};
}

} // namespace

std::string mlir::ad::runner::programFileName(const Options &options) {
  if (options.input == kStandardOutput)
    return "program.mlir";
  // Nothing else in a trace ends so, but its stages, which have longer names.
  StringRef name = llvm::sys::path::filename(options.input);
  return name.ends_with(".mlir") || name.ends_with(".mlirbc") ? name.str() : (name + ".mlir").str();
}

static Error copyInto(StringRef folder, StringRef name, StringRef source,
                      llvm::function_ref<std::string(StringRef)> change = nullptr) {
  auto text = llvm::MemoryBuffer::getFile(source);
  if (!text)
    return usageError("cannot read '" + source + "': " + text.getError().message());
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::string changed = change ? change((*text)->getBuffer()) : (*text)->getBuffer().str();
  return writeFile(path, {StringRef(changed)});
}

Error mlir::ad::runner::copyOptionFiles(const Options &options, StringRef folder) {
  if (hasPolicyFile(options))
    if (Error error = copyInto(folder, policyFile, options.precision))
      return error;
  auto move = [&](StringRef rewrites) {
    return moveRewrites(rewrites, options.input, programFileName(options));
  };
  if (!options.rewritesOnly.empty())
    return copyInto(folder, rewritesOnlyFile, options.rewritesOnly, move);
  if (!options.rewritesExcept.empty())
    return copyInto(folder, rewritesExceptFile, options.rewritesExcept, move);
  return Error::success();
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
