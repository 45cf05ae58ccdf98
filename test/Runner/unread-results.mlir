// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Nothing reads %z: the reference interpreter executes the addition and finds sizes that do not fit; compiled targets drop it, with -O0 too.
// DEFINE: %{arguments} = --cache off --arg arg0=arange --dim arg0.0=2 --arg arg1=arange --dim arg1.0=3 --print
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --target reference %{arguments} 2>&1 | FileCheck %s --check-prefix=EXECUTED
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --target reference -O0 %{arguments} 2>&1 | FileCheck %s --check-prefix=EXECUTED
// RUN: ad-runner %s --target cpu %{arguments} | FileCheck %s --check-prefix=DROPPED
// RUN: ad-runner %s --target cpu -O0 %{arguments} | FileCheck %s --check-prefix=DROPPED
// RUN: ad-runner %s --target gpu-sim %{arguments} | FileCheck %s --check-prefix=DROPPED
// RUN: ad-runner %s --target gpu-sim -O0 %{arguments} | FileCheck %s --check-prefix=DROPPED
// DROPPED: res0: tensor<2xf32> = [0. 1.]
// EXECUTED: unread-results.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: 'ad.add' op broadcast: dimension 0 has sizes 2 and 3, neither is 1
// EXECUTED-NOT: res0
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = ad.add %x, %y : tensor<?xf32>
  return %x : tensor<?xf32>
}
