// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-lower-to-emulator --split-input-file --verify-diagnostics

// Errors name the operation that cannot be emulated, and an alternative.

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.inline_asm' op is assembly text, which the emulator does not read; use an operation of the NVVM dialect}}
    llvm.inline_asm has_side_effects "nanosleep.u32 5;", "" : () -> ()
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @k(%x: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.call' op calls '__nv_expf' of libdevice, whose bits the emulator does not have; expand it into arithmetic}}
    %y = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
  llvm.func @k(%x: !llvm.ptr) attributes {nvvm.kernel} {
    // expected-error @+1 {{calls 'vprintf', which has no body in the module}}
    %y = llvm.call @vprintf(%x, %x) : (!llvm.ptr, !llvm.ptr) -> i32
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%x: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.intr.exp' op is a function of the host's library, whose bits are not the GPU's}}
    %y = llvm.intr.exp(%x) : (f32) -> f32
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @+1 {{'nvvm.read.ptx.sreg.clock' op reads a special register that the emulator does not have}}
    %y = nvvm.read.ptx.sreg.clock : i32
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%n: i32, %m: i32) attributes {nvvm.kernel} {
    // expected-error @+1 {{'nvvm.pmevent' op is an instruction that the emulator does not have}}
    nvvm.pmevent id = 1
    llvm.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{'gpu.func' op is not of the LLVM dialect; lower the GPU module to LLVM and NVVM first}}
  gpu.func @k() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{initializes shared memory, which a GPU cannot do; store into it in the kernel}}
  llvm.mlir.global internal @s(1 : i32) {addr_space = 3 : i32} : i32
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}
gpu.module @n {
  // expected-error @+1 {{has the name of another kernel of the program; the emulator needs one name each}}
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%x: f64) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.fptrunc' op rounds to bf16 from a type other than f32; the emulator would round twice}}
    %y = llvm.fptrunc %x : f64 to bf16
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%x: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{is an intrinsic that the emulator does not have: llvm.nvvm.saturate.f}}
    %y = llvm.call_intrinsic "llvm.nvvm.saturate.f"(%x) : (f32) -> f32
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%a: i32, %x: i32) attributes {nvvm.kernel} {
    // expected-error @+1 {{multiplies in a shape or type that the emulator does not have: llvm.nvvm.mma.m16n8k32.row.col.f16.e4m3.e4m3.f16; of 8-bit floats it has m16n8k32 with sums of f32}}
    %y = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f16.e4m3.e4m3.f16"(%a, %a, %a, %a, %a, %a, %x, %x)
      : (i32, i32, i32, i32, i32, i32, i32, i32) -> !llvm.struct<(i32, i32)>
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%x: i64) attributes {nvvm.kernel} {
    // expected-error @+1 {{makes an address of the cluster's shared memory, which the emulator only gets by 'nvvm.mapa'}}
    %y = llvm.inttoptr %x : i64 to !llvm.ptr<7>
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%x: f16) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.intr.fma' op multiplies and adds in f16, which the host would round twice; widen to f32}}
    %y = llvm.intr.fma(%x, %x, %x) : (f16, f16, f16) -> f16
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%n: i64) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.alloca' op needs a constant number of elements, at most 524288 bytes, which is the local memory of a thread}}
    %a = llvm.alloca %n x f32 : (i64) -> !llvm.ptr
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    %n = llvm.mlir.constant(131073 : i64) : i64
    // expected-error @+1 {{'llvm.alloca' op needs a constant number of elements, at most 524288 bytes}}
    %a = llvm.alloca %n x f32 : (i64) -> !llvm.ptr
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.call @even() : () -> ()
    llvm.return
  }
  llvm.func @even() {
    llvm.call @odd() : () -> ()
    llvm.return
  }
  // expected-error @+1 {{'llvm.func' op calls itself, perhaps through others; the emulator needs to know the memory of a thread, so write a loop}}
  llvm.func @odd() {
    llvm.call @even() : () -> ()
    llvm.return
  }
}
