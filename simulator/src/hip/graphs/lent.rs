// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of kernel nodes that are lent to the client, which may read and change them until the node gets others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::operation::{KernelCall, Passed};

/// A copy of a kernel's arguments, and pointers to it in the form in which the client passed its own.
#[derive(Debug)]
pub(crate) struct Lent {
    of: Arc<KernelCall>,
    /// The kernel's block of arguments. The client may write to it.
    values: Box<[Pair]>,
    list: Box<[AtomicU64]>,
}

/// The largest alignment that arguments need.
#[derive(Debug, Default)]
#[repr(align(16))]
struct Pair([AtomicU64; 2]);

impl Lent {
    /// HIP_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END.
    const POINTER: u64 = 1;
    const SIZE: u64 = 2;
    const END: u64 = 3;

    pub(crate) fn new(of: &Arc<KernelCall>) -> Self {
        let bytes = &of.arguments;
        let mut values: Vec<Pair> = Vec::new();
        // One more than needed, so that a kernel without arguments has an address too.
        values.resize_with(bytes.len() / 16 + 1, Pair::default);
        let words = values.iter().flat_map(|pair| &pair.0);
        for (word, bytes) in words.zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            for (to, from) in whole.iter_mut().zip(bytes) {
                *to = *from;
            }
            word.store(u64::from_ne_bytes(whole), Ordering::Relaxed);
        }
        let values = values.into_boxed_slice();
        let start = values.as_ptr() as u64;
        let list: Vec<u64> = match of.passed {
            Passed::Nothing => Vec::new(),
            Passed::Each => {
                let parameters = of.function.kernel.parameters().iter();
                // A kernel without parameters has a list without entries.
                parameters.map(|parameter| start + u64::from(parameter.offset)).chain([0]).collect()
            }
            Passed::Block => vec![Self::POINTER, start, Self::SIZE, 0, Self::END, bytes.len() as u64],
        };
        let list: Box<[AtomicU64]> = list.into_iter().map(AtomicU64::new).collect();
        if of.passed == Passed::Block
            && let (Some(place), Some(size)) = (list.get(3), list.get(5))
        {
            place.store(std::ptr::from_ref(size) as u64, Ordering::Relaxed);
        }
        Self { of: of.clone(), values, list }
    }

    /// Whether it shows the arguments of a launch. The client may have changed it to set them.
    pub(crate) fn shows(&self, call: &Arc<KernelCall>) -> bool {
        let same_form = Arc::ptr_eq(&self.of.function, &call.function) && self.of.passed == call.passed;
        let words = self.values.iter().flat_map(|pair| &pair.0);
        let bytes = words.flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes());
        Arc::ptr_eq(&self.of, call)
            || same_form
                && self.of.arguments.len() == call.arguments.len()
                && bytes.zip(&call.arguments).all(|(shown, own)| shown == *own)
    }

    /// The pointers for `kernelParams` and `extra`, null where the client passed no such.
    pub(crate) fn pointers(&self) -> (u64, u64) {
        let list = self.list.as_ptr() as u64;
        match self.of.passed {
            Passed::Nothing => (0, 0),
            Passed::Each => (list, 0),
            Passed::Block => (0, list),
        }
    }
}
