// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Options about programs have the values and the messages of ad-runner, which parses them.
#include "ProgramOptions.h"
#include "adjoint/Runner/StandardHooks.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

Expected<Options> mlir::ad::diff::makeRunnerOptions(const DiffOptions &options, StringRef path,
                                                    Target target) {
  std::string file = path.str();
  std::vector<const char *> arguments;
  for (const std::string &argument : options.program)
    arguments.push_back(argument.c_str());
  // All options about compilation have a meaning for this target; the subcommand says where to run.
  arguments.push_back("--target=gpu-sim");
  arguments.push_back(file.c_str());
  Expected<Options> parsed = parseOptions(arguments);
  if (parsed)
    parsed->target = target;
  return parsed;
}

Expected<std::unique_ptr<ProgramRun>> mlir::ad::diff::compileProgram(const DiffOptions &options,
                                                                     StringRef path, Target target,
                                                                     CompilationObserver *observer) {
  Expected<Options> parsed = makeRunnerOptions(options, path, target);
  if (!parsed)
    return parsed.takeError();
  Expected<std::unique_ptr<llvm::MemoryBuffer>> text = readProgram(path);
  if (!text)
    return text.takeError();
  return ProgramRun::load(**text, *parsed, standardHooks(), "ad-diff", Messages::Print, observer);
}

Expected<std::unique_ptr<ProgramRun>> mlir::ad::diff::loadProgram(const DiffOptions &options, StringRef path,
                                                                  Target target,
                                                                  CompilationObserver *observer) {
  Expected<std::unique_ptr<ProgramRun>> program = compileProgram(options, path, target, observer);
  if (!program)
    return program.takeError();
  if (Error error = (*program)->bind())
    return std::move(error);
  return std::move(*program);
}
