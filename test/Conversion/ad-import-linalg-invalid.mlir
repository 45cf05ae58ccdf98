// RUN: ad-opt --ad-import-linalg --split-input-file --verify-diagnostics %s

// One error, which lists everything.
func.func @two_places(%x: tensor<4xi16>, %y: tensor<4xf32>) -> (tensor<4xi16>, tensor<4xf32>) {
  // expected-error @+1 {{'arith.addi' op has a value of type tensor<4xi16>; expected ranked tensors or scalars of f64, f32}}
  %a = arith.addi %x, %x : tensor<4xi16>
  // expected-note @+1 {{also refused: 'math.erfc' op has no equivalent}}
  %b = math.erfc %y : tensor<4xf32>
  return %a, %b : tensor<4xi16>, tensor<4xf32>
}

// -----

func.func @memory(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{'linalg.exp' op works on memory; expected tensors}}
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

func.func @strides(%x: tensor<9xf32>, %s: index) -> tensor<3xf32> {
  // expected-error @+1 {{'tensor.extract_slice' op has strides that are not positive constants}}
  %r = tensor.extract_slice %x[0] [3] [%s] : tensor<9xf32> to tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

func.func @rounding(%x: tensor<4xf32>) -> tensor<4xbf16> {
  // expected-error @+1 {{'arith.truncf' op rounds toward_zero, but all targets round to_nearest_even}}
  %r = arith.truncf %x toward_zero : tensor<4xf32> to tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// -----

func.func @callee(%x: tensor<4xf32>, %f: (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'func.call_indirect' op calls a function that is known at run time only; expected func.call}}
  %r = func.call_indirect %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @scattered(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'linalg.generic' op writes at d0 * 2; expected a result with an axis for each parallel loop}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0 * 2)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
