// SPDX-License-Identifier: MIT OR Apache-2.0
//! Services of a runtime for running kernels that a dispatch lacks: OpenCL's `printf` in HIP, and all of them in a
//! dispatch without a runtime.
//!
//! Hidden arguments give kernels the address of a service. Kernels do not check some of these addresses for
//! null. For those services the address is invalid: a kernel runs as long as it does not use the service. If
//! it does, the fault names the service.

use windlass_codeobject::HiddenKind;

/// A service that hidden arguments lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    Hostcall,
    Printf,
    Heap,
}

/// First address of the services: in the half that belongs to kernels of operating systems.
const BASE: u64 = 0xffff_ff00_0000_0000;
/// The number of addresses of each service.
const SIZE: u64 = 1 << 32;

impl Service {
    const ALL: [Self; 3] = [Self::Hostcall, Self::Printf, Self::Heap];

    /// The service that a hidden argument leads to.
    pub(super) fn for_argument(kind: HiddenKind) -> Option<Self> {
        match kind {
            HiddenKind::HostcallBuffer => Some(Self::Hostcall),
            HiddenKind::PrintfBuffer => Some(Self::Printf),
            HiddenKind::HeapV1 => Some(Self::Heap),
            _ => None,
        }
    }

    /// Its address in hidden arguments.
    pub(super) fn address(self) -> u64 {
        BASE + self as u64 * SIZE
    }

    /// The service that an address belongs to.
    pub(super) fn at(address: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|service| address.wrapping_sub(service.address()) < SIZE)
    }

    /// The use of the service, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hostcall => "printf, or an assertion that failed and says so (hidden_hostcall_buffer)",
            Self::Printf => "printf (hidden_printf_buffer)",
            Self::Heap => "malloc, free, new or delete on the device (hidden_heap_v1)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_told_apart_by_address() {
        for service in Service::ALL {
            assert_eq!(Service::at(service.address()), Some(service));
            assert_eq!(Service::at(service.address() + 0x18), Some(service));
        }
        assert_eq!(Service::at(BASE - 1), None);
        assert_eq!(Service::at(0x18), None);
    }
}
