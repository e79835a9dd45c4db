// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scalar arithmetic: SOP1, SOP2, SOPC and SOPK without program control.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::step::Step;
use crate::exec::operands::source::{scalar32, scalar64};
use crate::isa::Op;
use crate::lane_mask::LaneMask;

/// Declares scalar handlers. The word before the expression is the rule for SCC: `keep` leaves it, `nonzero`
/// sets it if the result is not zero, `flag` takes it from the second part of the expression's pair, and with
/// `is` the expression is SCC itself.
macro_rules! scalar {
    ($($op:ident ($($arg:ident: $ty:ident),*) $($in_scc:ident)? -> $result:ident $scc:ident $body:expr;)*) => {
        /// The handler of an instruction of this family.
        pub(crate) fn compilations(op: Op) -> Option<Compilations> {
            match op {
                $(Op::$op => {
                    fn run(core: &mut Core<'_>, step: &Step) -> Flow {
                        let [$($arg,)* ..] = step.src;
                        $(let $arg = scalar!(@fetch $ty core.wave, $arg);)*
                        $(let $in_scc = core.wave.scc;)?
                        scalar!(@store $result $scc core, step, $body);
                        Flow::Next
                    }
                    Some(Compilations::scalar(run))
                })*
                _ => control(op),
            }
        }
    };
    (@fetch b32 $wave:expr, $source:ident) => { scalar32($wave, $source) };
    (@fetch i32 $wave:expr, $source:ident) => { scalar32($wave, $source) as i32 };
    (@fetch b64 $wave:expr, $source:ident) => { scalar64($wave, $source) };
    (@fetch i64 $wave:expr, $source:ident) => { scalar64($wave, $source) as i64 };
    (@store none is $core:ident, $step:ident, $body:expr) => { $core.wave.scc = $body };
    (@store b32 keep $core:ident, $step:ident, $body:expr) => { $core.wave.set_scalar($step.inst.dst, $body) };
    (@store b64 keep $core:ident, $step:ident, $body:expr) => { $core.wave.set_pair($step.inst.dst, $body) };
    (@store b32 nonzero $core:ident, $step:ident, $body:expr) => {
        let value: u32 = $body;
        $core.wave.set_scalar($step.inst.dst, value);
        $core.wave.scc = value != 0;
    };
    (@store b64 nonzero $core:ident, $step:ident, $body:expr) => {
        let value: u64 = $body;
        $core.wave.set_pair($step.inst.dst, value);
        $core.wave.scc = value != 0;
    };
    (@store b32 flag $core:ident, $step:ident, $body:expr) => {
        let (value, flag): (u32, bool) = $body;
        $core.wave.set_scalar($step.inst.dst, value);
        $core.wave.scc = flag;
    };
}

scalar! {
    s_add_u32(a: b32, b: b32) -> b32 flag a.overflowing_add(b);
    s_sub_u32(a: b32, b: b32) -> b32 flag a.overflowing_sub(b);
    s_add_i32(a: i32, b: i32) -> b32 flag { let (sum, over) = a.overflowing_add(b); (sum as u32, over) };
    s_sub_i32(a: i32, b: i32) -> b32 flag { let (sum, over) = a.overflowing_sub(b); (sum as u32, over) };
    s_addc_u32(a: b32, b: b32) scc -> b32 flag {
        let sum = u64::from(a) + u64::from(b) + u64::from(scc);
        (sum as u32, sum >> 32 != 0)
    };
    s_subb_u32(a: b32, b: b32) scc -> b32 flag {
        let taken = u64::from(b) + u64::from(scc);
        (a.wrapping_sub(taken as u32), taken > u64::from(a))
    };
    s_min_i32(a: i32, b: i32) -> b32 flag (a.min(b) as u32, a < b);
    s_min_u32(a: b32, b: b32) -> b32 flag (a.min(b), a < b);
    s_max_i32(a: i32, b: i32) -> b32 flag (a.max(b) as u32, a >= b);
    s_max_u32(a: b32, b: b32) -> b32 flag (a.max(b), a >= b);
    s_cselect_b32(a: b32, b: b32) scc -> b32 keep if scc { a } else { b };
    s_cselect_b64(a: b64, b: b64) scc -> b64 keep if scc { a } else { b };
    s_and_b32(a: b32, b: b32) -> b32 nonzero a & b;
    s_and_b64(a: b64, b: b64) -> b64 nonzero a & b;
    s_or_b32(a: b32, b: b32) -> b32 nonzero a | b;
    s_or_b64(a: b64, b: b64) -> b64 nonzero a | b;
    s_xor_b32(a: b32, b: b32) -> b32 nonzero a ^ b;
    s_xor_b64(a: b64, b: b64) -> b64 nonzero a ^ b;
    s_andn2_b32(a: b32, b: b32) -> b32 nonzero a & !b;
    s_andn2_b64(a: b64, b: b64) -> b64 nonzero a & !b;
    s_orn2_b32(a: b32, b: b32) -> b32 nonzero a | !b;
    s_orn2_b64(a: b64, b: b64) -> b64 nonzero a | !b;
    s_nand_b32(a: b32, b: b32) -> b32 nonzero !(a & b);
    s_nand_b64(a: b64, b: b64) -> b64 nonzero !(a & b);
    s_nor_b32(a: b32, b: b32) -> b32 nonzero !(a | b);
    s_nor_b64(a: b64, b: b64) -> b64 nonzero !(a | b);
    s_xnor_b32(a: b32, b: b32) -> b32 nonzero !(a ^ b);
    s_xnor_b64(a: b64, b: b64) -> b64 nonzero !(a ^ b);
    s_lshl_b32(a: b32, b: b32) -> b32 nonzero a << (b & 31);
    s_lshl_b64(a: b64, b: b32) -> b64 nonzero a << (b & 63);
    s_lshr_b32(a: b32, b: b32) -> b32 nonzero a >> (b & 31);
    s_lshr_b64(a: b64, b: b32) -> b64 nonzero a >> (b & 63);
    s_ashr_i32(a: i32, b: b32) -> b32 nonzero (a >> (b & 31)) as u32;
    s_ashr_i64(a: i64, b: b32) -> b64 nonzero (a >> (b & 63)) as u64;
    s_bfm_b32(a: b32, b: b32) -> b32 keep ((1u32 << (a & 31)) - 1) << (b & 31);
    s_bfm_b64(a: b32, b: b32) -> b64 keep ((1u64 << (a & 63)) - 1) << (b & 63);
    s_add_nc_u64(a: b64, b: b64) -> b64 keep a.wrapping_add(b);
    s_sub_nc_u64(a: b64, b: b64) -> b64 keep a.wrapping_sub(b);
    s_mul_u64(a: b64, b: b64) -> b64 keep a.wrapping_mul(b);
    s_mul_i32(a: b32, b: b32) -> b32 keep a.wrapping_mul(b);
    s_bfe_u32(a: b32, b: b32) -> b32 nonzero field(a.into(), b & 31, b >> 16 & 0x7f) as u32;
    s_bfe_i32(a: i32, b: b32) -> b32 nonzero signed_field(a.into(), b & 31, b >> 16 & 0x7f, 32) as u32;
    s_bfe_u64(a: b64, b: b32) -> b64 nonzero field(a, b & 63, b >> 16 & 0x7f);
    s_bfe_i64(a: i64, b: b32) -> b64 nonzero signed_field(a, b & 63, b >> 16 & 0x7f, 64) as u64;
    s_absdiff_i32(a: i32, b: i32) -> b32 nonzero a.wrapping_sub(b).unsigned_abs();
    s_mul_hi_u32(a: b32, b: b32) -> b32 keep ((u64::from(a) * u64::from(b)) >> 32) as u32;
    s_mul_hi_i32(a: i32, b: i32) -> b32 keep ((i64::from(a) * i64::from(b)) >> 32) as u32;
    s_lshl1_add_u32(a: b32, b: b32) -> b32 flag shifted_sum(a, 1, b);
    s_lshl2_add_u32(a: b32, b: b32) -> b32 flag shifted_sum(a, 2, b);
    s_lshl3_add_u32(a: b32, b: b32) -> b32 flag shifted_sum(a, 3, b);
    s_lshl4_add_u32(a: b32, b: b32) -> b32 flag shifted_sum(a, 4, b);
    s_pack_ll_b32_b16(a: b32, b: b32) -> b32 keep a & 0xffff | b << 16;
    s_pack_lh_b32_b16(a: b32, b: b32) -> b32 keep a & 0xffff | b & 0xffff_0000;
    s_pack_hl_b32_b16(a: b32, b: b32) -> b32 keep a >> 16 | b << 16;
    s_pack_hh_b32_b16(a: b32, b: b32) -> b32 keep a >> 16 | b & 0xffff_0000;

    s_mov_b32(a: b32) -> b32 keep a;
    s_mov_b64(a: b64) -> b64 keep a;
    s_not_b32(a: b32) -> b32 nonzero !a;
    s_not_b64(a: b64) -> b64 nonzero !a;
    s_wqm_b32(a: b32) -> b32 nonzero whole_quads(a.into()) as u32;
    s_wqm_b64(a: b64) -> b64 nonzero whole_quads(a);
    s_quadmask_b32(a: b32) -> b32 nonzero quads(a.into()) as u32;
    s_quadmask_b64(a: b64) -> b64 nonzero quads(a);
    s_brev_b32(a: b32) -> b32 keep a.reverse_bits();
    s_brev_b64(a: b64) -> b64 keep a.reverse_bits();
    s_bcnt0_i32_b32(a: b32) -> b32 nonzero a.count_zeros();
    s_bcnt0_i32_b64(a: b64) -> b32 nonzero a.count_zeros();
    s_bcnt1_i32_b32(a: b32) -> b32 nonzero a.count_ones();
    s_bcnt1_i32_b64(a: b64) -> b32 nonzero a.count_ones();
    s_ff0_i32_b32(a: b32) -> b32 keep if a == !0 { !0 } else { a.trailing_ones() };
    s_ff0_i32_b64(a: b64) -> b32 keep if a == !0 { !0 } else { a.trailing_ones() };
    s_ff1_i32_b32(a: b32) -> b32 keep if a == 0 { !0 } else { a.trailing_zeros() };
    s_ff1_i32_b64(a: b64) -> b32 keep if a == 0 { !0 } else { a.trailing_zeros() };
    s_flbit_i32_b32(a: b32) -> b32 keep if a == 0 { !0 } else { a.leading_zeros() };
    s_flbit_i32_b64(a: b64) -> b32 keep if a == 0 { !0 } else { a.leading_zeros() };
    s_flbit_i32(a: i32) -> b32 keep if a == 0 || a == -1 { !0 } else { (a ^ a >> 31).leading_zeros() };
    s_flbit_i32_i64(a: i64) -> b32 keep if a == 0 || a == -1 { !0 } else { (a ^ a >> 63).leading_zeros() };
    s_sext_i32_i8(a: b32) -> b32 keep a as i8 as u32;
    s_sext_i32_i16(a: b32) -> b32 keep a as i16 as u32;
    s_abs_i32(a: i32) -> b32 nonzero a.unsigned_abs();
    s_bitreplicate_b64_b32(a: b32) -> b64 keep (0..32).fold(0, |out, bit| out | (u64::from(a >> bit & 1) * 3) << (2 * bit));

    s_cmp_eq_i32(a: b32, b: b32) -> none is a == b;
    s_cmp_lg_i32(a: b32, b: b32) -> none is a != b;
    s_cmp_gt_i32(a: i32, b: i32) -> none is a > b;
    s_cmp_ge_i32(a: i32, b: i32) -> none is a >= b;
    s_cmp_lt_i32(a: i32, b: i32) -> none is a < b;
    s_cmp_le_i32(a: i32, b: i32) -> none is a <= b;
    s_cmp_eq_u32(a: b32, b: b32) -> none is a == b;
    s_cmp_lg_u32(a: b32, b: b32) -> none is a != b;
    s_cmp_gt_u32(a: b32, b: b32) -> none is a > b;
    s_cmp_ge_u32(a: b32, b: b32) -> none is a >= b;
    s_cmp_lt_u32(a: b32, b: b32) -> none is a < b;
    s_cmp_le_u32(a: b32, b: b32) -> none is a <= b;
    s_cmp_eq_u64(a: b64, b: b64) -> none is a == b;
    s_cmp_lg_u64(a: b64, b: b64) -> none is a != b;
    s_bitcmp0_b32(a: b32, b: b32) -> none is a >> (b & 31) & 1 == 0;
    s_bitcmp1_b32(a: b32, b: b32) -> none is a >> (b & 31) & 1 == 1;
    s_bitcmp0_b64(a: b64, b: b32) -> none is a >> (b & 63) & 1 == 0;
    s_bitcmp1_b64(a: b64, b: b32) -> none is a >> (b & 63) & 1 == 1;
}

/// `width` bits of a value from `offset` on.
fn field(value: u64, offset: u32, width: u32) -> u64 {
    let value = value >> offset;
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}

/// The same, repeating the top bit of the field, in a value of `bits` bits.
fn signed_field(value: i64, offset: u32, width: u32, bits: u32) -> i64 {
    let value = value >> offset;
    match width.min(bits) {
        0 => 0,
        width => value << (64 - width) >> (64 - width),
    }
}

fn shifted_sum(a: u32, shift: u32, b: u32) -> (u32, bool) {
    let sum = (u64::from(a) << shift) + u64::from(b);
    (sum as u32, sum >> 32 != 0)
}

/// Every group of four bits becomes ones if any of them is set.
fn whole_quads(mask: u64) -> u64 {
    (0..16).fold(0, |out, quad| if mask >> (4 * quad) & 15 != 0 { out | 15 << (4 * quad) } else { out })
}

/// One bit for every group of four: whether any of them is set.
fn quads(mask: u64) -> u64 {
    (0..16).fold(0, |out, quad| out | u64::from(mask >> (4 * quad) & 15 != 0) << quad)
}

/// Instructions that also read their destination, constants of SOPK, and EXEC.
fn control(op: Op) -> Option<Compilations> {
    /// Makes a handler of a function.
    macro_rules! run {
        (|$core:ident, $step:ident| $body:expr) => {{
            fn run($core: &mut Core<'_>, $step: &Step) -> Flow {
                $body;
                Flow::Next
            }
            run
        }};
    }
    /// Compares a register with the constant, extended from 16 bits.
    macro_rules! compare_k {
        (|$a:ident: $ty:ident, $b:ident| $test:expr) => {
            run!(|core, step| {
                let $a = scalar32(core.wave, step.src[0]) as $ty;
                let $b = step.inst.imm as compare_k!(@narrow $ty) as $ty;
                core.wave.scc = $test;
            })
        };
        (@narrow i32) => { i16 };
        (@narrow u32) => { u16 };
    }
    /// EXEC becomes a function of the source and EXEC; the destination gets the old EXEC.
    macro_rules! save_exec {
        (|$source:ident, $exec:ident| $new:expr) => {
            run!(|core, step| {
                let $source = scalar64(core.wave, step.src[0]);
                let $exec = core.wave.exec().bits();
                let new = $new;
                core.wave.set_pair(step.inst.dst, $exec);
                core.wave.set_exec(LaneMask::of_bits(new));
                core.wave.scc = new != 0;
            })
        };
    }
    /// The same for EXEC's low half, which is all of it in waves of 32 lanes. `wrexec` gives the new half to the destination.
    macro_rules! save_low {
        ($given:ident |$source:ident, $exec:ident| $new:expr) => {
            run!(|core, step| {
                let ($source, $exec) = (scalar32(core.wave, step.src[0]), core.wave.s[EXEC]);
                let new = $new;
                core.wave.set_scalar(step.inst.dst, save_low!(@given $given $exec new));
                core.wave.s[EXEC] = new;
                core.wave.scc = new != 0;
            })
        };
        (@given saveexec $old:ident $new:ident) => { $old };
        (@given wrexec $old:ident $new:ident) => { $new };
    }
    const EXEC: usize = 126;
    let handler: fn(&mut Core<'_>, &Step) -> Flow = match op {
        Op::s_movk_i32 => run!(|core, step| core.wave.set_scalar(step.inst.dst, step.inst.imm as u32)),
        Op::s_cmovk_i32 => run!(|core, step| if core.wave.scc {
            core.wave.set_scalar(step.inst.dst, step.inst.imm as u32);
        }),
        Op::s_cmov_b32 => run!(|core, step| if core.wave.scc {
            let value = scalar32(core.wave, step.src[0]);
            core.wave.set_scalar(step.inst.dst, value);
        }),
        Op::s_cmov_b64 => run!(|core, step| if core.wave.scc {
            let value = scalar64(core.wave, step.src[0]);
            core.wave.set_pair(step.inst.dst, value);
        }),
        Op::s_addk_i32 => run!(|core, step| {
            let (sum, over) = (destination32(core, step) as i32).overflowing_add(step.inst.imm);
            core.wave.set_scalar(step.inst.dst, sum as u32);
            core.wave.scc = over;
        }),
        Op::s_mulk_i32 => run!(|core, step| {
            let product = (destination32(core, step) as i32).wrapping_mul(step.inst.imm);
            core.wave.set_scalar(step.inst.dst, product as u32);
        }),
        Op::s_cmpk_eq_i32 => compare_k!(|a: i32, b| a == b),
        Op::s_cmpk_lg_i32 => compare_k!(|a: i32, b| a != b),
        Op::s_cmpk_gt_i32 => compare_k!(|a: i32, b| a > b),
        Op::s_cmpk_ge_i32 => compare_k!(|a: i32, b| a >= b),
        Op::s_cmpk_lt_i32 => compare_k!(|a: i32, b| a < b),
        Op::s_cmpk_le_i32 => compare_k!(|a: i32, b| a <= b),
        Op::s_cmpk_eq_u32 => compare_k!(|a: u32, b| a == b),
        Op::s_cmpk_lg_u32 => compare_k!(|a: u32, b| a != b),
        Op::s_cmpk_gt_u32 => compare_k!(|a: u32, b| a > b),
        Op::s_cmpk_ge_u32 => compare_k!(|a: u32, b| a >= b),
        Op::s_cmpk_lt_u32 => compare_k!(|a: u32, b| a < b),
        Op::s_cmpk_le_u32 => compare_k!(|a: u32, b| a <= b),
        Op::s_bitset0_b32 | Op::s_bitset1_b32 => run!(|core, step| {
            let bit = 1 << (scalar32(core.wave, step.src[0]) & 31);
            let old = destination32(core, step);
            let new = if step.inst.op == Op::s_bitset1_b32 { old | bit } else { old & !bit };
            core.wave.set_scalar(step.inst.dst, new);
        }),
        Op::s_bitset0_b64 | Op::s_bitset1_b64 => run!(|core, step| {
            let bit = 1 << (scalar32(core.wave, step.src[0]) & 63);
            let old = destination64(core, step);
            let new = if step.inst.op == Op::s_bitset1_b64 { old | bit } else { old & !bit };
            core.wave.set_pair(step.inst.dst, new);
        }),
        Op::s_and_saveexec_b64 => save_exec!(|source, exec| source & exec),
        Op::s_or_saveexec_b64 => save_exec!(|source, exec| source | exec),
        Op::s_xor_saveexec_b64 => save_exec!(|source, exec| source ^ exec),
        Op::s_andn2_saveexec_b64 => save_exec!(|source, exec| source & !exec),
        Op::s_orn2_saveexec_b64 => save_exec!(|source, exec| source | !exec),
        Op::s_nand_saveexec_b64 => save_exec!(|source, exec| !(source & exec)),
        Op::s_nor_saveexec_b64 => save_exec!(|source, exec| !(source | exec)),
        Op::s_xnor_saveexec_b64 => save_exec!(|source, exec| !(source ^ exec)),
        Op::s_andn1_saveexec_b64 => save_exec!(|source, exec| !source & exec),
        Op::s_orn1_saveexec_b64 => save_exec!(|source, exec| !source | exec),
        Op::s_andn1_wrexec_b64 | Op::s_andn2_wrexec_b64 => run!(|core, step| {
            let source = scalar64(core.wave, step.src[0]);
            let exec = core.wave.exec().bits();
            let new = if step.inst.op == Op::s_andn1_wrexec_b64 { !source & exec } else { source & !exec };
            core.wave.set_exec(LaneMask::of_bits(new));
            core.wave.set_pair(step.inst.dst, new);
            core.wave.scc = new != 0;
        }),
        Op::s_and_saveexec_b32 => save_low!(saveexec | source, exec | source & exec),
        Op::s_or_saveexec_b32 => save_low!(saveexec | source, exec | source | exec),
        Op::s_xor_saveexec_b32 => save_low!(saveexec | source, exec | source ^ exec),
        Op::s_nand_saveexec_b32 => save_low!(saveexec | source, exec | !(source & exec)),
        Op::s_nor_saveexec_b32 => save_low!(saveexec | source, exec | !(source | exec)),
        Op::s_xnor_saveexec_b32 => save_low!(saveexec | source, exec | !(source ^ exec)),
        Op::s_and_not0_saveexec_b32 => save_low!(saveexec | source, exec | !source & exec),
        Op::s_or_not0_saveexec_b32 => save_low!(saveexec | source, exec | !source | exec),
        Op::s_and_not1_saveexec_b32 => save_low!(saveexec | source, exec | source & !exec),
        Op::s_or_not1_saveexec_b32 => save_low!(saveexec | source, exec | source | !exec),
        Op::s_and_not0_wrexec_b32 => save_low!(wrexec | source, exec | !source & exec),
        Op::s_and_not1_wrexec_b32 => save_low!(wrexec | source, exec | source & !exec),
        Op::s_movrels_b32 => run!(|core, step| {
            let value = relative(core, step, step.inst.src[0]).map_or(0, |number| core.wave.s[number]);
            core.wave.set_scalar(step.inst.dst, value);
        }),
        Op::s_movrels_b64 => run!(|core, step| {
            let value = relative(core, step, step.inst.src[0]).map_or(0, |number| core.wave.pair(number));
            core.wave.set_pair(step.inst.dst, value);
        }),
        Op::s_movreld_b32 => run!(|core, step| {
            let value = scalar32(core.wave, step.src[0]);
            if let Some(number) = relative(core, step, step.inst.dst) {
                core.wave.s[number] = value;
            }
        }),
        Op::s_movreld_b64 => run!(|core, step| {
            let value = scalar64(core.wave, step.src[0]);
            if let Some(number) = relative(core, step, step.inst.dst) {
                core.wave.s[number] = value as u32;
                core.wave.s[(number + 1) & 127] = (value >> 32) as u32;
            }
        }),
        Op::s_movrelsd_2_b32 => run!(|core, step| {
            let m0 = core.wave.m0();
            let from = shifted(step, step.inst.src[0], m0 & 0x3ff);
            let value = from.map_or(0, |number| core.wave.s[number]);
            if let Some(number) = shifted(step, step.inst.dst, m0 >> 16 & 0x3ff) {
                core.wave.s[number] = value;
            }
        }),
        _ => return None,
    };
    Some(Compilations::scalar(handler))
}

fn destination32(core: &Core<'_>, step: &Step) -> u32 {
    match step.inst.dst {
        crate::isa::Operand::Sgpr(number) => core.wave.s[usize::from(number) & 127],
        _ => 0,
    }
}

fn destination64(core: &Core<'_>, step: &Step) -> u64 {
    match step.inst.dst {
        crate::isa::Operand::Sgpr(number) => core.wave.pair(number.into()),
        _ => 0,
    }
}

/// The number of a register plus M0; `None` past the general registers.
fn relative(core: &Core<'_>, step: &Step, register: crate::isa::Operand) -> Option<usize> {
    shifted(step, register, core.wave.m0())
}

/// The number of a register with something added; `None` past the general registers.
fn shifted(step: &Step, register: crate::isa::Operand, by: u32) -> Option<usize> {
    let crate::isa::Operand::Sgpr(number) = register else { return None };
    let number = usize::from(number).checked_add(by as usize)?;
    (number < step.inst.set.scalar_registers()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_fields() {
        assert_eq!(field(0xabcd, 4, 8), 0xbc);
        assert_eq!(field(0xabcd, 0, 0), 0);
        assert_eq!(field(!0, 0, 64), !0);
        assert_eq!(signed_field(0x80, 4, 4, 32), -8);
        assert_eq!(signed_field(-1, 40, 0, 64), 0);
        assert_eq!(signed_field(i64::from(i32::MIN), 0, 64, 32), i64::from(i32::MIN));
    }

    #[test]
    fn quad_masks() {
        assert_eq!(whole_quads(0x8000_0000_0000_0100), 0xf000_0000_0000_0f00);
        assert_eq!(quads(0x8000_0000_0000_0100), 0x8004);
    }
}
