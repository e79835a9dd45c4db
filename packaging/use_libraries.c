// SPDX-License-Identifier: MIT OR Apache-2.0
// Looks HIP, HSA, hipRTC and RCCL up as programs do, and calls a function of each. It prints the folder of HIP, and ends with 0 if
// there is a GPU and all four work.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>

static void *function(const char *file, const char *name) {
    void *library = dlopen(file, RTLD_NOW);
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

static void check(const char *name, int status) {
    if (status != 0) {
        fprintf(stderr, "%s: status %d\n", name, status);
        exit(1);
    }
}

int main(void) {
    int count = 0, major = 0, minor = 0;
    int (*count_of)(int *) = (int (*)(int *))function("libamdhip64.so", "hipGetDeviceCount");
    check("hipGetDeviceCount", count_of(&count));
    int (*start)(void) = (int (*)(void))function("libhsa-runtime64.so.1", "hsa_init");
    check("hsa_init", start());
    int (*compiler)(int *, int *) = (int (*)(int *, int *))function("libhiprtc.so", "hiprtcVersion");
    check("hiprtcVersion", compiler(&major, &minor));
    int (*communication)(int *) = (int (*)(int *))function("librccl.so.1", "ncclGetVersion");
    check("ncclGetVersion", communication(&major));

    Dl_info place;
    char *file = dladdr((void *)count_of, &place) ? realpath(place.dli_fname, NULL) : NULL;
    printf("%d GPUs, by the libraries in %s\n", count, file ? dirname(file) : "an unknown folder");
    return count > 0 ? 0 : 1;
}
