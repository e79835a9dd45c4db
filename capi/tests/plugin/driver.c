/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A driver in C: c-host://, memory from malloc and kernels that a compiler made for this processor, run by a thread for
 * each device. It knows windlass.h and the system's loader, and passes the conformance suite.
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#error "the suite has no kernels for this processor"
#endif

enum { ALIGNMENT = 256, QUEUES = 4 };

/* An operation that waits for the thread of its device. */
typedef struct node_t {
    struct node_t *next;
    windlass_operation_t *operation;
} node_t;

typedef struct device_t {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    node_t *first, **last;
    uint64_t total, used;
    bool closed;
} device_t;

typedef struct memory_t {
    void *bytes; /* NULL for an import */
    uint64_t size;
} memory_t;

/* The record of a workgroup, as docs/host-kernels.md defines it. */
typedef struct workgroup_t {
    uint32_t record_size, local_memory_size, id[3], count[3], size[3], reserved;
    void *local_memory;
} workgroup_t;

typedef int32_t (*kernel_t)(const void *arguments, const workgroup_t *workgroup);

typedef struct kernel_entry_t {
    kernel_t run;
    uint32_t local_memory;
} kernel_entry_t;

typedef struct variable_t {
    void *bytes;
    uint64_t size;
} variable_t;

typedef struct executable_t {
    void *library;
    windlass_code_image_t *image;
    size_t kernel_count, variable_count;
    kernel_entry_t *kernels;
    variable_t *variables;
} executable_t;

static windlass_error_t *failed(windlass_code_t code, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return windlass_error_create(code, text);
}

static windlass_error_t *no_memory(void) {
    return failed(WINDLASS_CODE_RESOURCE_EXHAUSTED, "the host has no memory left for the driver");
}

/* Devices */

static windlass_error_t *describe(windlass_answer_t *answer, const char *uri) {
    static const char *const formats[] = {"elf-" MACHINE};
    windlass_device_info_t info = windlass_device_info_init();
    info.uri = uri;
    info.name = "The host, by a driver in C";
    info.architecture = MACHINE;
    info.simulated = true;
    info.executable_format_count = 1;
    info.executable_formats = formats;
    return windlass_answer_device(answer, &info);
}

static windlass_error_t *host_devices(void *user_data, windlass_answer_t *answer) {
    (void)user_data;
    return describe(answer, "c-host://");
}

static void *serve(void *user_data);

static windlass_error_t *host_open(void *user_data, windlass_uri_t *uri, windlass_answer_t *answer, void **opened) {
    (void)user_data;
    if (windlass_uri_path(uri)[0] != '\0')
        return failed(WINDLASS_CODE_NOT_FOUND, "%s: the host is one device, and has no name; open c-host://",
                      windlass_uri_text(uri));
    uint64_t total = 1u << 30;
    const char *memory = windlass_uri_parameter(uri, "memory");
    if (memory) {
        char *end = NULL;
        total = strtoull(memory, &end, 10);
        if (end == memory || *end != '\0')
            return failed(WINDLASS_CODE_INVALID_ARGUMENT, "`memory=%s` is no number of bytes", memory);
    }
    windlass_device_limits_t limits = windlass_device_limits_init();
    limits.queues = QUEUES;
    for (int axis = 0; axis < 3; axis++) {
        limits.max_workgroup_size[axis] = 1024;
        limits.max_workgroup_count[axis] = axis == 0 ? 0x7fffffff : 65535;
    }
    limits.max_workgroup_threads = 1024;
    limits.max_local_memory = 64 << 10;
    limits.wave_size = 1;
    limits.total_memory = total;
    limits.allocation_alignment = ALIGNMENT;
    windlass_error_t *error = windlass_answer_limits(answer, &limits);
    if (!error) error = describe(answer, NULL);
    if (error) return error;

    device_t *device = (device_t *)calloc(1, sizeof *device);
    if (!device) return no_memory();
    pthread_mutex_init(&device->lock, NULL);
    pthread_cond_init(&device->changed, NULL);
    device->last = &device->first;
    device->total = total;
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, device) != 0) {
        free(device);
        return failed(WINDLASS_CODE_UNAVAILABLE, "the system starts no thread for c-host://");
    }
    pthread_detach(thread);
    *opened = device;
    return NULL;
}

/* The thread may be the one that calls this, from inside windlass_operation_complete, so it frees the device itself. */
static void host_close(void *opened) {
    device_t *device = (device_t *)opened;
    pthread_mutex_lock(&device->lock);
    device->closed = true;
    pthread_cond_signal(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

/* Memory */

static windlass_error_t *host_allocate(void *opened, windlass_memory_type_t type, uint64_t size, uint64_t alignment,
                                       windlass_driver_memory_t *given) {
    (void)type;
    device_t *device = (device_t *)opened;
    pthread_mutex_lock(&device->lock);
    const uint64_t left = device->total - device->used;
    const bool fits = size <= left;
    if (fits) device->used += size;
    pthread_mutex_unlock(&device->lock);
    if (!fits)
        return failed(WINDLASS_CODE_RESOURCE_EXHAUSTED, "%llu bytes of a device with %llu free of %llu",
                      (unsigned long long)size, (unsigned long long)left, (unsigned long long)device->total);
    memory_t *memory = (memory_t *)malloc(sizeof *memory);
    void *bytes = memory ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment) : NULL;
    if (!bytes) {
        free(memory);
        pthread_mutex_lock(&device->lock);
        device->used -= size;
        pthread_mutex_unlock(&device->lock);
        return no_memory();
    }
    memory->bytes = bytes;
    memory->size = size;
    given->memory = memory;
    given->host_pointer = bytes;
    given->device_address = (uint64_t)(uintptr_t)bytes;
    return NULL;
}

static void host_free(void *opened, void *freed) {
    device_t *device = (device_t *)opened;
    memory_t *memory = (memory_t *)freed;
    if (memory->bytes) {
        pthread_mutex_lock(&device->lock);
        device->used -= memory->size;
        pthread_mutex_unlock(&device->lock);
    }
    free(memory->bytes);
    free(memory);
}

static windlass_error_t *import(void *pointer, uint64_t size, windlass_driver_memory_t *given) {
    if (!pointer) return failed(WINDLASS_CODE_INVALID_ARGUMENT, "an import at address 0");
    memory_t *memory = (memory_t *)calloc(1, sizeof *memory);
    if (!memory) return no_memory();
    memory->size = size;
    given->memory = memory;
    given->host_pointer = pointer;
    given->device_address = (uint64_t)(uintptr_t)pointer;
    return NULL;
}

static windlass_error_t *host_import_host(void *opened, const windlass_buffer_params_t *params, void *pointer,
                                          uint64_t size, windlass_driver_memory_t *given) {
    (void)opened, (void)params;
    return import(pointer, size, given);
}

static windlass_error_t *host_import_device(void *opened, const windlass_buffer_params_t *params, uint64_t address,
                                            uint64_t size, windlass_driver_memory_t *given) {
    (void)opened, (void)params;
    return import((void *)(uintptr_t)address, size, given);
}

/* Code: windlass_code_file_* finds the entry for this processor and describes its kernels. */

static void host_unload(void *opened, void *loaded) {
    (void)opened;
    executable_t *executable = (executable_t *)loaded;
    if (executable->library) dlclose(executable->library);
    windlass_code_image_release(executable->image);
    free(executable->kernels);
    free(executable->variables);
    free(executable);
}

static windlass_error_t *find_entry(windlass_code_file_t *file, windlass_code_image_t **image) {
    static const char own[] = "host-" MACHINE "-";
    for (size_t i = 0; i < windlass_code_file_bundle_count(file); i++) {
        windlass_code_bundle_t bundle = windlass_code_bundle_init();
        windlass_error_t *error = windlass_code_file_bundle(file, i, &bundle);
        for (size_t j = 0; !error && j < bundle.entry_count; j++) {
            windlass_code_entry_t entry = windlass_code_entry_init();
            error = windlass_code_file_entry(file, i, j, &entry);
            if (!error && entry.size > 0 && strncmp(entry.id, own, sizeof own - 1) == 0)
                return windlass_code_file_extract(file, i, j, image);
        }
        if (error) return error;
    }
    return failed(WINDLASS_CODE_NOT_FOUND, "no code for " MACHINE " in this file");
}

/*
 * Gives the bytes to the system's loader, which takes files and knows libraries by their paths. Each loading has a file,
 * and so variables, of its own.
 */
static windlass_error_t *link_image(executable_t *executable) {
    char path[] = "/tmp/c-host-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0) return failed(WINDLASS_CODE_UNAVAILABLE, "no file for code can be made in /tmp");
    const char *bytes = (const char *)windlass_code_image_data(executable->image);
    const size_t size = windlass_code_image_size(executable->image);
    size_t done = 0;
    for (ssize_t more = 1; more > 0 && done < size; done += more > 0 ? (size_t)more : 0)
        more = write(file, bytes + done, size - done);
    close(file);
    if (done == size) executable->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    if (done < size) return no_memory();
    return executable->library ? NULL : failed(WINDLASS_CODE_INVALID_ARGUMENT, "the system's loader: %s", dlerror());
}

static windlass_error_t *describe_kernel(executable_t *executable, size_t index, windlass_answer_t *answer) {
    windlass_code_kernel_t kernel = windlass_code_kernel_init();
    windlass_error_t *error = windlass_code_image_kernel(executable->image, index, &kernel);
    if (error) return error;
    windlass_parameter_t *parameters =
        (windlass_parameter_t *)calloc(kernel.explicit_argument_count + 1u, sizeof *parameters);
    if (!parameters) return no_memory();
    for (uint32_t i = 0; !error && i < kernel.explicit_argument_count; i++) {
        windlass_code_argument_t argument = windlass_code_argument_init();
        error = windlass_code_image_argument(executable->image, index, i, &argument);
        parameters[i] = windlass_parameter_init();
        parameters[i].name = argument.name;
        parameters[i].kind = argument.kind == WINDLASS_CODE_ARGUMENT_BUFFER ? WINDLASS_PARAMETER_BUFFER
                                                                            : WINDLASS_PARAMETER_VALUE;
        parameters[i].offset = argument.offset;
        parameters[i].size = argument.size;
    }
    windlass_function_info_t info = windlass_function_info_init();
    info.name = kernel.name;
    info.argument_size = kernel.argument_block_size;
    memcpy(info.workgroup_size, kernel.workgroup_size, sizeof info.workgroup_size);
    info.max_workgroup_threads = kernel.max_workgroup_threads;
    info.static_local_memory = kernel.static_local_memory;
    if (!error) error = windlass_answer_function(answer, &info, kernel.explicit_argument_count, parameters);
    free(parameters);
    if (error) return error;
    /* POSIX gives functions as data pointers. */
    void *symbol = dlsym(executable->library, kernel.name);
    memcpy(&executable->kernels[index].run, &symbol, sizeof symbol);
    executable->kernels[index].local_memory = kernel.static_local_memory;
    return symbol ? NULL : failed(WINDLASS_CODE_NOT_FOUND, "the kernel `%s` is not exported", kernel.name);
}

/* Calls a function for each defined symbol that the library exports. windlass_code_image_describe has checked the file. */
typedef windlass_error_t *(*symbol_visitor_t)(executable_t *, const Elf64_Sym *, const char *name, bool writable,
                                              windlass_answer_t *);

static windlass_error_t *each_symbol(executable_t *executable, symbol_visitor_t visit, windlass_answer_t *answer) {
    const char *bytes = (const char *)windlass_code_image_data(executable->image);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)bytes;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(bytes + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM) continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(bytes + sections[i].sh_offset);
        const char *names = bytes + sections[sections[i].sh_link].sh_offset;
        for (size_t j = 1; j < sections[i].sh_size / sizeof *symbols; j++) {
            const Elf64_Sym *symbol = &symbols[j];
            if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= header->e_shnum) continue;
            const bool writable = (sections[symbol->st_shndx].sh_flags & SHF_WRITE) != 0;
            windlass_error_t *error = visit(executable, symbol, names + symbol->st_name, writable, answer);
            if (error) return error;
        }
    }
    return NULL;
}

static bool describes_kernel(const char *name) {
    return strncmp(name, "windlass_kernel_", 16) == 0;
}

static windlass_error_t *describe_variable(executable_t *executable, const Elf64_Sym *symbol, const char *name,
                                           bool writable, windlass_answer_t *answer) {
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !writable || describes_kernel(name)) return NULL;
    variable_t *more = (variable_t *)realloc(executable->variables, (executable->variable_count + 1) * sizeof *more);
    if (!more) return no_memory();
    executable->variables = more;
    more[executable->variable_count].bytes = dlsym(executable->library, name);
    more[executable->variable_count++].size = symbol->st_size;
    windlass_global_info_t info = windlass_global_info_init();
    info.name = name;
    info.size = symbol->st_size;
    return windlass_answer_global(answer, &info);
}

static windlass_error_t *host_load(void *opened, const void *code, size_t size, windlass_answer_t *answer,
                                   void **loaded) {
    executable_t *executable = (executable_t *)calloc(1, sizeof *executable);
    if (!executable) return no_memory();
    windlass_code_file_t *file = NULL;
    windlass_error_t *error = windlass_code_file_parse(code, size, NULL, &file);
    if (!error) error = find_entry(file, &executable->image);
    windlass_code_file_release(file);
    if (!error)
        error = windlass_code_image_describe(executable->image, NULL, &executable->kernel_count, NULL, NULL);
    if (!error) error = link_image(executable);
    if (!error) {
        executable->kernels = (kernel_entry_t *)calloc(executable->kernel_count + 1, sizeof *executable->kernels);
        if (!executable->kernels) error = no_memory();
    }
    for (size_t i = 0; !error && i < executable->kernel_count; i++) error = describe_kernel(executable, i, answer);
    if (!error) error = each_symbol(executable, describe_variable, answer);
    if (error) {
        host_unload(opened, executable);
        return error;
    }
    *loaded = executable;
    return NULL;
}

static windlass_error_t *host_global(void *opened, void *loaded, uint32_t index, uint64_t affinity,
                                     windlass_driver_memory_t *given) {
    (void)opened, (void)affinity;
    const variable_t *variable = &((executable_t *)loaded)->variables[index];
    given->host_pointer = variable->bytes;
    given->device_address = (uint64_t)(uintptr_t)variable->bytes;
    return NULL;
}

static windlass_error_t *describe_symbol(executable_t *executable, const Elf64_Sym *symbol, const char *name,
                                         bool writable, windlass_answer_t *answer) {
    (void)writable;
    const int type = ELF64_ST_TYPE(symbol->st_info);
    if ((type != STT_OBJECT && type != STT_FUNC) || describes_kernel(name)) return NULL;
    windlass_symbol_t given = windlass_symbol_init();
    char description[256];
    snprintf(description, sizeof description, "windlass_kernel_%s", name);
    given.name = name;
    given.kind = type == STT_OBJECT                                ? WINDLASS_SYMBOL_KIND_VARIABLE
                 : dlsym(executable->library, description) != NULL ? WINDLASS_SYMBOL_KIND_KERNEL
                                                                   : WINDLASS_SYMBOL_KIND_FUNCTION;
    given.binding = ELF64_ST_BIND(symbol->st_info) == STB_WEAK ? WINDLASS_SYMBOL_BINDING_WEAK
                                                               : WINDLASS_SYMBOL_BINDING_GLOBAL;
    given.address = (uint64_t)(uintptr_t)dlsym(executable->library, name);
    given.size = symbol->st_size;
    return windlass_answer_symbol(answer, &given);
}

static windlass_error_t *host_symbols(void *opened, void *loaded, uint64_t affinity, windlass_answer_t *answer) {
    (void)opened, (void)affinity;
    return each_symbol((executable_t *)loaded, describe_symbol, answer);
}

/* Work */

static windlass_error_t *launch(const windlass_operation_info_t *info) {
    const kernel_entry_t *kernel = &((const executable_t *)info->executable)->kernels[info->function];
    /* The block begins at a multiple of 16. */
    void *arguments = aligned_alloc(16, (info->byte_count + 16) / 16 * 16);
    workgroup_t group = {.record_size = sizeof group};
    group.local_memory_size = kernel->local_memory + info->dynamic_local_memory;
    if (group.local_memory_size > 0) group.local_memory = aligned_alloc(64, (group.local_memory_size + 63u) / 64u * 64u);
    if (!arguments || (group.local_memory_size > 0 && !group.local_memory)) {
        free(arguments);
        return no_memory();
    }
    if (info->byte_count > 0) memcpy(arguments, info->bytes, info->byte_count);
    memcpy(group.count, info->workgroup_count, sizeof group.count);
    memcpy(group.size, info->workgroup_size, sizeof group.size);
    int32_t status = 0;
    const uint64_t groups = (uint64_t)group.count[0] * group.count[1] * group.count[2];
    for (uint64_t i = 0; status == 0 && i < groups; i++) {
        group.id[0] = (uint32_t)(i % group.count[0]);
        group.id[1] = (uint32_t)(i / group.count[0] % group.count[1]);
        group.id[2] = (uint32_t)(i / group.count[0] / group.count[1]);
        status = kernel->run(arguments, &group);
    }
    free(arguments);
    free(group.local_memory);
    if (status == 0) return NULL;
    return failed((windlass_code_t)status, "`%s`, workgroup [%u, %u, %u]: the kernel returned %d", info->function_name,
                  group.id[0], group.id[1], group.id[2], status);
}

static windlass_error_t *transfer(const windlass_operation_info_t *info) {
    char *target = (char *)info->target.host_pointer;
    if (!target) return failed(WINDLASS_CODE_INTERNAL, "memory of c-host:// without a pointer");
    switch (info->kind) {
        case WINDLASS_OPERATION_UPDATE: memcpy(target, info->bytes, info->byte_count); return NULL;
        case WINDLASS_OPERATION_COPY: memcpy(target, info->source.host_pointer, info->target.length); return NULL;
        case WINDLASS_OPERATION_FILL:
            for (uint64_t i = 0; i < info->target.length; i += info->byte_count)
                memcpy(target + i, info->bytes, info->byte_count);
            return NULL;
        default: return failed(WINDLASS_CODE_UNIMPLEMENTED, "c-host:// runs no %s", info->name);
    }
}

/* Runs a command. They run in their order, which satisfies all barriers and events. */
static windlass_error_t *run_command(void *user_data, const windlass_operation_info_t *command) {
    (void)user_data;
    switch (command->kind) {
        case WINDLASS_OPERATION_BARRIER:
        case WINDLASS_OPERATION_EVENT:
        case WINDLASS_OPERATION_DEBUG_GROUP: return NULL;
        case WINDLASS_OPERATION_DISPATCH: return launch(command);
        default: return transfer(command);
    }
}

/* Does the work of an operation and ends it. */
void host_run(windlass_operation_t *operation) {
    windlass_operation_info_t info = windlass_operation_info_init();
    windlass_error_t *error = windlass_operation_info(operation, &info);
    if (!error && info.kind == WINDLASS_OPERATION_EXECUTE) error = windlass_operation_commands(operation, run_command, NULL);
    else if (!error) error = run_command(NULL, &info);
    windlass_error_t *late = windlass_operation_complete(operation, error);
    windlass_error_release(error);
    windlass_error_release(late);
    windlass_operation_release(operation);
}

static windlass_error_t *host_submit(void *opened, windlass_operation_t *operation) {
    device_t *device = (device_t *)opened;
    node_t *node = (node_t *)malloc(sizeof *node);
    if (!node) return no_memory();
    node->next = NULL;
    node->operation = windlass_operation_retain(operation);
    pthread_mutex_lock(&device->lock);
    *device->last = node;
    device->last = &node->next;
    pthread_cond_signal(&device->changed);
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

/* The thread of a device. */
static void *serve(void *user_data) {
    device_t *device = (device_t *)user_data;
    pthread_mutex_lock(&device->lock);
    while (device->first || !device->closed) {
        node_t *node = device->first;
        if (!node) {
            pthread_cond_wait(&device->changed, &device->lock);
            continue;
        }
        device->first = node->next;
        if (!device->first) device->last = &device->first;
        pthread_mutex_unlock(&device->lock);
        host_run(node->operation);
        free(node);
        pthread_mutex_lock(&device->lock);
    }
    pthread_mutex_unlock(&device->lock);
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
    free(device);
    return NULL;
}

windlass_driver_t host_driver(const char *scheme) {
    windlass_driver_t driver = windlass_driver_init();
    driver.scheme = scheme;
    driver.description = "the host, by a driver in C";
    driver.devices = host_devices;
    driver.open = host_open;
    driver.close = host_close;
    driver.allocate = host_allocate;
    driver.free = host_free;
    driver.import_host = host_import_host;
    driver.import_device = host_import_device;
    driver.load = host_load;
    driver.unload = host_unload;
    driver.global = host_global;
    driver.symbols = host_symbols;
    driver.submit = host_submit;
    driver.execute = host_submit;
    return driver;
}
