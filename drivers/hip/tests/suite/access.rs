// SPDX-License-Identifier: MIT OR Apache-2.0
//! The obstacles between a process and a GPU, on machines made of files.
#![cfg(target_os = "linux")]

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

use windlass_hip::access::{Machine, Membership, Obstacle, User};

/// A user id that no user of these tests has.
const UID: u32 = 54_321;

struct Fake {
    root: PathBuf,
    gid: u32,
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

impl Fake {
    fn empty() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("machine-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&root).unwrap();
        let gid = fs::metadata(&root).unwrap().gid();
        let fake = Self { root, gid };
        fake.file(
            "etc/passwd",
            &format!("root:x:0:0::/root:/bin/sh\nada:x:{UID}:{UID}::/home/ada:/bin/sh\n"),
        );
        fake.file("etc/group", &format!("video:x:44444:ada\nrender:x:{gid}:bob\n"));
        fake
    }

    /// A machine with a GPU that is ready to use.
    fn ready() -> Self {
        let fake = Self::empty();
        fake.gpu("0x030000\n");
        fake.file("sys/module/amdgpu/refcnt", "1\n");
        fake.device("dev/kfd", 0o660);
        fake.device("dev/dri/renderD128", 0o660);
        fake.device("dev/dri/card0", 0o660);
        fake
    }

    fn gpu(&self, class: &str) {
        self.file("sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
        self.file("sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
        self.file("sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n");
        self.file("sys/bus/pci/devices/0000:03:00.0/class", class);
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn device(&self, path: &str, mode: u32) {
        self.file(path, "");
        fs::set_permissions(self.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn remove(&self, path: &str) {
        let path = self.root.join(path);
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }

    fn seen_by(&self, gids: &[u32], variables: &[(&str, &str)]) -> Vec<Obstacle> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let user = User { uid: UID, gids: gids.to_vec() };
        Machine::at(&self.root, user, variables.collect()).obstacles()
    }

    fn seen_by_member(&self) -> Vec<Obstacle> {
        self.seen_by(&[UID, self.gid], &[])
    }
}

fn texts(obstacles: &[Obstacle]) -> Vec<String> {
    obstacles.iter().map(ToString::to_string).collect()
}

#[test]
fn a_machine_that_is_ready_has_no_obstacle() {
    let fake = Fake::ready();
    assert_eq!(fake.seen_by_member(), []);
    // Variables that HIP does not read are ignored.
    assert_eq!(fake.seen_by(&[fake.gid], &[("PATH", "/bin")]), []);
    // One of several nodes is enough.
    fake.device("dev/dri/renderD129", 0o600);
    assert_eq!(fake.seen_by_member(), []);
    let everybody = Fake::ready();
    everybody.device("dev/kfd", 0o666);
    everybody.device("dev/dri/renderD128", 0o666);
    assert_eq!(everybody.seen_by(&[UID], &[]), []);
    let administrator = User { uid: 0, gids: vec![0] };
    assert_eq!(Machine::at(&fake.root, administrator, Vec::new()).obstacles(), []);
}

#[test]
fn without_a_gpu_nothing_else_is_said() {
    let fake = Fake::empty();
    assert_eq!(fake.seen_by_member(), [Obstacle::NoGpu]);
    // AMD makes other devices, too: a host bridge.
    fake.gpu("0x060000\n");
    assert_eq!(fake.seen_by_member(), [Obstacle::NoGpu]);
}

#[test]
fn a_kernel_driver_that_is_not_loaded_is_named_with_the_gpu() {
    let fake = Fake::empty();
    // An accelerator without a display.
    fake.gpu("0x120000\n");
    let text = texts(&fake.seen_by_member()).join("");
    assert!(text.contains("0000:03:00.0") && text.ends_with("`sudo modprobe amdgpu`"), "{text}");
    fake.file(".dockerenv", "");
    let text = texts(&fake.seen_by_member()).join("");
    assert!(text.ends_with("on the host of this container"), "{text}");
}

#[test]
fn missing_device_files_are_named() {
    let fake = Fake::ready();
    fake.remove("dev/kfd");
    let text = texts(&fake.seen_by_member());
    assert!(
        matches!(&text[..], [one] if one.contains("/dev/kfd is missing: it was built without")),
        "{text:?}"
    );
    fake.remove("dev/dri");
    assert_eq!(fake.seen_by_member().len(), 2);
    fake.file("run/.containerenv", "");
    let text = texts(&fake.seen_by_member());
    for (text, file) in text.iter().zip(["/dev/kfd", "/dev/dri/renderD*"]) {
        assert!(
            text.contains(&format!("{file} is missing in this container: start the container")),
            "{text}"
        );
        assert!(text.contains("--device /dev/kfd --device /dev/dri"), "{text}");
    }
}

#[test]
fn a_file_that_keeps_the_user_out_is_named_with_its_group() {
    let fake = Fake::ready();
    let gid = fake.gid;
    let seen = fake.seen_by(&[UID], &[]);
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(
        seen[0],
        Obstacle::Denied {
            file: "/dev/kfd".to_owned(),
            group: (Some("render".to_owned()), gid),
            mode: 0o660,
            member: Membership::None("ada".to_owned()),
            container: false,
        }
    );
    let text = texts(&seen);
    assert!(
        text[0].contains(&format!("(group render ({gid}), mode 0660): ada is not in that group")),
        "{text:?}"
    );
    assert!(text[0].ends_with("`sudo usermod -a -G render ada`, then log in anew"), "{text:?}");
    assert!(text[1].starts_with("/dev/dri/renderD128 does not let this process in"), "{text:?}");

    // In the table, but not yet in the process.
    fake.file("etc/group", &format!("render:x:{gid}:bob,ada\n"));
    let text = texts(&fake.seen_by(&[UID], &[]));
    assert!(
        text[0].ends_with("ada is in that group, and this process was started before: log in anew"),
        "{text:?}"
    );

    // In most containers neither the group nor the user has a name.
    fake.file("etc/group", "");
    fake.file("etc/passwd", "");
    fake.file(".dockerenv", "");
    let text = texts(&fake.seen_by(&[UID], &[]));
    assert!(
        text[0].contains(&format!("(group {gid}, mode 0660): start the container with --group-add {gid}"))
    );

    fake.device("dev/kfd", 0o600);
    let text = texts(&fake.seen_by_member());
    assert!(
        matches!(&text[..], [one] if one.contains("the group is right; the container's rules")),
        "{text:?}"
    );
}

#[test]
fn an_owner_needs_no_group() {
    let fake = Fake::ready();
    let mut uid = fs::metadata(&fake.root).unwrap().uid();
    // The administrator has access in any mode, and can give the files away.
    if uid == 0 {
        uid = UID;
    }
    for file in ["dev/kfd", "dev/dri/renderD128"] {
        fake.device(file, 0o600);
        chown(fake.root.join(file), Some(uid), None).unwrap();
    }
    let owner = User { uid, gids: Vec::new() };
    assert_eq!(Machine::at(&fake.root, owner, Vec::new()).obstacles(), []);
    let other = User { uid: uid + 1, gids: Vec::new() };
    assert_eq!(Machine::at(&fake.root, other, Vec::new()).obstacles().len(), 2);
}

#[test]
fn variables_that_hide_gpus_are_named() {
    let fake = Fake::ready();
    let text =
        texts(&fake.seen_by(&[fake.gid], &[("HIP_VISIBLE_DEVICES", ""), ("ROCR_VISIBLE_DEVICES", "7")]));
    assert_eq!(
        text,
        [
            "HIP_VISIBLE_DEVICES is set to `` and may hide GPUs",
            "ROCR_VISIBLE_DEVICES is set to `7` and may hide GPUs"
        ]
    );
}

#[test]
fn under_windows_own_linux_no_file_is_missed() {
    let fake = Fake::empty();
    fake.device("dev/dxg", 0o666);
    assert_eq!(fake.seen_by_member(), []);
}

#[test]
fn this_machine_can_be_asked() {
    let obstacles = Machine::here().obstacles();
    if !std::path::Path::new("/dev/kfd").exists() {
        assert!(!obstacles.is_empty());
    }
    assert!(texts(&obstacles).iter().all(|text| text.len() > 20), "{obstacles:?}");
}

#[test]
fn what_is_in_the_way_here_comes_before_why_no_library_was_found() {
    let mut registry = windlass_hal::Registry::new();
    registry.register(windlass_hip::Driver::new("test", windlass_hip::system()));
    let error = registry.open("test://?library=/nowhere/libamdhip64.so").expect_err("there is no such file");
    let mut start = texts(&Machine::here().obstacles()).join("; ");
    if !start.is_empty() {
        start.push_str("; ");
    }
    let rest = error.message().strip_prefix(&start).unwrap_or_else(|| panic!("{start}\n{error}"));
    assert!(rest.starts_with(char::is_alphanumeric) && rest.contains("/nowhere"), "{error}");
}
