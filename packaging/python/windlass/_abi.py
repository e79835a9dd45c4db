# SPDX-License-Identifier: MIT OR Apache-2.0
"""The declarations of windlass.h for ctypes. packaging/python/write_abi writes this file from the header."""

# ruff: noqa
from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, Dict, List, Tuple



class ERROR(c_void_p):
    """The result of a function that can fail: an error of the caller's, or None."""


ABI_VERSION = 1
CODE_OK = 0
CODE_CANCELLED = 1
CODE_UNKNOWN = 2
CODE_INVALID_ARGUMENT = 3
CODE_DEADLINE_EXCEEDED = 4
CODE_NOT_FOUND = 5
CODE_ALREADY_EXISTS = 6
CODE_PERMISSION_DENIED = 7
CODE_RESOURCE_EXHAUSTED = 8
CODE_FAILED_PRECONDITION = 9
CODE_ABORTED = 10
CODE_OUT_OF_RANGE = 11
CODE_UNIMPLEMENTED = 12
CODE_INTERNAL = 13
CODE_UNAVAILABLE = 14
CODE_DATA_LOSS = 15
CODE_UNAUTHENTICATED = 16
FEATURE_OTHER = 0
FEATURE_ALLOCA = 1
FEATURE_COMMAND_BUFFERS = 2
FEATURE_DISPATCH = 3
FEATURE_FILES = 4
FEATURE_HOST_CALLS = 5
FEATURE_IMPORT_HOST = 6
FEATURE_IMPORT_DEVICE = 7
FEATURE_INDIRECT_DISPATCH = 8
FEATURE_GLOBALS = 9
FEATURE_LINKING = 10
FEATURE_SYMBOLS = 11
FEATURE_OCCUPANCY = 12
FEATURE_VIRTUAL_MEMORY = 13
FEATURE_EXTERNAL_TIMEPOINTS = 14
FEATURE_COLLECTIVES = 15
UNKNOWN = 4294967295
UNKNOWN_BYTES = 18446744073709551615
PARAMETER_BUFFER = 1
PARAMETER_VALUE = 2
REF_BUFFER = 1
REF_SLOT = 2
WHOLE_BUFFER = 18446744073709551615
MEMORY_TYPE_HOST_VISIBLE = 2
MEMORY_TYPE_HOST_COHERENT = 4
MEMORY_TYPE_HOST_CACHED = 8
MEMORY_TYPE_HOST_LOCAL = 66
MEMORY_TYPE_DEVICE_VISIBLE = 16
MEMORY_TYPE_DEVICE_LOCAL = 48
BUFFER_USAGE_TRANSFER_SOURCE = 1
BUFFER_USAGE_TRANSFER_TARGET = 2
BUFFER_USAGE_TRANSFER = 3
BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS = 256
BUFFER_USAGE_DISPATCH_STORAGE_READ = 1024
BUFFER_USAGE_DISPATCH_STORAGE_WRITE = 2048
BUFFER_USAGE_DISPATCH_STORAGE = 3072
BUFFER_USAGE_MAPPING = 16777216
BUFFER_USAGE_DEFAULT = 3075
SYMBOL_KIND_OTHER = 0
SYMBOL_KIND_KERNEL = 1
SYMBOL_KIND_FUNCTION = 2
SYMBOL_KIND_VARIABLE = 3
SYMBOL_BINDING_OTHER = 0
SYMBOL_BINDING_LOCAL = 1
SYMBOL_BINDING_GLOBAL = 2
SYMBOL_BINDING_WEAK = 3
SEMAPHORE_MAX_VALUE = 9223372036854775807
TIMEOUT_INFINITE = 18446744073709551615
WAIT_SPIN_THEN_BLOCK = 0
WAIT_SPIN = 1
WAIT_BLOCK = 2
DISPATCH_RAW_ARGUMENTS = 1
ARGUMENT_RANGE = 1
ARGUMENT_BYTES = 2
ARGUMENT_VALUE = 3
ARGUMENT_NULL = 4
HOST_CALL_NON_BLOCKING = 1
HOST_CALL_WAIT_ACTIVE = 2
HOST_CALL_RELAXED = 4
DISPATCH_STATIC_PARAMETERS = 2
POOL_DEVICE_WAITS = 1
POOL_EXACT = 2
UNLIMITED = 18446744073709551615
POOL_TLSF = 1
POOL_FIXED_BLOCK = 2
POOL_PASSTHROUGH = 3
EXPORT_ALLOW_UNSUBMITTED = 1
EXTERNAL_TIMEPOINT_STREAM = 1
EXTERNAL_TIMEPOINT_EVENT = 2
COMPATIBILITY_ALLOCATABLE = 1
COMPATIBILITY_IMPORTABLE = 2
COMPATIBILITY_EXPORTABLE = 4
COMPATIBILITY_QUEUE_TRANSFER = 1024
COMPATIBILITY_QUEUE_DISPATCH = 2048
COMPATIBILITY_LOW_PERFORMANCE = 1048576
LINK_UNKNOWN = 0
LINK_SAME = 1
LINK_XGMI = 2
LINK_HOST_BUS = 3
LINK_PCIE = 4
LINK_NETWORK = 5
LINK_HOST_STAGED = 6
FILE_READ = 1
FILE_WRITE = 2
FILE_CREATE = 4
FILE_TRUNCATE = 8
PROFILE_NONE = 4294967295
PROFILE_OTHER = 0
PROFILE_OPERATION = 1
PROFILE_COMMAND = 2
PROFILE_HOST_CALL = 3
PROFILE_MEMORY = 4
ELEMENT_TYPE_BOOL_8 = 318767112
ELEMENT_TYPE_INT_8 = 268435464
ELEMENT_TYPE_INT_16 = 268435472
ELEMENT_TYPE_INT_32 = 268435488
ELEMENT_TYPE_INT_64 = 268435520
ELEMENT_TYPE_SINT_8 = 285212680
ELEMENT_TYPE_SINT_16 = 285212688
ELEMENT_TYPE_SINT_32 = 285212704
ELEMENT_TYPE_SINT_64 = 285212736
ELEMENT_TYPE_UINT_8 = 301989896
ELEMENT_TYPE_UINT_16 = 301989904
ELEMENT_TYPE_UINT_32 = 301989920
ELEMENT_TYPE_UINT_64 = 301989952
ELEMENT_TYPE_FLOAT_16 = 553648144
ELEMENT_TYPE_FLOAT_32 = 553648160
ELEMENT_TYPE_FLOAT_64 = 553648192
ELEMENT_TYPE_BFLOAT_16 = 570425360
NO_RANK = 4294967295
REDUCTION_SUM = 1
REDUCTION_PRODUCT = 2
REDUCTION_MINIMUM = 3
REDUCTION_MAXIMUM = 4
REDUCTION_AVERAGE = 5
COLLECTIVE_ALL_GATHER = 1
COLLECTIVE_ALL_REDUCE = 2
COLLECTIVE_ALL_TO_ALL = 3
COLLECTIVE_BROADCAST = 4
COLLECTIVE_REDUCE = 5
COLLECTIVE_REDUCE_SCATTER = 6
COLLECTIVE_SEND = 7
COLLECTIVE_RECV = 8
COLLECTIVE_SEND_RECV = 9
OPERATION_OTHER = 0
OPERATION_BARRIER = 1
OPERATION_ALLOCA = 2
OPERATION_DEALLOCA = 3
OPERATION_FILL = 4
OPERATION_UPDATE = 5
OPERATION_COPY = 6
OPERATION_READ = 7
OPERATION_WRITE = 8
OPERATION_HOST_CALL = 9
OPERATION_DISPATCH = 10
OPERATION_EXECUTE = 11
OPERATION_EVENT = 12
OPERATION_DEBUG_GROUP = 13
OPERATION_IMPORT_TIMEPOINT = 14
OPERATION_COLLECTIVE = 15
DLPACK_READ_ONLY = 1
DLPACK_IS_COPIED = 2
MESSAGE_TIMEPOINT = 1
MESSAGE_OBSERVER = 2
MESSAGE_DESTROY = 3
MESSAGE_HOST_CALL = 4
MESSAGE_HOST_CALL_DESTROY = 5
MESSAGE_PROFILE = 6
CODE_COMPATIBLE_FAMILIES = 1
CODE_FORMAT_UNKNOWN = 0
CODE_FORMAT_ELF = 1
CODE_FORMAT_OTHER_ELF = 2
CODE_FORMAT_BUNDLE = 3
CODE_FORMAT_CCOB = 4
CODE_FORMAT_OFFLOAD_BINARY = 5
CODE_FORMAT_IREE_HIP = 6
CODE_FORMAT_IREE_AMDGPU = 7
CODE_FORMAT_KPACK = 8
CODE_FORMAT_DEBIAN = 9
CODE_FORMAT_ARCHIVE = 10
CODE_FORMAT_THIN_ARCHIVE = 11
CODE_FORMAT_ZIP = 12
CODE_FORMAT_HOST_WRAPPER = 13
CODE_FORMAT_KPACK_REFERENCE = 14
CODE_FORMAT_SPIRV = 15
CODE_FORMAT_BITCODE = 16
CODE_FORMAT_RPM = 17
CODE_FORMAT_SEVEN_ZIP = 18
CODE_FORMAT_TAR = 19
CODE_FORMAT_TEXT_BUNDLE = 20
CODE_TARGET_UNKNOWN = 0
CODE_TARGET_GPU = 1
CODE_TARGET_HOST = 2
CODE_TARGET_SPIRV = 3
CODE_FIT_NONE = 0
CODE_FIT_FAMILY = 1
CODE_FIT_GENERIC = 2
CODE_FIT_EXACT = 3
CODE_KERNEL_DYNAMIC_STACK = 1
CODE_KERNEL_UNIFORM_WORKGROUPS = 2
CODE_KERNEL_INIT = 4
CODE_KERNEL_FINI = 8
CODE_ARGUMENT_OTHER = 0
CODE_ARGUMENT_VALUE = 1
CODE_ARGUMENT_BUFFER = 2
CODE_ARGUMENT_LOCAL = 3
CODE_ARGUMENT_HIDDEN = 4


class windlass_lack_t(Structure):
    _fields_ = [
        ("feature", c_uint32),
        ("reserved", c_uint32),
        ("reason", c_char_p),
    ]


class windlass_device_info_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("uri", c_char_p),
        ("name", c_char_p),
        ("architecture", c_char_p),
        ("uuid", c_char_p),
        ("library", c_char_p),
        ("simulated", c_bool),
        ("executable_format_count", c_size_t),
        ("executable_formats", POINTER(c_char_p)),
        ("lack_count", c_size_t),
        ("lacks", POINTER(windlass_lack_t)),
        ("uuid_bytes", c_uint8 * 16),
        ("reports_faults", c_bool),
        ("reserved", c_uint8 * 7),
    ]


class windlass_device_limits_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("queues", c_uint32),
        ("max_workgroup_size", c_uint32 * 3),
        ("max_workgroup_threads", c_uint32),
        ("max_workgroup_count", c_uint32 * 3),
        ("max_local_memory", c_uint32),
        ("wave_size", c_uint32),
        ("total_memory", c_uint64),
        ("allocation_alignment", c_uint64),
        ("physical_devices", c_uint32),
        ("reserved", c_uint32),
    ]


class windlass_statistics_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device_bytes_used", c_uint64),
        ("device_bytes_reserved", c_uint64),
        ("device_bytes_peak", c_uint64),
        ("device_bytes_allocated", c_uint64),
        ("device_bytes_freed", c_uint64),
        ("host_bytes_used", c_uint64),
        ("host_bytes_reserved", c_uint64),
        ("host_bytes_peak", c_uint64),
        ("host_bytes_allocated", c_uint64),
        ("host_bytes_freed", c_uint64),
        ("allocations", c_uint64),
        ("pools", c_uint64),
    ]


class windlass_function_info_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("signature", c_char_p),
        ("parameter_count", c_uint32),
        ("argument_size", c_uint32),
        ("workgroup_size", c_uint32 * 3),
        ("max_workgroup_threads", c_uint32),
        ("static_local_memory", c_uint32),
        ("vector_registers", c_uint32),
        ("scalar_registers", c_uint32),
        ("accumulation_registers", c_uint32),
        ("private_memory_bytes", c_uint32),
        ("dynamic_stack", c_uint32),
        ("spilled_vector_registers", c_uint32),
        ("spilled_scalar_registers", c_uint32),
        ("wave_size", c_uint32),
    ]


class windlass_parameter_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("kind", c_uint32),
        ("offset", c_uint32),
        ("size", c_uint32),
    ]


class windlass_buffer_params_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("memory_type", c_uint32),
        ("usage", c_uint32),
        ("min_alignment", c_uint64),
        ("queue_affinity", c_uint64),
    ]


class windlass_buffer_ref_t(Structure):
    _fields_ = [
        ("kind", c_uint32),
        ("slot", c_uint32),
        ("buffer", c_void_p),
        ("offset", c_uint64),
        ("length", c_uint64),
    ]


class windlass_global_info_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("size", c_uint64),
    ]


class windlass_symbol_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("kind", c_uint32),
        ("binding", c_uint32),
        ("address", c_uint64),
        ("size", c_uint64),
    ]


class windlass_point_t(Structure):
    _fields_ = [
        ("semaphore", c_void_p),
        ("value", c_uint64),
    ]


windlass_destroy_t = CFUNCTYPE(None, c_void_p)

windlass_timepoint_callback_t = CFUNCTYPE(None, c_void_p, c_void_p)

windlass_observer_callback_t = CFUNCTYPE(None, c_void_p, c_uint64, c_void_p)

class windlass_dispatch_config_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("workgroup_count", c_uint32 * 3),
        ("workgroup_size", c_uint32 * 3),
        ("dynamic_local_memory", c_uint32),
        ("flags", c_uint32),
    ]


class windlass_argument_t(Structure):
    _fields_ = [
        ("kind", c_uint32),
        ("value_size", c_uint32),
        ("range", windlass_buffer_ref_t),
        ("bytes", c_void_p),
        ("size", c_size_t),
        ("value", c_uint8 * 8),
    ]


windlass_host_call_callback_t = CFUNCTYPE(c_void_p, c_void_p, c_void_p)

windlass_host_call_destroy_t = CFUNCTYPE(None, c_void_p, c_void_p)

class windlass_event_t(Structure):
    _fields_ = [
        ("recording", c_uint64),
        ("number", c_uint64),
    ]


class windlass_indirect_dispatch_config_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("workgroup_count", windlass_buffer_ref_t),
        ("workgroup_size", c_uint32 * 3),
        ("dynamic_local_memory", c_uint32),
        ("flags", c_uint32),
        ("reserved", c_uint32),
    ]


class windlass_pool_params_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_uint32),
        ("flags", c_uint32),
        ("slab_size", c_uint64),
        ("block_size", c_uint64),
        ("blocks", c_uint32),
        ("reserved", c_uint32),
        ("budget", c_uint64),
        ("retained", c_uint64),
        ("name", c_char_p),
        ("memory", POINTER(windlass_buffer_params_t)),
    ]


class windlass_pool_statistics_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("bytes_reserved", c_uint64),
        ("budget", c_uint64),
        ("bytes_used", c_uint64),
        ("bytes_peak", c_uint64),
        ("bytes_held", c_uint64),
        ("bytes_idle", c_uint64),
        ("slabs", c_uint64),
        ("buffers", c_uint64),
        ("acquired", c_uint64),
        ("acquired_fresh", c_uint64),
        ("acquired_with_wait", c_uint64),
        ("exhausted", c_uint64),
        ("over_budget", c_uint64),
        ("released", c_uint64),
        ("slabs_given_back", c_uint64),
    ]


class windlass_external_timepoint_t(Structure):
    _fields_ = [
        ("kind", c_uint32),
        ("reserved", c_uint32),
        ("handle", c_uint64),
    ]


class windlass_heap_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("memory_type", c_uint32),
        ("usage", c_uint32),
        ("max_size", c_uint64),
        ("min_alignment", c_uint64),
    ]


class windlass_topology_node_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_uint32),
        ("physical_device", c_uint32),
        ("pci_address", c_char_p),
        ("numa_node", c_uint32),
        ("is_host", c_uint32),
        ("runtime", c_uint64),
    ]


class windlass_topology_edge_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("link", c_uint32),
        ("hops", c_uint32),
        ("peer_access", c_uint32),
        ("native_atomics", c_uint32),
        ("copy_cost", c_uint32),
        ("numa_distance", c_uint32),
    ]


class windlass_device_facts_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("compute_units", c_uint32),
        ("wave_size", c_uint32),
        ("max_threads_per_compute_unit", c_uint32),
        ("compute_dies", c_uint32),
        ("core_clock_khz", c_uint32),
        ("memory_clock_khz", c_uint32),
        ("wall_clock_khz", c_uint32),
        ("memory_bus_bits", c_uint32),
        ("local_memory_per_workgroup_bytes", c_uint32),
        ("local_memory_per_compute_unit_bytes", c_uint32),
        ("registers_per_workgroup", c_uint32),
        ("registers_per_compute_unit", c_uint32),
        ("max_vector_registers", c_uint32),
        ("is_integrated", c_uint32),
        ("cooperative_launch", c_uint32),
        ("reserved", c_uint32),
        ("l1_cache_bytes", c_uint64),
        ("l2_cache_bytes", c_uint64),
        ("l3_cache_bytes", c_uint64),
        ("total_memory_bytes", c_uint64),
        ("free_memory_bytes", c_uint64),
    ]


windlass_storage_read_t = CFUNCTYPE(c_void_p, c_void_p, c_uint64, c_void_p, c_size_t)

windlass_storage_write_t = CFUNCTYPE(c_void_p, c_void_p, c_uint64, c_void_p, c_size_t)

class windlass_profile_options_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("without_device_times", c_bool),
        ("without_memory", c_bool),
        ("with_commands", c_bool),
        ("reserved", c_uint8 * 5),
    ]


class windlass_profile_point_t(Structure):
    _fields_ = [
        ("semaphore", c_uint64),
        ("value", c_uint64),
    ]


class windlass_profile_record_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_uint32),
        ("queue", c_uint32),
        ("gpu", c_uint32),
        ("command", c_uint32),
        ("group", c_uint32),
        ("memory_type", c_uint32),
        ("submission", c_uint64),
        ("name", c_char_p),
        ("function", c_char_p),
        ("affinity", c_uint64),
        ("workgroup_count", c_uint32 * 3),
        ("workgroup_size", c_uint32 * 3),
        ("bytes", c_uint64),
        ("command_count", c_uint64),
        ("thread", c_uint64),
        ("submitted", c_uint64),
        ("issued", c_uint64),
        ("retired", c_uint64),
        ("device_begun", c_uint64),
        ("device_ended", c_uint64),
        ("lost", c_uint64),
        ("wait_count", c_size_t),
        ("waits", POINTER(windlass_profile_point_t)),
        ("signal_count", c_size_t),
        ("signals", POINTER(windlass_profile_point_t)),
        ("error", c_void_p),
        ("color", c_uint8 * 4),
        ("reserved", c_uint8 * 4),
    ]


windlass_profile_callback_t = CFUNCTYPE(None, c_void_p, POINTER(windlass_profile_record_t))

class windlass_channel_id_t(Structure):
    _fields_ = [
        ("bytes", c_uint8 * 128),
    ]


class windlass_channel_params_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", windlass_channel_id_t),
        ("rank", c_uint32),
        ("count", c_uint32),
        ("affinity", c_uint64),
        ("timeout_ns", c_uint64),
    ]


class windlass_collective_t(Structure):
    _fields_ = [
        ("kind", c_uint32),
        ("element_type", c_uint32),
        ("reduction", c_uint32),
        ("peer", c_uint32),
        ("from", c_uint32),
        ("reserved", c_uint32),
        ("source", windlass_buffer_ref_t),
        ("target", windlass_buffer_ref_t),
    ]


class windlass_operation_point_t(Structure):
    _fields_ = [
        ("semaphore", c_uint64),
        ("value", c_uint64),
    ]


class windlass_operation_range_t(Structure):
    _fields_ = [
        ("memory", c_void_p),
        ("offset", c_uint64),
        ("length", c_uint64),
        ("device_address", c_uint64),
        ("host_pointer", c_void_p),
    ]


class windlass_operation_info_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_uint32),
        ("function", c_uint32),
        ("name", c_char_p),
        ("queue_affinity", c_uint64),
        ("wait_count", c_size_t),
        ("waits", POINTER(windlass_operation_point_t)),
        ("signal_count", c_size_t),
        ("signals", POINTER(windlass_operation_point_t)),
        ("source", windlass_operation_range_t),
        ("target", windlass_operation_range_t),
        ("bytes", c_void_p),
        ("byte_count", c_size_t),
        ("file_offset", c_uint64),
        ("function_name", c_char_p),
        ("executable", c_void_p),
        ("workgroup_count", c_uint32 * 3),
        ("workgroup_size", c_uint32 * 3),
        ("dynamic_local_memory", c_uint32),
        ("reserved", c_uint32),
        ("count", windlass_operation_range_t),
        ("buffer_count", c_size_t),
        ("buffers", POINTER(windlass_operation_range_t)),
        ("command_count", c_size_t),
        ("predecessor_count", c_size_t),
    ]


windlass_command_visitor_t = CFUNCTYPE(c_void_p, c_void_p, POINTER(windlass_operation_info_t))

class windlass_driver_memory_t(Structure):
    _fields_ = [
        ("memory", c_void_p),
        ("device_address", c_uint64),
        ("host_pointer", c_void_p),
        ("reserved", c_uint64),
    ]


class windlass_driver_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("scheme", c_char_p),
        ("description", c_char_p),
        ("devices", CFUNCTYPE(c_void_p, c_void_p, c_void_p)),
        ("open", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_void_p))),
        ("close", CFUNCTYPE(None, c_void_p)),
        ("allocate", CFUNCTYPE(c_void_p, c_void_p, c_uint32, c_uint64, c_uint64, POINTER(windlass_driver_memory_t))),
        ("free", CFUNCTYPE(None, c_void_p, c_void_p)),
        ("trim", CFUNCTYPE(None, c_void_p)),
        ("import_host", CFUNCTYPE(c_void_p, c_void_p, POINTER(windlass_buffer_params_t), c_void_p, c_uint64, POINTER(windlass_driver_memory_t))),
        ("import_device", CFUNCTYPE(c_void_p, c_void_p, POINTER(windlass_buffer_params_t), c_uint64, c_uint64, POINTER(windlass_driver_memory_t))),
        ("load", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, POINTER(c_void_p))),
        ("load_linked", CFUNCTYPE(c_void_p, c_void_p, c_size_t, POINTER(c_void_p), POINTER(c_size_t), c_void_p, POINTER(c_void_p))),
        ("unload", CFUNCTYPE(None, c_void_p, c_void_p)),
        ("global", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_uint32, c_uint64, POINTER(windlass_driver_memory_t))),
        ("symbols", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_uint64, c_void_p)),
        ("submit", CFUNCTYPE(c_void_p, c_void_p, c_void_p)),
        ("execute", CFUNCTYPE(c_void_p, c_void_p, c_void_p)),
    ]


class windlass_wrapper_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("submit", CFUNCTYPE(c_void_p, c_void_p, c_void_p)),
        ("open", CFUNCTYPE(c_void_p, c_void_p, c_void_p, POINTER(c_void_p))),
        ("close", CFUNCTYPE(None, c_void_p)),
    ]


windlass_capsule_is_valid_t = CFUNCTYPE(c_int, c_void_p, c_char_p)

windlass_capsule_get_pointer_t = CFUNCTYPE(c_void_p, c_void_p, c_char_p)

class windlass_message_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("number", c_uint64),
        ("payload", c_uint64),
        ("error", c_void_p),
        ("completion", c_void_p),
        ("kind", c_uint32),
        ("reserved", c_uint32),
        ("record", c_void_p),
    ]


class windlass_replayed_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("operations", c_uint64),
        ("compared", c_uint64),
        ("differing", c_uint64),
        ("nanoseconds", c_uint64),
    ]


class windlass_code_options_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("max_unpacked", c_uint64),
        ("max_stored", c_uint64),
        ("flags", c_uint32),
        ("reserved", c_uint32),
    ]


class windlass_code_bundle_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("member", c_char_p),
        ("container", c_char_p),
        ("offset", c_uint64),
        ("stored_size", c_uint64),
        ("unpacked_size", c_uint64),
        ("entry_count", c_size_t),
        ("is_compressed", c_bool),
    ]


class windlass_code_entry_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_char_p),
        ("kind", c_char_p),
        ("target", c_char_p),
        ("problem", c_char_p),
        ("offset", c_uint64),
        ("size", c_uint64),
        ("target_kind", c_uint32),
    ]


class windlass_code_verdict_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("reason", c_char_p),
        ("fit", c_uint32),
    ]


class windlass_code_kernel_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("argument_count", c_uint32),
        ("explicit_argument_count", c_uint32),
        ("argument_block_size", c_uint32),
        ("argument_block_alignment", c_uint32),
        ("workgroup_size", c_uint32 * 3),
        ("max_workgroup_threads", c_uint32),
        ("static_local_memory", c_uint32),
        ("private_memory", c_uint32),
        ("wave_size", c_uint32),
        ("vector_registers", c_uint32),
        ("scalar_registers", c_uint32),
        ("spilled_registers", c_uint32),
        ("flags", c_uint32),
        ("reserved", c_uint32),
    ]


class windlass_code_argument_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("type_name", c_char_p),
        ("kind", c_uint32),
        ("offset", c_uint32),
        ("size", c_uint32),
        ("reserved", c_uint32),
    ]


class windlass_code_rejected_t(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("reason", c_char_p),
    ]


FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "windlass_abi_version": (c_uint32, []),
    "windlass_version": (c_char_p, []),
    "windlass_error_create": (ERROR, [c_uint32, c_char_p]),
    "windlass_error_code": (c_uint32, [c_void_p]),
    "windlass_error_message": (c_char_p, [c_void_p]),
    "windlass_error_retain": (ERROR, [c_void_p]),
    "windlass_error_release": (None, [c_void_p]),
    "windlass_code_name": (c_char_p, [c_uint32]),
    "windlass_feature_name": (c_char_p, [c_uint32]),
    "windlass_driver_scheme": (c_char_p, [c_size_t]),
    "windlass_driver_devices": (ERROR, [c_char_p, POINTER(c_void_p)]),
    "windlass_device_list_count": (c_size_t, [c_void_p]),
    "windlass_device_list_info": (ERROR, [c_void_p, c_size_t, POINTER(windlass_device_info_t)]),
    "windlass_device_list_retain": (c_void_p, [c_void_p]),
    "windlass_device_list_release": (None, [c_void_p]),
    "windlass_device_open": (ERROR, [c_char_p, POINTER(c_void_p)]),
    "windlass_device_open_default": (ERROR, [POINTER(c_void_p)]),
    "windlass_device_retain": (c_void_p, [c_void_p]),
    "windlass_device_release": (None, [c_void_p]),
    "windlass_device_info": (ERROR, [c_void_p, POINTER(windlass_device_info_t)]),
    "windlass_device_limits": (ERROR, [c_void_p, POINTER(windlass_device_limits_t)]),
    "windlass_device_physical_affinity": (ERROR, [c_void_p, c_uint32, POINTER(c_uint64)]),
    "windlass_device_statistics": (ERROR, [c_void_p, POINTER(windlass_statistics_t)]),
    "windlass_device_poll": (ERROR, [c_void_p]),
    "windlass_device_drain": (ERROR, [c_void_p, c_uint64]),
    "windlass_device_close": (ERROR, [c_void_p]),
    "windlass_device_trim": (ERROR, [c_void_p]),
    "windlass_uri_text": (c_char_p, [c_void_p]),
    "windlass_uri_path": (c_char_p, [c_void_p]),
    "windlass_uri_parameter": (c_char_p, [c_void_p, c_char_p]),
    "windlass_device_open_with_parameters": (ERROR, [c_char_p, c_size_t, POINTER(c_char_p), POINTER(c_char_p), POINTER(c_void_p)]),
    "windlass_executable_load": (ERROR, [c_void_p, c_void_p, c_size_t, POINTER(c_void_p)]),
    "windlass_executable_load_linked": (ERROR, [c_void_p, c_size_t, POINTER(c_void_p), POINTER(c_size_t), POINTER(c_void_p)]),
    "windlass_executable_retain": (c_void_p, [c_void_p]),
    "windlass_executable_release": (None, [c_void_p]),
    "windlass_executable_function": (ERROR, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "windlass_executable_function_count": (c_size_t, [c_void_p]),
    "windlass_executable_function_at": (ERROR, [c_void_p, c_size_t, POINTER(c_void_p)]),
    "windlass_executable_same": (c_bool, [c_void_p, c_void_p]),
    "windlass_function_executable": (ERROR, [c_void_p, POINTER(c_void_p)]),
    "windlass_function_retain": (c_void_p, [c_void_p]),
    "windlass_function_release": (None, [c_void_p]),
    "windlass_function_info": (ERROR, [c_void_p, POINTER(windlass_function_info_t)]),
    "windlass_function_parameter": (ERROR, [c_void_p, c_uint32, POINTER(windlass_parameter_t)]),
    "windlass_buffer_allocate": (ERROR, [c_void_p, POINTER(windlass_buffer_params_t), c_uint64, POINTER(c_void_p)]),
    "windlass_buffer_subspan": (ERROR, [c_void_p, c_uint64, c_uint64, POINTER(c_void_p)]),
    "windlass_buffer_retain": (c_void_p, [c_void_p]),
    "windlass_buffer_release": (None, [c_void_p]),
    "windlass_buffer_size": (c_uint64, [c_void_p]),
    "windlass_buffer_device_address": (c_uint64, [c_void_p]),
    "windlass_buffer_offset": (c_uint64, [c_void_p]),
    "windlass_buffer_params": (ERROR, [c_void_p, POINTER(windlass_buffer_params_t)]),
    "windlass_buffer_read": (ERROR, [c_void_p, c_uint64, c_void_p, c_size_t]),
    "windlass_buffer_write": (ERROR, [c_void_p, c_uint64, c_void_p, c_size_t]),
    "windlass_buffer_host_pointer": (ERROR, [c_void_p, POINTER(c_void_p)]),
    "windlass_executable_global_count": (c_size_t, [c_void_p]),
    "windlass_executable_global_info": (ERROR, [c_void_p, c_size_t, POINTER(windlass_global_info_t)]),
    "windlass_executable_global": (ERROR, [c_void_p, c_char_p, c_uint64, POINTER(c_void_p)]),
    "windlass_executable_symbols": (ERROR, [c_void_p, c_uint64, POINTER(c_void_p)]),
    "windlass_symbol_list_count": (c_size_t, [c_void_p]),
    "windlass_symbol_list_at": (ERROR, [c_void_p, c_size_t, POINTER(windlass_symbol_t)]),
    "windlass_symbol_list_retain": (c_void_p, [c_void_p]),
    "windlass_symbol_list_release": (None, [c_void_p]),
    "windlass_semaphore_create": (ERROR, [c_uint64, POINTER(c_void_p)]),
    "windlass_semaphore_retain": (c_void_p, [c_void_p]),
    "windlass_semaphore_release": (None, [c_void_p]),
    "windlass_semaphore_id": (c_uint64, [c_void_p]),
    "windlass_semaphore_query": (ERROR, [c_void_p, POINTER(c_uint64)]),
    "windlass_semaphore_signal": (ERROR, [c_void_p, c_uint64]),
    "windlass_semaphore_fail": (ERROR, [c_void_p, c_uint32, c_char_p]),
    "windlass_semaphore_fail_with": (ERROR, [c_void_p, c_void_p]),
    "windlass_semaphore_wait": (ERROR, [c_void_p, c_uint64, c_uint64]),
    "windlass_wait_all": (ERROR, [c_size_t, POINTER(windlass_point_t), c_uint64]),
    "windlass_wait_any": (ERROR, [c_size_t, POINTER(windlass_point_t), c_uint64, POINTER(c_size_t)]),
    "windlass_semaphore_wait_with": (ERROR, [c_void_p, c_uint64, c_uint64, c_uint32]),
    "windlass_wait_all_with": (ERROR, [c_size_t, POINTER(windlass_point_t), c_uint64, c_uint32]),
    "windlass_wait_any_with": (ERROR, [c_size_t, POINTER(windlass_point_t), c_uint64, c_uint32, POINTER(c_size_t)]),
    "windlass_semaphore_add_timepoint": (ERROR, [c_void_p, c_uint64, windlass_timepoint_callback_t, c_void_p, POINTER(c_void_p)]),
    "windlass_timepoint_cancel": (ERROR, [c_void_p]),
    "windlass_timepoint_retain": (c_void_p, [c_void_p]),
    "windlass_timepoint_release": (None, [c_void_p]),
    "windlass_semaphore_observe": (ERROR, [c_void_p, windlass_observer_callback_t, c_void_p, windlass_destroy_t, POINTER(c_void_p)]),
    "windlass_observation_retain": (c_void_p, [c_void_p]),
    "windlass_observation_release": (None, [c_void_p]),
    "windlass_fence_create": (ERROR, [POINTER(c_void_p)]),
    "windlass_fence_insert": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t)]),
    "windlass_fence_points": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), POINTER(c_size_t)]),
    "windlass_fence_query": (ERROR, [c_void_p, POINTER(c_bool)]),
    "windlass_fence_signal": (ERROR, [c_void_p]),
    "windlass_fence_fail": (ERROR, [c_void_p, c_void_p]),
    "windlass_fence_wait": (ERROR, [c_void_p, c_uint64]),
    "windlass_fence_retain": (c_void_p, [c_void_p]),
    "windlass_fence_release": (None, [c_void_p]),
    "windlass_recorder_create": (ERROR, [c_void_p, c_uint32, POINTER(c_void_p)]),
    "windlass_recorder_retain": (c_void_p, [c_void_p]),
    "windlass_recorder_release": (None, [c_void_p]),
    "windlass_recorder_barrier": (ERROR, [c_void_p]),
    "windlass_recorder_fill": (ERROR, [c_void_p, windlass_buffer_ref_t, c_void_p, c_size_t]),
    "windlass_recorder_update": (ERROR, [c_void_p, c_void_p, c_size_t, windlass_buffer_ref_t]),
    "windlass_recorder_copy": (ERROR, [c_void_p, windlass_buffer_ref_t, windlass_buffer_ref_t]),
    "windlass_recorder_dispatch": (ERROR, [c_void_p, c_void_p, POINTER(windlass_dispatch_config_t), c_size_t, POINTER(windlass_argument_t)]),
    "windlass_recorder_begin_debug_group": (ERROR, [c_void_p, c_char_p]),
    "windlass_recorder_begin_debug_group_at": (ERROR, [c_void_p, c_char_p, POINTER(c_uint8), c_char_p, c_uint32]),
    "windlass_recorder_end_debug_group": (ERROR, [c_void_p]),
    "windlass_recorder_finish": (ERROR, [c_void_p, POINTER(c_void_p)]),
    "windlass_command_buffer_retain": (c_void_p, [c_void_p]),
    "windlass_command_buffer_release": (None, [c_void_p]),
    "windlass_device_queue": (ERROR, [c_void_p, c_uint32, POINTER(c_void_p)]),
    "windlass_device_queue_of": (ERROR, [c_void_p, c_uint64, POINTER(c_void_p)]),
    "windlass_queue_affinity": (c_uint64, [c_void_p]),
    "windlass_queue_retain": (c_void_p, [c_void_p]),
    "windlass_queue_release": (None, [c_void_p]),
    "windlass_queue_barrier": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t)]),
    "windlass_queue_alloca": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), POINTER(windlass_buffer_params_t), c_uint64, POINTER(c_void_p)]),
    "windlass_queue_dealloca": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), c_void_p]),
    "windlass_queue_fill": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), windlass_buffer_ref_t, c_void_p, c_size_t]),
    "windlass_queue_update": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), c_void_p, c_size_t, windlass_buffer_ref_t]),
    "windlass_queue_copy": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), windlass_buffer_ref_t, windlass_buffer_ref_t]),
    "windlass_queue_dispatch": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), c_void_p, POINTER(windlass_dispatch_config_t), c_size_t, POINTER(windlass_argument_t)]),
    "windlass_queue_execute": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), c_void_p, c_size_t, POINTER(windlass_buffer_ref_t)]),
    "windlass_queue_download": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), windlass_buffer_ref_t, c_void_p, c_size_t]),
    "windlass_queue_upload_blocking": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_void_p, c_size_t, windlass_buffer_ref_t, c_uint64]),
    "windlass_queue_download_blocking": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), windlass_buffer_ref_t, c_void_p, c_size_t, c_uint64]),
    "windlass_queue_host_call": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), c_uint64, windlass_host_call_callback_t, c_void_p, windlass_host_call_destroy_t]),
    "windlass_host_call_defer": (ERROR, [c_void_p, POINTER(c_void_p)]),
    "windlass_completion_complete": (ERROR, [c_void_p, c_void_p]),
    "windlass_completion_retain": (c_void_p, [c_void_p]),
    "windlass_completion_release": (None, [c_void_p]),
    "windlass_recorder_create_event": (ERROR, [c_void_p, POINTER(windlass_event_t)]),
    "windlass_recorder_signal_event": (ERROR, [c_void_p, windlass_event_t]),
    "windlass_recorder_reset_event": (ERROR, [c_void_p, windlass_event_t]),
    "windlass_recorder_wait_events": (ERROR, [c_void_p, c_size_t, POINTER(windlass_event_t)]),
    "windlass_queue_dispatch_indirect": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), c_void_p, POINTER(windlass_indirect_dispatch_config_t), c_size_t, POINTER(windlass_argument_t)]),
    "windlass_recorder_dispatch_indirect": (ERROR, [c_void_p, c_void_p, POINTER(windlass_indirect_dispatch_config_t), c_size_t, POINTER(windlass_argument_t)]),
    "windlass_pool_create": (ERROR, [c_void_p, POINTER(windlass_pool_params_t), POINTER(c_void_p)]),
    "windlass_pool_retain": (c_void_p, [c_void_p]),
    "windlass_pool_release": (None, [c_void_p]),
    "windlass_pool_statistics": (ERROR, [c_void_p, POINTER(windlass_pool_statistics_t)]),
    "windlass_pool_trim": (ERROR, [c_void_p]),
    "windlass_queue_alloca_from": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), c_void_p, POINTER(windlass_buffer_params_t), c_uint64, POINTER(c_void_p)]),
    "windlass_buffer_import_host": (ERROR, [c_void_p, POINTER(windlass_buffer_params_t), c_void_p, c_uint64, c_void_p, windlass_destroy_t, POINTER(c_void_p)]),
    "windlass_buffer_import_device_address": (ERROR, [c_void_p, POINTER(windlass_buffer_params_t), c_uint64, c_uint64, c_void_p, windlass_destroy_t, POINTER(c_void_p)]),
    "windlass_queue_import_timepoint": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), windlass_external_timepoint_t]),
    "windlass_queue_export_timepoint": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_uint64, c_uint32]),
    "windlass_buffer_export_device_address": (ERROR, [c_void_p, POINTER(c_void_p)]),
    "windlass_buffer_export_host_pointer": (ERROR, [c_void_p, POINTER(c_void_p)]),
    "windlass_export_address": (c_uint64, [c_void_p]),
    "windlass_export_host_pointer": (c_void_p, [c_void_p]),
    "windlass_export_size": (c_uint64, [c_void_p]),
    "windlass_export_retain": (c_void_p, [c_void_p]),
    "windlass_export_release": (None, [c_void_p]),
    "windlass_device_heap_count": (c_size_t, [c_void_p]),
    "windlass_device_heap": (ERROR, [c_void_p, c_size_t, POINTER(windlass_heap_t)]),
    "windlass_device_compatibility": (ERROR, [c_void_p, POINTER(windlass_buffer_params_t), c_uint64, POINTER(c_uint32)]),
    "windlass_topology_create": (ERROR, [c_size_t, POINTER(c_void_p), POINTER(c_void_p)]),
    "windlass_topology_retain": (c_void_p, [c_void_p]),
    "windlass_topology_release": (None, [c_void_p]),
    "windlass_topology_node_count": (c_size_t, [c_void_p]),
    "windlass_topology_node": (ERROR, [c_void_p, c_size_t, POINTER(windlass_topology_node_t)]),
    "windlass_topology_edge": (ERROR, [c_void_p, c_uint32, c_uint32, POINTER(windlass_topology_edge_t)]),
    "windlass_device_facts": (ERROR, [c_void_p, c_uint32, POINTER(windlass_device_facts_t)]),
    "windlass_function_occupancy": (ERROR, [c_void_p, c_uint64, c_uint32, c_uint32, POINTER(c_uint32)]),
    "windlass_function_suggested_workgroup": (ERROR, [c_void_p, c_uint64, c_uint32, POINTER(c_uint32), POINTER(c_uint32)]),
    "windlass_growable_reserve": (ERROR, [c_void_p, POINTER(windlass_buffer_params_t), c_uint64, POINTER(c_void_p)]),
    "windlass_growable_retain": (c_void_p, [c_void_p]),
    "windlass_growable_release": (None, [c_void_p]),
    "windlass_growable_size": (c_uint64, [c_void_p]),
    "windlass_growable_capacity": (c_uint64, [c_void_p]),
    "windlass_growable_granularity": (c_uint64, [c_void_p]),
    "windlass_growable_device_address": (c_uint64, [c_void_p]),
    "windlass_growable_grow_to": (ERROR, [c_void_p, c_uint64]),
    "windlass_growable_shrink_to": (ERROR, [c_void_p, c_uint64]),
    "windlass_growable_buffer": (ERROR, [c_void_p, c_uint64, c_uint64, POINTER(c_void_p)]),
    "windlass_file_open": (ERROR, [c_char_p, c_uint32, POINTER(c_void_p)]),
    "windlass_file_from_descriptor": (ERROR, [c_int, POINTER(c_void_p)]),
    "windlass_file_from_functions": (ERROR, [windlass_storage_read_t, windlass_storage_write_t, c_void_p, windlass_destroy_t, POINTER(c_void_p)]),
    "windlass_file_retain": (c_void_p, [c_void_p]),
    "windlass_file_release": (None, [c_void_p]),
    "windlass_queue_read": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), c_void_p, c_uint64, windlass_buffer_ref_t]),
    "windlass_queue_write": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), windlass_buffer_ref_t, c_void_p, c_uint64]),
    "windlass_device_profiling_begin": (ERROR, [c_void_p, POINTER(windlass_profile_options_t), windlass_profile_callback_t, c_void_p, windlass_destroy_t]),
    "windlass_device_profiling_begin_trace": (ERROR, [c_void_p, POINTER(windlass_profile_options_t), c_char_p]),
    "windlass_device_profiling_flush": (ERROR, [c_void_p]),
    "windlass_device_profiling_end": (ERROR, [c_void_p]),
    "windlass_kept_record_get": (POINTER(windlass_profile_record_t), [c_void_p]),
    "windlass_kept_record_retain": (c_void_p, [c_void_p]),
    "windlass_kept_record_release": (None, [c_void_p]),
    "windlass_element_type_name": (c_char_p, [c_uint32]),
    "windlass_element_type_size": (c_size_t, [c_uint32]),
    "windlass_element_type_parse": (ERROR, [c_char_p, POINTER(c_uint32)]),
    "windlass_device_channel_id": (ERROR, [c_void_p, POINTER(windlass_channel_id_t)]),
    "windlass_channel_create": (ERROR, [c_void_p, POINTER(windlass_channel_params_t), POINTER(c_void_p)]),
    "windlass_channel_retain": (c_void_p, [c_void_p]),
    "windlass_channel_release": (None, [c_void_p]),
    "windlass_channel_rank": (c_uint32, [c_void_p]),
    "windlass_channel_count": (c_uint32, [c_void_p]),
    "windlass_channel_split": (ERROR, [c_void_p, c_uint32, c_uint32, c_uint32, POINTER(c_void_p)]),
    "windlass_channel_sit_out": (ERROR, [c_void_p]),
    "windlass_queue_collective": (ERROR, [c_void_p, c_size_t, POINTER(windlass_point_t), c_size_t, POINTER(windlass_point_t), c_void_p, c_size_t, POINTER(windlass_collective_t)]),
    "windlass_recorder_collective": (ERROR, [c_void_p, c_void_p, c_size_t, POINTER(windlass_collective_t)]),
    "windlass_shape_byte_length": (ERROR, [c_size_t, POINTER(c_uint64), c_uint32, POINTER(c_uint64)]),
    "windlass_buffer_view_create": (ERROR, [c_void_p, c_size_t, POINTER(c_uint64), c_uint32, POINTER(c_void_p)]),
    "windlass_buffer_view_buffer": (ERROR, [c_void_p, POINTER(c_void_p)]),
    "windlass_buffer_view_element_type": (c_uint32, [c_void_p]),
    "windlass_buffer_view_rank": (c_size_t, [c_void_p]),
    "windlass_buffer_view_dimension": (ERROR, [c_void_p, c_size_t, POINTER(c_uint64)]),
    "windlass_buffer_view_retain": (c_void_p, [c_void_p]),
    "windlass_buffer_view_release": (None, [c_void_p]),
    "windlass_operation_info": (ERROR, [c_void_p, POINTER(windlass_operation_info_t)]),
    "windlass_operation_wait": (ERROR, [c_void_p, c_size_t, POINTER(c_void_p), POINTER(c_uint64)]),
    "windlass_operation_signal": (ERROR, [c_void_p, c_size_t, POINTER(c_void_p), POINTER(c_uint64)]),
    "windlass_operation_target": (ERROR, [c_void_p, POINTER(c_void_p)]),
    "windlass_operation_source": (ERROR, [c_void_p, POINTER(c_void_p)]),
    "windlass_operation_buffer": (ERROR, [c_void_p, c_size_t, POINTER(c_void_p)]),
    "windlass_operation_commands": (ERROR, [c_void_p, windlass_command_visitor_t, c_void_p]),
    "windlass_operation_forward": (ERROR, [c_void_p]),
    "windlass_operation_complete": (ERROR, [c_void_p, c_void_p]),
    "windlass_operation_transfer_on_host": (ERROR, [c_void_p]),
    "windlass_operation_retain": (c_void_p, [c_void_p]),
    "windlass_operation_release": (None, [c_void_p]),
    "windlass_answer_device": (ERROR, [c_void_p, POINTER(windlass_device_info_t)]),
    "windlass_answer_limits": (ERROR, [c_void_p, POINTER(windlass_device_limits_t)]),
    "windlass_answer_heap": (ERROR, [c_void_p, POINTER(windlass_heap_t)]),
    "windlass_answer_function": (ERROR, [c_void_p, POINTER(windlass_function_info_t), c_size_t, POINTER(windlass_parameter_t)]),
    "windlass_answer_global": (ERROR, [c_void_p, POINTER(windlass_global_info_t)]),
    "windlass_answer_symbol": (ERROR, [c_void_p, POINTER(windlass_symbol_t)]),
    "windlass_driver_register": (ERROR, [POINTER(windlass_driver_t), c_void_p]),
    "windlass_device_wrap": (ERROR, [c_void_p, POINTER(windlass_wrapper_t), c_void_p, POINTER(c_void_p)]),
    "windlass_wrapper_register": (ERROR, [c_char_p, c_char_p, POINTER(windlass_wrapper_t), c_void_p]),
    "windlass_buffer_dlpack_device": (ERROR, [c_void_p, POINTER(c_int32), POINTER(c_int32)]),
    "windlass_buffer_view_to_dlpack": (ERROR, [c_void_p, c_uint64, POINTER(c_void_p)]),
    "windlass_buffer_view_to_dlpack_unversioned": (ERROR, [c_void_p, POINTER(c_void_p)]),
    "windlass_buffer_view_from_dlpack": (ERROR, [c_void_p, c_void_p, c_void_p, windlass_destroy_t, POINTER(c_void_p)]),
    "windlass_buffer_view_from_dlpack_unversioned": (ERROR, [c_void_p, c_void_p, c_void_p, windlass_destroy_t, POINTER(c_void_p)]),
    "windlass_dlpack_capsule_functions": (ERROR, [windlass_capsule_is_valid_t, windlass_capsule_get_pointer_t]),
    "windlass_dlpack_capsule_destroy": (None, [c_void_p]),
    "windlass_inbox_create": (ERROR, [c_int, POINTER(c_void_p)]),
    "windlass_inbox_take": (c_bool, [c_void_p, POINTER(windlass_message_t)]),
    "windlass_inbox_retain": (c_void_p, [c_void_p]),
    "windlass_inbox_release": (None, [c_void_p]),
    "windlass_inbox_ticket": (ERROR, [c_void_p, c_uint64, POINTER(c_void_p)]),
    "windlass_ticket_retain": (c_void_p, [c_void_p]),
    "windlass_ticket_release": (None, [c_void_p]),
    "windlass_ticket_timepoint": (None, [c_void_p, c_void_p]),
    "windlass_ticket_observer": (None, [c_void_p, c_uint64, c_void_p]),
    "windlass_ticket_destroy": (None, [c_void_p]),
    "windlass_ticket_host_call": (ERROR, [c_void_p, c_void_p]),
    "windlass_ticket_host_call_destroy": (None, [c_void_p, c_void_p]),
    "windlass_ticket_profile": (None, [c_void_p, POINTER(windlass_profile_record_t)]),
    "windlass_replay": (ERROR, [c_void_p, c_char_p, POINTER(windlass_replayed_t)]),
    "windlass_code_format": (c_uint32, [c_void_p, c_size_t]),
    "windlass_code_format_name": (c_char_p, [c_uint32]),
    "windlass_code_size": (ERROR, [c_void_p, c_size_t, POINTER(windlass_code_options_t), POINTER(c_uint64)]),
    "windlass_code_at": (ERROR, [c_void_p, POINTER(windlass_code_options_t), POINTER(c_void_p), POINTER(c_size_t)]),
    "windlass_code_file_open": (ERROR, [c_char_p, POINTER(windlass_code_options_t), POINTER(c_void_p)]),
    "windlass_code_file_parse": (ERROR, [c_void_p, c_size_t, POINTER(windlass_code_options_t), POINTER(c_void_p)]),
    "windlass_code_file_retain": (c_void_p, [c_void_p]),
    "windlass_code_file_release": (None, [c_void_p]),
    "windlass_code_file_kind": (c_char_p, [c_void_p]),
    "windlass_code_file_problem_count": (c_size_t, [c_void_p]),
    "windlass_code_file_problem": (c_char_p, [c_void_p, c_size_t]),
    "windlass_code_file_bundle_count": (c_size_t, [c_void_p]),
    "windlass_code_file_bundle": (ERROR, [c_void_p, c_size_t, POINTER(windlass_code_bundle_t)]),
    "windlass_code_file_entry": (ERROR, [c_void_p, c_size_t, c_size_t, POINTER(windlass_code_entry_t)]),
    "windlass_code_file_select": (ERROR, [c_void_p, c_size_t, c_char_p, POINTER(windlass_code_options_t), POINTER(c_void_p)]),
    "windlass_code_selection_best": (c_bool, [c_void_p, POINTER(c_size_t)]),
    "windlass_code_selection_count": (c_size_t, [c_void_p]),
    "windlass_code_selection_verdict": (ERROR, [c_void_p, c_size_t, POINTER(windlass_code_verdict_t)]),
    "windlass_code_selection_retain": (c_void_p, [c_void_p]),
    "windlass_code_selection_release": (None, [c_void_p]),
    "windlass_code_file_extract": (ERROR, [c_void_p, c_size_t, c_size_t, POINTER(c_void_p)]),
    "windlass_code_image_retain": (c_void_p, [c_void_p]),
    "windlass_code_image_release": (None, [c_void_p]),
    "windlass_code_image_data": (c_void_p, [c_void_p]),
    "windlass_code_image_size": (c_size_t, [c_void_p]),
    "windlass_code_image_describe": (ERROR, [c_void_p, POINTER(c_char_p), POINTER(c_size_t), POINTER(c_size_t), POINTER(c_uint32)]),
    "windlass_code_image_validate": (ERROR, [c_void_p]),
    "windlass_code_image_kernel": (ERROR, [c_void_p, c_size_t, POINTER(windlass_code_kernel_t)]),
    "windlass_code_image_argument": (ERROR, [c_void_p, c_size_t, c_size_t, POINTER(windlass_code_argument_t)]),
    "windlass_code_image_rejected": (ERROR, [c_void_p, c_size_t, POINTER(windlass_code_rejected_t)]),
}

CALLBACKS: List[Any] = [
    windlass_capsule_get_pointer_t,
    windlass_capsule_is_valid_t,
    windlass_command_visitor_t,
    windlass_destroy_t,
    windlass_host_call_callback_t,
    windlass_host_call_destroy_t,
    windlass_observer_callback_t,
    windlass_profile_callback_t,
    windlass_storage_read_t,
    windlass_storage_write_t,
    windlass_timepoint_callback_t,
]
