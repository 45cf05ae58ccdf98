// RUN: ad-opt %s -split-input-file -verify-diagnostics

// Text that is no order, trees that are no orders, and orders that no kernel computes.

// expected-error @+1 {{expected a positive number of lanes, but got 0}}
func.func @order_lanes() attributes {test.order = #ad.order<lanes = 0, chunk = 4>} {
  return
}

// -----

// expected-error @+1 {{expected a power of two as the number of lanes, but got 3}}
func.func @order_power() attributes {test.order = #ad.order<lanes = 3, chunk = 3>} {
  return
}

// -----

// As many lanes as there may be.
func.func @order_all_lanes() attributes {test.order = #ad.order<lanes = 4096, chunk = 4096>} {
  return
}

// -----

// expected-error @+1 {{expected at most 4096 lanes, but got 8192}}
func.func @order_most_lanes() attributes {test.order = #ad.order<lanes = 8192, chunk = 8192>} {
  return
}

// -----

// expected-error @+1 {{expected a chunk that is a multiple of the lanes, but got 6 and 4}}
func.func @order_chunk() attributes {test.order = #ad.order<lanes = 4, chunk = 6>} {
  return
}

// -----

// expected-error @+1 {{expected a positive chunk or block, but got 0}}
func.func @order_block() attributes {test.order = #ad.order<block = 0>} {
  return
}

// -----

// expected-error @+1 {{expected 'lanes = N, chunk = N', 'block = N', 'chain' or 'chain = N, chain = N, chain', the orders that kernels compute, but got 'step = 16, chain = 32, pairwise'}}
func.func @order_steps() attributes {test.order = #ad.order<step = 16, chain = 32, pairwise>} {
  return
}

// -----

// expected-error @+1 {{expected 'lanes = N, chunk = N', 'block = N', 'chain' or 'chain = N, chain = N, chain', the orders that kernels compute, but got 'chain = 512, pairwise, chain = 4'}}
func.func @order_splits() attributes {test.order = #ad.order<chain = 512, pairwise, chain = 4>} {
  return
}

// -----

// expected-error @+1 {{expected another level of 'step', 'chain', 'interleaved', 'halving' or 'pairwise', but got 'tree'}}
func.func @order_level() attributes {test.order = #ad.order<chain = 512, tree>} {
  return
}

// -----

// expected-error @+1 {{expected one level without a number, which joins as many nodes as there are, but got 'chain = 512, pairwise = 4'}}
func.func @order_no_open_level() attributes {test.order = #ad.order<chain = 512, pairwise = 4>} {
  return
}

// -----

// expected-error @+1 {{expected one level without a number, which joins as many nodes as there are, but got 'chain, pairwise'}}
func.func @order_open_levels() attributes {test.order = #ad.order<chain, pairwise>} {
  return
}

// -----

// expected-error @+1 {{expected a positive number after 'chain', but got 0}}
func.func @order_count() attributes {test.order = #ad.order<chain = 0, pairwise>} {
  return
}

// -----

// expected-error @+1 {{expected levels of at most 1099511627776 elements, but got 'chain = 1099511627776, chain = 2, pairwise'}}
func.func @order_size() attributes {test.order = #ad.order<chain = 1099511627776, chain = 2, pairwise>} {
  return
}

// -----

// expected-error @+1 {{expected 'step = N' as the first level, since an instruction adds elements, but got 'chain = 4, step = 4, chain'}}
func.func @order_late_step() attributes {test.order = #ad.order<chain = 4, step = 4, chain>} {
  return
}

// -----

// expected-error @+1 {{expected 'interleaved' as the first level and 'halving = N' after it, which says how many lanes there are, but got 'interleaved = 64, pairwise'}}
func.func @order_interleaved() attributes {test.order = #ad.order<interleaved = 64, pairwise>} {
  return
}

// -----

// expected-error @+1 {{expected 'halving = N' with a power of two, but got 'interleaved = 8, halving = 6, pairwise'}}
func.func @order_halving() attributes {test.order = #ad.order<interleaved = 8, halving = 6, pairwise>} {
  return
}

// -----

// expected-error @+1 {{expected at most 4096 lanes, but got 8192}}
func.func @order_most_levels() attributes {test.order = #ad.order<interleaved = 1, halving = 8192, pairwise>} {
  return
}

// -----

// expected-error @+1 {{expected 'lanes = N, chunk = N', 'block = N', 'chain' or 'chain = N, chain = N, chain', the orders that kernels compute, but got 'chain = 128, chain'}}
func.func @order_two_chains() attributes {test.order = #ad.order<chain = 128, chain>} {
  return
}

// -----

func.func @running_sum_in_a_tree(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.cumsum' op expected 'chain' or 'chain = N, chain = N, chain' as the order of a running reduction, but got #ad.order<block = 512>}}
  %y = ad.cumsum %x axis 1 {order = #ad.order<block = 512>} : tensor<4x3xf32>
  return
}

// -----

func.func @sum_in_nested_chains(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'ad.reduce_sum' op expected an order with one total, but got #ad.order<chain = 128, chain = 128, chain>, the order of running reductions}}
  %y = ad.reduce_sum %x axes [1] {order = #ad.order<chain = 128, chain = 128, chain>} : tensor<4x3xf32> -> tensor<4xf32>
  return
}
