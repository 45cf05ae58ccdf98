/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The table that the JIT links compiled code against: the services of adrt.h, the memory functions that a
   code generator may call on its own, and functions of the C library whose result has one right answer (they
   round correctly or are exact), which the portable path needs where the CPU has no instruction for
   them. */
#include "adjoint/Runtime/Host/Symbols.h"
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

SymbolTable adrt::getSymbols() {
  static const Symbol symbols[] = {
      {"adrt_fail", address(adrt_fail)},
      {"adrt_arena", address(adrt_arena)},
      {"adrt_buffer", address(adrt_buffer)},
      {"adrt_require_allocated", address(adrt_require_allocated)},
      {"adrt_result", address(adrt_result)},
      {"adrt_feed", address(adrt_feed)},
      {"adrt_receive", address(adrt_receive)},
      {"adrt_check", address(adrt_check)},
      {"adrt_poll", address(adrt_poll)},
      {"adrt_threads_for", address(adrt_threads_for)},
      {"adrt_parallel_for", address(adrt_parallel_for)},
      {"adrt_parallel_loops", address(adrt_parallel_loops)},
      {"adrt_argument", address(adrt_argument)},
      {"adrt_constant", address(adrt_constant)},
      {"adrt_copy", address(adrt_copy)},
      {"adrt_read", address(adrt_read)},
      {"adrt_tensor_map", address(adrt_tensor_map)},
      {"adrt_launch", address(adrt_launch)},
      {"adrt_sm_count", address(adrt_sm_count)},
      {"adrt_kernel_begin", address(adrt_kernel_begin)},
      {"adrt_kernel_end", address(adrt_kernel_end)},
      {"memcpy", address<MemoryCopy>(std::memcpy)},
      {"memmove", address<MemoryCopy>(std::memmove)},
      {"memset", address(std::memset)},
      {"fma", address<Ternary<double>>(::fma)},
      {"fmaf", address<Ternary<float>>(::fmaf)},
      {"fmod", address<Binary<double>>(::fmod)},
      {"fmodf", address<Binary<float>>(::fmodf)},
      {"floor", address<Unary<double>>(::floor)},
      {"floorf", address<Unary<float>>(::floorf)},
      {"ceil", address<Unary<double>>(::ceil)},
      {"ceilf", address<Unary<float>>(::ceilf)},
      {"trunc", address<Unary<double>>(::trunc)},
      {"truncf", address<Unary<float>>(::truncf)},
      {"rint", address<Unary<double>>(::rint)},
      {"rintf", address<Unary<float>>(::rintf)},
      {"nearbyint", address<Unary<double>>(::nearbyint)},
      {"nearbyintf", address<Unary<float>>(::nearbyintf)},
      {"roundeven", address<Unary<double>>(::roundeven)},
      {"roundevenf", address<Unary<float>>(::roundevenf)},
  };
  return {symbols, sizeof(symbols) / sizeof(symbols[0])};
}
