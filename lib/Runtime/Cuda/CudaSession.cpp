/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "CudaSession.h"

#include <utility>

using namespace adrt;

CudaSession::~CudaSession() {
  if (!context)
    return;
  clockStart.reset();
  clockStop.reset();
  enter();
  for (void *each : streams)
    if (each)
      driver.cuStreamDestroy_v2(each);
  driver.cuDevicePrimaryCtxRelease_v2(number);
}

std::string CudaSession::open() {
  if (CudaResult result = driver.cuDeviceGet(&number, 0))
    return driver.explain("cuDeviceGet", result);
  if (CudaResult result = driver.cuDevicePrimaryCtxRetain(&context, number))
    return driver.explain("cuDevicePrimaryCtxRetain", result);
  enter();
  for (void *&each : streams)
    if (CudaResult result = driver.cuStreamCreate(&each, cudaStreamNonBlocking))
      return driver.explain("cuStreamCreate", result);
  return "";
}

Outcome CudaSession::finish(const char *call, CudaResult result) const {
  if (result == 0)
    return {};
  std::string text = driver.explain(call, result);
  if (!lastKernel.empty())
    text += ", after kernel '" + lastKernel + "'";
  if (lastCommands > 1)
    text += ", the last of " + std::to_string(lastCommands) + " commands of a graph";
  Outcome outcome = Outcome::failed(std::move(text));
  outcome.lastLaunch = lastSite;
  return outcome;
}

Outcome CudaSession::synchronize() const {
  enter();
  Outcome first;
  for (void *each : streams)
    if (Outcome outcome = finish("cuStreamSynchronize", driver.cuStreamSynchronize(each)); first.ok())
      first = outcome;
  return first;
}

std::unique_ptr<CudaEvent> CudaSession::makeEvent(unsigned flags, Outcome &outcome) const {
  enter();
  void *made = nullptr;
  outcome = finish("cuEventCreate", driver.cuEventCreate(&made, flags));
  return outcome.ok() ? std::make_unique<CudaEvent>(driver, context, made) : nullptr;
}

Outcome CudaSession::record(CudaEvent &event, StreamKind kind) const {
  enter();
  return finish("cuEventRecord", driver.cuEventRecord(event.get(), stream(kind)));
}

void CudaSession::noteLaunch(const std::string &kernel, const adrt_site *site, size_t commands) {
  lastKernel = kernel;
  lastSite = site;
  lastCommands = commands;
}

Outcome CudaSession::startClock() {
  Outcome outcome;
  for (std::unique_ptr<CudaEvent> *event : {&clockStart, &clockStop})
    if (!*event && outcome.ok())
      *event = makeEvent(cudaEventTimed, outcome);
  clockIsDue = outcome.ok();
  return outcome;
}

Outcome CudaSession::markStart() {
  return std::exchange(clockIsDue, false) ? record(*clockStart, StreamKind::Compute) : Outcome();
}

Outcome CudaSession::stopClock(double &seconds) {
  // A program may have no commands.
  if (Outcome outcome = markStart(); !outcome.ok())
    return outcome;
  if (Outcome outcome = record(*clockStop, StreamKind::Compute); !outcome.ok())
    return outcome;
  if (Outcome outcome = finish("cuEventSynchronize", driver.cuEventSynchronize(clockStop->get()));
      !outcome.ok())
    return outcome;
  float milliseconds = 0;
  Outcome outcome = finish("cuEventElapsedTime",
                           driver.cuEventElapsedTime(&milliseconds, clockStart->get(), clockStop->get()));
  seconds = 1e-3 * static_cast<double>(milliseconds);
  return outcome;
}
