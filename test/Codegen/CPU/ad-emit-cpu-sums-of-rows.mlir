// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-cpu=vector-bytes=32 | FileCheck %s

#identity = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The loop of the largest element computes x / 2 in few lanes, which it compares without the order of NaN and zeros.
// Exponentials are computed once, by the loop of their sum, also where the sum is only a result: the loop that stores them
// reads the values of the row from the stack.
// CHECK-LABEL: func.func private @weights_and_sum
// CHECK: scf.for
// CHECK: %[[HALF:.+]] = arith.mulf %{{.+}}, %{{.+}} : vector<32xf32>
// CHECK: arith.maxui
// CHECK: arith.cmpf ogt, %[[HALF]]
// CHECK: ad.elementary exp %{{.+}} : vector<64xf32>
// CHECK-NOT: ad.elementary
// CHECK: return
ad.kernel private @weights_and_sum(%a: tensor<40x256xf32>) -> (tensor<40x256xf32>, tensor<40xf32>) attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<40xf32>
  %w = tensor.empty() : tensor<40x256xf32>
  %h = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<40x256xf32>) outs(%w : tensor<40x256xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.mulf %x, %half : f32
    linalg.yield %t : f32
  } -> tensor<40x256xf32>
  %l = linalg.fill ins(%least : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %m = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%h : tensor<40x256xf32>) outs(%l : tensor<40xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.maximumf %out, %x : f32
    linalg.yield %t : f32
  } -> tensor<40xf32>
  %p = linalg.generic {indexing_maps = [#identity, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%h, %m : tensor<40x256xf32>, tensor<40xf32>) outs(%w : tensor<40x256xf32>) {
  ^bb0(%x: f32, %largest: f32, %out: f32):
    %t = arith.subf %x, %largest : f32
    %u = ad.elementary exp %t : f32
    linalg.yield %u : f32
  } -> tensor<40x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %s = linalg.generic {indexing_maps = [#identity, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<40x256xf32>) outs(%f : tensor<40xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.addf %out, %x : f32
    linalg.yield %t : f32
  } -> tensor<40xf32>
  ad.yield %p, %s : tensor<40x256xf32>, tensor<40xf32>
}
