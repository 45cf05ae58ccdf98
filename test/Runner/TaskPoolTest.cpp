// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of the thread pool of MLIR's contexts. few_threads_test.py has those in which threads do not start.
#include "adjoint/Support/TaskPool.h"
#include "gtest/gtest.h"

#include <atomic>
#include <thread>

using mlir::ad::TaskPool;

TEST(TaskPool, TasksOfTasksEnd) {
  for (unsigned concurrency : {0, 1, 2, 3, 8}) {
    TaskPool pool(concurrency);
    std::atomic<int> calls{0};
    llvm::ThreadPoolTaskGroup outer(pool);
    for (int task = 0; task < 20; ++task)
      outer.async([&] {
        llvm::ThreadPoolTaskGroup inner(pool);
        for (int part = 0; part < 10; ++part)
          inner.async([&] { ++calls; });
        inner.wait();
      });
    outer.wait();
    EXPECT_EQ(calls, 200) << concurrency;
  }
}

TEST(TaskPool, OneThreadKeepsTheOrder) {
  TaskPool pool(1);
  std::vector<int> order;
  const std::thread::id caller = std::this_thread::get_id();
  for (int task = 0; task < 5; ++task)
    pool.async([&, task] {
      order.push_back(task);
      EXPECT_EQ(std::this_thread::get_id(), caller);
    });
  pool.wait();
  EXPECT_EQ(order, std::vector<int>({0, 1, 2, 3, 4}));
  EXPECT_EQ(pool.getMaxConcurrency(), 1U);
}

TEST(TaskPool, ThreadsWorkAtOnce) {
  TaskPool pool(2);
  std::atomic<int> arrived{0};
  for (int task = 0; task < 2; ++task)
    pool.async([&] {
      ++arrived;
      while (arrived < 2)
        std::this_thread::yield();
    });
  pool.wait();
  EXPECT_EQ(arrived, 2);
}

TEST(TaskPool, DestroyedPoolsHaveRunTheirTasks) {
  std::atomic<int> calls{0};
  for (unsigned concurrency : {1, 4}) {
    TaskPool pool(concurrency);
    for (int task = 0; task < 50; ++task)
      pool.async([&] { ++calls; });
  }
  EXPECT_EQ(calls, 100);
}

TEST(Threads, AllNumbersAreCalledOnce) {
  for (unsigned count : {0, 1, 2, 9}) {
    std::vector<std::atomic<int>> calls(count);
    adrt::runOnThreads(count, [&](unsigned number) { ++calls[number]; });
    for (std::atomic<int> &each : calls)
      EXPECT_EQ(each, 1);
  }
}
