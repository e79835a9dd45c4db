// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of people and machines that a report must not hold, as this machine knows them.

use std::{collections::BTreeSet, env, fs};

/// The names of a machine.
#[derive(Default)]
pub(super) struct Names {
    pub(super) homes: BTreeSet<String>,
    pub(super) users: BTreeSet<String>,
    pub(super) hosts: BTreeSet<String>,
    pub(super) domains: BTreeSet<String>,
}

/// Names of users and hosts that name nobody, and words without which a report could not be read.
const ORDINARY: &str = "\
    absent accelerator admin administrator amd amdgpu apache application architecture assumption assumptions audit bench \
    benchmark broken build buffer builder bus case cases ci cloud code command container core cpu cts daemon data debian \
    debug default deploy dev developer device devices died docker done driver epyc error event expected failed fail fedora \
    file firmware folder git github gitlab gpu gpus group guest held hip hipruntime home host hostname hpc hsa hung image \
    instinct jenkins job kernel kfd launch lib library libraries linux local localdomain localhost lost machine main \
    measured memory missing module node nobody none null number part pass passed path problem process queue radeon real \
    release render report result rocm root row rows run runner running runtime ryzen server service shuffle sim simulated \
    simulator skip skipped software stream student suite support system target test tester tests the time tmp ubuntu unit \
    user users vagrant value vendor version video wait waiting windlass work worker workspace workstation wsl";
/// The shortest name that is taken out. Shorter ones are parts of speech, numbers and units.
const SHORTEST: usize = 3;
/// The most names of `/etc/hosts`, which may list a cluster.
const MOST_HOSTS: usize = 256;
/// The users that people are, by their numbers.
const PEOPLE: std::ops::Range<u32> = 1000..65534;

impl Names {
    /// The names that the environment and the files of `/etc` and `/proc` hold.
    pub(super) fn of_this_machine() -> Self {
        let mut names = Self::default();
        for variable in ["HOME", "USERPROFILE"] {
            variable_of(variable).into_iter().for_each(|home| names.home(&home));
        }
        for variable in ["USER", "LOGNAME", "USERNAME", "SUDO_USER"] {
            variable_of(variable).into_iter().for_each(|user| names.user(&user));
        }
        for variable in ["HOSTNAME", "HOST", "COMPUTERNAME"] {
            variable_of(variable).into_iter().for_each(|host| names.host(&host));
        }
        names.passwd(&text("/etc/passwd"), own_number());
        for file in ["/proc/sys/kernel/hostname", "/etc/hostname"] {
            text(file).lines().for_each(|host| names.host(host));
        }
        names.domain(text("/proc/sys/kernel/domainname").trim());
        names.resolver(&text("/etc/resolv.conf"));
        names.hosts_file(&text("/etc/hosts"));
        names
    }

    /// A home folder, and the folder that it links to.
    pub(super) fn home(&mut self, home: &str) {
        let linked = fs::canonicalize(home).ok().map(|path| path.display().to_string());
        for home in [Some(home.to_owned()), linked].into_iter().flatten() {
            let home = home.trim_end_matches(['/', '\\']);
            if home.len() > 1 {
                self.homes.insert(home.to_owned());
            }
        }
    }

    pub(super) fn user(&mut self, user: &str) {
        if is_telling(user) {
            self.users.insert(user.to_owned());
        }
    }

    /// A host with or without its domain.
    pub(super) fn host(&mut self, host: &str) {
        let host = host.trim().trim_end_matches('.');
        let (short, domain) = host.split_once('.').unwrap_or((host, ""));
        self.domain(domain);
        for name in [host, short] {
            if is_telling(name) {
                self.hosts.insert(name.to_owned());
            }
        }
    }

    /// A domain of several words. One word alone, such as `local`, names nobody.
    pub(super) fn domain(&mut self, domain: &str) {
        let domain = domain.trim().trim_matches('.');
        if domain.contains('.') && is_telling(domain) {
            self.domains.insert(domain.to_owned());
        }
    }

    /// The people of a password file: their names, real names and homes.
    fn passwd(&mut self, text: &str, own: Option<u32>) {
        for line in text.lines() {
            let fields: Vec<_> = line.split(':').collect();
            let [name, _, number, _, real, home, ..] = fields[..] else { continue };
            let Ok(number) = number.parse::<u32>() else { continue };
            if !PEOPLE.contains(&number) && Some(number) != own {
                continue;
            }
            self.user(name);
            // Programs that the system runs have homes such as `/`.
            self.home(home);
            let real = real.split(',').next().unwrap_or_default();
            if real.contains(' ') {
                self.user(real);
            }
        }
    }

    fn resolver(&mut self, text: &str) {
        for line in text.lines() {
            let mut words = line.split_whitespace();
            if matches!(words.next(), Some("search" | "domain")) {
                words.for_each(|domain| self.domain(domain));
            }
        }
    }

    fn hosts_file(&mut self, text: &str) {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let names = lines.flat_map(|line| line.split_whitespace().skip(1));
        names.filter(|name| !name.starts_with("ip6-")).take(MOST_HOSTS).for_each(|name| self.host(name));
    }
}

/// Whether a name tells of somebody. A name that is an ordinary word of reports does not, and neither does the name of a GPU.
fn is_telling(name: &str) -> bool {
    let lower = name.to_lowercase();
    let digits = lower.strip_prefix("mi").or(lower.strip_prefix("gfx")).unwrap_or(&lower);
    let is_number = digits.trim_end_matches(['x', 'a', 'c']).bytes().all(|byte| byte.is_ascii_digit());
    name.len() >= SHORTEST && !is_number && !ORDINARY.split_whitespace().any(|word| word == lower)
}

fn variable_of(name: &str) -> Option<String> {
    env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

fn text(path: &str) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The number of the user of this process.
fn own_number() -> Option<u32> {
    let status = text("/proc/self/status");
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_from_programs_and_words_from_names() {
        let mut names = Names::default();
        names.passwd(
            "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000:Ann Example,,,:/data/ann:/bin/sh\n\
             gpu:x:1001:1001::/home/gpu:/bin/sh\nwww-data:x:33:33::/var/www:/bin/no\n",
            Some(0),
        );
        names.host("lab7.example.org");
        names.host("mi300x");
        names.resolver("nameserver 1.2.3.4\nsearch corp.example local\n");
        names.hosts_file("127.0.0.1 localhost\n10.0.0.2 storage # the disk\n");
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(list(&names.users), "Ann Example ann");
        assert!(list(&names.homes).contains("/data/ann") && !list(&names.homes).contains("/var/www"));
        assert_eq!(list(&names.hosts), "lab7 lab7.example.org storage");
        assert_eq!(list(&names.domains), "corp.example example.org");
    }
}
