// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-runner: compiles and runs programs.

#include "adjoint/Runner/Runner.h"
#include "adjoint/Runner/StandardHooks.h"

int main(int argc, char **argv) {
  return mlir::ad::runner::runnerMain(argc, argv, mlir::ad::runner::standardHooks());
}
