/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Trains a digits program from C: compiles it, feeds it batches, receives its losses, and writes what it
   learned.

     python3 examples/digits/prepare.py mlp INPUTS            # the batches and the first parameters
     cc train_digits.c $(pkg-config --cflags --libs adjoint) -o train_digits
     ./train_digits examples/digits/mlp.mlir INPUTS RESULTS [NAME=VALUE...]

   INPUTS has NAME.npy for each argument and each feed; RESULTS gets NAME.npy for each result, and loss.npy.
   Options such as target=gpu-sim are those of adjoint-c/Program.h. */
#include "adjoint-c/Program.h"
#include "npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 16, MAX_FEEDS = 8, MAX_ARGUMENTS = 64 };

/* A stream of batches, one after the other in memory. */
typedef struct Stream {
  char name[64];
  Array values;
  size_t position;
} Stream;

typedef struct Session {
  const char *inputs;
  Stream streams[MAX_FEEDS];
  size_t numStreams;
  float *losses;
  size_t numLosses;
} Session;

static void fail(AdjointError *error) {
  fprintf(stderr, "%s\n", adjointErrorGetText(error));
  adjointErrorDestroy(error);
  exit(1);
}

static Stream *findStream(Session *session, const char *name) {
  for (size_t index = 0; index < session->numStreams; ++index)
    if (strcmp(session->streams[index].name, name) == 0)
      return &session->streams[index];
  if (session->numStreams == MAX_FEEDS)
    return NULL;
  Stream *stream = &session->streams[session->numStreams++];
  snprintf(stream->name, sizeof stream->name, "%s", name);
  stream->values = readArray(session->inputs, name);
  return stream;
}

/* The next batch of a stream; what a batch is follows from the size that the program asks for. */
static const char *feed(void *user, const char *name, const adrt_tensor *destination) {
  Stream *stream = findStream((Session *)user, name);
  if (!stream)
    return "too many feeds";
  size_t bytes = byteSize(destination);
  if (stream->position + bytes > stream->values.bytes)
    return "there is no further batch";
  memcpy(destination->data, stream->values.data + stream->position, bytes);
  stream->position += bytes;
  return NULL;
}

static const char *receive(void *user, const char *name, const adrt_tensor *values, size_t numValues) {
  Session *session = user;
  if (strcmp(name, "loss") != 0 || numValues != 1)
    return NULL;
  float *losses = realloc(session->losses, (session->numLosses + 1) * sizeof *losses);
  if (!losses)
    return "not enough memory for the losses";
  session->losses = losses;
  losses[session->numLosses++] = *(const float *)values[0].data;
  return NULL;
}

static AdjointProgram *compile(const char *path, int count, char **words) {
  AdjointOption options[MAX_OPTIONS];
  if (count > MAX_OPTIONS) {
    fprintf(stderr, "at most %d options\n", MAX_OPTIONS);
    exit(2);
  }
  for (int index = 0; index < count; ++index) {
    char *value = strchr(words[index], '=');
    if (!value) {
      fprintf(stderr, "expected NAME=VALUE, found '%s'\n", words[index]);
      exit(2);
    }
    *value = '\0';
    options[index] = (AdjointOption){words[index], value + 1};
  }
  Array source = readFile(path);
  AdjointProgram *program = NULL;
  AdjointError *error =
      adjointProgramCompile(source.data, source.bytes, path, options, (size_t)count, &program);
  if (error)
    fail(error);
  free(source.memory);
  return program;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s PROGRAM.mlir INPUTS RESULTS [NAME=VALUE...]\n", argv[0]);
    return 2;
  }
  AdjointProgram *program = compile(argv[1], argc - 4, argv + 4);
  Session session = {argv[2], {{{0}, {0}, 0}}, 0, NULL, 0};
  size_t numArguments = adjointProgramGetNumArguments(program);
  Array arrays[MAX_ARGUMENTS];
  adrt_tensor arguments[MAX_ARGUMENTS];
  if (numArguments > MAX_ARGUMENTS)
    return 2;
  for (size_t index = 0; index < numArguments; ++index) {
    AdjointValue value = adjointProgramGetArgument(program, index);
    arrays[index] = readArray(argv[2], value.name);
    arguments[index] =
        (adrt_tensor){arrays[index].data, value.shape, value.rank, value.type, ADRT_HOST_MEMORY};
    if (arrays[index].bytes != byteSize(&arguments[index])) {
      fprintf(stderr, "%s.npy has another size than the argument\n", value.name);
      return 1;
    }
  }

  AdjointHost host = {&session, feed, receive, NULL};
  AdjointResults *results = NULL;
  AdjointError *error = adjointProgramCall(program, arguments, numArguments, NULL, 0, &host, &results);
  if (error)
    fail(error);
  for (size_t index = 0; index < adjointResultsGetNum(results); ++index) {
    adrt_tensor result = adjointResultsGet(results, index);
    AdjointValue value = adjointProgramGetResult(program, index);
    writeArray(argv[3], value.name, &result);
    if (result.rank == 0 && result.type == ADRT_F32)
      printf("%s %.9g\n", value.name, (double)*(const float *)result.data);
  }
  int64_t numLosses = (int64_t)session.numLosses;
  adrt_tensor losses = {session.losses, &numLosses, 1, ADRT_F32, ADRT_HOST_MEMORY};
  writeArray(argv[3], "loss", &losses);

  adjointResultsDestroy(results);
  adjointProgramDestroy(program);
  for (size_t index = 0; index < numArguments; ++index)
    free(arrays[index].memory);
  for (size_t index = 0; index < session.numStreams; ++index)
    free(session.streams[index].values.memory);
  free(session.losses);
  return 0;
}
