// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Axes that are empty in this run, with others around them whose units threads share.
//
// RUN: ad-runner %s --target cpu --threads 1 --arg x=normal:1 --dim x.0=3 --dim x.1=0 --dim x.2=5 --print | FileCheck %s
// RUN: ad-runner %s --target cpu --threads 2 --arg x=normal:1 --dim x.0=3 --dim x.1=0 --dim x.2=5 --print | FileCheck %s
// RUN: ad-runner %s --target cpu --threads 2 --tiles small --arg x=normal:1 --dim x.0=3 --dim x.1=0 --dim x.2=5 --print | FileCheck %s
// RUN: ad-runner %s --target cpu --threads 2 --arg x=normal:1 --dim x.0=3 --dim x.1=4 --dim x.2=0 --print | FileCheck %s --check-prefix=LAST
// RUN: ad-runner %s --entry known --target cpu --arg x=zeros --arg w=normal:1 --dim x.2=5 --dim w.0=5 --dim w.1=7 --print | FileCheck %s --check-prefix=KNOWN
// RUN: ad-runner %s --entry nothing --target cpu --threads 2 --arg a=zeros --arg b=zeros --dim a.1=2 --dim b.0=0 --print | FileCheck %s --check-prefix=NOTHING
// NOTHING: r: tensor<i32> = 0
// KNOWN: y: tensor<3x0x7xf32> =
// KNOWN: s: tensor<0x7xf32> =
// CHECK: y: tensor<3x0x5xf32> =
// CHECK: sums: tensor<3x0xf32> =
// CHECK: product: tensor<3x0x0xf32> =
// CHECK: line: tensor<3x0x5xf32> =
// LAST: y: tensor<3x4x0xf32> =
// LAST: sums: tensor<3x4xf32> =
// LAST-NEXT: {{^\[\[}}0. 0. 0. 0.]
// LAST: product: tensor<3x4x4xf32> =
// LAST-NEXT: 0. 0. 0. 0.]
// LAST: line: tensor<3x4x0xf32> =

func.func @main(%x: tensor<?x?x?xf32> {ad.name = "x"})
    -> (tensor<?x?x?xf32> {ad.name = "y"}, tensor<?x?xf32> {ad.name = "sums"}, tensor<?x?x?xf32> {ad.name = "product"},
        tensor<?x?x?xf32> {ad.name = "line"}) {
  %y = ad.softmax %x axis 2 : tensor<?x?x?xf32>
  %sums = ad.reduce_sum %x axes [2] : tensor<?x?x?xf32> -> tensor<?x?xf32>
  %product = ad.dot %x, %x batch [0] x [0] contract [2] x [2] : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %line = ad.cumsum %x axis 2 : tensor<?x?x?xf32>
  return %y, %sums, %product, %line : tensor<?x?x?xf32>, tensor<?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>
}

// The same where the program says which axis is empty.
func.func @known(%x: tensor<3x0x?xf32> {ad.name = "x"}, %w: tensor<?x?xf32> {ad.name = "w"})
    -> (tensor<3x0x?xf32> {ad.name = "y"}, tensor<0x?xf32> {ad.name = "s"}) {
  %y = ad.dot %x, %w contract [2] x [0] : (tensor<3x0x?xf32>, tensor<?x?xf32>) -> tensor<3x0x?xf32>
  %s = ad.reduce_sum %y axes [0] : tensor<3x0x?xf32> -> tensor<0x?xf32>
  return %y, %s : tensor<3x0x?xf32>, tensor<0x?xf32>
}

// Rows of a contraction along two axes: the program says that the inner one is empty, the outer one is open.
// RUN: ad-runner %s --entry rows --target cpu --arg x=zeros --dim x.0=2 --arg w=normal:1 --print | FileCheck %s --check-prefix=ROWS
// ROWS: y: tensor<2x0x7xf64> =
func.func @rows(%x: tensor<?x0x5xf64> {ad.name = "x"}, %w: tensor<5x7xf64> {ad.name = "w"}) -> (tensor<?x0x7xf64> {ad.name = "y"}) {
  %y = ad.dot %x, %w batch [] x [] contract [2] x [0] : (tensor<?x0x5xf64>, tensor<5x7xf64>) -> tensor<?x0x7xf64>
  return %y : tensor<?x0x7xf64>
}

// Nothing is summed, along one axis whose size is known and another one whose size is not.
func.func @nothing(%a: tensor<0x?xi32> {ad.name = "a"}, %b: tensor<?x2xi32> {ad.name = "b"}) -> (tensor<i32> {ad.name = "r"}) {
  %r = ad.dot %a, %b batch [] x [] contract [1, 0] x [1, 0] : (tensor<0x?xi32>, tensor<?x2xi32>) -> tensor<i32>
  return %r : tensor<i32>
}
