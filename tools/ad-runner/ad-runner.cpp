// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-runner: compiles and runs programs. Here the runner learns which dialects, pipelines and back ends there
// are.
#include "adjoint/Runner/Runner.h"

using namespace mlir::ad;

int main(int argc, char **argv) {
  runner::Hooks hooks;
  return runner::runnerMain(argc, argv, hooks);
}
