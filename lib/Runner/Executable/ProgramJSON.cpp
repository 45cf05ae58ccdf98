// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Signatures and compiled programs as JSON, for the cache and for files that were compiled ahead of time.
#include "adjoint/Runner/Executable/Executable.h"
#include "adjoint/Support/Printable.h"

using namespace llvm;

namespace mlir::ad::runner {

static json::Value toJSON(const TensorSpec &spec) {
  json::Object object{
      {"name", spec.name}, {"type", adrt::typeName(spec.type)}, {"shape", json::Array(spec.shape)}};
  if (spec.donated)
    object["donated"] = *spec.donated;
  return object;
}

static bool fromJSON(const json::Value &value, TensorSpec &spec, json::Path path) {
  json::ObjectMapper mapper(value, path);
  std::string type;
  std::vector<int64_t> shape;
  if (!mapper || !mapper.map("name", spec.name) || !mapper.map("type", type) || !mapper.map("shape", shape) ||
      !mapper.mapOptional("donated", spec.donated))
    return false;
  std::optional<adrt_type> element = parseElementType(type);
  if (!element)
    return false;
  if (!isPrintable(spec.name)) {
    path.field("name").report("expected printable characters");
    return false;
  }
  spec.type = *element;
  spec.shape.assign(shape.begin(), shape.end());
  return true;
}

static json::Value toJSON(const ReceiveSpec &receive) {
  return json::Object{{"name", receive.name}, {"values", json::Array(receive.values)}};
}

static bool fromJSON(const json::Value &value, ReceiveSpec &receive, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("name", receive.name) && mapper.map("values", receive.values);
}

json::Value toJSON(const Signature &signature) {
  return json::Object{{"entry", signature.entry},
                      {"arguments", json::Array(signature.arguments)},
                      {"results", json::Array(signature.results)},
                      {"feeds", json::Array(signature.feeds)},
                      {"receives", json::Array(signature.receives)}};
}

bool fromJSON(const json::Value &value, Signature &signature, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("entry", signature.entry) && mapper.map("arguments", signature.arguments) &&
         mapper.map("results", signature.results) && mapper.map("feeds", signature.feeds) &&
         mapper.map("receives", signature.receives);
}

json::Value toJSON(const CompiledProgram &program) {
  return json::Object{{"signature", program.signature},
                      {"numerics", program.numerics},
                      {"has_cast", program.hasCast},
                      {"kernels", json::Array(program.kernels)},
                      {"device", program.device},
                      {"chip", program.chip},
                      {"numerics_report", program.numericsReport}};
}

static bool takeReport(const json::Value &value, CompiledProgram &program) {
  const json::Value *report = value.getAsObject()->get("numerics_report");
  if (report)
    program.numericsReport = *report;
  return report;
}

bool fromJSON(const json::Value &value, CompiledProgram &program, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("signature", program.signature) && mapper.map("numerics", program.numerics) &&
         mapper.mapOptional("has_cast", program.hasCast) && mapper.map("kernels", program.kernels) &&
         mapper.map("device", program.device) && mapper.map("chip", program.chip) &&
         takeReport(value, program);
}

} // namespace mlir::ad::runner
