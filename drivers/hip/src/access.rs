// SPDX-License-Identifier: MIT OR Apache-2.0
//! Access to the AMD GPUs of a Linux machine, and the obstacles to it: hardware, kernel driver, device files, groups,
//! containers, variables. HIP does not say why it finds no GPU. This module does, and says what to do.

use std::{
    env, fmt,
    fs::{self, File, Metadata},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::process;

/// A machine as a process sees it: its files below a root, and their permissions.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
    /// `None` for this process, which opens files instead of reading their modes.
    user: Option<User>,
    variables: Vec<(String, String)>,
}

/// A user, as the permissions of files see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The effective user id.
    pub uid: u32,
    /// The effective group id and the supplementary ones.
    pub gids: Vec<u32>,
}

/// One reason why HIP may find no GPU. Its text says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// No AMD GPU is on the PCI bus.
    NoGpu,
    /// There is an AMD GPU, and the kernel driver amdgpu is not loaded.
    NoKernelDriver {
        /// The GPU's address on the bus.
        gpu: String,
        /// Whether this process runs in a container.
        container: bool,
    },
    /// The kernel driver is loaded, and its device files are missing.
    Missing {
        /// `/dev/kfd`, or the pattern of the render nodes.
        file: &'static str,
        /// Whether this process runs in a container.
        container: bool,
    },
    /// This process may not open a device file.
    Denied {
        /// The file.
        file: String,
        /// The group of the file: its name, if it has one on this machine, and its number.
        group: (Option<String>, u32),
        /// The file's permissions.
        mode: u32,
        /// Whether the user and this process are in that group.
        member: Membership,
        /// Whether this process runs in a container.
        container: bool,
    },
    /// A variable tells HIP which GPUs to show.
    Hidden {
        /// The variable.
        name: String,
        /// Its value.
        value: String,
    },
}

/// Membership in the group of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Membership {
    /// This process is in the group. Something else denies access.
    Process,
    /// The user of this name is in the group. This process is not, because it was started before.
    UserOnly(String),
    /// The user, by name or number, is not in the group.
    None(String),
}

/// The variables by which HIP and the runtimes below it hide GPUs.
const HIDING: [&str; 4] =
    ["HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"];
const KFD: &str = "/dev/kfd";
const RENDER_NODES: &str = "/dev/dri/renderD*";
/// AMD's vendor number on the PCI bus.
const VENDOR: &str = "0x1002";

impl Machine {
    /// This machine, as this process sees it.
    pub fn here() -> Self {
        let variables =
            HIDING.iter().filter_map(|name| Some(((*name).to_owned(), env::var(name).ok()?))).collect();
        Self { root: PathBuf::from("/"), user: None, variables }
    }

    /// A machine whose files lie below `root`, as a user with these variables sees it. For tests, and for images of other
    /// machines.
    pub fn at(root: impl Into<PathBuf>, user: User, variables: Vec<(String, String)>) -> Self {
        Self { root: root.into(), user: Some(user), variables }
    }

    /// The obstacles, the gravest first. Empty if HIP should find a GPU.
    pub fn obstacles(&self) -> Vec<Obstacle> {
        let mut obstacles = Vec::new();
        // In WSL, GPUs need none of these files.
        if !self.exists("/dev/dxg") {
            self.devices(&mut obstacles);
        }
        let set = self.variables.iter().filter(|(name, _)| HIDING.contains(&name.as_str()));
        obstacles
            .extend(set.map(|(name, value)| Obstacle::Hidden { name: name.clone(), value: value.clone() }));
        obstacles
    }

    fn devices(&self, obstacles: &mut Vec<Obstacle>) {
        let container = self.is_container();
        if !self.exists(KFD) {
            if self.exists("/sys/module/amdgpu") {
                obstacles.push(Obstacle::Missing { file: KFD, container });
            } else {
                match self.gpu() {
                    Some(gpu) => obstacles.push(Obstacle::NoKernelDriver { gpu, container }),
                    None => obstacles.push(Obstacle::NoGpu),
                }
                // Without the kernel driver there are no device files.
                return;
            }
        }
        obstacles.extend(self.denied(KFD, container));
        let nodes = self.render_nodes();
        if nodes.is_empty() {
            obstacles.push(Obstacle::Missing { file: RENDER_NODES, container });
        }
        // One node that opens is enough: others may be those of other GPUs, or not given to this container.
        let denied: Vec<_> = nodes.iter().map(|node| self.denied(node, container)).collect();
        if denied.iter().all(Option::is_some) {
            obstacles.extend(denied.into_iter().flatten().next());
        }
    }

    fn path(&self, absolute: &str) -> PathBuf {
        self.root.join(absolute.trim_start_matches('/'))
    }

    fn exists(&self, absolute: &str) -> bool {
        self.path(absolute).exists()
    }

    fn is_container(&self) -> bool {
        ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"].iter().any(|mark| self.exists(mark))
    }

    fn entries(&self, absolute: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(absolute)).into_iter().flatten();
        let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        paths
    }

    fn render_nodes(&self) -> Vec<String> {
        let names =
            self.entries("/dev/dri").into_iter().filter_map(|path| Some(path.file_name()?.to_owned()));
        let names = names.filter_map(|name| name.into_string().ok());
        names.filter(|name| name.starts_with("renderD")).map(|name| format!("/dev/dri/{name}")).collect()
    }

    /// The address of the first AMD GPU on the bus: a display controller, or an accelerator without one.
    fn gpu(&self) -> Option<String> {
        let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
        let found = self.entries("/sys/bus/pci/devices").into_iter().find(|device| {
            let class = read(device.join("class"));
            read(device.join("vendor")).trim() == VENDOR
                && (class.starts_with("0x03") || class.starts_with("0x12"))
        });
        Some(found?.file_name()?.to_string_lossy().into_owned())
    }

    fn denied(&self, file: &str, container: bool) -> Option<Obstacle> {
        let path = self.path(file);
        let metadata = fs::metadata(&path).ok()?;
        let refused = match &self.user {
            // Modes show neither access lists nor a container's rules for devices.
            None => opening_is_refused(&path),
            Some(user) => !user.may_use(&metadata),
        };
        refused.then(|| Obstacle::Denied {
            file: file.to_owned(),
            group: (self.group_name(metadata.gid()), metadata.gid()),
            mode: metadata.mode() & 0o777,
            member: self.membership(metadata.gid()),
            container,
        })
    }

    fn membership(&self, gid: u32) -> Membership {
        let user = self.user.clone().unwrap_or_else(User::of_this_process);
        if user.gids.contains(&gid) {
            return Membership::Process;
        }
        let number = user.uid.to_string();
        let Some(name) = self.field_of("/etc/passwd", 2, &number, 0) else { return Membership::None(number) };
        let members = self.field_of("/etc/group", 2, &gid.to_string(), 3).unwrap_or_default();
        if members.split(',').any(|member| member == name) {
            Membership::UserOnly(name)
        } else {
            Membership::None(name)
        }
    }

    fn group_name(&self, gid: u32) -> Option<String> {
        self.field_of("/etc/group", 2, &gid.to_string(), 0)
    }

    /// A field of the first line of a table like `/etc/passwd` whose field `key` has this value.
    fn field_of(&self, table: &str, key: usize, value: &str, field: usize) -> Option<String> {
        let text = fs::read_to_string(self.path(table)).ok()?;
        let line = text.lines().find(|line| line.split(':').nth(key) == Some(value))?;
        line.split(':').nth(field).map(str::to_owned)
    }
}

/// Whether the system denies this process access to a device file. Other errors are trouble of the device, not of access.
fn opening_is_refused(path: &Path) -> bool {
    File::options()
        .read(true)
        .write(true)
        .open(path)
        .is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

impl User {
    /// The user and the groups of this process.
    pub fn of_this_process() -> Self {
        let mut gids: Vec<_> =
            process::getgroups().unwrap_or_default().into_iter().map(process::Gid::as_raw).collect();
        gids.push(process::getegid().as_raw());
        Self { uid: process::geteuid().as_raw(), gids }
    }

    fn may_use(&self, file: &Metadata) -> bool {
        let shift = match () {
            () if self.uid == 0 => return true,
            () if self.uid == file.uid() => 6,
            () if self.gids.contains(&file.gid()) => 3,
            () => 0,
        };
        file.mode() >> shift & 0o6 == 0o6
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CONTAINER: &str = "start the container with --device /dev/kfd --device /dev/dri";
        match self {
            Self::NoGpu => f.write_str("no AMD GPU is on the PCI bus of this machine"),
            Self::NoKernelDriver { gpu, container } => {
                let host = if *container { " on the host of this container" } else { "" };
                write!(
                    f,
                    "there is an AMD GPU at {gpu}, and the kernel driver amdgpu is not loaded: `sudo modprobe amdgpu`{host}"
                )
            }
            Self::Missing { file, container: true } => {
                write!(
                    f,
                    "the kernel driver amdgpu is loaded, and {file} is missing in this container: {CONTAINER}"
                )
            }
            Self::Missing { file, container: false } => write!(
                f,
                "the kernel driver amdgpu is loaded, and {file} is missing: it was built without CONFIG_HSA_AMD, or \
                 supports no GPU here (`sudo dmesg | grep -e amdgpu -e kfd`)"
            ),
            Self::Denied { file, group: (name, gid), mode, member, container } => {
                let group = match name {
                    Some(name) => format!("{name} ({gid})"),
                    None => gid.to_string(),
                };
                write!(f, "{file} does not let this process in (group {group}, mode {mode:04o}): ")?;
                match member {
                    Membership::Process if *container => {
                        write!(
                            f,
                            "the group is right; the container's rules for devices may not be: {CONTAINER}"
                        )
                    }
                    Membership::Process => write!(f, "the group is right; its permissions are not"),
                    _ if *container => write!(f, "start the container with --group-add {gid}"),
                    Membership::UserOnly(user) => {
                        write!(f, "{user} is in that group, and this process was started before: log in anew")
                    }
                    Membership::None(user) => write!(
                        f,
                        "{user} is not in that group: `sudo usermod -a -G {} {user}`, then log in anew",
                        name.as_deref().unwrap_or(&gid.to_string())
                    ),
                }
            }
            Self::Hidden { name, value } => write!(f, "{name} is set to `{value}` and may hide GPUs"),
        }
    }
}

/// The obstacles on this machine as text for a message; `None` if there are none.
pub(crate) fn explained() -> Option<String> {
    let obstacles: Vec<_> = Machine::here().obstacles().iter().map(ToString::to_string).collect();
    (!obstacles.is_empty()).then(|| obstacles.join("; "))
}
