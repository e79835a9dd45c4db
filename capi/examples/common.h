/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Functions that the examples share: they give up with a message, and read a file. */
#ifndef WINDLASS_EXAMPLES_COMMON_H
#define WINDLASS_EXAMPLES_COMMON_H

#include <stdio.h>
#include <stdlib.h>

#include "windlass.h"

/* Ends the program unless `error` is NULL, which is success. */
static inline void check(windlass_error_t *error) {
    if (error) {
        fprintf(stderr, "%s\n", windlass_error_message(error));
        windlass_error_release(error);
        exit(EXIT_FAILURE);
    }
}

/* Ends the program unless something holds. */
static inline void require(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "this does not hold: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

/* A whole file, for the caller to free. */
static inline void *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    const long length = ftell(file);
    void *bytes = malloc(length > 0 ? (size_t)length : 1);
    rewind(file);
    if (length < 0 || !bytes || fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    *size = (size_t)length;
    return bytes;
}

/* A function of a code object in a file. The function keeps the code loaded. */
static inline windlass_function_t *load_function(windlass_device_t *device, const char *path, const char *name) {
    size_t size = 0;
    void *code = read_file(path, &size);
    windlass_executable_t *executable = NULL;
    windlass_function_t *function = NULL;
    check(windlass_executable_load(device, code, size, &executable));
    free(code);
    check(windlass_executable_function(executable, name, &function));
    windlass_executable_release(executable);
    return function;
}

#endif
