// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions for the thread's own stream, which programs that were built for it call. A capture of that stream tells what
//! they queue there.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::library;
use windlass_hip_sys::bindings::*;
use windlass_hip_sys::{Api, Source, pfn};

const OK: hipError_t = hipError_t::hipSuccess;
/// No stream, the null stream by its name, and the thread's own by its name.
const PLACES: [usize; 3] = [0, 1, 2];

/// The library's table, and its functions that have no place there.
struct Library {
    api: Api,
    own: libloading::Library,
    /// The tests share the process's machine, and a capture forbids work on the null stream to all of them.
    _alone: MutexGuard<'static, ()>,
}

impl Library {
    fn load() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the library is the one of this package.
        unsafe {
            Self {
                api: Api::load(&Source::Library(library())).unwrap(),
                own: libloading::Library::new(library()).unwrap(),
                _alone,
            }
        }
    }

    /// A function with the signature of the one without `_spt`.
    fn get<T: Copy>(&self, name: &str) -> T {
        // SAFETY: the tests name the signatures that HIP declares.
        *unsafe { self.own.get::<T>(name.as_bytes()) }.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn malloc(&self, size: usize) -> *mut c_void {
        let mut memory = null_mut();
        // SAFETY: the pointer is to a local.
        assert_eq!(unsafe { self.api.hipMalloc(&mut memory, size) }, OK);
        memory
    }

    fn download(&self, memory: *mut c_void, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        // SAFETY: both have this size.
        assert_eq!(unsafe { self.api.hipMemcpyDtoH(bytes.as_mut_ptr().cast(), memory, size) }, OK);
        bytes
    }

    /// Registers the variable `table` of 64 bytes, as clang's code does, and gives its symbol.
    fn variable(&self) -> *const c_void {
        #[repr(C)]
        struct Wrapper {
            magic: u32,
            version: u32,
            binary: *const c_void,
            unused: *const c_void,
        }
        let image: &[u8] = include_bytes!("../../../cts/kernels/bundles/globals.gfx942.co");
        let wrapper =
            Wrapper { magic: 0x4849_5046, version: 1, binary: image.as_ptr().cast(), unused: null() };
        let wrapper: *const Wrapper = Box::leak(Box::new(wrapper));
        let (symbol, name) = (Box::leak(Box::new(0_u64)), c"table".as_ptr().cast_mut());
        let symbol = std::ptr::from_mut(symbol).cast();
        // SAFETY: what is registered lives as long as the process.
        unsafe {
            let modules = self.api.__hipRegisterFatBinary(wrapper.cast());
            self.api.__hipRegisterVar(modules.cast(), symbol, name, name, 0, 64, 0, 0);
        }
        symbol
    }

    fn kernel(&self) -> hipFunction_t {
        let image: &[u8] = include_bytes!("../../../cts/kernels/bundles/vector_add.gfx942.co");
        let (mut module, mut function) = (null_mut(), null_mut());
        // SAFETY: the image is a code object, the pointers are to locals.
        unsafe {
            assert_eq!(self.api.hipModuleLoadData(&mut module, image.as_ptr().cast()), OK);
            assert_eq!(self.api.hipModuleGetFunction(&mut function, module, c"vector_add".as_ptr()), OK);
        }
        function
    }

    /// Captures what `queue` does on the thread's own stream, and returns the graph and the number of its nodes.
    fn capture(&self, queue: impl FnOnce()) -> (hipGraph_t, usize) {
        let begin: pfn::hipStreamBeginCapture = self.get("hipStreamBeginCapture_spt");
        let end: pfn::hipStreamEndCapture = self.get("hipStreamEndCapture_spt");
        let (mut graph, mut nodes) = (null_mut(), 0);
        // SAFETY: the pointers are to locals.
        unsafe {
            assert_eq!(begin(null_mut(), hipStreamCaptureMode::hipStreamCaptureModeRelaxed), OK);
            queue();
            assert_eq!(end(null_mut(), &mut graph), OK);
            assert_eq!(self.api.hipGraphGetNodes(graph, null_mut(), &mut nodes), OK);
        }
        (graph, nodes)
    }

    /// Runs a graph on the thread's own stream to its end.
    fn run(&self, graph: hipGraph_t) {
        let launch: pfn::hipGraphLaunch = self.get("hipGraphLaunch_spt");
        let wait: pfn::hipStreamSynchronize = self.get("hipStreamSynchronize_spt");
        let query: pfn::hipStreamQuery = self.get("hipStreamQuery_spt");
        let mut exec = null_mut();
        // SAFETY: the pointers are to locals and handles.
        unsafe {
            assert_eq!(self.api.hipGraphInstantiateWithFlags(&mut exec, graph, 0), OK);
            assert_eq!([launch(exec, null_mut()), wait(null_mut()), query(null_mut())], [OK; 3]);
        }
    }
}

/// A stream that is no more.
fn destroyed(api: &Api) -> hipStream_t {
    let mut stream = null_mut();
    // SAFETY: the pointer is to a local.
    unsafe {
        assert_eq!(api.hipStreamCreate(&mut stream), OK);
        assert_eq!(api.hipStreamDestroy(stream), OK);
    }
    stream
}

fn pitched(memory: *mut c_void) -> hipPitchedPtr {
    hipPitchedPtr { ptr: memory, pitch: 4, xsize: 4, ysize: 2 }
}

/// The copy of 2 by 2 by 1 bytes.
fn parameters(to: *mut c_void, from: *mut c_void) -> hipMemcpy3DParms {
    hipMemcpy3DParms {
        srcPtr: pitched(from),
        dstPtr: pitched(to),
        extent: hipExtent { width: 2, height: 2, depth: 1 },
        kind: hipMemcpyKind::hipMemcpyDeviceToDevice,
        ..Default::default()
    }
}

#[test]
fn copies_and_fills_without_a_stream_are_on_the_own_one() {
    let library = Library::load();
    let (variable, stay) = (library.variable(), hipMemcpyKind::hipMemcpyDeviceToDevice);
    let fill: pfn::hipMemset2DAsync = library.get("hipMemset2DAsync_spt");
    let rows: pfn::hipMemcpy2DAsync = library.get("hipMemcpy2DAsync_spt");
    let line: pfn::hipMemcpyAsync = library.get("hipMemcpyAsync_spt");
    let boxes: pfn::hipMemcpy3DAsync = library.get("hipMemcpy3DAsync_spt");
    let to_symbol: pfn::hipMemcpyToSymbolAsync = library.get("hipMemcpyToSymbolAsync_spt");
    let from_symbol: pfn::hipMemcpyFromSymbolAsync = library.get("hipMemcpyFromSymbolAsync_spt");
    let wait: pfn::hipStreamSynchronize = library.get("hipStreamSynchronize_spt");
    let [a, b, c, d, e] = [(); 5].map(|()| library.malloc(8));
    for place in PLACES.map(|place| place as hipStream_t) {
        for memory in [a, b, c, d, e] {
            // SAFETY: device memory of 8 bytes.
            assert_eq!(unsafe { library.api.hipMemset(memory, 0, 8) }, OK);
        }
        let (graph, nodes) = library.capture(|| {
            let copy = parameters(c, b);
            // SAFETY: device memory of 8 bytes, and a variable of 64.
            let statuses = unsafe {
                [
                    fill(a, 4, 7, 3, 2, place),
                    rows(b, 4, a, 4, 4, 2, stay, place),
                    boxes(&copy, place),
                    to_symbol(variable, c, 8, 0, stay, place),
                    from_symbol(d, variable, 8, 0, stay, place),
                    line(e, d, 8, stay, place),
                ]
            };
            assert_eq!(statuses, [OK; 6]);
        });
        assert_eq!(nodes, 6);
        assert_eq!(library.download(d, 8), [0; 8]);
        library.run(graph);
        assert_eq!(library.download(b, 8), [7, 7, 7, 0, 7, 7, 7, 0]);
        assert_eq!(library.download(d, 8), [7, 7, 0, 0, 7, 7, 0, 0]);
        assert_eq!(library.download(e, 8), library.download(d, 8));
    }
    // Wrong ones are refused as those of any other stream.
    let gone = destroyed(&library.api);
    let copy = parameters(c, b);
    // SAFETY: as above; a pitch below the width, and sizes beyond the variable.
    let statuses = unsafe {
        [
            fill(a, 2, 7, 3, 2, null_mut()),
            rows(b, 2, a, 4, 4, 2, stay, null_mut()),
            boxes(null(), null_mut()),
            to_symbol(variable, c, 8, 57, stay, null_mut()),
            from_symbol(d, variable, 65, 0, stay, null_mut()),
            rows(b, 4, a, 4, 4, 2, stay, gone),
            boxes(&copy, gone),
            line(e, d, 9, stay, null_mut()),
            line(e, d, 8, hipMemcpyKind(9), null_mut()),
            line(e, d, 8, stay, gone),
            to_symbol(variable, c, 8, 0, stay, gone),
            from_symbol(d, variable, 8, 0, stay, gone),
            wait(gone),
        ]
    };
    assert!(statuses.iter().all(|status| *status != OK), "{statuses:?}");
    assert_eq!(wait_for_own(wait), OK);
}

/// Waits for the own stream.
fn wait_for_own(wait: pfn::hipStreamSynchronize) -> hipError_t {
    // SAFETY: every thread has this stream.
    unsafe { wait(null_mut()) }
}

#[test]
fn copies_and_fills_that_wait_are_done_when_they_return() {
    let library = Library::load();
    let variable = library.variable();
    let fill: pfn::hipMemset2D = library.get("hipMemset2D_spt");
    let rows: pfn::hipMemcpy2D = library.get("hipMemcpy2D_spt");
    let boxes: pfn::hipMemcpy3D = library.get("hipMemcpy3D_spt");
    let to_symbol: pfn::hipMemcpyToSymbol = library.get("hipMemcpyToSymbol_spt");
    let from_symbol: pfn::hipMemcpyFromSymbol = library.get("hipMemcpyFromSymbol_spt");
    let (a, b) = (library.malloc(8), library.malloc(8));
    let (to, from) = (hipMemcpyKind::hipMemcpyHostToDevice, hipMemcpyKind::hipMemcpyDeviceToHost);
    let (mut host, mut back) = ([0_u8; 8], [0_u8; 8]);
    let (host_bytes, back_bytes) = (host.as_mut_ptr().cast::<c_void>(), back.as_mut_ptr().cast::<c_void>());
    let copy = parameters(b, a);
    // SAFETY: memory of 8 bytes, and a variable of 64.
    let statuses = unsafe {
        [
            library.api.hipMemset(b, 0, 8),
            fill(a, 4, 7, 4, 2),
            boxes(&copy),
            rows(host_bytes, 4, b, 4, 4, 2, from),
            to_symbol(variable, host_bytes, 8, 56, to),
            from_symbol(back_bytes, variable, 8, 56, from),
        ]
    };
    assert_eq!(statuses, [OK; 6]);
    assert_eq!((host, back), ([7, 7, 0, 0, 7, 7, 0, 0], [7, 7, 0, 0, 7, 7, 0, 0]));
    // SAFETY: wrong parameters are found before the memory is touched.
    let statuses = unsafe {
        [
            fill(a, 2, 7, 4, 2),
            rows(host_bytes, 2, b, 4, 4, 2, from),
            boxes(null()),
            to_symbol(variable, host_bytes, 8, 57, to),
            to_symbol(null(), host_bytes, 8, 0, to),
            from_symbol(back_bytes, variable, 65, 0, from),
            from_symbol(back_bytes, variable, 8, 0, to),
        ]
    };
    assert!(statuses.iter().all(|status| *status != OK), "{statuses:?}");
    assert_eq!(library.download(a, 8), [7; 8]);
}

/// Counts its calls.
unsafe extern "C" fn count(data: *mut c_void) {
    // SAFETY: the test passes a counter that outlives the work.
    unsafe { &*data.cast::<std::sync::atomic::AtomicU32>() }
        .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
}

unsafe extern "C" fn count_with_status(_: hipStream_t, status: hipError_t, data: *mut c_void) {
    assert_eq!(status, OK);
    // SAFETY: as for `count`.
    unsafe { count(data) };
}

#[test]
fn kernels_and_host_functions_without_a_stream_are_on_the_own_one() {
    let library = Library::load();
    let function = library.kernel();
    let launch: pfn::hipLaunchKernel = library.get("hipLaunchKernel_spt");
    let together: pfn::hipLaunchCooperativeKernel = library.get("hipLaunchCooperativeKernel_spt");
    let host: pfn::hipLaunchHostFunc = library.get("hipLaunchHostFunc_spt");
    let callback: pfn::hipStreamAddCallback = library.get("hipStreamAddCallback_spt");
    let wait: pfn::hipStreamSynchronize = library.get("hipStreamSynchronize_spt");
    let (mut a, mut b, mut sum, mut n) = (library.malloc(16), library.malloc(16), library.malloc(16), 4_u32);
    let ones = [1_f32; 4];
    for memory in [a, b] {
        // SAFETY: both have 16 bytes.
        assert_eq!(unsafe { library.api.hipMemcpyHtoD(memory, ones.as_ptr().cast(), 16) }, OK);
    }
    let mut each: [*mut c_void; 4] =
        [(&raw mut a).cast(), (&raw mut b).cast(), (&raw mut sum).cast(), (&raw mut n).cast()];
    let each = each.as_mut_ptr();
    let (one, four) = (dim3 { x: 1, y: 1, z: 1 }, dim3 { x: 4, y: 1, z: 1 });
    let calls = std::sync::atomic::AtomicU32::new(0);
    let data = std::ptr::from_ref(&calls).cast_mut().cast();
    let symbol = function.cast::<c_void>().cast_const();
    for place in PLACES.map(|place| place as hipStream_t) {
        let (graph, nodes) = library.capture(|| {
            // SAFETY: the arguments are those of the kernel, the counter outlives the work.
            let statuses = unsafe {
                [
                    launch(symbol, one, four, each, 0, place),
                    together(symbol, one, four, each, 0, place),
                    host(place, Some(count), data),
                ]
            };
            assert_eq!(statuses, [OK; 3]);
        });
        assert_eq!(nodes, 3);
        library.run(graph);
    }
    assert_eq!(library.download(sum, 16), 2_f32.to_le_bytes().repeat(4));
    assert_eq!(calls.load(std::sync::atomic::Ordering::SeqCst), 3);
    // HIP 7 captures no callbacks, so they are counted outside.
    for place in PLACES.map(|place| place as hipStream_t) {
        // SAFETY: the counter outlives the work.
        let statuses = unsafe { [callback(place, Some(count_with_status), data, 0), wait(place)] };
        assert_eq!(statuses, [OK; 2]);
    }
    assert_eq!(calls.load(std::sync::atomic::Ordering::SeqCst), 6);
    let gone = destroyed(&library.api);
    // SAFETY: each is refused.
    let statuses = unsafe {
        [
            launch(null(), one, four, each, 0, null_mut()),
            launch(symbol, one, dim3 { x: 1025, ..one }, each, 0, null_mut()),
            launch(symbol, one, four, each, 0, gone),
            together(null(), one, four, each, 0, null_mut()),
            together(symbol, dim3 { x: 1 << 30, ..one }, four, each, 0, null_mut()),
            host(null_mut(), None, data),
            host(gone, Some(count), data),
            callback(null_mut(), None, data, 0),
            callback(null_mut(), Some(count_with_status), data, 1),
        ]
    };
    assert!(statuses.iter().all(|status| *status != OK), "{statuses:?}");
    assert_eq!(wait_for_own(wait), OK);
    assert_eq!(calls.load(std::sync::atomic::Ordering::SeqCst), 6);
}

#[test]
fn the_own_stream_tells_of_itself_and_of_its_capture() {
    let library = Library::load();
    let is_capturing: pfn::hipStreamIsCapturing = library.get("hipStreamIsCapturing_spt");
    let info: pfn::hipStreamGetCaptureInfo = library.get("hipStreamGetCaptureInfo_spt");
    let more: pfn::hipStreamGetCaptureInfo_v2 = library.get("hipStreamGetCaptureInfo_v2_spt");
    let end: pfn::hipStreamEndCapture = library.get("hipStreamEndCapture_spt");
    let flags: pfn::hipStreamGetFlags = library.get("hipStreamGetFlags_spt");
    let priority: pfn::hipStreamGetPriority = library.get("hipStreamGetPriority_spt");
    let record: pfn::hipEventRecord = library.get("hipEventRecord_spt");
    let wait_event: pfn::hipStreamWaitEvent = library.get("hipStreamWaitEvent_spt");
    let wait: pfn::hipStreamSynchronize = library.get("hipStreamSynchronize_spt");
    let query: pfn::hipStreamQuery = library.get("hipStreamQuery_spt");
    let active = hipStreamCaptureStatus::hipStreamCaptureStatusActive;
    let none = hipStreamCaptureStatus::hipStreamCaptureStatusNone;
    let (mut event, mut other) = (null_mut(), null_mut());
    // SAFETY: the pointers are to locals.
    unsafe {
        assert_eq!(library.api.hipEventCreate(&mut event), OK);
        assert_eq!(library.api.hipStreamCreateWithFlags(&mut other, 1), OK);
    }
    let (_, nodes) = library.capture(|| {
        for place in PLACES.map(|place| place as hipStream_t) {
            let (mut first, mut second, mut third) = (none, none, none);
            let (mut id, mut same, mut graph) = (0, 0, null_mut());
            // SAFETY: the pointers are to locals.
            let statuses = unsafe {
                [
                    is_capturing(place, &mut first),
                    info(place, &mut second, &mut id),
                    more(place, &mut third, &mut same, &mut graph, null_mut(), null_mut()),
                ]
            };
            assert_eq!((statuses, [first, second, third]), ([OK; 3], [active; 3]));
            assert!(id != 0 && id == same && !graph.is_null());
        }
        // Another stream joins by an event, and goes back.
        // SAFETY: handles that live.
        let statuses = unsafe {
            [
                record(event, null_mut()),
                library.api.hipStreamWaitEvent(other, event, 0),
                library.api.hipEventRecord(event, other),
                wait_event(null_mut(), event, 0),
            ]
        };
        assert_eq!(statuses, [OK; 4]);
    });
    assert_eq!(nodes, 0);
    let (mut told, mut level) = (9, 9);
    // SAFETY: the pointers are to locals.
    unsafe {
        assert_eq!([flags(null_mut(), &mut told), priority(null_mut(), &mut level)], [OK; 2]);
        assert_eq!((told, level), (0, 0));
        let gone = destroyed(&library.api);
        let mut status = none;
        let statuses = [
            flags(null_mut(), null_mut()),
            flags(gone, &mut told),
            priority(null_mut(), null_mut()),
            priority(gone, &mut level),
            is_capturing(null_mut(), null_mut()),
            is_capturing(gone, &mut status),
            info(gone, &mut status, null_mut()),
            more(gone, &mut status, null_mut(), null_mut(), null_mut(), null_mut()),
            end(null_mut(), &mut null_mut()),
            record(null_mut(), null_mut()),
            wait_event(null_mut(), null_mut(), 0),
            wait_event(null_mut(), event, 2),
            wait(gone),
            query(gone),
        ];
        assert!(statuses.iter().all(|status| *status != OK), "{statuses:?}");
    }
}
