// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program wraps a device that it opened through the registry.

use std::sync::Arc;

use windlass::{Code, Device, Semaphore, driver};

struct Passing(Arc<dyn driver::RawDevice>);

// SAFETY: all calls are forwarded.
unsafe impl driver::Wrapper for Passing {
    fn inner(&self) -> &dyn driver::RawDevice {
        &*self.0
    }
}

const URIS: [&str; 3] = ["null://", "local://", "hip-sim://gfx942"];

fn fill(device: &Device) -> windlass::Result<()> {
    let buffer = device.allocate_device(4)?;
    let done = Semaphore::new(0);
    device.queue(0)?.fill(&[], &[done.at(1)], &buffer, 7_u32)?;
    done.wait_blocking(1, windlass::Deadline::NEVER)
}

#[test]
fn a_wrapped_device_outlives_the_handle_that_it_came_from() {
    for uri in URIS {
        let raw = windlass::open(uri).unwrap().raw();
        let wrapped = Device::from_driver(Arc::new(Passing(raw)));
        fill(&wrapped).unwrap_or_else(|error| panic!("{uri}: {error}"));
    }
}

#[test]
fn closing_a_wrapped_device_closes_the_device() {
    for uri in URIS {
        let device = windlass::open(uri).unwrap();
        drop(Device::from_driver(Arc::new(Passing(device.raw()))));
        let error = fill(&device).unwrap_err();
        assert_eq!(error.code(), Code::Cancelled, "{uri}: {error}");
    }
}
