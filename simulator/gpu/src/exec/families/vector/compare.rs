// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares: every condition of every type, into a lane mask.

use crate::exec::machine::handler::{Compilations, handler, wide};
use crate::exec::operands::element::{F16, Raw};
use crate::exec::operands::operation::{self, Condition, Numbered, Operands};
use crate::exec::values::float::{class_f16, class_f32, class_f64, is_class};
use crate::exec::values::row::LANES;
use crate::isa::Op;

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    let (instruction, rest) = op.mnemonic().strip_prefix("v_")?.split_once('_')?;
    if !matches!(instruction, "cmp" | "cmpx") {
        return None;
    }
    let (condition, ty) = rest.rsplit_once('_')?;
    match ty {
        "f16" if condition == "class" => Some(compare!(Raw<u16>, u32, |a, b| is_class(class_f16(a.0), b))),
        "f32" if condition == "class" => Some(compare!(Raw<u32>, u32, |a, b| is_class(class_f32(a.0), b))),
        "f64" if condition == "class" => Some(compare!(Raw<u64>, u32, |a, b| is_class(class_f64(a.0), b))),
        "f16" => float!(condition, F16, |value| value.0),
        "f32" => float!(condition, f32, |value| value),
        "f64" => float!(condition, f64, |value| value),
        "i16" => integer!(condition, i16),
        "u16" => integer!(condition, u16),
        "i32" => integer!(condition, i32),
        "u32" => integer!(condition, u32),
        "i64" => integer!(condition, i64),
        "u64" => integer!(condition, u64),
        _ => None,
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
    ($condition:expr, $ty:ty, |$value:ident| $number:expr) => {{
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
        Some(match $condition {
            "f" => compare!($ty, $ty, |_a, _b| false),
            "lt" => test!(|a, b| a < b),
            "eq" => test!(|a, b| a == b),
            "le" => test!(|a, b| a <= b),
            "gt" => test!(|a, b| a > b),
            "lg" => test!(|a, b| (a < b) | (a > b)),
            "ge" => test!(|a, b| a >= b),
            "o" => test!(|a, b| !a.is_nan() & !b.is_nan()),
            "u" => test!(|a, b| a.is_nan() | b.is_nan()),
            "nge" => test!(|a, b| (a < b) | a.is_nan() | b.is_nan()),
            "nlg" => test!(|a, b| !((a < b) | (a > b))),
            "ngt" => test!(|a, b| (a <= b) | a.is_nan() | b.is_nan()),
            "nle" => test!(|a, b| (a > b) | a.is_nan() | b.is_nan()),
            "neq" => test!(|a, b| a != b),
            "nlt" => test!(|a, b| (a >= b) | a.is_nan() | b.is_nan()),
            "tru" => compare!($ty, $ty, |_a, _b| true),
            _ => return None,
        })
    }};
}
use float;

macro_rules! integer {
    ($condition:expr, $ty:ty) => {
        Some(match $condition {
            "f" => compare!($ty, $ty, |_a, _b| false),
            "lt" => compare!($ty, $ty, |a, b| a < b),
            "eq" => compare!($ty, $ty, |a, b| a == b),
            "le" => compare!($ty, $ty, |a, b| a <= b),
            "gt" => compare!($ty, $ty, |a, b| a > b),
            "ne" => compare!($ty, $ty, |a, b| a != b),
            "ge" => compare!($ty, $ty, |a, b| a >= b),
            "t" => compare!($ty, $ty, |_a, _b| true),
            _ => return None,
        })
    };
}
use integer;
