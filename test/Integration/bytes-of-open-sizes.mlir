// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of i8 where the type of one operand leaves open how many elements are contracted, and the other one says it.
//
// RUN: ad-runner %s --entry left --dim a.1=300 --arg a=uniform:1:100 --arg b=uniform:2:100 --print --target reference > %t.left
// RUN: ad-runner %s --entry left --dim a.1=300 --arg a=uniform:1:100 --arg b=uniform:2:100 --print | diff %t.left -
// RUN: ad-runner %s --entry right --dim b.0=17 --arg a=uniform:1:100 --arg b=uniform:2:100 --print --target reference > %t.right
// RUN: ad-runner %s --entry right --dim b.0=17 --arg a=uniform:1:100 --arg b=uniform:2:100 --print | diff %t.right -
// RUN: ad-runner %s --entry vector --dim b.0=2 --arg a=uniform:1:100 --arg b=uniform:2:100 --print --target reference > %t.vector
// RUN: ad-runner %s --entry vector --dim b.0=2 --arg a=uniform:1:100 --arg b=uniform:2:100 --print | diff %t.vector -
// RUN: ad-runner %s --entry vector --dim b.0=2 --arg a=uniform:1:100 --arg b=uniform:2:100 --print --target gpu-sim | diff %t.vector -
// RUN: not ad-runner %s --entry vector --dim b.0=3 --arg a=uniform:1:100 --arg b=uniform:2:100 2>&1 | FileCheck %s


// CHECK: bytes-of-open-sizes.mlir:[[@LINE+12]]:8: error: {{.*}}2{{.*}}3
func.func @left(%a: tensor<9x?xi8> {ad.name = "a"}, %b: tensor<300x40xi8> {ad.name = "b"}) -> tensor<9x40xi32> {
  %c = ad.dot %a, %b contract [1] x [0] : (tensor<9x?xi8>, tensor<300x40xi8>) -> tensor<9x40xi32>
  return %c : tensor<9x40xi32>
}

func.func @right(%a: tensor<8x2x17xi8> {ad.name = "a"}, %b: tensor<?xi8> {ad.name = "b"}) -> tensor<8x2xi32> {
  %c = ad.dot %a, %b contract [2] x [0] : (tensor<8x2x17xi8>, tensor<?xi8>) -> tensor<8x2xi32>
  return %c : tensor<8x2xi32>
}

func.func @vector(%a: tensor<2x7xi8> {ad.name = "a"}, %b: tensor<?xi8> {ad.name = "b"}) -> tensor<7xi32> {
  %c = ad.dot %a, %b contract [0] x [0] : (tensor<2x7xi8>, tensor<?xi8>) -> tensor<7xi32>
  return %c : tensor<7xi32>
}
