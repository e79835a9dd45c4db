// SPDX-License-Identifier: MIT OR Apache-2.0
//! Similar names for the message of a failed lookup.

/// Lists the names that are most similar to `wanted`, and the number of the others. Without a wanted name, keeps their
/// own order.
pub fn near_names<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    // Names come from files, in any number and length, so the comparison needs a bound.
    const COMPARED: usize = 4096;
    let beginning = |name: &str| -> String { name.chars().take(64).collect() };
    let mut known = known.peekable();
    if known.peek().is_none() {
        return "none".to_owned();
    }
    let short = beginning(wanted);
    let distance = |name: &str| match short.as_str() {
        "" => 0,
        short => strsim::osa_distance(short, &beginning(name)),
    };
    let mut nearest: Vec<_> = known.by_ref().take(COMPARED).map(|name| (distance(name), name)).collect();
    nearest.sort_by_key(|(distance, _)| *distance);
    let more = nearest.len().saturating_sub(SHOWN) + known.count();
    let mut text: Vec<_> = nearest.iter().take(SHOWN).map(|(_, name)| format!("`{name}`")).collect();
    if more > 0 {
        text.push(format!("{more} more"));
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::near_names;

    #[test]
    fn the_nearest_come_first_and_the_rest_are_counted() {
        let known: Vec<String> = (0..100).map(|n| format!("biases_{n}")).chain(["counter".into()]).collect();
        let text = near_names("countr", known.iter().map(String::as_str));
        assert!(text.starts_with("`counter`, "), "{text}");
        assert!(text.ends_with(", 89 more"), "{text}");
        assert_eq!(near_names("x", std::iter::empty()), "none");
    }
}
