// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Blocks of a sum that are shorter than the chunks in which a GPU loads the operands: the last chunk of a block reaches into the next
// block, and that of the last block past the end of the operand.
//
// RUN: ad-runner %s --target reference --numerics reproducible
// RUN: ad-runner %s --target cpu --numerics reproducible
// RUN: ad-runner %s --target gpu-sim --numerics reproducible

func.func @main() -> (tensor<15x16xf16> {ad.name = "halves"}, tensor<20x24xf32> {ad.name = "floats"}) {
  %rows = ad.iota axis 0 : tensor<15x16xf16>
  %columns = ad.iota axis 1 : tensor<16x16xf16>
  %halves = ad.dot %rows, %columns {order = #ad.order<block = 8>} : (tensor<15x16xf16>, tensor<16x16xf16>) -> tensor<15x16xf16>
  // 16 i j
  %sixteen = ad.constant dense<16.0> : tensor<15x16xf16>
  %j = ad.iota axis 1 : tensor<15x16xf16>
  %0 = ad.mul %rows, %j : tensor<15x16xf16>
  %1 = ad.mul %0, %sixteen : tensor<15x16xf16>
  check.expect_eq(%halves, %1) : tensor<15x16xf16>
  %along = ad.iota axis 1 : tensor<20x48xf32>
  %across = ad.iota axis 1 : tensor<48x24xf32>
  %floats = ad.dot %along, %across {order = #ad.order<block = 12>} : (tensor<20x48xf32>, tensor<48x24xf32>) -> tensor<20x24xf32>
  // 48 * 47 / 2 times j
  %sum = ad.constant dense<1128.0> : tensor<20x24xf32>
  %k = ad.iota axis 1 : tensor<20x24xf32>
  %2 = ad.mul %sum, %k : tensor<20x24xf32>
  check.expect_eq(%floats, %2) : tensor<20x24xf32>
  return %halves, %floats : tensor<15x16xf16>, tensor<20x24xf32>
}
