// SPDX-License-Identifier: MIT OR Apache-2.0
//! The choice of an entry for a GPU, with a verdict on each entry.

use std::{
    ffi::{CString, c_char},
    mem::MaybeUninit,
    ptr::NonNull,
};

use facade::Error;
use windlass_codeobject::{Fit, Selection, TargetId};

use crate::{
    boundary::{fallible, infallible},
    code::{error_of, options_of, windlass_code_options_t},
    code_file::windlass_code_file_t,
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{Growing, c_string, give, text, write_struct},
};

/// The entry that a GPU gets, and a verdict on each entry.
pub struct windlass_code_selection_t(Shell<Chosen>);
object!(windlass_code_selection_t, Chosen, "code selection");

/// A selection with C strings.
pub(crate) struct Chosen {
    selection: Selection,
    reasons: Vec<CString>,
}

/// The fit of an entry's code to a GPU: one of WINDLASS_CODE_FIT_*. A larger number fits better. Later versions may add
/// fits.
pub type windlass_code_fit_t = u32;

/// The GPU cannot run the entry.
pub const WINDLASS_CODE_FIT_NONE: windlass_code_fit_t = 0;
/// The code is for another processor of the same ISA-compatible family: see WINDLASS_CODE_COMPATIBLE_FAMILIES.
pub const WINDLASS_CODE_FIT_FAMILY: windlass_code_fit_t = 1;
/// The code is for a generic target that covers the GPU.
pub const WINDLASS_CODE_FIT_GENERIC: windlass_code_fit_t = 2;
/// The code is for this processor.
pub const WINDLASS_CODE_FIT_EXACT: windlass_code_fit_t = 3;

/// The verdict on one entry. The reason belongs to the selection's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_code_verdict_t {
    /// sizeof this struct, set by the caller: windlass_code_verdict_init does so.
    pub struct_size: usize,
    /// The reason in words.
    pub reason: *const c_char,
    /// The fit of the entry's code.
    pub fit: windlass_code_fit_t,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_code_verdict_t {
    const NAME: &'static str = "windlass_code_verdict_t";
}

/// Finds the entry of a bundle that fits a GPU best: one for its own processor, else one for a generic target, else, if
/// the options allow it, one for a processor of its family. `target` states the mode of each feature that the GPU has,
/// as windlass_device_info_t does: "gfx942:sramecc+:xnack-". The head of the best entry is read, as far as it must be
/// unpacked for that. That no entry fits is no error. The caller owns the selection.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_code_file_select(
    file: Option<NonNull<windlass_code_file_t>>,
    bundle: usize,
    target: *const c_char,
    options: *const windlass_code_options_t,
    selection: Option<&mut MaybeUninit<Option<NonNull<windlass_code_selection_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(selection, || {
            // SAFETY: the contract in the header covers that of `text`.
            let target = unsafe { text("target", target) }?;
            // SAFETY: the contract in the header covers that of `options_of`.
            let options = unsafe { options_of(options) }?;
            let target: TargetId = target.parse().map_err(|error| error_of(&error))?;
            let file = used(file)?;
            let selection = file.bundle(bundle)?.select(&target, &options);
            file.check()?;
            let reasons = selection.verdicts.iter().map(|verdict| c_string(&verdict.reason)).collect();
            Ok(Chosen { selection, reasons })
        })
    })
}

/// Whether an entry fits. The number of the best one goes to `entry`, which may be NULL. False for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_selection_best(
    selection: Option<NonNull<windlass_code_selection_t>>,
    entry: Option<&mut MaybeUninit<usize>>,
) -> bool {
    infallible(false, || {
        let Some(best) = used(selection)?.selection.best else { return Ok(false) };
        if let Some(entry) = entry {
            entry.write(best);
        }
        Ok(true)
    })
}

/// The number of verdicts, which is that of the bundle's entries; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_selection_count(
    selection: Option<NonNull<windlass_code_selection_t>>,
) -> usize {
    infallible(0, || Ok(used(selection)?.selection.verdicts.len()))
}

/// The verdict on an entry by number, from 0. OUT_OF_RANGE if there are fewer. The reason is valid until the
/// selection's last reference is released.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_code_selection_verdict(
    selection: Option<NonNull<windlass_code_selection_t>>,
    index: usize,
    verdict: *mut windlass_code_verdict_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let chosen = used(selection)?;
        let verdicts = &chosen.selection.verdicts;
        let (Some(of), Some(reason)) = (verdicts.get(index), chosen.reasons.get(index)) else {
            let count = verdicts.len();
            return Err(Error::out_of_range(format!("verdict {index} of a selection that has {count}")));
        };
        let value = windlass_code_verdict_t {
            struct_size: size_of::<windlass_code_verdict_t>(),
            reason: reason.as_ptr(),
            fit: match of.fit {
                None => WINDLASS_CODE_FIT_NONE,
                Some(Fit::Family) => WINDLASS_CODE_FIT_FAMILY,
                Some(Fit::Generic) => WINDLASS_CODE_FIT_GENERIC,
                Some(Fit::Exact) => WINDLASS_CODE_FIT_EXACT,
                Some(other) => return Err(Error::unimplemented(format!("a fit of the kind {other:?}"))),
            },
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(verdict, &value) }
    })
}

/// Adds a reference and returns the selection. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_selection_retain(
    selection: Option<NonNull<windlass_code_selection_t>>,
) -> Option<NonNull<windlass_code_selection_t>> {
    infallible(None, || handle::retain(selection).map(|()| selection))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_selection_release(selection: Option<NonNull<windlass_code_selection_t>>) {
    infallible((), || {
        handle::release(selection);
        Ok(())
    });
}
