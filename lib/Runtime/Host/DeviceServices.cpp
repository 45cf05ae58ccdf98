/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The functions of adrt.h for programs for a device. */
#include "DeviceContext.h"
#include "HostCopy.h"

using namespace adrt;

int32_t HostCopy::open() {
  if (original.memory == ADRT_HOST_MEMORY)
    return ADRT_OK;
  DeviceContext *device = context.requireDevice();
  if (!device)
    return context.getError().status;
  visible.data = memory.reserve(bytes());
  visible.memory = ADRT_HOST_MEMORY;
  if (!visible.data)
    return context.fail(ADRT_TARGET_ERROR, site, "not enough memory for a copy of a tensor");
  return context.finish(device->getDevice().read(visible.data, original.data, bytes()), site);
}

void *adrt_argument(adrt_context *context, const adrt_tensor *argument, int32_t index) {
  DeviceContext *device = context->requireDevice();
  return device ? device->argumentOnDevice(*argument, index) : nullptr;
}

void *adrt_constant(adrt_context *context, const void *data, int64_t bytes) {
  DeviceContext *device = context->requireDevice();
  return device ? device->copyConstant(data, bytes) : nullptr;
}

int32_t adrt_copy(adrt_context *context, void *target, const void *source, int64_t bytes) {
  DeviceContext *device = context->requireDevice();
  return device ? context->finish(device->getDevice().copy(target, source, bytes), nullptr)
                : context->getError().status;
}

int32_t adrt_read(adrt_context *context, void *target, const void *source, int64_t bytes) {
  DeviceContext *device = context->requireDevice();
  return device ? context->finish(device->getDevice().read(target, source, bytes), nullptr)
                : context->getError().status;
}

int32_t adrt_tensor_map(adrt_context *context, const adrt_site *site, void *map, const adrt_tensor *tensor,
                        const uint32_t *box, int32_t swizzleBytes, int32_t tf32) {
  DeviceContext *device = context->requireDevice();
  return device ? device->describe(site, map, *tensor, {box, static_cast<uint32_t>(swizzleBytes), tf32 != 0})
                : context->getError().status;
}

int32_t adrt_launch(adrt_context *context, const adrt_site *site, int32_t kernel, const adrt_grid *grid,
                    void *const *arguments, const int32_t *bytes, int32_t count) {
  DeviceContext *device = context->requireDevice();
  return device ? device->launch({site, kernel, *grid, arguments, bytes, count}) : context->getError().status;
}

int32_t adrt_sm_count(adrt_context *context) {
  Device *device = context->getDevice();
  return device ? device->smCount() : 1;
}
