/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Switching between fibers. */
#include "Fiber.h"

#include <sys/mman.h>

#if defined(ADSIM_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

using namespace adsim;

#if defined(__x86_64__)

// Saves only the callee-saved registers: the floating-point state is the same for all fibers.
extern "C" void adsim_switch_stacks(void **from, void *to);
asm(R"(
  .text
  .p2align 4
  .globl adsim_switch_stacks
  .hidden adsim_switch_stacks
  .type adsim_switch_stacks, @function
adsim_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size adsim_switch_stacks, .-adsim_switch_stacks
)");

static void prepareStack(Context &context, char *bottom, size_t bytes, void (*body)()) {
  constexpr int savedRegisters = 6;
  auto *top = reinterpret_cast<uint64_t *>(bottom + bytes);
  *--top = 0; // the return address of body, which never returns; also aligns its frame
  *--top = reinterpret_cast<uint64_t>(body);
  for (int i = 0; i < savedRegisters; ++i)
    *--top = 0;
  context.stackPointer = top;
}

static void switchStacks(Context &from, Context &to) {
  adsim_switch_stacks(&from.stackPointer, to.stackPointer);
}

#else

static void prepareStack(Context &context, char *bottom, size_t bytes, void (*body)()) {
  getcontext(&context.state);
  context.state.uc_stack.ss_sp = bottom;
  context.state.uc_stack.ss_size = bytes;
  context.state.uc_link = nullptr;
  makecontext(&context.state, body, 0);
}

static void switchStacks(Context &from, Context &to) { swapcontext(&from.state, &to.state); }

#endif

void adsim::prepareFiber(Context &context, char *bottom, size_t bytes, void (*body)()) {
#if defined(ADSIM_ADDRESS_SANITIZER)
  // A fiber that was abandoned after a failure has not unpoisoned its frames.
  __asan_unpoison_memory_region(bottom, bytes);
  context.stackBottom = bottom;
  context.stackBytes = bytes;
  context.fakeStack = nullptr;
#endif
  prepareStack(context, bottom, bytes, body);
}

void adsim::switchFiber(Context &from, Context &to, bool final) {
#if defined(ADSIM_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(final ? nullptr : &from.fakeStack, to.stackBottom, to.stackBytes);
#endif
  switchStacks(from, to);
#if defined(ADSIM_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(from.fakeStack, nullptr, nullptr);
#endif
  (void) final;
}

void adsim::enteredFiber(Context &self, Context &from) {
#if defined(ADSIM_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(self.fakeStack, &from.stackBottom, &from.stackBytes);
#endif
  (void)self;
  (void)from;
}

StackPool::~StackPool() { release(); }

void StackPool::release() {
  if (!memory)
    return;
#if defined(ADSIM_ADDRESS_SANITIZER)
  __asan_unpoison_memory_region(memory, mapped);
#endif
  munmap(memory, mapped);
  memory = nullptr;
}

bool StackPool::reserve(uint32_t wanted, size_t bytes) {
  size_t wantedStride = (bytes + guardBytes - 1) / guardBytes * guardBytes + guardBytes;
  if (memory && wanted <= count && wantedStride <= stride)
    return true;
  release();
  stride = wantedStride;
  count = wanted;
  mapped = stride * count;
  void *block =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED)
    return false;
  memory = static_cast<char *>(block);
  // If the system allows no more mappings, stacks have no guard page.
  for (uint32_t i = 0; i < count; ++i)
    (void)mprotect(memory + i * stride, guardBytes, PROT_NONE);
  return true;
}
