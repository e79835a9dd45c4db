// SPDX-License-Identifier: MIT OR Apache-2.0
//! One submission of a command buffer: its commands go to the driver one after the other, which satisfies every barrier
//! and event.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use facade::{
    BindingTable, Command, CommandList, DispatchCommand, Error, IndirectParameters, Position, QueueAffinity,
    Result, WorkgroupCountRef, driver::RawCommandBuffer,
};

use super::work::Work;
use crate::view::View;

type Finish = Box<dyn FnOnce(Result<()>) + Send>;

/// A submission.
pub(crate) struct Replay {
    work: Arc<Work>,
    affinity: QueueAffinity,
    state: Mutex<State>,
}

struct State {
    /// The number of commands that were given to the driver.
    given: usize,
    /// The objects, until the submission ends: they go before its signals are reached.
    held: Option<Arc<Held>>,
    finish: Option<Finish>,
}

/// The objects of a submission.
struct Held {
    command_buffer: Arc<dyn RawCommandBuffer>,
    bindings: BindingTable,
    positions: Vec<Position>,
    /// The counts that are read before any command starts, by the place of their commands.
    counts: HashMap<usize, Option<[u32; 3]>>,
}

/// The end of a command, which may come before the call that starts it returns.
enum Turn {
    Starting,
    Ended(Result<()>),
    Left,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Replay {
    /// Runs the commands. `finish` is called once, on any thread.
    pub(crate) fn start(
        work: &Arc<Work>,
        command_buffer: Arc<dyn RawCommandBuffer>,
        bindings: BindingTable,
        affinity: QueueAffinity,
        finish: Finish,
    ) {
        let commands = command_buffer.list().in_order(Position::START..Position::END);
        let positions = commands.map(|(position, _)| position).collect();
        let mut held = Held { command_buffer, bindings, positions, counts: HashMap::new() };
        match held.fixed_counts(work) {
            Ok(counts) => held.counts = counts,
            Err(error) => {
                drop(held);
                return finish(Err(error));
            }
        }
        let state = State { given: 0, held: Some(Arc::new(held)), finish: Some(finish) };
        Arc::new(Self { work: work.clone(), affinity, state: Mutex::new(state) }).advance();
    }

    /// The next command that the driver must see, with its place. `None` behind the last.
    fn next(&self) -> Result<Option<(usize, View)>> {
        loop {
            let mut state = lock(&self.state);
            let place = state.given;
            state.given += 1;
            let Some(held) = state.held.clone() else { return Ok(None) };
            drop(state);
            let Some(position) = held.positions.get(place).copied() else { return Ok(None) };
            let Some(command) = held.list().at(position) else { return Ok(None) };
            let count = match &command {
                Command::Fill { .. } | Command::Update { .. } | Command::Copy { .. } => None,
                Command::Dispatch(dispatch) => match held.counts.get(&place) {
                    Some(None) => continue,
                    Some(known) => *known,
                    None => match held.count(&self.work, dispatch, place)? {
                        None => continue,
                        count => count,
                    },
                },
                _ => continue,
            };
            let view = View::of_command(&command, &held.bindings, held.list())?;
            let view = count.into_iter().fold(view, View::launching);
            return Ok(Some((place, view.on(self.affinity))));
        }
    }

    fn failed(&self, place: usize, error: Error) -> Error {
        let held = lock(&self.state).held.clone();
        held.map_or(error.clone(), |held| held.at(place, error))
    }

    /// Gives commands to the driver until one does not end at once.
    fn advance(self: &Arc<Self>) {
        loop {
            let (place, view) = match self.next() {
                Ok(Some(next)) => next,
                Ok(None) => return self.end(Ok(())),
                Err(error) => return self.end(Err(error)),
            };
            let turn = Arc::new(Mutex::new(Turn::Starting));
            let (replay, its) = (self.clone(), turn.clone());
            let then = move |result: Result<()>| {
                let mut turn = lock(&its);
                if matches!(*turn, Turn::Starting) {
                    *turn = Turn::Ended(result);
                    return;
                }
                drop(turn);
                match result {
                    Ok(()) => replay.advance(),
                    Err(error) => replay.end(Err(replay.failed(place, error))),
                }
            };
            self.work.perform(view, None, Box::new(then));
            let ended = mem::replace(&mut *lock(&turn), Turn::Left);
            match ended {
                Turn::Ended(Ok(())) => {}
                Turn::Ended(Err(error)) => return self.end(Err(self.failed(place, error))),
                _ => return,
            }
        }
    }

    fn end(&self, result: Result<()>) {
        let mut state = lock(&self.state);
        let (held, finish) = (state.held.take(), state.finish.take());
        drop(state);
        drop(held);
        if let Some(finish) = finish {
            finish(result);
        }
    }
}

impl Held {
    fn list(&self) -> &CommandList {
        self.command_buffer.list()
    }

    /// Reads the counts of dispatches with static parameters.
    fn fixed_counts(&self, work: &Work) -> Result<HashMap<usize, Option<[u32; 3]>>> {
        let mut counts = HashMap::new();
        for (place, position) in self.positions.iter().enumerate() {
            if let Some(Command::Dispatch(dispatch)) = self.list().at(*position)
                && let WorkgroupCountRef::Indirect(IndirectParameters::Static(_)) = dispatch.workgroup_count
            {
                counts.insert(place, self.count(work, &dispatch, place)?);
            }
        }
        Ok(counts)
    }

    fn count(&self, work: &Work, dispatch: &DispatchCommand<'_>, place: usize) -> Result<Option<[u32; 3]>> {
        let (executable, count) = (dispatch.executable().as_ref(), dispatch.workgroup_count);
        work.count(executable, dispatch.function(), dispatch.workgroup_size, count, &self.bindings)
            .map_err(|error| self.at(place, error))
    }

    fn at(&self, place: usize, error: Error) -> Error {
        let index = self.positions.get(place).map_or(0, |position| self.list().index(*position));
        error.context(format!("running command {index} of a command buffer"))
    }
}
