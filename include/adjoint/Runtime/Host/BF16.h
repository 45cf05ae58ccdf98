/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Conversions to bf16 for compiled code, as compilers name them __truncsfbf2 and __truncdfbf2: to nearest,
   ties to even. A NaN stays one. */
#ifndef ADJOINT_RUNTIME_HOST_BF16_H
#define ADJOINT_RUNTIME_HOST_BF16_H

namespace adrt {
__bf16 bf16FromF32(float value);
/// Rounds once.
__bf16 bf16FromF64(double value);
} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_BF16_H
