// RUN: ad-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected bf16, f16, f8 or none as the policy, always, follow or never as the rule of an operation, or 'compute = TYPE', but got 'fp16'}}
module attributes {ad.precision = #ad.precision<fp16>} {
}

// -----

// expected-error@+1 {{expected bf16, f16, f8E4M3FN or f8E5M2 as the type to compute in, but got 'f8'}}
module attributes {ad.precision = #ad.precision<compute = f8>} {
}

// -----

// expected-error@+1 {{expected bf16, f16, f8E4M3FN or f8E5M2 as the type to compute in, but got ''}}
module attributes {ad.precision = #ad.precision<always = [dot]>} {
}

// -----

// expected-error@+1 {{expected bf16 or f32 as the type of results, but got 'f16'}}
module attributes {ad.precision = #ad.precision<compute = bf16, result = f16>} {
}

// -----

// expected-error@+1 {{expected bf16, f16 or f32 as the type of results, but got 'f8E5M2'}}
module attributes {ad.precision = #ad.precision<compute = f8E4M3FN, result = f8E5M2>} {
}

// -----

// expected-error@+1 {{expected f8E4M3FN or f8E5M2 as the type of gradients, but got 'bf16'}}
module attributes {ad.precision = #ad.precision<compute = f8E4M3FN, gradient = bf16>} {
}

// -----

// expected-error@+1 {{expected follow or never as the default with an 8-bit type to compute in, but got always}}
module attributes {ad.precision = #ad.precision<compute = f8E5M2, default = always>} {
}

// -----

// expected-error@+1 {{expected a type of gradients only with an 8-bit type to compute in, but got 'f8E5M2' with bf16}}
module attributes {ad.precision = #ad.precision<compute = bf16, gradient = f8E5M2>} {
}

// -----

// expected-error@+1 {{expected compute, gradient, result, accumulate, always, follow, never or default, but got 'store'}}
module attributes {ad.precision = #ad.precision<compute = bf16, store = bf16>} {
}

// -----

// expected-error@+1 {{expected distinct parameters, but got 'compute' twice}}
module attributes {ad.precision = #ad.precision<compute = bf16, compute = f16>} {
}

// -----

// expected-error@+1 {{expected each operation once in one list, but got 'dot' again in never}}
module attributes {ad.precision = #ad.precision<compute = bf16, always = [dot], never = [dot]>} {
}

// -----

// expected-error@+1 {{expected always, follow or never as the default, but got 'bf16'}}
module attributes {ad.precision = #ad.precision<compute = bf16, default = bf16>} {
}

// -----

// expected-error@+1 {{expected 'ad.precision' to be #ad.precision<POLICY>, such as #ad.precision<bf16>, but got "bf16"}}
module attributes {ad.precision = "bf16"} {
}

// -----

// expected-error@+1 {{expected a policy as 'ad.precision' of a module or function, but got #ad.precision<always>, the rule of an operation}}
module attributes {ad.precision = #ad.precision<always>} {
}

// -----

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{expected always, follow or never as 'ad.precision' of an operation, but got the policy #ad.precision<bf16>}}
  %y = ad.exp %x {ad.precision = #ad.precision<bf16>} : tensor<f32>
  return %y : tensor<f32>
}

// -----

// expected-error@+1 {{'func.func' op expected 'ad.scales' on an argument of type tensor<Nx3xf32>, but got 'tensor<4x2xf32>'}}
func.func @type_of_scales(%scales: tensor<4x2xf32> {ad.scales}) {
  return
}

// -----

// expected-error@+1 {{'func.func' op expected 'ad.scales' on one argument of a function, but got it on 0 and 1}}
func.func @two_scales(%a: tensor<4x3xf32> {ad.scales}, %b: tensor<4x3xf32> {ad.scales}) {
  return
}

// -----

func.func @scales_of_an_operation(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'ad.neg' op expected 'ad.scales' on an argument or result of a function only}}
  %y = ad.neg %x {ad.scales} : tensor<f32>
  return %y : tensor<f32>
}

// -----

// expected-error@+1 {{expected f32 or narrow (the type of the value) as the type in which cotangents are added, but got 'bf16'}}
module attributes {ad.precision = #ad.precision<compute = bf16, accumulate = bf16>} {
}

// -----

// expected-error@+1 {{'builtin.module' op expected 'ad.cotangent_sums' to be the type f32, but got bf16}}
module attributes {ad.cotangent_sums = bf16} {
}

// -----

// expected-error@+1 {{'func.func' op expected 'ad.cotangent_sums' to be the type f32, but got "f32"}}
func.func private @text() attributes {ad.cotangent_sums = "f32"}

// -----

func.func @on_an_operation(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'ad.exp' op expected 'ad.cotangent_sums' on a function or module only}}
  %y = ad.exp %x {ad.cotangent_sums = f32} : tensor<f32>
  return %y : tensor<f32>
}
