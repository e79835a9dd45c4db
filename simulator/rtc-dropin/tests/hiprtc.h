// SPDX-License-Identifier: MIT OR Apache-2.0
// What the programs use of hipRTC and HIP, and how they check.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hiprtcVersion(int *, int *);
const char *hiprtcGetErrorString(int);
int hiprtcCreateProgram(void **, const char *, const char *, int, const char **, const char **);
int hiprtcDestroyProgram(void **);
int hiprtcAddNameExpression(void *, const char *);
int hiprtcCompileProgram(void *, int, const char **);
int hiprtcGetLoweredName(void *, const char *, const char **);
int hiprtcGetProgramLogSize(void *, size_t *);
int hiprtcGetProgramLog(void *, char *);
int hiprtcGetCodeSize(void *, size_t *);
int hiprtcGetCode(void *, char *);
int hiprtcGetBitcodeSize(void *, size_t *);
int hiprtcGetBitcode(void *, char *);
int hiprtcLinkCreate(unsigned, unsigned *, void **, void **);
int hiprtcLinkAddData(void *, int, void *, size_t, const char *, unsigned, unsigned *, void **);
int hiprtcLinkAddFile(void *, int, const char *, unsigned, unsigned *, void **);
int hiprtcLinkComplete(void *, void **, size_t *);
int hiprtcLinkDestroy(void *);
int hipMalloc(void **, size_t);
int hipMemcpy(void *, const void *, size_t, int);
int hipModuleLoadData(void **, const void *);
int hipModuleUnload(void *);
int hipModuleGetFunction(void **, void *, const char *);
int hipModuleLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **);
int hipModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

enum { OK = 0, INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6, NAME_NOT_VALID = 10, LINKING = 100 };

#define GIVES(expected, call)                                                                 \
  do {                                                                                        \
    int given = (call);                                                                       \
    if (given != (expected))  {                                                               \
      fprintf(stderr, "%d: %s gives %d, not %d\n", __LINE__, #call, given, (int)(expected)); \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)
#define CHECK(condition) GIVES(1, (condition) ? 1 : 0)

static inline void print_log(void *program) {
  size_t size = 0;
  hiprtcGetProgramLogSize(program, &size);
  char *log = calloc(size + 1, 1);
  hiprtcGetProgramLog(program, log);
  fputs(log, stderr);
  free(log);
}

// Launches a kernel of 64 threads over an array of integers.
static inline void launch(const void *code, const char *name, int *values) {
  void *module, *function, *memory;
  GIVES(OK, hipModuleLoadData(&module, code));
  GIVES(OK, hipModuleGetFunction(&function, module, name));
  GIVES(OK, hipMalloc(&memory, 64 * sizeof *values));
  GIVES(OK, hipMemcpy(memory, values, 64 * sizeof *values, 1));
  void *arguments[] = {&memory};
  GIVES(OK, hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
  GIVES(OK, hipMemcpy(values, memory, 64 * sizeof *values, 2));
  GIVES(OK, hipModuleUnload(module));
}
