// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code objects of a file, each read once even if several entries or bundles share its bytes.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    rc::Rc,
};

use windlass_codeobject::{Bundle, TargetId};

use crate::command::{
    code,
    ranges::{Bytes, Owner, Ranges},
};

/// The code objects of a file that were read so far.
pub(super) struct Images(RefCell<Known>);

struct Known {
    ranges: Ranges,
    images: HashMap<Owner, Rc<Image>>,
}

/// The kernel names of an image.
pub(super) type Kernels = Rc<BTreeSet<String>>;

/// The content of a code object, or why it cannot be told.
#[derive(Default)]
pub(super) struct Image {
    /// The target that the ELF flags state.
    pub(super) target: Option<TargetId>,
    pub(super) kernels: Kernels,
    /// Why the code object cannot be loaded.
    pub(super) problem: Option<String>,
    rejected: RefCell<Vec<String>>,
}

impl Images {
    /// `bundles` are all bundles of a file.
    pub(super) fn new(bundles: &[Bundle<'_>]) -> Self {
        Self(RefCell::new(Known { ranges: Ranges::new(bundles), images: HashMap::new() }))
    }

    /// The content of an entry.
    pub(super) fn read(&self, bundle: &Bundle<'_>, index: usize) -> Rc<Image> {
        let known = &mut *self.0.borrow_mut();
        let own = (bundle.index(), index);
        if let Some(image) = known.images.get(&own) {
            return Rc::clone(image);
        }
        let same = match known.ranges.take(bundle, index) {
            Bytes::New => None,
            Bytes::SameAs(first) => known.images.get(&first).map(Rc::clone),
            Bytes::Overlapping => Some(Rc::new(Image::not_read())),
        };
        let image = same.unwrap_or_else(|| Rc::new(Image::read(bundle, index)));
        known.images.insert(own, Rc::clone(&image));
        image
    }
}

impl Image {
    fn read(bundle: &Bundle<'_>, index: usize) -> Self {
        match bundle.with_image(index, Self::parse) {
            Ok(image) => image,
            Err(error) => Self { problem: Some(error.to_string()), ..Self::default() },
        }
    }

    fn not_read() -> Self {
        let shared = "it shares bytes with other entries, and was not read: together they have more bytes than the file";
        Self { problem: Some(shared.to_owned()), ..Self::default() }
    }

    fn parse(image: &[u8]) -> Self {
        let code::Read { code, problem } = code::read(image);
        let Some(code) = code else { return Self { problem, ..Self::default() } };
        let rejected =
            code.rejected().iter().map(|kernel| format!("kernel `{}`: {}", kernel.name, kernel.reason));
        Self {
            target: Some(code.target().clone()),
            kernels: Rc::new(code.kernels().iter().map(|kernel| kernel.name.clone()).collect()),
            problem: problem.or_else(|| code::not_launchable(&code)),
            rejected: RefCell::new(rejected.collect()),
        }
    }

    /// The kernels that cannot be launched, with reasons, on the first call. Later calls give none, so that entries with
    /// the same bytes do not repeat them.
    pub(super) fn take_rejected(&self) -> Vec<String> {
        self.rejected.take()
    }
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
        let images = Images::new(file.bundles());
        let [first, same, other] = [0, 1, 2].map(|index| images.read(bundle, index));
        assert!(Rc::ptr_eq(&first, &same) && Rc::ptr_eq(&first, &images.read(bundle, 0)));
        assert!(first.problem.is_none() && first.kernels.contains("saxpy"));
        assert!(other.problem.as_deref().is_some_and(|problem| problem.contains("shares bytes")));
    }
}
