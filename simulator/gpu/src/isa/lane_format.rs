// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoders of the words that take `src[0]` from other lanes: DPP and DPP8.

use super::fields::{DPP, DPP8_FI, Fields, Invalid, VGPR, bit, field};
use super::inst::{Dpp, Dpp8, Encoding};
use super::tables::{NO_DPP, NO_E64_DPP};

/// DPP of GFX9.
pub(super) fn dpp_gfx9(f: &mut Fields<'_>) -> Result<(), Invalid> {
    if f.row.has(NO_DPP) || f.inst.encoding == Encoding::Vopc {
        return Err(Invalid);
    }
    let word = f.extra_word()?;
    f.set_source(0, field(word, 0, 8) + VGPR)?;
    let wide = f.row.dst.dwords == 2 || f.inst.src_type.iter().take(2).any(|ty| ty.dwords == 2);
    let known = match field(word, 8, 9) {
        0x150..=0x15f => f.inst.set.has_row_newbcast,
        // 64-bit instructions have only row_newbcast.
        _ if wide => false,
        0x000..=0x0ff | 0x130 | 0x134 | 0x138 | 0x13c | 0x140..=0x143 => true,
        ctrl @ 0x100..=0x12f => ctrl & 15 != 0,
        _ => false,
    };
    if !known {
        return Err(Invalid);
    }
    f.inst.mods.dpp = Some(Dpp {
        ctrl: field(word, 8, 9) as u16,
        row_mask: field(word, 28, 4) as u8,
        bank_mask: field(word, 24, 4) as u8,
        bound_ctrl: bit(word, 19),
        fetch_inactive: false,
    });
    signs(f, word);
    Ok(())
}

/// DPP and DPP8 since GFX10. `code` is that of `src0`.
pub(super) fn dpp_gfx10(f: &mut Fields<'_>, code: u32) -> Result<(), Invalid> {
    let long = matches!(f.inst.encoding, Encoding::Vop3 | Encoding::Vop3p);
    if f.row.has(if long { NO_E64_DPP } else { NO_DPP }) {
        return Err(Invalid);
    }
    let word = f.extra_word()?;
    f.set_source(0, field(word, 0, 8) + VGPR)?;
    if code != DPP {
        let [_, lanes @ ..] = word.to_le_bytes();
        f.inst.mods.dpp8 = Some(Dpp8 { lanes, fetch_inactive: code == DPP8_FI });
        return Ok(());
    }
    let ctrl = field(word, 8, 9);
    let known = match ctrl {
        0x000..=0x0ff | 0x140 | 0x141 | 0x150..=0x16f => true,
        0x100..=0x12f => ctrl & 15 != 0,
        _ => false,
    };
    if !known {
        return Err(Invalid);
    }
    f.inst.mods.dpp = Some(Dpp {
        ctrl: ctrl as u16,
        row_mask: field(word, 28, 4) as u8,
        bank_mask: field(word, 24, 4) as u8,
        bound_ctrl: bit(word, 19),
        fetch_inactive: bit(word, 18),
    });
    // The 64-bit forms have signs of their own.
    if !long {
        signs(f, word);
    }
    Ok(())
}

/// The signs of the sources, in the word of DPP.
fn signs(f: &mut Fields<'_>, word: u32) {
    for at in 0..2 {
        if f.is_signed(at) {
            f.inst.mods.neg |= u8::from(bit(word, 20 + 2 * at as u32)) << at;
            f.inst.mods.abs |= u8::from(bit(word, 21 + 2 * at as u32)) << at;
        }
    }
}
