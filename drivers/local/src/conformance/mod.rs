// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernels of the conformance suite in Rust, one library for each of the suite's modules. Names, parameters and
//! results are those of the GPU kernels in `cts/kernels/README.md`. Kernels that read AMD's dispatch packet have no
//! twin.
//!
//! The suite uses these kernels on a device that loads no shared objects. Its bundles hold the same kernels as host
//! code.
//!
//! With this feature every device of the driver has the libraries, under the names `conformance.MODULE`.

mod arguments;
mod elements;
mod faults;
mod globals;
mod items;
mod local_memory;
mod order;
mod positions;

use windlass_hal::{Error, Result};

use crate::{Library, image};

/// The modules that have a twin.
pub const MODULES: [&str; 12] = [
    "arguments",
    "entries",
    "faults",
    "fixed_block",
    "globals",
    "histogram",
    "matmul",
    "order",
    "positions",
    "reduce",
    "saxpy",
    "vector_add",
];

/// The image of a module's twin. The suite takes this function as its source of kernels of the format
/// [`FORMAT`](crate::FORMAT).
pub fn find(module: &str) -> Option<Vec<u8>> {
    MODULES.contains(&module).then(|| image(&format!("conformance.{module}")))
}

/// The libraries that the images name.
pub fn libraries() -> Vec<Library> {
    MODULES.into_iter().filter_map(|module| library(module).ok()).collect()
}

fn library(module: &str) -> Result<Library> {
    let library = Library::builder(format!("conformance.{module}"));
    let library = match module {
        "arguments" => arguments::all(library),
        "entries" => elements::entries(library),
        "faults" => faults::all(library),
        "fixed_block" => elements::fixed_block(library),
        "globals" => globals::all(library),
        "histogram" => local_memory::histogram(library),
        "matmul" => local_memory::matmul(library),
        "order" => order::all(library),
        "positions" => positions::all(library),
        "reduce" => local_memory::reduce(library),
        "saxpy" => elements::saxpy(library),
        "vector_add" => elements::vector_add(library),
        _ => return Err(Error::not_found(format!("no module `{module}`"))),
    };
    library.build()
}

#[cfg(test)]
mod tests {
    use windlass_hal::ParameterKind;

    use super::*;

    /// Every twin takes the parameters of its GPU kernel.
    #[test]
    fn twins_are_as_the_manifest_tells() {
        let manifest = include_str!("../../../../cts/kernels/manifest.json");
        let manifest: serde_json::Value = serde_json::from_str(manifest).unwrap();
        for name in MODULES {
            let modules = manifest["modules"].as_array().unwrap();
            let module = modules.iter().find(|module| module["module"] == name).unwrap();
            let library = library(name).unwrap();
            assert!(!library.functions().is_empty(), "{name}");
            for info in library.functions() {
                let kernels = module["kernels"].as_array().unwrap();
                let kernel = kernels.iter().find(|kernel| kernel["name"] == info.name.as_str()).unwrap();
                let number = |value: &serde_json::Value| value.as_u64().unwrap() as u32;
                let arguments = kernel["arguments"].as_array().unwrap().iter().map(|argument| {
                    let pointer = argument["kind"] == "pointer";
                    let kind = if pointer { ParameterKind::Buffer } else { ParameterKind::Value };
                    let name = argument["name"].as_str().unwrap().to_owned();
                    (kind, number(&argument["offset"]), number(&argument["size"]), Some(name))
                });
                let own = info.parameters.iter();
                let own: Vec<_> = own.map(|p| (p.kind, p.offset, p.size, p.name.clone())).collect();
                assert_eq!(own, arguments.collect::<Vec<_>>(), "{}", info.name);
                assert_eq!(info.argument_size, number(&kernel["explicit_argument_bytes"]), "{}", info.name);
                assert_eq!(info.static_local_memory, number(&kernel["static_lds_bytes"]), "{}", info.name);
                assert_eq!(info.max_workgroup_threads, number(&kernel["max_block_items"]), "{}", info.name);
                let fixed = kernel["required_block"].as_array();
                let fixed = fixed.map(|size| [number(&size[0]), number(&size[1]), number(&size[2])]);
                assert_eq!(info.workgroup_size, fixed, "{}", info.name);
            }
        }
    }
}
