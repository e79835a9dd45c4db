// SPDX-License-Identifier: MIT OR Apache-2.0
// Exceptions that leave functions of the program: the library stops each, frees it, and says which function it left.
//
//     exceptions URI            prints the lines of the functions that return no error on standard error
//     exceptions URI exit       a host call ends its thread, which ends the process
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include <pthread.h>

#include "refused.h"

namespace {

const int ALL = 35;
std::atomic<int> thrown{0};  // exceptions that were made
std::atomic<int> alive{0};   // exceptions, and locals of functions, that were not destroyed

// Counts the locals of a function that is left.
struct Local {
    Local() { alive++; }
    Local(const Local &) { alive++; }
    ~Local() { alive--; }
};

class Trouble : public std::runtime_error {
    Local local;

  public:
    Trouble() : std::runtime_error("trouble") { thrown++; }
};

// Leaves a function from some calls below it, through a handler of its own.
void fail() {
    const Local local;
    try {
        const Local inner;
        throw Trouble();
    } catch (const std::exception &) {
        throw;
    }
}

// Fails unless a call was refused because of an exception that left the named function.
void left(const char *name, windlass_error_t *error, const char *type = "Trouble") {
    const char *message = windlass_error_message(error);
    if (!error || !std::strstr(message, name) || !std::strstr(message, type)) {
        std::fprintf(stderr, "an exception that left %s: %s\n", name, error ? message : "no error");
        std::exit(EXIT_FAILURE);
    }
    windlass_error_release(error);
    HOLDS(std::uncaught_exceptions() == 0);
}

windlass_error_t *call_that_fails(void *, windlass_host_call_t *) {
    fail();
    return nullptr;
}

windlass_error_t *call_that_defers_and_fails(void *user_data, windlass_host_call_t *call) {
    check(windlass_host_call_defer(call, static_cast<windlass_completion_t **>(user_data)));
    throw 7;
}

windlass_error_t *call_that_ends_its_thread(void *, windlass_host_call_t *) { pthread_exit(nullptr); }

void destroy_after_call(void *, windlass_error_t *) { fail(); }
void destroy(void *) { fail(); }
void at_timepoint(void *, windlass_error_t *) { fail(); }
void observe(void *, std::uint64_t, windlass_error_t *) { fail(); }
void profile(void *, const windlass_profile_record_t *) { fail(); }

windlass_error_t *read(void *, std::uint64_t, void *, std::size_t) {
    fail();
    return nullptr;
}

windlass_error_t *write(void *, std::uint64_t, const void *, std::size_t) {
    fail();
    return nullptr;
}

windlass_error_t *visit(void *, const windlass_operation_info_t *) {
    fail();
    return nullptr;
}

// A signal that waits for the end of work.
struct Timeline {
    windlass_semaphore_t *semaphore = nullptr;
    windlass_point_t done;

    Timeline() {
        check(windlass_semaphore_create(0, &semaphore));
        done = windlass_at(semaphore, 1);
    }
    ~Timeline() { windlass_semaphore_release(semaphore); }
    windlass_error_t *wait() { return windlass_semaphore_wait(semaphore, 1, WINDLASS_TIMEOUT_INFINITE); }
};

void host_calls(windlass_queue_t *queue) {
    Timeline plain, destroyed, deferred, early;
    check(windlass_queue_host_call(queue, 0, nullptr, 1, &plain.done, 0, call_that_fails, nullptr, nullptr));
    left("the function of a host call", plain.wait());
    check(windlass_queue_host_call(queue, 0, nullptr, 1, &destroyed.done, 0, call_that_fails, nullptr,
                                   destroy_after_call));
    left("the function of a host call", destroyed.wait());

    // The completion is the caller's, also after an exception.
    windlass_completion_t *completion = nullptr;
    check(windlass_queue_host_call(queue, 0, nullptr, 1, &deferred.done, 0, call_that_defers_and_fails, &completion,
                                   nullptr));
    left("the function of a host call", deferred.wait(), "int");
    windlass_completion_release(completion);
}

void semaphores() {
    Timeline one;
    windlass_observation_t *observation = nullptr;
    check(windlass_semaphore_observe(one.semaphore, observe, nullptr, destroy, &observation));
    // A destructor signals while another exception is on its way.
    struct Signal {
        windlass_semaphore_t *semaphore;
        ~Signal() {
            check(windlass_semaphore_signal(semaphore, 2));
            HOLDS(std::uncaught_exceptions() == 1);
        }
    };
    try {
        const Signal signal{one.semaphore};
        throw Trouble();
    } catch (const Trouble &) {
    }
    check(windlass_semaphore_fail(one.semaphore, WINDLASS_CODE_ABORTED, "enough"));
    windlass_observation_release(observation);
    INVALID(windlass_semaphore_observe(one.semaphore, nullptr, nullptr, destroy, &observation));
    check(windlass_semaphore_add_timepoint(one.semaphore, 1, at_timepoint, nullptr, nullptr));
    HOLDS(std::uncaught_exceptions() == 0);
}

void files_and_profiles(windlass_device_t *device, windlass_queue_t *queue) {
    windlass_buffer_t *buffer = nullptr;
    windlass_file_t *file = nullptr;
    check(windlass_buffer_allocate(device, nullptr, 64, &buffer));
    check(windlass_file_from_functions(read, write, nullptr, destroy, &file));
    Timeline reading, writing;
    check(windlass_queue_read(queue, 0, nullptr, 1, &reading.done, file, 0, windlass_whole(buffer)));
    left("the function that reads a file", reading.wait());
    check(windlass_queue_write(queue, 0, nullptr, 1, &writing.done, windlass_whole(buffer), file, 0));
    left("the function that writes a file", writing.wait());
    windlass_file_release(file);
    windlass_buffer_release(buffer);

    check(windlass_device_profiling_begin(device, nullptr, profile, nullptr, destroy));
    Timeline recorded;
    check(windlass_queue_barrier(queue, 0, nullptr, 1, &recorded.done));
    check(recorded.wait());
    check(windlass_device_profiling_end(device));
}

windlass_error_t *submit_to_wrapper(void *mode, windlass_operation_t *operation) {
    if (mode) left("the visitor of commands", windlass_operation_commands(operation, visit, nullptr));
    fail();
    return nullptr;
}

windlass_error_t *forward_and_fail(void *, windlass_operation_t *operation) {
    check(windlass_operation_forward(operation));
    fail();
    return nullptr;
}

windlass_error_t *open_wrapper(void *, windlass_uri_t *, void **) {
    fail();
    return nullptr;
}

void wrappers(windlass_device_t *plain, const char *uri) {
    windlass_wrapper_t table = windlass_wrapper_init();
    windlass_device_t *device = nullptr;
    windlass_queue_t *queue = nullptr;
    table.submit = submit_to_wrapper;
    table.close = destroy;
    int mode = 0;
    check(windlass_device_wrap(plain, &table, &mode, &device));
    check(windlass_device_queue(device, 0, &queue));
    windlass_recorder_t *recorder = nullptr;
    windlass_command_buffer_t *commands = nullptr;
    check(windlass_recorder_create(device, 0, &recorder));
    check(windlass_recorder_barrier(recorder));
    check(windlass_recorder_finish(recorder, &commands));
    left("`submit` of a wrapper", windlass_queue_execute(queue, 0, nullptr, 0, nullptr, commands, 0, nullptr));
    windlass_command_buffer_release(commands);
    windlass_recorder_release(recorder);
    windlass_queue_release(queue);
    windlass_device_release(device);

    // The operation goes on.
    table.submit = forward_and_fail;
    check(windlass_device_wrap(plain, &table, nullptr, &device));
    check(windlass_device_queue(device, 0, &queue));
    Timeline forwarded;
    check(windlass_queue_barrier(queue, 0, nullptr, 1, &forwarded.done));
    check(forwarded.wait());
    windlass_queue_release(queue);
    windlass_device_release(device);

    table.open = open_wrapper;
    check(windlass_wrapper_register("thrower", nullptr, &table, nullptr));
    left("`open` of a wrapper", windlass_device_open((std::string("thrower://?over=") + uri).c_str(), &device));
}

// The functions of the driver that fail.
std::string failing;
char memory[1024];

void may_fail(const char *name) {
    if (failing == name) fail();
}

windlass_driver_t driver() {
    windlass_driver_t table = windlass_driver_init();
    table.scheme = "throws";
    table.devices = [](void *, windlass_answer_t *) -> windlass_error_t * {
        may_fail("devices");
        return nullptr;
    };
    table.open = [](void *, windlass_uri_t *, windlass_answer_t *answer, void **) {
        may_fail("open");
        windlass_device_info_t info = windlass_device_info_init();
        info.name = "a device that throws";
        return windlass_answer_device(answer, &info);
    };
    table.close = [](void *) { fail(); };
    table.allocate = [](void *, windlass_memory_type_t, std::uint64_t, std::uint64_t alignment,
                        windlass_driver_memory_t *given) -> windlass_error_t * {
        may_fail("allocate");
        const auto address = reinterpret_cast<std::uintptr_t>(memory);
        given->host_pointer = memory + (alignment - address % alignment) % alignment;
        given->device_address = reinterpret_cast<std::uintptr_t>(given->host_pointer);
        return nullptr;
    };
    table.free = [](void *, void *) { fail(); };
    table.trim = [](void *) { fail(); };
    table.import_host = [](void *, const windlass_buffer_params_t *, void *, std::uint64_t,
                           windlass_driver_memory_t *) -> windlass_error_t * {
        fail();
        return nullptr;
    };
    table.import_device = [](void *, const windlass_buffer_params_t *, std::uint64_t, std::uint64_t,
                             windlass_driver_memory_t *) -> windlass_error_t * {
        fail();
        return nullptr;
    };
    table.load = [](void *, const void *, std::size_t, windlass_answer_t *answer, void **) {
        may_fail("load");
        windlass_global_info_t info = windlass_global_info_init();
        info.name = "variable";
        info.size = 4;
        return windlass_answer_global(answer, &info);
    };
    table.load_linked = [](void *, std::size_t, const void *const *, const std::size_t *, windlass_answer_t *,
                           void **) -> windlass_error_t * {
        fail();
        return nullptr;
    };
    table.unload = [](void *, void *) { fail(); };
    table.global = [](void *, void *, std::uint32_t, std::uint64_t, windlass_driver_memory_t *) -> windlass_error_t * {
        fail();
        return nullptr;
    };
    table.symbols = [](void *, void *, std::uint64_t, windlass_answer_t *) -> windlass_error_t * {
        fail();
        return nullptr;
    };
    table.submit = [](void *, windlass_operation_t *) -> windlass_error_t * {
        fail();
        return nullptr;
    };
    table.execute = table.submit;
    return table;
}

void drivers() {
    const windlass_driver_t table = driver();
    windlass_device_t *device = nullptr;
    windlass_device_list_t *list = nullptr;
    windlass_queue_t *queue = nullptr;
    windlass_buffer_t *buffer = nullptr, *imported = nullptr;
    windlass_executable_t *executable = nullptr;
    check(windlass_driver_register(&table, nullptr));
    failing = "devices";
    left("`devices` of a driver", windlass_driver_devices("throws", &list));
    failing = "open";
    left("`open` of a driver", windlass_device_open("throws://", &device));
    failing = "allocate";
    check(windlass_device_open("throws://", &device));
    check(windlass_device_queue(device, 0, &queue));
    left("`allocate` of a driver", windlass_buffer_allocate(device, nullptr, 16, &buffer));
    failing = "load";
    left("`load` of a driver", windlass_executable_load(device, "code", 4, &executable));
    const void *codes[] = {"code", "code"};
    const std::size_t sizes[] = {4, 4};
    left("`load_linked` of a driver", windlass_executable_load_linked(device, 2, codes, sizes, &executable));
    failing = "";
    check(windlass_buffer_allocate(device, nullptr, 16, &buffer));
    left("`import_host` of a driver",
         windlass_buffer_import_host(device, nullptr, memory, 64, nullptr, nullptr, &imported));
    left("`import_device` of a driver",
         windlass_buffer_import_device_address(device, nullptr, 4096, 64, nullptr, nullptr, &imported));
    check(windlass_executable_load(device, "code", 4, &executable));
    left("`global` of a driver", windlass_executable_global(executable, "variable", 1, &imported));
    windlass_symbol_list_t *symbols = nullptr;
    left("`symbols` of a driver", windlass_executable_symbols(executable, 1, &symbols));
    Timeline filled, executed;
    const char byte = 7;
    check(windlass_queue_fill(queue, 0, nullptr, 1, &filled.done, windlass_whole(buffer), &byte, 1));
    left("`submit` of a driver", filled.wait());
    windlass_recorder_t *recorder = nullptr;
    windlass_command_buffer_t *commands = nullptr;
    check(windlass_recorder_create(device, 0, &recorder));
    check(windlass_recorder_fill(recorder, windlass_whole(buffer), &byte, 1));
    check(windlass_recorder_finish(recorder, &commands));
    check(windlass_queue_execute(queue, 0, nullptr, 1, &executed.done, commands, 0, nullptr));
    left("`execute` of a driver", executed.wait());
    windlass_command_buffer_release(commands);
    windlass_recorder_release(recorder);
    check(windlass_device_trim(device));
    windlass_executable_release(executable);
    windlass_buffer_release(buffer);
    windlass_queue_release(queue);
    windlass_device_release(device);
}

}  // namespace

int main(int argc, char **argv) {
    const char *uri = argc > 1 ? argv[1] : "local://?threads=2";
    windlass_device_t *device = nullptr;
    windlass_queue_t *queue = nullptr;
    check(windlass_device_open(uri, &device));
    check(windlass_device_queue(device, 0, &queue));
    if (argc > 2) {
        Timeline never;
        check(windlass_queue_host_call(queue, 0, nullptr, 1, &never.done, 0, call_that_ends_its_thread, nullptr,
                                       nullptr));
        check(never.wait());
    }
    drivers();
    HOLDS(thrown > 10 && alive == 0);
    host_calls(queue);
    semaphores();
    files_and_profiles(device, queue);
    wrappers(device, uri);
    check(windlass_device_drain(device, WINDLASS_TIMEOUT_INFINITE));
    windlass_queue_release(queue);
    windlass_device_release(device);
    // User data may end later, on threads of the library.
    while (thrown < ALL || alive > 0) std::this_thread::yield();
    std::printf("%d exceptions were stopped\n", thrown.load());
    return EXIT_SUCCESS;
}
