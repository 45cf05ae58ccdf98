// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @gather_c1_indices(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected a tensor of indices for each of 2 axes, and at least one, but got 1}}
  %y = ad.gather %x[%i] axes [0, 1] : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @gather_c2_range(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected an axis from 0 to 1, but got 2}}
  %y = ad.gather %x[%i] axes [2] slices [0, 1] : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @gather_c2_order(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %j: tensor<7xi32>) {
  // expected-error @+1 {{expected ascending}}
  %y = ad.gather %x[%i, %j] axes [1, 0] : tensor<5x4xf32>, tensor<7xi32>, tensor<7xi32>
  return
}

// -----

func.func @gather_c2_both(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected axis 0 to be indexed or a batch axis, but it is both}}
  %y = ad.gather %x[%i] axes [0] batch [0] x [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @gather_c3_count(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected as many batch axes of the indices as of the input, 1, but got 0}}
  %y = ad.gather %x[%i] axes [0] batch [1] x [] : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @gather_c3_range(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected an axis from 0 to 0, but got 1}}
  %y = ad.gather %x[%i] axes [0] batch [1] x [1] : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @gather_c4_shapes(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %j: tensor<6xi32>) {
  // expected-error @+1 {{expected indices of one shape, but got 7 and 6}}
  %y = ad.gather %x[%i, %j] axes [0, 1] : tensor<5x4xf32>, tensor<7xi32>, tensor<6xi32>
  return
}

// -----

func.func @gather_c4_batch(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected batch axes of one size, but axis 1 has 4 elements and axis 0 of the indices 7}}
  %y = ad.gather %x[%i] axes [0] batch [1] x [0] : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @gather_c5_count(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected 1 slices, one for each axis of the input that is not indexed and no batch axis, but got 0}}
  %y = ad.gather %x[%i] axes [0] : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @gather_c5_range(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected slices to be ascending axes of the result, which has rank 2, but got [2]}}
  %y = ad.gather %x[%i] axes [0] slices [2] : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @scatter_c1_indices(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected a tensor of indices for each of 2 axes, and at least one, but got 1}}
  %y = ad.scatter add %x[%i], %u axes [0, 1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return
}

// -----

func.func @scatter_c2_range(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected an axis from 0 to 1, but got 2}}
  %y = ad.scatter add %x[%i], %u axes [2] slices [0, 1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return
}

// -----

func.func @scatter_c2_order(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %j: tensor<7xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected ascending}}
  %y = ad.scatter add %x[%i, %j], %u axes [1, 0] : tensor<5x4xf32>, tensor<7xi32>, tensor<7xi32>, tensor<7x4xf32>
  return
}

// -----

func.func @scatter_c2_both(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected axis 0 to be indexed or a batch axis, but it is both}}
  %y = ad.scatter add %x[%i], %u axes [0] batch [0] x [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return
}

// -----

func.func @scatter_c3_count(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected as many batch axes of the indices as of the input, 1, but got 0}}
  %y = ad.scatter add %x[%i], %u axes [0] batch [1] x [] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return
}

// -----

func.func @scatter_c3_range(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected an axis from 0 to 0, but got 1}}
  %y = ad.scatter add %x[%i], %u axes [0] batch [1] x [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return
}

// -----

func.func @scatter_c4_shapes(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %j: tensor<6xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected indices of one shape, but got 7 and 6}}
  %y = ad.scatter add %x[%i, %j], %u axes [0, 1] : tensor<5x4xf32>, tensor<7xi32>, tensor<6xi32>, tensor<7x4xf32>
  return
}

// -----

func.func @scatter_c4_batch(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected batch axes of one size, but axis 1 has 4 elements and axis 0 of the indices 7}}
  %y = ad.scatter add %x[%i], %u axes [0] batch [1] x [0] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return
}

// -----

func.func @scatter_c5_count(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected 1 slices, one for each axis of the input that is not indexed and no batch axis, but got 0}}
  %y = ad.scatter add %x[%i], %u axes [0] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return
}

// -----

func.func @scatter_c5_range(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected slices to be ascending axes of the update, which has rank 2, but got [2]}}
  %y = ad.scatter add %x[%i], %u axes [0] slices [2] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return
}

// -----

func.func @gather_c5_order(%x: tensor<5x4x3xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected slices to be ascending axes of the result, which has rank 3, but got [1, 0]}}
  %y = ad.gather %x[%i] axes [0] slices [1, 0] : tensor<5x4x3xf32>, tensor<7xi32>
  return
}

// -----

func.func @gather_c6_drop(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected an index outside to be an error, clamp or fill, but got drop}}
  %y = ad.gather %x[%i] axes [0] slices [1] outside drop : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @gather_c6_value(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected a value with `outside fill` only}}
  %y = ad.gather %x[%i] axes [0] slices [1] outside clamp value 1.0 : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @take_c1_axis(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected an axis from 0 to 1, but got 2}}
  %y = ad.take %x, %i axis 2 : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @take_c2_drop(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected an index outside to be an error, clamp or fill, but got drop}}
  %y = ad.take %x, %i axis 0 outside drop : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @embedding_c1_rank(%x: tensor<f32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected an operand of rank 1 or more, but its rank is 0}}
  %y = ad.embedding %x, %i : tensor<f32>, tensor<7xi32>
  return
}

// -----

func.func @embedding_c2_padding(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected padding to be a row of the table, which has 5, but got 5}}
  %y = ad.embedding %x, %i padding 5 : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @embedding_c2_negative(%x: tensor<5x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{expected padding to be a row of the table, which has 5, but got -1}}
  %y = ad.embedding %x, %i padding -1 : tensor<5x4xf32>, tensor<7xi32>
  return
}

// -----

func.func @scatter_c6_fill(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected an index outside to be an error, clamp or drop, but got fill}}
  %y = ad.scatter set %x[%i], %u axes [0] slices [1] outside fill : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return
}

// -----

func.func @scatter_c7_shape(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x3xf32>) {
  // expected-error @+1 {{expected an update of type 'tensor<7x4xf32>', but got 'tensor<7x3xf32>'}}
  %y = ad.scatter set %x[%i], %u axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x3xf32>
  return
}

// -----

func.func @scatter_c7_element(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf64>) {
  // expected-error @+1 {{expected an update of type 'tensor<7x4xf32>', but got 'tensor<7x4xf64>'}}
  %y = ad.scatter set %x[%i], %u axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf64>
  return
}

// -----

func.func @scatter_c8_booleans(%x: tensor<5x4xi1>, %i: tensor<7xi32>, %u: tensor<7x4xi1>) {
  // expected-error @+1 {{expected numbers to combine, but got 'tensor<5x4xi1>'}}
  %y = ad.scatter add %x[%i], %u axes [0] slices [1] : tensor<5x4xi1>, tensor<7xi32>, tensor<7x4xi1>
  return
}

// -----

func.func @scatter_kind(%x: tensor<5x4xf32>, %i: tensor<7xi32>, %u: tensor<7x4xf32>) {
  // expected-error @+1 {{expected set, add, max or min, but got 'mul'}}
  %y = ad.scatter mul %x[%i], %u axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
  return
}
