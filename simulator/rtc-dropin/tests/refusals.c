// SPDX-License-Identifier: MIT OR Apache-2.0
// What hipRTC refuses, with AMD's codes. Sizes are set by every refusal. It needs no compiler.
#include "hiprtc.h"

int main(void) {
  int major, minor;
  GIVES(OK, hiprtcVersion(&major, &minor));
  CHECK(major == 9 && minor == 0);
  GIVES(INVALID_INPUT, hiprtcVersion(NULL, &minor));
  CHECK(strcmp(hiprtcGetErrorString(0), "HIPRTC_SUCCESS") == 0);
  CHECK(strcmp(hiprtcGetErrorString(COMPILATION), "HIPRTC_ERROR_COMPILATION") == 0);
  CHECK(strcmp(hiprtcGetErrorString(LINKING), "HIPRTC_ERROR_LINKING") == 0);
  CHECK(hiprtcGetErrorString(12) == NULL && hiprtcGetErrorString(-1) == NULL);

  void *program = NULL;
  const char *none[] = {NULL}, *one[] = {"x.h"}, *empty[] = {""};
  GIVES(INVALID_PROGRAM, hiprtcCreateProgram(NULL, "int x;", "x", 0, NULL, NULL));
  GIVES(INVALID_INPUT, hiprtcCreateProgram(&program, "int x;", "x", -1, NULL, NULL));
  GIVES(INVALID_INPUT, hiprtcCreateProgram(&program, "int x;", "x", 1, NULL, one));
  GIVES(INVALID_INPUT, hiprtcCreateProgram(&program, "int x;", "x", 1, one, NULL));
  GIVES(INVALID_INPUT, hiprtcCreateProgram(&program, "int x;", "x", 1, none, one));
  GIVES(INVALID_INPUT, hiprtcCreateProgram(&program, "int x;", "x", 1, empty, one));
  GIVES(INVALID_INPUT, hiprtcCreateProgram(&program, NULL, "x", 0, NULL, NULL));
  GIVES(INVALID_INPUT, hiprtcCreateProgram(&program, "", "x", 0, NULL, NULL));

  size_t size = 77;
  char room[256];
  const char *name = NULL;
  void *wrong = (void *)0x1234;
  GIVES(INVALID_PROGRAM, hiprtcGetProgramLogSize(wrong, &size));
  CHECK(size == 0);
  size = 77;
  GIVES(INVALID_PROGRAM, hiprtcGetCodeSize(wrong, &size));
  CHECK(size == 0);
  size = 77;
  GIVES(INVALID_PROGRAM, hiprtcGetBitcodeSize(NULL, &size));
  CHECK(size == 0);
  GIVES(INVALID_PROGRAM, hiprtcGetCode(wrong, room));
  GIVES(INVALID_PROGRAM, hiprtcGetProgramLog(wrong, room));
  GIVES(INVALID_PROGRAM, hiprtcCompileProgram(wrong, 0, NULL));
  GIVES(INVALID_PROGRAM, hiprtcAddNameExpression(wrong, "x"));
  GIVES(INVALID_PROGRAM, hiprtcGetLoweredName(wrong, "x", &name));

  GIVES(OK, hiprtcCreateProgram(&program, "extern \"C\" __global__ void k() {}\n", NULL, 0, NULL, NULL));
  size = 77;
  GIVES(OK, hiprtcGetProgramLogSize(program, &size));
  CHECK(size == 0);
  GIVES(OK, hiprtcGetCodeSize(program, &size));
  CHECK(size == 0);
  size = 77;
  GIVES(INVALID_PROGRAM, hiprtcGetBitcodeSize(program, &size));
  CHECK(size == 0);
  GIVES(INVALID_PROGRAM, hiprtcGetBitcode(program, room));
  GIVES(INVALID_INPUT, hiprtcGetBitcode(program, NULL));
  GIVES(INVALID_INPUT, hiprtcGetCodeSize(program, NULL));
  GIVES(INVALID_INPUT, hiprtcGetCode(program, NULL));
  GIVES(INVALID_INPUT, hiprtcGetProgramLogSize(program, NULL));
  GIVES(INVALID_INPUT, hiprtcGetProgramLog(program, NULL));
  GIVES(INVALID_INPUT, hiprtcAddNameExpression(program, NULL));
  GIVES(INVALID_INPUT, hiprtcAddNameExpression(program, ""));
  GIVES(INVALID_INPUT, hiprtcGetLoweredName(program, NULL, &name));
  GIVES(INVALID_INPUT, hiprtcGetLoweredName(program, "k", NULL));
  GIVES(NAME_NOT_VALID, hiprtcGetLoweredName(program, "k", &name));
  GIVES(INVALID_OPTION, hiprtcCompileProgram(program, 1, none));

  // No compiler is there, and the log says what to install.
  const char *options[] = {"--offload-arch=gfx942"};
  GIVES(COMPILATION, hiprtcCompileProgram(program, 1, options));
  GIVES(OK, hiprtcGetProgramLogSize(program, &size));
  CHECK(size > 1);
  char *log = malloc(size);
  GIVES(OK, hiprtcGetProgramLog(program, log));
  CHECK(log[size - 1] == 0 && strlen(log) == size - 1);
  puts(log);
  GIVES(OK, hiprtcGetCodeSize(program, &size));
  CHECK(size == 0);

  GIVES(INVALID_INPUT, hiprtcDestroyProgram(NULL));
  void *null = NULL;
  GIVES(OK, hiprtcDestroyProgram(&null));
  GIVES(OK, hiprtcDestroyProgram(&program));
  GIVES(INVALID_PROGRAM, hiprtcDestroyProgram(&program));

  void *linker = NULL, *code = wrong;
  unsigned kinds[] = {0};
  void *values[] = {NULL};
  GIVES(INVALID_INPUT, hiprtcLinkCreate(0, NULL, NULL, NULL));
  GIVES(INVALID_INPUT, hiprtcLinkCreate(1, kinds, NULL, &linker));
  GIVES(INVALID_OPTION, hiprtcLinkCreate(1, kinds, values, &linker));
  GIVES(OK, hiprtcLinkCreate(0, NULL, NULL, &linker));
  for (int kind = 0; kind < 6; ++kind) GIVES(INVALID_INPUT, hiprtcLinkAddData(linker, kind, room, 4, NULL, 0, NULL, NULL));
  GIVES(INVALID_INPUT, hiprtcLinkAddData(linker, 103, room, 4, NULL, 0, NULL, NULL));
  GIVES(INVALID_INPUT, hiprtcLinkAddData(linker, 100, NULL, 4, NULL, 0, NULL, NULL));
  GIVES(INVALID_INPUT, hiprtcLinkAddData(linker, 100, room, 0, NULL, 0, NULL, NULL));
  GIVES(INVALID_INPUT, hiprtcLinkAddData(wrong, 100, room, 4, NULL, 0, NULL, NULL));
  memset(room, 0, sizeof room);
  GIVES(OK, hiprtcLinkAddData(linker, 100, room, sizeof room, NULL, 0, NULL, NULL));
  GIVES(2, hiprtcLinkAddFile(linker, 100, "/nowhere/x.bc", 0, NULL, NULL));
  GIVES(INVALID_INPUT, hiprtcLinkAddFile(linker, 100, NULL, 0, NULL, NULL));
  GIVES(INVALID_INPUT, hiprtcLinkComplete(linker, NULL, &size));
  size = 77;
  GIVES(LINKING, hiprtcLinkComplete(linker, &code, &size));
  CHECK(code == NULL && size == 0);
  code = wrong;
  size = 77;
  GIVES(INVALID_INPUT, hiprtcLinkComplete(wrong, &code, &size));
  CHECK(code == NULL && size == 0);
  GIVES(OK, hiprtcLinkDestroy(linker));
  GIVES(INVALID_INPUT, hiprtcLinkDestroy(NULL));
  return 0;
}
