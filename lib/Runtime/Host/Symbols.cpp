/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The symbols that the JIT links compiled code against: the functions of adrt.h, the sort, the memory
   functions that a code generator may call on its own, functions of the C library that round correctly or are
   exact, and conversions to bf16. Code for CPUs without an instruction for such a function calls it. */
#include "adjoint/Runtime/Host/Symbols.h"
#include "adjoint/Runtime/Host/Argsort.h"
#include "adjoint/Runtime/Host/BF16.h"
#include "adjoint/Runtime/adrt.h"

#include <cmath>
#include <cstring>

using namespace adrt;

namespace {

template <typename Function> void *address(Function *function) { return reinterpret_cast<void *>(function); }

template <typename T> using Unary = T(T);
template <typename T> using Binary = T(T, T);
template <typename T> using Ternary = T(T, T, T);

using MemoryCopy = void *(void *, const void *, size_t);

} // namespace

#define ADJOINT_SERVICE(NAME) {#NAME, address(NAME)}
#define ADJOINT_FUNCTION(KIND, NAME)                                                                         \
  {#NAME, address<KIND<double>>(::NAME)}, { #NAME "f", address<KIND<float>>(::NAME##f) }

SymbolTable adrt::getSymbols() {
  static const Symbol symbols[] = {
      ADJOINT_SERVICE(adrt_fail),
      ADJOINT_SERVICE(adrt_arena),
      ADJOINT_SERVICE(adrt_buffer),
      ADJOINT_SERVICE(adrt_require_allocated),
      ADJOINT_SERVICE(adrt_result),
      ADJOINT_SERVICE(adrt_donated_result),
      ADJOINT_SERVICE(adrt_feed),
      ADJOINT_SERVICE(adrt_receive),
      ADJOINT_SERVICE(adrt_check),
      ADJOINT_SERVICE(adrt_poll),
      ADJOINT_SERVICE(adrt_threads_for),
      ADJOINT_SERVICE(adrt_parallel_for),
      ADJOINT_SERVICE(adrt_parallel_loops),
      ADJOINT_SERVICE(adrt_argument),
      ADJOINT_SERVICE(adrt_constant),
      ADJOINT_SERVICE(adrt_copy),
      ADJOINT_SERVICE(adrt_read),
      ADJOINT_SERVICE(adrt_tensor_map),
      ADJOINT_SERVICE(adrt_launch),
      ADJOINT_SERVICE(adrt_sm_count),
      ADJOINT_SERVICE(adrt_kernel_begin),
      ADJOINT_SERVICE(adrt_kernel_end),
      ADJOINT_SERVICE(adrt_argsort),
      {"memcpy", address<MemoryCopy>(std::memcpy)},
      {"memmove", address<MemoryCopy>(std::memmove)},
      {"memset", address(std::memset)},
      {"__truncsfbf2", address(bf16FromF32)},
      {"__truncdfbf2", address(bf16FromF64)},
      ADJOINT_FUNCTION(Ternary, fma),
      ADJOINT_FUNCTION(Binary, fmod),
      ADJOINT_FUNCTION(Unary, floor),
      ADJOINT_FUNCTION(Unary, ceil),
      ADJOINT_FUNCTION(Unary, trunc),
      ADJOINT_FUNCTION(Unary, rint),
      ADJOINT_FUNCTION(Unary, nearbyint),
      ADJOINT_FUNCTION(Unary, roundeven),
  };
  return {symbols, sizeof(symbols) / sizeof(symbols[0])};
}
