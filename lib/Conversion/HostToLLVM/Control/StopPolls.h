// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A poll reads whether the host wants the program to stop. The work between two polls is bounded on every
// path. Polls are so rare that their cost cannot be measured.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_CONTROL_STOPPOLLS_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_CONTROL_STOPPOLLS_H

#include "../EntryBuilder.h"

namespace mlir::ad::host {

class StopPolls : public HostComponent {
public:
  using HostComponent::HostComponent;

  /// Leaves the entry if the host wants it to stop.
  void poll();
  /// Polls if there would be too much work since the last poll.
  void pollBefore(int64_t work);
  /// Polls in every n-th iteration; n is a power of two. `iteration` is an i64 that counts from 0.
  void pollEvery(Value iteration, int64_t n);
  /// Iterations of so much work that may run between two polls.
  int64_t iterationsBetweenPolls(int64_t work) const;
  /// Sets the work since the last poll, in program order; returns the old value.
  int64_t exchangeWork(int64_t work) { return std::exchange(workSincePoll, work); }

private:
  int64_t workSincePoll = 0;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_CONTROL_STOPPOLLS_H
