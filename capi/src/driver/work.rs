// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations that a driver of the program has, until it completes them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use facade::{
    Buffer, Command, CommandList, Deadline, Error, HostCalls, Limits, Operation, Points, Result, Semaphore,
    WaitPolicy, WorkgroupCountRef,
    driver::RawExecutable,
    host_memory,
    pending::{self, PendingSet},
    wait_all,
};

use super::link::{Lent, Link};
use crate::{
    backing::Backing,
    operation::{End, Live, windlass_operation_t},
    view::View,
};

/// The work of a device.
pub(crate) struct Work {
    pub(crate) pending: PendingSet<Self>,
    link: Arc<Link>,
    pub(crate) calls: HostCalls,
    limits: Limits,
    running: Mutex<Running>,
}

/// The operations that the driver has, each with a semaphore that reaches 1 when it has ended.
#[derive(Default)]
struct Running {
    ends: HashMap<u64, Semaphore>,
    next: u64,
}

/// The debts of an operation that the driver has. Its objects are released before the signals are reached.
struct Debt {
    work: Arc<Work>,
    number: u64,
    signals: Points,
}

impl Work {
    pub(crate) fn new(link: Arc<Link>, limits: Limits) -> Arc<Self> {
        let (pending, calls) = (PendingSet::new(), HostCalls::default());
        Arc::new(Self { pending, link, calls, limits, running: Mutex::default() })
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the operations that the driver has, and for host calls.
    pub(crate) fn drain(&self, deadline: Deadline) -> Result<()> {
        let mut ends = self.calls.ends();
        ends.extend(self.running().ends.values().map(|end| end.at(1)));
        wait_all(&ends, deadline, WaitPolicy::default())
    }

    /// Notes an operation as running until the returned function is called with its result.
    pub(crate) fn enter(self: &Arc<Self>, signals: Points) -> Box<dyn FnOnce(Result<()>) + Send> {
        let mut running = self.running();
        let number = running.next;
        running.next += 1;
        running.ends.insert(number, Semaphore::new(0));
        drop(running);
        let debt = Debt { work: self.clone(), number, signals };
        Box::new(move |result| debt.settle(result))
    }

    /// Has an operation or a command done. `then` is called once, on any thread, possibly before this returns.
    pub(crate) fn perform(
        &self,
        view: View,
        operation: Option<Operation>,
        then: Box<dyn FnOnce(Result<()>) + Send>,
    ) {
        if self.link.table().submit.is_none() {
            let result = view.transfer_on_host();
            drop((view, operation));
            return then(result);
        }
        self.give(view, operation, then, Link::submit);
    }

    /// Has a command buffer done as a whole, by a driver that can.
    pub(crate) fn execute(&self, view: View, operation: Operation, then: Box<dyn FnOnce(Result<()>) + Send>) {
        self.give(view, Some(operation), then, Link::execute);
    }

    /// Whether the driver takes this command buffer as a whole. It does not if the library must read a count in between.
    pub(crate) fn takes(&self, list: &CommandList) -> bool {
        let is_indirect = |command: Command<'_>| match command {
            Command::Dispatch(dispatch) => !matches!(dispatch.workgroup_count, WorkgroupCountRef::Direct(_)),
            _ => false,
        };
        self.link.table().execute.is_some() && !list.commands().any(is_indirect)
    }

    fn give(
        &self,
        view: View,
        operation: Option<Operation>,
        then: Box<dyn FnOnce(Result<()>) + Send>,
        to: fn(&Link, &Lent<windlass_operation_t>) -> Result<()>,
    ) {
        let given = windlass_operation_t::create(Live { view, operation, end: Box::new(Then(then)) });
        let given = Lent(given);
        if let Err(error) = to(&self.link, &given)
            && !windlass_operation_t::end(given.0, Err(error.clone()))
        {
            tracing::error!(target: "windlass::capi", %error, "a driver refused an operation that it had completed");
        }
    }

    /// The number of workgroups of a launch. `None` for no workgroups at all.
    pub(crate) fn count(
        &self,
        executable: &dyn RawExecutable,
        function: u32,
        size: [u32; 3],
        count: WorkgroupCountRef<'_>,
        bindings: &[Buffer],
    ) -> Result<Option<[u32; 3]>> {
        if let WorkgroupCountRef::Direct(count) = count {
            return Ok(Some(count));
        }
        let range = count.buffer(bindings);
        let range = range.ok_or_else(|| Error::internal("an indirect dispatch without a range"))?;
        let on_host = Backing::on_host(&range).map_err(|error| {
            error.context(
                "reading a number of workgroups from memory; declare the lack of indirect dispatches",
            )
        })?;
        let mut number = [0; 12];
        for (byte, atomic) in number.iter_mut().zip(host_memory::bytes_of(&on_host)?) {
            *byte = atomic.load(std::sync::atomic::Ordering::Relaxed);
        }
        let axis = |axis: usize| u32::from_le_bytes(number[4 * axis..][..4].try_into().unwrap_or_default());
        let count = [axis(0), axis(1), axis(2)];
        if count.contains(&0) {
            return Ok(None);
        }
        if let Some(info) = executable.functions().get(function as usize) {
            self.limits.check_workgroups(info, count, size)?;
        }
        Ok(Some(count))
    }
}

impl Debt {
    fn settle(self, result: Result<()>) {
        match result {
            Ok(()) => pending::reach(&self.signals),
            Err(error) => pending::fail(&self.signals, &error),
        }
        let ended = self.work.running().ends.remove(&self.number);
        ended.iter().for_each(|ended| pending::reach(&[ended.at(1)]));
    }
}

/// The step that follows an operation of a driver.
struct Then(Box<dyn FnOnce(Result<()>) + Send>);

impl End for Then {
    fn complete(self: Box<Self>, result: Result<()>) {
        (self.0)(result);
    }

    fn forward(self: Box<Self>, _operation: Operation) -> Result<()> {
        Err(Error::internal("a driver forwards nothing"))
    }

    fn forwards(&self) -> bool {
        false
    }
}
