// RUN: ad-opt %s --allow-unregistered-dialect --ad-differentiate --split-input-file --verify-diagnostics
// RUN: ad-opt %s --allow-unregistered-dialect --canonicalize --ad-differentiate --split-input-file --verify-diagnostics

// A derivative that would be lost in memory, in a call, in a cast or in a value of an unknown type is an error at the
// operation, never a zero.

func.func private @memory(%x: tensor<f32>) -> tensor<f32> {
  %m = memref.alloca() : memref<f32>
  %s = tensor.extract %x[] : tensor<f32>
  // expected-error @below {{'memref.store' op has no derivative rule, but may write to memory what depends on a differentiated argument}}
  memref.store %s, %m[] : memref<f32>
  // expected-error @below {{'memref.load' op has no derivative rule, but a differentiated result depends on what it may read from memory}}
  %l = memref.load %m[] : memref<f32>
  %y = ad.full %l : f32 -> tensor<f32>
  %z = ad.mul %y, %y : tensor<f32>
  return %z : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-note @below {{needed for this derivative}}
  %v, %g = ad.value_and_grad @memory(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %v, %g : tensor<f32>, tensor<f32>
}

// -----

// The result needs nothing of it; another part of the program may read it.
memref.global @kept : memref<f32>
func.func private @global(%x: tensor<f32>, %c: i1) -> tensor<f32> {
  %s = tensor.extract %x[] : tensor<f32>
  scf.if %c {
    %m = memref.get_global @kept : memref<f32>
    // expected-error @below {{'memref.store' op has no derivative rule, but may write to memory}}
    memref.store %s, %m[] : memref<f32>
  }
  return %x : tensor<f32>
}
func.func @main(%x: tensor<f32>, %c: i1) -> (tensor<f32>, tensor<f32>) {
  // expected-note @below {{needed for this derivative}}
  %v, %g = ad.value_and_grad @global(%x, %c) wrt [0] : (tensor<f32>, i1) -> (tensor<f32>, tensor<f32>)
  return %v, %g : tensor<f32>, tensor<f32>
}

// -----

// What memory holds may depend on anything.
memref.global @weights : memref<f32>
func.func private @read(%x: tensor<f32>) -> tensor<f32> {
  %m = memref.get_global @weights : memref<f32>
  // expected-error @below {{'memref.load' op has no derivative rule, but a differentiated result depends on what it may read from memory}}
  %l = memref.load %m[] : memref<f32>
  %y = ad.full %l : f32 -> tensor<f32>
  %z = ad.mul %x, %y : tensor<f32>
  return %z : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-note @below {{needed for this derivative}}
  %v, %g = ad.value_and_grad @read(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %v, %g : tensor<f32>, tensor<f32>
}

// -----

func.func private @outside(tensor<f32>) -> tensor<f32>
func.func private @keep(tensor<f32>)
func.func private @calls(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'func.call' op has no derivative rule, but may write to memory}}
  func.call @keep(%x) : (tensor<f32>) -> ()
  // expected-error @below {{'func.call' op has no derivative rule; expected a call of a function with a body}}
  %y = func.call @outside(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-note @below {{needed for this derivative}}
  %v, %g = ad.value_and_grad @calls(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %v, %g : tensor<f32>, tensor<f32>
}

// -----

func.func private @complex(%x: tensor<f32>) -> tensor<f32> {
  %s = tensor.extract %x[] : tensor<f32>
  // expected-error @below {{'complex.create' op has no derivative rule}}
  %c = complex.create %s, %s : complex<f32>
  // expected-error @below {{'complex.mul' op has no derivative rule}}
  %d = complex.mul %c, %c : complex<f32>
  // expected-error @below {{'complex.im' op has no derivative rule}}
  %r = complex.im %d : complex<f32>
  %y = ad.full %r : f32 -> tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-note @below {{needed for this derivative}}
  %v, %g = ad.value_and_grad @complex(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %v, %g : tensor<f32>, tensor<f32>
}

// -----

// A cast that keeps the bits keeps the dependence, one that rounds does not.
func.func private @bits(%x: tensor<f32>) -> tensor<f32> {
  %s = tensor.extract %x[] : tensor<f32>
  // expected-error @below {{'arith.bitcast' op has no derivative rule for its result of type 'i32'}}
  %b = arith.bitcast %s : f32 to i32
  %one = arith.constant 1 : i32
  %n = arith.addi %b, %one : i32
  %r = arith.bitcast %n : i32 to f32
  %rounded = arith.fptosi %s : f32 to i32
  %f = arith.sitofp %rounded : i32 to f32
  %sum = arith.addf %r, %f : f32
  %y = ad.full %sum : f32 -> tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-note @below {{needed for this derivative}}
  %v, %g = ad.value_and_grad @bits(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %v, %g : tensor<f32>, tensor<f32>
}

// -----

func.func private @boxes(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'unknown.pack' op has no derivative rule}}
  %b = "unknown.pack"(%x) : (tensor<f32>) -> !unknown.box
  // expected-error @below {{'unknown.unpack' op has no derivative rule}}
  %y = "unknown.unpack"(%b) : (!unknown.box) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-note @below {{needed for this derivative}}
  %v, %g = ad.value_and_grad @boxes(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %v, %g : tensor<f32>, tensor<f32>
}

// -----

// Values that regions capture are operands.
func.func private @captures(%x: tensor<3xf32>) -> tensor<f32> {
  // expected-error @below {{'tensor.generate' op has no derivative rule}}
  %t = tensor.generate {
  ^bb0(%i: index):
    %e = tensor.extract %x[%i] : tensor<3xf32>
    tensor.yield %e : f32
  } : tensor<3xf32>
  %y = ad.reduce_sum %t axes [0] : tensor<3xf32> -> tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%x: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  // expected-note @below {{needed for this derivative}}
  %v, %g = ad.value_and_grad @captures(%x) wrt [0] : (tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>)
  return %v, %g : tensor<f32>, tensor<3xf32>
}

// -----

// Floats that `ad` does not know.
func.func private @long(%x: tensor<f32>) -> tensor<f32> {
  %s = tensor.extract %x[] : tensor<f32>
  // expected-error @below {{'arith.extf' op has no derivative for values of type 'f80'; expected f64, f32, f16, bf16, f8E4M3FN, f8E5M2, or vectors or ranked tensors of these}}
  %l = arith.extf %s : f32 to f80
  // expected-error @below {{'arith.mulf' op has no derivative for values of type 'f80'}}
  %m = arith.mulf %l, %l : f80
  // expected-error @below {{'arith.truncf' op has no derivative for values of type 'f80'}}
  %r = arith.truncf %m : f80 to f32
  %y = ad.full %r : f32 -> tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-note @below {{needed for this derivative}}
  %v, %g = ad.value_and_grad @long(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %v, %g : tensor<f32>, tensor<f32>
}
