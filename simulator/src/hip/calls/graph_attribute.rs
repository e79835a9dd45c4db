// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attributes of kernel nodes.

use windlass_hip_sys::bindings::{hipError_t, hipGraphNode_t, hipLaunchAttributeID, hipLaunchAttributeValue};

use super::graph::node;
use crate::hip::boundary::call::Call;
use crate::hip::graphs::attribute::KernelAttribute;
use crate::hip::graphs::operation::Operation;
use crate::hip::words::code::{Code, Outcome};

/// Has `change` work on the attribute of a kernel node.
fn change<T>(
    call: &Call,
    handle: hipGraphNode_t,
    change: impl FnOnce(&mut Option<KernelAttribute>) -> Outcome<T>,
) -> Outcome<T> {
    node(call, handle)?.0.change(|operation| match operation {
        Operation::Launch(_, attribute) => change(attribute),
        _ => Err(Code::INVALID_VALUE),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphKernelNodeSetAttribute(
    handle: hipGraphNode_t,
    id: hipLaunchAttributeID,
    value: *const hipLaunchAttributeValue,
) -> hipError_t {
    hip!(hipGraphKernelNodeSetAttribute, |call| {
        let value = call.get(value)?;
        change(call, handle, |attribute| {
            *attribute = Some(KernelAttribute::set(id, &value)?);
            Ok(())
        })
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphKernelNodeGetAttribute(
    handle: hipGraphNode_t,
    id: hipLaunchAttributeID,
    value: *mut hipLaunchAttributeValue,
) -> hipError_t {
    hip!(hipGraphKernelNodeGetAttribute, |call| {
        let mut told = call.get(value)?;
        change(call, handle, |attribute| KernelAttribute::get(*attribute, id, &mut told))?;
        call.put(value, told)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphKernelNodeCopyAttributes(
    from: hipGraphNode_t,
    to: hipGraphNode_t,
) -> hipError_t {
    hip!(hipGraphKernelNodeCopyAttributes, |call| {
        let from = change(call, from, |attribute| Ok(*attribute))?;
        change(call, to, |attribute| {
            *attribute = KernelAttribute::copied(from, *attribute)?;
            Ok(())
        })
    })
}
