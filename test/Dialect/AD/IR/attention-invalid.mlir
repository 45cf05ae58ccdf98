// RUN: ad-opt %s --split-input-file --verify-diagnostics

func.func @attention_c1_rank(%q: tensor<2x4x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected query, key and value of rank 4 with one type of floats, but got 'tensor<2x4x5x8xf32>', 'tensor<2x7x8xf32>' and 'tensor<2x2x7x3xf32>'}}
  %y:2 = ad.attention %q, %k, %v : tensor<2x4x5x8xf32>, tensor<2x7x8xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c1_element(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf16>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected query, key and value of rank 4 with one type of floats, but got 'tensor<2x4x5x8xf32>', 'tensor<2x2x7x8xf16>'}}
  %y:2 = ad.attention %q, %k, %v : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf16>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c2_batches(%q: tensor<2x4x5x8xf32>, %k: tensor<3x2x7x8xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected one number of batches, but got 2 in 'tensor<2x4x5x8xf32>' and 3 in 'tensor<3x2x7x8xf32>'}}
  %y:2 = ad.attention %q, %k, %v : tensor<2x4x5x8xf32>, tensor<3x2x7x8xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c2_heads(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected one number of heads of keys and values, but got 4 in}}
  %y:2 = ad.attention %q, %k, %v : tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c2_keys(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected one number of keys and values, but got 6 in}}
  %y:2 = ad.attention %q, %k, %v : tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c2_depth(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x9xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected one number of elements of a query and a key, but got 8 in}}
  %y:2 = ad.attention %q, %k, %v : tensor<2x4x5x8xf32>, tensor<2x2x7x9xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c3_open(%q: tensor<2x?x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected static numbers of heads, and of elements of a query, key and value, of at least 1, but got 'tensor<2x?x5x8xf32>'}}
  %y:2 = ad.attention %q, %k, %v : tensor<2x?x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c3_empty(%q: tensor<2x4x5x0xf32>, %k: tensor<2x2x7x0xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected static numbers of heads}}
  %y:2 = ad.attention %q, %k, %v : tensor<2x4x5x0xf32>, tensor<2x2x7x0xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c3_groups(%q: tensor<2x3x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected the heads of the query to be a multiple of those of the key, but got 3 and 2}}
  %y:2 = ad.attention %q, %k, %v : tensor<2x3x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c4_size(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>, %m: tensor<2x4x5x6xi1>) {
  // expected-error @+1 {{expected a mask of i1 or 'f32' with the sizes 2x4x5x7, or 1 in their place, but got 'tensor<2x4x5x6xi1>'}}
  %y:2 = ad.attention %q, %k, %v mask %m : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<2x4x5x6xi1>
  return
}

// -----

func.func @attention_c4_rank(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>, %m: tensor<5x7xi1>) {
  // expected-error @+1 {{or 1 in their place, but got 'tensor<5x7xi1>'}}
  %y:2 = ad.attention %q, %k, %v mask %m : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<5x7xi1>
  return
}

// -----

func.func @attention_c4_element(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>, %m: tensor<2x4x5x7xf64>) {
  // expected-error @+1 {{or 1 in their place, but got 'tensor<2x4x5x7xf64>'}}
  %y:2 = ad.attention %q, %k, %v mask %m : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<2x4x5x7xf64>
  return
}

// -----

func.func @attention_c5_window(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected a window of at least 1, but got 0}}
  %y:2 = ad.attention %q, %k, %v window 0 : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c5_chunk(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected a chunk of at least 1, but got -3}}
  %y:2 = ad.attention %q, %k, %v chunk -3 : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c5_scale(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected a scale that is finite in 'f32', but got }}
  %y:2 = ad.attention %q, %k, %v scale 0x7FF0000000000000 : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_c5_softcap(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{expected a softcap above 0 that is finite in 'f32', but got 0.0}}
  %y:2 = ad.attention %q, %k, %v softcap 0.0 : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>
  return
}

// -----

func.func @attention_grad_c1(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>, %l: tensor<2x4x5xf32>, %d: tensor<2x4x5xf32>, %g: tensor<2x4x5x3xf32>) {
  // expected-error @+1 {{expected a window of at least 1, but got -1}}
  %y:3 = ad.attention_grad %q, %k, %v, %l, %d, %g window -1 : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x3xf32>
  return
}

// -----

func.func @attention_grad_c2(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>, %l: tensor<2x4x5xf32>, %d: tensor<2x4x5xf32>, %g: tensor<2x4x5x8xf32>) {
  // expected-error @+1 {{expected a cotangent of type 'tensor<2x4x5x3xf32>', but got 'tensor<2x4x5x8xf32>'}}
  %y:3 = ad.attention_grad %q, %k, %v, %l, %d, %g : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x8xf32>
  return
}

// -----

func.func @attention_grad_c3_log_sum(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>, %l: tensor<2x4xf32>, %d: tensor<2x4x5xf32>, %g: tensor<2x4x5x3xf32>) {
  // expected-error @+1 {{expected logSum of type 'tensor<2x4x5xf32>', but got 'tensor<2x4xf32>'}}
  %y:3 = ad.attention_grad %q, %k, %v, %l, %d, %g : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<2x4xf32>, tensor<2x4x5xf32>, tensor<2x4x5x3xf32>
  return
}

// -----

func.func @attention_grad_c3_delta(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>, %l: tensor<2x4x5xf32>, %d: tensor<2x4x5xf16>, %g: tensor<2x4x5x3xf32>) {
  // expected-error @+1 {{expected delta of type 'tensor<2x4x5xf32>', but got 'tensor<2x4x5xf16>'}}
  %y:3 = ad.attention_grad %q, %k, %v, %l, %d, %g : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf16>, tensor<2x4x5x3xf32>
  return
}

// -----

func.func @attention_c5_scale_of_accumulator(%q: tensor<2x4x5x8xf32>) {
  // expected-error @+1 {{expected a scale that is finite in 'f32', but got 1.0}}
  %y:2 = ad.attention %q, %q, %q scale 1.0e300 : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>
  return
}

// -----

func.func @attention_c5_softcap_of_accumulator(%q: tensor<2x4x5x8xbf16>) {
  // expected-error @+1 {{expected a softcap above 0 that is finite in 'f32', but got 1.0}}
  %y:2 = ad.attention %q, %q, %q softcap 1.0e-50 : tensor<2x4x5x8xbf16>, tensor<2x4x5x8xbf16>, tensor<2x4x5x8xbf16>
  return
}

// -----

func.func @attention_c1_integers(%q: tensor<2x4x5x8xi32>) {
  // expected-error @+1 {{expected query, key and value of rank 4 with one type of floats, but got 'tensor<2x4x5x8xi32>'}}
  %y:2 = ad.attention %q, %q, %q : tensor<2x4x5x8xi32>, tensor<2x4x5x8xi32>, tensor<2x4x5x8xi32>
  return
}
