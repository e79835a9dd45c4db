// SPDX-License-Identifier: MIT OR Apache-2.0
// The end of a process that uses devices: destructors of static objects, handlers of atexit and threads that outlive
// main go on with them.
//
//     exit URI how        how: return, exit, or call (exit in a host call)
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <unistd.h>

#include "windlass.h"

namespace {

const int CODE = 7;
bool may_end = false;

// Ends the process at once, from any caller.
void check(windlass_error_t *error) {
    if (error == nullptr) return;
    std::fprintf(stderr, "%s\n", windlass_error_message(error));
    _exit(9);
}

// When the process ends, a device may say so, and nothing else.
void check_late(windlass_error_t *error) {
    const bool told = windlass_error_code(error) == WINDLASS_CODE_FAILED_PRECONDITION &&
                      std::strstr(windlass_error_message(error), "before main returns or exit is called") != nullptr;
    if (!may_end || !told) check(error);
    windlass_error_release(error);
}

struct Work {
    windlass_device_t *device = nullptr;
    windlass_queue_t *queue = nullptr;
    windlass_buffer_t *buffer = nullptr;
    windlass_semaphore_t *timeline = nullptr;

    void open(const char *uri) {
        const auto params = windlass_buffer_params_device();
        check(windlass_device_open(uri, &device));
        check(windlass_device_queue(device, 0, &queue));
        check(windlass_buffer_allocate(device, &params, 1 << 20, &buffer));
        check(windlass_semaphore_create(0, &timeline));
    }

    windlass_error_t *submit() {
        std::uint64_t value = 0;
        if (auto *error = windlass_semaphore_query(timeline, &value)) return error;
        const std::uint32_t pattern = 3;
        const auto done = windlass_at(timeline, value + 1);
        for (int fill = 0; fill < 32; fill++) {
            auto *error =
                windlass_queue_fill(queue, 0, nullptr, fill == 31, &done, windlass_whole(buffer), &pattern, 4);
            if (error != nullptr) return error;
        }
        return nullptr;
    }

    windlass_error_t *finish() {
        auto *error = windlass_device_drain(device, WINDLASS_TIMEOUT_INFINITE);
        return error != nullptr ? error : windlass_device_poll(device);
    }

    void late() {
        if (device == nullptr) return;
        check_late(finish());
        check_late(submit());
        check_late(finish());
    }
};

Work work;

// Destroyed when the process ends.
struct Late {
    ~Late() { work.late(); }
};

struct Last : Late {
    ~Last() {
        work.late();
        windlass_buffer_release(work.buffer);
        windlass_semaphore_release(work.timeline);
        windlass_queue_release(work.queue);
        windlass_device_release(work.device);
        work.device = nullptr;
    }
};

// Before anything of HIP's, and so destroyed behind it.
Last last;

windlass_error_t *leave(void *, windlass_host_call_t *) { std::exit(CODE); }

}  // namespace

int main(int argc, char **argv) {
    const std::string uri = argc > 1 ? argv[1] : "local://", how = argc > 2 ? argv[2] : "return";
    may_end = uri.rfind("hip://", 0) == 0;
    std::atexit([] { work.late(); });
    work.open(uri.c_str());
    check(work.submit());
    check(work.finish());
    static Late late;
    std::atexit([] { work.late(); });

    // A thread that nobody joins, with a device of its own.
    Work own;
    own.open(uri.c_str());
    std::thread([own]() mutable {
        for (;;) own.late();
    }).detach();
    check(work.submit());
    if (how == "exit") std::exit(CODE);
    if (how == "call") {
        windlass_semaphore_t *never = nullptr;
        check(windlass_semaphore_create(0, &never));
        const auto done = windlass_at(never, 1);
        check(windlass_queue_host_call(work.queue, 0, nullptr, 1, &done, 0, leave, nullptr, nullptr));
        check_late(windlass_semaphore_wait(never, 1, WINDLASS_TIMEOUT_INFINITE));
    }
    return CODE;
}
