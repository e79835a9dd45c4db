// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is in the code objects of a file. Each is read once, however many entries of however many bundles have its bytes.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    rc::Rc,
};

use windlass_codeobject::{Bundle, CodeObject, Error, TargetId, validate};

use crate::command::ranges::{Bytes, Owner, Ranges};

/// The code objects of a file, as far as somebody has asked for them.
pub(super) struct Images(RefCell<State>);

struct State {
    ranges: Ranges,
    known: HashMap<Owner, Rc<Image>>,
}

/// Names of kernels, shared by all that have the same.
pub(super) type Kernels = Rc<BTreeSet<Rc<str>>>;

/// What is in a code object, or why nobody can say.
#[derive(Default)]
pub(super) struct Image {
    /// What its ELF says that it is for.
    pub(super) target: Option<TargetId>,
    pub(super) kernels: Kernels,
    /// Why it cannot be loaded.
    pub(super) problem: Option<String>,
    rejected: RefCell<Vec<String>>,
}

impl Images {
    /// Of these bundles, which are all of a file.
    pub(super) fn of(bundles: &[Bundle<'_>]) -> Self {
        Self(RefCell::new(State { ranges: Ranges::of(bundles), known: HashMap::new() }))
    }

    /// What is in an entry.
    pub(super) fn read(&self, bundle: &Bundle<'_>, index: usize) -> Rc<Image> {
        let state = &mut *self.0.borrow_mut();
        let own = (bundle.index(), index);
        if let Some(known) = state.known.get(&own) {
            return Rc::clone(known);
        }
        let known = match state.ranges.take(bundle, index) {
            Bytes::New => None,
            Bytes::SameAs(first) => state.known.get(&first).map(Rc::clone),
            Bytes::Overlapping => Some(Rc::new(Image::not_read())),
        };
        let image = known.unwrap_or_else(|| Rc::new(Image::read(bundle, index)));
        state.known.insert(own, Rc::clone(&image));
        image
    }
}

impl Image {
    fn read(bundle: &Bundle<'_>, index: usize) -> Self {
        match bundle.with_image(index, Self::of) {
            Ok(image) => image,
            Err(error) => Self { problem: Some(error.to_string()), ..Self::default() },
        }
    }

    fn not_read() -> Self {
        let shared = "it shares bytes with other entries, and was not looked into: all of them together have more bytes than there are";
        Self { problem: Some(shared.to_owned()), ..Self::default() }
    }

    fn of(image: &[u8]) -> Self {
        // Who loads it believes the headers only where they lead to what is there.
        let is_valid = validate(image).map(drop).map_err(|error: Error| error.to_string());
        let code = match CodeObject::parse(image) {
            Ok(code) => code,
            Err(error) => {
                let problem = is_valid.err().unwrap_or_else(|| error.to_string());
                return Self { problem: Some(problem), ..Self::default() };
            }
        };
        let rejected =
            code.rejected().iter().map(|kernel| format!("kernel `{}`: {}", kernel.name, kernel.reason));
        Self {
            target: Some(code.target().clone()),
            kernels: Rc::new(code.kernels().iter().map(|kernel| Rc::from(kernel.name.as_str())).collect()),
            problem: is_valid.err().or_else(|| not_launchable(&code)),
            rejected: RefCell::new(rejected.collect()),
        }
    }

    /// Its kernels that nobody can launch, and why, for the first who asks: the others need not repeat it.
    pub(super) fn take_rejected(&self) -> Vec<String> {
        self.rejected.take()
    }
}

/// Why nothing can be launched of code without any metadata.
fn not_launchable(code: &CodeObject) -> Option<String> {
    let is_silent =
        code.metadata_version().is_none() && code.kernels().is_empty() && code.rejected().is_empty();
    (is_silent && !code.warnings().is_empty()).then(|| code.warnings().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_codeobject::{File, Options};

    #[test]
    fn entries_of_the_same_bytes_are_read_once() {
        let image = include_bytes!("../../../cts/kernels/bundles/saxpy.gfx942.co");
        let size = image.len();
        let mut bytes = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
        let places = [(0, size), (0, size), (64, size - 64)];
        bytes.extend((places.len() as u64).to_le_bytes());
        for (start, size) in places {
            bytes.extend([4096 + start, size, 10].map(|number| (number as u64).to_le_bytes()).concat());
            bytes.extend(b"hip-gfx942");
        }
        bytes.resize(4096, 0);
        bytes.extend(image);
        let file = File::parse(&bytes, &Options::default()).unwrap();
        let [bundle] = file.bundles() else { panic!("{file:?}") };
        let images = Images::of(file.bundles());
        let [first, same, other] = [0, 1, 2].map(|index| images.read(bundle, index));
        assert!(Rc::ptr_eq(&first, &same) && Rc::ptr_eq(&first, &images.read(bundle, 0)));
        assert!(first.problem.is_none() && first.kernels.contains("saxpy"));
        assert!(other.problem.as_deref().is_some_and(|problem| problem.contains("shares bytes")));
    }
}
