// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// `ad-gpu-emulate` as a function.
#ifndef ADJOINT_TOOLS_GPUEMULATE_H
#define ADJOINT_TOOLS_GPUEMULATE_H

namespace mlir::ad::emulator {

/// The whole program; returns its exit code.
int emulateMain(int argc, char **argv);

} // namespace mlir::ad::emulator

#endif // ADJOINT_TOOLS_GPUEMULATE_H
