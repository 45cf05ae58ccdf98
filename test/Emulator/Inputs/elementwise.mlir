// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// y = 2 x + 1 for n elements, one per thread; and bf16 doubled in place, which rounds.
gpu.module @kernels {
  llvm.func @affine(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %size = nvvm.read.ptx.sreg.ntid.x : i32
    %base = llvm.mul %block, %size : i32
    %i = llvm.add %base, %tid : i32
    %inside = llvm.icmp "ult" %i, %n : i32
    llvm.cond_br %inside, ^body, ^done
  ^body:
    %two = llvm.mlir.constant(2.0 : f32) : f32
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %b = llvm.fmul %a, %two : f32
    %c = llvm.fadd %b, %one : f32
    llvm.store %c, %to : f32, !llvm.ptr<1>
    llvm.br ^done
  ^done:
    llvm.return
  }

  llvm.func @to_bf16(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %i = nvvm.read.ptx.sreg.tid.x : i32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, bf16
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %b = llvm.fptrunc %a : f32 to bf16
    llvm.store %b, %to : bf16, !llvm.ptr<1>
    llvm.return
  }
}
