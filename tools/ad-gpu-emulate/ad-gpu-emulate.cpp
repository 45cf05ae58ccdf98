// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-gpu-emulate: runs a kernel on the emulated GPU.

#include "adjoint/Tools/GpuEmulate.h"

int main(int argc, char **argv) { return mlir::ad::emulator::emulateMain(argc, argv); }
