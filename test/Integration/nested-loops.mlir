// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// Nested loops, a value that is made before a loop and read after it, carries that swap, a loop in a branch.
func.func @main() -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %raw = ad.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %x = ad.barrier %raw : tensor<4xf32>
  %one = ad.constant dense<1.0> : tensor<4xf32>
  %two = ad.constant dense<2.0> : tensor<4xf32>
  %kept = ad.mul %x, %x : tensor<4xf32>
  // Three times: five additions of one, then a doubling: x -> ((x + 5) * 2 + 5) * 2 …
  %out = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> tensor<4xf32> {
    %inner = scf.for %j = %c0 to %c5 step %c1 iter_args(%w = %v) -> tensor<4xf32> {
      %t = ad.add %w, %one : tensor<4xf32>
      %u = ad.mul %t, %one : tensor<4xf32>
      scf.yield %u : tensor<4xf32>
    }
    %d = ad.mul %inner, %two : tensor<4xf32>
    scf.yield %d : tensor<4xf32>
  }
  %expected = ad.constant dense<[78.0, 86.0, 94.0, 102.0]> : tensor<4xf32>
  check.expect_eq(%out, %expected) : tensor<4xf32>
  %squares = ad.constant dense<[1.0, 4.0, 9.0, 16.0]> : tensor<4xf32>
  check.expect_eq(%kept, %squares) : tensor<4xf32>

  // After an odd number of swaps each carry holds what the other began with.
  %p, %q = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %kept) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  check.expect_eq(%p, %squares) : tensor<4xf32>
  check.expect_eq(%q, %raw) : tensor<4xf32>

  %limit = ad.constant dense<3.0> : tensor<f32>
  %first = ad.slice %x [0] strides [1] : tensor<4xf32> -> tensor<1xf32>
  %scalar = ad.reshape %first : tensor<1xf32> -> tensor<f32>
  %below = ad.compare lt %scalar, %limit : tensor<f32>
  %condition = tensor.extract %below[] : tensor<i1>
  %chosen = scf.if %condition -> tensor<4xf32> {
    %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x) -> tensor<4xf32> {
      %t = ad.add %s, %two : tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    }
    scf.yield %sum : tensor<4xf32>
  } else {
    scf.yield %kept : tensor<4xf32>
  }
  %plus = ad.constant dense<[11.0, 12.0, 13.0, 14.0]> : tensor<4xf32>
  check.expect_eq(%chosen, %plus) : tensor<4xf32>

  // Doubling until a bound: a loop whose number of iterations depends on data.
  %bound = ad.constant dense<100.0> : tensor<f32>
  %grown = scf.while (%v = %scalar) : (tensor<f32>) -> tensor<f32> {
    %more = ad.compare lt %v, %bound : tensor<f32>
    %go = tensor.extract %more[] : tensor<i1>
    scf.condition(%go) %v : tensor<f32>
  } do {
  ^bb0(%v: tensor<f32>):
    %w = ad.add %v, %v : tensor<f32>
    scf.yield %w : tensor<f32>
  }
  %power = ad.constant dense<128.0> : tensor<f32>
  check.expect_eq(%grown, %power) : tensor<f32>
  return %out : tensor<4xf32>
}
