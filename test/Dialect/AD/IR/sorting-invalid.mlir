// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @argsort_c1_range(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected an axis from 0 to 1, but got 2}}
  %y = ad.argsort %x axis 2 : tensor<4x3xf32>
  return
}

// -----

func.func @argsort_c1_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{expected an operand of rank 1 or more, but its rank is 0}}
  %y = ad.argsort %x axis 0 : tensor<f32>
  return
}

// -----

func.func @sort_c1() {
  // expected-error @+2 {{expected at least one operand}}
  // expected-error @+1 {{failed to infer returned types}}
  "ad.sort"() {axis = 0 : i64} : () -> ()
  return
}

// -----

func.func @sort_c2(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected an axis from 0 to 1, but got -1}}
  %y = ad.sort %x axis -1 : tensor<4x3xf32>
  return
}

// -----

func.func @sort_c3_size(%x: tensor<4x3xf32>, %z: tensor<?x4xi32>) {
  // expected-error @+1 {{expected operands of one shape, but got 'tensor<4x3xf32>' and 'tensor<?x4xi32>'}}
  %y:2 = ad.sort %x, %z axis 0 : tensor<4x3xf32>, tensor<?x4xi32>
  return
}

// -----

func.func @sort_c3_rank(%x: tensor<4x3xf32>, %z: tensor<4xi32>) {
  // expected-error @+1 {{expected operands of one shape, but got 'tensor<4x3xf32>' and 'tensor<4xi32>'}}
  %y:2 = ad.sort %x, %z axis 0 : tensor<4x3xf32>, tensor<4xi32>
  return
}

// -----

func.func @sort_c4(%x: tensor<4x3xi1>) {
  // expected-error @+1 {{expected a key of numbers, but got 'tensor<4x3xi1>'}}
  %y = ad.sort %x axis 0 : tensor<4x3xi1>
  return
}

// -----

func.func @top_k_c1(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected an axis from 0 to 1, but got 2}}
  %v, %p = ad.top_k %x axis 2 k 1 : tensor<4x3xf32>
  return
}

// -----

func.func @top_k_c2_large(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{expected k to be at most the size of axis 1 of 'tensor<4x3xf32>', but got 4}}
  %v, %p = ad.top_k %x axis 1 k 4 : tensor<4x3xf32>
  return
}

// -----

func.func @top_k_c2_negative(%x: tensor<4x?xf32>) {
  // expected-error @+1 {{expected k to be at least 0, but got -1}}
  %v, %p = ad.top_k %x axis 1 k -1 : tensor<4x?xf32>
  return
}
