// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of each kind of parameter by name, the right one first.

use std::ffi::CStr;
use std::ptr;

use anyhow::{Result, bail, ensure};
use windlass_hip_sys::bindings::*;

use crate::any_node::ANY;
use crate::fields;
use crate::lab::{Lab, SIZE, need};
use crate::nodes::{ALONE, ALONE_EXECS, NODES};

/// A released handle, one that never existed, and one of another kind.
const HANDLE: &[&str] = &["good", "null", "destroyed", "wild"];

const KINDS: &[(&str, &[&str])] = &[
    // Outputs of HIP: not compared, an int, a size, a pointer, a field of properties in the layout of HIP 6 and in the
    // older one.
    ("out", &["good", "null"]),
    ("int", &["good", "null"]),
    ("long", &["good", "null"]),
    ("pointer", &["good", "null"]),
    ("new-field", fields::NEW),
    ("old-field", fields::OLD),
    (
        "device",
        &[
            "good",
            "null",
            "freed",
            "inside",
            "odd",
            "end",
            "other",
            "plain",
            "pinned",
            "registered",
            "managed",
            "wild",
        ],
    ),
    ("pooled", &["good", "null", "freed", "inside", "wild"]),
    ("pinned", &["good", "null", "freed", "inside", "device", "plain", "registered", "wild"]),
    ("plain", &["good", "null", "device", "pinned", "registered"]),
    ("registered", &["good", "null", "unregistered", "inside", "plain", "device", "pinned", "wild"]),
    ("managed", &["good", "null", "freed", "inside", "device", "plain", "pinned", "wild"]),
    ("stream", &["good", "null", "destroyed", "wild", "legacy", "thread", "other", "event"]),
    ("event", &["good", "null", "destroyed", "wild", "recorded", "other", "stream"]),
    ("recorded", &["good", "null", "destroyed", "unrecorded", "other"]),
    ("module", HANDLE),
    ("function", &["good", "null", "destroyed", "wild"]),
    ("symbol", &["good", "null", "plain", "variable", "handle"]),
    ("variable-symbol", &["good", "null", "plain", "kernel"]),
    ("variables", &["good"]),
    ("counter", &["good", "null", "empty", "absent", "kernel"]),
    ("full", &["good"]),
    ("full-exec", &["good"]),
    ("graph", HANDLE),
    ("node", &["good", "null", "destroyed", "wild", "foreign"]),
    ("exec", HANDLE),
    ("pool", HANDLE),
    ("context", HANDLE),
    ("code", &["good", "null", "junk", "empty"]),
    ("path", &["good", "null", "empty", "absent", "junk", "nothing", "folder"]),
    ("kernel", &["good", "null", "empty", "absent"]),
    ("variable", &["absent", "null", "empty"]),
    ("entry", &["good", "null", "empty", "absent", "properties"]),
    ("bus", &["good", "null", "empty", "junk"]),
    ("callback", &["good", "null"]),
    ("arguments", &["good", "null"]),
    ("extra", &["good", "null", "junk"]),
    ("none", &["null"]),
    ("nodes", &["good", "null", "null-inside"]),
    ("copy3d", &["good", "null", "no-extent", "no-pointer", "kind", "wide"]),
    (
        "box",
        &[
            "good",
            "null",
            "no-extent",
            "no-pointer",
            "unified",
            "kind",
            "array",
            "wide",
            "far",
            "contradiction",
        ],
    ),
    ("kernel-node", &["good", "null", "no-function", "no-block"]),
    ("memset-node", &["good", "null", "no-pointer", "element", "no-width", "no-height"]),
    ("driver-memset", &["good", "null", "no-pointer", "element", "no-width", "no-height"]),
    ("host-node", &["good", "null", "no-function"]),
    ("alloc-node", &["good", "null", "no-size", "type", "location", "device"]),
    ("given", &["good", "null", "inside", "device"]),
    ("object", &["good", "null"]),
    ("instantiation", &["good", "null", "flags"]),
    ("batch", &["good", "null"]),
    ("shared-event", &["good", "null", "event"]),
    ("any-node", ANY),
    ("launch-any", &["launch", "null", "launch:no-function", "launch:no-block", "negative"]),
    ("copy-any", &["copy", "null", "copy:no-extent", "copy:no-pointer", "copy:kind", "copy:wide"]),
    ("fill-any", &["fill", "null", "fill:no-pointer", "fill:element", "fill:no-width", "fill:no-height"]),
    ("call-any", &["call", "null", "call:no-function", "call:data"]),
    ("record-any", &["record", "null", "record:null"]),
    ("child-any", &["child", "null", "child:null"]),
    ("clone", &["good", "null", "destroyed", "wild", "other", "original"]),
    ("batch-parameters", &["good", "null", "no-context", "no-list", "no-count", "many", "flags"]),
    ("dot-path", &["good", "null", "absent"]),
    ("reserved", &["good", "null", "freed", "inside", "odd", "device", "plain", "wild"]),
    ("mapped", &["good", "null", "unmapped", "reserved", "inside", "device", "plain", "wild"]),
    ("made", &["good", "null", "released", "wild"]),
    ("memory-properties", &["good", "null", "type", "location", "device", "shared"]),
    ("range-data", &["good", "null", "null-inside"]),
    ("range-sizes", &["good", "null", "wrong"]),
    ("range-attributes", &["good", "null", "wrong"]),
    ("properties", &["good", "null", "type", "location", "device"]),
    ("access", &["good", "null", "device", "flags", "none", "read", "write", "other", "other:none"]),
    ("location", &["good", "null", "device"]),
    ("mode", &["good", "null", "unknown"]),
    ("units", &["good", "all", "beyond"]),
    ("zero", &["good", "null", "one"]),
];

/// The values of a kind.
pub(crate) fn of(kind: &str) -> Vec<String> {
    match KINDS.iter().find(|(name, _)| *name == kind) {
        Some((_, values)) => values.iter().map(|value| (*value).to_owned()).collect(),
        None if NODES.contains(&kind) || ALONE.contains(&kind) || ALONE_EXECS.contains(&kind) => {
            vec!["good".to_owned()]
        }
        None => kind.split('|').map(str::to_owned).collect(),
    }
}

/// A number in the table's notation.
fn number(text: &str) -> Option<u64> {
    match text {
        "huge" => Some(1 << 40),
        "max" => Some(u64::MAX),
        _ => match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse::<i64>().ok().map(i64::cast_unsigned),
        },
    }
}

fn text(text: &'static CStr) -> u64 {
    text.as_ptr() as u64
}

unsafe extern "C" fn host_function(_: *mut c_void) {}

impl Lab {
    /// Makes the value for the parameter's register.
    pub(crate) fn value(&self, kind: &str, value: &str) -> Result<u64> {
        Ok(match (kind, value) {
            (_, "null") => 0,
            (_, "wild") => match kind {
                "device" | "pooled" | "pinned" | "registered" | "managed" | "reserved" | "mapped" => 0x10,
                _ => self.keep(&[0; SIZE]),
            },
            ("out" | "int" | "long" | "pointer" | "new-field" | "old-field", _) => self.out(),
            ("device" | "pooled" | "pinned" | "plain" | "registered" | "managed", _) => {
                self.memory(kind, value)?
            }
            ("stream", "good") => self.stream()?,
            ("stream", "legacy") => 1,
            ("stream", "thread") => 2,
            ("stream", "destroyed") => self.destroyed_stream()?,
            ("stream", "other") => self.on_other(Self::new_stream)?,
            ("stream", "event") | ("event", "good") | ("recorded", "unrecorded") => self.new_event()?,
            ("event", "stream") => self.new_stream()?,
            ("event" | "recorded", "destroyed") => self.destroyed_event()?,
            ("event" | "recorded", "other") => self.on_other(Self::new_event)?,
            ("event", "recorded") | ("recorded", _) => self.recorded_event()?,
            ("module", "good") => self.new_module()?,
            ("module", _) => self.unloaded(|_, module| Ok(module))?,
            ("function", "good") => self.new_function(self.new_module()?)?,
            ("function", _) => self.unloaded(Self::new_function)?,
            ("symbol", "good") | ("variable-symbol", "kernel") => self.symbols.0,
            ("symbol", "variable") | ("variable-symbol", "good") => self.symbols.1,
            ("symbol", "handle") => self.new_function(self.new_module()?)?,
            ("symbol" | "variable-symbol", _) => self.keep(&[7; 64]),
            ("variables", _) => self.variables()?,
            ("full", _) => self.full()?.graph as u64,
            ("full-exec", _) => self.new_full_exec()?,
            (node, _) if NODES.contains(&node) => self.full()?.node(node),
            (node, _) if ALONE.contains(&node) => self.alone(node)?.1,
            (exec, _) if ALONE_EXECS.contains(&exec) => self.new_alone_exec(exec)?,
            ("batch-parameters", _) => self.batch_parameters(value)?,
            (
                "any-node" | "launch-any" | "copy-any" | "fill-any" | "call-any" | "record-any" | "child-any",
                _,
            ) => self.any_node(value)?,
            ("clone", "original") => self.graph()?.0,
            ("clone", "other") => self.clone_of(self.new_graph()?.0)?,
            ("clone", "destroyed") => self.destroyed_graph()?,
            ("clone", _) => self.clone_of(self.graph()?.0)?,
            ("dot-path", "good") => self.dot_path()?,
            ("dot-path", _) => text(c"/nowhere/at/all.dot"),
            ("reserved", _) => self.reserved(value)?,
            ("mapped", _) => self.mapped(value)?,
            ("made", _) => self.made(value)?,
            ("memory-properties", _) => self.memory_properties(value),
            ("range-data", "good") => self.keep_words(&[self.out(), self.out()]),
            ("range-data", _) => self.keep_words(&[self.out(), 0]),
            ("range-sizes", _) => self.keep_words(&[4, if value == "good" { 4 } else { 3 }]),
            ("range-attributes", _) => self.keep_words(&[1 | if value == "good" { 2 } else { 99 } << 32]),
            ("graph", "good") => self.graph()?.0,
            ("graph", _) => self.destroyed_graph()?,
            ("node", "good") => self.graph()?.1,
            ("node", "foreign") => self.new_graph()?.1,
            ("node", _) => self.destroyed_node()?,
            ("exec", "good") => self.new_exec()?,
            ("exec", _) => self.destroyed_exec()?,
            ("pool", "good") => self.new_pool()?,
            ("pool", _) => self.destroyed_pool()?,
            ("context", "good") => self.new_context()?,
            ("context", _) => self.destroyed_context()?,
            ("code", "good") => self.code(),
            ("code" | "bus", "junk") => {
                self.keep(&[b'x'; 64].into_iter().chain([0; SIZE]).collect::<Vec<_>>())
            }
            ("code", _) => self.keep(&[0; SIZE]),
            ("path", "good") => self.file("code", &self.images.kernels)?,
            ("path", "junk") => self.file("junk", b"junk")?,
            ("path", "nothing") => self.file("nothing", b"")?,
            ("path", "folder") => text(c"/"),
            (_, "empty") => text(c""),
            ("path", _) => text(c"/nowhere/at/all.co"),
            ("kernel", "good") => text(c"vector_add"),
            ("counter", "good") => text(c"counter"),
            ("counter", "kernel") => text(c"read_counter"),
            ("entry", "good") => text(c"hipMalloc"),
            ("entry", "properties") => text(c"hipGetDeviceProperties"),
            ("kernel" | "variable" | "counter" | "entry", _) => text(c"there_is_no_such_name"),
            ("bus", _) => self.bus()?,
            ("callback", _) => host_function as *const () as u64,
            ("arguments", _) => self.arguments()?,
            ("extra", "good") => self.extra()?,
            ("extra", _) => self.keep_words(&[9, 9, 9, 9]),
            ("nodes", "good") => self.keep_words(&[self.graph()?.1]),
            ("nodes", _) => self.keep_words(&[0]),
            ("copy3d", _) => self.copy(value)?,
            ("box", _) => self.driver_copy(value)?,
            ("kernel-node", _) => self.kernel_node(value)?,
            ("driver-memset", _) => self.driver_memset(value)?,
            ("memset-node", _) => self.memset_node(value)?,
            ("host-node", _) => {
                let function: hipHostFn_t = (value == "good").then_some(host_function);
                self.keep_value(hipHostNodeParams { fn_: function, userData: ptr::null_mut() })
            }
            ("alloc-node", _) => self.alloc_node(value)?,
            ("given", "good") => self.given()?,
            ("given", "inside") => self.given()? + 64,
            ("given", _) => self.memory("device", "good")?,
            ("object", _) => self.new_object()?,
            // The node that failed, the flags, the result, and the stream of an upload.
            ("instantiation", _) => self.keep_words(&[0, u64::from(value == "flags") * 3, 0, self.stream()?]),
            ("batch", _) => self.batch()?,
            ("shared-event", "good") => self.new_shared_event()?,
            ("shared-event", _) => self.new_event()?,
            ("properties", _) => self.pool_properties(value),
            ("access", _) => self.access(value),
            ("location", _) => self.keep_words(&[1 | if value == "good" { 0 } else { 77 << 32 }]),
            ("zero", _) => self.keep_words(&[u64::from(value == "one"), 0, 0, 0, 0, 0, 0, 0]),
            ("units", value) => self.keep_words(&match value {
                "good" => [1, 0, 0, 0, 0],
                "all" => [u64::MAX; 5],
                _ => [0, 0, 0, 0, 1 << 63],
            }),
            ("mode", _) => self.keep_words(&[if value == "good" { 2 } else { 9 }]),
            (_, value) => match number(value) {
                Some(number) => number,
                None => bail!("{kind} has no value {value}"),
            },
        })
    }

    pub(crate) fn copy(&self, value: &str) -> Result<u64> {
        // SAFETY: zeroes are null pointers and numbers.
        let mut copy: hipMemcpy3DParms = unsafe { std::mem::zeroed() };
        copy.srcPtr = hipPitchedPtr {
            ptr: self.memory("plain", "good")? as *mut c_void,
            pitch: 64,
            xsize: 64,
            ysize: 4,
        };
        copy.dstPtr = hipPitchedPtr {
            ptr: self.memory("device", "good")? as *mut c_void,
            pitch: 64,
            xsize: 64,
            ysize: 4,
        };
        copy.extent = hipExtent { width: 32, height: 4, depth: 2 };
        copy.kind = hipMemcpyKind::hipMemcpyHostToDevice;
        match value {
            "no-extent" => copy.extent = hipExtent { width: 0, height: 0, depth: 0 },
            "no-pointer" => copy.dstPtr.ptr = ptr::null_mut(),
            "kind" => copy.kind = hipMemcpyKind(9),
            "wide" => copy.extent.width = 65,
            _ => {}
        }
        Ok(self.keep_value(copy))
    }

    /// The numbers of `hipMemoryType` for the host, devices, arrays and unified memory, which HIP 6 changed.
    fn memory_types(&self) -> Result<[u32; 4]> {
        let mut version = 0;
        need!(self.hipRuntimeGetVersion(&mut version));
        Ok(if version < 60_000_000 { [0, 1, 2, 3] } else { [1, 2, 10, 11] })
    }

    /// The same copy in the driver API's structure.
    fn driver_copy(&self, value: &str) -> Result<u64> {
        // SAFETY: zeroes are null pointers and numbers.
        let mut copy: HIP_MEMCPY3D = unsafe { std::mem::zeroed() };
        let [host, device, array, unified] = self.memory_types()?.map(hipMemoryType);
        copy.srcMemoryType = host;
        copy.srcHost = self.memory("plain", "good")? as *const c_void;
        (copy.srcPitch, copy.srcHeight) = (64, 4);
        copy.dstMemoryType = device;
        copy.dstDevice = self.memory("device", "good")? as *mut c_void;
        (copy.dstPitch, copy.dstHeight) = (64, 4);
        (copy.WidthInBytes, copy.Height, copy.Depth) = (32, 4, 2);
        match value {
            "no-extent" => copy.Depth = 0,
            "no-pointer" => copy.dstDevice = ptr::null_mut(),
            "unified" => copy.dstMemoryType = unified,
            "kind" => copy.dstMemoryType = hipMemoryType(99),
            "array" => copy.dstMemoryType = array,
            "wide" => copy.WidthInBytes = 65,
            "far" => copy.dstZ = 1000,
            // Device memory in place of host memory.
            "contradiction" => copy.srcHost = copy.dstDevice,
            _ => {}
        }
        Ok(self.keep_value(copy))
    }

    pub(crate) fn kernel_node(&self, value: &str) -> Result<u64> {
        let one = dim3 { x: 1, y: 1, z: 1 };
        let mut node = hipKernelNodeParams {
            blockDim: one,
            gridDim: one,
            extra: ptr::null_mut(),
            func: self.new_function(self.new_module()?)? as *mut c_void,
            kernelParams: self.arguments()? as *mut *mut c_void,
            sharedMemBytes: 0,
        };
        match value {
            "no-function" => node.func = ptr::null_mut(),
            "no-block" => node.blockDim.x = 0,
            _ => {}
        }
        Ok(self.keep_value(node))
    }

    pub(crate) fn memset_node(&self, value: &str) -> Result<u64> {
        let dst = self.memory("device", "good")? as *mut c_void;
        let mut node = hipMemsetParams { dst, elementSize: 4, height: 1, pitch: 64, value: 5, width: 8 };
        match value {
            "no-pointer" => node.dst = ptr::null_mut(),
            "element" => node.elementSize = 3,
            "no-width" => node.width = 0,
            "no-height" => node.height = 0,
            _ => {}
        }
        Ok(self.keep_value(node))
    }

    /// `HIP_MEMSET_NODE_PARAMS`, the driver API's structure of HIP 6.
    fn driver_memset(&self, value: &str) -> Result<u64> {
        let dst = if value == "no-pointer" { 0 } else { self.memory("device", "good")? };
        let size = if value == "element" { 3 } else { 4 };
        let width = if value == "no-width" { 0 } else { 8 };
        let height = u64::from(value != "no-height");
        Ok(self.keep_words(&[dst, 64, 5 | size << 32, width, height]))
    }

    fn pool_properties(&self, value: &str) -> u64 {
        // SAFETY: zeroes are null pointers and numbers.
        let mut properties: hipMemPoolProps = unsafe { std::mem::zeroed() };
        properties.allocType.0 = if value == "type" { 7 } else { 1 };
        properties.location.type_.0 = if value == "location" { 7 } else { 1 };
        properties.location.id = if value == "device" { 77 } else { 0 };
        self.keep_value(properties)
    }

    fn access(&self, value: &str) -> u64 {
        // SAFETY: zeroes are numbers.
        let mut access: hipMemAccessDesc = unsafe { std::mem::zeroed() };
        access.location.type_.0 = 1;
        access.location.id = match value {
            "device" => 77,
            "other" | "other:none" => 1,
            _ => 0,
        };
        access.flags.0 = match value {
            "flags" => 7,
            "none" | "other:none" => 0,
            "read" => 1,
            "write" => 2,
            _ => 3,
        };
        self.keep_value(access)
    }
}
