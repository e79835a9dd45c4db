// SPDX-License-Identifier: MIT OR Apache-2.0
//! Applies the function of one lane to the lanes of a wave.
//!
//! An instruction is a function from the values of its sources to a result, and only this function and the loop over the
//! lanes are compiled for each instruction. The work around it is compiled once for each combination of types: to read
//! the sources, to execute a single lane, to replace NaNs, to store.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::shared;
use crate::exec::machine::step::Step;
use crate::exec::machine::wave::Wave;
use crate::exec::operands::element::{LaneValue, Spare, only_lane};
use crate::exec::operands::rounding;
use crate::exec::values::row::{LANES, gathered};
use crate::lane_mask::LaneMask;
use std::marker::PhantomData;

/// Memory for the sources of an instruction that are not read in place.
pub(crate) type Spares = [Spare; 3];

/// One source of an instruction.
pub(crate) trait Operand {
    /// The type of its lanes.
    type Value: LaneValue;

    /// Reads all lanes.
    fn fetch<'a>(wave: &'a Wave, step: &Step, spare: &'a mut Spare) -> <Self::Value as LaneValue>::Rows<'a>;

    /// Reads one lane of a step that [`only_lane`] admits.
    fn fetch_lane(wave: &Wave, step: &Step, lane: usize) -> Self::Value;
}

/// The source with a number.
pub(crate) struct Numbered<T, const INDEX: usize>(PhantomData<T>);

impl<T: LaneValue, const INDEX: usize> Operand for Numbered<T, INDEX> {
    type Value = T;

    #[inline(always)]
    fn fetch<'a>(wave: &'a Wave, step: &Step, spare: &'a mut Spare) -> T::Rows<'a> {
        T::fetch(wave, step, INDEX, spare)
    }

    #[inline(always)]
    fn fetch_lane(wave: &Wave, step: &Step, lane: usize) -> T {
        T::fetch_lane(wave, step, INDEX, lane)
    }
}

/// The old value of the destination.
pub(crate) struct Old<T>(PhantomData<T>);

impl<T: LaneValue> Operand for Old<T> {
    type Value = T;

    #[inline(always)]
    fn fetch<'a>(wave: &'a Wave, step: &Step, spare: &'a mut Spare) -> T::Rows<'a> {
        T::fetch_destination(wave, step, spare)
    }

    #[inline(always)]
    fn fetch_lane(wave: &Wave, step: &Step, lane: usize) -> T {
        T::fetch_destination_lane(wave, step, lane)
    }
}

/// The sources of an instruction: one to three operands.
pub(crate) trait Operands {
    /// The values of one lane.
    type Values;
    /// The rows of all lanes.
    type Rows<'a>: Copy;

    /// Reads all lanes.
    fn fetch<'a>(wave: &'a Wave, step: &Step, spares: &'a mut Spares) -> Self::Rows<'a>;

    /// The values of one lane of the rows.
    fn values(rows: Self::Rows<'_>, lane: usize) -> Self::Values;

    /// Reads one lane of a step that [`only_lane`] admits.
    fn fetch_lane(wave: &Wave, step: &Step, lane: usize) -> Self::Values;
}

macro_rules! operands {
    ($($operand:ident $row:ident $spare:ident),*) => {
        impl<$($operand: Operand),*> Operands for ($($operand,)*) {
            type Values = ($($operand::Value,)*);
            type Rows<'a> = ($(<$operand::Value as LaneValue>::Rows<'a>,)*);

            #[inline(always)]
            fn fetch<'a>(wave: &'a Wave, step: &Step, [$($spare,)* ..]: &'a mut Spares) -> Self::Rows<'a> {
                ($($operand::fetch(wave, step, $spare),)*)
            }

            #[inline(always)]
            fn values(($($row,)*): Self::Rows<'_>, lane: usize) -> Self::Values {
                ($(<$operand::Value as LaneValue>::lane($row, lane),)*)
            }

            #[inline(always)]
            fn fetch_lane(wave: &Wave, step: &Step, lane: usize) -> Self::Values {
                ($($operand::fetch_lane(wave, step, lane),)*)
            }
        }
    };
}
operands!(A a first);
operands!(A a first, B b second);
operands!(A a first, B b second, C c third);

/// The function of an instruction, for one lane and for all.
pub(crate) struct Operation<O: Operands, R: LaneValue> {
    /// Computes one lane.
    pub(crate) one: fn(O::Values) -> R,
    /// Computes all lanes. It writes every lane of the result, which [`execute`] relies on. It may use the features of the
    /// compilation that calls it.
    pub(crate) all: for<'a> unsafe fn(O::Rows<'a>, &mut R::Result),
}

/// Executes an instruction with a vector result.
#[inline(always)]
fn execute<O: Operands, R: LaneValue>(core: &mut Core<'_>, step: &Step, operation: &Operation<O, R>) -> Flow {
    if core.wave.unusual && rounding::executes(core.wave, step) {
        return rounding::execute(core.wave, step);
    }
    if let Some(lane) = only_lane(core.wave, step) {
        let value = (operation.one)(O::fetch_lane(core.wave, step, lane));
        if R::store_lane(core.wave, step, lane, value) {
            return Flow::Next;
        }
    }
    let mut spares = [const { Spare::new() }; 3];
    let rows = O::fetch(core.wave, step, &mut spares);
    let mut result = R::result();
    // SAFETY: the processor has the features of this compilation, and `all` writes every lane.
    unsafe {
        (operation.all)(rows, &mut result);
        R::replace_nans(core.wave, step, &mut result);
        R::store(core.wave, step, &result);
    }
    Flow::Next
}
shared!(execute[O: Operands, R: LaneValue] [O, R] (core: &mut Core<'_>, step: &Step, operation: &Operation<O, R>) -> Flow);

/// A condition on the sources of a compare, for one lane and for all.
pub(crate) struct Condition<O: Operands> {
    /// Whether it holds in one lane.
    pub(crate) one: fn(O::Values) -> bool,
    /// Sets the bytes of the lanes in which it holds. It may use the features of the compilation that calls it.
    pub(crate) all: for<'a> unsafe fn(O::Rows<'a>, &mut [u8; LANES]),
}

/// Executes a compare. Inactive lanes give zero. `v_cmpx` narrows EXEC as well.
#[inline(always)]
fn compare<O: Operands>(core: &mut Core<'_>, step: &Step, condition: &Condition<O>) -> Flow {
    let holds = if let Some(lane) = only_lane(core.wave, step) {
        LaneMask::of_flag(lane, (condition.one)(O::fetch_lane(core.wave, step, lane)))
    } else {
        let mut spares = [const { Spare::new() }; 3];
        let rows = O::fetch(core.wave, step, &mut spares);
        let mut flags = [0; LANES];
        // SAFETY: the processor has the features of this compilation.
        unsafe { (condition.all)(rows, &mut flags) };
        gathered(&flags)
    };
    let mask = holds & core.wave.exec();
    core.wave.set_mask(step.inst.dst, mask);
    if step.narrows {
        core.wave.set_exec(mask);
    }
    Flow::Next
}
shared!(compare[O: Operands] [O] (core: &mut Core<'_>, step: &Step, condition: &Condition<O>) -> Flow);

/// Declares the handlers of vector instructions. Each is a function from one lane of its sources to one lane of its
/// result. A source in brackets is the destination's old value. With `#[usual]`, the usual case has code of its own.
macro_rules! vector {
    ($($(#[$usual:ident])? $op:ident $(| $more:ident)* ($($args:tt)*) -> $result:ident $body:expr;)*) => {
        /// The handler of an instruction of this family.
        pub(crate) fn compilations(op: $crate::isa::Op) -> Option<$crate::exec::machine::handler::Compilations> {
            use $crate::isa::Op;
            match op {
                $(Op::$op $(| Op::$more)* => Some($crate::exec::operands::operation::vector_handler!([$($args)*] [$($usual)?] $result $body)),)*
                _ => None,
            }
        }
    };
}

macro_rules! vector_handler {
    ([$a:ident: $ta:ident] $usual:tt $result:ident $body:expr) => {
        $crate::exec::operands::operation::vector_handler!(@ ($a $ta 0) [] $usual $result $body)
    };
    ([$a:ident: $ta:ident, $b:ident: $tb:ident] $usual:tt $result:ident $body:expr) => {
        $crate::exec::operands::operation::vector_handler!(@ ($a $ta 0) ($b $tb 1) [] $usual $result $body)
    };
    ([$a:ident: $ta:ident, $b:ident: $tb:ident, $c:ident: $tc:ident] $usual:tt $result:ident $body:expr) => {
        $crate::exec::operands::operation::vector_handler!(@ ($a $ta 0) ($b $tb 1) ($c $tc 2) [] $usual $result $body)
    };
    ([$a:ident: $ta:ident, $b:ident: $tb:ident, [$c:ident: $tc:ident]] $usual:tt $result:ident $body:expr) => {
        $crate::exec::operands::operation::vector_handler!(@ ($a $ta 0) ($b $tb 1) [$c $tc] $usual $result $body)
    };
    (@ $(($source:ident $type:ident $index:tt))* [$($old:ident $old_type:ident)?] $usual:tt $result:ident $body:expr) => {{
        use $crate::exec::operands::element::LaneValue;
        use $crate::exec::operands::operation;
        type Sources = ($(operation::Numbered<$type, $index>,)* $(operation::Old<$old_type>,)?);
        #[inline(always)]
        fn one(($($source,)* $($old,)?): <Sources as operation::Operands>::Values) -> $result {
            $body
        }
        #[inline(always)]
        fn all(rows: <Sources as operation::Operands>::Rows<'_>, result: &mut <$result as LaneValue>::Result) {
            for lane in 0..$crate::exec::values::row::LANES {
                <$result as LaneValue>::put(result, lane, one(<Sources as operation::Operands>::values(rows, lane)));
            }
        }
        $crate::exec::machine::handler::handler!(
            portable: |core, step| {
                operation::in_groups!($usual core, step, $(($source $type $index))* [$($old $old_type)?] $result $body);
                operation::execute::portable::<Sources, $result>(core, step, &operation::Operation { one, all })
            },
            wide: |core, step| {
                operation::in_groups!($usual core, step, $(($source $type $index))* [$($old $old_type)?] $result $body);
                $crate::exec::machine::handler::wide! {
                    fn wide_all(rows: <Sources as operation::Operands>::Rows<'_>, result: &mut <$result as LaneValue>::Result) {
                        all(rows, result);
                    }
                }
                operation::execute::wide::<Sources, $result>(core, step, &operation::Operation { one, all: wide_all })
            }
        )
    }};
}

/// Executes the usual case group by group, and returns. A result is kept back if it has a NaN that must be replaced.
macro_rules! in_groups {
    ([] $($rest:tt)*) => {};
    ([usual] $core:ident, $step:ident, $(($source:ident $type:ident $index:tt))* [$($old:ident $old_type:ident)?] $result:ident $body:expr) => {{
        use $crate::exec::operands::element;
        if element::is_usual($core.wave, $step) {
            $(element::splat($core.wave, $step, $index);)*
            let groups = $core.wave.groups();
            $(let $source = element::source_groups(groups, $step, $index);)*
            let destination = groups.register($step.dst);
            let mut results = [[0; $crate::exec::values::row::LANES / $crate::exec::values::row::GROUPS]; $crate::exec::values::row::GROUPS];
            for (group, results) in results.iter_mut().enumerate() {
                $(let $source = $source[group].get();)*
                $(let $old = destination[group].get();)?
                for (lane, result) in results.iter_mut().enumerate() {
                    $(let $source = <$type as element::Word>::from_word($source[lane]);)*
                    $(let $old = <$old_type as element::Word>::from_word($old[lane]);)?
                    let value: $result = $body;
                    *result = element::Word::to_word(value);
                }
            }
            let nan = match <$result as element::Word>::INFINITY {
                Some(infinity) => element::has_nan(&results, infinity),
                None => false,
            };
            if !nan {
                for (destination, results) in destination.iter().zip(results) {
                    destination.set(results);
                }
                return $crate::exec::machine::core::Flow::Next;
            }
        }
    }};
}
pub(crate) use {in_groups, vector, vector_handler};
