// RUN: ad-opt %s --ad-differentiate --split-input-file --verify-diagnostics

// Every active operation without a rule is named, others are not.
func.func @unruly(%x: tensor<2xf32>, %n: index) -> tensor<f32> {
  %inactive = tensor.from_elements %n : tensor<1xindex>
  %a = tensor.extract %x[%n] : tensor<2xf32>
  // expected-error @below {{'math.copysign' op has no derivative rule}}
  %b = math.copysign %a, %a : f32
  // expected-error @below {{'llvm.intr.fabs' op has no derivative rule}}
  %c = llvm.intr.fabs(%b) : (f32) -> f32
  %unused = llvm.intr.fabs(%b) : (f32) -> f32
  %y = ad.full %c : f32 -> tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%x: tensor<2xf32>, %n: index) -> tensor<2xf32> {
  // expected-note @below {{needed for this derivative}}
  %y, %dx = ad.value_and_grad @unruly(%x, %n) wrt [0] : (tensor<2xf32>, index) -> (tensor<f32>, tensor<2xf32>)
  return %dx : tensor<2xf32>
}

// -----

func.func @no_step(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %zero = arith.constant 0 : index
  // expected-error @below {{'scf.for' op has no reverse: expected a positive step, but got 0}}
  %y = scf.for %i = %zero to %n step %zero iter_args(%a = %x) -> tensor<f32> {
    %b = ad.sin %a : tensor<f32>
    scf.yield %b : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>, %n: index) -> tensor<f32> {
  // expected-note @below {{needed for this derivative}}
  %y, %dx = ad.value_and_grad @no_step(%x, %n) wrt [0] : (tensor<f32>, index) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func @wide_index(%x: tensor<f32>, %n: i128) -> tensor<f32> {
  %zero = arith.constant 0 : i128
  %one = arith.constant 1 : i128
  // expected-error @below {{'scf.for' op has no reverse: expected an index of at most 64 bits, but got 'i128'}}
  %y = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> tensor<f32> : i128 {
    %b = ad.sin %a : tensor<f32>
    scf.yield %b : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>, %n: i128) -> tensor<f32> {
  // expected-note @below {{needed for this derivative}}
  %y, %dx = ad.value_and_grad @wide_index(%x, %n) wrt [0] : (tensor<f32>, i128) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func @while(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'scf.while' op has no reverse: the reverse of scf.while needs a bound on the number of iterations; use scf.for (in Python adjoint.fori_loop or adjoint.scan)}}
  %y = scf.while (%a = %x) : (tensor<f32>) -> tensor<f32> {
    %go = arith.constant false
    scf.condition(%go) %a : tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>):
    %b = ad.sin %a : tensor<f32>
    scf.yield %b : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{needed for this derivative}}
  %y, %dx = ad.value_and_grad @while(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func @endless(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'func.call' op expected no recursion in differentiated code, but 'endless' reaches itself through this operation}}
  %y = func.call @endless(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y, %dx = ad.value_and_grad @endless(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func @itself(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'ad.value_and_grad' op expected no recursion in differentiated code, but 'itself' reaches itself through this operation}}
  %y, %dx = ad.value_and_grad @itself(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func private @outside(tensor<f32>) -> tensor<f32>
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'ad.value_and_grad' op expected 'outside' to have a body}}
  %y, %dx = ad.value_and_grad @outside(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func @fed(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  %y = scf.if %p -> tensor<f32> {
    // expected-error @below {{'ad.feed' op has no reverse: expected it directly in the body of a differentiated scf.for}}
    %w = ad.feed "w" : tensor<f32>
    %z = ad.mul %x, %w : tensor<f32>
    scf.yield %z : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  // expected-note @below {{needed for this derivative}}
  %y, %dx = ad.value_and_grad @fed(%x, %p) wrt [0] : (tensor<f32>, i1) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func @blocks(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  cf.cond_br %p, ^a, ^b
^a:
  %y = ad.sin %x : tensor<f32>
  return %y : tensor<f32>
^b:
  return %x : tensor<f32>
}
func.func @main(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  // expected-error @below {{'ad.value_and_grad' op expected 'blocks' to have structured control flow, but got 3 blocks}}
  %y, %dx = ad.value_and_grad @blocks(%x, %p) wrt [0] : (tensor<f32>, i1) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func @blocks(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  cf.cond_br %p, ^a, ^b
^a:
  %y = ad.sin %x : tensor<f32>
  return %y : tensor<f32>
^b:
  return %x : tensor<f32>
}
func.func @caller(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  // expected-error @below {{'func.call' op expected 'blocks' to have structured control flow to be differentiated, but got 3 blocks}}
  %y = func.call @blocks(%x, %p) : (tensor<f32>, i1) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  %y, %dx = ad.value_and_grad @caller(%x, %p) wrt [0] : (tensor<f32>, i1) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func @buffer(%x: tensor<f32>, %m: memref<f32>) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  // expected-error @below {{'scf.for' op has no reverse: expected carried values to be numbers or tensors of numbers, but got 'memref<f32>'}}
  %y, %n = scf.for %i = %zero to %two step %one iter_args(%a = %x, %b = %m) -> (tensor<f32>, memref<f32>) {
    %c = ad.sin %a : tensor<f32>
    scf.yield %c, %b : tensor<f32>, memref<f32>
  }
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>, %m: memref<f32>) -> tensor<f32> {
  // expected-note @below {{needed for this derivative}}
  %y, %dx = ad.value_and_grad @buffer(%x, %m) wrt [0] : (tensor<f32>, memref<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func @effect(%x: tensor<f32>, %m: memref<f32>) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %y = scf.for %i = %zero to %two step %one iter_args(%a = %x) -> tensor<f32> {
    // expected-error @below {{'memref.load' op has no reverse: expected a pure operation or 'ad.feed' in differentiated control flow}}
    %s = memref.load %m[] : memref<f32>
    %b = ad.full %s : f32 -> tensor<f32>
    %c = ad.mul %a, %b : tensor<f32>
    scf.yield %c : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>, %m: memref<f32>) -> tensor<f32> {
  // expected-note @below {{needed for this derivative}}
  %y, %dx = ad.value_and_grad @effect(%x, %m) wrt [0] : (tensor<f32>, memref<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func @growing(%x: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %y = scf.for %i = %zero to %two step %one iter_args(%a = %x) -> tensor<f32> {
    // expected-error @below {{'ad.feed' op has no reverse: expected sizes that are the same in all iterations}}
    %w = ad.feed "w"(%i) : tensor<?xf32>
    %s = ad.reduce_sum %w axes [0] : tensor<?xf32> -> tensor<f32>
    %b = ad.mul %a, %s : tensor<f32>
    scf.yield %b : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{needed for this derivative}}
  %y, %dx = ad.value_and_grad @growing(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

// Outside of functions order does not matter to MLIR.
// expected-error @below {{'ad.stop_gradient' op is computed from its own result}}
%0 = ad.stop_gradient %0 : tensor<f32>
