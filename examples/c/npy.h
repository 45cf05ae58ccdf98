/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Whole files and .npy files in memory, as much as the examples need. A file that cannot be read or written
   ends the program with a message. */
#ifndef ADJOINT_EXAMPLES_C_NPY_H
#define ADJOINT_EXAMPLES_C_NPY_H

#include "adjoint/Runtime/adrt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a file: `data` is where its values begin within `memory`, which is to be freed. */
typedef struct Array {
  char *memory, *data;
  size_t bytes;
} Array;

static inline void failAbout(const char *path, const char *reason) {
  fprintf(stderr, "'%s': %s\n", path, reason);
  exit(2);
}

static inline Array readFile(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    failAbout(path, strerror(errno));
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  if (size < 0)
    failAbout(path, "no file that can be read");
  Array array = {malloc((size_t)size + 1), NULL, (size_t)size};
  if (!array.memory || fread(array.memory, 1, array.bytes, file) != array.bytes)
    failAbout(path, "cannot be read");
  fclose(file);
  array.data = array.memory;
  return array;
}

/* Of a .npy file of version 1, the values. */
static inline Array readArray(const char *folder, const char *name) {
  enum { PREFIX = 10 }; /* the magic string, the version, the length of the header */
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.npy", folder, name);
  Array array = readFile(path);
  if (array.bytes < PREFIX || memcmp(array.memory, "\x93NUMPY\x01", 7) != 0)
    failAbout(path, "no .npy file of version 1");
  size_t header = (unsigned char)array.memory[8] + 256u * (unsigned char)array.memory[9];
  if (array.bytes < PREFIX + header)
    failAbout(path, "ends in its header");
  array.data += PREFIX + header;
  array.bytes -= PREFIX + header;
  return array;
}

static inline size_t elementSize(int32_t type) {
  static const size_t sizes[] = {8, 4, 2, 2, 1, 1, 1, 1, 4, 8};
  return sizes[type];
}

static inline size_t byteSize(const adrt_tensor *tensor) {
  size_t bytes = elementSize(tensor->type);
  for (int32_t axis = 0; axis < tensor->rank; ++axis)
    bytes *= (size_t)tensor->shape[axis];
  return bytes;
}

/* Writes a tensor of f32 to FOLDER/NAME.npy. */
static inline void writeArray(const char *folder, const char *name, const adrt_tensor *tensor) {
  char path[4096], shape[256] = "", header[512];
  snprintf(path, sizeof path, "%s/%s.npy", folder, name);
  if (tensor->type != ADRT_F32)
    failAbout(path, "only f32 is written");
  for (int32_t axis = 0; axis < tensor->rank; ++axis)
    snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%lld,", (long long)tensor->shape[axis]);
  int length =
      snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", shape);
  int padded = (length + 1 + 10 + 63) / 64 * 64 - 10;
  FILE *file = fopen(path, "wb");
  if (!file)
    failAbout(path, strerror(errno));
  fprintf(file, "\x93NUMPY\x01%c%c%c%-*s\n", 0, padded % 256, padded / 256, padded - 1, header);
  fwrite(tensor->data, 1, byteSize(tensor), file);
  if (ferror(file) | fclose(file))
    failAbout(path, "cannot be written");
}

#endif /* ADJOINT_EXAMPLES_C_NPY_H */
