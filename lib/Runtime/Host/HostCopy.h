/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A tensor of a program in host memory: a tensor of a device is copied, any other is used directly. Internal
   to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_HOSTCOPY_H
#define ADJOINT_LIB_RUNTIME_HOST_HOSTCOPY_H

#include "adjoint/Runtime/Host/Context.h"

namespace adrt {

class HostCopy {
public:
  HostCopy(adrt_context &context, const adrt_site *site, const adrt_tensor &tensor)
      : context(context), site(site), original(tensor), visible(tensor) {}

  /// Returns a status of adrt.h.
  int32_t open();
  const adrt_tensor &view() const { return visible; }

private:
  int64_t bytes() const { return byteSize(original.type, original.rank, original.shape); }

  adrt_context &context;
  const adrt_site *site;
  adrt_tensor original, visible;
  Buffer memory;
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_HOSTCOPY_H
