// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory, handles and kernels of HIP, created anew for each case.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::ptr;

use anyhow::{Result, ensure};
use windlass_hip_sys::Api;
use windlass_hip_sys::bindings::*;

use crate::compiled::Images;
use crate::fields;
use crate::nodes::Full;

/// The size of each memory in bytes.
pub(crate) const SIZE: usize = 8192;

/// The setting of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    Plain,
    /// While the stream of the case is captured, in a mode.
    Capture(hipStreamCaptureMode),
    /// While the stream is captured, after a call that invalidates the capture.
    Spoilt,
    /// With another current device than the one of all objects.
    Other,
    /// After the device was reset.
    Reset,
    /// With the second device's context pushed above the first's.
    Pushed,
    /// After the same call.
    Twice,
    /// After another call that failed.
    Failed,
}

impl Setting {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Capture(hipStreamCaptureMode::hipStreamCaptureModeGlobal) => "in a global capture",
            Self::Capture(hipStreamCaptureMode::hipStreamCaptureModeThreadLocal) => "in a thread's capture",
            Self::Capture(_) => "in a relaxed capture",
            Self::Spoilt => "in a spoilt capture",
            Self::Other => "from another device",
            Self::Reset => "after a reset",
            Self::Pushed => "with a context pushed",
            Self::Twice => "twice",
            Self::Failed => "after an error",
        }
    }

    /// The settings for a word of the table.
    pub(crate) fn named(word: &str) -> Option<&'static [Self]> {
        Some(match word {
            "capture" => &[
                Self::Capture(hipStreamCaptureMode::hipStreamCaptureModeGlobal),
                Self::Capture(hipStreamCaptureMode::hipStreamCaptureModeThreadLocal),
                Self::Capture(hipStreamCaptureMode::hipStreamCaptureModeRelaxed),
                Self::Spoilt,
            ],
            "relaxed" => &[Self::Capture(hipStreamCaptureMode::hipStreamCaptureModeRelaxed)],
            "other" => &[Self::Other],
            "reset" => &[Self::Reset],
            "pushed" => &[Self::Pushed],
            "twice" => &[Self::Twice],
            "failed" => &[Self::Failed],
            _ => return None,
        })
    }

    pub(crate) fn captures(self) -> bool {
        matches!(self, Self::Capture(_) | Self::Spoilt)
    }
}

/// Calls HIP for the preparation of a case; a failure becomes the case's answer.
macro_rules! need {
    ($lab:ident.$name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: pointers are to memory that lives as long as the process, and handles are alive.
        let status = unsafe { $lab.hip.$name($($argument),*) };
        ensure!(status == hipError_t::hipSuccess, "{} answers {}", stringify!($name), status.0);
    }};
}
pub(crate) use need;

pub(crate) struct Lab {
    pub(crate) hip: Api,
    /// The device's code objects.
    pub(crate) images: Images,
    /// The symbols of a registered kernel and a registered variable.
    pub(crate) symbols: (u64, u64),
    /// The stream, the graph and the output memory of the case.
    stream: Cell<hipStream_t>,
    graph: Cell<(hipGraph_t, hipGraphNode_t)>,
    pub(crate) full: Cell<Option<Full>>,
    /// A graph of one node, and the node.
    pub(crate) alone: Cell<Option<(u64, u64)>>,
    out: Cell<u64>,
    /// All memory that HIP knows of, which outlives all cases.
    kept: RefCell<Vec<Box<[u64]>>>,
}

impl Lab {
    pub(crate) fn new(hip: Api) -> Result<Self> {
        let mut lab = Self {
            hip,
            images: Images { kernels: Vec::new(), variables: Vec::new() },
            symbols: (0, 0),
            stream: Cell::new(ptr::null_mut()),
            graph: Cell::new((ptr::null_mut(), ptr::null_mut())),
            full: Cell::new(None),
            alone: Cell::new(None),
            out: Cell::new(0),
            kept: RefCell::default(),
        };
        let mut devices = 0;
        need!(lab.hipGetDeviceCount(&mut devices));
        ensure!(devices == 2, "two devices are needed, there are {devices}");
        lab.images = lab.fitting_images()?;
        lab.symbols = lab.register_all()?;
        Ok(lab)
    }

    fn fitting_images(&self) -> Result<Images> {
        let mut properties = Box::<hipDeviceProp_tR0000>::new_uninit();
        need!(self.hipGetDeviceProperties(properties.as_mut_ptr(), 0));
        // SAFETY: HIP filled it; every bit pattern is valid for its fields.
        let name = unsafe { properties.assume_init() }.gcnArchName;
        let name: Vec<u8> = name.iter().map(|byte| byte.to_ne_bytes()[0]).collect();
        Images::of(&CStr::from_bytes_until_nul(&name)?.to_str()?.parse()?)
    }

    /// Drops the objects of the previous case.
    pub(crate) fn begin(&self) {
        self.stream.set(ptr::null_mut());
        self.graph.set((ptr::null_mut(), ptr::null_mut()));
        self.full.set(None);
        self.alone.set(None);
        self.out.set(0);
        // Contexts that earlier cases pushed.
        // SAFETY: no pointers.
        while unsafe { self.hip.hipCtxPopCurrent(ptr::null_mut()) } == hipError_t::hipSuccess {}
    }

    /// Whether a case left state that affects others: a capture, a range, an error.
    pub(crate) fn is_spoilt(&self) -> bool {
        let memory = || {
            let taken = self.take()?;
            need!(self.hipFree(taken as *mut c_void));
            let registered = self.memory("registered", "good")?;
            need!(self.hipHostUnregister(registered as *mut c_void));
            need!(self.hipEventRecord(self.new_event()? as hipEvent_t, ptr::null_mut()));
            need!(self.hipDeviceSynchronize());
            self.on_other(|lab| {
                // The case's kernel may have written to it.
                need!(lab.hipDeviceSynchronize());
                lab.take()
            })
        };
        memory().is_err()
    }

    pub(crate) fn keep_words(&self, words: &[u64]) -> u64 {
        let mut kept: Box<[u64]> = words.into();
        let address = kept.as_mut_ptr() as u64;
        self.kept.borrow_mut().push(kept);
        address
    }

    pub(crate) fn keep(&self, bytes: &[u8]) -> u64 {
        let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        self.keep_words(&bytes.chunks(8).map(word).collect::<Vec<_>>())
    }

    pub(crate) fn keep_value<T: Copy>(&self, value: T) -> u64 {
        let address = self.keep_words(&vec![0; size_of::<T>().div_ceil(8)]);
        // SAFETY: the words are as long as the value, or a little longer, and aligned as HIP's structures are.
        unsafe { (address as *mut T).write(value) };
        address
    }

    /// Memory for HIP's outputs. Only the first output of a call is compared.
    pub(crate) fn out(&self) -> u64 {
        let address = self.keep(&[0xa5; SIZE]);
        if self.out.get() == 0 {
            self.out.set(address);
        }
        address
    }

    /// The first output of HIP; for properties, the field `value`.
    pub(crate) fn answer(&self, kind: &str, value: &str) -> Option<String> {
        const UNTOUCHED: u64 = 0xa5a5_a5a5_a5a5_a5a5;
        if self.out.get() == 0 || kind == "out" {
            return None;
        }
        // SAFETY: memory that is kept, of more than eight bytes.
        let word = unsafe { (self.out.get() as *const u64).read() };
        Some(match kind {
            _ if word == UNTOUCHED => "untouched".to_owned(),
            "pointer" if word == 0 => "null".to_owned(),
            "pointer" => "set".to_owned(),
            // SAFETY: the memory is kept, and larger than the properties, for whose fields every bit pattern is valid.
            "new-field" => unsafe { fields::new(&*(self.out.get() as *const _), value) }?,
            // SAFETY: as above.
            "old-field" => unsafe { fields::old(&*(self.out.get() as *const _), value) }?,
            "int" => (word as u32).cast_signed().to_string(),
            _ => word.to_string(),
        })
    }

    /// Runs a function with the second device current.
    pub(crate) fn on_other(&self, make: impl Fn(&Self) -> Result<u64>) -> Result<u64> {
        need!(self.hipSetDevice(1));
        let made = make(self);
        need!(self.hipSetDevice(0));
        made
    }

    fn take(&self) -> Result<u64> {
        let mut memory = ptr::null_mut();
        need!(self.hipMalloc(&mut memory, SIZE));
        Ok(memory as u64)
    }

    pub(crate) fn memory(&self, kind: &str, value: &str) -> Result<u64> {
        // "device", or "good" of the kind "device".
        let sort = if ["device", "pinned", "plain", "registered", "managed"].contains(&value) {
            value
        } else {
            kind
        };
        let mut memory: *mut c_void = ptr::null_mut();
        match sort {
            "pinned" => need!(self.hipHostMalloc(&mut memory, SIZE, 0)),
            "pooled" => need!(self.hipMallocAsync(&mut memory, SIZE, self.stream()? as hipStream_t)),
            "managed" => need!(self.hipMallocManaged(&mut memory, SIZE, 1)),
            "device" if value == "other" => memory = self.on_other(Self::take)? as *mut c_void,
            "device" => memory = self.take()? as *mut c_void,
            _ => {
                // Pages of its own, so that a registration covers nothing else.
                let room = self.keep(&[1; 3 * SIZE]);
                memory = room.next_multiple_of(SIZE as u64) as *mut c_void;
                if sort == "registered" {
                    need!(self.hipHostRegister(memory, SIZE, 0));
                }
            }
        }
        match (sort, value) {
            ("pooled", "freed") => {
                let stream = self.stream()? as hipStream_t;
                need!(self.hipFreeAsync(memory, stream));
                need!(self.hipStreamSynchronize(stream));
            }
            ("pinned", "freed") => need!(self.hipHostFree(memory)),
            (_, "freed") => need!(self.hipFree(memory)),
            (_, "unregistered") => need!(self.hipHostUnregister(memory)),
            _ => {}
        }
        let offset = match value {
            "inside" => 64,
            "odd" => 1,
            "end" => SIZE as u64,
            _ => 0,
        };
        Ok(memory as u64 + offset)
    }

    pub(crate) fn new_stream(&self) -> Result<u64> {
        let mut stream = ptr::null_mut();
        need!(self.hipStreamCreate(&mut stream));
        Ok(stream as u64)
    }

    /// The stream of the case.
    pub(crate) fn stream(&self) -> Result<u64> {
        if self.stream.get().is_null() {
            self.stream.set(self.new_stream()? as hipStream_t);
        }
        Ok(self.stream.get() as u64)
    }

    pub(crate) fn destroyed_stream(&self) -> Result<u64> {
        let stream = self.new_stream()?;
        need!(self.hipStreamDestroy(stream as hipStream_t));
        Ok(stream)
    }

    pub(crate) fn new_event(&self) -> Result<u64> {
        let mut event = ptr::null_mut();
        need!(self.hipEventCreate(&mut event));
        Ok(event as u64)
    }

    pub(crate) fn destroyed_event(&self) -> Result<u64> {
        let event = self.new_event()?;
        need!(self.hipEventDestroy(event as hipEvent_t));
        Ok(event)
    }

    pub(crate) fn recorded_event(&self) -> Result<u64> {
        let event = self.new_event()?;
        need!(self.hipEventRecord(event as hipEvent_t, ptr::null_mut()));
        need!(self.hipEventSynchronize(event as hipEvent_t));
        Ok(event)
    }

    pub(crate) fn code(&self) -> u64 {
        // A reader may search for the end of a bundle.
        self.keep(&[&self.images.kernels[..], &[0; SIZE]].concat())
    }

    /// A module with the variable `counter`.
    pub(crate) fn variables(&self) -> Result<u64> {
        let mut module = ptr::null_mut();
        need!(self.hipModuleLoadData(&mut module, self.keep(&self.images.variables) as *const c_void));
        Ok(module as u64)
    }

    pub(crate) fn new_module(&self) -> Result<u64> {
        let mut module = ptr::null_mut();
        need!(self.hipModuleLoadData(&mut module, self.code() as *const c_void));
        Ok(module as u64)
    }

    pub(crate) fn new_function(&self, module: u64) -> Result<u64> {
        let mut function = ptr::null_mut();
        need!(self.hipModuleGetFunction(&mut function, module as hipModule_t, c"vector_add".as_ptr()));
        Ok(function as u64)
    }

    /// Handles of an unloaded module.
    pub(crate) fn unloaded(&self, find: impl Fn(&Self, u64) -> Result<u64>) -> Result<u64> {
        let module = self.new_module()?;
        let found = find(self, module)?;
        need!(self.hipModuleUnload(module as hipModule_t));
        Ok(found)
    }

    /// A graph with one empty node.
    pub(crate) fn new_graph(&self) -> Result<(u64, u64)> {
        let (mut graph, mut node) = (ptr::null_mut(), ptr::null_mut());
        need!(self.hipGraphCreate(&mut graph, 0));
        need!(self.hipGraphAddEmptyNode(&mut node, graph, ptr::null(), 0));
        Ok((graph as u64, node as u64))
    }

    /// The graph of the case and its node.
    pub(crate) fn graph(&self) -> Result<(u64, u64)> {
        if self.graph.get().0.is_null() {
            let (graph, node) = self.new_graph()?;
            self.graph.set((graph as hipGraph_t, node as hipGraphNode_t));
        }
        let (graph, node) = self.graph.get();
        Ok((graph as u64, node as u64))
    }

    pub(crate) fn destroyed_graph(&self) -> Result<u64> {
        let (graph, _) = self.new_graph()?;
        need!(self.hipGraphDestroy(graph as hipGraph_t));
        Ok(graph)
    }

    pub(crate) fn destroyed_node(&self) -> Result<u64> {
        let (_, node) = self.new_graph()?;
        need!(self.hipGraphDestroyNode(node as hipGraphNode_t));
        Ok(node)
    }

    pub(crate) fn new_exec(&self) -> Result<u64> {
        let mut exec = ptr::null_mut();
        let (graph, _) = self.graph()?;
        need!(self.hipGraphInstantiate(&mut exec, graph as hipGraph_t, ptr::null_mut(), ptr::null_mut(), 0));
        Ok(exec as u64)
    }

    pub(crate) fn destroyed_exec(&self) -> Result<u64> {
        let exec = self.new_exec()?;
        need!(self.hipGraphExecDestroy(exec as hipGraphExec_t));
        Ok(exec)
    }

    pub(crate) fn new_pool(&self) -> Result<u64> {
        let mut pool = ptr::null_mut();
        let properties = self.value("properties", "good")? as *const hipMemPoolProps;
        need!(self.hipMemPoolCreate(&mut pool, properties));
        Ok(pool as u64)
    }

    pub(crate) fn destroyed_pool(&self) -> Result<u64> {
        let pool = self.new_pool()?;
        need!(self.hipMemPoolDestroy(pool as hipMemPool_t));
        Ok(pool)
    }

    pub(crate) fn new_context(&self) -> Result<u64> {
        let mut context = ptr::null_mut();
        need!(self.hipCtxCreate(&mut context, 0, 0));
        Ok(context as u64)
    }

    pub(crate) fn destroyed_context(&self) -> Result<u64> {
        let context = self.new_context()?;
        need!(self.hipCtxDestroy(context as hipCtx_t));
        Ok(context)
    }

    pub(crate) fn file(&self, name: &str, content: &[u8]) -> Result<u64> {
        let path = std::env::temp_dir().join(format!("windlass-differences-{}-{name}", std::process::id()));
        std::fs::write(&path, content)?;
        let path = CString::new(path.into_os_string().into_encoded_bytes())?;
        Ok(self.keep(path.as_bytes_with_nul()))
    }

    /// A place for the text of a graph.
    pub(crate) fn dot_path(&self) -> Result<u64> {
        let path = std::env::temp_dir().join(format!("windlass-differences-{}.dot", std::process::id()));
        let path = CString::new(path.into_os_string().into_encoded_bytes())?;
        Ok(self.keep(path.as_bytes_with_nul()))
    }

    pub(crate) fn bus(&self) -> Result<u64> {
        let name = self.keep(&[0; 64]);
        need!(self.hipDeviceGetPCIBusId(name as *mut c_char, 64, 0));
        Ok(name)
    }

    /// The arguments of the kernel `vector_add`, for 64 numbers.
    fn arguments_words(&self) -> Result<[u64; 4]> {
        let memory = self.take()?;
        Ok([memory, memory + 256, memory + 512, 64])
    }

    pub(crate) fn arguments(&self) -> Result<u64> {
        let addresses = self.arguments_words()?.map(|word| self.keep_words(&[word]));
        Ok(self.keep_words(&addresses))
    }

    pub(crate) fn extra(&self) -> Result<u64> {
        let block = self.keep_words(&self.arguments_words()?);
        let size = self.keep_words(&[28]);
        Ok(self.keep_words(&[1, block, 2, size, 3]))
    }
}
