// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of entry points: one optional function pointer per declaration.

use core::ffi::{CStr, c_void};

use crate::bindings::*;

macro_rules! define_table {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        /// The type of each entry point, under the name of its function.
        #[allow(non_camel_case_types, non_snake_case)]
        pub mod pfn {
            use super::*;
            $(
                #[doc = concat!("A pointer to `", stringify!($name), "`.")]
                pub type $name = unsafe extern "C" fn($($parameter: $ty),*) -> $result;
            )*
        }

        /// The index of each function in [`EntryPoints::NAMES`].
        #[allow(non_camel_case_types, clippy::enum_variant_names)]
        #[derive(Clone, Copy)]
        pub(crate) enum Function {
            $($name),*
        }

        /// HIP's functions, each present or not.
        ///
        /// The struct does not know their origin; [`Api`](crate::Api) does.
        #[allow(non_snake_case)]
        #[derive(Clone, Copy)]
        pub struct EntryPoints {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub $name: Option<pfn::$name>,
            )*
        }

        impl EntryPoints {
            /// The names of all functions, in the order of the declarations.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// A table with no entry at all.
            pub const fn none() -> Self {
                Self { $($name: None),* }
            }

            /// Fills a table by asking `resolve` for the address of each function; null means absent.
            ///
            /// # Safety
            ///
            /// An address that is not null must be that of a function with the declared signature, and must stay callable
            /// for as long as the table or a copy of it is used.
            pub unsafe fn resolve(mut resolve: impl FnMut(&'static CStr) -> *const c_void) -> Self {
                Self {
                    $(
                        $name: {
                            const NAME: &CStr = c_name(concat!(stringify!($name), "\0"));
                            let address = resolve(NAME);
                            // SAFETY: an optional function pointer is null or an address, as this pointer is, and the
                            // caller vouches for the signature.
                            unsafe { core::mem::transmute::<*const c_void, Option<pfn::$name>>(address) }
                        },
                    )*
                }
            }

            /// The address of the function called `name`; `None` if the table does not declare it, or it is absent.
            pub fn address(&self, name: &str) -> Option<*const c_void> {
                match name {
                    $(stringify!($name) => self.$name.map(|entry| entry as *const c_void),)*
                    _ => None,
                }
            }

            /// Removes the function called `name` from the table, as if the library lacked it.
            ///
            /// Returns false if no declaration has that name.
            pub fn remove(&mut self, name: &str) -> bool {
                match name {
                    $(stringify!($name) => self.$name = None,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

crate::for_each_entry_point!(define_table);

impl Default for EntryPoints {
    fn default() -> Self {
        Self::none()
    }
}

impl core::fmt::Debug for EntryPoints {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let present = Self::NAMES.iter().filter(|name| self.address(name).is_some()).count();
        write!(f, "EntryPoints({present} of {})", Self::NAMES.len())
    }
}

/// Evaluated in constants only, so a panic is a build error.
const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("an entry point's name ends in its only NUL"),
    }
}
