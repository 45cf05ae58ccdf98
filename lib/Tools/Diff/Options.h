// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The options of ad-diff. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_OPTIONS_H
#define ADJOINT_LIB_TOOLS_DIFF_OPTIONS_H

#include "adjoint/Diff/Alignment.h"
#include "adjoint/Diff/DiffReport.h"
#include "adjoint/Diff/ShadowOrder.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::ad::diff {

enum class Command { Tensors, Matrix, Align, Runs, Stages, Nan, Bisect, Reduce, Shadow, Precision };

struct DiffOptions {
  Command command = Command::Tensors;
  std::vector<std::string> inputs;
  std::optional<adrt_type> rawType;
  std::optional<Bound> bound;
  std::vector<double> thresholds;
  bool describe = false;
  std::vector<std::string> labels;
  std::string title;
  std::string measure = "abs"; ///< of a matrix
  unsigned column = kUsualColumn;
  bool nodes = false;   ///< programs are aligned by their operations and do not run
  unsigned samples = 0; ///< of stochastic rounding; 0: a run in f64
  unsigned seed = 0;
  std::string target = "reference"; ///< of nan: where the program runs
  std::string policy;               ///< of a search for the operations that need f32
  bool againstF64 = false; ///< its bound is about differences from exact results, not from those in f32
  std::string output;      ///< the program that a search found; of bisect and reduce, a folder
  ShadowOrder order = ShadowOrder::Local;
  std::vector<std::string> program; ///< options about programs, as ad-runner reads them
  std::string sideA, sideB;         ///< the configurations of a bisection
  std::string runnerA, runnerB;     ///< their builds of ad-runner; empty: the one next to this tool
  unsigned seconds = 60;            ///< after which a search for operations ends
  std::string json, csv, svg, html;
  bool showHelp = false;
};

/// The first argument is a subcommand. An error is one of usage.
llvm::Expected<DiffOptions> parseDiffOptions(llvm::ArrayRef<const char *> arguments);
/// Help about a subcommand, or about all of them.
void printDiffHelp(llvm::raw_ostream &os, std::optional<Command> command);
std::optional<Command> findCommand(llvm::StringRef name);

/// Whether the file is a program, by its name.
bool isProgram(llvm::StringRef path);
/// Whether the subcommand compiles or interprets programs.
bool needsCompiler(const DiffOptions &options);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_OPTIONS_H
