// SPDX-License-Identifier: MIT OR Apache-2.0
//! The binding table of a submission, from the caller's list.

use facade::{BindingTable, Buffer, CommandBuffer, Error, Result};
use smallvec::SmallVec;

use crate::{
    buffer::{WINDLASS_REF_SLOT, range_of, windlass_buffer_ref_t},
    memory::list,
};

/// The table of a submission. A binding without a buffer is allowed for a slot that no command uses.
///
/// # Safety
/// As for [`list`].
pub(crate) unsafe fn table_of(
    commands: &CommandBuffer,
    count: usize,
    bindings: *const windlass_buffer_ref_t,
) -> Result<BindingTable> {
    // SAFETY: the same contract.
    let bindings = unsafe { list("bindings", count, bindings) }?;
    let slots = commands.list().slots();
    let mut given: SmallVec<[Option<Buffer>; 4]> = SmallVec::with_capacity(bindings.len());
    for (slot, reference) in bindings.iter().enumerate() {
        if reference.buffer.is_some() || reference.kind == WINDLASS_REF_SLOT {
            given.push(Some(range_of(&format!("bindings[{slot}]"), reference)?));
        } else if slots.get(slot).is_some_and(|requirement| !requirement.used) {
            given.push(None);
        } else {
            return Err(Error::invalid_argument(format!(
                "`bindings[{slot}]` has no buffer, and the command buffer uses the slot or has not got it"
            )));
        }
    }
    // The HAL's table has no gaps. Any buffer of the table can stand in for one that no command uses.
    let any = given.iter().flatten().next().cloned();
    let filled: SmallVec<[Buffer; 4]> =
        given.into_iter().filter_map(|binding| binding.or_else(|| any.clone())).collect();
    Ok(BindingTable::from(filled.as_slice()))
}
