// SPDX-License-Identifier: MIT OR Apache-2.0
//! A log that cannot be written has no other effect.

mod common;

use std::ptr::null_mut;

use common::{Block, Machine};
use tracing::span;
use windlass_hip_sys::bindings::*;

/// A subscriber that fails at each event, like one that writes to a full disk.
struct Full;

impl tracing::Subscriber for Full {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::ERROR
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        panic!("there is no room for the log");
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[test]
fn work_goes_on_without_a_log() {
    tracing::subscriber::set_global_default(Full).unwrap();
    for options in ["", "?seed=1"] {
        let machine = Machine::new(options);
        let module = machine.load(include_bytes!("../../cts/kernels/bundles/faults.ccob"));
        let function = machine.function(module, c"write_at");
        let words = machine.upload(&[0_u32; 16]);
        let run = |index: i64| {
            let arguments = Block::default().pointer(words).bytes(&index.to_le_bytes()).u32(7).done();
            assert_eq!(machine.launch(function, 1, 1, null_mut(), &arguments), hipError_t::hipSuccess);
            hip!(machine, hipStreamSynchronize(null_mut()))
        };
        assert_eq!(run(16), hipError_t::hipErrorIllegalAddress);
        assert_eq!(run(1), hipError_t::hipSuccess);
        // Refused with an explanation in the log.
        let arguments = [0_u8; 8];
        let status = machine.launch(function, 1, 2048, null_mut(), &arguments);
        assert_eq!(status, hipError_t::hipErrorInvalidValue);
        assert_eq!(machine.download::<u32>(words, 2), [0, 7]);
    }
}
