// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Names of arguments and feeds may contain `=`: the longest name that is followed by `=` is used.
// DEFINE: %{sources} = --arg w=arange --arg 'w=b=zeros' --dim 'w=b.0=4'
// DEFINE: %{feed} = --feed 'x=y=arange'
// RUN: ad-runner %s %{sources} %{feed} --print | FileCheck %s
// RUN: ad-runner %s %{sources} %{feed} --print --target reference | FileCheck %s
// RUN: ad-runner %s %{sources} --emit %t.adx
// RUN: adrt-run %t.adx %{feed} --print | FileCheck %s
// RUN: adrt-run %t.adx %{feed} --arg 'w=b=arange' --dim 'w=b.0=4' --print | FileCheck %s --check-prefix=OTHER
// CHECK: res0: tensor<4xf32> = [0. 2. 4. 6.]
// OTHER: res0: tensor<4xf32> = [0. 3. 6. 9.]
func.func @main(%w: tensor<4xf32> {ad.name = "w"}, %b: tensor<?xf32> {ad.name = "w=b"}) -> tensor<4xf32> {
  %c = tensor.cast %b : tensor<?xf32> to tensor<4xf32>
  %x = ad.feed "x=y" : tensor<4xf32>
  %0 = ad.add %w, %c : tensor<4xf32>
  %1 = ad.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
