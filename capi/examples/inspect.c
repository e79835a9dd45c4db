/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Lists the code of a file, with the reasons for and against a GPU, and the kernels of the best entry. It needs no device.
 *
 *     inspect FILE TARGET
 */
#include "common.h"

static void show_kernels(windlass_code_file_t *file, size_t bundle, size_t entry) {
    windlass_code_image_t *image = NULL;
    size_t count = 0;
    check(windlass_code_file_extract(file, bundle, entry, &image));
    check(windlass_code_image_describe(image, NULL, &count, NULL, NULL));
    for (size_t i = 0; i < count; i++) {
        windlass_code_kernel_t kernel = windlass_code_kernel_init();
        check(windlass_code_image_kernel(image, i, &kernel));
        printf("    %s takes %u arguments\n", kernel.name, (unsigned)kernel.explicit_argument_count);
    }
    windlass_code_image_release(image);
}

int main(int argc, char **argv) {
    require(argc > 2, "a file with code, and a target such as gfx942:sramecc+:xnack-");
    windlass_code_file_t *file = NULL;
    check(windlass_code_file_open(argv[1], NULL, &file));
    printf("%s\n", windlass_code_file_kind(file));
    for (size_t i = 0; i < windlass_code_file_problem_count(file); i++) {
        printf("not read: %s\n", windlass_code_file_problem(file, i));
    }
    for (size_t bundle = 0; bundle < windlass_code_file_bundle_count(file); bundle++) {
        windlass_code_selection_t *selection = NULL;
        check(windlass_code_file_select(file, bundle, argv[2], NULL, &selection));
        for (size_t i = 0; i < windlass_code_selection_count(selection); i++) {
            windlass_code_entry_t entry = windlass_code_entry_init();
            windlass_code_verdict_t verdict = windlass_code_verdict_init();
            check(windlass_code_file_entry(file, bundle, i, &entry));
            check(windlass_code_selection_verdict(selection, i, &verdict));
            printf("  %s, %llu bytes: %s\n", entry.id, (unsigned long long)entry.size, verdict.reason);
        }
        size_t best = 0;
        if (windlass_code_selection_best(selection, &best)) show_kernels(file, bundle, best);
        windlass_code_selection_release(selection);
    }
    windlass_code_file_release(file);
    return EXIT_SUCCESS;
}
