// SPDX-License-Identifier: MIT OR Apache-2.0
//! A hash table of small keys that are copied, such as addresses: a look-up takes a few instructions.

/// A key. The default is no key of the table.
pub(crate) trait Key: Copy + Default + Eq {
    /// A number in which the keys of a table differ.
    fn number(self) -> u64;
}

/// The address of an object that lives as long as the table.
impl Key for usize {
    #[inline]
    fn number(self) -> u64 {
        self as u64
    }
}

/// The address of an object, and the number of a part of it.
impl Key for (usize, u32) {
    #[inline]
    fn number(self) -> u64 {
        self.0 as u64 ^ u64::from(self.1) << 40
    }
}

#[derive(Default)]
pub(crate) struct Index<K, V> {
    /// A power of two of entries, or none. At least half of them have the default key: they are free.
    entries: Vec<(K, V)>,
    used: usize,
}

/// The entries of a small table.
const SMALL: usize = 16;

impl<K, V> Index<K, V> {
    /// An empty table.
    pub(crate) const NONE: Self = Self { entries: Vec::new(), used: 0 };
}

impl<K: Key, V: Copy + Default> Index<K, V> {
    #[inline]
    pub(crate) fn get(&self, key: K) -> Option<V> {
        let mask = self.entries.len().wrapping_sub(1);
        let mut at = start(key);
        loop {
            let (known, value) = self.entries.get(at & mask)?;
            if *known == key {
                return Some(*value);
            }
            if *known == K::default() {
                return None;
            }
            at = at.wrapping_add(1);
        }
    }

    /// Adds a key that the table lacks.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if (self.used + 1) * 2 > self.entries.len() {
            let size = (self.entries.len() * 2).max(SMALL);
            let old = std::mem::replace(&mut self.entries, vec![Default::default(); size]);
            for (key, value) in old.into_iter().filter(|(key, _)| *key != K::default()) {
                self.place(key, value);
            }
        }
        self.used += 1;
        self.place(key, value);
    }

    /// Removes all keys. A table of up to four times the smallest size keeps its memory.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.used) == 0 {
            return;
        }
        if self.entries.len() > SMALL * 4 {
            self.entries = Vec::new();
        } else {
            self.entries.fill(Default::default());
        }
    }

    fn place(&mut self, key: K, value: V) {
        let mask = self.entries.len().wrapping_sub(1);
        let mut at = start(key);
        while let Some(entry) = self.entries.get_mut(at & mask) {
            if entry.0 == K::default() {
                *entry = (key, value);
                return;
            }
            at = at.wrapping_add(1);
        }
    }
}

/// Where the search for a key begins.
#[inline]
fn start<K: Key>(key: K) -> usize {
    // The golden ratio in 64 bits. Objects lie at multiples of 16 or more, and only the upper half depends on all bits.
    (key.number().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_keeps_its_value_while_the_table_grows() {
        let mut index = Index::<usize, usize>::default();
        assert_eq!(index.get(16), None);
        for key in (1..=1000).map(|number| number * 16) {
            assert_eq!(index.get(key), None);
            index.insert(key, key + 1);
        }
        assert!((1..=1000).all(|number| index.get(number * 16) == Some(number * 16 + 1)));
        index.clear();
        assert_eq!(index.get(16), None);
    }
}
