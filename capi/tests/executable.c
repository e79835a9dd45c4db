/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Facts of devices and executables: features, queues of GPUs, functions in their order, global variables, symbols, linked
 * pieces. Bindings that are left out.
 *
 *     executable URI FOLDER_OF_KERNELS
 */
#include "refused.h"

static const uint64_t FOREVER = WINDLASS_TIMEOUT_INFINITE;
static const char *folder;

/* The bytes of a file of the folder, for the caller to free. */
static void *kernels(const char *name, size_t *size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_file(path, size);
}

static windlass_executable_t *load(windlass_device_t *device, const char *name) {
    windlass_executable_t *executable = NULL;
    size_t size = 0;
    void *code = kernels(name, &size);
    check(windlass_executable_load(device, code, size, &executable));
    free(code);
    return executable;
}

static void facts(windlass_device_t *device, int simulated) {
    windlass_device_info_t info = windlass_device_info_init();
    check(windlass_device_info(device, &info));
    HOLDS(info.executable_format_count >= 1 && strlen(info.executable_formats[0]) > 0);
    for (size_t i = 0; i < info.lack_count; i++) {
        HOLDS(windlass_feature_name(info.lacks[i].feature) != NULL && strlen(info.lacks[i].reason) > 0);
    }
    if (simulated) {
        HOLDS(strcmp(info.executable_formats[0], "hsaco") == 0 && info.simulated);
        HOLDS(strncmp(info.uuid, "GPU-", 4) == 0 && memcmp(info.uuid + 4, info.uuid_bytes, 16) == 0);
    } else {
        const uint8_t none[16] = {0};
        HOLDS(info.uuid == NULL && memcmp(info.uuid_bytes, none, 16) == 0);
    }
    HOLDS(strcmp(windlass_feature_name(WINDLASS_FEATURE_IMPORT_HOST), "import_host") == 0);
    HOLDS(windlass_feature_name(0) == NULL && windlass_feature_name(UINT32_MAX) == NULL);

    /* A program of the first version gets its fields, and no more. */
    windlass_device_info_t first = windlass_device_info_init();
    first.struct_size = 56;
    first.lack_count = 4242;
    check(windlass_device_info(device, &first));
    HOLDS(first.uri == info.uri && first.simulated == info.simulated && first.lack_count == 4242);

    windlass_device_limits_t limits = windlass_device_limits_init();
    check(windlass_device_limits(device, &limits));
    uint64_t all = 0, affinity = 0;
    for (uint32_t i = 0; i < limits.physical_devices; i++) {
        check(windlass_device_physical_affinity(device, i, &affinity));
        HOLDS(affinity != 0 && (all & affinity) == 0);
        all |= affinity;
    }
    HOLDS(limits.queues == 64 || all == (UINT64_C(1) << limits.queues) - 1);
    REFUSED(OUT_OF_RANGE, windlass_device_physical_affinity(device, limits.physical_devices, &affinity));
    INVALID(windlass_device_physical_affinity(device, 0, NULL));
    INVALID(windlass_device_physical_affinity(NULL, 0, &affinity));
}

/* A device without kernels says so, with reasons. */
static void lacks(void) {
    windlass_device_t *device = NULL;
    windlass_device_info_t info = windlass_device_info_init();
    check(windlass_device_open("null://", &device));
    check(windlass_device_info(device, &info));
    int found = 0;
    for (size_t i = 0; i < info.lack_count; i++) {
        found += info.lacks[i].feature == WINDLASS_FEATURE_DISPATCH && strstr(info.lacks[i].reason, "no kernels") != NULL;
    }
    HOLDS(found == 1);
    windlass_device_release(device);
}

/*
 * The order of the functions is that in which the code object lists its kernels: for a GPU that of the source, for the host
 * that of the linker's symbols.
 */
static void order_of_functions(windlass_device_t *device, int simulated) {
    windlass_executable_t *executable = load(device, "entries.ccob"), *same = NULL;
    const char *const names[] = {"negate", "twice", "absolute", "scale_and_offset", "empty"};
    windlass_function_t *function = NULL;
    windlass_function_info_t info = windlass_function_info_init();
    unsigned seen = 0;
    HOLDS(windlass_executable_function_count(executable) == 5);
    for (size_t i = 0; i < 5; i++) {
        check(windlass_executable_function_at(executable, i, &function));
        check(windlass_function_info(function, &info));
        size_t place = 0;
        while (place < 5 && strcmp(info.name, names[place]) != 0) place++;
        HOLDS(place < 5 && (!simulated || place == i));
        seen |= 1u << place;
        windlass_function_release(function);
    }
    HOLDS(seen == 31);
    check(windlass_executable_function_at(executable, 1, &function));
    check(windlass_function_executable(function, &same));
    HOLDS(windlass_executable_same(executable, same) && !windlass_executable_same(executable, NULL));
    windlass_executable_release(same);
    same = load(device, "globals.ccob");
    HOLDS(!windlass_executable_same(executable, same));
    windlass_executable_release(same);
    INVALID(windlass_function_executable(function, NULL));
    windlass_function_release(function);
    INVALID(windlass_function_executable(function, &same));
    INVALID(windlass_function_executable(NULL, &same));
    windlass_executable_release(executable);
    HOLDS(!windlass_executable_same(executable, executable));
}

static void globals(windlass_device_t *device, windlass_queue_t *queue) {
    windlass_executable_t *executable = load(device, "globals.ccob");
    windlass_global_info_t info = windlass_global_info_init();
    windlass_buffer_t *counter = NULL, *out = NULL, *none = NULL;
    windlass_function_t *function = NULL;
    windlass_semaphore_t *time = NULL;
    int32_t value = 0;

    /* The list has each variable, and each can be looked up. */
    const size_t count = windlass_executable_global_count(executable);
    uint64_t sizes = 0;
    for (size_t i = 0; i < count; i++) {
        check(windlass_executable_global_info(executable, i, &info));
        windlass_buffer_t *buffer = NULL;
        check(windlass_executable_global(executable, info.name, 0, &buffer));
        HOLDS(windlass_buffer_size(buffer) == info.size);
        windlass_buffer_release(buffer);
        sizes += info.size;
    }
    HOLDS(count == 3 && sizes == 4 + 64 + 256);
    REFUSED(OUT_OF_RANGE, windlass_executable_global_info(executable, count, &info));

    /* The kernel adds to the variable. */
    check(windlass_semaphore_create(0, &time));
    check(windlass_executable_global(executable, "counter", 1, &counter));
    check(windlass_executable_function(executable, "use_globals", &function));
    check(windlass_buffer_allocate(device, NULL, 40, &out));
    check(windlass_queue_download_blocking(queue, 0, NULL, windlass_whole(counter), &value, 4, FOREVER));
    HOLDS(value == 7);
    const windlass_dispatch_config_t grid = windlass_dispatch_config_sized(1, 1, 1, 10, 1, 1);
    const windlass_argument_t arguments[] = {windlass_arg_buffer(out), windlass_arg_i32(10)};
    const windlass_point_t done = windlass_at(time, 1);
    float numbers[10];
    check(windlass_queue_dispatch(queue, 0, NULL, 1, &done, function, &grid, 2, arguments));
    check(windlass_queue_download_blocking(queue, 1, &done, windlass_whole(counter), &value, 4, FOREVER));
    check(windlass_queue_download_blocking(queue, 1, &done, windlass_whole(out), numbers, sizeof numbers, FOREVER));
    HOLDS(value == 17 && numbers[0] == 1.0f && numbers[9] == 512.0f);

    /* Symbols: each has a name and a kind, and the variable's address is its buffer's. */
    windlass_symbol_list_t *list = NULL;
    windlass_symbol_t symbol = windlass_symbol_init();
    size_t kernels_found = 0, variables = 0;
    check(windlass_executable_symbols(executable, 0, &list));
    for (size_t i = 0; i < windlass_symbol_list_count(list); i++) {
        check(windlass_symbol_list_at(list, i, &symbol));
        HOLDS(symbol.kind != WINDLASS_SYMBOL_KIND_OTHER && symbol.binding != WINDLASS_SYMBOL_BINDING_OTHER);
        kernels_found += symbol.kind == WINDLASS_SYMBOL_KIND_KERNEL && (strcmp(symbol.name, "use_globals") == 0 || strcmp(symbol.name, "read_counter") == 0);
        if (symbol.kind == WINDLASS_SYMBOL_KIND_VARIABLE && strcmp(symbol.name, "counter") == 0) {
            variables++;
            HOLDS(symbol.size == 4 && symbol.address == windlass_buffer_device_address(counter));
        }
    }
    HOLDS(kernels_found == 2 && variables == 1);
    REFUSED(OUT_OF_RANGE, windlass_symbol_list_at(list, windlass_symbol_list_count(list), &symbol));
    INVALID(windlass_symbol_list_at(list, 0, NULL));
    symbol.struct_size = 7;
    INVALID(windlass_symbol_list_at(list, 0, &symbol));
    symbol = windlass_symbol_init();
    HOLDS(windlass_symbol_list_retain(list) == list);
    windlass_symbol_list_release(list);
    windlass_symbol_list_release(list);
    windlass_symbol_list_release(list);
    INVALID(windlass_symbol_list_at(list, 0, &symbol));
    HOLDS(windlass_symbol_list_count(list) == 0 && windlass_symbol_list_retain(list) == NULL);
    windlass_symbol_list_release(NULL);

    /* Misuse. */
    REFUSED(NOT_FOUND, windlass_executable_global(executable, "count", 0, &none));
    INVALID(windlass_executable_global(executable, NULL, 0, &none));
    INVALID(windlass_executable_global_info(executable, 0, NULL));
    info.struct_size = 8;
    INVALID(windlass_executable_global_info(executable, 0, &info));
    info = windlass_global_info_init();
    INVALID(windlass_executable_global_info(NULL, 0, &info));
    INVALID(windlass_executable_symbols(NULL, 0, &list));
    INVALID(windlass_executable_symbols(executable, 0, NULL));
    HOLDS(windlass_executable_global_count(NULL) == 0 && none == NULL && list == NULL);
    windlass_executable_release(executable);
    INVALID(windlass_executable_global_info(executable, 0, &info));
    INVALID(windlass_executable_symbols(executable, 0, &list));
    windlass_function_release(function);
    windlass_buffer_release(counter);
    windlass_buffer_release(out);
    windlass_semaphore_release(time);
}

/* Each GPU of a device has a copy of a variable, for the queues of that GPU. */
static void several_gpus(void) {
    windlass_device_t *device = NULL;
    check(windlass_device_open("hip-sim://gfx942?devices=2&memory=64M", &device));
    windlass_executable_t *executable = load(device, "globals.ccob");
    windlass_buffer_t *counter[2] = {NULL, NULL};
    windlass_symbol_list_t *list = NULL;
    REFUSED(FAILED_PRECONDITION, windlass_executable_global(executable, "counter", 0, &counter[0]));
    REFUSED(FAILED_PRECONDITION, windlass_executable_symbols(executable, 0, &list));
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t affinity = 0;
        check(windlass_device_physical_affinity(device, i, &affinity));
        check(windlass_executable_global(executable, "counter", affinity, &counter[i]));
        check(windlass_executable_symbols(executable, affinity, &list));
        HOLDS(windlass_symbol_list_count(list) > 0);
        windlass_symbol_list_release(list);
    }
    HOLDS(windlass_buffer_device_address(counter[0]) != windlass_buffer_device_address(counter[1]));
    windlass_buffer_release(counter[0]);
    windlass_buffer_release(counter[1]);
    windlass_executable_release(executable);
    windlass_device_release(device);
}

static void linked(windlass_device_t *device, windlass_queue_t *queue) {
    size_t sizes[2] = {0, 0};
    void *user = kernels("link_user.ccob", &sizes[0]), *provider = kernels("link_provider.ccob", &sizes[1]);
    const void *const parts[] = {user, provider};
    windlass_executable_t *executable = NULL;
    windlass_function_t *function = NULL;
    windlass_buffer_t *buffer = NULL;
    windlass_semaphore_t *time = NULL;
    REFUSED(NOT_FOUND, windlass_executable_load_linked(device, 1, parts, sizes, &executable));
    check(windlass_executable_load_linked(device, 2, parts, sizes, &executable));
    free(user);
    free(provider);
    check(windlass_executable_function(executable, "link_apply", &function));
    windlass_executable_release(executable);
    check(windlass_buffer_allocate(device, NULL, 12, &buffer));
    check(windlass_semaphore_create(0, &time));
    const windlass_point_t first = windlass_at(time, 1), second = windlass_at(time, 2);
    float values[] = {1.0f, -2.0f, 10.0f};
    check(windlass_queue_update(queue, 0, NULL, 1, &first, values, sizeof values, windlass_whole(buffer)));
    const windlass_dispatch_config_t grid = windlass_dispatch_config_sized(1, 1, 1, 3, 1, 1);
    const windlass_argument_t argument = windlass_arg_buffer(buffer);
    check(windlass_queue_dispatch(queue, 1, &first, 1, &second, function, &grid, 1, &argument));
    check(windlass_queue_download_blocking(queue, 1, &second, windlass_whole(buffer), values, sizeof values, FOREVER));
    HOLDS(values[0] == 3.5f && values[1] == -5.5f && values[2] == 30.5f);
    windlass_function_release(function);
    windlass_buffer_release(buffer);
    windlass_semaphore_release(time);
}

/* Slots without a length as arguments, and slots that no command uses. */
static void bindings(windlass_device_t *device, windlass_queue_t *queue) {
    windlass_executable_t *executable = load(device, "entries.ccob");
    windlass_function_t *twice = NULL;
    windlass_recorder_t *recorder = NULL;
    windlass_command_buffer_t *commands = NULL;
    windlass_buffer_t *in = NULL, *out = NULL;
    windlass_semaphore_t *time = NULL;
    check(windlass_executable_function(executable, "twice", &twice));
    windlass_executable_release(executable);
    check(windlass_recorder_create(device, 5, &recorder));
    const windlass_dispatch_config_t grid = windlass_dispatch_config_sized(1, 1, 1, 2, 1, 1);
    const windlass_argument_t arguments[] = {windlass_arg_range(windlass_slot(1, 4, WINDLASS_WHOLE_BUFFER)),
                                             windlass_arg_range(windlass_slot(3, 0, WINDLASS_WHOLE_BUFFER)), windlass_arg_i32(2)};
    check(windlass_recorder_dispatch(recorder, twice, &grid, 3, arguments));
    const uint32_t word = 7;
    INVALID(windlass_recorder_fill(recorder, windlass_slot(1, 0, WINDLASS_WHOLE_BUFFER), &word, 4));
    check(windlass_recorder_finish(recorder, &commands));
    windlass_recorder_release(recorder);

    check(windlass_semaphore_create(0, &time));
    check(windlass_buffer_allocate(device, NULL, 12, &in));
    check(windlass_buffer_allocate(device, NULL, 8, &out));
    const windlass_point_t first = windlass_at(time, 1), second = windlass_at(time, 2), third = windlass_at(time, 3);
    const float values[] = {100.0f, 1.5f, -4.0f};
    float doubled[2];
    check(windlass_queue_update(queue, 0, NULL, 1, &first, values, sizeof values, windlass_whole(in)));
    windlass_buffer_ref_t zero;
    memset(&zero, 0, sizeof zero);
    windlass_buffer_ref_t table[6] = {windlass_whole(NULL), windlass_whole(in), zero, windlass_whole(out), zero, zero};
    check(windlass_queue_execute(queue, 1, &first, 1, &second, commands, 4, table));
    check(windlass_queue_download_blocking(queue, 1, &second, windlass_whole(out), doubled, sizeof doubled, FOREVER));
    HOLDS(doubled[0] == 3.0f && doubled[1] == -8.0f);
    check(windlass_queue_execute(queue, 1, &second, 1, &third, commands, 5, table));
    /* Such a slot demands no more than its offset: the kernel may use the rest of the allocation. */
    const windlass_point_t fourth = windlass_at(time, 4);
    table[1] = windlass_range(in, 0, 4);
    check(windlass_queue_execute(queue, 1, &third, 1, &fourth, commands, 4, table));
    check(windlass_semaphore_wait(time, 4, FOREVER));
    table[1] = windlass_whole(in);

    INVALID(windlass_queue_execute(queue, 0, NULL, 0, NULL, commands, 6, table));
    INVALID(windlass_queue_execute(queue, 0, NULL, 0, NULL, commands, 3, table));
    INVALID(windlass_queue_execute(queue, 0, NULL, 0, NULL, commands, 4, NULL));
    table[3] = zero;
    INVALID(windlass_queue_execute(queue, 0, NULL, 0, NULL, commands, 4, table));
    table[3] = windlass_slot(0, 0, 4);
    INVALID(windlass_queue_execute(queue, 0, NULL, 0, NULL, commands, 4, table));
    table[3] = windlass_range(out, 9, 0);
    REFUSED(OUT_OF_RANGE, windlass_queue_execute(queue, 0, NULL, 0, NULL, commands, 4, table));
    table[3] = windlass_whole(out);
    table[1] = windlass_range(in, 0, 3);
    REFUSED(OUT_OF_RANGE, windlass_queue_execute(queue, 0, NULL, 0, NULL, commands, 4, table));

    windlass_command_buffer_release(commands);
    windlass_function_release(twice);
    windlass_buffer_release(in);
    windlass_buffer_release(out);
    windlass_semaphore_release(time);
}

int main(int argc, char **argv) {
    require(argc > 2, "a URI and the folder of the kernels");
    folder = argv[2];
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    const int simulated = strncmp(argv[1], "hip-sim", 7) == 0;
    check(windlass_device_open(argv[1], &device));
    check(windlass_device_queue(device, 0, &queue));
    facts(device, simulated);
    lacks();
    order_of_functions(device, simulated);
    globals(device, queue);
    if (simulated) several_gpus();
    linked(device, queue);
    bindings(device, queue);
    check(windlass_device_drain(device, FOREVER));
    windlass_queue_release(queue);
    windlass_device_release(device);
    printf("the executables are right\n");
    return EXIT_SUCCESS;
}
