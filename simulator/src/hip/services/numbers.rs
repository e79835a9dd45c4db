// SPDX-License-Identifier: MIT OR Apache-2.0
//! Floating-point numbers in the forms of C's `printf`, without sign and padding.

/// A form of a floating-point number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `%f`
    Fixed,
    /// `%e`
    Exponent,
    /// `%g`
    Shortest,
    /// `%a`
    Hexadecimal,
}

/// Digits behind the point that a double can have; all further ones are zero.
const DIGITS: usize = 1100;

/// The digits of a finite number that is not negative. `alternate` is the flag `#`.
pub(super) fn digits(value: f64, form: Form, precision: Option<usize>, alternate: bool) -> String {
    let usual = precision.unwrap_or(6);
    match form {
        Form::Fixed => pointed(fixed(value, usual), usual, alternate),
        Form::Exponent => exponential(value, usual, alternate),
        Form::Shortest => shortest(value, usual.max(1), alternate),
        Form::Hexadecimal => hexadecimal(value, precision, alternate),
    }
}

fn fixed(value: f64, precision: usize) -> String {
    let shown = precision.min(DIGITS);
    let mut text = format!("{value:.shown$}");
    text.extend(std::iter::repeat_n('0', precision - shown));
    text
}

/// The flag `#` keeps the point of a number without digits behind it.
fn pointed(mut text: String, precision: usize, alternate: bool) -> String {
    if alternate && precision == 0 {
        text.push('.');
    }
    text
}

/// Mantissa and exponent in decimal.
fn scientific(value: f64, precision: usize) -> (String, i32) {
    let shown = precision.min(DIGITS);
    let text = format!("{value:.shown$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut mantissa = mantissa.to_owned();
    mantissa.extend(std::iter::repeat_n('0', precision - shown));
    (mantissa, exponent.parse().unwrap_or(0))
}

fn with_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

fn exponential(value: f64, precision: usize, alternate: bool) -> String {
    let (mantissa, exponent) = scientific(value, precision);
    with_exponent(&pointed(mantissa, precision, alternate), exponent)
}

fn shortest(value: f64, significant: usize, alternate: bool) -> String {
    // Zeros behind these would be stripped again.
    let significant = if alternate { significant } else { significant.min(DIGITS) };
    let (mantissa, exponent) = scientific(value, significant - 1);
    let strip = |text: String| match text.contains('.') && !alternate {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    let is_small = exponent >= -4 && i64::from(exponent) < significant as i64;
    if is_small {
        let precision = (significant as i64 - 1 - i64::from(exponent)).max(0) as usize;
        strip(pointed(fixed(value, precision), precision, alternate))
    } else {
        with_exponent(&strip(pointed(mantissa, significant - 1, alternate)), exponent)
    }
}

fn hexadecimal(value: f64, precision: Option<usize>, alternate: bool) -> String {
    const FRACTION: u32 = 52;
    let bits = value.to_bits();
    let (biased, mut fraction) = ((bits >> FRACTION & 0x7ff) as i32, bits & ((1 << FRACTION) - 1));
    let mut lead = u64::from(biased != 0);
    let exponent = match (biased, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => biased - 1023,
    };
    if let Some(precision) = precision.filter(|precision| *precision < 13) {
        // To nearest, ties to even, on the number with its leading digit.
        let dropped = 52 - 4 * precision as u32;
        let whole = lead << FRACTION | fraction;
        let (mut kept, rest, half) = (whole >> dropped, whole & ((1 << dropped) - 1), 1 << (dropped - 1));
        if rest > half || rest == half && kept & 1 == 1 {
            kept += 1;
        }
        let rounded = kept << dropped;
        (lead, fraction) = (rounded >> FRACTION, rounded & ((1 << FRACTION) - 1));
    }
    let mut digits = format!("{fraction:013x}");
    match precision {
        Some(precision) => {
            digits.truncate(precision);
            digits.extend(std::iter::repeat_n('0', precision.saturating_sub(13)));
        }
        None => digits.truncate(digits.trim_end_matches('0').len()),
    }
    let point = if digits.is_empty() && !alternate { "" } else { "." };
    format!("0x{lead:x}{point}{digits}p{exponent:+}")
}
