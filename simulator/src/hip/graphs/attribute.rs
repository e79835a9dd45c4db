// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attributes of kernel nodes. A node has one at most, as AMD's runtime keeps them, and launches do not depend on it.

use windlass_hip_sys::bindings::{
    hipAccessPolicyWindow, hipAccessProperty, hipLaunchAttributeID, hipLaunchAttributeValue,
};

use super::given::Given;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// The attribute of a kernel node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KernelAttribute {
    AccessPolicy(Given<hipAccessPolicyWindow>),
    Cooperative(i32),
}

/// Whether kernel nodes have such an attribute.
fn is_known(id: hipLaunchAttributeID) -> bool {
    matches!(
        id,
        hipLaunchAttributeID::hipLaunchAttributeAccessPolicyWindow
            | hipLaunchAttributeID::hipLaunchAttributeCooperative
            | hipLaunchAttributeID::hipLaunchAttributePriority
    )
}

impl KernelAttribute {
    /// The attribute that a client sets.
    ///
    /// # Errors
    /// `INVALID_VALUE` for attributes that kernel nodes lack, for windows that no device of AMD's has, and for each
    /// priority, as AMD's runtime compares priorities with its bounds in the wrong order.
    pub(crate) fn set(id: hipLaunchAttributeID, value: &hipLaunchAttributeValue) -> Outcome<Self> {
        match id {
            hipLaunchAttributeID::hipLaunchAttributeAccessPolicyWindow => {
                // SAFETY: the number says which field the client filled.
                let window = unsafe { value.accessPolicyWindow };
                let ratio = window.hitRatio;
                let is_ratio = (0.0..=1.0).contains(&ratio);
                let keeps_misses = window.missProp == hipAccessProperty::hipAccessPropertyPersisting;
                // The largest window of each device has no bytes.
                if !is_ratio || keeps_misses || window.num_bytes > 0 {
                    return Err(Code::INVALID_VALUE);
                }
                Ok(Self::AccessPolicy(Given(window)))
            }
            hipLaunchAttributeID::hipLaunchAttributeCooperative => {
                // SAFETY: as above.
                let cooperative = unsafe { value.cooperative };
                Ok(Self::Cooperative(cooperative))
            }
            hipLaunchAttributeID::hipLaunchAttributePriority => {
                explain("HIP accepts no priority of a kernel node: leave it to the stream".to_owned());
                Err(Code::INVALID_VALUE)
            }
            _ => Err(Code::INVALID_VALUE),
        }
    }

    fn id(self) -> hipLaunchAttributeID {
        match self {
            Self::AccessPolicy(_) => hipLaunchAttributeID::hipLaunchAttributeAccessPolicyWindow,
            Self::Cooperative(_) => hipLaunchAttributeID::hipLaunchAttributeCooperative,
        }
    }

    /// Writes an attribute of a node into the client's value: zeros if the node has none.
    ///
    /// # Errors
    /// `INVALID_VALUE` for attributes that kernel nodes lack, and if the node has another.
    pub(crate) fn get(
        own: Option<Self>,
        id: hipLaunchAttributeID,
        value: &mut hipLaunchAttributeValue,
    ) -> Outcome<()> {
        if !is_known(id) || own.is_some_and(|own| own.id() != id) {
            return Err(Code::INVALID_VALUE);
        }
        match own {
            Some(Self::AccessPolicy(Given(window))) => value.accessPolicyWindow = window,
            Some(Self::Cooperative(number)) => value.cooperative = number,
            None if id == hipLaunchAttributeID::hipLaunchAttributeAccessPolicyWindow => {
                value.accessPolicyWindow = hipAccessPolicyWindow::default();
            }
            None => value.cooperative = 0,
        }
        Ok(())
    }

    /// The attribute of a node that takes that of another.
    ///
    /// # Errors
    /// `INVALID_CONTEXT` if the taker has another attribute, or is the only one that has any.
    pub(crate) fn copied(from: Option<Self>, to: Option<Self>) -> Outcome<Option<Self>> {
        match (from, to) {
            (None, Some(_)) => Err(Code::INVALID_CONTEXT),
            (Some(from), Some(to)) if from.id() != to.id() => Err(Code::INVALID_CONTEXT),
            (from, _) => Ok(from),
        }
    }
}
