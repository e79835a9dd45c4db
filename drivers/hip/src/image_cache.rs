// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code objects that this process decoded, for all devices of all drivers in it.

use std::sync::LazyLock;

use windlass_codeobject::ImageCache;

/// About ten of the largest images that libraries ship.
const MOST_BYTES: usize = 256 << 20;

static IMAGES: LazyLock<ImageCache> = LazyLock::new(|| ImageCache::new(MOST_BYTES));

/// What this process decoded of compressed bundles: the second device that loads a file decodes nothing. It holds
/// 256 MiB at most; [`ImageCache::clear`] gives back what no executable holds.
pub fn image_cache() -> &'static ImageCache {
    &IMAGES
}
