// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares: every condition of every type, into a lane mask.

use crate::exec::machine::handler::{Compilations, handler, wide};
use crate::exec::operands::element::{F16, Raw};
use crate::exec::operands::operation::{self, Condition, Numbered, Operands};
use crate::exec::values::float::{class_f16, class_f32, class_f64, is_class};
use crate::exec::values::row::LANES;
use crate::isa::{Compared, Comparison, Op, Relation};

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    let Comparison { relation, compared, .. } = op.comparison()?;
    match compared {
        Compared::F16 if relation == Relation::Class => {
            Some(compare!(Raw<u16>, u32, |a, b| is_class(class_f16(a.0), b)))
        }
        Compared::F32 if relation == Relation::Class => {
            Some(compare!(Raw<u32>, u32, |a, b| is_class(class_f32(a.0), b)))
        }
        Compared::F64 if relation == Relation::Class => {
            Some(compare!(Raw<u64>, u32, |a, b| is_class(class_f64(a.0), b)))
        }
        Compared::F16 => float!(relation, F16, |value| value.0),
        Compared::F32 => float!(relation, f32, |value| value),
        Compared::F64 => float!(relation, f64, |value| value),
        Compared::I16 => integer!(relation, i16),
        Compared::U16 => integer!(relation, u16),
        Compared::I32 => integer!(relation, i32),
        Compared::U32 => integer!(relation, u32),
        Compared::I64 => integer!(relation, i64),
        Compared::U64 => integer!(relation, u64),
    }
}

macro_rules! compare {
    ($ta:ty, $tb:ty, |$a:ident, $b:ident| $test:expr) => {{
        type Sources = (Numbered<$ta, 0>, Numbered<$tb, 1>);
        #[inline(always)]
        fn one(($a, $b): <Sources as Operands>::Values) -> bool {
            $test
        }
        #[inline(always)]
        fn all(rows: <Sources as Operands>::Rows<'_>, flags: &mut [u8; LANES]) {
            for (lane, flag) in flags.iter_mut().enumerate() {
                *flag = one(Sources::values(rows, lane)).into();
            }
        }
        handler!(
            portable: |core, step| operation::compare::portable::<Sources>(core, step, &Condition { one, all }),
            wide: |core, step| {
                wide! {
                    fn wide_all(rows: <Sources as Operands>::Rows<'_>, flags: &mut [u8; LANES]) {
                        all(rows, flags);
                    }
                }
                operation::compare::wide::<Sources>(core, step, &Condition { one, all: wide_all })
            }
        )
    }};
}
use compare;

macro_rules! float {
    ($relation:expr, $ty:ty, |$value:ident| $number:expr) => {{
        macro_rules! test {
            (|$a:ident, $b:ident| $test:expr) => {
                compare!($ty, $ty, |a, b| {
                    let ($a, $b) = (
                        {
                            let $value = a;
                            $number
                        },
                        {
                            let $value = b;
                            $number
                        },
                    );
                    $test
                })
            };
        }
        Some(match $relation {
            Relation::Never => compare!($ty, $ty, |_a, _b| false),
            Relation::Less => test!(|a, b| a < b),
            Relation::Equal => test!(|a, b| a == b),
            Relation::LessEqual => test!(|a, b| a <= b),
            Relation::Greater => test!(|a, b| a > b),
            Relation::LessGreater => test!(|a, b| (a < b) | (a > b)),
            Relation::GreaterEqual => test!(|a, b| a >= b),
            Relation::Ordered => test!(|a, b| !a.is_nan() & !b.is_nan()),
            Relation::Unordered => test!(|a, b| a.is_nan() | b.is_nan()),
            Relation::NotGreaterEqual => test!(|a, b| (a < b) | a.is_nan() | b.is_nan()),
            Relation::NotLessGreater => test!(|a, b| !((a < b) | (a > b))),
            Relation::NotGreater => test!(|a, b| (a <= b) | a.is_nan() | b.is_nan()),
            Relation::NotLessEqual => test!(|a, b| (a > b) | a.is_nan() | b.is_nan()),
            Relation::NotEqual => test!(|a, b| a != b),
            Relation::NotLess => test!(|a, b| (a >= b) | a.is_nan() | b.is_nan()),
            Relation::Always => compare!($ty, $ty, |_a, _b| true),
            Relation::Class => return None,
        })
    }};
}
use float;

macro_rules! integer {
    ($relation:expr, $ty:ty) => {
        Some(match $relation {
            Relation::Never => compare!($ty, $ty, |_a, _b| false),
            Relation::Less => compare!($ty, $ty, |a, b| a < b),
            Relation::Equal => compare!($ty, $ty, |a, b| a == b),
            Relation::LessEqual => compare!($ty, $ty, |a, b| a <= b),
            Relation::Greater => compare!($ty, $ty, |a, b| a > b),
            Relation::NotEqual => compare!($ty, $ty, |a, b| a != b),
            Relation::GreaterEqual => compare!($ty, $ty, |a, b| a >= b),
            Relation::Always => compare!($ty, $ty, |_a, _b| true),
            _ => return None,
        })
    };
}
use integer;
