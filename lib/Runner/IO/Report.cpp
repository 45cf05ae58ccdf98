// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Collects times and converts reports to JSON.
#include "adjoint/Runner/IO/Report.h"
#include "adjoint/Support/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>

using namespace mlir::ad::runner;

void StageTimes::add(llvm::StringRef name, double seconds) {
  auto known = llvm::find_if(stages, [&](const Stage &stage) { return stage.name == name; });
  Stage &stage = known != stages.end() ? *known : (stages.push_back({name.str()}), stages.back());
  stage.seconds += seconds;
  ++stage.calls;
}

namespace {

llvm::json::Array stagesToJSON(llvm::ArrayRef<StageTimes::Stage> stages) {
  llvm::json::Array array;
  for (const StageTimes::Stage &stage : stages)
    array.push_back(
        llvm::json::Object{{"name", stage.name}, {"seconds", stage.seconds}, {"calls", stage.calls}});
  return array;
}

llvm::json::Array kernelsToJSON(const Report &report) {
  llvm::json::Array array;
  for (auto [index, kernel] : llvm::enumerate(report.kernels)) {
    std::string name =
        index < report.kernelNames.size() ? report.kernelNames[index] : "kernel" + std::to_string(index);
    array.push_back(llvm::json::Object{{"name", std::move(name)},
                                       {"calls", kernel.calls},
                                       {"seconds", std::chrono::duration<double>(kernel.total).count()}});
  }
  return array;
}

// The names of kernels that only convert elements to other types; ad-outline-kernels names them so.
llvm::json::Array castKernels(const Report &report) {
  llvm::json::Array array;
  for (const std::string &name : report.kernelNames)
    if (llvm::StringRef(name).starts_with("cast_"))
      array.push_back(name);
  return array;
}

llvm::json::Array trafficToJSON(llvm::ArrayRef<adrt::KernelTraffic> traffic) {
  llvm::json::Array array;
  for (const adrt::KernelTraffic &kernel : traffic) {
    if (kernel.launches == 0)
      continue;
    llvm::json::Array accesses;
    for (const adrt::AccessTraffic &access : kernel.accesses)
      accesses.push_back(llvm::json::Object{{"operation", access.operation},
                                            {"memory", access.shared ? "shared" : "global"},
                                            {"requests", access.requests},
                                            {access.shared ? "wavefronts" : "sectors", access.units},
                                            {"fewest", access.minUnits}});
    array.push_back(llvm::json::Object{{"name", kernel.name},
                                       {"class", kernel.kind},
                                       {"launches", kernel.launches},
                                       {"accesses", std::move(accesses)}});
  }
  return array;
}

} // namespace

void mlir::ad::runner::printTraffic(llvm::raw_ostream &os, llvm::ArrayRef<adrt::KernelTraffic> traffic) {
  for (const adrt::KernelTraffic &kernel : traffic) {
    if (kernel.launches == 0)
      continue;
    os << "kernel " << mlir::ad::printable(kernel.name) << " (" << kernel.kind << "): " << kernel.launches
       << " launches\n";
    for (const adrt::AccessTraffic &access : kernel.accesses) {
      double ratio =
          access.minUnits ? static_cast<double>(access.units) / static_cast<double>(access.minUnits) : 0;
      os << "  " << access.operation << ": " << access.requests << " requests of "
         << (access.shared ? "shared" : "global") << " memory, " << access.units
         << (access.shared ? " wavefronts, " : " sectors, ") << llvm::format("%.2f", ratio)
         << " of the fewest\n";
    }
  }
}

double mlir::ad::runner::median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

llvm::json::Value mlir::ad::runner::toJSON(const Report &report) {
  return llvm::json::Object{{"file", report.file},
                            {"entry", report.entry},
                            {"target", report.target},
                            {"numerics", report.numerics},
                            {"has_cast", report.hasCast},
                            {"cpu", report.cpu},
                            {"threads", report.threads},
                            {"shared_loops", report.sharedLoops},
                            {"cache", report.cache},
                            {"exit_code", report.exitCode},
                            {"startup_seconds", report.startupSeconds},
                            {"stages", stagesToJSON(report.stages.getStages())},
                            {"passes", stagesToJSON(report.passes.getStages())},
                            {"kernels", kernelsToJSON(report)},
                            {"cast_kernels", castKernels(report)},
                            {"traffic", trafficToJSON(report.traffic)},
                            {"graphs", llvm::json::Object{{"instantiated", report.graphs.instantiated},
                                                          {"launched", report.graphs.launched},
                                                          {"updated", report.graphs.updated}}},
                            {"arena_bytes", report.arenaBytes},
                            {"warmup", report.warmup},
                            {"runs", llvm::json::Array(report.runs)},
                            {"median_seconds", median(report.runs)}};
}
