/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Collectives: each GPU of a device is a rank of a channel, and all of them sum their numbers.
 *
 *     all_reduce [URI]
 *
 * "hip://all" is all real GPUs. Ranks in several processes differ in one point: one rank sends the channel's id to the others.
 */
#include "common.h"

#define COUNT 1000
#define SECOND UINT64_C(1000000000)

/* One rank: a GPU with its queues, its side of the channel, and its numbers. */
typedef struct {
    windlass_queue_t *queue;
    windlass_channel_t *channel;
    windlass_semaphore_t *timeline;
    windlass_buffer_t *numbers;
} rank_t;

/* Joins the channel, and puts numbers into memory of the GPU. Waits for nobody. */
static void begin(rank_t *rank, windlass_device_t *device, const windlass_channel_id_t *id, uint32_t index, uint32_t count) {
    windlass_channel_params_t params = windlass_channel_params_init();
    params.id = *id;
    params.rank = index;
    params.count = count;
    params.timeout_ns = 30 * SECOND;
    check(windlass_device_physical_affinity(device, index, &params.affinity));
    check(windlass_channel_create(device, &params, &rank->channel));
    check(windlass_device_queue_of(device, params.affinity, &rank->queue));

    windlass_buffer_params_t memory = windlass_buffer_params_device();
    memory.queue_affinity = params.affinity;
    check(windlass_buffer_allocate(device, &memory, COUNT * sizeof(float), &rank->numbers));
    float numbers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = (float)(i + (int)index);
    }
    check(windlass_semaphore_create(0, &rank->timeline));
    const windlass_point_t uploaded = windlass_at(rank->timeline, 1);
    check(windlass_queue_update(rank->queue, 0, NULL, 1, &uploaded, numbers, sizeof numbers, windlass_whole(rank->numbers)));
}

/* Submits this rank's part of the sum, in place, behind the upload. */
static void sum(rank_t *rank) {
    const windlass_point_t uploaded = windlass_at(rank->timeline, 1), summed = windlass_at(rank->timeline, 2);
    const windlass_buffer_ref_t numbers = windlass_whole(rank->numbers);
    const windlass_collective_t operation = {WINDLASS_COLLECTIVE_ALL_REDUCE, WINDLASS_ELEMENT_TYPE_FLOAT_32,
                                             WINDLASS_REDUCTION_SUM, 0, 0, 0, numbers, numbers};
    check(windlass_queue_collective(rank->queue, 1, &uploaded, 1, &summed, rank->channel, 1, &operation));
}

/* Waits for the sum and checks it. */
static void end(rank_t *rank, uint32_t count) {
    const windlass_point_t summed = windlass_at(rank->timeline, 2);
    float sums[COUNT];
    /* A rank that does not come would end this wait with ABORTED after the timeout of the channel. */
    check(windlass_queue_download_blocking(rank->queue, 1, &summed, windlass_whole(rank->numbers), sums, sizeof sums,
                                           60 * SECOND));
    for (int i = 0; i < COUNT; i++) {
        const int of_ranks = (int)(count * (count - 1) / 2);
        require(sums[i] == (float)(i * (int)count + of_ranks), "each rank has the sum over all ranks");
    }
    windlass_buffer_release(rank->numbers);
    windlass_semaphore_release(rank->timeline);
    windlass_channel_release(rank->channel);
    windlass_queue_release(rank->queue);
}

int main(int argc, char **argv) {
    windlass_device_t *device = NULL;
    check(windlass_device_open(argc > 1 ? argv[1] : "hip-sim://gfx942?devices=2", &device));
    windlass_device_limits_t limits = windlass_device_limits_init();
    check(windlass_device_limits(device, &limits));
    const uint32_t count = limits.physical_devices;

    windlass_channel_id_t id;
    check(windlass_device_channel_id(device, &id));
    rank_t *ranks = (rank_t *)calloc(count, sizeof *ranks);
    require(ranks != NULL, "there is memory");
    for (uint32_t index = 0; index < count; index++) {
        begin(&ranks[index], device, &id, index, count);
        sum(&ranks[index]);
    }
    for (uint32_t index = 0; index < count; index++) {
        end(&ranks[index], count);
    }
    printf("%u ranks have the same %d sums\n", (unsigned)count, COUNT);
    free(ranks);
    windlass_device_release(device);
    return EXIT_SUCCESS;
}
