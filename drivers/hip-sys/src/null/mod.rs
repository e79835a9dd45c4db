// SPDX-License-Identifier: MIT OR Apache-2.0
//! A HIP that computes nothing and counts every call.
//!
//! It is for tests of programs that call HIP, and for measuring their own overhead. Kernels never run. Memory is plain
//! host memory, so copies and fills are real, in the order of the calls. By default all work is complete when its call
//! returns. With [`Options::manual`] it stays in flight until [`Instance::complete`], so that a test holds work in
//! flight without sleeping. With [`Options::kernel`] each kernel takes a time, and the work behind it on its stream is
//! complete no earlier. An [`Interposer`](crate::interposer::Interposer) in front of it makes calls fail.
//!
//! ```
//! use windlass_hip_sys::null;
//! use windlass_hip_sys::bindings::hipError_t;
//!
//! let instance = null::Instance::new(null::Options::default());
//! let api = instance.api();
//! let mut address = std::ptr::null_mut();
//! // SAFETY: the pointer is ours, and the memory is freed once.
//! unsafe {
//!     assert_eq!(api.hipMalloc(&mut address, 64), hipError_t::hipSuccess);
//!     assert_eq!(api.hipFree(address), hipError_t::hipSuccess);
//! }
//! assert_eq!(instance.calls(), [("hipMalloc", 1), ("hipFree", 1)]);
//! assert!(instance.live().is_empty());
//! ```
//!
//! Unsupported functions are absent from the table, as in an old library: contexts, pools, graphs, virtual memory and
//! the functions that compiled host code calls. [`Options::without`] removes more.

mod bytes;
mod call;
mod calls;
mod entries;
mod instance;
mod memory;
mod pace;
mod work;

use std::sync::Arc;

pub use calls::ThreadCalls;
pub use instance::{Instance, Live, Options};
pub use pace::KernelTime;

use crate::api::{Api, Found, Origin};
use crate::binding::Binding;

impl Instance {
    /// A table that calls into this instance and keeps it alive.
    pub fn api(self: &Arc<Self>) -> Api {
        let mut entries = entries::table();
        for name in &self.options.without {
            entries.remove(name);
        }
        let origin = Origin {
            name: "null HIP".to_owned(),
            path: None,
            version: None,
            found: Found::InProcess,
            simulated: true,
            simulated_hip: true,
        };
        let binding =
            Binding { context: Arc::as_ptr(self).cast(), enter: call::enter, keep_alive: self.clone() };
        // SAFETY: the entries behave as HIP documents, within the limits that this module states, on any thread;
        // `enter` may be called anywhere while the instance lives, which `keep_alive` ensures.
        unsafe { Api::from_entries(entries, origin, Some(binding)) }
    }
}
