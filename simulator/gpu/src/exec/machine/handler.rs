// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers: each is compiled for the baseline processor and for AVX2 with FMA.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::step::{Handler, Step};
use crate::exec::values::wide::has_wide_vectors;

/// The same handler compiled for the baseline processor and for AVX2 with FMA.
#[derive(Clone, Copy)]
pub(crate) struct Compilations {
    portable: Handler,
    wide: Handler,
}

impl Compilations {
    /// A handler that gains nothing from wide vectors.
    pub(crate) const fn scalar(handler: Handler) -> Self {
        Self { portable: handler, wide: handler }
    }

    /// One compilation for every processor, of a safe function.
    pub(crate) fn scalar_of(handler: fn(&mut Core<'_>, &Step) -> Flow) -> Self {
        Self::scalar(handler)
    }

    /// Two compilations of one handler. `wide` may use all features that [`has_wide_vectors`] checks.
    pub(crate) const fn new(portable: Handler, wide: Handler) -> Self {
        Self { portable, wide }
    }

    /// The version for the baseline processor.
    #[cfg(test)]
    pub(crate) fn portable(self) -> Handler {
        self.portable
    }

    /// The version for this processor.
    pub(crate) fn pick(self) -> Handler {
        if has_wide_vectors() { self.wide } else { self.portable }
    }
}

/// Makes the [`Compilations`] of a handler from its body, a function of the core and the step. Two bodies are given
/// where each calls its own compilation of a function that is [`shared`]. A third argument of the body is the
/// [`Vectors`](crate::memory::lanes::Vectors) that the compilation may use.
macro_rules! handler {
    (|$core:ident, $step:ident, $vectors:ident| $body:expr) => {{
        #[inline(always)]
        fn body(
            $core: &mut $crate::exec::machine::core::Core<'_>,
            $step: &$crate::exec::machine::step::Step,
            $vectors: impl $crate::memory::lanes::Vectors,
        ) -> $crate::exec::machine::core::Flow {
            $body
        }
        $crate::exec::machine::handler::handler!(
            portable: |core, step| body(core, step, $crate::memory::lanes::Portable),
            // SAFETY: this compilation runs only on processors with AVX2.
            wide: |core, step| body(core, step, unsafe { $crate::memory::lanes::Avx2::new() })
        )
    }};
    (|$core:ident, $step:ident| $body:expr) => {{
        #[inline(always)]
        fn body(
            $core: &mut $crate::exec::machine::core::Core<'_>,
            $step: &$crate::exec::machine::step::Step,
        ) -> $crate::exec::machine::core::Flow {
            $body
        }
        $crate::exec::machine::handler::handler!(portable: |core, step| body(core, step), wide: |core, step| body(core, step))
    }};
    (portable: |$core:ident, $step:ident| $portable:expr, wide: |$wide_core:ident, $wide_step:ident| $wide:expr) => {{
        fn portable(
            $core: &mut $crate::exec::machine::core::Core<'_>,
            $step: &$crate::exec::machine::step::Step,
        ) -> $crate::exec::machine::core::Flow {
            $portable
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn wide(
            $wide_core: &mut $crate::exec::machine::core::Core<'_>,
            $wide_step: &$crate::exec::machine::step::Step,
        ) -> $crate::exec::machine::core::Flow {
            $wide
        }
        #[cfg(not(target_arch = "x86_64"))]
        use portable as wide;
        $crate::exec::machine::handler::Compilations::new(portable, wide)
    }};
}

/// Makes `NAME::portable` and `NAME::wide` from the function `NAME`, whose type parameters are given with and without their
/// bounds. Handlers share the two, so that a part of several handlers is compiled twice and not for each of them.
macro_rules! shared {
    ($name:ident [$($bounded:tt)*] [$($parameter:ident),*] ($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?) => {
        pub(crate) mod $name {
            use super::*;

            #[inline(never)]
            pub(crate) fn portable<$($bounded)*>($($argument: $type),*) $(-> $result)? {
                super::$name::<$($parameter),*>($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(never)]
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            pub(crate) fn wide<$($bounded)*>($($argument: $type),*) $(-> $result)? {
                super::$name::<$($parameter),*>($($argument),*)
            }

            #[cfg(not(target_arch = "x86_64"))]
            pub(crate) use portable as wide;
        }
    };
}

/// Compiles a function for wide vectors. It stands in the second body of a [`handler`].
macro_rules! wide {
    (fn $name:ident($($argument:ident: $type:ty),*) $body:block) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        fn $name($($argument: $type),*) $body
    };
}
pub(crate) use {handler, shared, wide};
