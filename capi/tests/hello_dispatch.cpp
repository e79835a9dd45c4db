// SPDX-License-Identifier: MIT OR Apache-2.0
// hello_dispatch from C++: handles that release themselves, errors as exceptions.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "windlass.h"

namespace {

struct Release {
    void operator()(windlass_error_t *error) const { windlass_error_release(error); }
    void operator()(windlass_device_t *device) const { windlass_device_release(device); }
    void operator()(windlass_queue_t *queue) const { windlass_queue_release(queue); }
    void operator()(windlass_buffer_t *buffer) const { windlass_buffer_release(buffer); }
    void operator()(windlass_semaphore_t *semaphore) const { windlass_semaphore_release(semaphore); }
    void operator()(windlass_executable_t *executable) const { windlass_executable_release(executable); }
    void operator()(windlass_function_t *function) const { windlass_function_release(function); }
};

template <typename T>
using Owned = std::unique_ptr<T, Release>;

void check(windlass_error_t *error) {
    if (Owned<windlass_error_t> owned{error}) throw std::runtime_error(windlass_error_message(error));
}

// Calls a function with its arguments and an out parameter behind them, and owns what comes out.
template <typename T, typename... Parameters, typename... Arguments>
Owned<T> make(windlass_error_t *(*function)(Parameters...), Arguments... arguments) {
    T *out = nullptr;
    check(function(arguments..., &out));
    return Owned<T>{out};
}

int run(const char *path, const char *uri) {
    const auto device = make<windlass_device_t>(windlass_device_open, uri);
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
    auto executable = make<windlass_executable_t>(windlass_executable_load, device.get(), code.data(), code.size());
    const auto saxpy = make<windlass_function_t>(windlass_executable_function, executable.get(), "saxpy");
    executable.reset();

    std::vector<float> x(1000), y(x.size());
    std::iota(x.begin(), x.end(), 0.0f);
    const std::size_t size = x.size() * sizeof(float);
    const auto queue = make<windlass_queue_t>(windlass_device_queue, device.get(), 0u);
    const auto params = windlass_buffer_params_device();
    const auto x_buffer = make<windlass_buffer_t>(windlass_buffer_allocate, device.get(), &params, size);
    const auto y_buffer = make<windlass_buffer_t>(windlass_buffer_allocate, device.get(), &params, size);

    const auto timeline = make<windlass_semaphore_t>(windlass_semaphore_create, std::uint64_t{0});
    const auto first = windlass_at(timeline.get(), 1);
    const auto second = windlass_at(timeline.get(), 2);
    const auto third = windlass_at(timeline.get(), 3);
    const float one = 1.0f;
    check(windlass_queue_update(queue.get(), 0, nullptr, 1, &first, x.data(), size, windlass_whole(x_buffer.get())));
    check(windlass_queue_fill(queue.get(), 1, &first, 1, &second, windlass_whole(y_buffer.get()), &one, sizeof one));
    const auto grid = windlass_dispatch_config_sized(4, 1, 1, 256, 1, 1);
    const windlass_argument_t arguments[] = {
        windlass_arg_f32(2.0f),
        windlass_arg_buffer(x_buffer.get()),
        windlass_arg_buffer(y_buffer.get()),
        windlass_arg_i32(static_cast<std::int32_t>(x.size())),
    };
    check(windlass_queue_dispatch(queue.get(), 1, &second, 1, &third, saxpy.get(), &grid, 4, arguments));

    // Asynchronously this time: the bytes are there when the fourth value is.
    const auto fourth = windlass_at(timeline.get(), 4);
    check(windlass_queue_download(queue.get(), 1, &third, 1, &fourth, windlass_whole(y_buffer.get()), y.data(), size));
    check(windlass_semaphore_wait(timeline.get(), 4, WINDLASS_TIMEOUT_INFINITE));
    for (std::size_t i = 0; i < x.size(); i++) {
        if (y[i] != 2.0f * x[i] + 1.0f) throw std::runtime_error("2 x + 1 is wrong");
    }
    std::puts("2 x + 1 is right");

    try {
        make<windlass_device_t>(windlass_device_open, "nowhere://");
    } catch (const std::runtime_error &error) {
        std::puts(error.what());
        return 0;
    }
    throw std::runtime_error("nowhere:// was opened");
}

}  // namespace

int main(int argc, char **argv) {
    try {
        return run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "hip-sim://gfx942");
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
