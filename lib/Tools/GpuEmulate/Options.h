// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The options of ad-gpu-emulate. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_GPUEMULATE_OPTIONS_H
#define ADJOINT_LIB_TOOLS_GPUEMULATE_OPTIONS_H

#include "adjoint/Emulator/Machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace mlir::ad::emulator {

struct ToolOptions {
  std::string input, kernel;
  std::vector<std::string> arguments, outputs;
  adsim::Dim3 grid, block, cluster;
  uint32_t sharedBytes = 0;
  adsim::Schedule schedule = adsim::Schedule::Eager;
  adsim::MatrixSums matrixSums = adsim::MatrixSums::Ascending;
  uint64_t seed = 0;
  unsigned threads = 1, repeat = 1;
  bool detectRaces = true, showStatistics = false, showHelp = false;
};

llvm::Expected<ToolOptions> parseToolOptions(llvm::ArrayRef<const char *> arguments);
void printToolHelp(llvm::raw_ostream &os);
/// A number in decimal, or an error about `what`.
llvm::Expected<uint64_t> parseNumber(llvm::StringRef text, llvm::StringRef what, uint64_t max);

} // namespace mlir::ad::emulator

#endif // ADJOINT_LIB_TOOLS_GPUEMULATE_OPTIONS_H
