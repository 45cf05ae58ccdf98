// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "adjoint/Support/TaskPool.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"

#include <new>

using namespace mlir::ad;

TaskPool::TaskPool(unsigned concurrency) : concurrency(std::max(concurrency, 1U)) {}

TaskPool::~TaskPool() {
  {
    Lock lock(mutex);
    finish(lock, nullptr);
    stops = true;
  }
  changed.notify_all();
  for (adrt::Thread &thread : threads)
    thread.join();
}

void TaskPool::wait() {
  Lock lock(mutex);
  finish(lock, nullptr);
  if (std::exchange(lacksMemory, false))
    throw std::bad_alloc();
}

void TaskPool::wait(Group &group) {
  Lock lock(mutex);
  finish(lock, &group);
  if (std::exchange(lacksMemory, false))
    throw std::bad_alloc();
}

void TaskPool::asyncEnqueue(llvm::unique_function<void()> body, Group *group) {
  {
    Lock lock(mutex);
    tasks.push_back({std::move(body), group});
    ++unfinished;
    ++unfinishedOf[group];
    grow();
  }
  changed.notify_all();
}

void TaskPool::grow() {
  if (!canStart || threads.size() + 1 >= concurrency || threads.size() >= unfinished)
    return;
  canStart = threads.emplace_back().start([this] { runWorker(); });
  if (!canStart)
    threads.pop_back();
}

void TaskPool::runWorker() {
  Lock lock(mutex);
  while (!stops)
    if (!runNext(lock, nullptr))
      changed.wait(lock);
}

void TaskPool::finish(Lock &lock, Group *group) {
  while (!isFinished(group))
    if (!runNext(lock, group))
      changed.wait(lock);
}

bool TaskPool::isFinished(Group *group) const {
  return group ? unfinishedOf.count(group) == 0 : unfinished == 0;
}

// A thread that waits for a group runs no other task meanwhile: it could wait for this thread in turn.
bool TaskPool::runNext(Lock &lock, Group *group) {
  auto next = llvm::find_if(tasks, [&](const Task &task) { return !group || task.group == group; });
  if (next == tasks.end())
    return false;
  Task task = std::move(*next);
  tasks.erase(next);
  lock.unlock();
  bool failed = false;
  try {
    task.body();
  } catch (const std::bad_alloc &) {
    failed = true;
  }
  task.body = nullptr; // what it has captured is destroyed without the lock
  lock.lock();
  lacksMemory |= failed;
  --unfinished;
  if (--unfinishedOf[task.group] == 0)
    unfinishedOf.erase(task.group);
  changed.notify_all();
  return true;
}

void mlir::ad::useTaskPool(MLIRContext &context, TaskPool &pool) {
  context.disableMultithreading();
  context.setThreadPool(pool);
}
