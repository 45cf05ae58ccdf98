// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The content of the sections. The description is that of a cached program, with the required CPU and the
// weights.
#include "Adx.h"
#include "AdxFile.h"
#include "adjoint/Runtime/Cuda/CudaDevice.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/JSONText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <cstring>

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace json = llvm::json;

namespace {

constexpr llvm::StringLiteral descriptionName("description"), hostName("host"), deviceName("device"),
    weightsName("weights");
constexpr int64_t weightAlignment = 64;

int64_t alignWeight(int64_t offset) {
  return (offset + weightAlignment - 1) / weightAlignment * weightAlignment;
}

json::Value describe(const AdxProgram &adx) {
  json::Array weights;
  for (const Weight &weight : adx.weights)
    weights.push_back(json::Object{{"name", weight.name}, {"shape", json::Array(weight.value.getShape())}});
  return json::Object{{"producer", adx.producer},
                      {"machine", adx.host.machine},
                      {"features", json::Array(adx.host.features)},
                      {"program", adx.program},
                      {"weights", std::move(weights)}};
}

Error malformed(const llvm::Twine &what) { return usageError("the file is malformed: " + what); }

Expected<StringRef> findSection(llvm::ArrayRef<AdxSection> sections, StringRef name) {
  for (const AdxSection &section : sections)
    if (section.name == name)
      return section.content;
  return malformed("it has no section '" + name + "'");
}

/// Each section is there once, in the order of the format.
Error checkSections(llvm::ArrayRef<AdxSection> sections, llvm::ArrayRef<StringRef> names) {
  for (auto [index, section] : llvm::enumerate(sections)) {
    StringRef expected = index < names.size() ? names[index] : StringRef();
    if (section.name != expected)
      return malformed("section " + llvm::Twine(index) + " is '" + section.name + "', expected " +
                       (expected.empty() ? "no further section" : "'" + expected.str() + "'"));
  }
  return Error::success();
}

bool isShape(llvm::ArrayRef<int64_t> shape) {
  return llvm::all_of(shape, [](int64_t size) { return size >= 0 || size == dynamicSize; });
}

/// The code does not state how many results it has: a run finds out (CompiledExecutable).
Error checkSignature(const Signature &signature) {
  for (const TensorSpec &argument : signature.arguments)
    if (argument.donated && (*argument.donated < 0 || size_t(*argument.donated) >= signature.results.size()))
      return malformed("argument '" + argument.name + "' is donated to result " +
                       llvm::Twine(*argument.donated) + " of " + llvm::Twine(signature.results.size()));
  for (const TensorSpec &spec :
       llvm::concat<const TensorSpec>(signature.arguments, signature.results, signature.feeds))
    if (!isShape(spec.shape))
      return malformed("'" + spec.name + "' has a negative size");
  return Error::success();
}

/// A weight of the description. It has the type of its argument and a shape that fits.
Expected<Weight> readWeight(const json::Value &value, const Signature &signature, StringRef data,
                            int64_t &position) {
  json::Path::Root root;
  json::ObjectMapper mapper(value, root);
  Weight weight;
  std::vector<int64_t> shape;
  if (!mapper || !mapper.map("name", weight.name) || !mapper.map("shape", shape))
    return malformed("a weight has no name or no shape");
  auto spec = llvm::find_if(signature.arguments, [&](const TensorSpec &s) { return s.name == weight.name; });
  if (spec == signature.arguments.end() || !shapeFits(shape, spec->shape))
    return malformed("weight '" + weight.name + "' fits no argument");
  int64_t bytes = adrt::byteSize(spec->type, static_cast<int32_t>(shape.size()), shape.data());
  position = alignWeight(position);
  int64_t size = static_cast<int64_t>(data.size());
  if (bytes < 0 || position > size || bytes > size - position)
    return malformed("weight '" + weight.name + "' is outside of its section");
  Expected<Tensor> tensor = Tensor::create(spec->type, shape);
  if (!tensor)
    return tensor.takeError();
  std::memcpy(tensor->getData(), data.data() + position, static_cast<size_t>(bytes));
  position += bytes;
  weight.value = std::move(*tensor);
  return std::move(weight);
}

Error readWeights(const json::Value &description, StringRef data, AdxProgram &adx) {
  const json::Array *weights = description.getAsObject()->getArray("weights");
  if (!weights)
    return malformed("its description has no weights");
  int64_t position = 0;
  for (const json::Value &value : *weights) {
    Expected<Weight> weight = readWeight(value, adx.program.signature, data, position);
    if (!weight)
      return weight.takeError();
    adx.weights.push_back(std::move(*weight));
  }
  return Error::success();
}

} // namespace

std::string mlir::ad::runner::descriptionSymbol(const CompiledProgram &program) {
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(program);
  llvm::SHA256 hasher;
  hasher.update(text);
  return "adrt_description_" + llvm::toHex(hasher.final(), /*LowerCase=*/true);
}

Error mlir::ad::runner::writeAdx(StringRef path, const AdxProgram &adx) {
  std::string description = llvm::formatv("{0:2}\n", describe(adx)).str(), weights;
  for (const Weight &weight : adx.weights) {
    weights.resize(static_cast<size_t>(alignWeight(static_cast<int64_t>(weights.size()))), '\0');
    weights.append(weight.value.getData(), static_cast<size_t>(weight.value.getByteSize()));
  }
  return writeAdxFile(path, {{descriptionName, description},
                             {hostName, adx.program.objects.front()},
                             {deviceName, adx.program.image},
                             {weightsName, weights}});
}

Expected<AdxProgram> mlir::ad::runner::readAdxSections(llvm::ArrayRef<AdxSection> sections) {
  const StringRef names[] = {descriptionName, hostName, deviceName, weightsName};
  llvm::SmallVector<StringRef, 4> contents;
  for (StringRef name : names) {
    Expected<StringRef> content = findSection(sections, name);
    if (!content)
      return content.takeError();
    contents.push_back(*content);
  }
  if (Error error = checkSections(sections, names))
    return std::move(error);
  Expected<json::Value> description = mlir::ad::parseJSON(contents[0]);
  if (!description)
    return malformed("its description is no JSON: " + llvm::toString(description.takeError()));
  AdxProgram adx;
  json::Path::Root root("description");
  json::ObjectMapper mapper(*description, root);
  if (!mapper || !mapper.map("producer", adx.producer) || !mapper.map("machine", adx.host.machine) ||
      !mapper.map("features", adx.host.features) || !mapper.map("program", adx.program))
    return malformed(llvm::toString(root.getError()));
  if (Error error = checkSignature(adx.program.signature))
    return std::move(error);
  adx.program.objects.push_back(contents[1].str());
  adx.program.image = contents[2].str();
  if (Error error = readWeights(*description, contents[3], adx))
    return std::move(error);
  return std::move(adx);
}

std::string mlir::ad::runner::targetOf(const CompiledProgram &program) {
  return program.device.empty() ? targetName(Target::Cpu).str() : program.device;
}

Error mlir::ad::runner::checkDevice(const CompiledProgram &program) {
  if (program.device == targetName(Target::Cuda))
    if (std::string problem = adrt::findCudaProblem(); !problem.empty())
      return exitError(ExitNoTarget, "target 'cuda' is not available: " + problem);
  return Error::success();
}

Expected<AdxProgram> mlir::ad::runner::readAdx(StringRef bytes) {
  Expected<std::vector<AdxSection>> sections = openAdx(bytes);
  if (!sections)
    return sections.takeError();
  Expected<AdxProgram> adx = readAdxSections(*sections);
  if (adx)
    if (Error error = checkHost(adx->host))
      return std::move(error);
  return adx;
}

std::string mlir::ad::runner::hostMachine() {
  return llvm::Triple(llvm::sys::getProcessTriple()).getArchName().str();
}

Error mlir::ad::runner::checkHost(const HostRequirement &host) {
  std::string machine = hostMachine();
  if (host.machine != machine)
    return exitError(ExitNoTarget, "the code is for " + host.machine + ", this machine is " + machine);
  llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  std::string missing;
  for (const std::string &feature : host.features)
    if (!present.lookup(feature))
      missing += (missing.empty() ? "" : ", ") + feature;
  if (missing.empty())
    return Error::success();
  return exitError(ExitNoTarget,
                   "the code needs a CPU with " + missing + ", which this machine lacks; emit it with --cpu");
}
