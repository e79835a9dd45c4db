// SPDX-License-Identifier: MIT OR Apache-2.0
// A HIP program that looks HIP up as programs do: it ends with 0 if there is a GPU.
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
    void *library = dlopen("libamdhip64.so", RTLD_NOW);
    int (*count_of)(int *) = library ? (int (*)(int *))dlsym(library, "hipGetDeviceCount") : NULL;
    int count = 0;
    if (!count_of || count_of(&count) != 0) {
        fprintf(stderr, "no HIP: %s\n", library ? "no GPU" : dlerror());
        return 1;
    }
    printf("%d GPUs\n", count);
    return count > 0 ? 0 : 1;
}
