// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite over the drivers of the facade, and over recordings; drivers that break a contract.

mod ci;
mod conformance;
mod record;
mod saboteurs;
