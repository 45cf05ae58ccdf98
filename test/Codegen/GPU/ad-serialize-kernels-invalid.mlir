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

// -----

gpu.module @kernels {
  // expected-error@+1 {{'llvm.mlir.global' op initializes shared memory, which a GPU cannot do; store into it in the kernel}}
  llvm.mlir.global internal @tile(1 : i32) {addr_space = 3 : i32} : i32
  llvm.func @kernel() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{'llvm.mlir.global' op initializes shared memory, which a GPU cannot do; store into it in the kernel}}
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : i32 {
    %0 = llvm.mlir.constant(1 : i32) : i32
    llvm.return %0 : i32
  }
  llvm.func @kernel() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{'llvm.mlir.global' op has a name that PTX cannot write, expected letters, digits, _ and $}}
  llvm.mlir.global external @"my table"(1 : i32) {addr_space = 1 : i32} : i32
  llvm.func @kernel() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @byte_floats(%a: i32, %sum: f32) attributes {nvvm.kernel} {
    // expected-error@+1 {{'llvm.call_intrinsic' op multiplies 8-bit floats by an instruction that sm_80 does not have; run ad-emit-gpu for this chip}}
    %d = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e5m2.f32"(%a, %a, %a, %a, %a, %a, %sum, %sum, %sum, %sum)
      : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}
