// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bit sets with named bits, without a third-party type in the public interface.

macro_rules! flags {
    ($(#[$doc:meta])* pub struct $name:ident: $repr:ty { $($(#[$bit_doc:meta])* $bit:ident = $value:expr;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub $repr);

        impl $name {
            /// No bit.
            pub const NONE: Self = Self(0);
            $($(#[$bit_doc])* pub const $bit: Self = Self($value);)*

            /// Whether every bit of `other` is set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// The bits that none of the names has.
            pub const fn unknown_bits(self) -> $repr {
                self.0 & !(0 $(| Self::$bit.0)*)
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                if self.0 == 0 {
                    return f.write_str("NONE");
                }
                let single = 0 $(| if Self::$bit.0.count_ones() == 1 { Self::$bit.0 } else { 0 })*;
                let mut names = Vec::new();
                let mut rest = self.0;
                // First what brings a bit that has no name of its own: it names others along with it.
                $(if Self::$bit.0 & !single != 0 && self.contains(Self::$bit) {
                    names.push(stringify!($bit).to_owned());
                    rest &= !Self::$bit.0;
                })*
                $(if Self::$bit.0.count_ones() == 1 && rest & Self::$bit.0 != 0 {
                    names.push(stringify!($bit).to_owned());
                    rest &= !Self::$bit.0;
                })*
                if rest != 0 {
                    names.push(format!("{rest:#x}"));
                }
                f.write_str(&names.join("|"))
            }
        }
    };
}

pub(crate) use flags;

#[cfg(test)]
mod tests {
    use crate::{BufferParams, BufferUsage, Code, MemoryType, device::check_params};

    #[test]
    fn every_bit_has_a_name() {
        let debug = |memory: MemoryType| format!("{memory:?}");
        assert_eq!(debug(MemoryType::NONE), "NONE");
        assert_eq!(debug(MemoryType::DEVICE_LOCAL), "DEVICE_LOCAL");
        assert_eq!(debug(BufferParams::host().memory_type), "HOST_LOCAL|HOST_COHERENT|DEVICE_VISIBLE");
        assert_eq!(debug(MemoryType::DEVICE_VISIBLE), "DEVICE_VISIBLE");
        // A bit that means nothing without another is no name of its own.
        assert_eq!(debug(MemoryType(1 << 5)), "0x20");
        assert_eq!(debug(MemoryType(1 << 30) | MemoryType::HOST_VISIBLE), "HOST_VISIBLE|0x40000000");
        let usage = BufferUsage::TRANSFER | BufferUsage::MAPPING;
        assert_eq!(format!("{usage:?}"), "TRANSFER_SOURCE|TRANSFER_TARGET|MAPPING");
    }

    #[test]
    fn allocations_take_no_bits_that_mean_nothing() {
        for (memory_type, usage, names) in [
            (MemoryType(u32::MAX), BufferUsage::DEFAULT, "memory type 0xffffff81"),
            (MemoryType(1), BufferUsage::DEFAULT, "memory type 0x1"),
            (MemoryType::DEVICE_LOCAL, BufferUsage(1 << 30), "usage 0x40000000"),
        ] {
            let params = BufferParams { memory_type, usage, ..BufferParams::device() };
            let error = check_params(&params).unwrap_err();
            assert_eq!(error.code(), Code::InvalidArgument);
            assert!(error.message().contains(names), "{error}");
        }
        check_params(&BufferParams::host()).unwrap();
    }
}
