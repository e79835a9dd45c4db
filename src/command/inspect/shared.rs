// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of a report that many kernels have in common. A library has its kernels once for each target, all with the same
//! names and arguments, which would take far more memory than the code of an entry.

use std::{collections::HashSet, rc::Rc};

use super::report::ArgumentReport;

/// The parts that were told so far.
#[derive(Default)]
pub(super) struct Shared {
    names: HashSet<Rc<str>>,
    arguments: HashSet<Rc<[ArgumentReport]>>,
}

impl Shared {
    /// A name, in the memory of an equal one.
    pub(super) fn name(&mut self, name: &str) -> Rc<str> {
        if let Some(known) = self.names.get(name) {
            return Rc::clone(known);
        }
        let name: Rc<str> = name.into();
        self.names.insert(Rc::clone(&name));
        name
    }

    /// The arguments of a kernel, in the memory of equal ones.
    pub(super) fn arguments(&mut self, arguments: Vec<ArgumentReport>) -> Rc<[ArgumentReport]> {
        if let Some(known) = self.arguments.get(&arguments[..]) {
            return Rc::clone(known);
        }
        let arguments: Rc<[ArgumentReport]> = arguments.into();
        self.arguments.insert(Rc::clone(&arguments));
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_parts_have_one_memory() {
        let mut shared = Shared::default();
        let argument = |size| {
            vec![ArgumentReport { name: None, kind: "value".to_owned(), offset: 0, size, access: None }]
        };
        let [first, same, other] = [4, 4, 8].map(|size| shared.arguments(argument(size)));
        assert!(Rc::ptr_eq(&first, &same) && !Rc::ptr_eq(&first, &other));
        assert!(Rc::ptr_eq(&shared.name("a"), &shared.name("a")));
    }
}
