// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of declarations is usable in other crates: here in one that exports functions, like a drop-in library.

use windlass_hip_sys::EntryPoints;
use windlass_hip_sys::bindings::*;

macro_rules! define_pointers {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        #[allow(non_snake_case)]
        struct Mine {
            $($name: Option<unsafe extern "C" fn($($parameter: $ty),*) -> $result>),*
        }

        impl From<Mine> for EntryPoints {
            fn from(mine: Mine) -> Self {
                Self { $($name: mine.$name),* }
            }
        }

        const MINE: Mine = Mine { $($name: None),* };
    };
}

windlass_hip_sys::for_each_entry_point!(define_pointers);

unsafe extern "C" fn five_devices(count: *mut c_int) -> hipError_t {
    // SAFETY: the test hands in a pointer of its own.
    unsafe { count.write(5) };
    hipError_t::hipSuccess
}

#[test]
fn every_declaration_has_its_place_in_the_table() {
    let table = EntryPoints::from(Mine { hipGetDeviceCount: Some(five_devices), ..MINE });
    let present: Vec<_> = EntryPoints::NAMES.iter().filter(|name| table.address(name).is_some()).collect();
    assert_eq!(present, [&"hipGetDeviceCount"]);
    assert_eq!(table.address("hipGetDeviceCount"), Some(five_devices as *const c_void));
    assert_eq!(table.address("hipNoSuchFunction"), None);
}

#[test]
fn a_resolver_is_asked_for_each_name_once() {
    let mut asked = Vec::new();
    // SAFETY: no address is given.
    let table = unsafe {
        EntryPoints::resolve(|name| {
            asked.push(name.to_str().expect("names are ASCII"));
            std::ptr::null()
        })
    };
    assert_eq!(asked, EntryPoints::NAMES);
    assert!(EntryPoints::NAMES.iter().all(|name| table.address(name).is_none()));
}
