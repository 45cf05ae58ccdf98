// A value of dynamic shape that is returned, and its views that are returned as other results, in any order: each result
// has its own shape.
// RUN: ad-runner %s --target reference --arg a=arange --dim a.0=2 --dim a.2=2 --print > %t.reference
// RUN: FileCheck %s --input-file=%t.reference
// RUN: ad-runner %s --target cpu --arg a=arange --dim a.0=2 --dim a.2=2 --print | diff %t.reference -
// RUN: ad-runner %s --target cpu -O0 --arg a=arange --dim a.0=2 --dim a.2=2 --print | diff %t.reference -
// RUN: ad-runner %s --target gpu-sim --arg a=arange --dim a.0=2 --dim a.2=2 --print | diff %t.reference -

// CHECK: x: tensor<2x5x2xf32> =
// CHECK: y: tensor<10x2xf32> =
// CHECK: z: tensor<20xf32> =
// CHECK: v: tensor<10xf32> =
// CHECK: w: tensor<2x5xf32> =
func.func @main(%a: tensor<?x5x?xf32> {ad.name = "a"}) -> (tensor<?x5x?xf32> {ad.name = "x"}, tensor<?x2xf32> {ad.name = "y"}, tensor<20xf32> {ad.name = "z"}, tensor<10xf32> {ad.name = "v"}, tensor<?x5xf32> {ad.name = "w"}) {
  %x = ad.neg %a : tensor<?x5x?xf32>
  %n = arith.constant 10 : index
  %y = ad.reshape %x(%n) : tensor<?x5x?xf32> -> tensor<?x2xf32>
  %z = ad.reshape %x : tensor<?x5x?xf32> -> tensor<20xf32>
  %w = ad.reduce_sum %a axes [2] : tensor<?x5x?xf32> -> tensor<?x5xf32>
  %v = ad.reshape %w : tensor<?x5xf32> -> tensor<10xf32>
  return %x, %y, %z, %v, %w : tensor<?x5x?xf32>, tensor<?x2xf32>, tensor<20xf32>, tensor<10xf32>, tensor<?x5xf32>
}
