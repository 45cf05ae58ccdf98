// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the folder of a trace. It has another name until it is complete.
#include "Trace.h"
#include "../IO/OutputFolder.h"
#include "../IO/Outputs.h"
#include "RunFile.h"
#include "StageFiles.h"
#include "adjoint/Runner/Trace/ObservedRun.h"
#include "adjoint/Runner/Trace/ValueRecorder.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/OutputFile.h"
#include "adjoint/Support/TraceName.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

class TraceFolder final : public Tracer {
public:
  TraceFolder(const Options &options, StringRef program)
      : options(options), program(program.str()),
        recorder(this->program, [this](const ad::diff::Record &record,
                                       const adrt_tensor &value) { return keepTensor(record, value); }),
        observed(options.target, recorder) {}

  Error open() override;
  void parsed(ModuleOp module) override { stages->write(module, "parse"); }
  std::unique_ptr<PassInstrumentation> observePasses() override { return stages->observePasses(observed); }
  void keep(std::shared_ptr<void> program) override { observed.keep(std::move(program)); }
  Error start(const Signature &signature, Bindings &bindings, Executable &executable,
              const std::function<bool()> &interrupted) override;
  int32_t fed(const char *name, const adrt_tensor &value, std::string &error) override;
  int32_t received(const char *name, llvm::ArrayRef<adrt_tensor> values, std::string &error) override;
  Error finish(int32_t status, const adrt::ErrorRecord &error, llvm::ArrayRef<adrt_tensor> results,
               const Report &report) override;
  std::string getWarning() const override;

private:
  bool isReference() const { return options.target == Target::Reference; }
  std::string pathOf(StringRef file) const;
  /// The path of the file that holds a value, such as feeds/images.npy. Each key has one file in the folder,
  /// and no two keys share a file. Without a key, the name is the key.
  std::string fileOf(StringRef folder, StringRef name, StringRef key = "");
  Error saveArguments(const Bindings &bindings);
  Error append(StringRef folder, StringRef name, StringRef key, const adrt_tensor &value);
  Expected<std::string> keepTensor(const ad::diff::Record &record, const adrt_tensor &value);
  bool isWanted(const ad::diff::Record &record);
  Error writeRun(int32_t status, const adrt::ErrorRecord &error, const Report &report);
  Expected<std::vector<std::string>> listFiles() const;
  Error publish();

  const Options &options;
  std::string program;
  TemporaryPath temporary; // of the folder until it is complete
  std::unique_ptr<OutputFolder> folder;
  std::unique_ptr<StageFiles> stages;
  ValueRecorder recorder;
  ObservedRun observed;
  Signature signature;
  llvm::StringMap<std::string> files;
  llvm::StringSet<> usedFiles;
  llvm::StringSet<> foundNames; // of --trace-tensors
  llvm::StringMap<std::unique_ptr<NpyAppender>> appenders;
  uint64_t keptTensors = 0;
};

std::string TraceFolder::pathOf(StringRef file) const {
  llvm::SmallString<128> path(temporary.get());
  llvm::sys::path::append(path, file);
  return path.str().str();
}

std::string TraceFolder::fileOf(StringRef directory, StringRef name, StringRef key) {
  std::string &file = files[(directory + "/" + (key.empty() ? name : key)).str()];
  for (unsigned attempt = 1; file.empty(); ++attempt) {
    std::string unique = attempt == 1 ? name.str() : (name + "_" + Twine(attempt)).str();
    std::string candidate = (directory + "/" + npyFileName(unique)).str();
    if (usedFiles.insert(candidate).second)
      file = candidate;
  }
  return file;
}

Error TraceFolder::open() {
  if (llvm::sys::fs::exists(options.trace))
    return usageError("a trace makes a new folder, and '" + options.trace +
                      "' exists; remove it or name another");
  std::string model = StringRef(options.trace).rtrim('/').str() + ".partial-XXXXXX";
  temporary = TemporaryPath([&] { return std::string(mkdtemp(model.data()) ? model : ""); });
  const std::string &path = temporary.get();
  if (path.empty())
    return systemError("cannot make folder", options.trace);
  if (Error error = OutputFolder::open(path).moveInto(folder))
    return error;
  if (Error error = folder->begin())
    return error;
  observed.setFolder(path);
  for (StringRef name : {"inputs", "feeds", "outputs", "received"})
    if (std::error_code code = llvm::sys::fs::create_directory(pathOf(name)))
      return usageError("cannot make folder '" + pathOf(name) + "': " + code.message());
  stages = std::make_unique<StageFiles>(path, llvm::sys::path::stem(programFileName(options)).str(), program);
  if (Error error = copyOptionFiles(options, path))
    return error;
  return writeFile(pathOf(programFileName(options)), {program});
}

Error TraceFolder::saveArguments(const Bindings &given) {
  for (auto [spec, argument] : llvm::zip(signature.arguments, given.arguments)) {
    recorder.addArgument(spec.name, argument.view());
    if (Error error = writeNpy(pathOf(fileOf("inputs", spec.name)), argument.view()))
      return error;
  }
  return recorder.takeError();
}

Error TraceFolder::start(const Signature &newSignature, Bindings &bindings, Executable &executable,
                         const std::function<bool()> &interrupted) {
  signature = newSignature;
  if (Error error = stages->takeError())
    return error;
  recorder.setRecomputed(!isReference());
  if (Error error = observed.start(newSignature, bindings, executable, interrupted))
    return error;
  return saveArguments(bindings);
}

Error TraceFolder::append(StringRef directory, StringRef name, StringRef key, const adrt_tensor &value) {
  std::string file = fileOf(directory, name, key);
  std::unique_ptr<NpyAppender> &appender = appenders[file];
  if (!appender) {
    Expected<std::unique_ptr<NpyAppender>> created = NpyAppender::create(
        pathOf(file), static_cast<adrt_type>(value.type), {value.shape, size_t(value.rank)});
    if (!created)
      return created.takeError();
    appender = std::move(*created);
  }
  return appender->append(value);
}

int32_t TraceFolder::fed(const char *name, const adrt_tensor &value, std::string &error) {
  error = consumeExitError(append("feeds", name, name, value)).second;
  return error.empty() ? ADRT_OK : ADRT_HOST_ERROR;
}

int32_t TraceFolder::received(const char *name, llvm::ArrayRef<adrt_tensor> values, std::string &error) {
  if (name == ad::kTraceName)
    return observed.received(name, values, error);
  for (auto [index, value] : llvm::enumerate(values)) {
    // A stream may have the name a.1 itself.
    std::string number = values.size() == 1 ? "" : std::to_string(index);
    std::string full = number.empty() ? name : name + ("." + number), key = name + ("\t" + number);
    error = consumeExitError(append("received", full, key, value)).second;
    if (!error.empty())
      return ADRT_HOST_ERROR;
  }
  return ADRT_OK;
}

bool TraceFolder::isWanted(const ad::diff::Record &record) {
  if (options.traceTensors.empty())
    return false;
  bool isWanted = false;
  StringRef name = record.name, plain = name.split('(').first;
  for (StringRef wanted : llvm::split(options.traceTensors, ','))
    if (wanted == "all" || wanted == name || wanted == plain || wanted == record.op ||
        ("%" + wanted).str() == plain) {
      foundNames.insert(wanted);
      isWanted = true;
    }
  return isWanted;
}

std::string TraceFolder::getWarning() const {
  std::string lacking;
  for (StringRef wanted : llvm::split(options.traceTensors, ','))
    if (!wanted.empty() && wanted != "all" && !foundNames.contains(wanted))
      lacking += (lacking.empty() ? "'" : ", '") + wanted.str() + "'";
  if (lacking.empty())
    return lacking;
  return "no value and no operation of the run is named " + lacking + "; records.tsv in '" + options.trace +
         "' lists the names";
}

Expected<std::string> TraceFolder::keepTensor(const ad::diff::Record &record, const adrt_tensor &value) {
  if (!isWanted(record))
    return std::string();
  if (keptTensors == 0)
    if (std::error_code code = llvm::sys::fs::create_directory(pathOf("values")))
      return usageError("cannot make folder '" + pathOf("values") + "': " + code.message());
  std::string file = "values/" + std::to_string(keptTensors++) + ".npy";
  if (Error error = writeNpy(pathOf(file), value))
    return std::move(error);
  return file;
}

Error TraceFolder::writeRun(int32_t status, const adrt::ErrorRecord &error, const Report &report) {
  std::vector<ad::diff::Record> records = recorder.takeRecords();
  auto named = [&](StringRef directory, llvm::ArrayRef<TensorSpec> specs,
                   llvm::ArrayRef<Assignment> sources) {
    return valuesToJSON(specs, sources, [&](StringRef name) { return fileOf(directory, name); });
  };
  llvm::json::Object object = runToJSON(options, report);
  object["status"] = status == ADRT_OK ? "done" : "failed";
  if (status != ADRT_OK)
    object["error"] = error.location + (error.location.empty() ? "" : ": ") + error.message;
  object["stages"] = stages->toJSON();
  object["inputs"] = named("inputs", signature.arguments, options.arguments);
  object["feeds"] = valuesToJSON(signature.feeds, options.feeds, [&](StringRef name) {
    std::string file = fileOf("feeds", name);
    return llvm::sys::fs::exists(pathOf(file)) ? file : ""; // one that was not read has none
  });
  object["outputs"] = named("outputs", signature.results, {});
  object["records"] = static_cast<int64_t>(records.size());
  object["kept_tensors"] = static_cast<int64_t>(keptTensors);
  object["kernel_results_unlike_reference"] = static_cast<int64_t>(observed.countDifferent());
  if (Error failure = writeFile(pathOf("records.tsv"), {ad::diff::formatRecords(records)}))
    return failure;
  return writeFile(pathOf(kRunFile), {ad::jsonText(std::move(object))});
}

// If the name was taken meanwhile, the trace stays where it is.
Error TraceFolder::publish() {
  if (temporary.moveTo(options.trace))
    return Error::success();
  std::string reason = llvm::sys::StrError();
  return usageError("cannot make folder '" + options.trace + "': " + reason + "; the trace is in '" +
                    temporary.keep() + "'");
}

// Names of all files below the folder.
Expected<std::vector<std::string>> TraceFolder::listFiles() const {
  std::vector<std::string> names;
  std::error_code code;
  llvm::sys::fs::recursive_directory_iterator file(temporary.get(), code), end;
  for (; file != end && !code; file.increment(code)) {
    StringRef name = file->path();
    name.consume_front(temporary.get() + "/");
    if (file->type() == llvm::sys::fs::file_type::regular_file && name != kManifest)
      names.push_back(name.str());
  }
  if (code)
    return usageError("cannot read folder '" + temporary.get() + "': " + code.message());
  return names;
}

// A trace of a program that failed has the values until then; one of an interrupted program is dropped.
Error TraceFolder::finish(int32_t status, const adrt::ErrorRecord &error, llvm::ArrayRef<adrt_tensor> results,
                          const Report &report) {
  if (status == ADRT_INTERRUPTED)
    return Error::success();
  Error unfinished = observed.finish(status, error, results, report);
  // What could not be written is why the observation ended, too.
  if (Error failure = recorder.takeError()) {
    llvm::consumeError(std::move(unfinished));
    return failure;
  }
  if (unfinished)
    return unfinished;
  for (auto [spec, result] : llvm::zip(signature.results, results)) {
    recorder.addResult(spec.name, result);
    if (Error failure = writeNpy(pathOf(fileOf("outputs", spec.name)), result))
      return failure;
  }
  for (auto &appender : appenders)
    if (Error failure = appender.second->flush())
      return failure;
  if (Error failure = recorder.takeError())
    return failure;
  if (Error failure = stages->takeError())
    return failure;
  if (Error failure = writeRun(status, error, report))
    return failure;
  Expected<std::vector<std::string>> names = listFiles();
  if (!names)
    return names.takeError();
  if (Error failure = folder->finish(std::move(*names)))
    return failure;
  return publish();
}

} // namespace

std::unique_ptr<Tracer> mlir::ad::runner::makeTracer(const Options &options, StringRef program) {
  return std::make_unique<TraceFolder>(options, program);
}
