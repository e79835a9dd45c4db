/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Registers the drivers and wrappers of this folder before `main`, so that any program can open them by URI. */
#include "plugin.h"

#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void enroll(void) {
    windlass_error_t *error = plugin_register();
    if (!error) return;
    fprintf(stderr, "%s\n", windlass_error_message(error));
    exit(EXIT_FAILURE);
}
