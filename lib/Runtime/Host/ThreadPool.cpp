/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A caller claims free workers and puts its job into their mailboxes. A worker polls its mailbox for some
   microseconds before it sleeps: kernels follow each other closely, and waking a thread costs more than most
   kernels take. When the caller has finished its own range, it takes back the ranges that no worker has
   begun, so that a loop never waits for a thread to wake up. Only the first loop does: it measures how long
   that takes (HandOffMeasurement.h). */
#include "adjoint/Runtime/Host/ThreadPool.h"
#include "HandOffMeasurement.h"
#include "LoopTimes.h"
#include "adjoint/Support/FloatingPointState.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace adrt;

namespace {

/// The range of a thread takes at least this many times the latency of a hand-off.
constexpr int64_t minLatenciesPerRange = 4;
/// The cost of the first hand-off: threads are started and measured.
constexpr HandOff notStarted = {250000, 15000};

thread_local bool insideLoop = false;
thread_local unsigned callerDepth = 0; // nested programs of this thread
/// Nanoseconds that this thread would have saved since the workers fell asleep, had they been awake.
thread_local int64_t missed = 0;

LoopTimes times;

/// For tests, whose programs are small: every loop of several units is divided, whatever its estimate.
bool dividesAlways() {
  static const bool always = [] {
    const char *value = secure_getenv("ADJOINT_PARALLEL_ALWAYS");
    return value && *value && (*value != '0' || value[1]);
  }();
  return always;
}

} // namespace

unsigned adrt::countThreads(int64_t units, int64_t nanoseconds, unsigned threads, const HandOff &handOff) {
  int64_t count = std::min<int64_t>(units, threads);
  if (nanoseconds != INT64_MAX) {
    count = std::min(count, nanoseconds / (minLatenciesPerRange * handOff.latency));
    // n threads take time / n + n * post, which is minimal at n = sqrt(time / post).
    count = std::min(count,
                     static_cast<int64_t>(std::sqrt(static_cast<double>(std::max<int64_t>(nanoseconds, 0)) /
                                                    static_cast<double>(handOff.post))));
  }
  return static_cast<unsigned>(std::max<int64_t>(count, 1));
}

//===- Callers ------------------------------------------------------------===//

ThreadPool::Caller::Caller() {
  if (callerDepth++ == 0)
    ++get().running;
}

ThreadPool::Caller::~Caller() {
  if (--callerDepth == 0)
    --get().running;
}

ThreadPool::Pause::Pause() : depth(callerDepth) {
  callerDepth = 0;
  if (depth)
    --get().running;
}

ThreadPool::Pause::~Pause() {
  callerDepth = depth;
  if (depth)
    ++get().running;
}

// Constant initialization: a process may fork while another thread gets the pool for the first time.
ThreadPool ThreadPool::instance;
[[maybe_unused]] static const int forkHandler = ThreadPool::registerForkHandler();

ThreadPool &ThreadPool::get() { return instance; }

int ThreadPool::registerForkHandler() { return pthread_atfork(nullptr, nullptr, forgetWorkers); }

// A child process has a copy of the pool and none of its threads, which may have held locks.
void ThreadPool::forgetWorkers() {
  ThreadPool &pool = instance;
  pool.started = 0;
  pool.startFailed = false;
  pool.running = callerDepth ? 1 : 0;
  pool.sleepers = 0;
  pthread_mutex_init(&pool.starting, nullptr);
  pthread_mutex_init(&pool.ending, nullptr);
  pthread_cond_init(&pool.ended, nullptr);
}

void ThreadPool::reserve(unsigned threads) {
  threads = std::min(threads, maxThreads);
  unsigned before = size;
  while (before < threads && !size.compare_exchange_weak(before, threads))
    ;
}

//===- Workers ------------------------------------------------------------===//

void *ThreadPool::workerMain(void *argument) {
  auto *worker = static_cast<Worker *>(argument);
  worker->thread = pthread_self();
  worker->restoreAffinity();
  worker->pool->workerLoop(*worker);
}

void ThreadPool::workerLoop(Worker &worker) {
  FloatingPointScope floatingPoint;
  insideLoop = true;
  while (true) {
    Job &job = *waitForJob(worker);
    ADRT_POOL_STEP();
    job.run(worker.range);
    finishRange(worker, job);
  }
}

ThreadPool::Job *ThreadPool::waitForJob(Worker &worker) const {
  while (true) {
    for (int round = costs.getSpinRounds(); round > 0; --round) {
      // A load is cheaper than an exchange. The exchange may fail: a caller can take its job back in between.
      if (worker.mailbox.load(std::memory_order_relaxed))
        if (Job *job = worker.mailbox.exchange(nullptr))
          return job;
      relax();
    }
    // A thread that was woken too late for its job spins again before it sleeps.
    if (Job *job = worker.sleepUntilPosted())
      return job;
  }
}

// The last use of `job` is the decrement: the caller may destroy it afterwards. The worker is released
// before, so that the next loop of the caller finds it free.
void ThreadPool::finishRange(Worker &worker, Job &job) {
  release(worker);
  ADRT_POOL_STEP();
  if (job.pending.fetch_sub(1) != 1)
    return;
  ADRT_POOL_STEP();
  if (sleepers == 0)
    return;
  pthread_mutex_lock(&ending);
  pthread_cond_broadcast(&ended);
  pthread_mutex_unlock(&ending);
}

void ThreadPool::waitForEnd(const Job &job) {
  for (int round = costs.getSpinRounds(); round > 0; --round) {
    if (job.pending == 0)
      return;
    relax();
  }
  ++sleepers;
  ADRT_POOL_STEP();
  pthread_mutex_lock(&ending);
  while (job.pending != 0)
    pthread_cond_wait(&ended, &ending);
  pthread_mutex_unlock(&ending);
  --sleepers;
}

//===- Loops --------------------------------------------------------------===//

const ThreadPool::Worker *ThreadPool::findFree() const {
  for (unsigned index = 0, count = started; index < count; ++index)
    if (!workers[index]->claimed.load(std::memory_order_relaxed))
      return workers[index];
  return nullptr;
}

unsigned ThreadPool::threadsFor(int64_t nanoseconds, unsigned threads) const {
  return countThreads(INT64_MAX, dividesAlways() ? INT64_MAX : nanoseconds, threads, costs.getSpinning());
}

// Sleeping workers are woken when the time lost without them adds up to the cost of waking them: in a
// sequence of short loops only the first ones run on one thread.
unsigned ThreadPool::decide(int64_t units, int64_t nanoseconds, unsigned threads) const {
  unsigned maximum = countThreads(units, nanoseconds, threads, costs.getSpinning());
  if (maximum == 1 || nanoseconds == INT64_MAX)
    return maximum;
  const Worker *free = findFree();
  if (!free && started + 1 >= size)
    return 1;
  if (free && !free->asleep.load(std::memory_order_relaxed)) {
    missed = 0;
    return maximum;
  }
  int64_t known = std::min(nanoseconds, INT64_MAX / 4);
  unsigned count = std::min(
      maximum, countThreads(units, known + missed, threads, started ? costs.getAsleep() : notStarted));
  missed = count > 1 ? 0 : std::min(missed + known / 2, INT64_MAX / 4);
  return count;
}

bool ThreadPool::enter() {
  unsigned before = running;
  while (before < size)
    if (running.compare_exchange_weak(before, before + 1))
      return true;
  return false;
}

void ThreadPool::release(Worker &worker) {
  worker.claimed.store(false);
  --running;
}

// In the order of their numbers, so that a thread gets the same range as in the previous loop.
unsigned ThreadPool::claim(unsigned count, uint16_t *claimed) {
  unsigned found = 0;
  for (unsigned index = 0, known = started; index < known && found < count; ++index) {
    Worker &worker = *workers[index];
    if (worker.claimed.load(std::memory_order_relaxed))
      continue;
    if (!enter())
      break;
    if (!worker.claimed.exchange(true))
      claimed[found++] = static_cast<uint16_t>(index);
    else
      --running;
  }
  return found;
}

void ThreadPool::run(int64_t units, int64_t nanoseconds, unsigned threads, Body body, void *closure) {
  if (units > 0)
    distribute(threadsNow(units, nanoseconds, threads), units, body, closure);
}

void ThreadPool::runTried(uint64_t identity, int64_t units, int64_t nanoseconds, unsigned threads, Body body,
                          void *closure) {
  if (units <= 1 || threads <= 1 || nanoseconds > LoopTimes::maxNanoseconds || dividesAlways())
    return run(units, nanoseconds, threads, body, closure);
  LoopTimes::Record &record = times.find(identity, nanoseconds, threads);
  bool onOneThread = record.prefersOneThread();
  unsigned wanted = onOneThread && !record.isTrying()
                        ? 1
                        : threadsNow(units, record.nanosecondsOnOneThread(nanoseconds), threads);
  bool isTrial = record.isTrying();
  if (!isTrial && wanted == 1) {
    record.skip();
    body(closure, 0, units);
    return;
  }
  unsigned tried = isTrial && onOneThread ? 1 : wanted;
  int64_t start = now();
  unsigned got = distribute(tried, units, body, closure);
  int64_t taken = now() - start;
  if (!isTrial) {
    if (got > 1)
      record.addShared(taken, nanoseconds);
    record.skip();
  } else if (wanted > 1 && got == tried) {
    record.add(onOneThread, taken, nanoseconds);
  }
}

// How many threads the loop pays for at this moment.
unsigned ThreadPool::threadsNow(int64_t units, int64_t nanoseconds, unsigned threads) const {
  threads = std::min(threads, maxThreads);
  if (units <= 1 || threads <= 1 || insideLoop)
    return 1;
  return decide(units, dividesAlways() ? INT64_MAX : nanoseconds, threads);
}

// Returns how many threads were free for the loop, the caller included.
unsigned ThreadPool::distribute(unsigned wanted, int64_t units, Body body, void *closure) {
  if (wanted == 1) {
    body(closure, 0, units);
    return 1;
  }
  bool always = dividesAlways();
  Caller caller;
  start(std::min(wanted, size.load()) - 1);
  if (started > 0 && !measured.exchange(true) && !always)
    HandOffMeasurement(*this).run();
  uint16_t claimed[maxThreads];
  unsigned helpers = claim(wanted - 1, claimed);
  if (helpers)
    sharedLoops.fetch_add(1, std::memory_order_relaxed);
  Job job = {body, closure, units, always ? wanted : helpers + 1, {helpers}};
  for (unsigned i = 0; i < helpers; ++i)
    workers[claimed[i]]->post(job, i + 1);
  insideLoop = true;
  job.run(0);
  for (unsigned range = helpers + 1; range < job.ranges; ++range)
    job.run(range);
  for (unsigned i = helpers; i > 0; --i) {
    Worker &worker = *workers[claimed[i - 1]];
    if (!worker.takeBack(job))
      continue;
    release(worker);
    job.run(i);
    --job.pending;
  }
  waitForEnd(job);
  insideLoop = false;
  return helpers + 1;
}
