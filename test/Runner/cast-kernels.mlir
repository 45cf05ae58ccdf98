// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The report names kernels that only cast.
//
// RUN: ad-runner %s --entry cast --arg x=normal:1 --report %t.json
// RUN: FileCheck %s --check-prefix=CAST --input-file %t.json
// RUN: ad-runner %s --entry cast --arg x=normal:1 --target gpu-sim --report %t.json
// RUN: FileCheck %s --check-prefix=CAST --input-file %t.json
// RUN: ad-runner %s --entry cast --emit %t.adx --report %t.json
// RUN: FileCheck %s --check-prefix=CAST --input-file %t.json
// RUN: ad-runner %s --entry fused --arg x=normal:1 --report %t.json
// RUN: FileCheck %s --check-prefix=FUSED --input-file %t.json

// CAST: "cast_kernels":{{[[:space:]]*}}[{{[[:space:]]*}}"cast_0"{{[[:space:]]*}}]
func.func @cast(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xbf16> {
  %y = ad.cast %x : tensor<4xf32> -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// FUSED: "cast_kernels":{{[[:space:]]*}}[]
func.func @fused(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xbf16> {
  %e = ad.exp %x : tensor<4xf32>
  %y = ad.cast %e : tensor<4xf32> -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}
