// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference --cache off %s
// RUN: ad-runner --target cpu --cache off %s
// RUN: ad-runner --target cpu --cache off -O0 %s
// RUN: ad-runner --target gpu-sim --cache off %s

// The iterations of a loop are ceil((upper - lower) / step) of numbers without limits, in the signedness of the loop.

// The distance of the bounds is no i32: 4 iterations.
func.func private @wide(%x: tensor<f64>) -> tensor<f64> {
  %lower = arith.constant -2000000000 : i32
  %upper = arith.constant 2000000000 : i32
  %step = arith.constant 1000000000 : i32
  %zero = ad.constant dense<0.0> : tensor<f64>
  %r = scf.for %i = %lower to %upper step %step iter_args(%sum = %zero) -> tensor<f64> : i32 {
    %next = ad.add %sum, %x : tensor<f64>
    scf.yield %next : tensor<f64>
  }
  return %r : tensor<f64>
}

// From 2147483645 to 2147483651, which is negative as a signed i32: x doubles 6 times.
func.func private @unsigned(%x: tensor<2xf64>) -> tensor<f64> {
  %lower = arith.constant 2147483645 : i32
  %upper = arith.constant -2147483645 : i32
  %step = arith.constant 1 : i32
  %two = ad.constant dense<2.0> : tensor<f64>
  %r = scf.for unsigned %i = %lower to %upper step %step iter_args(%a = %x) -> tensor<2xf64> : i32 {
    %next = ad.mul %a, %two : tensor<2xf64>, tensor<f64>
    scf.yield %next : tensor<2xf64>
  }
  %sum = ad.reduce_sum %r axes [0] : tensor<2xf64> -> tensor<f64>
  return %sum : tensor<f64>
}

// The square of x times the index, 250 and 253: the tape of an unsigned i8 loop with a step. x goes to 250 x^2, then to
// 253 * (250 x^2)^2 = 15812500 x^4. The carried i16 is on a tape, too.
func.func private @taped(%x: tensor<f64>) -> tensor<f64> {
  %lower = arith.constant -6 : i8
  %upper = arith.constant -1 : i8
  %step = arith.constant 3 : i8
  %zero = arith.constant 0 : i16
  %one = arith.constant 1 : i16
  %r, %n = scf.for unsigned %i = %lower to %upper step %step iter_args(%a = %x, %count = %zero) -> (tensor<f64>, i16) : i8 {
    %wide = arith.extui %i : i8 to i64
    %index = ad.full %wide : i64 -> tensor<i64>
    %factor = ad.cast %index : tensor<i64> -> tensor<f64>
    %square = ad.mul %a, %a : tensor<f64>
    %product = ad.mul %square, %factor : tensor<f64>
    %more = arith.addi %count, %one : i16
    %number = arith.extsi %count : i16 to i64
    %offset = ad.full %number : i64 -> tensor<i64>
    %float = ad.cast %offset : tensor<i64> -> tensor<f64>
    %none = ad.sub %float, %float : tensor<f64>
    %next = ad.add %product, %none : tensor<f64>
    scf.yield %next, %more : tensor<f64>, i16
  }
  return %r : tensor<f64>
}

// How many iterations a signed loop of i32 has, and an unsigned one, with bounds that are known at run time.
func.func private @count(%bounds: tensor<3xi64>) -> (tensor<i64>, tensor<i64>, tensor<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %lower = tensor.extract %bounds[%c0] : tensor<3xi64>
  %upper = tensor.extract %bounds[%c1] : tensor<3xi64>
  %step = tensor.extract %bounds[%c2] : tensor<3xi64>
  %lower32 = arith.trunci %lower : i64 to i32
  %upper32 = arith.trunci %upper : i64 to i32
  %step32 = arith.trunci %step : i64 to i32
  %zero = ad.constant dense<0> : tensor<i64>
  %one = ad.constant dense<1> : tensor<i64>
  %a = scf.for %i = %lower to %upper step %step iter_args(%n = %zero) -> tensor<i64> : i64 {
    %m = ad.add %n, %one : tensor<i64>
    scf.yield %m : tensor<i64>
  }
  %b = scf.for %i = %lower32 to %upper32 step %step32 iter_args(%n = %zero) -> tensor<i64> : i32 {
    %m = ad.add %n, %one : tensor<i64>
    scf.yield %m : tensor<i64>
  }
  %c = scf.for unsigned %i = %lower32 to %upper32 step %step32 iter_args(%n = %zero) -> tensor<i64> : i32 {
    %m = ad.add %n, %one : tensor<i64>
    scf.yield %m : tensor<i64>
  }
  return %a, %b, %c : tensor<i64>, tensor<i64>, tensor<i64>
}

// The sum of the indices of a signed i8 loop, 3 + 4 + 5; the iterations of an unsigned i24 loop, and of an i5 loop from
// -16 to 14 by 15; the sum of an i16 loop whose last step overflows, 32000 + 32500; the iterations of an i1 loop.
func.func private @narrow() -> tensor<5xi64> {
  %zero = ad.constant dense<0> : tensor<1xi64>
  %one = ad.constant dense<1> : tensor<1xi64>
  %b1 = arith.constant 3 : i8
  %b2 = arith.constant 6 : i8
  %b3 = arith.constant 1 : i8
  %a = scf.for %i = %b1 to %b2 step %b3 iter_args(%n = %zero) -> tensor<1xi64> : i8 {
    %w = arith.extsi %i : i8 to i64
    %f = ad.full %w : i64 -> tensor<1xi64>
    %m = ad.add %n, %f : tensor<1xi64>
    scf.yield %m : tensor<1xi64>
  }
  %d1 = arith.constant -4 : i24
  %d2 = arith.constant -1 : i24
  %d3 = arith.constant 2 : i24
  %b = scf.for unsigned %i = %d1 to %d2 step %d3 iter_args(%n = %zero) -> tensor<1xi64> : i24 {
    %m = ad.add %n, %one : tensor<1xi64>
    scf.yield %m : tensor<1xi64>
  }
  %g1 = arith.constant -16 : i5
  %g2 = arith.constant 14 : i5
  %g3 = arith.constant 15 : i5
  %c = scf.for %i = %g1 to %g2 step %g3 iter_args(%n = %zero) -> tensor<1xi64> : i5 {
    %m = ad.add %n, %one : tensor<1xi64>
    scf.yield %m : tensor<1xi64>
  }
  %h1 = arith.constant 32000 : i16
  %h2 = arith.constant 32767 : i16
  %h3 = arith.constant 500 : i16
  %d = scf.for %i = %h1 to %h2 step %h3 iter_args(%n = %zero) -> tensor<1xi64> : i16 {
    %w = arith.extui %i : i16 to i64
    %f = ad.full %w : i64 -> tensor<1xi64>
    %m = ad.add %n, %f : tensor<1xi64>
    scf.yield %m : tensor<1xi64>
  }
  %false = arith.constant false
  %true = arith.constant true
  %e = scf.for unsigned %i = %false to %true step %true iter_args(%n = %zero) -> tensor<1xi64> : i1 {
    %m = ad.add %n, %one : tensor<1xi64>
    scf.yield %m : tensor<1xi64>
  }
  %all = ad.concat axis 0 %a, %b, %c, %d, %e : tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>
  return %all : tensor<5xi64>
}

func.func @main() -> tensor<f64> {
  %c = ad.constant dense<1.0> : tensor<f64>
  %x = ad.barrier %c : tensor<f64>
  %four = ad.constant dense<4.0> : tensor<f64>
  %y = func.call @wide(%x) : (tensor<f64>) -> tensor<f64>
  %l, %d = ad.value_and_grad @wide(%x) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  check.expect_eq(%y, %four) : tensor<f64>
  check.expect_eq(%l, %four) : tensor<f64>
  check.expect_eq(%d, %four) : tensor<f64>

  %raw = ad.constant dense<[1.0, 3.0]> : tensor<2xf64>
  %pair = ad.barrier %raw : tensor<2xf64>
  %u = func.call @unsigned(%pair) : (tensor<2xf64>) -> tensor<f64>
  %ul, %ud = ad.value_and_grad @unsigned(%pair) wrt [0] : (tensor<2xf64>) -> (tensor<f64>, tensor<2xf64>)
  %256 = ad.constant dense<256.0> : tensor<f64>
  %64 = ad.constant dense<64.0> : tensor<2xf64>
  check.expect_eq(%u, %256) : tensor<f64>
  check.expect_eq(%ul, %256) : tensor<f64>
  check.expect_eq(%ud, %64) : tensor<2xf64>

  %tl, %td = ad.value_and_grad @taped(%x) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %taped = ad.constant dense<15812500.0> : tensor<f64>
  %slope = ad.constant dense<63250000.0> : tensor<f64>
  check.expect_eq(%tl, %taped) : tensor<f64>
  check.expect_eq(%td, %slope) : tensor<f64>

  // Distances over half of the range of i64 and of i32, a last step that overflows, and no iteration. The i32 loops
  // have the low bits.
  %raw0 = ad.constant dense<[-9223372036854775808, 9223372036854775807, 4611686020574871551]> : tensor<3xi64>
  %bounds0 = ad.barrier %raw0 : tensor<3xi64>
  %n0:3 = func.call @count(%bounds0) : (tensor<3xi64>) -> (tensor<i64>, tensor<i64>, tensor<i64>)
  %e00 = ad.constant dense<4> : tensor<i64>
  check.expect_eq(%n0#0, %e00) : tensor<i64>
  %e01 = ad.constant dense<0> : tensor<i64>
  check.expect_eq(%n0#1, %e01) : tensor<i64>
  %e02 = ad.constant dense<3> : tensor<i64>
  check.expect_eq(%n0#2, %e02) : tensor<i64>
  %raw1 = ad.constant dense<[2147482000, 2147483647, 1000]> : tensor<3xi64>
  %bounds1 = ad.barrier %raw1 : tensor<3xi64>
  %n1:3 = func.call @count(%bounds1) : (tensor<3xi64>) -> (tensor<i64>, tensor<i64>, tensor<i64>)
  %e10 = ad.constant dense<2> : tensor<i64>
  check.expect_eq(%n1#0, %e10) : tensor<i64>
  %e11 = ad.constant dense<2> : tensor<i64>
  check.expect_eq(%n1#1, %e11) : tensor<i64>
  %e12 = ad.constant dense<2> : tensor<i64>
  check.expect_eq(%n1#2, %e12) : tensor<i64>
  %raw2 = ad.constant dense<[-2147483648, 2147483647, 1073741824]> : tensor<3xi64>
  %bounds2 = ad.barrier %raw2 : tensor<3xi64>
  %n2:3 = func.call @count(%bounds2) : (tensor<3xi64>) -> (tensor<i64>, tensor<i64>, tensor<i64>)
  %e20 = ad.constant dense<4> : tensor<i64>
  check.expect_eq(%n2#0, %e20) : tensor<i64>
  %e21 = ad.constant dense<4> : tensor<i64>
  check.expect_eq(%n2#1, %e21) : tensor<i64>
  %e22 = ad.constant dense<0> : tensor<i64>
  check.expect_eq(%n2#2, %e22) : tensor<i64>
  %raw3 = ad.constant dense<[2147483647, -2147483648, 2147483646]> : tensor<3xi64>
  %bounds3 = ad.barrier %raw3 : tensor<3xi64>
  %n3:3 = func.call @count(%bounds3) : (tensor<3xi64>) -> (tensor<i64>, tensor<i64>, tensor<i64>)
  %e30 = ad.constant dense<0> : tensor<i64>
  check.expect_eq(%n3#0, %e30) : tensor<i64>
  %e31 = ad.constant dense<0> : tensor<i64>
  check.expect_eq(%n3#1, %e31) : tensor<i64>
  %e32 = ad.constant dense<1> : tensor<i64>
  check.expect_eq(%n3#2, %e32) : tensor<i64>
  %raw4 = ad.constant dense<[5, 5, 7]> : tensor<3xi64>
  %bounds4 = ad.barrier %raw4 : tensor<3xi64>
  %n4:3 = func.call @count(%bounds4) : (tensor<3xi64>) -> (tensor<i64>, tensor<i64>, tensor<i64>)
  %e40 = ad.constant dense<0> : tensor<i64>
  check.expect_eq(%n4#0, %e40) : tensor<i64>
  %e41 = ad.constant dense<0> : tensor<i64>
  check.expect_eq(%n4#1, %e41) : tensor<i64>
  %e42 = ad.constant dense<0> : tensor<i64>
  check.expect_eq(%n4#2, %e42) : tensor<i64>
  %raw5 = ad.constant dense<[-1, 3, 2]> : tensor<3xi64>
  %bounds5 = ad.barrier %raw5 : tensor<3xi64>
  %n5:3 = func.call @count(%bounds5) : (tensor<3xi64>) -> (tensor<i64>, tensor<i64>, tensor<i64>)
  %e50 = ad.constant dense<2> : tensor<i64>
  check.expect_eq(%n5#0, %e50) : tensor<i64>
  %e51 = ad.constant dense<2> : tensor<i64>
  check.expect_eq(%n5#1, %e51) : tensor<i64>
  %e52 = ad.constant dense<0> : tensor<i64>
  check.expect_eq(%n5#2, %e52) : tensor<i64>
  %small = func.call @narrow() : () -> tensor<5xi64>
  %known = ad.constant dense<[12, 2, 2, 64500, 1]> : tensor<5xi64>
  check.expect_eq(%small, %known) : tensor<5xi64>
  return %y : tensor<f64>
}
