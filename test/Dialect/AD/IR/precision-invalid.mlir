// RUN: ad-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected bf16, f16 or none as the policy, always, follow or never as the rule of an operation, or 'compute = TYPE', but got 'fp16'}}
module attributes {ad.precision = #ad.precision<fp16>} {
}

// -----

// expected-error@+1 {{expected bf16 or f16 as the type to compute in, but got 'f8E5M2'}}
module attributes {ad.precision = #ad.precision<compute = f8E5M2>} {
}

// -----

// expected-error@+1 {{expected bf16 or f16 as the type to compute in, but got ''}}
module attributes {ad.precision = #ad.precision<always = [dot]>} {
}

// -----

// expected-error@+1 {{expected bf16 or f32 as the type of results, but got 'f16'}}
module attributes {ad.precision = #ad.precision<compute = bf16, result = f16>} {
}

// -----

// expected-error@+1 {{expected compute, result, always, follow, never or default, but got 'store'}}
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
