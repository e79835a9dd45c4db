// SPDX-License-Identifier: MIT OR Apache-2.0
//! RCCL's function declarations as one list, and the table of the functions.

use core::ffi::{CStr, c_char, c_int, c_void};

use super::types::*;
use crate::bindings::hipStream_t;

/// Hands every declaration to the macro `$expand`: `required { fn name(parameter: type, ...) -> type; ... }` with the
/// functions that every RCCL has, then `optional { ... }` with the others.
///
/// The types are spelled as in [`rccl`](crate::rccl), with `c_char`, `c_int`, `c_void` and `hipStream_t`, which the caller
/// must have in scope.
#[macro_export]
macro_rules! for_each_rccl_function {
    ($expand:path) => {
        $expand! {
            required {
                fn ncclGetVersion(version: *mut c_int) -> ncclResult_t;
                fn ncclGetErrorString(result: ncclResult_t) -> *const c_char;
                fn ncclGetUniqueId(id: *mut ncclUniqueId) -> ncclResult_t;
                fn ncclCommInitRank(comm: *mut ncclComm_t, ranks: c_int, id: ncclUniqueId, rank: c_int) -> ncclResult_t;
                fn ncclCommDestroy(comm: ncclComm_t) -> ncclResult_t;
                fn ncclCommAbort(comm: ncclComm_t) -> ncclResult_t;
                fn ncclCommGetAsyncError(comm: ncclComm_t, error: *mut ncclResult_t) -> ncclResult_t;
                fn ncclCommCount(comm: ncclComm_t, count: *mut c_int) -> ncclResult_t;
                fn ncclCommUserRank(comm: ncclComm_t, rank: *mut c_int) -> ncclResult_t;
                fn ncclCommCuDevice(comm: ncclComm_t, device: *mut c_int) -> ncclResult_t;
                fn ncclGroupStart() -> ncclResult_t;
                fn ncclGroupEnd() -> ncclResult_t;
                fn ncclAllReduce(send: *const c_void, receive: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t;
                fn ncclBroadcast(send: *const c_void, receive: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t;
                fn ncclReduce(send: *const c_void, receive: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, root: c_int, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t;
                fn ncclAllGather(send: *const c_void, receive: *mut c_void, count: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t;
                fn ncclReduceScatter(send: *const c_void, receive: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t;
                fn ncclSend(send: *const c_void, count: usize, datatype: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t;
                fn ncclRecv(receive: *mut c_void, count: usize, datatype: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t;
            }
            optional {
                fn ncclGetLastError(comm: ncclComm_t) -> *const c_char;
                fn ncclCommInitRankConfig(comm: *mut ncclComm_t, ranks: c_int, id: ncclUniqueId, rank: c_int, config: *mut ncclConfig_t) -> ncclResult_t;
                fn ncclCommInitAll(comms: *mut ncclComm_t, devices: c_int, list: *const c_int) -> ncclResult_t;
                fn ncclCommSplit(comm: ncclComm_t, color: c_int, key: c_int, split: *mut ncclComm_t, config: *mut ncclConfig_t) -> ncclResult_t;
                fn ncclCommFinalize(comm: ncclComm_t) -> ncclResult_t;
                fn ncclBcast(buffer: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t;
                fn ncclAllToAll(send: *const c_void, receive: *mut c_void, count: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t;
                fn ncclGather(send: *const c_void, receive: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t;
                fn ncclScatter(send: *const c_void, receive: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: hipStream_t) -> ncclResult_t;
                fn ncclRedOpCreatePreMulSum(op: *mut ncclRedOp_t, scalar: *mut c_void, datatype: ncclDataType_t, residence: ncclScalarResidence_t, comm: ncclComm_t) -> ncclResult_t;
                fn ncclRedOpDestroy(op: ncclRedOp_t, comm: ncclComm_t) -> ncclResult_t;
            }
        }
    };
}

macro_rules! define_table {
    (
        required { $(fn $name:ident($($parameter:ident: $ty:ty),*) -> $result:ty;)* }
        optional { $(fn $other:ident($($of_other:ident: $other_ty:ty),*) -> $other_result:ty;)* }
    ) => {
        /// The type of each function, under its name.
        #[allow(non_camel_case_types)]
        pub mod pfn {
            use super::*;
            $(
                #[doc = concat!("A pointer to `", stringify!($name), "`.")]
                pub type $name = unsafe extern "C" fn($($parameter: $ty),*) -> $result;
            )*
            $(
                #[doc = concat!("A pointer to `", stringify!($other), "`.")]
                pub type $other = unsafe extern "C" fn($($of_other: $other_ty),*) -> $other_result;
            )*
        }

        /// The index of each function among all.
        #[allow(non_camel_case_types, clippy::enum_variant_names)]
        #[derive(Clone, Copy)]
        pub(super) enum Function {
            $($name,)*
            $($other,)*
        }

        /// RCCL's functions. Each that is no option is present.
        #[allow(non_snake_case)]
        #[derive(Clone, Copy)]
        pub struct Functions {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub $name: pfn::$name,
            )*
            $(
                #[doc = concat!("`", stringify!($other), "`.")]
                pub $other: Option<pfn::$other>,
            )*
        }

        impl Functions {
            /// The names of the functions that every RCCL has.
            pub const REQUIRED: &[&str] = &[$(stringify!($name)),*];
            /// The names of the other functions.
            pub const OPTIONAL: &[&str] = &[$(stringify!($other)),*];

            /// Fills a table by asking `resolve` for the address of each function; null means absent.
            ///
            /// # Errors
            ///
            /// The names of the required functions that are absent.
            ///
            /// # Safety
            ///
            /// An address that is not null must be that of a function with the declared signature, and must stay callable
            /// for as long as the table or a copy of it is used.
            #[allow(non_snake_case)]
            pub unsafe fn resolve(
                mut resolve: impl FnMut(&'static CStr) -> *const c_void,
            ) -> Result<Self, Vec<&'static str>> {
                let mut missing = Vec::new();
                $(
                    let address = resolve(const { c_name(concat!(stringify!($name), "\0")) });
                    let $name = {
                        // SAFETY: an optional function pointer is null or an address, as this pointer is, and the
                        // caller vouches for the signature.
                        unsafe { core::mem::transmute::<*const c_void, Option<pfn::$name>>(address) }
                    };
                    if $name.is_none() {
                        missing.push(stringify!($name));
                    }
                )*
                let ($(Some($name),)*) = ($($name,)*) else { return Err(missing) };
                Ok(Self {
                    $($name,)*
                    $(
                        $other: {
                            let address = resolve(const { c_name(concat!(stringify!($other), "\0")) });
                            // SAFETY: as above.
                            unsafe { core::mem::transmute::<*const c_void, Option<pfn::$other>>(address) }
                        },
                    )*
                })
            }

            /// The names of the functions that are absent.
            pub fn missing(&self) -> Vec<&'static str> {
                let mut missing = Vec::new();
                $(if self.$other.is_none() {
                    missing.push(stringify!($other));
                })*
                missing
            }
        }
    };
}

crate::for_each_rccl_function!(define_table);

impl core::fmt::Debug for Functions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Functions").field("missing", &self.missing()).finish_non_exhaustive()
    }
}

/// Evaluated in constants only, so a panic is a build error.
const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a function's name ends in its only NUL"),
    }
}
