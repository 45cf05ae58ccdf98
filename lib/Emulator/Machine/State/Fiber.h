/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Fibers: flows of control with stacks of their own. On x86-64 a switch is a few instructions. On other
   processors it uses ucontext, which reads the signal mask by a system call each time. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_STATE_FIBER_H
#define ADJOINT_LIB_EMULATOR_MACHINE_STATE_FIBER_H

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define ADSIM_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADSIM_ADDRESS_SANITIZER 1
#endif
#endif

namespace adsim {

/// A suspended flow of control.
struct Context {
#if defined(__x86_64__)
  void *stackPointer = nullptr;
#else
  ucontext_t state;
#endif
#if defined(ADSIM_ADDRESS_SANITIZER)
  const void *stackBottom = nullptr;
  size_t stackBytes = 0;
  void *fakeStack = nullptr;
#endif
};

/// Makes `context` start `body` on the stack [bottom, bottom + bytes) when it is switched to; `body` must
/// call `enteredFiber` first and never return.
void prepareFiber(Context &context, char *bottom, size_t bytes, void (*body)());
/// Suspends the running flow in `from` and resumes `to`. `final`: `from` is never resumed.
void switchFiber(Context &from, Context &to, bool final = false);
/// The first call in a fiber; `from` is the context that switched to it.
void enteredFiber(Context &self, Context &from);

/// Stacks in one mapping, each with a guard page below it.
class StackPool {
public:
  StackPool() = default;
  ~StackPool();
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;

  /// False when there is not enough memory.
  bool reserve(uint32_t count, size_t bytes);
  char *bottom(uint32_t index) const { return memory + index * stride + guardBytes; }
  size_t bytes() const { return stride - guardBytes; }
  bool contains(uint32_t index, const void *pointer) const {
    const char *at = static_cast<const char *>(pointer);
    return at >= bottom(index) && at < memory + (index + 1) * stride;
  }

private:
  static constexpr size_t guardBytes = 4096;
  void release();
  char *memory = nullptr;
  size_t stride = 0, mapped = 0;
  uint32_t count = 0;
};

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_STATE_FIBER_H
