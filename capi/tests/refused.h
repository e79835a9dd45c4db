/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls that must be refused. */
#ifndef WINDLASS_TESTS_REFUSED_H
#define WINDLASS_TESTS_REFUSED_H

#include "../examples/common.h"

/* Fails unless a call was refused with a code, and with a message. */
static inline void refused(windlass_error_t *error, windlass_code_t code, const char *file, int line) {
    if (windlass_error_code(error) != code) {
        fprintf(stderr, "%s:%d: %s where %s was expected\n", file, line, windlass_error_message(error),
                windlass_code_name(code));
        exit(EXIT_FAILURE);
    }
    require(windlass_error_message(error)[0] != '\0', "an error says something");
    windlass_error_release(error);
}

#define REFUSED(code, call) refused((call), WINDLASS_CODE_##code, __FILE__, __LINE__)
#define INVALID(call) REFUSED(INVALID_ARGUMENT, call)

/* Fails with the line's number unless something holds. */
#define HOLDS(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);   \
            exit(EXIT_FAILURE);                                               \
        }                                                                     \
    } while (0)

#endif
