// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Output files and printed values of programs.
#include "Outputs.h"
#include "OutputFolder.h"
#include "Print.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

std::string valueName(StringRef name, int32_t index, int32_t count) {
  return count == 1 ? name.str() : (name + "." + llvm::Twine(index)).str();
}

Error refuseSharedFile(StringRef path, const Options &options) {
  for (auto [option, other] :
       {std::pair("--report", &options.report), std::pair("--numerics-report", &options.numericsReport),
        std::pair("--dump-optimized", &options.dumpOptimized), std::pair("--dump-plan", &options.dumpPlan),
        std::pair("--list-rewrites", &options.listRewrites)})
    if (!other->empty() && *other != kStandardOutput && isSameFile(path, *other))
      return usageError("--out-dir and " + llvm::Twine(option) + " would both write '" + path +
                        "'; name two files");
  return Error::success();
}

/// The file must be writable and differ from all other outputs. It may be the source of an argument, which
/// has been read by then: so a run can continue from the results of an earlier run.
Error checkFile(StringRef path, const Options &options) {
  if (Error error = refuseSharedFile(path, options))
    return error;
  if (Expected<std::string> regular = findRegularFile(path); !regular)
    return regular.takeError();
  return checkWritable(path);
}

} // namespace

std::string mlir::ad::runner::npyFileName(StringRef name) {
  std::string file;
  for (char character : name)
    file += llvm::isAlnum(character) || StringRef("_-.+").contains(character) ? character : '_';
  if (file.empty() || file.front() == '.')
    file.insert(file.begin(), '_');
  constexpr size_t maxLength = 200;
  file.resize(std::min(file.size(), maxLength));
  return file + ".npy";
}

Error Outputs::assignFiles() {
  llvm::StringMap<std::string> owners; // by file name
  auto assign = [&](StringRef kind, StringRef name) -> Error {
    std::string file = npyFileName(name), owner = (kind + " '" + name + "'").str();
    auto [other, isNew] = owners.try_emplace(file, owner);
    if (!isNew)
      return usageError(other->second + " and " + owner + " would both be written to " + file +
                        ", give one of them another name");
    llvm::SmallString<128> path(directory);
    llvm::sys::path::append(path, file);
    files[(kind + ":" + name).str()] = path.str().str();
    return Error::success();
  };
  for (const TensorSpec &result : signature.results)
    if (Error error = assign("result", result.name))
      return error;
  for (const ReceiveSpec &receive : signature.receives)
    for (const TensorSpec &value : receive.values)
      if (Error error = assign("receive", value.name))
        return error;
  return Error::success();
}

Outputs::Outputs(const Signature &signature, const Options &options, llvm::raw_fd_ostream &os)
    : signature(signature), os(os), directory(options.outDir), print(options.print) {}

Outputs::~Outputs() = default;

Expected<std::unique_ptr<Outputs>> Outputs::create(const Signature &signature, const Options &options,
                                                   llvm::raw_fd_ostream &os) {
  std::unique_ptr<Outputs> outputs(new Outputs(signature, options, os));
  if (options.outDir.empty())
    return std::move(outputs);
  if (Error error = OutputFolder::open(options.outDir).moveInto(outputs->folder))
    return std::move(error);
  if (Error error = outputs->assignFiles())
    return std::move(error);
  for (const auto &file : outputs->files)
    if (Error error = checkFile(file.second, options))
      return std::move(error);
  llvm::SmallString<128> manifest(options.outDir);
  llvm::sys::path::append(manifest, kManifest);
  if (Error error = refuseSharedFile(manifest, options))
    return std::move(error);
  if (Error error = outputs->folder->begin())
    return std::move(error);
  return std::move(outputs);
}

Error Outputs::append(StringRef name, const adrt_tensor &value) {
  std::unique_ptr<NpyAppender> &appender = appenders[name];
  if (!appender) {
    auto path = files.find(("receive:" + name).str());
    if (path == files.end())
      return usageError("the program receives '" + name + "', which its signature lacks");
    if (Error error = folder->requireInPlace())
      return error;
    Expected<std::unique_ptr<NpyAppender>> created = NpyAppender::create(
        path->second, static_cast<adrt_type>(value.type), {value.shape, size_t(value.rank)});
    if (!created)
      return created.takeError();
    appender = std::move(*created);
  }
  return appender->append(value);
}

int32_t Outputs::receive(const char *name, const adrt_tensor *values, int32_t count, std::string &error) {
  if (!recording)
    return ADRT_OK;
  for (int32_t index = 0; index < count; ++index) {
    std::string full = valueName(name, index, count);
    if (print)
      printTensor(os, full, values[index]);
    if (directory.empty())
      continue;
    if (Error failure = append(full, values[index])) {
      error = consumeExitError(std::move(failure)).second;
      return ADRT_HOST_ERROR;
    }
  }
  if (!print)
    return ADRT_OK;
  os.flush();
  if (!os.has_error())
    return ADRT_OK;
  // The program stops: its further output would be lost.
  error = "cannot write the output: " + os.error().message();
  os.clear_error();
  return ADRT_HOST_ERROR;
}

Error Outputs::finish(llvm::ArrayRef<adrt_tensor> results) {
  if (folder)
    if (Error error = folder->requireInPlace())
      return error;
  for (auto [spec, result] : llvm::zip(signature.results, results)) {
    if (print)
      printTensor(os, spec.name, result);
    if (directory.empty())
      continue;
    if (Error error = writeNpy(files["result:" + spec.name], result))
      return error;
  }
  return Error::success();
}

Error Outputs::complete() {
  if (!folder)
    return Error::success();
  std::vector<std::string> names;
  for (const auto &file : files) {
    StringRef owner = file.first();
    if (owner.starts_with("result:") || (owner.consume_front("receive:") && appenders.contains(owner)))
      names.push_back(llvm::sys::path::filename(file.second).str());
  }
  return folder->finish(std::move(names));
}

Error Outputs::flush() {
  Error failure = Error::success();
  for (auto &appender : appenders)
    if (appender.second)
      failure = llvm::joinErrors(std::move(failure), appender.second->flush());
  return failure;
}
