// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules that need another: loading is refused while a symbol is undefined; after that they call each
//! other.

use std::ffi::CStr;
use std::path::Path;
use std::ptr::null_mut;

use crate::common::{Block, Machine};
use windlass_codeobject::CodeObject;
use windlass_hip_sys::bindings::*;

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn address_of(machine: &Machine, module: hipModule_t, name: &CStr) -> u64 {
    let (mut address, mut size) = (null_mut(), 0);
    ok!(machine, hipModuleGetGlobal(&mut address, &mut size, module, name.as_ptr()));
    address as u64
}

/// `link_user` with the addresses of the loaded `provider`.
fn resolved(machine: &Machine, provider: hipModule_t) -> Vec<u8> {
    let definer = CodeObject::parse(&file("link_provider.gfx942.co")).unwrap();
    let place = |name: &str| definer.symbols().iter().find(|symbol| symbol.name == name).unwrap().address;
    let base = address_of(machine, provider, c"link_bias") - place("link_bias");
    let mut user = file("link_user.gfx942.co");
    let code = CodeObject::parse(&user).unwrap();
    code.resolve(&mut user, |symbol| Some(base + place(&symbol.name))).unwrap();
    user
}

#[test]
fn what_a_relocation_asks_for_must_be_there() {
    let machine = Machine::new("");
    let mut module = null_mut();
    let user = file("link_user.gfx942.co");
    fails!(hipErrorSharedObjectInitFailed, machine, hipModuleLoadData(&mut module, user.as_ptr().cast()));
    let reason = machine.api.diagnose().unwrap();
    assert!(reason.contains("link_scale") && reason.contains("load it together"), "{reason}");
    // The symbols stay undefined, but nothing refers to them any more.
    let provider = machine.load(&file("link_provider.gfx942.co"));
    let user = resolved(&machine, provider);
    assert_eq!(CodeObject::parse(&user).unwrap().undefined().count(), 2);
    machine.load(&user);
}

#[test]
fn a_kernel_calls_a_function_of_another_module() {
    let machine = Machine::new("");
    let provider = machine.load(&file("link_provider.gfx942.co"));
    let user = machine.load(&resolved(&machine, provider));
    let apply = machine.function(user, c"link_apply");
    let run = |waves: u32| {
        let values = machine.upload(&vec![2.0_f32; 64 * waves as usize]);
        let arguments = Block::default().pointer(values).done();
        assert_eq!(machine.launch(apply, 1, 64 * waves, null_mut(), &arguments), hipError_t::hipSuccess);
        values
    };
    assert_eq!(machine.download::<f32>(run(1), 64), vec![6.5; 64]);
    let set = machine.function(provider, c"link_set_bias");
    let arguments = Block::default().f32(-1.0).done();
    assert_eq!(machine.launch(set, 1, 1, null_mut(), &arguments), hipError_t::hipSuccess);
    assert_eq!(
        machine.download::<f32>(run(16), 1024),
        vec![5.0; 1024],
        "each wave comes back to its own code"
    );

    ok!(machine, hipModuleUnload(provider));
    run(1);
    fails!(hipErrorIllegalAddress, machine, hipDeviceSynchronize());
    let reason = machine.api.diagnose().unwrap();
    assert!(reason.contains("link_apply"), "{reason}");
}
