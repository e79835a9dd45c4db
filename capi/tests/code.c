/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Code without a device: formats, sizes, files, bundles, the choice for a GPU, entries, kernels. And hostile bytes.
 *
 *     code FOLDER_OF_KERNELS SCRATCH_FILE
 */
#include "refused.h"

static const char *folder;

static const char *path_of(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void formats_and_sizes(void) {
    size_t size = 0, found = 0;
    uint64_t stated = 0;
    const void *start = NULL;
    unsigned char *ccob = (unsigned char *)read_file(path_of("vector_add.v3-zstd.ccob"), &size);
    HOLDS(windlass_code_format(ccob, size) == WINDLASS_CODE_FORMAT_CCOB);
    HOLDS(strcmp(windlass_code_format_name(WINDLASS_CODE_FORMAT_CCOB), "a compressed offload bundle") == 0);
    HOLDS(windlass_code_format_name(0) == NULL && windlass_code_format_name(21) == NULL);
    check(windlass_code_size(ccob, size, NULL, &stated));
    HOLDS(stated == size);
    /* The header of version 3 has 32 bytes. */
    check(windlass_code_size(ccob, 32, NULL, &stated));
    HOLDS(stated == size);
    INVALID(windlass_code_size(ccob, 31, NULL, &stated));
    check(windlass_code_at(ccob, NULL, &start, &found));
    HOLDS(start == ccob && found == size);
    windlass_code_options_t options = windlass_code_options_init();
    options.max_stored = 100;
    REFUSED(RESOURCE_EXHAUSTED, windlass_code_size(ccob, size, &options, &stated));
    REFUSED(RESOURCE_EXHAUSTED, windlass_code_at(ccob, &options, &start, &found));
    options.flags = 0x100;
    INVALID(windlass_code_size(ccob, size, &options, &stated));
    options.flags = 0;
    options.reserved = 1;
    INVALID(windlass_code_size(ccob, size, &options, &stated));
    options.reserved = 0;
    options.struct_size = 9;
    INVALID(windlass_code_size(ccob, size, &options, &stated));
    free(ccob);

    void *bundle = read_file(path_of("vector_add.hipfb"), &size);
    HOLDS(windlass_code_format(bundle, size) == WINDLASS_CODE_FORMAT_BUNDLE);
    check(windlass_code_size(bundle, size, NULL, &stated));
    HOLDS(stated <= size && stated > size / 2);
    free(bundle);

    HOLDS(windlass_code_format("PK\x03\x04", 4) == WINDLASS_CODE_FORMAT_ZIP);
    HOLDS(windlass_code_format("nothing", 7) == WINDLASS_CODE_FORMAT_UNKNOWN);
    HOLDS(windlass_code_format(NULL, 7) == WINDLASS_CODE_FORMAT_UNKNOWN && windlass_code_format("", 0) == 0);
    REFUSED(UNIMPLEMENTED, windlass_code_size("PK\x03\x04", 4, NULL, &stated));
    INVALID(windlass_code_size("nothing", 7, NULL, &stated));
    INVALID(windlass_code_size("", 0, NULL, &stated));
    INVALID(windlass_code_size(NULL, 7, NULL, &stated));
    INVALID(windlass_code_size("nothing", 7, NULL, NULL));
    INVALID(windlass_code_at(NULL, NULL, &start, &found));
    INVALID(windlass_code_at("nothing", NULL, NULL, &found));
    INVALID(windlass_code_at("nothing", NULL, &start, NULL));
}

/* Two hosts and thirteen targets. */
enum { ENTRIES = 15 };

/* The bundle, from a path or from memory: its entries, the choice, the kernel of the best entry. */
static void bundle_of(windlass_code_file_t *file, int compressed) {
    const char *const targets[] = {
        NULL, NULL, "gfx10-1-generic", "gfx10-3-generic", "gfx1030", "gfx11-generic", "gfx1100", "gfx12-generic", "gfx1201",
        "gfx9-4-generic", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
    };
    HOLDS(strcmp(windlass_code_file_kind(file), "fat binary") == 0 && windlass_code_file_problem_count(file) == 0);
    HOLDS(windlass_code_file_bundle_count(file) == 1 && windlass_code_file_problem(file, 0) == NULL);
    windlass_code_bundle_t bundle = windlass_code_bundle_init();
    check(windlass_code_file_bundle(file, 0, &bundle));
    HOLDS(bundle.entry_count == ENTRIES && bundle.is_compressed == compressed && bundle.member == NULL && bundle.offset == 0);
    HOLDS(strstr(bundle.container, compressed ? "CCOB v2, zstd" : "offload bundle") != NULL && bundle.unpacked_size > 0);
    uint64_t sizes[ENTRIES];
    for (size_t i = 0; i < ENTRIES; i++) {
        windlass_code_entry_t entry = windlass_code_entry_init();
        check(windlass_code_file_entry(file, 0, i, &entry));
        HOLDS(entry.problem == NULL && entry.size > 0 && strlen(entry.id) > 0);
        HOLDS(entry.target_kind == (targets[i] ? WINDLASS_CODE_TARGET_GPU : WINDLASS_CODE_TARGET_HOST));
        HOLDS(strcmp(entry.kind, targets[i] ? "hipv4" : "host") == 0);
        HOLDS(targets[i] ? strcmp(entry.target, targets[i]) == 0 : entry.target == NULL);
        sizes[i] = entry.size;
    }

    windlass_code_selection_t *selection = NULL;
    windlass_code_verdict_t verdict = windlass_code_verdict_init();
    check(windlass_code_file_select(file, 0, "gfx942:sramecc+:xnack-", NULL, &selection));
    size_t best = 0;
    HOLDS(windlass_code_selection_best(selection, &best) && best == ENTRIES - 1 &&
          windlass_code_selection_count(selection) == ENTRIES);
    check(windlass_code_selection_verdict(selection, ENTRIES - 1, &verdict));
    HOLDS(verdict.fit == WINDLASS_CODE_FIT_EXACT && strcmp(verdict.reason, "exact gfx942") == 0);
    check(windlass_code_selection_verdict(selection, ENTRIES - 2, &verdict));
    HOLDS(verdict.fit == WINDLASS_CODE_FIT_NONE);
    HOLDS(strcmp(verdict.reason, "gfx90a is another processor than gfx942") == 0);
    check(windlass_code_selection_verdict(selection, 0, &verdict));
    HOLDS(strcmp(verdict.reason, "it is the host's part") == 0);
    REFUSED(OUT_OF_RANGE, windlass_code_selection_verdict(selection, ENTRIES, &verdict));
    INVALID(windlass_code_selection_verdict(selection, 0, NULL));
    HOLDS(windlass_code_selection_retain(selection) == selection);
    windlass_code_selection_release(selection);
    windlass_code_selection_release(selection);
    windlass_code_selection_release(selection);
    INVALID(windlass_code_selection_verdict(selection, 0, &verdict));
    HOLDS(!windlass_code_selection_best(selection, &best) && best == ENTRIES - 1 && windlass_code_selection_count(NULL) == 0);
    HOLDS(windlass_code_selection_retain(selection) == NULL);
    check(windlass_code_file_select(file, 0, "gfx1250", NULL, &selection));
    HOLDS(!windlass_code_selection_best(selection, NULL));
    windlass_code_selection_release(selection);
    INVALID(windlass_code_file_select(file, 0, "no GPU", NULL, &selection));
    INVALID(windlass_code_file_select(file, 0, NULL, NULL, &selection));
    INVALID(windlass_code_file_select(file, 0, "gfx942", NULL, NULL));
    INVALID(windlass_code_file_select(NULL, 0, "gfx942", NULL, &selection));
    REFUSED(OUT_OF_RANGE, windlass_code_file_select(file, 1, "gfx942", NULL, &selection));

    /* The bytes of the entry are those of the file of its own. */
    windlass_code_image_t *image = NULL;
    size_t size = 0;
    check(windlass_code_file_extract(file, 0, ENTRIES - 1, &image));
    void *alone = read_file(path_of("vector_add.gfx942.co"), &size);
    HOLDS(windlass_code_image_size(image) == sizes[ENTRIES - 1] && sizes[ENTRIES - 1] == size);
    HOLDS(memcmp(windlass_code_image_data(image), alone, size) == 0);
    free(alone);
    const char *target = NULL;
    size_t kernels = 0, rejected = 9;
    uint32_t version = 0;
    check(windlass_code_image_describe(image, &target, &kernels, &rejected, &version));
    HOLDS(strcmp(target, "gfx942") == 0 && kernels == 1 && rejected == 0 && version == 5);
    check(windlass_code_image_describe(image, NULL, NULL, NULL, NULL));
    check(windlass_code_image_validate(image));
    windlass_code_kernel_t kernel = windlass_code_kernel_init();
    check(windlass_code_image_kernel(image, 0, &kernel));
    HOLDS(strcmp(kernel.name, "vector_add") == 0 && kernel.explicit_argument_count == 4);
    HOLDS(kernel.wave_size == 64 && kernel.max_workgroup_threads == 1024 && kernel.vector_registers > 0);
    HOLDS(kernel.argument_count >= 4 && kernel.argument_block_size >= 28 && kernel.argument_block_alignment == 8);
    const uint32_t offsets[] = {0, 8, 16, 24};
    windlass_code_argument_t argument = windlass_code_argument_init();
    for (size_t i = 0; i < kernel.argument_count; i++) {
        check(windlass_code_image_argument(image, 0, i, &argument));
        if (i >= 4) {
            HOLDS(argument.kind == WINDLASS_CODE_ARGUMENT_HIDDEN);
            continue;
        }
        HOLDS(argument.kind == (i < 3 ? WINDLASS_CODE_ARGUMENT_BUFFER : WINDLASS_CODE_ARGUMENT_VALUE));
        HOLDS(argument.offset == offsets[i] && argument.size == (i < 3 ? 8u : 4u));
    }

    /* Misuse. */
    windlass_code_rejected_t reason = windlass_code_rejected_init();
    REFUSED(OUT_OF_RANGE, windlass_code_image_kernel(image, 1, &kernel));
    REFUSED(OUT_OF_RANGE, windlass_code_image_argument(image, 1, 0, &argument));
    REFUSED(OUT_OF_RANGE, windlass_code_image_argument(image, 0, kernel.argument_count, &argument));
    REFUSED(OUT_OF_RANGE, windlass_code_image_rejected(image, 0, &reason));
    INVALID(windlass_code_image_kernel(image, 0, NULL));
    INVALID(windlass_code_image_argument(image, 0, 0, NULL));
    HOLDS(windlass_code_image_retain(image) == image);
    windlass_code_image_release(image);
    windlass_code_image_release(image);
    windlass_code_image_release(image);
    HOLDS(windlass_code_image_data(image) == NULL && windlass_code_image_size(image) == 0);
    HOLDS(windlass_code_image_retain(image) == NULL);
    INVALID(windlass_code_image_describe(image, NULL, NULL, NULL, NULL));
    INVALID(windlass_code_image_validate(image));
    INVALID(windlass_code_image_kernel(image, 0, &kernel));
    INVALID(windlass_code_image_argument(image, 0, 0, &argument));
    INVALID(windlass_code_image_rejected(image, 0, &reason));

    /* The entry for the host has the same kernel. */
    check(windlass_code_file_extract(file, 0, 0, &image));
    check(windlass_code_image_describe(image, &target, &kernels, &rejected, &version));
    HOLDS(strcmp(target, "x86_64") == 0 && kernels == 1 && rejected == 0 && version == 0);
    check(windlass_code_image_kernel(image, 0, &kernel));
    HOLDS(strcmp(kernel.name, "vector_add") == 0 && kernel.argument_count == 4 && kernel.wave_size == 0);
    HOLDS(kernel.argument_block_size == 28);
    for (size_t i = 0; i < 4; i++) {
        check(windlass_code_image_argument(image, 0, i, &argument));
        HOLDS(argument.kind == (i < 3 ? WINDLASS_CODE_ARGUMENT_BUFFER : WINDLASS_CODE_ARGUMENT_VALUE));
        HOLDS(argument.offset == offsets[i]);
    }
    REFUSED(OUT_OF_RANGE, windlass_code_image_kernel(image, 1, &kernel));
    REFUSED(OUT_OF_RANGE, windlass_code_image_argument(image, 1, 0, &argument));
    REFUSED(OUT_OF_RANGE, windlass_code_image_argument(image, 0, 4, &argument));
    REFUSED(UNIMPLEMENTED, windlass_code_image_validate(image));
    windlass_code_image_release(image);
    REFUSED(OUT_OF_RANGE, windlass_code_file_extract(file, 0, ENTRIES, &image));
    REFUSED(OUT_OF_RANGE, windlass_code_file_extract(file, 1, 0, &image));
    INVALID(windlass_code_file_extract(file, 0, 0, NULL));
    INVALID(windlass_code_file_extract(NULL, 0, 0, &image));
    windlass_code_entry_t entry = windlass_code_entry_init();
    REFUSED(OUT_OF_RANGE, windlass_code_file_bundle(file, 1, &bundle));
    REFUSED(OUT_OF_RANGE, windlass_code_file_entry(file, 0, ENTRIES, &entry));
    REFUSED(OUT_OF_RANGE, windlass_code_file_entry(file, 1, 0, &entry));
    entry.struct_size = 2;
    INVALID(windlass_code_file_entry(file, 0, 0, &entry));
    INVALID(windlass_code_file_entry(file, 0, 0, NULL));
    INVALID(windlass_code_file_bundle(file, 0, NULL));
}

static void files(void) {
    windlass_code_file_t *file = NULL;
    size_t size = 0;
    check(windlass_code_file_open(path_of("vector_add.ccob"), NULL, &file));
    bundle_of(file, 1);
    HOLDS(windlass_code_file_retain(file) == file);
    windlass_code_file_release(file);
    windlass_code_file_release(file);
    windlass_code_file_release(file);
    windlass_code_bundle_t bundle = windlass_code_bundle_init();
    INVALID(windlass_code_file_bundle(file, 0, &bundle));
    HOLDS(windlass_code_file_kind(file) == NULL && windlass_code_file_bundle_count(file) == 0);
    HOLDS(windlass_code_file_retain(file) == NULL && windlass_code_file_problem_count(file) == 0);

    /* The caller's bytes are copied. */
    void *code = read_file(path_of("vector_add.hipfb"), &size);
    check(windlass_code_file_parse(code, size, NULL, &file));
    memset(code, 0, size);
    free(code);
    bundle_of(file, 0);
    windlass_code_file_release(file);

    /* A library with code, whose members are bundles at their places. */
    check(windlass_code_file_open(path_of("libkernels.so"), NULL, &file));
    HOLDS(strcmp(windlass_code_file_kind(file), "host ELF with GPU code") == 0);
    HOLDS(windlass_code_file_bundle_count(file) == 2);
    check(windlass_code_file_bundle(file, 0, &bundle));
    HOLDS(bundle.offset > 0);
    windlass_code_file_release(file);

    /* The better of two entries, and the other one. */
    windlass_code_selection_t *selection = NULL;
    windlass_code_verdict_t verdict = windlass_code_verdict_init();
    check(windlass_code_file_open(path_of("vector_add.generic.ccob"), NULL, &file));
    check(windlass_code_file_select(file, 0, "gfx1100", NULL, &selection));
    size_t best = 0;
    HOLDS(windlass_code_selection_best(selection, &best) && best == 4);
    check(windlass_code_selection_verdict(selection, 2, &verdict));
    HOLDS(verdict.fit == WINDLASS_CODE_FIT_GENERIC && strstr(verdict.reason, "entry 4 is preferred") != NULL);
    windlass_code_selection_release(selection);
    windlass_code_file_release(file);

    /* Code for a processor of the same family, only if it is asked for. */
    windlass_code_options_t options = windlass_code_options_init();
    check(windlass_code_file_open(path_of("bindings.ccob"), NULL, &file));
    check(windlass_code_file_select(file, 0, "gfx1033", NULL, &selection));
    HOLDS(!windlass_code_selection_best(selection, NULL));
    windlass_code_selection_release(selection);
    options.flags = WINDLASS_CODE_COMPATIBLE_FAMILIES;
    check(windlass_code_file_select(file, 0, "gfx1033", &options, &selection));
    HOLDS(windlass_code_selection_best(selection, &best));
    check(windlass_code_selection_verdict(selection, best, &verdict));
    HOLDS(verdict.fit == WINDLASS_CODE_FIT_FAMILY);
    windlass_code_selection_release(selection);
    windlass_code_file_release(file);

    REFUSED(NOT_FOUND, windlass_code_file_open("/no/such/file", NULL, &file));
    INVALID(windlass_code_file_open(NULL, NULL, &file));
    INVALID(windlass_code_file_open("/no/such/file", NULL, NULL));
    INVALID(windlass_code_file_parse(NULL, 10, NULL, &file));
    INVALID(windlass_code_file_parse("nothing", 7, NULL, NULL));
    INVALID(windlass_code_file_parse("nothing", 7, NULL, &file));
    INVALID(windlass_code_file_parse("", 0, NULL, &file));
    HOLDS(file == NULL);
}

/* Every cut of a file and every changed byte of its head gives an answer or an error, within the limits. */
static void hostile(void) {
    size_t size = 0;
    unsigned char *code = (unsigned char *)read_file(path_of("vector_add.ccob"), &size);
    windlass_code_options_t options = windlass_code_options_init();
    options.max_unpacked = 1 << 20;
    unsigned answers = 0, errors = 0;
    for (size_t round = 0; round < size + 128; round++) {
        const size_t length = round < size ? round : size;
        const size_t changed = round < size ? 0 : (round - size) % 64;
        const unsigned char before = code[changed];
        if (round >= size) code[changed] = round - size < 64 ? 0xff : (unsigned char)(before ^ 1);
        windlass_code_file_t *file = NULL;
        windlass_error_t *error = windlass_code_file_parse(code, length, &options, &file);
        for (size_t i = 0; !error && i < ENTRIES; i++) {
            windlass_code_image_t *image = NULL;
            error = windlass_code_file_extract(file, 0, i, &image);
            HOLDS((error == NULL) == (image != NULL));
            answers += image != NULL;
            windlass_code_image_release(image);
        }
        errors += error != NULL;
        windlass_error_release(error);
        windlass_code_file_release(file);
        code[changed] = before;
    }
    HOLDS(answers > 5 && errors > 5);

    /* An entry above the limit is listed, and not unpacked. */
    windlass_code_file_t *file = NULL;
    windlass_code_image_t *image = NULL;
    options.max_unpacked = 10000;
    check(windlass_code_file_parse(code, size, &options, &file));
    REFUSED(RESOURCE_EXHAUSTED, windlass_code_file_extract(file, 0, ENTRIES - 1, &image));
    HOLDS(image == NULL);
    windlass_code_file_release(file);
    free(code);
}

/* Writes a file: the first bytes of another one. */
static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    HOLDS(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* A file that becomes shorter after it was opened is noticed by all that reads it again. */
static void changed(const char *scratch) {
    size_t size = 0;
    void *code = read_file(path_of("vector_add.hipfb"), &size);
    windlass_code_file_t *file = NULL;
    windlass_code_image_t *image = NULL;
    windlass_code_selection_t *selection = NULL;
    write_file(scratch, code, size);
    check(windlass_code_file_open(scratch, NULL, &file));
    check(windlass_code_file_extract(file, 0, ENTRIES - 1, &image));
    windlass_code_image_release(image);
    write_file(scratch, code, size / 2);
    windlass_error_t *error = windlass_code_file_extract(file, 0, ENTRIES - 1, &image);
    HOLDS(error != NULL && image == NULL && strstr(windlass_error_message(error), scratch) != NULL);
    windlass_error_release(error);
    REFUSED(UNAVAILABLE, windlass_code_file_select(file, 0, "gfx942", NULL, &selection));
    windlass_code_file_release(file);
    free(code);
    remove(scratch);
}

int main(int argc, char **argv) {
    require(argc > 2, "the folder of the kernels, and the path of a file that may be written");
    folder = argv[1];
    formats_and_sizes();
    files();
    hostile();
    changed(argv[2]);
    printf("the code is right\n");
    return EXIT_SUCCESS;
}
