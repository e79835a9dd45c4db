/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Registers the drivers and wrappers of this folder. */
#include "plugin.h"

windlass_error_t *plugin_register(void) {
    /* The least driver: host memory, transfers by the library, no kernels. */
    windlass_driver_t least = windlass_driver_init();
    const windlass_driver_t whole = host_driver("c-host");
    least.scheme = "c-least";
    least.open = whole.open;
    least.close = whole.close;
    least.allocate = whole.allocate;
    least.free = whole.free;
    /* The whole driver without lists: the library gives it one command after the other, and does its transfers. */
    windlass_driver_t steps = host_driver("c-steps");
    steps.execute = NULL;
    windlass_error_t *error = windlass_driver_register(&whole, NULL);
    if (!error) error = windlass_driver_register(&steps, NULL);
    if (!error) error = windlass_driver_register(&least, NULL);
    if (!error) error = register_wrappers();
    if (!error) error = register_broken();
    return error;
}
