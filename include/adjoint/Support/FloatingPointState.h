/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The floating-point state of a thread. Compiled code, folding and every number that we print or compare need
   one state: round to nearest even, keep subnormals, no traps. The calling program may have another one
   (Python extensions built with -ffast-math disable subnormals for a whole thread). Therefore each entry sets
   our state and gives the caller's back, and each call of a function of the host does the reverse.

   A new thread begins with the state of the thread that started it; threads of ours enter a scope as well. */
#ifndef ADJOINT_SUPPORT_FLOATINGPOINTSTATE_H
#define ADJOINT_SUPPORT_FLOATINGPOINTSTATE_H

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace adrt {

/// Control and status of the floating-point units: on x86-64 MXCSR and the control word of the x87, which
/// `long double` uses; on AArch64 FPCR.
struct FloatingPointState {
#if defined(__x86_64__)
  // All exceptions masked, nearest even, neither flush-to-zero nor denormals-are-zero; x87: all of its 64
  // bits.
  unsigned vector = 0x1f80;
  uint16_t x87 = 0x037f;

  static FloatingPointState get() {
    FloatingPointState state;
    state.vector = _mm_getcsr();
    asm volatile("fnstcw %0" : "=m"(state.x87));
    return state;
  }
  /// Reading MXCSR and the status of the x87 takes longer than writing.
  void set() const {
    _mm_setcsr(vector);
    uint16_t now;
    asm volatile("fnstcw %0" : "=m"(now));
    if (now == x87)
      return;
    // Exceptions of the x87 that were masked would trap in a host that unmasks them.
    uint16_t status;
    constexpr uint16_t exceptions = 0xff;
    asm volatile("fnstsw %0" : "=m"(status));
    if (status & exceptions)
      asm volatile("fnclex");
    asm volatile("fldcw %0" : : "m"(x87));
  }
#elif defined(__aarch64__)
  uint64_t control = 0;

  static FloatingPointState get() {
    FloatingPointState state;
    asm volatile("mrs %0, fpcr" : "=r"(state.control));
    return state;
  }
  void set() const { asm volatile("msr fpcr, %0" : : "r"(control)); }
#else
  static FloatingPointState get() { return {}; }
  void set() const {}
#endif
};

/// Our state for its lifetime, on the calling thread. Inside of another scope it does nothing.
class FloatingPointScope {
public:
  FloatingPointScope() : isEntry(current == nullptr) {
    if (!isEntry)
      return;
    host = FloatingPointState::get();
    FloatingPointState().set();
    current = this;
  }
  ~FloatingPointScope() {
    if (!isEntry)
      return;
    current = nullptr;
    host.set();
  }
  FloatingPointScope(const FloatingPointScope &) = delete;
  FloatingPointScope &operator=(const FloatingPointScope &) = delete;

private:
  friend class HostStateScope;
  bool isEntry;
  FloatingPointState host; // of the code that entered this scope
  // Of this thread; null in code of the host.
  static inline thread_local FloatingPointScope *current = nullptr;
};

/// The state of the host for its lifetime, around a call of one of its functions. The function may leave
/// another state to the host; ours is set again whatever it leaves. In code of the host it does nothing.
class HostStateScope {
public:
  HostStateScope() : scope(FloatingPointScope::current) {
    if (!scope)
      return;
    FloatingPointScope::current = nullptr;
    scope->host.set();
  }
  ~HostStateScope() {
    if (!scope)
      return;
    scope->host = FloatingPointState::get();
    FloatingPointState().set();
    FloatingPointScope::current = scope;
  }
  HostStateScope(const HostStateScope &) = delete;
  HostStateScope &operator=(const HostStateScope &) = delete;

private:
  FloatingPointScope *scope;
};

} // namespace adrt

#endif // ADJOINT_SUPPORT_FLOATINGPOINTSTATE_H
