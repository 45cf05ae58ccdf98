// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Allocations fail in three ways: operator new calls its handler, LLVM's containers call theirs, and MLIR
// uses the null pointer of malloc, which is a SIGSEGV.
#include "adjoint/Support/OutOfMemory.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/TemporaryPath.h"
#include "llvm/Support/ErrorHandling.h"

#include <csignal>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

using namespace mlir::ad::runner;

// Made in advance: there is no memory for it later.
static std::string *message;
static struct sigaction actionBefore;

[[noreturn]] static void endProcess() {
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, message->data(), message->size());
  removeTemporaryFiles();
  // Destructors and handlers of exit would request memory and locks.
  ::_exit(ExitNoTarget);
}

/// Whether the system refuses memory, as much as malloc requests of it at least.
static bool isExhausted() {
  constexpr size_t bytes = 1 << 20;
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return true;
  ::munmap(memory, bytes);
  return false;
}

// A fault that is not about memory running out is left to the handler that was installed before: the
// instruction is executed again and faults again.
static void onFault(int) {
  if (isExhausted())
    endProcess();
  ::sigaction(SIGSEGV, &actionBefore, nullptr);
}

static void handleFaults() {
  // A stack that cannot grow has no room for the handler.
  static char stack[1 << 14];
  stack_t before;
  if (::sigaltstack(nullptr, &before) == 0 && (before.ss_flags & SS_DISABLE)) {
    stack_t own = {stack, 0, sizeof stack};
    ::sigaltstack(&own, nullptr);
  }
  struct sigaction action = {};
  action.sa_handler = onFault;
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, &actionBefore);
}

llvm::Error mlir::ad::runner::loadError(llvm::StringRef message, llvm::StringRef reasons) {
  // The linker's errors have texts alone.
  if (reasons.contains(std::make_error_code(std::errc::not_enough_memory).message()))
    return exitError(ExitNoTarget, "not enough memory for the code of the program");
  return exitError(ExitProgramError, "internal error: " + message + ": " + reasons);
}

void mlir::ad::runner::endOnLackOfMemory(llvm::StringRef tool) {
  message =
      new std::string(tool.str() + ": error: there is not enough memory; see ulimit -v and the limits of "
                                   "the container, or give the machine more\n");
  std::set_new_handler(endProcess);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endProcess(); });
  handleFaults();
}
