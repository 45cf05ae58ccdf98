// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A contracted axis whose size one of the types leaves open is not summed in pairs of bf16, whichever type that is.
//
// RUN: rm -rf %t.*
// DEFINE: %{arguments} = --cache off --arg a=normal:1 --arg b=normal:2 --arg c=normal:3 --dim b.1=64 --dim c.1=64
// RUN: ad-runner %s --target reference --numerics reproducible %{arguments} --out-dir %t.reference
// RUN: ad-runner %s --target cpu --numerics strict %{arguments} --out-dir %t.cpu
// RUN: diff -r %t.cpu %t.reference

func.func @main(%a: tensor<8x64xbf16> {ad.name = "a"}, %b: tensor<32x?xbf16> {ad.name = "b"}, %c: tensor<8x?xbf16> {ad.name = "c"})
    -> (tensor<8x32xf32> {ad.name = "right"}, tensor<8x8xf32> {ad.name = "left"}) {
  %right = ad.dot %a, %b batch [] x [] contract [1] x [1] : (tensor<8x64xbf16>, tensor<32x?xbf16>) -> tensor<8x32xf32>
  %left = ad.dot %c, %a batch [] x [] contract [1] x [1] : (tensor<8x?xbf16>, tensor<8x64xbf16>) -> tensor<8x8xf32>
  return %right, %left : tensor<8x32xf32>, tensor<8x8xf32>
}
