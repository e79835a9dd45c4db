// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of HIP's functions that the simulator has.

use windlass_hip_sys::EntryPoints;

use super::{
    capture, choose, configured, context, copy, copy_batch, device, error, event, fill, graph,
    graph_attribute, graph_clone, graph_edit, graph_exec, graph_generic, graph_memory, graph_node,
    graph_params, graph_symbol, ipc, launch, launch_config, library, lookup, managed, memory, module,
    module_launch, names, pointer, pool, properties, registration, several_devices, stream, stream_facts,
    stream_value, user_object, virtual_memory, volume, word_batch,
};
use crate::hip::words::functions::{SINCE, for_each_function, is_simulated};
use crate::options::Options;

/// Fills a table with the named functions of each module.
macro_rules! table {
    ($($module:ident: $($name:ident)*;)*) => {
        EntryPoints { $($($name: Some($module::$name),)*)* ..EntryPoints::none() }
    };
}

/// Every function that the simulator has, in any version of HIP.
pub(crate) const ALL: EntryPoints = for_each_function!(table);

/// Whether a machine has a function: its version of HIP does, and its options do not remove it. `None` for a name that
/// the simulator does not know.
pub fn version_has(options: &Options, name: &str) -> Option<bool> {
    (is_simulated(name) || options.without.iter().any(|gone| gone == name))
        .then(|| entries(options).address(name).is_some())
}

/// The functions of the simulated version of HIP, without those that the options remove.
pub(crate) fn entries(options: &Options) -> EntryPoints {
    let mut entries = ALL;
    let later = SINCE.iter().filter(|(_, since)| options.hip < *since).map(|(name, _)| *name);
    for name in later.chain(options.without.iter().map(String::as_str)) {
        entries.remove(name);
    }
    entries
}
