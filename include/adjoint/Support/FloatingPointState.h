/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The floating-point state that compiled code requires: round to nearest even, keep subnormals, no traps. The
   calling program may have another state (Python extensions built with -ffast-math disable subnormals for a
   whole thread). Therefore every thread sets its own state at entry, and restores that of the caller at exit.
 */
#ifndef ADJOINT_SUPPORT_FLOATINGPOINTSTATE_H
#define ADJOINT_SUPPORT_FLOATINGPOINTSTATE_H

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace adrt {

/// Sets the required state for its lifetime, on the calling thread.
class FloatingPointScope {
public:
  FloatingPointScope() : saved(get()) { set(required); }
  ~FloatingPointScope() { set(saved); }
  FloatingPointScope(const FloatingPointScope &) = delete;
  FloatingPointScope &operator=(const FloatingPointScope &) = delete;

private:
#if defined(__x86_64__)
  // All exceptions masked, nearest even, neither flush-to-zero nor denormals-are-zero.
  static constexpr uint64_t required = 0x1f80;
  static uint64_t get() { return _mm_getcsr(); }
  static void set(uint64_t state) { _mm_setcsr(static_cast<unsigned>(state)); }
#elif defined(__aarch64__)
  static constexpr uint64_t required = 0;
  static uint64_t get() {
    uint64_t state;
    asm volatile("mrs %0, fpcr" : "=r"(state));
    return state;
  }
  static void set(uint64_t state) { asm volatile("msr fpcr, %0" : : "r"(state)); }
#else
  static constexpr uint64_t required = 0;
  static uint64_t get() { return 0; }
  static void set(uint64_t) {}
#endif

  uint64_t saved;
};

} // namespace adrt

#endif // ADJOINT_SUPPORT_FLOATINGPOINTSTATE_H
