// SPDX-License-Identifier: MIT OR Apache-2.0
//! The devices of a machine that its clients see, by a list such as that of `HIP_VISIBLE_DEVICES`.

/// The slots that a list makes visible. As in HIP, the list ends at the first entry that names no device, and
/// no list means all devices.
pub(crate) fn slots(devices: usize, list: Option<&str>) -> Vec<usize> {
    let Some(list) = list else { return (0..devices).collect() };
    let mut slots = Vec::new();
    for entry in list.split(',') {
        match slot(devices, entry.trim()) {
            Some(slot) if !slots.contains(&slot) => slots.push(slot),
            _ => break,
        }
    }
    slots
}

/// The slot that an entry names, by its number or as `GPU-` and the UUID.
fn slot(devices: usize, entry: &str) -> Option<usize> {
    match entry.strip_prefix("GPU-") {
        Some(text) => (0..devices).find(|slot| uuid(*slot) == text.as_bytes()),
        None => entry.parse().ok().filter(|slot| *slot < devices),
    }
}

/// The UUID of the device in a slot: sixteen characters, as in HIP on AMD.
pub(crate) fn uuid(slot: usize) -> [u8; 16] {
    let mut uuid = [b'0'; 16];
    let text = format!("51ed{:012x}", slot + 1);
    for (to, from) in uuid.iter_mut().zip(text.bytes()) {
        *to = from;
    }
    uuid
}

/// The PCI bus that the device in a slot reports.
pub(crate) fn bus(slot: usize) -> usize {
    slot + 1
}

#[cfg(test)]
mod tests {
    use super::slots;

    #[test]
    fn a_list_selects_and_orders_devices() {
        assert_eq!(slots(3, None), [0, 1, 2]);
        assert_eq!(slots(3, Some("2, 0")), [2, 0]);
        assert_eq!(slots(3, Some("1,7,0")), [1]);
        assert_eq!(slots(3, Some("0,0")), [0]);
        assert_eq!(slots(3, Some("GPU-51ed000000000003,0,GPU-51ed000000000001")), [2, 0]);
        assert_eq!(slots(3, Some("1,GPU-51ed000000000004,0")), [1]);
        assert!(slots(3, Some("-1")).is_empty() && slots(3, Some("")).is_empty());
    }
}
