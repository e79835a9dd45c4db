// SPDX-License-Identifier: MIT OR Apache-2.0
//! What of RDNA 3 is decoded and not executed, with the reasons.

use super::semantics::rows;
use super::*;
use crate::exec::families;
use std::collections::BTreeMap;

#[test]
fn all_is_executed_but_what_is_listed() {
    let mut refused = BTreeMap::<(&str, &str), usize>::new();
    for (words, _) in rows(include_str!("../../../tests/data/gfx1100.txt")) {
        let inst = isa::GFX1100.decode(&words).unwrap();
        for half in inst.halves().map_or(vec![inst], Vec::from) {
            if let Err(reason) = families::handler(&half) {
                *refused.entry((half.op.mnemonic(), reason)).or_default() += 1;
            }
        }
    }
    for ((name, reason), count) in refused {
        println!("{name} {count} {reason}");
    }
}
