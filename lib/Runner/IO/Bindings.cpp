// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Binds sources to names.
#include "adjoint/Runner/IO/Bindings.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

const TensorSpec *findSpec(llvm::ArrayRef<TensorSpec> specs, StringRef name) {
  auto found = llvm::find_if(specs, [&](const TensorSpec &spec) { return spec.name == name; });
  return found == specs.end() ? nullptr : &*found;
}

std::string listNames(llvm::ArrayRef<TensorSpec> specs, StringRef what) {
  if (specs.empty())
    return ("it has no " + what + "s").str();
  std::string names;
  for (const TensorSpec &spec : specs)
    names += (names.empty() ? "" : ", ") + spec.name;
  return ("its " + what + "s are " + names).str();
}

/// A name may contain `=`. The longest name that is followed by `=` is assigned; a file has its name already.
const TensorSpec *findAssigned(const Assignment &given, llvm::ArrayRef<TensorSpec> specs) {
  std::string text = given.name + "=" + given.value;
  const TensorSpec *longest = nullptr;
  for (const TensorSpec &spec : specs) {
    if (given.isFile && spec.name != given.name)
      continue;
    StringRef rest = text;
    bool isAssigned = rest.consume_front(spec.name) && rest.consume_front("=") && !rest.empty();
    if (isAssigned && (!longest || spec.name.size() > longest->name.size()))
      longest = &spec;
  }
  return longest;
}

/// Splits each assignment at the `=` after a name of the program.
Error resolve(std::vector<Assignment> &assignments, llvm::ArrayRef<TensorSpec> specs, StringRef what,
              StringRef option) {
  std::vector<Assignment> resolved;
  for (const Assignment &given : assignments) {
    const TensorSpec *spec = findAssigned(given, specs);
    if (!spec)
      return usageError("the program has no " + what + " '" + given.name + "', " + listNames(specs, what));
    if (llvm::any_of(resolved, [&](const Assignment &other) { return other.name == spec->name; }))
      return usageError(option + " '" + spec->name + "' is given twice");
    std::string text = given.name + "=" + given.value;
    resolved.push_back({spec->name, text.substr(spec->name.size() + 1), given.isFile});
  }
  assignments = std::move(resolved);
  return Error::success();
}

Error about(StringRef what, StringRef name, Error error) {
  auto [code, message] = consumeExitError(std::move(error));
  return exitError(code, what + " '" + name + "': " + message);
}

Expected<Source> findSource(const TensorSpec &spec, llvm::ArrayRef<Assignment> assignments, StringRef what,
                            StringRef option) {
  for (const Assignment &assignment : assignments) {
    if (assignment.name != spec.name)
      continue;
    if (assignment.isFile)
      return Source::ofFile(assignment.value);
    Expected<Source> source = Source::parse(assignment.value, /*forFeed=*/option == "--feed");
    return source ? std::move(source) : about(what, spec.name, source.takeError());
  }
  return usageError(what + " '" + spec.name + "' of type " + formatType(spec) + " has no source, expected " +
                    option + " " + spec.name + "=SOURCE");
}

/// Sets the sizes of --dim in `spec`; they must agree with the static sizes.
Error applyDims(TensorSpec &spec, llvm::ArrayRef<DimAssignment> dims) {
  for (const DimAssignment &dim : dims) {
    if (dim.name != spec.name)
      continue;
    if (dim.axis >= static_cast<int64_t>(spec.shape.size()))
      return usageError("--dim " + dim.name + "." + llvm::Twine(dim.axis) + ": " + formatType(spec) +
                        " has rank " + llvm::Twine(spec.shape.size()) + "; axes are counted from 0");
    int64_t &size = spec.shape[dim.axis];
    if (size != dynamicSize && size != dim.size)
      return usageError("--dim " + dim.name + "." + llvm::Twine(dim.axis) + "=" + llvm::Twine(dim.size) +
                        ": the program has size " + llvm::Twine(size) + " there");
    size = dim.size;
  }
  return Error::success();
}

Expected<Tensor> bindArgument(TensorSpec spec, const Options &options, Warnings &warnings) {
  Expected<Source> source = findSource(spec, options.arguments, "argument", "--arg");
  if (!source)
    return source.takeError();
  if (Error error = applyDims(spec, options.dims))
    return std::move(error);
  auto dynamic = llvm::find(spec.shape, dynamicSize);
  if (source->kind != Source::Kind::File && dynamic != spec.shape.end()) {
    std::string axis = std::to_string(dynamic - spec.shape.begin());
    return usageError("argument '" + spec.name + "' of type " + formatType(spec) + " leaves dimension " +
                      axis + " open, expected --dim " + spec.name + "." + axis + "=N");
  }
  Expected<Tensor> tensor = makeArgument(spec, *source, warnings);
  return tensor ? std::move(tensor) : about("argument", spec.name, tensor.takeError());
}

/// The weight of that name, unless the command line has a source for it.
Weight *findWeight(const TensorSpec &spec, const Options &options, std::vector<Weight> &weights) {
  if (llvm::any_of(options.arguments, [&](const Assignment &given) { return given.name == spec.name; }))
    return nullptr;
  auto found = llvm::find_if(weights, [&](const Weight &weight) { return weight.name == spec.name; });
  return found == weights.end() ? nullptr : &*found;
}

/// Checks the names in the options, and splits the assignments at names of the program.
Expected<Options> resolveNames(Options options, const Signature &signature) {
  if (Error error = resolve(options.arguments, signature.arguments, "argument", "--arg"))
    return std::move(error);
  if (Error error = resolve(options.feeds, signature.feeds, "feed", "--feed"))
    return std::move(error);
  for (const DimAssignment &dim : options.dims)
    if (!findSpec(signature.arguments, dim.name))
      return usageError("--dim names '" + dim.name + "', but the program has no such argument, " +
                        listNames(signature.arguments, "argument"));
  return std::move(options);
}

/// A weight fixes the sizes of its argument; --dim may repeat them.
Expected<Tensor> takeWeight(TensorSpec spec, Weight &weight, const Options &options) {
  spec.shape.assign(weight.value.getShape().begin(), weight.value.getShape().end());
  if (Error error = applyDims(spec, options.dims))
    return std::move(error);
  return std::move(weight.value);
}

} // namespace

void Bindings::rewindFeeds() {
  for (auto &feed : feeds)
    feed.second->rewind();
}

int32_t Bindings::feed(const char *name, const adrt_tensor &destination, std::string &error) {
  auto found = feeds.find(name);
  if (found == feeds.end()) {
    error = "it has no source";
    return ADRT_HOST_ERROR;
  }
  error = consumeExitError(found->second->next(destination)).second;
  return error.empty() ? ADRT_OK : ADRT_HOST_ERROR;
}

Expected<Bindings> mlir::ad::runner::bindSources(const Signature &signature, const Options &given,
                                                 std::vector<Weight> weights) {
  Expected<Options> resolved = resolveNames(given, signature);
  if (!resolved)
    return resolved.takeError();
  const Options &options = *resolved;
  Bindings bindings;
  for (const TensorSpec &spec : signature.arguments) {
    Weight *weight = findWeight(spec, options, weights);
    Expected<Tensor> tensor =
        weight ? takeWeight(spec, *weight, options) : bindArgument(spec, options, bindings.warnings);
    if (!tensor)
      return tensor.takeError();
    bindings.arguments.push_back(std::move(*tensor));
  }
  for (const TensorSpec &spec : signature.feeds) {
    Expected<Source> source = findSource(spec, options.feeds, "feed", "--feed");
    if (!source)
      return source.takeError();
    Expected<std::unique_ptr<Feed>> feed = Feed::create(spec, *source, bindings.warnings);
    if (!feed)
      return about("feed", spec.name, feed.takeError());
    bindings.feeds[spec.name] = std::move(*feed);
  }
  return std::move(bindings);
}

Expected<std::vector<Weight>> mlir::ad::runner::bindWeights(const Signature &signature, const Options &given,
                                                            Warnings &warnings) {
  Expected<Options> options = resolveNames(given, signature);
  if (!options)
    return options.takeError();
  std::vector<Weight> weights;
  for (const Assignment &argument : options->arguments) {
    Expected<Tensor> tensor = bindArgument(*findSpec(signature.arguments, argument.name), *options, warnings);
    if (!tensor)
      return tensor.takeError();
    weights.push_back({argument.name, std::move(*tensor)});
  }
  return std::move(weights);
}
