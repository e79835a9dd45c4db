// SPDX-License-Identifier: MIT OR Apache-2.0
//! HSA over the simulated machine: what AMD's HIP runtime, and other clients of ROCr, stand on.
//!
//! The functions of [`calls`] are HSA's own, for a process-wide machine that the environment variable `WINDLASS_SIM`
//! describes; the library `libhsa-runtime64.so.1` exports them.
//!
//! # What holds
//!
//! - A queue is a real `amd_queue_t` with a ring of AQL packets in memory that host and kernels share. Packets begin in the
//!   order of the ring. A packet with the barrier bit waits for all before it; the others run beside each other. Barrier
//!   packets wait for signals, and hold up the packets behind them in their queue.
//! - A signal is a real `amd_signal_t`. Kernels and the host change its value without a word, so everything that waits for
//!   one looks again whenever something has ended, and each millisecond.
//! - Memory of a GPU belongs to it: kernels of another one fault there unless `hsa_amd_agents_allow_access` has named its
//!   agent. The host reaches no memory of GPUs at all, as on a machine without a large BAR.
//! - Host memory that is locked has an address of its own for kernels, as with ROCr where the kernel driver has no
//!   heterogeneous memory management, or the same address (`lock=same`).
//! - Handles are looked up, not followed: a stale, foreign or invented one is an error.
//! - Memory is coherent everywhere, so acquire and release scopes of packets do nothing.
//! - A kernel that goes wrong stops its queue, and the queue's callback is told, as on hardware.
//! - Handlers of signals, of events and of queues are called one at a time on a thread of the runtime's, never within a call.
//!   Callbacks of calls are called within them, but under a seed others may call meanwhile.
//! - The last `hsa_shut_down` ends everything: queues, kernels, waits, handlers, handles and what memory holds. The next
//!   `hsa_init` makes a new machine.

#[allow(missing_docs, reason = "AMD documents its types")]
pub mod abi;
mod agent;
mod agent_info;
mod aql;
mod cache;
mod call;
#[allow(
    clippy::too_many_arguments,
    clippy::missing_safety_doc,
    missing_docs,
    reason = "HSA documents its functions"
)]
pub mod calls;
mod copy;
mod explain;
mod functions;
mod handler;
mod holding;
mod info;
mod ipc;
mod loader;
mod pool;
mod pool_info;
mod processor;
mod queue;
mod runtime;
mod signal;
mod status;
mod ticket;
mod virtual_memory;

pub use functions::FUNCTIONS;
pub(crate) use functions::can_fail;
pub use status::Status;
