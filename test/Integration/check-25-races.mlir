// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner %s --arg x=normal:1 --arg w=normal:2 --out-dir %t.reference --target reference --numerics reproducible
// RUN: ad-runner %s --arg x=normal:1 --arg w=normal:2 --out-dir %t.serial --threads 1 --numerics reproducible
// RUN: ad-runner %s --arg x=normal:1 --arg w=normal:2 --out-dir %t.parallel --threads 4 --numerics reproducible
// RUN: cmp %t.reference/y.npy %t.serial/y.npy
// RUN: cmp %t.serial/y.npy %t.parallel/y.npy
// RUN: cmp %t.reference/z.npy %t.serial/z.npy
// RUN: cmp %t.serial/z.npy %t.parallel/z.npy
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg --ad-prepack-operands --ad-outline-kernels --ad-plan-memory --ad-verify-memory-plan -o /dev/null

// Check 25: y = x x is computed before nested loops and read behind them and inside; layer norms read rows that they may write over; serial,
// parallel and reference agree.
func.func @main(%x: tensor<96x96xf32> {ad.name = "x"}, %w: tensor<96xf32> {ad.name = "w"})
    -> (tensor<96x96xf32> {ad.name = "y"}, tensor<96x96xf32> {ad.name = "z"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = ad.dot %x, %x : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xf32>
  %z = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> tensor<96x96xf32> {
    %n = ad.layer_norm %v, %w, %w epsilon 1.0e-5 : tensor<96x96xf32>, tensor<96xf32>
    %inner = scf.for %j = %c0 to %c3 step %c1 iter_args(%u = %n) -> tensor<96x96xf32> {
      %d = ad.dot %u, %x : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xf32>
      %s = ad.softmax %d axis 1 : tensor<96x96xf32>
      %t = ad.add %s, %n : tensor<96x96xf32>
      scf.yield %t : tensor<96x96xf32>
    }
    %r = ad.transpose %inner [1, 0] : tensor<96x96xf32>
    %a = ad.add %r, %y : tensor<96x96xf32>
    scf.yield %a : tensor<96x96xf32>
  }
  %b = ad.add %y, %z : tensor<96x96xf32>
  return %b, %z : tensor<96x96xf32>, tensor<96x96xf32>
}
