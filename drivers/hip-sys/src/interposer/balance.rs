// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that create and destroy objects, by kind.

/// A kind of object, the functions that create one, and the functions that destroy one.
type Kind = (&'static str, &'static [&'static str], &'static [&'static str]);

const KINDS: &[Kind] = &[
    (
        "device memory",
        &[
            "hipMalloc",
            "hipExtMallocWithFlags",
            "hipMallocManaged",
            "hipMallocPitch",
            "hipMallocAsync",
            "hipMallocFromPoolAsync",
        ],
        &["hipFree", "hipFreeAsync"],
    ),
    ("host memory", &["hipHostMalloc", "hipHostAlloc", "hipMallocHost"], &["hipHostFree", "hipFreeHost"]),
    ("registered memory", &["hipHostRegister"], &["hipHostUnregister"]),
    ("memory pools", &["hipMemPoolCreate", "hipMemPoolImportFromShareableHandle"], &["hipMemPoolDestroy"]),
    ("reserved addresses", &["hipMemAddressReserve"], &["hipMemAddressFree"]),
    ("physical memory", &["hipMemCreate", "hipMemImportFromShareableHandle"], &["hipMemRelease"]),
    ("mappings", &["hipMemMap"], &["hipMemUnmap"]),
    ("memory of other processes", &["hipIpcOpenMemHandle"], &["hipIpcCloseMemHandle"]),
    ("external memory", &["hipImportExternalMemory"], &["hipDestroyExternalMemory"]),
    ("external semaphores", &["hipImportExternalSemaphore"], &["hipDestroyExternalSemaphore"]),
    (
        "streams",
        &[
            "hipStreamCreate",
            "hipStreamCreateWithFlags",
            "hipStreamCreateWithPriority",
            "hipExtStreamCreateWithCUMask",
        ],
        &["hipStreamDestroy"],
    ),
    ("events", &["hipEventCreate", "hipEventCreateWithFlags", "hipIpcOpenEventHandle"], &["hipEventDestroy"]),
    (
        "modules",
        &["hipModuleLoad", "hipModuleLoadData", "hipModuleLoadDataEx", "hipModuleLoadFatBinary"],
        &["hipModuleUnload"],
    ),
    ("libraries", &["hipLibraryLoadData", "hipLibraryLoadFromFile"], &["hipLibraryUnload"]),
    ("contexts", &["hipCtxCreate"], &["hipCtxDestroy"]),
    ("retained contexts", &["hipDevicePrimaryCtxRetain"], &["hipDevicePrimaryCtxRelease"]),
    (
        "graphs",
        &["hipGraphCreate", "hipGraphClone", "hipStreamEndCapture"],
        // A capture into a graph that exists ends with that graph, and makes none.
        &["hipGraphDestroy", "hipStreamBeginCaptureToGraph"],
    ),
    (
        "instantiated graphs",
        &["hipGraphInstantiate", "hipGraphInstantiateWithFlags", "hipGraphInstantiateWithParams"],
        &["hipGraphExecDestroy"],
    ),
    ("textures", &["hipCreateTextureObject"], &["hipDestroyTextureObject"]),
    ("surfaces", &["hipCreateSurfaceObject"], &["hipDestroySurfaceObject"]),
];

/// The kinds with more created than destroyed objects. `succeeded` gives the number of a function's successful calls.
pub(super) fn live(succeeded: impl Fn(&str) -> u64) -> Vec<(&'static str, i64)> {
    let sum = |names: &[&str]| names.iter().map(|name| succeeded(name)).sum::<u64>().cast_signed();
    let balances = KINDS.iter().map(|(kind, creates, destroys)| {
        // Count destructions first, so that no destruction is counted without its creation.
        let destroyed = sum(destroys);
        (*kind, sum(creates) - destroyed)
    });
    balances.filter(|(_, balance)| *balance != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::EntryPoints;

    #[test]
    fn every_name_is_a_function() {
        for name in KINDS.iter().flat_map(|(_, creates, destroys)| creates.iter().chain(*destroys)) {
            assert!(EntryPoints::NAMES.contains(name), "{name}");
        }
    }

    /// Every function whose name suggests creation or destruction is in the list, or is known to be neither.
    #[test]
    fn nothing_that_creates_or_destroys_is_forgotten() {
        // A graph's nodes are destroyed with the graph, and user objects with their last reference.
        const NEITHER: [&str; 8] = [
            "__hipRegister",
            "__hipUnregister",
            "hipFreeArray",
            "hipGraphDestroyNode",
            "hipGraphAddMemFreeNode",
            "hipGraphMemFreeNode",
            "hipDrvGraphAddMemFreeNode",
            "hipUserObjectCreate",
        ];
        let listed: Vec<_> =
            KINDS.iter().flat_map(|(_, creates, destroys)| creates.iter().chain(*destroys)).collect();
        let sounds = ["Create", "Destroy", "Malloc", "Free", "Register", "Unregister", "Load", "Unload"];
        for name in EntryPoints::NAMES {
            let suspect = sounds.iter().any(|sound| name.contains(sound))
                && !NEITHER.iter().any(|prefix| name.starts_with(prefix));
            assert!(!suspect || listed.contains(&name), "{name} creates or destroys what?");
        }
    }
}
