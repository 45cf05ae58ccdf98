// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-gpu-emulate launches one kernel of a file, once or several times.
#include "Arguments.h"
#include "KernelLibrary.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/OutOfMemory.h"
#include "adjoint/Support/OutputFile.h"
#include "adjoint/Support/Printable.h"
#include "adjoint/Tools/GpuEmulate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/WithColor.h"

#include <atomic>
#include <csignal>
#include <ctime>

using namespace mlir::ad;
using namespace mlir::ad::emulator;
using llvm::StringRef;

namespace {

std::atomic<bool> interruptWanted{false};

// A second Ctrl-C ends the process at once.
void onInterrupt(int) {
  interruptWanted = true;
  std::signal(SIGINT, SIG_DFL);
}

// CPU time, since other processes may use the CPUs too.
double cpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

adsim::Launch makeLaunch(const ToolOptions &options, const Arguments &arguments) {
  adsim::Launch launch;
  launch.grid = options.grid;
  launch.block = options.block;
  launch.cluster = options.cluster;
  launch.dynamicSharedBytes = options.sharedBytes;
  launch.schedule = options.schedule;
  launch.seed = options.seed;
  launch.matrixSums = options.matrixSums;
  launch.detectRaces = options.detectRaces;
  launch.countTraffic = options.showStatistics && options.repeat == 1;
  launch.hostThreads = options.threads;
  launch.memory = arguments.ranges();
  launch.interrupted = [] { return interruptWanted.load(); };
  return launch;
}

void printTraffic(const adsim::SiteTraffic &traffic) {
  double ratio =
      traffic.idealUnits ? static_cast<double>(traffic.units) / static_cast<double>(traffic.idealUnits) : 0;
  llvm::outs() << "  " << traffic.site.location << " " << traffic.site.operation << ": " << traffic.requests
               << " requests, " << traffic.units << (traffic.shared ? " wavefronts" : " sectors") << ", "
               << llvm::format("%.2f", ratio) << " times the minimum\n";
}

void printStatistics(const adsim::Statistics &s, double seconds) {
  auto line = [](StringRef name, uint64_t value) {
    if (value)
      llvm::outs() << name << ": " << value << "\n";
  };
  llvm::outs() << "CPU milliseconds: " << llvm::format("%.3f", 1e3 * seconds) << "\n";
  line("threads", s.threads);
  line("switches", s.switches);
  line("barrier arrivals", s.barriers);
  line("loads", s.loads);
  line("stores", s.stores);
  line("atomics", s.atomics);
  line("shuffles", s.shuffles);
  line("matrix loads and stores", s.matrixLoads);
  line("mma", s.mma);
  line("wgmma", s.wgmma);
  line("asynchronous copies", s.asyncCopies);
  line("bulk copies", s.bulkCopies);
  line("bulk bytes", s.bulkBytes);
  line("mbarrier polls", s.mbarrierPolls);
  for (const adsim::SiteTraffic &traffic : s.traffic)
    printTraffic(traffic);
}

llvm::Expected<const adsim::KernelCode *> findKernel(const KernelLibrary &library, StringRef name) {
  llvm::ArrayRef<std::string> names = library.getKernelNames();
  std::string known = names.empty() ? "none" : llvm::join(names, ", ");
  if (name.empty() && names.size() != 1)
    return runner::usageError("expected --kernel, since the file has these kernels: " + known);
  const adsim::KernelCode *code = library.find(name.empty() ? StringRef(names.front()) : name);
  if (!code)
    return runner::usageError("the file has no kernel '" + name + "'; it has: " + known);
  return code;
}

llvm::Error run(const ToolOptions &options) {
  llvm::Expected<std::unique_ptr<KernelLibrary>> library = loadKernels(options.input);
  if (!library)
    return library.takeError();
  llvm::Expected<const adsim::KernelCode *> code = findKernel(**library, options.kernel);
  if (!code)
    return code.takeError();
  llvm::Expected<std::unique_ptr<Arguments>> arguments = Arguments::create(options);
  if (!arguments)
    return arguments.takeError();
  std::vector<void *> pointers = (*arguments)->pointers();
  if (pointers.size() != (*code)->argumentCount)
    return runner::usageError("kernel '" + llvm::Twine((*code)->name) + "' takes " +
                              llvm::Twine((*code)->argumentCount) + " arguments, got " +
                              llvm::Twine(pointers.size()));
  adsim::Launch launch = makeLaunch(options, **arguments);
  adsim::Statistics statistics;
  double fastest = 0;
  for (unsigned i = 0; i < options.repeat; ++i) {
    double start = cpuSeconds();
    adsim::Result result = adsim::launch(**code, pointers.data(), launch, &statistics);
    double seconds = cpuSeconds() - start;
    if (!result.ok()) {
      bool interrupted = result.failure == adsim::Failure::Interrupted;
      return runner::exitError(interrupted                                       ? runner::ExitInterrupted
                               : result.failure == adsim::Failure::InvalidLaunch ? runner::ExitUsage
                               : result.failure == adsim::Failure::LackOfMemory  ? runner::ExitNoTarget
                                                                                 : runner::ExitProgramError,
                               result.message);
    }
    fastest = i == 0 ? seconds : std::min(fastest, seconds);
  }
  if (options.showStatistics)
    printStatistics(statistics, fastest);
  return (*arguments)->writeOutputs(options.outputs);
}

} // namespace

int mlir::ad::emulator::emulateMain(int argc, char **argv) {
  adrt::FloatingPointScope floatingPoint;
  runner::keepStandardDescriptors();
  runner::endOnLackOfMemory("ad-gpu-emulate");
  llvm::Error error = llvm::Error::success();
  llvm::Expected<ToolOptions> options =
      parseToolOptions(llvm::ArrayRef<const char *>(argv + 1, static_cast<size_t>(argc > 0 ? argc - 1 : 0)));
  if (!options) {
    error = llvm::joinErrors(std::move(error), options.takeError());
  } else if (options->showHelp) {
    printToolHelp(llvm::outs());
  } else {
    // If SIGINT was ignored at the start (nohup, a background job of a script), it stays ignored.
    if (std::signal(SIGINT, SIG_IGN) != SIG_IGN)
      std::signal(SIGINT, onInterrupt);
    std::signal(SIGXFSZ, SIG_IGN); // exceeding a file size limit becomes an error of the write
    error = llvm::joinErrors(std::move(error), run(*options));
  }
  error = llvm::joinErrors(std::move(error), runner::flushStandardOutput());
  auto [code, message] = runner::consumeExitError(std::move(error));
  if (!message.empty())
    llvm::WithColor::error(printableErrors(), "ad-gpu-emulate") << messageText(message) << "\n";
  return code;
}
