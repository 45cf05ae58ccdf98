// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions read constants, which have no memory, in every layout: the result has the bits of the reference.
// RUN: ad-runner %s --target reference --numerics reproducible --arg a=normal:1 --arg b=normal:2 --arg c=normal:3 --print > %t.expected
// RUN: ad-runner %s --target cpu --numerics reproducible --arg a=normal:1 --arg b=normal:2 --arg c=normal:3 --print > %t.cpu
// RUN: ad-runner %s --target cpu --numerics reproducible -O0 --arg a=normal:1 --arg b=normal:2 --arg c=normal:3 --print > %t.o0
// RUN: ad-runner %s --target gpu-sim --numerics reproducible --arg a=normal:1 --arg b=normal:2 --arg c=normal:3 --print > %t.sim
// RUN: cmp %t.expected %t.cpu
// RUN: cmp %t.expected %t.o0
// RUN: cmp %t.expected %t.sim

// In strict, bf16 is multiplied in pairs. Sums of 32 times 0.5 * 0.25 are exact in every order.
// RUN: ad-runner %s --entry pairs --target cpu --numerics strict --arg a=zeros --print | FileCheck %s
// CHECK: straight: tensor<24x16xbf16> ={{[[:space:]]+}}{{\[+}}4. 4. 4. 4.
// CHECK: transposed: tensor<24x16xbf16> ={{[[:space:]]+}}{{\[+}}4. 4. 4. 4.
func.func @pairs(%a: tensor<24x32xbf16> {ad.name = "a"})
    -> (tensor<24x16xbf16> {ad.name = "straight"}, tensor<24x16xbf16> {ad.name = "transposed"}) {
  %quarter = ad.constant dense<0.25> : tensor<24x32xbf16>
  %q = ad.add %a, %quarter : tensor<24x32xbf16>
  %halves = ad.constant dense<0.5> : tensor<32x16xbf16>
  %straight = ad.dot %q, %halves : (tensor<24x32xbf16>, tensor<32x16xbf16>) -> tensor<24x16xbf16>
  %rows = ad.constant dense<0.5> : tensor<16x32xbf16>
  %transposed = ad.dot %q, %rows contract [1] x [1] : (tensor<24x32xbf16>, tensor<16x32xbf16>) -> tensor<24x16xbf16>
  return %straight, %transposed : tensor<24x16xbf16>, tensor<24x16xbf16>
}

func.func @main(%a: tensor<24x16xf16> {ad.name = "a"}, %b: tensor<24x16xbf16> {ad.name = "b"},
                %c: tensor<24x16xf32> {ad.name = "c"})
    -> (tensor<24x16xf16>, tensor<24x16xf16>, tensor<24x16xbf16>, tensor<24x16xbf16>, tensor<16x24xf16>,
        tensor<24x16xf32>, tensor<24x16xf32>) {
  %ones = ad.constant dense<1.0> : tensor<16x16xf16>
  %0 = ad.dot %a, %ones contract [1] x [1] : (tensor<24x16xf16>, tensor<16x16xf16>) -> tensor<24x16xf16>
  %1 = ad.dot %a, %ones contract [1] x [0] : (tensor<24x16xf16>, tensor<16x16xf16>) -> tensor<24x16xf16>
  %halves = ad.constant dense<0.5> : tensor<16x16xbf16>
  %2 = ad.dot %b, %halves contract [1] x [1] : (tensor<24x16xbf16>, tensor<16x16xbf16>) -> tensor<24x16xbf16>
  %3 = ad.dot %b, %halves contract [1] x [0] : (tensor<24x16xbf16>, tensor<16x16xbf16>) -> tensor<24x16xbf16>
  %4 = ad.dot %ones, %a contract [0] x [1] : (tensor<16x16xf16>, tensor<24x16xf16>) -> tensor<16x24xf16>
  %wide = ad.constant dense<3.0> : tensor<16x16xf32>
  %5 = ad.dot %c, %wide contract [1] x [1] : (tensor<24x16xf32>, tensor<16x16xf32>) -> tensor<24x16xf32>
  %6 = ad.dot %c, %wide contract [1] x [0] : (tensor<24x16xf32>, tensor<16x16xf32>) -> tensor<24x16xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<24x16xf16>, tensor<24x16xf16>, tensor<24x16xbf16>, tensor<24x16xbf16>,
      tensor<16x24xf16>, tensor<24x16xf32>, tensor<24x16xf32>
}
