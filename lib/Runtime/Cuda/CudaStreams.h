/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Asynchronous copies and events of the CUDA driver. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_CUDA_CUDASTREAMS_H
#define ADJOINT_LIB_RUNTIME_CUDA_CUDASTREAMS_H

#include "CudaSession.h"

namespace adrt {

class CudaStreams final : public Streams {
public:
  explicit CudaStreams(CudaSession &session) : session(session) {}

  Outcome copyToDevice(void *target, const void *source, int64_t bytes) override;
  Outcome copyToHost(void *target, const void *source, int64_t bytes) override;
  void *allocateHost(int64_t bytes) override;
  void releaseHost(void *memory) override;
  Outcome explainHostFailure(const std::string &purpose) const override;
  std::unique_ptr<Event> makeEvent(Outcome &outcome) override {
    return session.makeEvent(cudaEventDisableTiming, outcome);
  }
  Outcome record(Event &event, StreamKind stream) override { return session.record(cuda(event), stream); }
  Outcome waitFor(StreamKind stream, Event &event) override;
  Outcome wait(Event &event) override;
  bool isComplete(Event &event) override;

private:
  static CudaEvent &cuda(Event &event) { return static_cast<CudaEvent &>(event); }

  CudaSession &session;
  CudaResult hostAllocated = 0; // of the last allocation
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_CUDA_CUDASTREAMS_H
