// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of vector compares.

use super::opcode::Op;

/// The test of a vector compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Comparison {
    /// The relation of the first source to the second.
    pub(crate) relation: Relation,
    /// The type of both sources.
    pub(crate) compared: Compared,
    /// Whether the result narrows EXEC (`v_cmpx`).
    pub(crate) narrows: bool,
}

/// The type of the sources of a vector compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compared {
    F16,
    F32,
    F64,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

/// The relation that a vector compare tests. The negated ones hold for NaN, the others do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    /// Less or greater.
    LessGreater,
    GreaterEqual,
    /// Neither source is a NaN.
    Ordered,
    Unordered,
    NotGreaterEqual,
    NotLessGreater,
    NotGreater,
    NotLessEqual,
    NotEqual,
    NotLess,
    Always,
    /// The first source is of one of the classes that the second lists.
    Class,
}

/// Declares [`Op::comparison`]: for each type and relation the instruction, and the one that narrows EXEC.
macro_rules! comparisons {
    ($($compared:ident $relation:ident: $wide:ident $narrow:ident;)+) => {
        impl Op {
            /// The test of a vector compare, `None` for other instructions.
            pub(crate) fn comparison(self) -> Option<Comparison> {
                use Compared::*;
                use Relation::*;
                let (compared, relation, narrows) = match self {
                    $(
                        Self::$wide => ($compared, $relation, false),
                        Self::$narrow => ($compared, $relation, true),
                    )+
                    _ => return None,
                };
                Some(Comparison { relation, compared, narrows })
            }
        }
    };
}

comparisons! {
    F16 Class: v_cmp_class_f16 v_cmpx_class_f16;
    F16 Never: v_cmp_f_f16 v_cmpx_f_f16;
    F16 Less: v_cmp_lt_f16 v_cmpx_lt_f16;
    F16 Equal: v_cmp_eq_f16 v_cmpx_eq_f16;
    F16 LessEqual: v_cmp_le_f16 v_cmpx_le_f16;
    F16 Greater: v_cmp_gt_f16 v_cmpx_gt_f16;
    F16 LessGreater: v_cmp_lg_f16 v_cmpx_lg_f16;
    F16 GreaterEqual: v_cmp_ge_f16 v_cmpx_ge_f16;
    F16 Ordered: v_cmp_o_f16 v_cmpx_o_f16;
    F16 Unordered: v_cmp_u_f16 v_cmpx_u_f16;
    F16 NotGreaterEqual: v_cmp_nge_f16 v_cmpx_nge_f16;
    F16 NotLessGreater: v_cmp_nlg_f16 v_cmpx_nlg_f16;
    F16 NotGreater: v_cmp_ngt_f16 v_cmpx_ngt_f16;
    F16 NotLessEqual: v_cmp_nle_f16 v_cmpx_nle_f16;
    F16 NotEqual: v_cmp_neq_f16 v_cmpx_neq_f16;
    F16 NotLess: v_cmp_nlt_f16 v_cmpx_nlt_f16;
    F16 Always: v_cmp_tru_f16 v_cmpx_tru_f16;
    F32 Class: v_cmp_class_f32 v_cmpx_class_f32;
    F32 Never: v_cmp_f_f32 v_cmpx_f_f32;
    F32 Less: v_cmp_lt_f32 v_cmpx_lt_f32;
    F32 Equal: v_cmp_eq_f32 v_cmpx_eq_f32;
    F32 LessEqual: v_cmp_le_f32 v_cmpx_le_f32;
    F32 Greater: v_cmp_gt_f32 v_cmpx_gt_f32;
    F32 LessGreater: v_cmp_lg_f32 v_cmpx_lg_f32;
    F32 GreaterEqual: v_cmp_ge_f32 v_cmpx_ge_f32;
    F32 Ordered: v_cmp_o_f32 v_cmpx_o_f32;
    F32 Unordered: v_cmp_u_f32 v_cmpx_u_f32;
    F32 NotGreaterEqual: v_cmp_nge_f32 v_cmpx_nge_f32;
    F32 NotLessGreater: v_cmp_nlg_f32 v_cmpx_nlg_f32;
    F32 NotGreater: v_cmp_ngt_f32 v_cmpx_ngt_f32;
    F32 NotLessEqual: v_cmp_nle_f32 v_cmpx_nle_f32;
    F32 NotEqual: v_cmp_neq_f32 v_cmpx_neq_f32;
    F32 NotLess: v_cmp_nlt_f32 v_cmpx_nlt_f32;
    F32 Always: v_cmp_tru_f32 v_cmpx_tru_f32;
    F64 Class: v_cmp_class_f64 v_cmpx_class_f64;
    F64 Never: v_cmp_f_f64 v_cmpx_f_f64;
    F64 Less: v_cmp_lt_f64 v_cmpx_lt_f64;
    F64 Equal: v_cmp_eq_f64 v_cmpx_eq_f64;
    F64 LessEqual: v_cmp_le_f64 v_cmpx_le_f64;
    F64 Greater: v_cmp_gt_f64 v_cmpx_gt_f64;
    F64 LessGreater: v_cmp_lg_f64 v_cmpx_lg_f64;
    F64 GreaterEqual: v_cmp_ge_f64 v_cmpx_ge_f64;
    F64 Ordered: v_cmp_o_f64 v_cmpx_o_f64;
    F64 Unordered: v_cmp_u_f64 v_cmpx_u_f64;
    F64 NotGreaterEqual: v_cmp_nge_f64 v_cmpx_nge_f64;
    F64 NotLessGreater: v_cmp_nlg_f64 v_cmpx_nlg_f64;
    F64 NotGreater: v_cmp_ngt_f64 v_cmpx_ngt_f64;
    F64 NotLessEqual: v_cmp_nle_f64 v_cmpx_nle_f64;
    F64 NotEqual: v_cmp_neq_f64 v_cmpx_neq_f64;
    F64 NotLess: v_cmp_nlt_f64 v_cmpx_nlt_f64;
    F64 Always: v_cmp_tru_f64 v_cmpx_tru_f64;
    I16 Never: v_cmp_f_i16 v_cmpx_f_i16;
    I16 Less: v_cmp_lt_i16 v_cmpx_lt_i16;
    I16 Equal: v_cmp_eq_i16 v_cmpx_eq_i16;
    I16 LessEqual: v_cmp_le_i16 v_cmpx_le_i16;
    I16 Greater: v_cmp_gt_i16 v_cmpx_gt_i16;
    I16 NotEqual: v_cmp_ne_i16 v_cmpx_ne_i16;
    I16 GreaterEqual: v_cmp_ge_i16 v_cmpx_ge_i16;
    I16 Always: v_cmp_t_i16 v_cmpx_t_i16;
    U16 Never: v_cmp_f_u16 v_cmpx_f_u16;
    U16 Less: v_cmp_lt_u16 v_cmpx_lt_u16;
    U16 Equal: v_cmp_eq_u16 v_cmpx_eq_u16;
    U16 LessEqual: v_cmp_le_u16 v_cmpx_le_u16;
    U16 Greater: v_cmp_gt_u16 v_cmpx_gt_u16;
    U16 NotEqual: v_cmp_ne_u16 v_cmpx_ne_u16;
    U16 GreaterEqual: v_cmp_ge_u16 v_cmpx_ge_u16;
    U16 Always: v_cmp_t_u16 v_cmpx_t_u16;
    I32 Never: v_cmp_f_i32 v_cmpx_f_i32;
    I32 Less: v_cmp_lt_i32 v_cmpx_lt_i32;
    I32 Equal: v_cmp_eq_i32 v_cmpx_eq_i32;
    I32 LessEqual: v_cmp_le_i32 v_cmpx_le_i32;
    I32 Greater: v_cmp_gt_i32 v_cmpx_gt_i32;
    I32 NotEqual: v_cmp_ne_i32 v_cmpx_ne_i32;
    I32 GreaterEqual: v_cmp_ge_i32 v_cmpx_ge_i32;
    I32 Always: v_cmp_t_i32 v_cmpx_t_i32;
    U32 Never: v_cmp_f_u32 v_cmpx_f_u32;
    U32 Less: v_cmp_lt_u32 v_cmpx_lt_u32;
    U32 Equal: v_cmp_eq_u32 v_cmpx_eq_u32;
    U32 LessEqual: v_cmp_le_u32 v_cmpx_le_u32;
    U32 Greater: v_cmp_gt_u32 v_cmpx_gt_u32;
    U32 NotEqual: v_cmp_ne_u32 v_cmpx_ne_u32;
    U32 GreaterEqual: v_cmp_ge_u32 v_cmpx_ge_u32;
    U32 Always: v_cmp_t_u32 v_cmpx_t_u32;
    I64 Never: v_cmp_f_i64 v_cmpx_f_i64;
    I64 Less: v_cmp_lt_i64 v_cmpx_lt_i64;
    I64 Equal: v_cmp_eq_i64 v_cmpx_eq_i64;
    I64 LessEqual: v_cmp_le_i64 v_cmpx_le_i64;
    I64 Greater: v_cmp_gt_i64 v_cmpx_gt_i64;
    I64 NotEqual: v_cmp_ne_i64 v_cmpx_ne_i64;
    I64 GreaterEqual: v_cmp_ge_i64 v_cmpx_ge_i64;
    I64 Always: v_cmp_t_i64 v_cmpx_t_i64;
    U64 Never: v_cmp_f_u64 v_cmpx_f_u64;
    U64 Less: v_cmp_lt_u64 v_cmpx_lt_u64;
    U64 Equal: v_cmp_eq_u64 v_cmpx_eq_u64;
    U64 LessEqual: v_cmp_le_u64 v_cmpx_le_u64;
    U64 Greater: v_cmp_gt_u64 v_cmpx_gt_u64;
    U64 NotEqual: v_cmp_ne_u64 v_cmpx_ne_u64;
    U64 GreaterEqual: v_cmp_ge_u64 v_cmpx_ge_u64;
    U64 Always: v_cmp_t_u64 v_cmpx_t_u64;
}
