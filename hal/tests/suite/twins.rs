// SPDX-License-Identifier: MIT OR Apache-2.0
//! A concept has the same file name in `hal/src/driver/` and in every driver, and a name that drivers share has one meaning.

use std::{collections::BTreeSet, fs, path::Path};

const DRIVERS: [&str; 4] = ["drivers/hip", "drivers/local", "drivers/null", "examples/out-of-tree-driver"];

/// The files of `hal/src/driver/` without a twin in any driver, with the reason.
const HALS_OWN: [(&str, &str); 13] = [
    ("accounts", "the pools of the kit count the memory of all drivers"),
    ("binding_table", "drivers read the front's table"),
    ("buffer_ref", "drivers resolve the front's references"),
    ("collective", "drivers match on the front's collective operations"),
    ("command", "drivers match on the front's commands"),
    ("command_list", "drivers replay the front's lists"),
    ("host_call", "one pool of threads runs the host calls of all drivers"),
    ("mod", "the list of the layer's files"),
    ("operation", "drivers match on the front's operations"),
    ("range", "drivers read the front's ranges"),
    ("recorded_range", "drivers read the ranges of recorded commands"),
    ("storage", "the kit moves the bytes of files for all drivers"),
    ("wrapper", "a driver is no wrapper"),
];

/// Files that one driver lacks, with the reason.
const LACKING: [(&str, &str, &str); 13] = [
    ("drivers/local", "allocator", "the kit's `HostHeap` is its allocator"),
    ("drivers/local", "buffer", "the kit's `HostMemory` is its memory"),
    ("drivers/local", "channel", "it declares `Feature::Collectives` a lack"),
    ("drivers/null", "channel", "it declares `Feature::Collectives` a lack"),
    ("examples/out-of-tree-driver", "channel", "it declares `Feature::Collectives` a lack"),
    ("drivers/local", "external_timepoint", "it declares `Feature::ExternalTimepoints` a lack"),
    ("drivers/null", "external_timepoint", "it declares `Feature::ExternalTimepoints` a lack"),
    ("drivers/local", "growable", "the kit's `HostSpace` is its memory that grows"),
    ("drivers/null", "growable", "the kit's `HostSpace` is its memory that grows"),
    ("examples/out-of-tree-driver", "growable", "it declares `Feature::VirtualMemory` a lack"),
    ("drivers/null", "workgroup_count", "it runs no kernels"),
    ("examples/out-of-tree-driver", "external_timepoint", "it declares `Feature::ExternalTimepoints` a lack"),
    ("examples/out-of-tree-driver", "workgroup_count", "it declares `Feature::IndirectDispatch` a lack"),
];

/// The names beside those of hal that several drivers share, with their meaning.
const DRIVER_WORDS: [(&str, &str); 5] = [
    ("queues", "all queues of a device, and draining"),
    ("replay", "one submission of a command buffer as it runs"),
    ("stream", "the in-order line of work of a device"),
    ("submission", "an operation whose waits allow it, from its first part to its signals"),
    ("submit", "how an operation gets from the caller to its start: `pending::Issue`"),
];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The names of files and folders of a folder, without `.rs`.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

fn names_of_driver(driver: &str) -> BTreeSet<String> {
    names(&repository().join(driver).join("src"))
}

fn names_of_hal(folder: &Path) -> BTreeSet<String> {
    let mut all = names(folder);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.append(&mut names_of_hal(&path));
        }
    }
    all
}

#[test]
fn each_driver_has_the_files_of_hals_driver_layer() {
    let concepts = names(&repository().join("hal/src/driver"));
    for (name, _) in HALS_OWN {
        assert!(concepts.contains(name), "HALS_OWN has `{name}`, but hal/src/driver has no such file");
    }
    for driver in DRIVERS {
        let own = names_of_driver(driver);
        for concept in &concepts {
            let lacks = HALS_OWN.iter().any(|(name, _)| name == concept)
                || LACKING.iter().any(|(lacking, name, _)| *lacking == driver && name == concept);
            match own.contains(concept) {
                false => assert!(
                    lacks,
                    "{driver}/src has no `{concept}.rs`, but hal/src/driver has; give the file of that concept this name, \
                     or state in LACKING why there is none"
                ),
                true => assert!(!lacks, "{driver}/src has `{concept}.rs`, but a table says that it has none"),
            }
        }
    }
}

#[test]
fn a_name_that_drivers_share_is_hals_or_a_word_of_drivers() {
    let hal = names_of_hal(&repository().join("hal/src"));
    let drivers = DRIVERS.map(names_of_driver);
    let count = |name: &str| drivers.iter().filter(|names| names.contains(name)).count();
    for name in drivers.iter().flatten().filter(|name| count(name) > 1) {
        assert!(
            hal.contains(name) || DRIVER_WORDS.iter().any(|(word, _)| word == name),
            "several drivers have `{name}.rs`; state its one meaning in DRIVER_WORDS, or rename a file"
        );
    }
    for (word, _) in DRIVER_WORDS {
        assert!(!hal.contains(word), "`{word}` is a file of hal, so DRIVER_WORDS needs no row for it");
        assert!(count(word) > 1, "fewer than two drivers have `{word}.rs`");
    }
}
