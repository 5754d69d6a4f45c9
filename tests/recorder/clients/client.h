#ifndef CUPROOF_CLIENT_H
#define CUPROOF_CLIENT_H
/* What the test programs share: they call the driver API and print each answer on a line, so that a
 * run under the recorder can be compared with one without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../driver_model/driver_api.h"

/* Zeros behind an image: a driver reads as far as its headers say, and a damaged one can say more.
 */
#define PADDING (2u << 20)

static inline void* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) {
    perror(path);
    exit(3);
  }
  const size_t size = (size_t)ftell(file);
  rewind(file);
  char* bytes = calloc(1, size + PADDING);
  if (!bytes || fread(bytes, 1, size, file) != size) exit(3);
  fclose(file);
  return bytes;
}

#define SAY(call) say(#call, call)
static inline CUresult say(const char* text, CUresult result) {
  printf("%.*s %d\n", (int)(strchr(text, '(') - text), text, result);
  return result;
}

/* Steps that must work before anything can be tried. */
#define MUST(call)                                     \
  do {                                                 \
    const CUresult must_result = (call);               \
    if (must_result) {                                 \
      fprintf(stderr, "%s: %d\n", #call, must_result); \
      exit(4);                                         \
    }                                                  \
  } while (0)

static inline CUcontext start(int ordinal) {
  CUdevice device;
  CUcontext context;
  int version = 0;
  MUST(cuInit(0));
  MUST(cuDriverGetVersion(&version));
  MUST(cuDeviceGet(&device, ordinal));
  int major = 0, minor = 0;
  MUST(cuDeviceGetAttribute(&major, 75, device));
  MUST(cuDeviceGetAttribute(&minor, 76, device));
  MUST(cuDevicePrimaryCtxRetain(&context, device));
  MUST(cuCtxSetCurrent(context));
  return context;
}
#endif
