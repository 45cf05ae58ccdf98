// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff align of programs: interprets them operation by operation and aligns the records.
#include "ProgramCommands.h"
#include "ProgramOptions.h"
#include "adjoint/Runner/Trace/ValueRecorder.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

/// One of the two inputs: a program, or records in a file.
struct AlignSide {
  std::string path;
  std::unique_ptr<llvm::MemoryBuffer> text;
  std::unique_ptr<ProgramRun> program; ///< null for records
  std::vector<Record> records;
};

bool hasName(llvm::ArrayRef<TensorSpec> specs, StringRef assignment) {
  return llvm::any_of(specs, [&](const TensorSpec &spec) { return assignment.starts_with(spec.name + "="); });
}

Error load(AlignSide &side, const DiffOptions &options) {
  if (!isProgram(side.path)) {
    if (Error error = readRecords(side.path).moveInto(side.records))
      return error;
    return hashKeptTensors(side.records);
  }
  if (Error error = readProgram(side.path).moveInto(side.text))
    return error;
  return compileProgram(options, side.path, Target::Reference).moveInto(side.program);
}

// Both programs get the sources of the command line. A name that only the other program has is left out.
Error bind(AlignSide &side, const AlignSide &other, const DiffOptions &options) {
  Expected<Options> sources = makeRunnerOptions(options, side.path, Target::Reference);
  if (!sources)
    return sources.takeError();
  if (other.program) {
    const Signature &mine = side.program->getSignature(), &theirs = other.program->getSignature();
    auto dropOthers = [](std::vector<Assignment> &given, llvm::ArrayRef<TensorSpec> specs,
                         llvm::ArrayRef<TensorSpec> otherSpecs) {
      llvm::erase_if(given, [&](const Assignment &assignment) {
        std::string text = assignment.name + "=" + assignment.value;
        return !hasName(specs, text) && hasName(otherSpecs, text);
      });
    };
    dropOthers(sources->arguments, mine.arguments, theirs.arguments);
    dropOthers(sources->feeds, mine.feeds, theirs.feeds);
    llvm::erase_if(sources->dims, [&](const DimAssignment &dim) {
      return !hasName(mine.arguments, dim.name + "=") && hasName(theirs.arguments, dim.name + "=");
    });
  }
  return side.program->bind(*sources);
}

Error execute(AlignSide &side, const AlignSide &other, const DiffOptions &options) {
  if (Error error = bind(side, other, options))
    return error;
  ValueRecorder recorder(side.text->getBuffer());
  for (auto [spec, argument] :
       llvm::zip(side.program->getSignature().arguments, side.program->getArguments()))
    recorder.addArgument(spec.name, argument.view());
  Expected<RunValues> values = side.program->run(&recorder);
  if (!values)
    return values.takeError();
  for (const NamedTensor &result : values->results)
    recorder.addResult(result.name, result.value.view());
  side.records = recorder.takeRecords();
  return Error::success();
}

} // namespace

Expected<DiffReport> mlir::ad::diff::runAlignPrograms(const DiffOptions &options) {
  AlignSide sides[2];
  for (auto [side, path] : llvm::zip(sides, options.inputs)) {
    side.path = path;
    if (Error error = load(side, options))
      return std::move(error);
  }
  for (size_t number : {0, 1}) {
    AlignSide &side = sides[number];
    if (side.program && options.nodes)
      side.records = recordNodes(side.program->getModule(), side.text->getBuffer());
    else if (side.program)
      if (Error error = execute(side, sides[1 - number], options))
        return std::move(error);
  }
  return alignRecords(sides[0].records, sides[1].records, options);
}
