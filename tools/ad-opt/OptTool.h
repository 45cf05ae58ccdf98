// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The extensions of ad-opt to the MLIR driver: our passes first in every list, and --debug-only for our code.

#ifndef ADJOINT_TOOLS_AD_OPT_OPTTOOL_H
#define ADJOINT_TOOLS_AD_OPT_OPTTOOL_H

namespace mlir::ad {
/// Registers everything, parses the command line and runs the driver. Returns the exit code.
int runOptTool(int argc, char **argv);
} // namespace mlir::ad

#endif // ADJOINT_TOOLS_AD_OPT_OPTTOOL_H
