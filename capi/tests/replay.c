/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A device that records, and a replay of its file.
 *
 *     replay URI FILE
 */
#include "refused.h"

static const uint64_t FOREVER = WINDLASS_TIMEOUT_INFINITE;

static void program(const char *uri) {
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    windlass_buffer_t *buffer = NULL;
    windlass_semaphore_t *time = NULL;
    const unsigned char pattern = 7;
    unsigned char bytes[64];
    check(windlass_device_open(uri, &device));
    check(windlass_device_queue(device, 0, &queue));
    check(windlass_buffer_allocate(device, NULL, sizeof bytes, &buffer));
    check(windlass_semaphore_create(0, &time));
    const windlass_point_t filled = windlass_at(time, 1);
    check(windlass_queue_fill(queue, 0, NULL, 1, &filled, windlass_whole(buffer), &pattern, 1));
    check(windlass_queue_download_blocking(queue, 1, &filled, windlass_whole(buffer), bytes, sizeof bytes, FOREVER));
    HOLDS(bytes[0] == 7 && bytes[63] == 7);
    windlass_semaphore_release(time);
    windlass_buffer_release(buffer);
    windlass_queue_release(queue);
    windlass_device_release(device);
}

int main(int count, char **words) {
    require(count == 3, "usage: replay URI FILE");
    char uri[4096];
    HOLDS(snprintf(uri, sizeof uri, "record://?file=%s&over=%s", words[2], words[1]) < (int)sizeof uri);
    program(uri);

    windlass_device_t *device = NULL;
    windlass_replayed_t replayed = windlass_replayed_init();
    check(windlass_device_open(words[1], &device));
    check(windlass_replay(device, words[2], &replayed));
    HOLDS(replayed.operations == 3 && replayed.compared == 64 && replayed.differing == 0 && replayed.nanoseconds > 0);
    check(windlass_replay(device, words[2], NULL));

    INVALID(windlass_replay(NULL, words[2], &replayed));
    INVALID(windlass_replay(device, NULL, &replayed));
    REFUSED(NOT_FOUND, windlass_replay(device, "no/such/recording", &replayed));
    REFUSED(DATA_LOSS, windlass_replay(device, words[0], &replayed));
    replayed.struct_size = 3;
    INVALID(windlass_replay(device, words[2], &replayed));
    windlass_device_release(device);
    remove(words[2]);
    puts("the replay is right");
    return EXIT_SUCCESS;
}
