// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads outside of a tensor without elements give the value outside, on every target: windows over padding alone, places
// for which no window exists, lookups that fill. Each tensor is empty by its type or in this run alone, given or computed.
//
// RUN: ad-runner %s --target reference --numerics reproducible --arg x=zeros --arg h=zeros --arg m=zeros --arg w=zeros --dim x.1=0 --dim h.0=0 --dim m.0=0 --dim w.0=2 --print | FileCheck %s
// RUN: ad-runner %s --target cpu --numerics reproducible --arg x=zeros --arg h=zeros --arg m=zeros --arg w=zeros --dim x.1=0 --dim h.0=0 --dim m.0=0 --dim w.0=2 --print | FileCheck %s
// RUN: ad-runner %s --target cpu --cpu x86-64-v3 --numerics reproducible --arg x=zeros --arg h=zeros --arg m=zeros --arg w=zeros --dim x.1=0 --dim h.0=0 --dim m.0=0 --dim w.0=2 --print | FileCheck %s
// RUN: ad-runner %s --target gpu-sim --numerics reproducible --arg x=zeros --arg h=zeros --arg m=zeros --arg w=zeros --dim x.1=0 --dim h.0=0 --dim m.0=0 --dim w.0=2 --print | FileCheck %s
// RUN: not ad-runner %s --target cpu --arg x=zeros --arg h=zeros --arg m=zeros --arg w=zeros --dim x.1=0 --dim h.0=0 --dim m.0=0 --dim w.0=2 --entry clamped 2>&1 | FileCheck %s --check-prefix=CLAMPED
// CHECK: gradient: tensor<2xf32> = [0. 0.]
// CHECK: dropped: tensor<0xbf16> =
// CLAMPED: error: 'ad.take' op dimension 0: index 0 is outside of size 0

func.func private @loss(%w: tensor<?xf32>) -> tensor<f32> {
  %sums = ad.reduce_window sum %w window [4] : tensor<?xf32>
  %y = ad.reduce_sum %sums axes [0] : tensor<?xf32> -> tensor<f32>
  return %y : tensor<f32>
}

func.func @main(%x: tensor<3x?xf32> {ad.name = "x"}, %h: tensor<?xbf16> {ad.name = "h"}, %m: tensor<?xi1> {ad.name = "m"},
    %w: tensor<?xf32> {ad.name = "w"})
    -> (tensor<?xf32> {ad.name = "gradient"}, tensor<?xbf16> {ad.name = "dropped"}) {
  %zero = ad.constant dense<0.0> : tensor<3x5xf32>
  %lowest = ad.constant dense<0xFF800000> : tensor<3x5xf32>
  %first = ad.constant dense<0> : tensor<3x5xi64>

  %largest = ad.reduce_window max %x window [1, 2] low [0, 3] high [0, 3] : tensor<3x?xf32>
  %padded = ad.reduce_window sum %x window [1, 2] low [0, 3] high [0, 3] : tensor<3x?xf32>
  %at = ad.arg_reduce_window max %x window [1, 2] low [0, 3] high [0, 3] : tensor<3x?xf32>
  %negated = ad.neg %x : tensor<3x?xf32>
  %smallest = ad.reduce_window min %negated window [1, 2] low [0, 3] high [0, 3] : tensor<3x?xf32>
  %again = ad.neg %smallest : tensor<3x?xf32>
  %largest5 = tensor.cast %largest : tensor<3x?xf32> to tensor<3x5xf32>
  %padded5 = tensor.cast %padded : tensor<3x?xf32> to tensor<3x5xf32>
  %at5 = tensor.cast %at : tensor<3x?xi64> to tensor<3x5xi64>
  %again5 = tensor.cast %again : tensor<3x?xf32> to tensor<3x5xf32>
  check.expect_eq(%largest5, %lowest) : tensor<3x5xf32>
  check.expect_eq(%padded5, %zero) : tensor<3x5xf32>
  check.expect_eq(%at5, %first) : tensor<3x5xi64>
  check.expect_eq(%again5, %lowest) : tensor<3x5xf32>

  %empty = ad.constant dense<> : tensor<3x0xf32>
  %known = ad.reduce_window max %empty window [1, 2] low [0, 3] high [0, 3] : tensor<3x0xf32>
  check.expect_eq(%known, %lowest) : tensor<3x5xf32>
  %spread = ad.spread_window %empty window [1, 6] : (tensor<3x0xf32>) -> tensor<3x5xf32>
  check.expect_eq(%spread, %zero) : tensor<3x5xf32>

  %ids = ad.iota axis 0 : tensor<40xi64>
  %filled = ad.gather %h[%ids] axes [0] outside fill value 2.5 : tensor<?xbf16>, tensor<40xi64>
  %halves = ad.constant dense<2.5> : tensor<40xbf16>
  check.expect_eq(%filled, %halves) : tensor<40xbf16>
  %set = ad.gather %m[%ids] axes [0] outside fill : tensor<?xi1>, tensor<40xi64>
  %false = ad.constant dense<false> : tensor<40xi1>
  check.expect_eq(%set, %false) : tensor<40xi1>
  %ones = ad.constant dense<1.0> : tensor<40xbf16>
  %dropped = ad.scatter add %h[%ids], %ones axes [0] outside drop : tensor<?xbf16>, tensor<40xi64>, tensor<40xbf16>

  %loss, %gradient = ad.value_and_grad @loss(%w) wrt [0] : (tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>)
  return %gradient, %dropped : tensor<?xf32>, tensor<?xbf16>
}

func.func @clamped(%x: tensor<3x?xf32> {ad.name = "x"}, %h: tensor<?xbf16> {ad.name = "h"}, %m: tensor<?xi1> {ad.name = "m"},
    %w: tensor<?xf32> {ad.name = "w"})
    -> tensor<4xbf16> {
  %ids = ad.iota axis 0 : tensor<4xi64>
  %taken = ad.take %h, %ids axis 0 outside clamp : tensor<?xbf16>, tensor<4xi64>
  return %taken : tensor<4xbf16>
}
