// SPDX-License-Identifier: MIT OR Apache-2.0
//! HSA over the simulated machine, for AMD's HIP runtime and other clients of ROCr.
//!
//! The functions of [`calls`] are HSA's own, for a process-wide machine that the environment variable
//! `WINDLASS_SIM` describes; the library `libhsa-runtime64.so.1` exports them.
//!
//! # Behaviour
//!
//! - A queue is a real `amd_queue_t` with a ring of AQL packets in memory that host and kernels share.
//!   Packets begin in the order of the ring. A packet with the barrier bit waits for all packets before it;
//!   the others run beside each other. Barrier packets wait for signals, and block the packets behind them in
//!   their queue.
//! - A signal is a real `amd_signal_t`. Kernels and the host change its value without notice, so waits check
//!   it after every event, and each millisecond.
//! - Memory of a GPU belongs to it: kernels of another GPU fault there unless `hsa_amd_agents_allow_access`
//!   has named its agent. The host cannot access memory of GPUs, as on a machine without a large BAR.
//! - Locked host memory has an address of its own for kernels, as with ROCr where the kernel driver has no
//!   heterogeneous memory management, or the same address (`lock=same`).
//! - Handles are looked up, not followed: a stale, foreign or invented handle is an error.
//! - Memory is coherent everywhere, so acquire and release scopes of packets have no effect.
//! - A kernel that faults stops its queue and causes a call of the queue's callback, as on hardware.
//! - Handlers of signals, of events and of queues are called one at a time on a thread of the runtime, never
//!   within a call. Callbacks of calls are called within them, but under a seed other threads may call
//!   meanwhile.
//! - The last `hsa_shut_down` ends everything: queues, kernels, waits, handlers, handles and the contents of
//!   memory. The next `hsa_init` makes a new machine.

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
mod client_data;
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
