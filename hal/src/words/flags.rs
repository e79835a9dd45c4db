// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bit sets with named bits. A macro, so that no third-party type is in the public interface.

macro_rules! flags {
    ($(#[$doc:meta])* pub struct $name:ident: $repr:ty { $($(#[$bit_doc:meta])* $bit:ident = $value:expr;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub $repr);

        impl $name {
            /// No bit.
            pub const NONE: Self = Self(0);
            $($(#[$bit_doc])* pub const $bit: Self = Self($value);)*

            /// Whether all bits of `other` are set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// The bits without a name.
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
                // First the names that include a bit without a name of its own.
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
