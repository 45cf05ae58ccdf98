// RUN: ad-runner %s --target reference
// RUN: ad-runner %s --target cpu

// Loops, branches and calls, each against the number that it must give.

func.func private @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = ad.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func private @countdown(%from: index) -> tensor<i64> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = ad.constant dense<0> : tensor<i64>
  %step = ad.constant dense<3> : tensor<i64>
  %result:2 = scf.while (%n = %from, %sum = %start) : (index, tensor<i64>) -> (index, tensor<i64>) {
    %more = arith.cmpi sgt, %n, %zero : index
    scf.condition(%more) %n, %sum : index, tensor<i64>
  } do {
  ^bb0(%n: index, %sum: tensor<i64>):
    %next = arith.subi %n, %one : index
    %more = ad.add %sum, %step : tensor<i64>
    scf.yield %next, %more : index, tensor<i64>
  }
  return %result#1 : tensor<i64>
}

func.func @main() -> tensor<i64> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %static = ad.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %dynamic = tensor.cast %static : tensor<3xf32> to tensor<?xf32>
  %x = ad.barrier %dynamic : tensor<?xf32>

  // A carried tensor of dynamic size.
  %powers = scf.for %i = %zero to %ten step %one iter_args(%v = %x) -> tensor<?xf32> {
    %w = func.call @twice(%v) : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %w : tensor<?xf32>
  }
  %result = tensor.cast %powers : tensor<?xf32> to tensor<3xf32>
  %expected = ad.constant dense<[1024.0, 2048.0, 3072.0]> : tensor<3xf32>
  check.expect_eq(%result, %expected) : tensor<3xf32>

  // A loop that never runs gives what it was given.
  %untouched = scf.for %i = %ten to %zero step %one iter_args(%v = %static) -> tensor<3xf32> {
    scf.yield %expected : tensor<3xf32>
  }
  check.expect_eq(%untouched, %static) : tensor<3xf32>

  // A branch on an element, which the host reads.
  %sum = ad.reduce_sum %result axes [0] : tensor<3xf32> -> tensor<f32>
  %limit = ad.constant dense<6000.0> : tensor<f32>
  %above = ad.compare gt %sum, %limit : tensor<f32>
  %condition = tensor.extract %above[] : tensor<i1>
  %chosen = scf.if %condition -> tensor<f32> {
    scf.yield %sum : tensor<f32>
  } else {
    scf.yield %limit : tensor<f32>
  }
  %total = ad.constant dense<6144.0> : tensor<f32>
  check.expect_eq(%chosen, %total) : tensor<f32>

  %thirty = ad.constant dense<30> : tensor<i64>
  %counted = func.call @countdown(%ten) : (index) -> tensor<i64>
  check.expect_eq(%counted, %thirty) : tensor<i64>
  return %counted : tensor<i64>
}
