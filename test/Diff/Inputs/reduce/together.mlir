// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// needs-chain.sh gives other results where the first four operations are a chain.
func.func @main(%x: tensor<8xf32> {ad.name = "x"}) -> (tensor<8xf32> {ad.name = "y"}) {
  %a = ad.exp %x : tensor<8xf32>
  %b = ad.neg %a : tensor<8xf32>
  %c = ad.tanh %b : tensor<8xf32>
  %d = ad.sin %c : tensor<8xf32>
  %e = ad.abs %d : tensor<8xf32>
  return %e : tensor<8xf32>
}
