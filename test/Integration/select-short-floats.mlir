// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Choosing between short floats moves bits, on CPUs that have no such floats too.
//
// RUN: rm -rf %t.*
// DEFINE: %{arguments} = --cache off --numerics reproducible --arg x=normal:1 --arg y=normal:2 --arg h=normal:3
// RUN: ad-runner %s --target reference %{arguments} --out-dir %t.reference
// RUN: ad-runner %s --cpu x86-64-v3 %{arguments} --out-dir %t.v3
// RUN: ad-runner %s --cpu x86-64 %{arguments} --out-dir %t.v1
// RUN: ad-runner %s %{arguments} --out-dir %t.native
// RUN: diff -r %t.v3 %t.reference
// RUN: diff -r %t.v1 %t.reference
// RUN: diff -r %t.native %t.reference

func.func @main(%x: tensor<5x37xbf16> {ad.name = "x"}, %y: tensor<5x1xbf16> {ad.name = "y"}, %h: tensor<5x37xf16> {ad.name = "h"})
    -> (tensor<5x37xbf16> {ad.name = "larger"}, tensor<5x37xf16> {ad.name = "bounded"}) {
  %zero = ad.constant dense<0.0> : tensor<bf16>
  %is = ad.compare gt %x, %zero : tensor<5x37xbf16>, tensor<bf16>
  %product = ad.mul %x, %y : tensor<5x37xbf16>, tensor<5x1xbf16>
  %chosen = ad.select %is, %product, %y : tensor<5x37xi1>, tensor<5x37xbf16>, tensor<5x1xbf16>
  %larger = ad.mul %chosen, %chosen : tensor<5x37xbf16>
  %half = ad.constant dense<0.5> : tensor<f16>
  %small = ad.compare lt %h, %half : tensor<5x37xf16>, tensor<f16>
  %bounded = ad.select %small, %h, %half : tensor<5x37xi1>, tensor<5x37xf16>, tensor<f16>
  return %larger, %bounded : tensor<5x37xbf16>, tensor<5x37xf16>
}
