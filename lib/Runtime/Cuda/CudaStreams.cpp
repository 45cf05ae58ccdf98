/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "CudaStreams.h"

#include <algorithm>

using namespace adrt;

Outcome CudaStreams::copyToDevice(void *target, const void *source, int64_t bytes) {
  if (bytes == 0)
    return {};
  session.enter();
  countCopyToDevice();
  return session.finish("cuMemcpyHtoDAsync",
                        session.driver.cuMemcpyHtoDAsync_v2(CudaSession::address(target), source,
                                                            static_cast<size_t>(bytes),
                                                            session.stream(StreamKind::HostToDevice)));
}

Outcome CudaStreams::copyToHost(void *target, const void *source, int64_t bytes) {
  if (bytes == 0)
    return {};
  session.enter();
  countCopyToHost();
  return session.finish("cuMemcpyDtoHAsync",
                        session.driver.cuMemcpyDtoHAsync_v2(target, CudaSession::address(source),
                                                            static_cast<size_t>(bytes),
                                                            session.stream(StreamKind::DeviceToHost)));
}

void *CudaStreams::allocateHost(int64_t bytes) {
  hostAllocated = cudaOutOfMemory;
  if (bytes < 0)
    return nullptr;
  session.enter();
  void *memory = nullptr;
  hostAllocated = session.driver.cuMemHostAlloc(&memory, static_cast<size_t>(std::max<int64_t>(bytes, 1)), 0);
  return hostAllocated == 0 ? memory : nullptr;
}

Outcome CudaStreams::explainHostFailure(const std::string &purpose) const {
  return hostAllocated == cudaOutOfMemory ? Streams::explainHostFailure(purpose)
                                          : session.finish("cuMemHostAlloc", hostAllocated);
}

void CudaStreams::releaseHost(void *memory) {
  session.enter();
  session.driver.cuMemFreeHost(memory); // waits
}

Outcome CudaStreams::waitFor(StreamKind stream, Event &event) {
  session.enter();
  return session.finish("cuStreamWaitEvent",
                        session.driver.cuStreamWaitEvent(session.stream(stream), cuda(event).get(), 0));
}

Outcome CudaStreams::wait(Event &event) {
  session.enter();
  return session.finish("cuEventSynchronize", session.driver.cuEventSynchronize(cuda(event).get()));
}

bool CudaStreams::isComplete(Event &event) {
  session.enter();
  return session.driver.cuEventQuery(cuda(event).get()) == 0;
}
