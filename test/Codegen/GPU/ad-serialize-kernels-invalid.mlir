// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --verify-diagnostics --ad-serialize-kernels

gpu.module @kernels {
  // expected-error@+1 {{'llvm.func' op has a name that PTX cannot write, expected letters, digits, _ and $}}
  llvm.func @"my kernel"() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

// Dots are for functions that only the module sees: those of LLVM, and local ones, which get other names.
gpu.module @kernels {
  llvm.func internal @a.local() {
    llvm.return
  }
  // expected-error@+1 {{'llvm.func' op has a name that PTX cannot write, expected letters, digits, _ and $}}
  llvm.func @a.kernel() attributes {nvvm.kernel} {
    llvm.call @a.local() : () -> ()
    llvm.return
  }
}
