// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A kernel takes a bf16 scalar, here the zeros of a gradient, on CPUs without instructions for bf16, too.
// RUN: ad-runner %s --target reference --arg x=normal:1 --dim x.0=3 --dim x.1=40 --arg b=normal:2 --print > %t.expected
// RUN: ad-runner %s --target cpu --cpu x86-64 --arg x=normal:1 --dim x.0=3 --dim x.1=40 --arg b=normal:2 --print > %t.v1
// RUN: ad-runner %s --target cpu --cpu x86-64-v3 --arg x=normal:1 --dim x.0=3 --dim x.1=40 --arg b=normal:2 --print > %t.v3
// RUN: %if avx512 %{ ad-runner %s --target cpu --cpu x86-64-v4 --arg x=normal:1 --dim x.0=3 --dim x.1=40 --arg b=normal:2 --print > %t.v4 %}
// RUN: cmp %t.expected %t.v1
// RUN: cmp %t.expected %t.v3
// RUN: %if avx512 %{ cmp %t.expected %t.v4 %}
func.func private @loss(%x: tensor<?x?xbf16>, %b: tensor<31xbf16>) -> tensor<bf16> {
  %sum = ad.reduce_sum %b axes [0] : tensor<31xbf16> -> tensor<bf16>
  return %sum : tensor<bf16>
}

func.func @main(%x: tensor<?x?xbf16> {ad.name = "x"}, %b: tensor<31xbf16> {ad.name = "b"}) -> tensor<?x?xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rate = ad.constant dense<0.01> : tensor<bf16>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %x) -> (tensor<?x?xbf16>) {
    %l:2 = ad.value_and_grad @loss(%p, %b) wrt [0]
        : (tensor<?x?xbf16>, tensor<31xbf16>) -> (tensor<bf16>, tensor<?x?xbf16>)
    %step = ad.mul %l#1, %rate : tensor<?x?xbf16>, tensor<bf16>
    %next = ad.sub %p, %step : tensor<?x?xbf16>
    scf.yield %next : tensor<?x?xbf16>
  }
  return %y : tensor<?x?xbf16>
}
