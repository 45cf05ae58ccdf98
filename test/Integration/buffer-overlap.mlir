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

// Kernels of unknown sizes share their work among threads, which the report counts.
// RUN: ad-opt %s --ad-to-cpu | FileCheck %s --check-prefix=THREADS
// THREADS-LABEL: llvm.func @adrt_entry_open
// THREADS-COUNT-6: llvm.call @adrt_parallel_for
// RUN: ad-runner %s --entry open --arg x=normal:1 --dim x.0=96 --dim x.1=96 --arg w=normal:2 --dim w.0=96 --out-dir %t.open-reference --target reference --numerics reproducible
// RUN: ad-runner %s --entry open --arg x=normal:1 --dim x.0=96 --dim x.1=96 --arg w=normal:2 --dim w.0=96 --out-dir %t.open-1 --threads 1 --numerics reproducible
// RUN: ad-runner %s --entry open --arg x=normal:1 --dim x.0=96 --dim x.1=96 --arg w=normal:2 --dim w.0=96 --out-dir %t.open-2 --threads 2 --numerics reproducible
// RUN: ad-runner %s --entry open --arg x=normal:1 --dim x.0=96 --dim x.1=96 --arg w=normal:2 --dim w.0=96 --out-dir %t.open-3 --threads 3 --numerics reproducible
// RUN: ad-runner %s --entry open --arg x=normal:1 --dim x.0=96 --dim x.1=96 --arg w=normal:2 --dim w.0=96 --out-dir %t.open-7 --threads 7 --numerics reproducible --report %t.open-7.json
// RUN: FileCheck %s --check-prefix=SHARED < %t.open-7.json
// SHARED: "shared_loops": {{[1-9]}}
// RUN: cmp %t.open-reference/y.npy %t.open-1/y.npy
// RUN: cmp %t.open-reference/z.npy %t.open-1/z.npy
// RUN: cmp %t.open-reference/y.npy %t.open-2/y.npy
// RUN: cmp %t.open-reference/z.npy %t.open-2/z.npy
// RUN: cmp %t.open-reference/y.npy %t.open-3/y.npy
// RUN: cmp %t.open-reference/z.npy %t.open-3/z.npy
// RUN: cmp %t.open-reference/y.npy %t.open-7/y.npy
// RUN: cmp %t.open-reference/z.npy %t.open-7/z.npy

// y = x x is computed before nested loops and read after them and inside; layer norms read rows that they may write over; serial,
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

// The same of unknown sizes.
func.func @open(%x: tensor<?x?xf32> {ad.name = "x"}, %w: tensor<?xf32> {ad.name = "w"})
    -> (tensor<?x?xf32> {ad.name = "y"}, tensor<?x?xf32> {ad.name = "z"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = ad.dot %x, %x : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> tensor<?x?xf32> {
    %n = ad.layer_norm %v, %w, %w epsilon 1.0e-5 : tensor<?x?xf32>, tensor<?xf32>
    %inner = scf.for %j = %c0 to %c3 step %c1 iter_args(%u = %n) -> tensor<?x?xf32> {
      %d = ad.dot %u, %x : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
      %s = ad.softmax %d axis 1 : tensor<?x?xf32>
      %t = ad.add %s, %n : tensor<?x?xf32>
      scf.yield %t : tensor<?x?xf32>
    }
    %r = ad.transpose %inner [1, 0] : tensor<?x?xf32>
    %a = ad.add %r, %y : tensor<?x?xf32>
    scf.yield %a : tensor<?x?xf32>
  }
  %b = ad.add %y, %z : tensor<?x?xf32>
  return %b, %z : tensor<?x?xf32>, tensor<?x?xf32>
}
