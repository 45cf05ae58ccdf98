// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// adrt-run: the part of ad-runner that comes after the compiler.
#include "adjoint/Runner/RunAdx.h"
#include "AOT/Adx.h"
#include "AOT/AdxFile.h"
#include "IO/InputFile.h"
#include "Session/Execution.h"
#include "Tool.h"
#include "adjoint/Runtime/Cuda/CudaDevice.h"
#include "adjoint/Runtime/Host/CPUCount.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FloatingPointState.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

/// An error in the file, with its name in front.
Error inFile(const std::string &path, Error error) {
  auto [code, message] = consumeExitError(std::move(error));
  return exitError(code, "'" + path + "': " + message);
}

Expected<AdxProgram> readProgram(const Options &options) {
  auto input = readInput(options.input, [&](llvm::StringRef head) -> Expected<uint64_t> {
    Expected<uint64_t> length = readAdxLength(head);
    return length ? std::move(length) : inFile(options.input, length.takeError());
  });
  if (!input)
    return input.takeError();
  Expected<AdxProgram> adx = readAdx((*input)->getBuffer());
  if (!adx)
    return inFile(options.input, adx.takeError());
  return adx;
}

/// The file states its target and entry; the command line may repeat them.
Error checkRequest(const CompiledProgram &program, const Options &options) {
  std::string target = targetOf(program);
  if (options.targetGiven && target != targetName(options.target))
    return usageError(
        "'" + options.input + "' was compiled for target '" + target + "', not for '" +
        targetName(options.target) + "'; leave --target out, or " +
        (options.target == Target::Reference
             ? llvm::Twine("run the program itself: ad-runner --target reference")
             : "compile the program again: ad-runner --target " + targetName(options.target) + " --emit"));
  if (options.entryGiven && program.signature.entry != options.entry)
    return usageError("'" + options.input + "' has no function @" + options.entry + ", it has @" +
                      program.signature.entry);
  Expected<Target> known = parseTarget(target);
  if (!known)
    return known.takeError();
  if (Error error = checkKernelOptions(options, *known))
    return error;
  return checkDevice(program);
}

void printVersion(llvm::raw_ostream &os) {
  os << "adrt-run " << ADJOINT_VERSION << " (.adx " << adxVersion << ", runtime " << ADRT_ABI_VERSION
     << ")\n";
}

void printEnvironment(llvm::raw_ostream &os, const Options &options) {
  printVersion(os);
  os << "machine: " << llvm::sys::getProcessTriple() << "\n";
  os << "CPU: " << llvm::sys::getHostCPUName() << ", " << adrt::countCPUs() << " threads\n"
     << adrt::describeCuda();
  os << "threads used: " << resolveThreads(options.threads) << "\n";
}

} // namespace

int mlir::ad::runner::runAdx(const ToolRun &run) {
  std::optional<AdxProgram> adx;
  std::unique_ptr<Executable> executable;
  {
    StageScope stage(run.report.stages, "load");
    Expected<AdxProgram> read = readProgram(run.options);
    if (!read)
      return run.console.fail(read.takeError());
    adx = std::move(*read);
    if (Error error = checkRequest(adx->program, run.options))
      return run.console.fail(std::move(error));
    Expected<std::unique_ptr<Executable>> loaded = loadAdx(adx->program);
    if (!loaded)
      return run.console.fail(inFile(run.options.input, loaded.takeError()));
    executable = std::move(*loaded);
  }
  run.report.entry = adx->program.signature.entry;
  run.report.target = targetOf(adx->program);
  run.report.numerics = adx->program.numerics;
  run.report.hasCast = adx->program.hasCast;
  return Execution(run.options, run.report, run.console, run.interrupted, run.start)
      .run(*executable, adx->program.signature, std::move(adx->weights), llvm::MemoryBufferRef());
}

int mlir::ad::runner::adrtRunMain(int argc, char **argv) {
  adrt::FloatingPointScope floatingPoint;
  return runTool(argc, argv, {OptionSet::Run, runAdx, printVersion, printEnvironment});
}
