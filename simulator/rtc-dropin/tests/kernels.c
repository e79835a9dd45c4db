// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels that are compiled and run: names, headers, options, bitcode, what hipRTC's header promises.
#include "hiprtc.h"

static const char SOURCE[] =
    "#include \"numbers/step.h\"\n"
    "#include \"../above.h\"\n"
    "__device__ void *operator new(size_t, void *place) noexcept { return place; }\n"
    "namespace inner {\n"
    "__device__ int base = 40;\n"
    "template <class T, int n> __global__ void add(T *values) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  T value;\n"
    "  new (&value) T(n * STEP + ABOVE + FACTOR * base);\n"
    "  values[i] += value;\n"
    "}\n"
    "}\n"
    "extern \"C\" __global__ void plain(int *values) { values[threadIdx.x] = threadIdx.x; }\n";

// The code of a program.
static char *compiled_with(void *program, int count, const char **options) {
  size_t size;
  int status = hiprtcCompileProgram(program, count, options);
  if (status != OK) print_log(program);
  GIVES(OK, status);
  GIVES(OK, hiprtcGetCodeSize(program, &size));
  char *code = malloc(size);
  GIVES(OK, hiprtcGetCode(program, code));
  return code;
}

static char *compiled(void *program) { return compiled_with(program, 0, NULL); }

static void names_headers_and_options(void) {
  const char *headers[] = {"#define STEP 100\n", "#define ABOVE 7\n"};
  const char *header_names[] = {"numbers/step.h", "../above.h"};
  const char *options[] = {"-DFACTOR=2", "-std=c++17", "-O2"};
  const char *expressions[] = {"inner::add<int, 3>", "&inner::add<int, 1>", "(inner::base)", " plain "};
  const char *lowered[] = {"_ZN5inner3addIiLi3EEEvPT_", "_ZN5inner3addIiLi1EEEvPT_", "_ZN5inner4baseE", "plain"};
  void *program;
  const char *name;
  size_t size;
  GIVES(OK, hiprtcCreateProgram(&program, SOURCE, "names.hip", 2, headers, header_names));
  for (int i = 0; i < 4; ++i) GIVES(OK, hiprtcAddNameExpression(program, expressions[i]));
  GIVES(NAME_NOT_VALID, hiprtcGetLoweredName(program, expressions[0], &name));
  int status = hiprtcCompileProgram(program, 3, options);
  if (status != OK) print_log(program);
  GIVES(OK, status);
  for (int i = 0; i < 4; ++i) {
    GIVES(OK, hiprtcGetLoweredName(program, expressions[i], &name));
    CHECK(strcmp(name, lowered[i]) == 0);
  }
  GIVES(NAME_NOT_VALID, hiprtcGetLoweredName(program, "inner::add<int, 9>", &name));
  GIVES(OK, hiprtcGetCodeSize(program, &size));
  GIVES(INVALID_PROGRAM, hiprtcGetBitcodeSize(program, &size));
  CHECK(size == 0);
  GIVES(OK, hiprtcGetCodeSize(program, &size));
  char *code = malloc(size);
  GIVES(OK, hiprtcGetCode(program, code));
  int values[64] = {0};
  launch(code, "_ZN5inner3addIiLi3EEEvPT_", values);
  for (int i = 0; i < 64; ++i) CHECK(values[i] == 300 + 7 + 80);
  free(code);
  GIVES(OK, hiprtcDestroyProgram(&program));
}

// A source may define new and delete itself, and its name may have folders.
static void a_source_brings_its_own_new(void) {
  static const char source[] =
      "__device__ int taken;\n"
      "__device__ void *operator new(size_t size) { ++taken; return malloc(size); }\n"
      "__device__ void operator delete(void *memory) noexcept { taken += 10; free(memory); }\n"
      "__device__ void operator delete(void *memory, size_t) noexcept { taken += 10; free(memory); }\n"
      "__device__ bool same(const char *a, const char *b) { while (*a && *a == *b) ++a, ++b; return *a == *b; }\n"
      "extern \"C\" __global__ void own(int *values) {\n"
      "  if (threadIdx.x == 0) { int *one = new int(5); values[0] = *one; delete one; values[1] = taken; }\n"
      "  values[2] = same(__FILE__, \"folder/own.hip\");\n"
      "}\n";
  void *program;
  GIVES(OK, hiprtcCreateProgram(&program, source, "folder/own.hip", 0, NULL, NULL));
  char *code = compiled(program);
  int values[64] = {0};
  launch(code, "own", values);
  CHECK(values[0] == 5 && values[1] == 11 && values[2] == 1);
  free(code);
  GIVES(OK, hiprtcDestroyProgram(&program));
}

// The log names the expression that does not compile, or that is more than an expression.
static void a_wrong_name_is_quoted(void) {
  const char *wrong[] = {"zero<\"0\">", "right; int more", "right, more"};
  for (int i = 0; i < 3; ++i) {
    void *program;
    size_t size;
    char place[80];
    GIVES(OK, hiprtcCreateProgram(&program, "__global__ void right() {}\n", "name.hip", 0, NULL, NULL));
    GIVES(OK, hiprtcAddNameExpression(program, wrong[i]));
    GIVES(OK, hiprtcAddNameExpression(program, "right"));
    GIVES(COMPILATION, hiprtcCompileProgram(program, 0, NULL));
    GIVES(OK, hiprtcGetProgramLogSize(program, &size));
    char *log = malloc(size);
    GIVES(OK, hiprtcGetProgramLog(program, log));
    snprintf(place, sizeof place, "name expression `%s`:1:", wrong[i]);
    CHECK(strstr(log, place) != NULL);
    free(log);
    GIVES(OK, hiprtcDestroyProgram(&program));
  }
}

// A variable without a symbol of its own has no lowered name, and the log says which; other names do.
static void a_static_variable_has_no_lowered_name(void) {
  void *program;
  const char *name;
  size_t size;
  GIVES(OK, hiprtcCreateProgram(&program,
                                "static __device__ int hidden;\n"
                                "extern \"C\" __global__ void seen(int *values) { values[0] = ++hidden; }\n",
                                "static.hip", 0, NULL, NULL));
  GIVES(OK, hiprtcAddNameExpression(program, "hidden"));
  GIVES(OK, hiprtcAddNameExpression(program, "seen"));
  free(compiled(program));
  int status = hiprtcGetLoweredName(program, "hidden", &name);
  // LLVM 15, which is in Debian's comgr, gives the variable a symbol with a hash.
  CHECK(status == NAME_NOT_VALID || (status == OK && strstr(name, "hidden") != NULL));
  GIVES(OK, hiprtcGetLoweredName(program, "seen", &name));
  CHECK(strcmp(name, "seen") == 0);
  GIVES(OK, hiprtcGetProgramLogSize(program, &size));
  char *log = malloc(size);
  GIVES(OK, hiprtcGetProgramLog(program, log));
  CHECK((strstr(log, "`hidden`") != NULL) == (status == NAME_NOT_VALID) && strstr(log, "`seen`") == NULL);
  free(log);
  GIVES(OK, hiprtcDestroyProgram(&program));
}

// A function in one unit and its call in another, as bitcode.
static void bitcode_is_linked(const char *folder) {
  const char *sources[] = {
      "__device__ int twice(int x) { return 2 * x; }\n",
      "extern __device__ int twice(int);\n"
      "extern \"C\" __global__ void doubled(int *values) { values[threadIdx.x] = twice(values[threadIdx.x]); }\n"};
  const char *options[] = {"-fgpu-rdc"};
  void *linker, *code;
  size_t size;
  GIVES(OK, hiprtcLinkCreate(0, NULL, NULL, &linker));
  for (int i = 0; i < 2; ++i) {
    void *program;
    GIVES(OK, hiprtcCreateProgram(&program, sources[i], NULL, 0, NULL, NULL));
    if (i == 1) GIVES(OK, hiprtcAddNameExpression(program, "doubled"));
    int status = hiprtcCompileProgram(program, 1, options);
    if (status != OK) print_log(program);
    GIVES(OK, status);
    const char *name;
    if (i == 1) GIVES(OK, hiprtcGetLoweredName(program, "doubled", &name));
    GIVES(OK, hiprtcGetCodeSize(program, &size));
    CHECK(size == 0);
    GIVES(OK, hiprtcGetBitcodeSize(program, &size));
    char *bitcode = malloc(size);
    GIVES(OK, hiprtcGetBitcode(program, bitcode));
    if (i == 0) {
      GIVES(OK, hiprtcLinkAddData(linker, 100, bitcode, size, "twice", 0, NULL, NULL));
    } else {
      char path[4096];
      snprintf(path, sizeof path, "%s/doubled.bc", folder);
      FILE *file = fopen(path, "wb");
      CHECK(file && fwrite(bitcode, 1, size, file) == size);
      fclose(file);
      // The call alone has no definition to link with.
      void *other;
      GIVES(OK, hiprtcLinkCreate(0, NULL, NULL, &other));
      GIVES(OK, hiprtcLinkAddFile(other, 100, path, 0, NULL, NULL));
      GIVES(LINKING, hiprtcLinkComplete(other, &code, &size));
      CHECK(code == NULL && size == 0);
      GIVES(OK, hiprtcLinkDestroy(other));
      GIVES(OK, hiprtcLinkAddFile(linker, 100, path, 0, NULL, NULL));
    }
    free(bitcode);
    GIVES(OK, hiprtcDestroyProgram(&program));
  }
  GIVES(OK, hiprtcLinkComplete(linker, &code, &size));
  int values[64];
  for (int i = 0; i < 64; ++i) values[i] = i;
  launch(code, "doubled", values);
  for (int i = 0; i < 64; ++i) CHECK(values[i] == 2 * i);
  GIVES(OK, hiprtcLinkDestroy(linker));
  GIVES(INVALID_INPUT, hiprtcLinkDestroy(linker));
}

// Each line is a thread that says whether hipRTC's header keeps a promise.
static const char PROMISES[] =
    "struct Counted { int *count; __device__ Counted(int *to) : count(to) { ++*count; } __device__ ~Counted() { *count += 10; } };\n"
    "__device__ bool same(const char *a, const char *b) { while (*a && *a == *b) ++a, ++b; return *a == *b; }\n"
    "template <class T> __device__ bool near(T a, T b) { return fabs(a - b) <= 1e-6 * fabs(b); }\n"
    "__shared__ int sums[2];\n"
    "extern \"C\" __global__ __launch_bounds__(64) void promises(int *values) {\n"
    "  int i = threadIdx.x;\n"
    "  if (i < 2) sums[i] = 0;\n"
    "  __syncthreads();\n"
    "  atomicAdd(&sums[i & 1], i);\n"
    "  int counted = __syncthreads_count(i < 10);\n"
    "  int above = __shfl_down(i, 1), first = __shfl(i, 5), swapped = __shfl_xor(i, 1, 32);\n"
    "  uint64_t low = __ballot(i < 3);\n"
    "  bool right = true;\n"
    "  switch (i) {\n"
    "    case 0: right = near(sinf(0.5f), 0.479425539f) && near(cos(2.0), -0.41614683654714241); break;\n"
    "    case 1: right = near(powf(2.5f, 1.5f), 3.95284708f) && near(pow(10.0, -3.0), 1e-3); break;\n"
    "    case 2: right = near(expf(1), 2.71828183f) && near(log(10.0), 2.302585092994046) && near(log2f(8), 3.f); break;\n"
    "    case 3: right = near(tanh(0.25), 0.24491866240370913) && near(erff(0.5f), 0.520499878f); break;\n"
    "    case 4: right = near(atan2(-1.0, -1.0), -2.356194490192345) && near(fmod(-7.5, 2.0), -1.5); break;\n"
    "    case 5: right = near(tgamma(5.0), 24.0) && near(lgamma(0.5), 0.57236494292470008); break;\n"
    "    case 6: right = near(sin(1e22), -0.8522008497671888) && near(cbrt(-27.0), -3.0) && near(hypotf(3, 4), 5.f); break;\n"
    "    case 7: right = isnan(sqrtf(-1.0f)) && isinf(1.0f / 0.0f) && rsqrtf(4) == 0.5f && rintf(2.5f) == 2; break;\n"
    "    case 8: right = sums[0] == 992 && sums[1] == 1024; break;\n"
    "    case 9: right = counted == 10 && low == 7 && first == 5; break;\n"
    "    case 10: right = above == 11 && swapped == 11 && warpSize == 64 && __lane_id() == 10; break;\n"
    "    case 11: right = __popc(255u) == 8 && __clz(1) == 31 && __ffs(8) == 4 && __brev(1u) == 0x80000000u; break;\n"
    "    case 12: right = __umulhi(0x80000000u, 6u) == 3 && __byte_perm(0x33221100u, 0x77665544u, 0x7410u) == 0x77441100u; break;\n"
    "    case 13: { float4 a = make_float4(1, 2, 3, 4), b = a * 2.0f + a; right = b.w == 12 && b == make_float4(3, 6, 9, 12); break; }\n"
    "    case 14: { __half a = __float2half(1.5f); right = float(a * a) == 2.25f && __half2float(__hfma(a, a, a)) == 3.75f; break; }\n"
    "    case 15: { hip_bfloat16 a(1.0f / 3); right = float(a) == 0.333984375f && float(a + a) == 0.66796875f; break; }\n"
    "    case 16: { unsigned x = 5; right = atomicCAS(&x, 5u, 9u) == 5 && atomicMax(&x, 3u) == 9 && atomicInc(&x, 9u) == 9 && x == 0; break; }\n"
    "    case 17: right = min(3, -2) == -2 && max(2.5f, 1.0f) == 2.5f && abs(-4) == 4 && min(3u, 1) == 1; break;\n"
    "    case 18: { int *p = (int *)malloc(64); right = p != nullptr; p[3] = 4; right = right && p[3] == 4; free(p); break; }\n"
    "    case 19: right = blockDim.x == 64 && gridDim.x == 1 && blockDim.y == 1 && blockIdx.z == 0; break;\n"
    "    case 20: { hipFloatComplex z = hipCmulf(make_hipFloatComplex(1, 2), make_hipFloatComplex(3, 4)); right = z.x == -5 && z.y == 10; break; }\n"
    "    case 21: right = __float_as_uint(1.0f) == 0x3f800000u && __float2int_rn(2.5f) == 2 && near(__expf(1), 2.71828f); break;\n"
    "    case 22: right = near(erfcinv(erfc(0.75)), 0.75) && near(normcdf(normcdfinv(0.01)), 0.01); break;\n"
    "    case 24: { int n = 0; Counted *one = new Counted(&n); delete one; int *some = new int[9]; some[8] = n; right = some[8] == 11; delete[] some; break; }\n"
    "    case 25: { int n = 0; alignas(8) char place[16]; Counted *here = new (place) Counted(&n); right = (void *)here == place; here->~Counted(); right = right && n == 11; break; }\n"
    "    case 26: right = same(__FILE__, \"promises\"); break;\n"
    "    case 27: { int from[3] = {1, 2, i}, to[3]; memcpy(to, from, 4 * (i - 24)); right = to[2] == 27; memset(to, 0xff, 4); right = right && to[0] == -1; break; }\n"
    "    case 28: right = log1p(-1.0) == -INFINITY && isnan(acosh(-1e20)) && isnan(acoshf(0.5f)) && cospi(1e308) == 1; break;\n"
    "    case 29: right = __powf(-2, 2) == 4 && __powf(-1, 3) == -1 && __powf(1, INFINITY) == 1 && near(lgamma(-1e-310), 713.8013763); break;\n"
    "    case 30: right = near(erfcinv(1e-310), 26.64481079) && near(normcdfinv(1e-310), -37.66306); break;\n"
    "    case 31: { int2 j = make_int2(3, 4); int2 k = j++; --j; right = k == j && (++j).y == 5; break; }\n"
    "    case 32: { float a[3] = {2, 3, 6}; double b[3] = {2, 3, 6}; right = normf(3, a) == 7 && norm(3, b) == 7 && near(rnorm(3, b), 1.0 / 7); break; }\n"
    "    case 33: right = __fns64(0x8421, 0, 2) == 5 && __fns64(0x8421, 15, -2) == 10 && __fns32(4, 2, 0) == 2 && __fns32(1, 1, 1) == -1; break;\n"
    "    case 34: right = __bitextract_u64(0xabcd000000000000ull, 48, 16) == 0xabcd && __ldg(values + 63) != 7; break;\n"
    "    case 35: right = float(__float2half_ru(1.0001f)) == 1.0009765625f && float(__float2half_rd(-1.0001f)) == -1.0009765625f; break;\n"
    "    case 36: right = float(__float2half_rz(-1.0009f)) == -1 && float(__hadd_sat(1, 1)) == 1 && __hltu(__half(HIP_NAN_F), 1); break;\n"
    "    case 37: right = __half2int_ru(__half(1.5f)) == 2 && __half2short_rz(__half(-1.5f)) == -1 && __half_as_ushort(__habs(__half(-0.0f))) == 0; break;\n"
    "  }\n"
    "  if (i == 23) printf(\"%s %d %.2f\\n\", \"printed\", i, 0.25);\n"
    "  values[i] = right;\n"
    "}\n";

static void the_header_keeps_its_promises(void) {
  void *program;
  GIVES(OK, hiprtcCreateProgram(&program, PROMISES, "promises", 0, NULL, NULL));
  char *code = compiled(program);
  int values[64] = {0};
  launch(code, "promises", values);
  for (int i = 0; i < 64; ++i) {
    if (values[i] != 1) {
      fprintf(stderr, "promise %d is broken\n", i);
      exit(1);
    }
  }
  free(code);
  GIVES(OK, hiprtcDestroyProgram(&program));
}

// Types that sources define for themselves, and macros with names that hipRTC's own header uses.
static void sources_have_their_own_types_and_macros(void) {
  const char *sources[] = {
      "typedef signed char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\ntypedef long long int64_t;\n"
      "typedef unsigned char uint8_t;\ntypedef unsigned long long uint64_t;\nusing uintptr_t = unsigned long long;\n",
      // AMD's comgr has no headers of C.
      "#if __has_include(<stddef.h>)\n#include <stdint.h>\n#include <stdlib.h>\n"
      "static_assert(sizeof(int16_t) == 2 && INT8_MAX == 127, \"\");\n#endif\n",
      "",
  };
  const char *options[] = {"-DBLOCK=256", "-D", "count=values[0]", "-DA=1", "-Dsum=2", "-Dto(x)=x", "-Dlow"};
  for (int i = 0; i < 3; ++i) {
    char source[1000];
    void *program;
    snprintf(source, sizeof source,
             "%sextern \"C\" __global__ void own(int *values) { int64_t one = A; count = to((int)one) + BLOCK + sum; }\n", sources[i]);
    GIVES(OK, hiprtcCreateProgram(&program, source, "own.hip", 0, NULL, NULL));
    char *code = compiled_with(program, 7, options);
    int values[64] = {0};
    launch(code, "own", values);
    CHECK(values[0] == 259);
    free(code);
    GIVES(OK, hiprtcDestroyProgram(&program));
  }
}

// Groups of threads: blocks, tiles, active lanes, and a barrier of the grid.
static const char GROUPS[] =
    "namespace groups = cooperative_groups;\n"
    "__device__ int sums[8];\n"
    "__device__ unsigned ranked(groups::thread_group group) { group.sync(); return group.thread_rank() + 100 * group.size(); }\n"
    "extern \"C\" __global__ void together(int *values) {\n"
    "  auto block = groups::this_thread_block();\n"
    "  auto tile = groups::tiled_partition<16>(block);\n"
    "  auto grid = groups::this_grid();\n"
    "  int sum = block.thread_rank();\n"
    "  for (int by = 8; by > 0; by /= 2) sum += tile.shfl_down(sum, by);\n"
    "  bool right = grid.is_valid() && ranked(block) == 6400 + threadIdx.x && ranked(tile) == 1600 + threadIdx.x % 16;\n"
    "  right = right && (tile.thread_rank() != 0 || sum == 16 * (int)(threadIdx.x) + 120) && tile.ballot(threadIdx.x % 4 == 1) == 0x2222;\n"
    "  right = right && tile.meta_group_rank() == threadIdx.x / 16 && tile.any(threadIdx.x == 17) == (threadIdx.x / 16 == 1);\n"
    "  if (threadIdx.x % 3 == 0) {\n"
    "    auto active = groups::coalesced_threads();\n"
    "    right = right && active.size() == 22 && active.thread_rank() == threadIdx.x / 3 && active.shfl(threadIdx.x, 5) == 15;\n"
    "  }\n"
    "  right = right && ranked(groups::tiled_partition(block, 8)) == 800 + threadIdx.x % 8;\n"
    "  if (threadIdx.x % 2 == 0) {\n"
    "    auto four = groups::tiled_partition(groups::coalesced_threads(), 4);\n"
    "    right = right && four.size() == 4 && four.thread_rank() == threadIdx.x / 2 % 4 && four.shfl(threadIdx.x, 1) == (threadIdx.x & ~7) + 2;\n"
    "  }\n"
    "  if (block.thread_rank() == 0) sums[blockIdx.x] = blockIdx.x + 1;\n"
    "  for (int round = 0; round < 3; ++round) {\n"
    "    grid.sync();\n"
    "    int all = 0;\n"
    "    for (int i = 0; i < 8; ++i) all += sums[i];\n"
    "    right = right && all == 36 << round;\n"
    "    grid.sync();\n"
    "    if (block.thread_rank() == 0) sums[blockIdx.x] *= 2;\n"
    "  }\n"
    "  if (!right) atomicAdd(values, 1);\n"
    "}\n";

static void groups_of_threads_work_together(void) {
  void *program, *module, *function, *memory;
  int wrong = 0;
  GIVES(OK, hiprtcCreateProgram(&program, GROUPS, "groups", 0, NULL, NULL));
  char *code = compiled(program);
  GIVES(OK, hipModuleLoadData(&module, code));
  GIVES(OK, hipModuleGetFunction(&function, module, "together"));
  GIVES(OK, hipMalloc(&memory, sizeof wrong));
  GIVES(OK, hipMemcpy(memory, &wrong, sizeof wrong, 1));
  void *arguments[] = {&memory};
  GIVES(OK, hipModuleLaunchCooperativeKernel(function, 8, 1, 1, 64, 1, 1, 0, NULL, arguments));
  GIVES(OK, hipMemcpy(&wrong, memory, sizeof wrong, 2));
  CHECK(wrong == 0);
  GIVES(OK, hipModuleUnload(module));
  free(code);
  GIVES(OK, hiprtcDestroyProgram(&program));
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  names_headers_and_options();
  a_source_brings_its_own_new();
  a_wrong_name_is_quoted();
  a_static_variable_has_no_lowered_name();
  bitcode_is_linked(arguments[1]);
  the_header_keeps_its_promises();
  sources_have_their_own_types_and_macros();
  groups_of_threads_work_together();
  puts("right");
  return 0;
}
