// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fit of code in each mode of the features that a target leaves open.

use std::collections::BTreeSet;

use windlass_codeobject::Fit;

/// Only this many features are distinguished, because each doubles the number of modes.
pub(crate) const FEATURES: usize = 3;

/// One mode: each feature with its setting, `true` for on.
pub(crate) type Mode<'m> = [(&'m str, bool)];

/// A fit for each mode; `None` for a mode without code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Modes {
    /// In alphabetical order.
    features: Vec<String>,
    /// Indexed by the mode: a bit for each feature, the first feature's the highest, set if the feature is off.
    fits: Vec<Option<Fit>>,
}

impl Default for Modes {
    /// No code, in the single mode without features.
    fn default() -> Self {
        Self { features: Vec::new(), fits: vec![None] }
    }
}

impl Modes {
    /// Calls `fit` for each mode of the first [`FEATURES`] features.
    pub(crate) fn with_fits<'m>(
        features: impl IntoIterator<Item = &'m str>,
        fit: impl FnMut(&Mode<'_>) -> Option<Fit>,
    ) -> Self {
        let features: BTreeSet<&str> = features.into_iter().collect();
        let features: Vec<String> = features.into_iter().take(FEATURES).map(str::to_owned).collect();
        let fits = all(&features).iter().map(Vec::as_slice).map(fit).collect();
        Self { features, fits }
    }

    /// Whether some mode has code.
    pub(crate) fn is_served(&self) -> bool {
        self.fits.iter().any(Option::is_some)
    }

    /// Whether every mode has code.
    pub(crate) fn is_whole(&self) -> bool {
        self.fits.iter().all(Option::is_some)
    }

    /// The worst fit among the modes that have code.
    pub(crate) fn fit(&self) -> Option<Fit> {
        self.fits.iter().flatten().min().copied()
    }

    /// Whether some mode has no better fit in `best`, which has the best fit of several codes in each mode.
    pub(crate) fn are_best_in_some(&self, best: &Self) -> bool {
        let modes = all(&best.features).into_iter().zip(&best.fits);
        modes.filter(|(_, fit)| fit.is_some()).any(|(mode, fit)| self.at(&mode) == *fit)
    }

    /// The names of the modes with code, or of those without, such as `sramecc+:xnack-`.
    pub(crate) fn names(&self, served: bool) -> Vec<String> {
        let modes = all(&self.features).into_iter().zip(&self.fits);
        modes.filter(|(_, fit)| fit.is_some() == served).map(|(mode, _)| name(&mode)).collect()
    }

    /// The better fit of the two in each mode.
    pub(crate) fn either(&self, other: &Self) -> Self {
        self.with(other, Ord::max)
    }

    /// The worse fit of the two in each mode; `None` where one has no code.
    pub(crate) fn both(&self, other: &Self) -> Self {
        self.with(other, Ord::min)
    }

    fn with(&self, other: &Self, pick: impl Fn(Option<Fit>, Option<Fit>) -> Option<Fit>) -> Self {
        let features = self.features.iter().chain(&other.features).map(String::as_str);
        Self::with_fits(features, |mode| pick(self.at(mode), other.at(mode)))
    }

    /// The fit in a mode that may state more features than `self` distinguishes, or fewer. The worst fit among the modes of
    /// `self` that agree with it counts.
    fn at(&self, mode: &Mode<'_>) -> Option<Fit> {
        let agrees = |own: &Vec<(&str, bool)>| {
            own.iter()
                .all(|(feature, on)| mode.iter().all(|(other, stated)| feature != other || on == stated))
        };
        let modes = all(&self.features).into_iter().zip(&self.fits);
        modes.filter(|(own, _)| agrees(own)).map(|(_, fit)| *fit).min().flatten()
    }
}

/// `sramecc+:xnack-`.
pub(crate) fn name(mode: &Mode<'_>) -> String {
    let stated = |(feature, on): &(&str, bool)| format!("{feature}{}", if *on { '+' } else { '-' });
    mode.iter().map(stated).collect::<Vec<_>>().join(":")
}

fn all(features: &[String]) -> Vec<Vec<(&str, bool)>> {
    let mut modes = vec![Vec::new()];
    for feature in features {
        let with = |mode: Vec<_>| [true, false].map(|on| [&mode[..], &[(feature.as_str(), on)]].concat());
        modes = modes.into_iter().flat_map(with).collect();
    }
    modes
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: Option<Fit> = Some(Fit::Exact);
    const GENERIC: Option<Fit> = Some(Fit::Generic);

    fn xnack(on: Option<Fit>, off: Option<Fit>) -> Modes {
        Modes::with_fits(["xnack"], |mode| if mode[0].1 { on } else { off })
    }

    #[test]
    fn modes_of_several_files_come_together() {
        let plus = xnack(EXACT, None);
        assert_eq!(
            (plus.names(true), plus.names(false)),
            (vec!["xnack+".to_owned()], vec!["xnack-".to_owned()])
        );
        assert!(plus.is_served() && !plus.is_whole());
        assert_eq!(plus.either(&Modes::default()), plus);
        assert!(!plus.both(&Modes::default()).is_served());
        let whole = plus.either(&xnack(None, GENERIC));
        assert!(whole.is_whole());
        assert_eq!(whole.fit(), GENERIC);
        assert!(plus.are_best_in_some(&whole) && !xnack(GENERIC, None).are_best_in_some(&whole));
        assert!(!plus.both(&xnack(None, GENERIC)).is_served());
        assert!(!Modes::default().either(&Modes::default()).is_served());
    }

    #[test]
    fn features_that_one_side_does_not_tell_apart_hold_for_all_its_modes() {
        let plus = xnack(EXACT, None);
        let sramecc = Modes::with_fits(["sramecc"], |mode| mode[0].1.then_some(Fit::Generic));
        assert_eq!(plus.both(&sramecc).names(true), ["sramecc+:xnack+"]);
        assert_eq!(plus.either(&sramecc).names(false), ["sramecc-:xnack-"]);
        let all = Modes::with_fits(["a", "b", "c", "d"], |_| EXACT);
        assert_eq!(all.fits.len(), 1 << FEATURES);
        assert!(all.is_whole() && all.names(false).is_empty());
    }
}
