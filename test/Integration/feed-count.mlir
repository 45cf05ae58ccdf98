// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference %s --feed x=arange --feed w=arange
// RUN: ad-runner --target cpu %s --feed x=arange --feed w=arange --out-dir %t.out
// RUN: %python -c "import numpy, sys; [numpy.save(f'{sys.argv[1]}.{n}.npy', numpy.arange(n, dtype=float)) for n in [999, 1000]]" %t
// RUN: ad-runner --target cpu %s --feed x=%t.1000.npy --feed w=arange
// RUN: ad-runner --target gpu-sim %s --feed x=%t.1000.npy --feed w=arange
// RUN: not ad-runner --target gpu-sim %s --feed x=%t.999.npy --feed w=arange 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not ad-runner --target cpu %s --feed x=%t.999.npy --feed w=arange 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: %python -c "import numpy, sys; [print(n, a.shape, a.ravel()) for n in sys.argv[2:] for a in [numpy.load(sys.argv[1] + '/' + n + '.npy')]]" %t.out last.0 last.1 last.2 last.3 | FileCheck %s

// A feed is called exactly once per iteration, in order; a receiver gets its four tensors, with their shapes, once.
// A file of 1000 values is enough, one of 999 is not.
// SHORT: error: 'ad.feed' op feed 'x': '{{.*}}' is used up after 999 values
// CHECK: last.0 (1,) [3.328335e+08]
// CHECK-NEXT: last.1 (1, 2) [3.328335e+08 3.328335e+08]
// CHECK-NEXT: last.2 (1, 2, 3) [3.328335e+08 3.328335e+08 3.328335e+08 3.328335e+08 3.328335e+08
// CHECK-NEXT: 3.328335e+08]
// CHECK-NEXT: last.3 (1, 4) [0. 1. 2. 3.]
func.func @main() -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 1000 : index
  %zero = ad.constant dense<0.0> : tensor<f64>
  %start = ad.barrier %zero : tensor<f64>
  // arange feeds 0, 1, 2, …: the sum of step * value is the sum of squares exactly when every feed comes once and in order.
  %sum, %count = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %start, %n = %start) -> (tensor<f64>, tensor<f64>) {
    %x = ad.feed "x" : tensor<f64>
    %p = ad.mul %x, %n : tensor<f64>
    %next = ad.add %acc, %p : tensor<f64>
    %one = ad.constant dense<1.0> : tensor<f64>
    %n1 = ad.add %n, %one : tensor<f64>
    scf.yield %next, %n1 : tensor<f64>, tensor<f64>
  }
  %squares = ad.constant dense<332833500.0> : tensor<f64>
  check.expect_eq(%sum, %squares) : tensor<f64>
  %a = ad.reshape %sum : tensor<f64> -> tensor<1xf64>
  %b = ad.broadcast %a : tensor<1xf64> -> tensor<2xf64>
  %c = ad.broadcast %a : tensor<1xf64> -> tensor<2x3xf64>
  %w = ad.feed "w" : tensor<4xf32>
  ad.receive "last"(%sum, %b, %c, %w) : tensor<f64>, tensor<2xf64>, tensor<2x3xf64>, tensor<4xf32>
  return %sum : tensor<f64>
}
