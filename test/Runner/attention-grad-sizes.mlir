// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes of the operands of ad.attention_grad that disagree are the same error of loops and of the kernel for GPUs.
//
// DEFINE: %{target} =
// DEFINE: %{sizes} = --dim q.0=1 --dim q.2=5 --dim k.0=1 --dim k.2=7 --dim d.0=1 --dim d.2=5
// DEFINE: %{args} = --arg q=normal:1 --arg k=normal:2 --arg l=normal:3 --arg d=normal:4 --arg g=normal:5
// DEFINE: %{run} = not ad-runner %s --target=%{target} %{args} %{sizes}
// REDEFINE: %{target} = reference
// RUN: %{run} --dim l.0=1 --dim l.2=6 --dim g.0=1 --dim g.2=5 2>&1 | FileCheck %s --check-prefix=LOG-SUM
// RUN: %{run} --dim l.0=1 --dim l.2=5 --dim g.0=2 --dim g.2=5 2>&1 | FileCheck %s --check-prefix=COTANGENT
// REDEFINE: %{target} = gpu-sim
// RUN: %{run} --dim l.0=1 --dim l.2=6 --dim g.0=1 --dim g.2=5 2>&1 | FileCheck %s --check-prefix=LOG-SUM
// RUN: %{run} --dim l.0=1 --dim l.2=5 --dim g.0=2 --dim g.2=5 2>&1 | FileCheck %s --check-prefix=COTANGENT

// LOG-SUM: error: 'ad.attention_grad' op operand 3 must have size 5 in dimension 2,{{.*}} but has 6
// COTANGENT: error: 'ad.attention_grad' op operand 5 must have size 1 in dimension 0,{{.*}} but has 2
func.func @main(%q: tensor<?x2x?x8xf32> {ad.name = "q"}, %k: tensor<?x2x?x8xf32> {ad.name = "k"}, %l: tensor<?x2x?xf32> {ad.name = "l"}, %d: tensor<?x2x?xf32> {ad.name = "d"}, %g: tensor<?x2x?x8xf32> {ad.name = "g"}) -> tensor<?x2x?x8xf32> {
  %dq, %dk, %dv = ad.attention_grad %q, %k, %k, %l, %d, %g chunk 8 : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?xf32>, tensor<?x2x?xf32>, tensor<?x2x?x8xf32>
  return %dk : tensor<?x2x?x8xf32>
}
