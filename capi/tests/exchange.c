/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * DLPack tensors in both directions, and inboxes: each function is used, and its misuse is refused.
 *
 *     exchange URI DEVICE_TYPE
 */
/* DLPack's header may come before or after. */
#ifdef __cplusplus
#include "dlpack_structs.h"
#endif
#include "refused.h"
#ifndef __cplusplus
#include "dlpack_structs.h"
#endif

static const uint64_t FOREVER = WINDLASS_TIMEOUT_INFINITE;

/* Messages of an inbox without a descriptor, which the program looks for. */
static windlass_message_t next(windlass_inbox_t *inbox) {
    windlass_message_t message = windlass_message_init();
    while (!windlass_inbox_take(inbox, &message)) {
    }
    return message;
}

static windlass_message_t expect(windlass_inbox_t *inbox, uint64_t number, windlass_message_kind_t kind) {
    const windlass_message_t message = next(inbox);
    HOLDS(message.number == number && message.kind == kind);
    return message;
}

static void *ticket_of(windlass_inbox_t *inbox, uint64_t number) {
    windlass_ticket_t *ticket = NULL;
    check(windlass_inbox_ticket(inbox, number, &ticket));
    return ticket;
}

static void messages(windlass_device_t *device) {
    windlass_inbox_t *inbox = NULL;
    windlass_semaphore_t *gate = NULL, *done = NULL;
    windlass_queue_t *queue = NULL;
    windlass_timepoint_t *timepoint = NULL;
    windlass_observation_t *observation = NULL;
    check(windlass_inbox_create(-1, &inbox));
    check(windlass_semaphore_create(0, &gate));
    check(windlass_semaphore_create(0, &done));
    check(windlass_device_queue(device, 0, &queue));
    windlass_message_t message = windlass_message_init();
    HOLDS(!windlass_inbox_take(inbox, &message));

    check(windlass_semaphore_add_timepoint(gate, 1, windlass_ticket_timepoint, ticket_of(inbox, 1), NULL));
    check(windlass_semaphore_add_timepoint(gate, 9, windlass_ticket_timepoint, ticket_of(inbox, 2), &timepoint));
    check(windlass_timepoint_cancel(timepoint));
    message = expect(inbox, 2, WINDLASS_MESSAGE_TIMEPOINT);
    HOLDS(windlass_error_code(message.error) == WINDLASS_CODE_CANCELLED);
    windlass_error_release(message.error);
    check(windlass_semaphore_signal(gate, 1));
    HOLDS(expect(inbox, 1, WINDLASS_MESSAGE_TIMEPOINT).error == NULL);

    check(windlass_semaphore_observe(gate, windlass_ticket_observer, ticket_of(inbox, 3), windlass_ticket_destroy, &observation));
    check(windlass_semaphore_signal(gate, 4));
    HOLDS(expect(inbox, 3, WINDLASS_MESSAGE_OBSERVER).payload == 4);
    windlass_observation_release(observation);
    (void)expect(inbox, 3, WINDLASS_MESSAGE_DESTROY);

    const windlass_point_t five = windlass_at(gate, 5), first = windlass_at(done, 1), second = windlass_at(done, 2);
    check(windlass_queue_host_call(queue, 1, &five, 1, &first, 0, windlass_ticket_host_call, ticket_of(inbox, 4),
                                   windlass_ticket_host_call_destroy));
    HOLDS(!windlass_inbox_take(inbox, &message));
    check(windlass_semaphore_signal(gate, 5));
    message = expect(inbox, 4, WINDLASS_MESSAGE_HOST_CALL);
    REFUSED(DEADLINE_EXCEEDED, windlass_semaphore_wait(done, 1, 0));
    check(windlass_completion_complete(message.completion, NULL));
    windlass_completion_release(message.completion);
    check(windlass_semaphore_wait(done, 1, FOREVER));
    HOLDS(expect(inbox, 4, WINDLASS_MESSAGE_HOST_CALL_DESTROY).error == NULL);

    /* A host call without an inbox cannot be made. */
    void *left = ticket_of(inbox, 5);
    windlass_inbox_release(inbox);
    check(windlass_queue_host_call(queue, 0, NULL, 1, &second, 0, windlass_ticket_host_call, left,
                                   windlass_ticket_host_call_destroy));
    REFUSED(ABORTED, windlass_semaphore_wait(done, 2, FOREVER));

    windlass_ticket_t *ticket = NULL;
    INVALID(windlass_inbox_create(-2, &inbox));
    INVALID(windlass_inbox_create(-1, NULL));
    INVALID(windlass_inbox_ticket(NULL, 1, &ticket));
    HOLDS(!windlass_inbox_take(NULL, &message));
    HOLDS(windlass_inbox_retain(NULL) == NULL && windlass_ticket_retain(NULL) == NULL);
    windlass_ticket_timepoint(NULL, NULL);
    windlass_ticket_destroy(NULL);
    windlass_ticket_release(NULL);
    windlass_timepoint_release(timepoint);
    windlass_queue_release(queue);
    windlass_semaphore_release(gate);
    windlass_semaphore_release(done);
}

static windlass_buffer_view_t *view_of(windlass_device_t *device) {
    const uint64_t shape[2] = {2, 3};
    windlass_buffer_t *buffer = NULL;
    windlass_buffer_view_t *view = NULL;
    check(windlass_buffer_allocate(device, NULL, 24, &buffer));
    check(windlass_buffer_view_create(buffer, 2, shape, WINDLASS_ELEMENT_TYPE_FLOAT_32, &view));
    windlass_buffer_release(buffer);
    return view;
}

static uint64_t address_of(windlass_buffer_view_t *view) {
    windlass_buffer_t *buffer = NULL;
    check(windlass_buffer_view_buffer(view, &buffer));
    const uint64_t address = windlass_buffer_device_address(buffer);
    windlass_buffer_release(buffer);
    return address;
}

static uint64_t allocations(windlass_device_t *device) {
    windlass_statistics_t statistics = windlass_statistics_init();
    check(windlass_device_statistics(device, &statistics));
    return statistics.allocations;
}

static void tensors(windlass_device_t *device, int32_t device_type) {
    const uint64_t before = allocations(device);
    windlass_buffer_view_t *view = view_of(device), *back = NULL;
    windlass_buffer_t *buffer = NULL;
    int32_t type = 0, id = 7;
    check(windlass_buffer_view_buffer(view, &buffer));
    check(windlass_buffer_dlpack_device(buffer, &type, &id));
    HOLDS(type == device_type && id == 0);
    windlass_buffer_release(buffer);

    struct DLManagedTensorVersioned *tensor = NULL;
    check(windlass_buffer_view_to_dlpack(view, WINDLASS_DLPACK_READ_ONLY, &tensor));
    const DLTensor *made = &tensor->dl_tensor;
    HOLDS(tensor->version.major == 1 && tensor->flags == WINDLASS_DLPACK_READ_ONLY);
    HOLDS(made->device.device_type == device_type && made->dtype.code == 2 && made->dtype.bits == 32 && made->dtype.lanes == 1);
    HOLDS(made->ndim == 2 && made->shape[0] == 2 && made->shape[1] == 3 && made->strides[0] == 3 && made->strides[1] == 1);
    HOLDS((uint64_t)(uintptr_t)made->data + made->byte_offset == address_of(view));

    /* The tensor keeps the memory, and the view of it the tensor. */
    const uint64_t address = address_of(view);
    windlass_buffer_view_release(view);
    check(windlass_buffer_view_from_dlpack(device, tensor, NULL, NULL, &back));
    HOLDS(address_of(back) == address && windlass_buffer_view_rank(back) == 2);
    windlass_buffer_view_release(back);
    while (allocations(device) != before) {
        check(windlass_device_poll(device));
    }

    /* The older form; a message instead of the deleter. */
    view = view_of(device);
    struct DLManagedTensor *old = NULL;
    windlass_inbox_t *inbox = NULL;
    check(windlass_inbox_create(-1, &inbox));
    check(windlass_buffer_view_to_dlpack_unversioned(view, &old));
    check(windlass_buffer_view_from_dlpack_unversioned(device, old, ticket_of(inbox, 1), windlass_ticket_destroy, &back));
    HOLDS(address_of(back) == address_of(view));
    windlass_buffer_view_release(back);
    (void)expect(inbox, 1, WINDLASS_MESSAGE_DESTROY);

    /* After an error the tensor is the caller's, and no function was called. */
    windlass_message_t message = windlass_message_init();
    windlass_ticket_t *ticket = (windlass_ticket_t *)ticket_of(inbox, 2);
    old->dl_tensor.dtype.lanes = 4;
    REFUSED(UNIMPLEMENTED, windlass_buffer_view_from_dlpack_unversioned(device, old, ticket, windlass_ticket_destroy, &back));
    HOLDS(back == NULL);
    old->dl_tensor.dtype.lanes = 1;
    old->dl_tensor.strides[0] = 4;
    INVALID(windlass_buffer_view_from_dlpack_unversioned(device, old, ticket, windlass_ticket_destroy, &back));
    old->dl_tensor.strides[0] = 3;
    old->dl_tensor.device.device_type = 2;
    INVALID(windlass_buffer_view_from_dlpack_unversioned(device, old, ticket, windlass_ticket_destroy, &back));
    HOLDS(!windlass_inbox_take(inbox, &message));
    windlass_ticket_release(ticket);
    old->deleter(old);

    INVALID(windlass_buffer_view_to_dlpack(NULL, 0, &tensor));
    HOLDS(tensor == NULL);
    INVALID(windlass_buffer_view_to_dlpack(view, 0, NULL));
    INVALID(windlass_buffer_view_to_dlpack(view, 1 << 7, &tensor));
    INVALID(windlass_buffer_view_to_dlpack_unversioned(NULL, &old));
    INVALID(windlass_buffer_view_from_dlpack(device, NULL, NULL, NULL, &back));
    INVALID(windlass_buffer_view_from_dlpack_unversioned(NULL, NULL, NULL, NULL, &back));
    INVALID(windlass_buffer_dlpack_device(NULL, &type, &id));
    INVALID(windlass_dlpack_capsule_functions(NULL, NULL));
    windlass_dlpack_capsule_destroy(NULL);
    windlass_inbox_release(inbox);
    windlass_buffer_view_release(view);
}

int main(int argc, char **argv) {
    require(argc == 3, "usage: exchange URI DEVICE_TYPE");
    windlass_device_t *device = NULL;
    check(windlass_device_open(argv[1], &device));
    messages(device);
    tensors(device, atoi(argv[2]));
    check(windlass_device_drain(device, FOREVER));
    windlass_device_release(device);
    printf("the exchange is right\n");
    return EXIT_SUCCESS;
}
