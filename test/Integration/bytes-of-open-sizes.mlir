// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of i8 where the type of one operand leaves open how many elements are contracted, and the other one says it.
//
// RUN: %python -c "import numpy as np; r = np.random.default_rng(1); [np.save(f'%t.{name}.npy', r.integers(-128, 128, shape, np.int8)) for name, shape in {'left.a': (9, 300), 'left.b': (300, 40), 'right.a': (8, 2, 17), 'right.b': 17, 'vector.a': (2, 7), 'vector.b': 2, 'vector.long': 3}.items()]"
// RUN: ad-runner %s --entry left --arg a=%t.left.a.npy --arg b=%t.left.b.npy --print --target reference > %t.left
// RUN: ad-runner %s --entry left --arg a=%t.left.a.npy --arg b=%t.left.b.npy --print | diff %t.left -
// RUN: ad-runner %s --entry right --arg a=%t.right.a.npy --arg b=%t.right.b.npy --print --target reference > %t.right
// RUN: ad-runner %s --entry right --arg a=%t.right.a.npy --arg b=%t.right.b.npy --print | diff %t.right -
// RUN: ad-runner %s --entry vector --arg a=%t.vector.a.npy --arg b=%t.vector.b.npy --print --target reference > %t.vector
// RUN: ad-runner %s --entry vector --arg a=%t.vector.a.npy --arg b=%t.vector.b.npy --print | diff %t.vector -
// RUN: ad-runner %s --entry vector --arg a=%t.vector.a.npy --arg b=%t.vector.b.npy --print --target gpu-sim | diff %t.vector -
// RUN: not ad-runner %s --entry vector --arg a=%t.vector.a.npy --arg b=%t.vector.long.npy 2>&1 | FileCheck %s

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
