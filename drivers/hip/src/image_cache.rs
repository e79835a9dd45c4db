// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cache of decoded code objects, shared by all devices of the process.

use std::sync::LazyLock;

use windlass_codeobject::ImageCache;

/// About ten of the largest images that libraries ship.
const MOST_BYTES: usize = 256 << 20;

static IMAGES: LazyLock<ImageCache> = LazyLock::new(|| ImageCache::new(MOST_BYTES));

/// The code objects that this process decoded from compressed bundles. A second device that loads the same file decodes
/// nothing. The cache holds at most 256 MiB; [`ImageCache::clear`] frees the images that no executable holds.
pub fn image_cache() -> &'static ImageCache {
    &IMAGES
}
