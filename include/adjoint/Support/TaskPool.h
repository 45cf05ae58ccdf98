// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The thread pool of MLIR's contexts. LLVM's own pool ends the process when a thread does not start.
#ifndef ADJOINT_SUPPORT_TASKPOOL_H
#define ADJOINT_SUPPORT_TASKPOOL_H

#include "adjoint/Support/Thread.h"
#include "llvm/Support/ThreadPool.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

namespace mlir {
class MLIRContext;

namespace ad {

/// Starts threads when there is work for them. Whoever waits for tasks runs them, too, so that all tasks end
/// even if no thread starts.
class TaskPool final : public llvm::ThreadPoolInterface {
public:
  /// `concurrency` counts the thread that waits.
  explicit TaskPool(unsigned concurrency);
  ~TaskPool() override;

  /// Both throw std::bad_alloc if a task did.
  void wait() override;
  void wait(llvm::ThreadPoolTaskGroup &group) override;
  unsigned getMaxConcurrency() const override { return concurrency; }

private:
  using Group = llvm::ThreadPoolTaskGroup;
  using Lock = std::unique_lock<std::mutex>;
  struct Task {
    llvm::unique_function<void()> body;
    Group *group;
  };

  void asyncEnqueue(llvm::unique_function<void()> body, Group *group) override;
  /// Starts a thread if there are fewer than useful.
  void grow();
  void runWorker();
  /// Runs tasks of the group, or of all groups for null, until all of them have ended.
  void finish(Lock &lock, Group *group);
  bool isFinished(Group *group) const;
  /// Whether there was a task to run.
  bool runNext(Lock &lock, Group *group);

  const unsigned concurrency;
  std::mutex mutex;
  std::condition_variable changed; // a task was added or has ended, or the pool stops
  std::deque<Task> tasks;
  unsigned unfinished = 0;                  // tasks that wait or run
  std::map<Group *, unsigned> unfinishedOf; // those of each group
  bool stops = false, canStart = true, lacksMemory = false;
  std::vector<adrt::Thread> threads;
};

/// Gives a context that uses threads this pool, which has to outlive it. The pool before is no longer used.
void useTaskPool(MLIRContext &context, TaskPool &pool);

} // namespace ad
} // namespace mlir

#endif // ADJOINT_SUPPORT_TASKPOOL_H
