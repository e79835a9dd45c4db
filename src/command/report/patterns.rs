// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses and numbers that name one machine or one GPU, known by their form alone.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Puts a word for each kind in the place of IP and MAC addresses, UUIDs and HIP's numbers of GPUs.
pub(super) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || ".:-".contains(letter);
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (run, after) = from.split_at(from.find(|letter| !is_part(letter)).unwrap_or(from.len()));
        cleaned.push_str(before);
        clean_run(run, &mut cleaned);
        rest = after;
    }
    cleaned + rest
}

/// Cleans letters between spaces, slashes and the like. A sentence may end behind an address.
fn clean_run(run: &str, cleaned: &mut String) {
    let whole = run.trim_end_matches(['.', ':', '-']);
    let end = &run[whole.len()..];
    match whole_kind(whole) {
        Some(kind) => cleaned.push_str(kind),
        None => {
            let pieces: Vec<_> = whole.split(':').map(clean_piece).collect();
            cleaned.push_str(&pieces.join(":"));
        }
    }
    cleaned.push_str(end);
}

/// Addresses that colons divide.
fn whole_kind(run: &str) -> Option<&'static str> {
    if is_mac(run, ':') {
        return Some("MAC");
    }
    // Paths of Rust, times and addresses on the PCI bus have colons too.
    let groups: Vec<_> = run.split(':').collect();
    let has_number = groups.iter().any(|group| group.len() >= 3 && group.bytes().any(|b| b.is_ascii_digit()));
    let is_address = (has_number || groups.len() == 8) && run.parse::<Ipv6Addr>().is_ok();
    is_address.then_some("IP")
}

/// A piece between colons.
fn clean_piece(piece: &str) -> String {
    if piece.parse::<Ipv4Addr>().is_ok() {
        return "IP".to_owned();
    }
    if is_mac(piece, '-') {
        return "MAC".to_owned();
    }
    if piece.strip_prefix("GPU-").is_some_and(is_hexadecimal) {
        return "GPU-UUID".to_owned();
    }
    const UUID: usize = 36;
    match piece.len().checked_sub(UUID) {
        Some(start) if is_uuid(&piece[start..]) => format!("{}UUID", &piece[..start]),
        _ => piece.to_owned(),
    }
}

fn is_hexadecimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Six pairs or more: Ethernet has six, and InfiniBand 20.
fn is_mac(run: &str, divider: char) -> bool {
    let pairs: Vec<_> = run.split(divider).collect();
    pairs.len() >= 6 && pairs.iter().all(|pair| pair.len() == 2 && is_hexadecimal(pair))
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<_> = text.split('-').collect();
    let lengths = groups.iter().map(|group| group.len());
    lengths.eq([8, 4, 4, 4, 12]) && groups.iter().all(|group| is_hexadecimal(group))
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn addresses_and_numbers_of_gpus_go() {
        for (text, cleaned) in [
            ("from 10.1.2.3:8080, not 10.1.2.3.", "from IP:8080, not IP."),
            ("fe80::1c2d and 2001:db8::7", "IP and IP"),
            ("at 00:1a:2b:3c:4d:5e; 00-1a-2b-3c-4d-5e", "at MAC; MAC"),
            ("hip://GPU-51ed000000000001,GPU-51ed000000000002", "hip://GPU-UUID,GPU-UUID"),
            ("id=550e8400-e29b-41d4-a716-446655440000", "id=UUID"),
        ] {
            assert_eq!(clean(text), cleaned);
        }
    }

    #[test]
    fn versions_paths_of_rust_and_places_on_the_bus_stay() {
        for text in [
            "HIP 5.2.21153, libamdhip64.so.5.2.21153, 6.8.0-31-generic",
            "event::an_event_that_waits, a::b, std::fs",
            "0000:c1:00.0 at 12:30:01, src/a.rs:10:5: gfx942:sramecc+:xnack-",
            "0900a434de9abb928080a31ccd375cdb2fd81c80; a-b-c-d-e-f ö",
        ] {
            assert_eq!(clean(text), text);
        }
    }
}
