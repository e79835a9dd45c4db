// SPDX-License-Identifier: MIT OR Apache-2.0
//! Translation of hot code into machine code of x86-64, for processors with AVX2 and FMA.
//!
//! The interpreter counts how often it arrives at a step by a branch or from a block. At a hot one, `block` translates
//! the steps from there on, and the interpreter enters the block instead. A block does for a wave whose lanes are all
//! active precisely as the handlers do; where it cannot, it ends, and the interpreter goes on at that step. So
//! translation can be turned off at any time.
//!
//! | file | idea |
//! |---|---|
//! | `assembler` | the bytes of x86-64's instructions |
//! | `vex` | the opcodes of its vector instructions |
//! | `emitter` | the frame of a block, its calls and its ends |
//! | `block` | the choice of the family for each step |
//! | `blocks` | the hot steps of a region |
//! | `scalar`, `vector` | the instructions of a family; all others are calls of their handlers |
//! | `pairs` | vector arithmetic on 64-bit numbers |
//! | `inputs` | the sources of vector instructions |
//! | `memory` | loads and stores that blocks call in place of the handler |
//! | `code` | executable memory |
//! | `call` | the border to Rust |

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod assembler;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod block;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod blocks;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod call;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod code;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod emitter;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod inputs;
mod left;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod memory;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod pairs;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod scalar;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod vector;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod vex;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
mod without;

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
pub(crate) use blocks::Blocks;
pub(crate) use left::{End, Left};
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
pub(crate) use without::Blocks;
