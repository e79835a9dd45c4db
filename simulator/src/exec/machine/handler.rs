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

/// Makes the [`Compilations`] of a handler from its body, a function of the core and the step.
macro_rules! handler {
    (|$core:ident, $step:ident| $body:expr) => {{
        #[inline(always)]
        fn body(
            $core: &mut $crate::exec::machine::core::Core<'_>,
            $step: &$crate::exec::machine::step::Step,
        ) -> $crate::exec::machine::core::Flow {
            $body
        }
        fn portable(
            core: &mut $crate::exec::machine::core::Core<'_>,
            step: &$crate::exec::machine::step::Step,
        ) -> $crate::exec::machine::core::Flow {
            body(core, step)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn wide(
            core: &mut $crate::exec::machine::core::Core<'_>,
            step: &$crate::exec::machine::step::Step,
        ) -> $crate::exec::machine::core::Flow {
            body(core, step)
        }
        #[cfg(not(target_arch = "x86_64"))]
        use portable as wide;
        $crate::exec::machine::handler::Compilations::new(portable, wide)
    }};
}
pub(crate) use handler;
