// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of Windlass and the machinery that every driver shares.
