/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Starts the threads of the pool. */
#include "PoolWorker.h"

#include <csignal>
#include <new>

using namespace adrt;

namespace {

/// Blocks all signals but those that a thread causes itself, so that the host's threads handle them. `before`
/// gets the present mask.
void blockSignals(sigset_t &before) {
  sigset_t signals;
  sigfillset(&signals);
  for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF})
    sigdelset(&signals, own);
  pthread_sigmask(SIG_SETMASK, &signals, &before);
}

} // namespace

// Does not wait for another caller that is starting threads.
void ThreadPool::start(unsigned count) {
  if (started >= count || startFailed || pthread_mutex_trylock(&starting) != 0)
    return;
  while (started < count && startWorker(started))
    ++started;
  pthread_mutex_unlock(&starting);
}

bool ThreadPool::startWorker(unsigned index) {
  // A child process reuses the records of its parent's workers.
  Worker *&worker = workers[index];
  worker = worker ? new (worker) Worker : new Worker;
  worker->pool = this;
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t signals;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  size_t stack = 0;
  if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < minStack)
    pthread_attr_setstacksize(&attributes, minStack);
  bool isKnown = sched_getaffinity(0, sizeof(worker->affinity), &worker->affinity) == 0;
  cpu_set_t others = worker->affinity;
  worker->hasOtherAffinity = isKnown && removeOwnCPU(others) &&
                             pthread_attr_setaffinity_np(&attributes, sizeof(others), &others) == 0;
  blockSignals(signals);
  bool made = pthread_create(&thread, &attributes, workerMain, worker) == 0;
  pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  pthread_attr_destroy(&attributes);
  startFailed = !made; // later loops run on the threads that have started
  return made;
}
