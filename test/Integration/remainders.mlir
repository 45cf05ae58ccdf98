// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Remainders have the dividend's sign, are exact, and have the same bits on every target.
//
// RUN: rm -rf %t.*
// DEFINE: %{arguments} = --cache off --numerics reproducible --arg x=normal:1:100 --arg y=normal:2 --arg z=normal:3:1e6
// RUN: ad-runner %s --target reference %{arguments} --out-dir %t.reference
// RUN: ad-runner %s --target cpu %{arguments} --out-dir %t.cpu
// RUN: ad-runner %s --target gpu-sim %{arguments} --out-dir %t.gpu
// RUN: diff -r %t.cpu %t.reference
// RUN: diff -r %t.gpu %t.reference

func.func @main(%x: tensor<7x37xf32> {ad.name = "x"}, %y: tensor<37xf32> {ad.name = "y"},
                %z: tensor<41xf64> {ad.name = "z"})
    -> (tensor<7x37xf32> {ad.name = "of_rows"}, tensor<7x37xf32> {ad.name = "by_rows"}, tensor<41xf64> {ad.name = "wide"}) {
  %of = ad.rem %x, %y : tensor<7x37xf32>, tensor<37xf32>
  %by = ad.rem %y, %x : tensor<37xf32>, tensor<7x37xf32>
  %seven = ad.constant dense<7.0> : tensor<f64>
  %wide = ad.rem %z, %seven : tensor<41xf64>, tensor<f64>

  %a = ad.constant dense<[7.5, -7.5, 7.5, -7.5, 0.25, 6.0]> : tensor<6xf64>
  %b = ad.constant dense<[2.0, 2.0, -2.0, -2.0, 1.0e300, 3.0]> : tensor<6xf64>
  %hidden:2 = ad.barrier %a, %b : tensor<6xf64>, tensor<6xf64>
  %c = ad.rem %hidden#0, %hidden#1 : tensor<6xf64>
  %exact = ad.constant dense<[1.5, -1.5, 1.5, -1.5, 0.25, 0.0]> : tensor<6xf64>
  check.expect_eq(%c, %exact) : tensor<6xf64>
  return %of, %by, %wide : tensor<7x37xf32>, tensor<7x37xf32>, tensor<41xf64>
}
