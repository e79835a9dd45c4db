/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A compiler of array expressions that targets Windlass: it chooses a kernel for each operation, places all intermediate
 * values in one buffer, and records one command buffer, which runs again and again with other inputs.
 *
 *     compiler examples/compiler/operations.ccob [URI]
 *
 * The compiler in Rust, examples/compiler, made the kernels. It also makes kernels for each graph, by clang. Link this
 * program with -lm, for the check of the numbers.
 */
#include <math.h>

#include "common.h"

#define BLOCK 256
#define ALIGNMENT 256
#define RUNS 3
#define MOST_NODES 32

/* ---- The graph: operations on arrays of rows and columns. An operand has a smaller number than its users. ---- */

typedef enum { INPUT, NEGATE, EXP, RELU, ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, ROW_SUM, ROW_MAX, MATMUL } op_t;

/* The functions of the bundle. */
static const char *const names[] = {NULL,       "negate", "exp",     "relu",    "add",     "subtract",
                                    "multiply", "divide", "maximum", "row_sum", "row_max", "matmul"};

typedef struct {
    op_t op;
    int operands[2], operand_count;
    uint32_t rows, columns;
    /* The plan: the slot of an input or of the result, else a place in the buffer of intermediate values. */
    uint32_t slot;
    int is_slot, last_reader;
    uint64_t offset;
} node_t;

typedef struct {
    node_t nodes[MOST_NODES];
    int count;
    uint32_t inputs;
} graph_t;

static int add_node(graph_t *graph, op_t op, uint32_t rows, uint32_t columns, int count, int a, int b) {
    require(graph->count < MOST_NODES, "a graph has at most 32 nodes");
    node_t node = {.op = op, .operands = {a, b}, .operand_count = count, .rows = rows, .columns = columns};
    if (op == INPUT) {
        node.is_slot = 1;
        node.slot = graph->inputs++;
    }
    graph->nodes[graph->count] = node;
    return graph->count++;
}

static int input(graph_t *graph, uint32_t rows, uint32_t columns) {
    return add_node(graph, INPUT, rows, columns, 0, 0, 0);
}

static int unary(graph_t *graph, op_t op, int a) {
    const node_t *node = &graph->nodes[a];
    return add_node(graph, op, node->rows, node->columns, 1, a, 0);
}

static int binary(graph_t *graph, op_t op, int a, int b) {
    const node_t *left = &graph->nodes[a], *right = &graph->nodes[b];
    require(left->rows == right->rows || left->rows == 1 || right->rows == 1, "rows are equal, or one is repeated");
    require(left->columns == right->columns || left->columns == 1 || right->columns == 1,
            "columns are equal, or one is repeated");
    const uint32_t rows = left->rows > right->rows ? left->rows : right->rows;
    const uint32_t columns = left->columns > right->columns ? left->columns : right->columns;
    return add_node(graph, op, rows, columns, 2, a, b);
}

static int reduce(graph_t *graph, op_t op, int a) {
    return add_node(graph, op, graph->nodes[a].rows, 1, 1, a, 0);
}

static int matmul(graph_t *graph, int a, int b) {
    require(graph->nodes[a].columns == graph->nodes[b].rows, "the left columns are the right rows");
    return add_node(graph, MATMUL, graph->nodes[a].rows, graph->nodes[b].columns, 2, a, b);
}

static uint64_t bytes_of(const node_t *node) { return (uint64_t)node->rows * node->columns * sizeof(float); }

/* The distance of neighbours in a column and in a row, in elements. 0 repeats the one row or column. */
static uint32_t across(const node_t *node) { return node->rows == 1 ? 0 : node->columns; }
static uint32_t along(const node_t *node) { return node->columns == 1 ? 0 : 1; }

/* ---- The plan of memory: largest first, each value gets the lowest place that is free from its writer to its last
 * reader. ---- */

/* Whether two values live at once and their places overlap. */
static int collide(const node_t *nodes, int a, int b) {
    return nodes[a].last_reader >= b && nodes[b].last_reader >= a &&
           nodes[a].offset < nodes[b].offset + bytes_of(&nodes[b]) &&
           nodes[b].offset < nodes[a].offset + bytes_of(&nodes[a]);
}

static uint64_t place_values(graph_t *graph, int result) {
    node_t *nodes = graph->nodes;
    int order[MOST_NODES], count = 0;
    nodes[result].is_slot = 1;
    nodes[result].slot = graph->inputs;
    for (int i = 0; i < graph->count; i++) {
        nodes[i].last_reader = i;
        for (int k = 0; k < nodes[i].operand_count; k++) {
            nodes[nodes[i].operands[k]].last_reader = i;
        }
        if (!nodes[i].is_slot) {
            int at = count++;
            for (; at > 0 && bytes_of(&nodes[order[at - 1]]) < bytes_of(&nodes[i]); at--) {
                order[at] = order[at - 1];
            }
            order[at] = i;
        }
    }
    uint64_t size = 0;
    for (int i = 0; i < count; i++) {
        node_t *node = &nodes[order[i]];
        /* Moves behind each value that is in the way, until none is. */
        for (int j = 0; j < i;) {
            const node_t *other = &nodes[order[j]];
            if (collide(nodes, order[i], order[j])) {
                node->offset = (other->offset + bytes_of(other) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
                j = 0;
            } else {
                j++;
            }
        }
        if (node->offset + bytes_of(node) > size) {
            size = node->offset + bytes_of(node);
        }
    }
    return size;
}

/* ---- The program: one dispatch for each operation. ---- */

/* A slot of the binding table, or a part of the buffer of intermediate values. */
static windlass_argument_t memory_of(const node_t *node, windlass_buffer_t *memory) {
    return windlass_arg_range(node->is_slot ? windlass_slot(node->slot, 0, bytes_of(node))
                                            : windlass_range(memory, node->offset, bytes_of(node)));
}

static windlass_command_buffer_t *record(windlass_device_t *device, windlass_executable_t *operations,
                                         const graph_t *graph, windlass_buffer_t *memory) {
    windlass_recorder_t *recorder = NULL;
    windlass_command_buffer_t *commands = NULL;
    check(windlass_recorder_create(device, graph->inputs + 1, &recorder));
    for (int i = 0; i < graph->count; i++) {
        const node_t *node = &graph->nodes[i];
        if (node->op == INPUT) {
            continue;
        }
        /* All kernels take: the result, its rows and columns, the depth of a reduction or product, and the operands. */
        windlass_argument_t arguments[10];
        size_t count = 0;
        arguments[count++] = memory_of(node, memory);
        arguments[count++] = windlass_arg_u32(node->rows);
        arguments[count++] = windlass_arg_u32(node->columns);
        arguments[count++] = windlass_arg_u32(graph->nodes[node->operands[0]].columns);
        for (int k = 0; k < node->operand_count; k++) {
            const node_t *operand = &graph->nodes[node->operands[k]];
            arguments[count++] = memory_of(operand, memory);
            arguments[count++] = windlass_arg_u32(across(operand));
            arguments[count++] = windlass_arg_u32(along(operand));
        }
        const int is_reduction = node->op == ROW_SUM || node->op == ROW_MAX;
        const uint32_t groups = is_reduction ? node->rows : (node->rows * node->columns + BLOCK - 1) / BLOCK;
        const windlass_dispatch_config_t grid = windlass_dispatch_config_sized(groups, 1, 1, BLOCK, 1, 1);
        windlass_function_t *function = NULL;
        check(windlass_executable_function(operations, names[node->op], &function));
        check(windlass_recorder_dispatch(recorder, function, &grid, count, arguments));
        /* The next kernel reads this result, or takes the place of a value that this one reads. */
        check(windlass_recorder_barrier(recorder));
        windlass_function_release(function);
    }
    check(windlass_recorder_finish(recorder, &commands));
    windlass_recorder_release(recorder);
    return commands;
}

/* ---- The same by plain loops, to check the device's numbers. ---- */

static double element(const graph_t *graph, double *const *values, int index, uint32_t row, uint32_t column) {
    const node_t *node = &graph->nodes[index];
    return values[index][row * across(node) + column * along(node)];
}

static double evaluate_element(const graph_t *graph, double *const *values, const node_t *node, uint32_t row,
                               uint32_t column) {
    const int a = node->operands[0], b = node->operands[1];
    const uint32_t depth = graph->nodes[a].columns;
    double sum = node->op == ROW_MAX ? -INFINITY : 0;
    switch (node->op) {
        case NEGATE: return -element(graph, values, a, row, column);
        case EXP: return exp(element(graph, values, a, row, column));
        case RELU: return fmax(element(graph, values, a, row, column), 0);
        case ADD: return element(graph, values, a, row, column) + element(graph, values, b, row, column);
        case SUBTRACT: return element(graph, values, a, row, column) - element(graph, values, b, row, column);
        case MULTIPLY: return element(graph, values, a, row, column) * element(graph, values, b, row, column);
        case DIVIDE: return element(graph, values, a, row, column) / element(graph, values, b, row, column);
        case MAXIMUM: return fmax(element(graph, values, a, row, column), element(graph, values, b, row, column));
        case ROW_SUM:
            for (uint32_t k = 0; k < depth; k++) sum += element(graph, values, a, row, k);
            return sum;
        case ROW_MAX:
            for (uint32_t k = 0; k < depth; k++) sum = fmax(sum, element(graph, values, a, row, k));
            return sum;
        case MATMUL:
            for (uint32_t k = 0; k < depth; k++) {
                sum += element(graph, values, a, row, k) * element(graph, values, b, k, column);
            }
            return sum;
        default: return NAN;
    }
}

static void check_numbers(const graph_t *graph, int result, float *const *inputs, const float *found) {
    double *values[MOST_NODES];
    for (int i = 0; i < graph->count; i++) {
        const node_t *node = &graph->nodes[i];
        values[i] = malloc(sizeof(double) * node->rows * node->columns);
        require(values[i] != NULL, "there is memory");
        for (uint32_t row = 0; row < node->rows; row++) {
            for (uint32_t column = 0; column < node->columns; column++) {
                const uint32_t at = row * node->columns + column;
                values[i][at] = node->op == INPUT ? (double)inputs[node->slot][at]
                                                  : evaluate_element(graph, values, node, row, column);
            }
        }
    }
    const node_t *node = &graph->nodes[result];
    for (uint32_t i = 0; i < node->rows * node->columns; i++) {
        const double expected = values[result][i];
        require(fabs((double)found[i] - expected) <= 1e-5 * fabs(expected) + 1e-7, "the numbers are those of the loops");
    }
    for (int i = 0; i < graph->count; i++) {
        free(values[i]);
    }
}

/* A buffer with numbers from -1 to 1 that look random, which are also kept for the check. */
static windlass_buffer_t *upload(windlass_device_t *device, windlass_queue_t *queue, windlass_point_t wait,
                                 windlass_point_t signal, const node_t *node, uint32_t *state, float **numbers) {
    const uint64_t size = bytes_of(node);
    windlass_buffer_t *buffer = NULL;
    *numbers = malloc(size);
    require(*numbers != NULL, "there is memory");
    for (uint32_t i = 0; i < node->rows * node->columns; i++) {
        *state = *state * 1664525u + 1013904223u;
        (*numbers)[i] = (float)(*state >> 8) / (float)(1 << 23) - 1.0f;
    }
    check(windlass_buffer_allocate(device, NULL, size, &buffer));
    check(windlass_queue_update(queue, 1, &wait, 1, &signal, *numbers, size, windlass_whole(buffer)));
    return buffer;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s operations.ccob [URI]\n", argv[0]);
        return EXIT_FAILURE;
    }
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    windlass_executable_t *operations = NULL;
    check(windlass_device_open(argc > 2 ? argv[2] : "hip-sim://gfx942", &device));
    check(windlass_device_queue(device, 0, &queue));
    size_t size = 0;
    void *code = read_file(argv[1], &size);
    check(windlass_executable_load(device, code, size, &operations));
    free(code);

    /* A layer of a network: softmax(relu(x * weights + bias)), with a softmax that does not overflow. */
    graph_t graph = {.count = 0};
    const int x = input(&graph, 24, 48), weights = input(&graph, 48, 100), bias = input(&graph, 1, 100);
    const int hidden = unary(&graph, RELU, binary(&graph, ADD, matmul(&graph, x, weights), bias));
    const int powers = unary(&graph, EXP, binary(&graph, SUBTRACT, hidden, reduce(&graph, ROW_MAX, hidden)));
    const int result = binary(&graph, DIVIDE, powers, reduce(&graph, ROW_SUM, powers));

    const uint64_t planned = place_values(&graph, result);
    windlass_buffer_t *memory = NULL;
    check(windlass_buffer_allocate(device, NULL, planned, &memory));
    windlass_command_buffer_t *commands = record(device, operations, &graph, memory);
    printf("%d kernels; intermediate values in %llu bytes\n", graph.count - (int)graph.inputs,
           (unsigned long long)planned);

    /* All runs are submitted before the first one is awaited. They share `memory`, so each waits for the one before. */
    windlass_semaphore_t *timeline = NULL;
    check(windlass_semaphore_create(0, &timeline));
    windlass_buffer_t *outputs[RUNS];
    float *inputs[RUNS][MOST_NODES];
    uint64_t value = 0;
    uint32_t state = 7;
    for (int run = 0; run < RUNS; run++) {
        windlass_buffer_t *buffers[MOST_NODES];
        windlass_buffer_ref_t table[MOST_NODES];
        for (int i = 0; i < graph.count; i++) {
            const node_t *node = &graph.nodes[i];
            if (node->op == INPUT) {
                buffers[node->slot] = upload(device, queue, windlass_at(timeline, value),
                                             windlass_at(timeline, value + 1), node, &state, &inputs[run][node->slot]);
                table[node->slot] = windlass_whole(buffers[node->slot]);
                value++;
            }
        }
        check(windlass_buffer_allocate(device, NULL, bytes_of(&graph.nodes[result]), &outputs[run]));
        table[graph.inputs] = windlass_whole(outputs[run]);
        const windlass_point_t uploaded = windlass_at(timeline, value), computed = windlass_at(timeline, ++value);
        check(windlass_queue_execute(queue, 1, &uploaded, 1, &computed, commands, graph.inputs + 1, table));
        for (uint32_t i = 0; i < graph.inputs; i++) {
            /* The submissions keep them. */
            windlass_buffer_release(buffers[i]);
        }
    }

    const windlass_point_t end = windlass_at(timeline, value);
    const uint64_t bytes = bytes_of(&graph.nodes[result]);
    for (int run = 0; run < RUNS; run++) {
        float *found = malloc(bytes);
        require(found != NULL, "there is memory");
        check(windlass_queue_download_blocking(queue, 1, &end, windlass_whole(outputs[run]), found, bytes,
                                               WINDLASS_TIMEOUT_INFINITE));
        check_numbers(&graph, result, inputs[run], found);
        free(found);
        windlass_buffer_release(outputs[run]);
        for (uint32_t i = 0; i < graph.inputs; i++) {
            free(inputs[run][i]);
        }
    }
    printf("all numbers of %d runs are right\n", RUNS);

    windlass_semaphore_release(timeline);
    windlass_command_buffer_release(commands);
    windlass_buffer_release(memory);
    windlass_executable_release(operations);
    windlass_queue_release(queue);
    windlass_device_release(device);
    return EXIT_SUCCESS;
}
