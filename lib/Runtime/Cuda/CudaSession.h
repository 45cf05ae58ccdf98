/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The state that all components of a CUDA device use: the driver's context, a CUDA stream for each
   StreamKind, the events of the clock, and the last launch. Errors name the last launch because a later call
   returns the error of a kernel. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_CUDA_CUDASESSION_H
#define ADJOINT_LIB_RUNTIME_CUDA_CUDASESSION_H

#include "CudaDriver.h"
#include "adjoint/Runtime/Host/Device.h"

namespace adrt {

class CudaEvent final : public Event {
public:
  CudaEvent(const CudaDriver &driver, void *context, void *handle)
      : driver(driver), context(context), handle(handle) {}
  ~CudaEvent() override {
    driver.cuCtxSetCurrent(context);
    driver.cuEventDestroy_v2(handle);
  }
  void *get() const { return handle; }

private:
  const CudaDriver &driver;
  void *context, *handle;
};

class CudaSession {
public:
  explicit CudaSession(const CudaDriver &driver) : driver(driver) {}
  ~CudaSession();
  CudaSession(const CudaSession &) = delete;
  CudaSession &operator=(const CudaSession &) = delete;
  /// Retains the primary context of the first GPU and creates the streams. Returns the problem, empty if
  /// there is none.
  std::string open();

  static CudaAddress address(const void *memory) { return reinterpret_cast<CudaAddress>(memory); }
  /// Makes the context current on the calling thread, which may be any thread.
  void enter() const { driver.cuCtxSetCurrent(context); }
  void *stream(StreamKind kind) const { return streams[static_cast<int>(kind)]; }
  Outcome finish(const char *call, CudaResult result) const;
  Outcome finish(const CudaAnswer &answer) const { return finish(answer.call, answer.result); }
  Outcome synchronize() const;
  std::unique_ptr<CudaEvent> makeEvent(unsigned flags, Outcome &outcome) const;
  Outcome record(CudaEvent &event, StreamKind kind) const;

  /// Later errors name this launch; `commands` is the number of commands of its graph.
  void noteLaunch(const std::string &kernel, const adrt_site *site, size_t commands);

  Outcome startClock();
  /// Records the clock's start before the next command, if it is due.
  Outcome markStart();
  Outcome stopClock(double &seconds);

  const CudaDriver &driver;
  CudaDeviceNumber number = 0;
  void *context = nullptr;

private:
  void *streams[3] = {}; // by StreamKind
  std::string lastKernel;
  const adrt_site *lastSite = nullptr;
  size_t lastCommands = 1;
  std::unique_ptr<CudaEvent> clockStart, clockStop;
  bool clockIsDue = false; // the next command records the start
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_CUDA_CUDASESSION_H
