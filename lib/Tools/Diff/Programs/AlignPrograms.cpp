// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff align of programs: interprets them operation by operation and aligns the records.
#include "ProgramCommands.h"
#include "ProgramOptions.h"
#include "adjoint/Runner/Trace/ValueRecorder.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Expected;
using llvm::StringRef;

static Expected<std::vector<Record>> recordsOf(StringRef path, const DiffOptions &options) {
  if (!isProgram(path))
    return readRecords(path);
  Expected<std::unique_ptr<llvm::MemoryBuffer>> text = readProgram(path);
  if (!text)
    return text.takeError();
  Expected<std::unique_ptr<ProgramRun>> program = loadProgram(options, path, Target::Reference);
  if (!program)
    return program.takeError();
  ValueRecorder recorder((*text)->getBuffer());
  for (auto [spec, argument] : llvm::zip((*program)->getSignature().arguments, (*program)->getArguments()))
    recorder.addArgument(spec.name, argument.view());
  Expected<RunValues> values = (*program)->run(&recorder);
  if (!values)
    return values.takeError();
  for (const NamedTensor &result : values->results)
    recorder.addResult(result.name, result.value.view());
  return recorder.takeRecords();
}

Expected<DiffReport> mlir::ad::diff::runAlignPrograms(const DiffOptions &options) {
  Expected<std::vector<Record>> left = recordsOf(options.inputs[0], options);
  if (!left)
    return left.takeError();
  Expected<std::vector<Record>> right = recordsOf(options.inputs[1], options);
  if (!right)
    return right.takeError();
  return alignRecords(*left, *right, options);
}
