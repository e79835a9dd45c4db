/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Drivers and wrappers in C, for the conformance suite. */
#ifndef WINDLASS_TESTS_PLUGIN_H
#define WINDLASS_TESTS_PLUGIN_H

#include "windlass.h"

/* The table of the driver in driver.c. */
windlass_driver_t host_driver(const char *scheme);
/* Does and ends an operation of the driver, whose reference it takes. */
void host_run(windlass_operation_t *operation);

/* The wrappers of wrappers.c and the broken drivers of broken.c. */
windlass_error_t *register_wrappers(void);
windlass_error_t *register_broken(void);

/* Registers everything. Operations that the tracer has seen. */
windlass_error_t *plugin_register(void);
uint64_t plugin_traced(windlass_operation_kind_t kind);

#endif
