// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-host-to-llvm --split-input-file --verify-diagnostics

// expected-error @+1 {{'func.func' op cannot be an entry: arguments and results must be ranked tensors, but there is 'memref<4xf32>'}}
func.func @signature(%x: memref<4xf32>) {
  return
}

// -----

func.func @no_plan() -> tensor<4xf32> {
  // expected-error @+1 {{'ad.feed' op has no buffer in the memory plan; run --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels first, or for a GPU --ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels}}
  %x = ad.feed "x" : tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'cf.br' op is not supported in a program for this target; write scf.if, scf.for or scf.while instead}}
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

func.func @no_code(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel without code; run ad-emit-cpu first}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
ad.kernel private @copy(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  ad.yield %a : tensor<4xf32>
}

// -----

func.func @no_destination(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op has no buffer in the memory plan; run --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels first, or for a GPU --ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels}}
  %y = ad.launch @copy(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0]], ad.nanoseconds = 0 : i64}

// -----

func.func @carry_without_buffer(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op has no buffer in the memory plan; run --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels first, or for a GPU --ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels}}
  %y = scf.for %i = %zero to %one step %one iter_args(%a = %x) -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  }
  return
}

// -----

// The lowering makes copies where loops and branches begin and end.
func.func @copy_elsewhere(%x: tensor<4xf32>) {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.copy' op expected the loop or the terminator that reads the copy to follow it}}
  %y = ad.copy %x into(%b0) : tensor<4xf32>
  ad.receive "y"(%y) : tensor<4xf32>
  return
}

// -----

func.func @left(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ad.exp' op is in no kernel; run --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels first, or for a GPU --ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels}}
  %y = ad.exp %x : tensor<4xf32>
  return
}

// -----

func.func @no_such_axis(%x: tensor<?x4xf32>) {
  %i = arith.constant -1 : index
  // expected-error @+1 {{'tensor.dim' op asks for dimension -1 of rank 2}}
  %d = tensor.dim %x, %i : tensor<?x4xf32>
  return
}

// -----

func.func @axis(%x: tensor<?x4xf32>, %n: tensor<i64>) {
  %s = tensor.extract %n[] : tensor<i64>
  %i = arith.index_cast %s : i64 to index
  // expected-error @+1 {{'tensor.dim' op asks for a size along an axis that is not a constant}}
  %d = tensor.dim %x, %i : tensor<?x4xf32>
  return
}

// -----

func.func @dynamic_loop(%x: tensor<?xf32>) {
  %b0 = ad.buffer <pool, number = 1, bytes = 4>
  %init = ad.copy %x into(%b0) : tensor<?xf32>
  // expected-error @+1 {{'scf.while' op carries a tensor of dynamic shape; use scf.for, or a static shape}}
  %y = scf.while (%a = %init) : (tensor<?xf32>) -> tensor<?xf32> {
    %go = arith.constant false
    scf.condition(%go) %a : tensor<?xf32>
  } do {
  ^bb0(%a: tensor<?xf32>):
    scf.yield %a : tensor<?xf32>
  }
  return
}

// -----

func.func @like_a_service(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel with a name like those of the runtime and of its data; run ad-outline-kernels first, which renames it}}
  %y = ad.launch @adrt_arena(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @adrt_arena(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0]], ad.nanoseconds = 0 : i64}

// -----

func.func @no_such_axis(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel whose ad.units names no axes of its results; expected [[RESULT, array<i64: STEP, AXIS, …>, …], …]}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0, array<i64: 1, 1>]]}

// -----

func.func @no_such_result(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel whose ad.units names no axes of its results}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[1]]}

// -----

func.func @no_step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel whose ad.units names no axes of its results}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0, array<i64: 0, 0>]]}

// -----

func.func @no_units(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel whose ad.units names no axes of its results}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [], ad.nanoseconds = 0 : i64}

// -----

func.func @result_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel whose ad.units names no axes of its results}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0], [0]], ad.nanoseconds = 0 : i64}

// -----

func.func @axis_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel whose ad.units names no axes of its results}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0, array<i64: 1, 0, 0>]], ad.nanoseconds = 0 : i64}

// -----

func.func @negative_estimate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel without an estimate of its time}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0]], ad.nanoseconds = -5 : i64}

// -----

func.func @returns_values(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel that returns values; expected it to write its results to memory}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) -> index attributes {ad.units = [[0]], ad.nanoseconds = 0 : i64}

// -----

func.func @no_range(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel that takes no range of units; expected two index arguments last}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr) attributes {ad.units = [[0]], ad.nanoseconds = 0 : i64}

// -----

func.func @no_estimate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel without an estimate of its time; expected ad.nanoseconds, an i64, or a function @copy$nanoseconds of its operands that returns an index}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0]]}

// -----

func.func @wrong_estimate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel without an estimate of its time}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0]]}
func.func private @copy$nanoseconds(!llvm.ptr) -> index

// -----

func.func @no_threads(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel whose ad.partial_reductions is no number of threads; expected an i64 from 1 on}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0]], ad.nanoseconds = 0 : i64, ad.partial_reductions = 0 : i64}

// -----

func.func @no_partial_reductions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel that has ad.partial_reductions, but not the functions next to it; expected @copy with $partial_sizes, $partial and $merge}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0]], ad.nanoseconds = 0 : i64, ad.partial_reductions = 2 : i64}
func.func private @copy$partial_sizes(!llvm.ptr, !llvm.ptr) -> (index, index)

// -----

func.func @no_units_of_merge(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel whose function @copy$merge has no ad.units of the results}}
  %y = ad.launch @copy(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @copy(!llvm.ptr, !llvm.ptr, index, index) attributes {ad.units = [[0]], ad.nanoseconds = 0 : i64, ad.partial_reductions = 2 : i64}
func.func private @copy$partial_sizes(!llvm.ptr, !llvm.ptr) -> (index, index)
func.func private @copy$partial(!llvm.ptr, !llvm.ptr, !llvm.ptr, index, index)
func.func private @copy$merge(!llvm.ptr, !llvm.ptr, !llvm.ptr, index, index)
