// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of a program's steps, as far as its semaphores promise it.

use super::{
    ClientStep, MOST_STEPS, Operation, Point, Program,
    access::{Access, conflict},
};

/// A set of steps.
pub(super) type Set = u128;

pub(super) fn single(step: usize) -> Set {
    1 << step
}

pub(super) fn contains(set: Set, step: usize) -> bool {
    set >> step & 1 == 1
}

/// The order of a program.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// For each step, the steps that have ended before it begins on every device.
    pub(super) before: Vec<Set>,
    /// For each step, the steps that it directly waits for in any way.
    direct: Vec<Set>,
    /// The steps in one order that the program allows.
    pub(super) sequence: Vec<usize>,
}

/// The reason why a program is illegal.
pub(super) type Illegal = String;

impl Program {
    /// The step whose signal ends a wait for `point` at the earliest. The signals of one semaphore are ordered by
    /// their values, so a wait stands for this step.
    pub(super) fn signaller(&self, point: Point) -> Option<usize> {
        let value = |signals: &[Point]| {
            let reaching =
                |signal: &&Point| signal.semaphore == point.semaphore && signal.value >= point.value;
            signals.iter().filter(reaching).map(|signal| signal.value).min()
        };
        let signals = self.steps.iter().enumerate().filter_map(|(index, step)| match step {
            ClientStep::Submit(submission) => value(&submission.signals).map(|value| (value, index)),
            ClientStep::Signal(point) => value(std::slice::from_ref(point)).map(|value| (value, index)),
            _ => None,
        });
        signals.min().map(|(_, index)| index)
    }

    /// The steps that a step directly waits for: earlier steps of the client's script, and signals. The second set is
    /// the part that happens before the step as far as device memory is concerned.
    pub(super) fn waits_for(&self, index: usize) -> Result<(Set, Set), Illegal> {
        // The client's own steps happen one after the other. A submission happens after the steps before it.
        let host = self.steps[..index].iter().rposition(ClientStep::is_of_the_host);
        let mut direct = host.map_or(0, single);
        let mut ordering = direct;
        let mut add = |points: &[Point], orders: bool| -> Result<(), Illegal> {
            for point in points {
                let signaller = self.signaller(*point).ok_or_else(|| format!("nobody signals {point:?}"))?;
                direct |= single(signaller);
                ordering |= if orders { single(signaller) } else { 0 };
            }
            Ok(())
        };
        match &self.steps[index] {
            ClientStep::Submit(submission) => add(&submission.waits, true)?,
            // A host wait that fails ends before the work.
            ClientStep::Wait(points) => add(points, !self.failing)?,
            ClientStep::Join(number) => {
                let (joined, _) = self.submission(*number).ok_or_else(|| format!("no operation {number}"))?;
                direct |= single(joined);
                ordering |= single(joined);
            }
            _ => {}
        }
        Ok((direct, ordering))
    }

    /// The steps that happen before a step, from those that happen before its direct waits.
    pub(super) fn closure(&self, index: usize, ordering: Set, before: &[Set]) -> Set {
        let behind = |step: usize| match (&self.steps[index], &self.steps[step]) {
            // The joined operation may have failed before all its waits were decided.
            (ClientStep::Join(_), ClientStep::Submit(_)) if self.failing => single(step),
            _ => single(step) | before[step],
        };
        members(ordering).fold(0, |set, step| set | behind(step))
    }

    /// The order of the program, or the reason why it is illegal.
    pub(super) fn order(&self) -> Result<Order, Illegal> {
        if self.steps.len() > MOST_STEPS {
            return Err(format!("{} steps; a program has {MOST_STEPS} at most", self.steps.len()));
        }
        let waits =
            (0..self.steps.len()).map(|index| self.waits_for(index)).collect::<Result<Vec<_>, _>>()?;
        let direct: Vec<Set> = waits.iter().map(|(direct, _)| *direct).collect();
        let sequence = one_after_the_other(&direct)?;
        let mut before = vec![0; self.steps.len()];
        for &index in &sequence {
            before[index] = self.closure(index, waits[index].1, &before);
        }
        let order = Order { before, direct, sequence };
        self.check_signals(&order)?;
        self.check_lifetimes()?;
        self.check_groups(&order)?;
        Ok(order)
    }

    /// Checks that the signals of each semaphore are ordered by their values. Otherwise the wrong signal could end a
    /// wait.
    fn check_signals(&self, order: &Order) -> Result<(), Illegal> {
        let mut signals: Vec<(u32, u64, usize)> = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            let mut add = |point: &Point| signals.push((point.semaphore, point.value, index));
            match step {
                ClientStep::Submit(submission) => submission.signals.iter().for_each(add),
                ClientStep::Signal(point) => add(point),
                _ => {}
            }
        }
        signals.sort_unstable();
        for pair in signals.windows(2) {
            let ((semaphore, value, first), (same, next, second)) = (pair[0], pair[1]);
            if semaphore == same && (value == next || !contains(order.before[second], first)) {
                return Err(format!(
                    "the signals {value} and {next} of semaphore {semaphore} are not in order"
                ));
            }
        }
        Ok(())
    }

    /// Checks that each buffer is used only after the submission of its alloca, which gives it a handle.
    fn check_lifetimes(&self) -> Result<(), Illegal> {
        let mut allocated = vec![false; self.buffers.len()];
        for (_, submission) in self.submissions() {
            if let Operation::Alloca(buffer) = submission.operation {
                allocated[buffer as usize] = true;
            }
            if let Some(buffer) =
                self.transients(&submission.operation).into_iter().find(|buffer| !allocated[*buffer as usize])
            {
                return Err(format!(
                    "operation {} uses buffer {buffer} before its alloca",
                    submission.number
                ));
            }
        }
        Ok(())
    }

    /// Checks that the groups of collective operations follow each other, as those of one channel must.
    fn check_groups(&self, order: &Order) -> Result<(), Illegal> {
        let is_group = |index: &usize| match &self.steps[*index] {
            ClientStep::Submit(submission) => matches!(submission.operation, Operation::Collective { .. }),
            _ => false,
        };
        let groups: Vec<usize> = order.sequence.iter().copied().filter(is_group).collect();
        match groups.windows(2).find(|pair| !contains(order.before[pair[1]], pair[0])) {
            Some(pair) => Err(format!("nothing orders the groups of step {} and step {}", pair[0], pair[1])),
            None => Ok(()),
        }
    }

    /// The pairs of conflicting steps that nothing orders.
    pub(super) fn races(&self, order: &Order) -> Vec<(usize, usize)> {
        let accesses: Vec<Vec<Access>> = self.steps.iter().map(|step| self.accesses(step)).collect();
        let mut races = Vec::new();
        for second in 0..self.steps.len() {
            for first in 0..second {
                let ordered = contains(order.before[second], first) || contains(order.before[first], second);
                if !ordered && conflict(&accesses[first], &accesses[second]) {
                    races.push((first, second));
                }
            }
        }
        races
    }

    /// The steps with a command buffer whose commands conflict.
    pub(super) fn races_within(&self) -> impl Iterator<Item = usize> + '_ {
        self.submissions().filter_map(|(index, submission)| match &submission.operation {
            Operation::Execute { list, table } if self.lists[*list as usize].races(table) => Some(index),
            _ => None,
        })
    }
}

impl Order {
    /// The steps in an order that the program allows. `pick` chooses among the given number of possible next steps.
    pub(super) fn any_sequence(&self, mut pick: impl FnMut(usize) -> usize) -> Vec<usize> {
        let mut done: Set = 0;
        let mut rest: Vec<usize> = self.sequence.clone();
        let mut sequence = Vec::with_capacity(rest.len());
        while !rest.is_empty() {
            let ready: Vec<usize> =
                (0..rest.len()).filter(|place| self.direct[rest[*place]] & !done == 0).collect();
            let next = rest.remove(ready[pick(ready.len())]);
            done |= single(next);
            sequence.push(next);
        }
        sequence
    }
}

fn members(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(next)
    })
}

/// A sequence in which each step follows all steps that it waits for.
fn one_after_the_other(direct: &[Set]) -> Result<Vec<usize>, Illegal> {
    let (mut done, mut sequence): (Set, Vec<usize>) = (0, Vec::with_capacity(direct.len()));
    while sequence.len() < direct.len() {
        let before = sequence.len();
        for (index, waits) in direct.iter().enumerate() {
            if !contains(done, index) && waits & !done == 0 {
                done |= single(index);
                sequence.push(index);
            }
        }
        if sequence.len() == before {
            return Err("the steps wait for each other in a circle".to_owned());
        }
    }
    Ok(sequence)
}
