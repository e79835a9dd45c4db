// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of HIP about other GPUs: their places in the machine, the links to them, access to their memory.

use windlass_hal::{PciAddress, Result};
use windlass_hip_sys::bindings::{hipDeviceP2PAttr, hipError_t};

use crate::{
    call::{c_string, text},
    hip::Hip,
};

/// A link between two GPUs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// `hsa_amd_link_info_type_t`.
    pub(crate) kind: u32,
    pub(crate) hops: u32,
}

impl Hip {
    /// Whether this GPU can be made to reach the memory of another.
    pub(crate) fn reaches(&self, peer: i32) -> Result<bool> {
        let mut can = 0;
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipDeviceCanAccessPeer(&mut can, self.ordinal(), peer) };
        self.check("hipDeviceCanAccessPeer", status)?;
        Ok(can != 0)
    }

    /// Whether this GPU can reach the memory of another, if HIP tells.
    pub(crate) fn may_reach(&self, peer: i32) -> Option<bool> {
        let mut can = 0;
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipDeviceCanAccessPeer(&mut can, self.ordinal(), peer) };
        self.succeeded(status).then_some(can != 0)
    }

    /// Lets this GPU reach the memory of another. Succeeds if it already can.
    pub(crate) fn enable_peer(&self, peer: i32) -> Result<()> {
        let _current = self.current()?;
        // SAFETY: an ordinal that HIP gave; no flags are defined.
        match unsafe { self.api.hipDeviceEnablePeerAccess(peer, 0) } {
            status @ hipError_t::hipErrorPeerAccessAlreadyEnabled => {
                self.succeeded(status);
                Ok(())
            }
            status => self.check("hipDeviceEnablePeerAccess", status),
        }
    }

    /// The link to another GPU, if HIP tells.
    pub(crate) fn link(&self, peer: i32) -> Option<Link> {
        let mut link = Link { kind: 0, hops: 0 };
        // SAFETY: pointers to locals.
        let status = unsafe {
            self.api.hipExtGetLinkTypeAndHopCount(self.ordinal(), peer, &mut link.kind, &mut link.hops)
        };
        self.succeeded(status).then_some(link)
    }

    /// Whether atomics on the memory of another GPU are atomic for both, if HIP tells.
    pub(crate) fn native_atomics(&self, peer: i32) -> Option<bool> {
        // Before 6.0 HIP answers the kind of the link here.
        if self.api.origin().version.is_none_or(|version| version.major < 6) {
            return None;
        }
        let (mut value, attribute) = (0, hipDeviceP2PAttr::hipDevP2PAttrNativeAtomicSupported);
        // SAFETY: a pointer to a local.
        let status =
            unsafe { self.api.hipDeviceGetP2PAttribute(&mut value, attribute, self.ordinal(), peer) };
        self.succeeded(status).then_some(value != 0)
    }

    /// The address of this GPU on the PCI bus, if HIP tells.
    pub(crate) fn pci_address(&self) -> Option<PciAddress> {
        let mut text_of = [0; 64];
        // SAFETY: the length is that of the local array.
        let status = unsafe {
            self.api.hipDeviceGetPCIBusId(text_of.as_mut_ptr(), text_of.len() as i32, self.ordinal())
        };
        if self.succeeded(status) { text(&text_of).parse().ok() } else { None }
    }

    /// The ordinal of the GPU at an address of the PCI bus.
    pub(crate) fn at_pci_address(&self, address: PciAddress) -> Option<i32> {
        let (address, mut ordinal) = (c_string(&address.to_string()).ok()?, 0);
        // SAFETY: a pointer to a local, a terminated string.
        let status = unsafe { self.api.hipDeviceGetByPCIBusId(&mut ordinal, address.as_ptr()) };
        self.succeeded(status).then_some(ordinal)
    }
}
