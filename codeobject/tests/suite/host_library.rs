// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared objects with kernels for the host, whole and damaged.

use windlass_codeobject::{
    Container, EntryKind, Error, File, FileKind, HostLibrary, HostMachine, HostParameterKind, Options,
};

macro_rules! object {
    ($name:literal) => {
        include_bytes!(concat!("../../../drivers/local/tests/native/", $name, ".so"))
    };
}

const X86_64: &[u8] = object!("kernels.x86_64");
const AARCH64: &[u8] = object!("kernels.aarch64");
const USER: &[u8] = object!("user.x86_64");

/// Bytes of the records.
const INFO: usize = 48;
const PARAMETER: usize = 64;

fn names<'s>(symbols: impl Iterator<Item = &'s windlass_codeobject::Symbol>) -> Vec<&'s str> {
    let mut names: Vec<_> = symbols.map(|symbol| symbol.name.as_str()).collect();
    names.sort_unstable();
    names
}

/// The offset of the description of `scale` in the file.
fn description() -> usize {
    let head: Vec<u8> = [1_u32, 48, 64, 4, 24].into_iter().flat_map(u32::to_le_bytes).collect();
    X86_64.windows(head.len()).position(|bytes| bytes == head).unwrap()
}

/// The object with other bytes at a place of the description of `scale`.
fn described(at: usize, bytes: &[u8]) -> HostLibrary {
    let mut object = X86_64.to_vec();
    let at = description() + at;
    object[at..at + bytes.len()].copy_from_slice(bytes);
    HostLibrary::parse(&object).unwrap()
}

#[test]
fn objects_of_any_machine_are_read() {
    for (bytes, machine) in [(X86_64, HostMachine::X86_64), (AARCH64, HostMachine::Aarch64)] {
        let library = HostLibrary::parse(bytes).unwrap();
        assert_eq!(library.machine(), machine);
        assert!(library.rejected().is_empty());
        assert_eq!(library.kernels().len(), 9);
        let scale = library.kernels().iter().find(|kernel| kernel.name == "scale").unwrap();
        assert_eq!((scale.argument_size, scale.workgroup_size, scale.local_memory_size), (24, None, 0));
        let parameters = scale.parameters.iter();
        let parameters: Vec<_> = parameters.map(|p| (p.kind, p.offset, p.size, p.name.as_deref())).collect();
        let (value, buffer) = (HostParameterKind::Value, HostParameterKind::Buffer);
        let expected = [
            (buffer, 0, 8, Some("in")),
            (buffer, 8, 8, Some("out")),
            (value, 16, 4, Some("factor")),
            (value, 20, 4, Some("n")),
        ];
        assert_eq!(parameters, expected);
        let fixed = library.kernels().iter().find(|kernel| kernel.name == "fixed").unwrap();
        assert_eq!((fixed.workgroup_size, fixed.max_workgroup_threads), (Some([4, 2, 1]), 8));
        assert_eq!(names(library.variables()), ["counter"]);
        assert_eq!(names(library.constants()), ["primes"]);
        assert_eq!(names(library.functions()), ["helper"]);
        assert_eq!(names(library.undefined()), [""; 0]);
    }
    let user = HostLibrary::parse(USER).unwrap();
    assert_eq!(names(user.undefined()), ["bias", "threefold"]);
    assert_eq!(names(user.variables()), ["seed"]);
}

#[test]
fn a_file_that_is_one_has_one_entry() {
    let file = File::parse(AARCH64, &Options::default()).unwrap();
    assert_eq!(file.kind(), FileKind::HostLibrary);
    let [bundle] = file.bundles() else { panic!("{file:?}") };
    assert_eq!(bundle.container(), Container::HostLibrary);
    let [entry] = bundle.entries() else { panic!("{bundle:?}") };
    assert_eq!(
        (entry.kind(), entry.id_text().as_str()),
        (&EntryKind::Host, "host-aarch64-unknown-linux-gnu-")
    );
    assert_eq!(bundle.extract(0).unwrap(), AARCH64);
    let none = File::parse(object!("provider.x86_64"), &Options::default());
    assert!(matches!(none, Err(Error::NotFound { .. })), "it describes no kernels");
}

#[test]
fn descriptions_are_read_with_nothing_taken_for_granted() {
    let word = |at: usize, value: u32| (at, value.to_le_bytes().to_vec());
    let of_parameter = |index: usize, at: usize| INFO + PARAMETER * index + at;
    for ((at, bytes), said) in [
        (word(0, 0), "version 0"),
        (word(0, 2), "version 2"),
        (word(4, 44), "info_size is 44"),
        (word(4, 50), "info_size is 50"),
        (word(4, u32::MAX - 3), "takes"),
        (word(8, 60), "parameter_size is 60"),
        (word(8, u32::MAX - 3), "takes"),
        (word(12, 5), "with 5 parameters"),
        (word(12, u32::MAX), "parameters takes"),
        (word(16, 23), "4 bytes at 20 do not lie in the 23 bytes"),
        (word(16, (1 << 20) + 1), "above the limit"),
        (word(20, 4), "[4, 0, 0], which has no work item"),
        (word(36, u32::MAX), "bytes of local memory, above the limit"),
        (word(of_parameter(0, 0), 2), "parameter 0: its kind is 2"),
        (word(of_parameter(1, 8), 4), "parameter 1: a buffer of 4 bytes"),
        (word(of_parameter(2, 0), 1), "parameter 2: a buffer of 4 bytes"),
        (word(of_parameter(1, 4), 7), "parameter 1: it begins at 7, before the one ahead of it ends at 8"),
        (word(of_parameter(3, 4), u32::MAX), "do not lie in the 24 bytes"),
        (word(of_parameter(3, 8), 0), "parameter 3: it has no bytes"),
        ((of_parameter(3, 16), vec![b'n'; 48]), "its name has no end"),
        ((of_parameter(0, 16), vec![0xff, 0]), "its name is not UTF-8"),
    ] {
        let library = described(at, &bytes);
        let [rejected] = library.rejected() else { panic!("{said}: {:?}", library.rejected()) };
        assert_eq!(rejected.name, "scale");
        assert!(rejected.reason.contains(said), "`{said}` is not in: {}", rejected.reason);
        assert_eq!(library.kernels().len(), 8, "the others are good");
    }
}

#[test]
fn longer_records_of_later_versions_are_read() {
    // The first parameter as the end of a longer record, then every other one.
    let longer = described(4, &((INFO + PARAMETER) as u32).to_le_bytes());
    assert_eq!(longer.rejected().len(), 1, "four parameters are not there");
    let mut head = Vec::new();
    for word in [(INFO + PARAMETER) as u32, (2 * PARAMETER) as u32, 1] {
        head.extend(word.to_le_bytes());
    }
    let longer = described(4, &head);
    let scale = longer.kernels().iter().find(|kernel| kernel.name == "scale").unwrap();
    let names: Vec<_> = scale.parameters.iter().filter_map(|parameter| parameter.name.as_deref()).collect();
    assert_eq!(names, ["out"]);
}

#[test]
fn a_description_without_its_function_is_told() {
    let mut object = X86_64.to_vec();
    // `count` is a variable now.
    let kind = word(X86_64, dynamic(X86_64, SYMTAB)) as usize + 16 * 24 + 4;
    assert_eq!(object[kind], 0x12);
    object[kind] = 0x11;
    let library = HostLibrary::parse(&object).unwrap();
    let [rejected] = library.rejected() else { panic!("{:?}", library.rejected()) };
    assert_eq!(rejected.name, "count");
    assert!(rejected.reason.contains("no function `count`"), "{}", rejected.reason);
    assert_eq!(names(library.functions()), ["helper"]);
    assert_eq!(names(library.constants()), ["count", "primes"]);
}

#[test]
fn other_files_than_shared_objects_of_this_system_are_refused() {
    for (at, value, said) in [
        (4, 1, "32 bits"),
        (5, 2, "big-endian"),
        (7, 9, "another operating system"),
        (16, 1, "an object of the compiler"),
        (16, 2, "no shared object"),
    ] {
        let mut object = X86_64.to_vec();
        object[at] = value;
        let error = HostLibrary::parse(&object).unwrap_err().to_string();
        assert!(error.contains(said), "`{said}` is not in: {error}");
    }
}

#[test]
fn variables_of_the_whole_process_are_refused() {
    let mut object = X86_64.to_vec();
    // `counter`.
    let at = word(X86_64, dynamic(X86_64, SYMTAB)) as usize + 17 * 24 + 4;
    assert_eq!(object[at], 0x11);
    object[at] = 0xa1;
    let error = HostLibrary::parse(&object).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let file = File::parse(&object, &Options::default()).unwrap_err();
    assert!(matches!(file, Error::NotFound { .. }), "as a file it has no code: {file}");
    for said in ["`counter`", "-fno-gnu-unique", "--exclude-libs,ALL"] {
        assert!(error.to_string().contains(said), "{error}");
        assert!(file.to_string().contains(said), "{file}");
    }
}

/// The offset of the value of a dynamic tag, in an object with equal offsets and addresses up to there.
fn dynamic(object: &[u8], tag: u64) -> usize {
    let program = (64..64 + 56 * usize::from(object[56])).step_by(56);
    let header = program.into_iter().find(|at| object[*at..*at + 4] == 2_u32.to_le_bytes()).unwrap();
    let start = word(object, header + 8) as usize;
    (start..).step_by(16).find(|at| word(object, *at) == tag).unwrap() + 8
}

fn word(object: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(object[at..at + 8].try_into().unwrap())
}

/// The object with a word changed.
fn with_word(object: &[u8], at: usize, value: u64) -> Vec<u8> {
    let mut object = object.to_vec();
    object[at..at + 8].copy_from_slice(&value.to_le_bytes());
    object
}

const SYMTAB: u64 = 6;
const RELACOUNT: u64 = 0x6fff_fff9;

#[test]
fn what_another_definition_may_stand_in_for_is_known() {
    let library = HostLibrary::parse(X86_64).unwrap();
    assert!(library.is_interposable("counter"));
    for never_looked_up in ["primes", "scale", "nothing"] {
        assert!(!library.is_interposable(never_looked_up), "{never_looked_up}");
    }
    assert!(!HostLibrary::parse(USER).unwrap().is_interposable("bias"), "it is not its own");
    let tag = dynamic(X86_64, RELACOUNT) - 8;
    for (at, value) in [(tag, 16), (tag, 30)] {
        // DT_SYMBOLIC; DT_FLAGS with DF_SYMBOLIC.
        let symbolic = with_word(&with_word(X86_64, at + 8, 2), at, value);
        assert!(!HostLibrary::parse(&symbolic).unwrap().is_interposable("counter"));
    }
}

#[test]
fn no_damage_makes_it_panic() {
    let whole = HostLibrary::parse(USER).unwrap();
    let step = if cfg!(miri) { 499 } else { 1 };
    for size in (0..USER.len()).step_by(step) {
        // Section headers may be missing: no loader reads them.
        if let Ok(library) = HostLibrary::parse(&USER[..size]) {
            assert_eq!(library, whole, "{size} bytes");
        }
    }
    let mut object = USER.to_vec();
    for at in (0..object.len()).step_by(step) {
        for value in [0, 0x7f, 0x80, 0xff, USER[at] ^ 1] {
            object[at] = value;
            let _ = HostLibrary::parse(&object);
        }
        object[at] = USER[at];
    }
}
