// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random sequences against small models: the semaphore, fences, URIs.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
};

use proptest::{prelude::*, sample::Index};
use windlass_hal::{
    Code, Deadline, Error, Fence, Notifications, Probe, Semaphore, Uri, Wait, WaitPolicy,
    edge::{Domain, Edge, EdgeSource},
    wait_any,
};

#[derive(Debug, Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Signal(u64),
    Fail(Code),
    /// A device promises a value.
    Promise(u64, usize),
    Wait(u64),
    Poll(Index),
    /// With a new waker.
    Move(Index),
    Drop(Index),
    Block(u64),
}

fn step() -> impl Strategy<Value = Step> {
    // Small numbers meet; the ends of the range are where they overflow.
    let value = prop_oneof![8 => 0..20_u64, 1 => Just(Semaphore::MAX_VALUE), 1 => Just(Semaphore::MAX_VALUE + 1), 1 => any::<u64>()];
    let code = prop_oneof![Just(Code::Aborted), Just(Code::DataLoss), Just(Code::Cancelled)];
    prop_oneof![
        6 => value.clone().prop_map(Step::Signal),
        1 => code.prop_map(Step::Fail),
        3 => (value.clone(), 0..2_usize).prop_map(|(value, device)| Step::Promise(value, device)),
        6 => value.clone().prop_map(Step::Wait),
        4 => any::<Index>().prop_map(Step::Poll),
        2 => any::<Index>().prop_map(Step::Move),
        2 => any::<Index>().prop_map(Step::Drop),
        2 => value.prop_map(Step::Block),
    ]
}

/// The model of a semaphore, in ten lines.
struct Model {
    payload: u64,
    failure: Option<Code>,
    /// Promised values, with the devices that owe them.
    promises: Vec<(u64, usize)>,
}

impl Model {
    /// The end of a wait for `value`, if it has ended.
    fn outcome(&self, value: u64) -> Option<Result<(), Code>> {
        if value <= self.payload {
            Some(Ok(()))
        } else if let Some(code) = self.failure {
            Some(Err(code))
        } else {
            (value > Semaphore::MAX_VALUE).then_some(Err(Code::OutOfRange))
        }
    }
}

struct Waiting {
    wait: Wait,
    value: u64,
    wakes: Arc<Wakes>,
    /// It was polled and is registered.
    asked: bool,
}

impl Waiting {
    fn poll(&mut self) -> Poll<Result<(), Code>> {
        let waker = Waker::from(self.wakes.clone());
        Pin::new(&mut self.wait).poll(&mut Context::from_waker(&waker)).map_err(|error| error.code())
    }
}

/// A device that never makes progress and notes the demands on it.
struct Device {
    domain: Domain,
    demands: AtomicUsize,
}

impl EdgeSource for Device {
    fn domain(&self) -> Domain {
        self.domain
    }
    fn poll(&self) {}
    fn demand(&self, _lane: u32, _epoch: u64) {
        self.demands.fetch_add(1, SeqCst);
    }
}

fn check_semaphore(initial: u64, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let semaphore = Semaphore::new(initial);
    let mut model = Model { payload: initial.min(Semaphore::MAX_VALUE), failure: None, promises: Vec::new() };
    let devices =
        [(); 2].map(|()| Arc::new(Device { domain: Domain::unique(), demands: AtomicUsize::new(0) }));
    let mut waits: Vec<Waiting> = Vec::new();
    for step in steps {
        match step {
            Step::Signal(value) => {
                let result = semaphore.signal(value).map_err(|error| error.code());
                if value > Semaphore::MAX_VALUE {
                    prop_assert_eq!(result, Err(Code::OutOfRange));
                } else {
                    prop_assert_eq!(result, Ok(()));
                    if model.failure.is_none() {
                        model.payload = model.payload.max(value);
                    }
                }
            }
            Step::Fail(code) => {
                semaphore.fail(Error::new(code, "planned"));
                model.failure = model.failure.or(Some(code));
            }
            Step::Promise(value, device) => {
                let value = value.min(Semaphore::MAX_VALUE);
                let before = devices[device].demands.load(SeqCst);
                let edge = Edge { source: devices[device].clone(), lane: device as u32, epoch: value };
                let mut notifications = Notifications::new();
                semaphore.attach_edge(value, edge, &mut notifications);
                notifications.fire();
                if model.outcome(value).is_none() {
                    model.promises.push((value, device));
                    let depends = waits.iter().any(|waiting| {
                        waiting.asked && waiting.value <= value && model.outcome(waiting.value).is_none()
                    });
                    prop_assert_eq!(devices[device].demands.load(SeqCst) > before, depends);
                }
            }
            Step::Wait(value) => {
                let (wait, wakes) = (semaphore.wait(value), Arc::default());
                waits.push(Waiting { wait, value, wakes, asked: false });
            }
            Step::Poll(index) | Step::Move(index) if !waits.is_empty() => {
                let chosen = index.index(waits.len());
                let waiting = &mut waits[chosen];
                if matches!(step, Step::Move(_)) {
                    waiting.wakes = Arc::default();
                }
                match (waiting.poll(), model.outcome(waiting.value)) {
                    (Poll::Pending, None) => waiting.asked = true,
                    (Poll::Ready(result), Some(expected)) => {
                        prop_assert_eq!(result, expected);
                        waits.swap_remove(chosen);
                    }
                    (polled, expected) => {
                        prop_assert!(false, "polled {polled:?}, expected {expected:?}");
                    }
                }
            }
            Step::Drop(index) if !waits.is_empty() => drop(waits.swap_remove(index.index(waits.len()))),
            Step::Block(value) => {
                let result = semaphore.wait_blocking_with(value, Deadline::now(), WaitPolicy::Block);
                let expected = model.outcome(value).unwrap_or(Err(Code::DeadlineExceeded));
                prop_assert_eq!(result.map_err(|error| error.code()), expected);
            }
            _ => {}
        }
        let query = semaphore.query().map_err(|error| error.code());
        prop_assert_eq!(query, model.failure.map_or(Ok(model.payload), Err));
        model.promises.retain(|(value, _)| *value > model.payload);
        if model.failure.is_some() {
            model.promises.clear();
        }
        check_probes(&semaphore, &model, &devices)?;
        // Each registered waiter is woken exactly once, when its wait is over.
        let mut open = 0;
        for waiting in waits.iter().filter(|waiting| waiting.asked) {
            let over = model.outcome(waiting.value).is_some();
            prop_assert_eq!(waiting.wakes.0.load(SeqCst), usize::from(over));
            open += usize::from(!over);
        }
        prop_assert_eq!(semaphore.waiter_count(), open);
    }
    drop(waits);
    prop_assert_eq!(semaphore.waiter_count(), 0);
    // Neither a reached nor a failed semaphore keeps a device alive.
    semaphore.fail(Error::aborted("the end"));
    for device in devices {
        prop_assert_eq!(Arc::strong_count(&device), 1);
    }
    Ok(())
}

fn check_probes(
    semaphore: &Semaphore,
    model: &Model,
    devices: &[Arc<Device>; 2],
) -> Result<(), TestCaseError> {
    for value in [0, 1, 5, 10, 19, Semaphore::MAX_VALUE] {
        for asking in [None, Some(0), Some(1)] {
            let probe = semaphore.probe(value, asking.map(|device: usize| devices[device].domain));
            let promised = model
                .promises
                .iter()
                .filter(|(at, device)| *at >= value && Some(*device) == asking)
                .map(|(at, _)| *at)
                .min();
            match (probe, model.outcome(value)) {
                (Probe::Reached, Some(Ok(()))) => {}
                (Probe::Failed(error), Some(Err(code))) => prop_assert_eq!(error.code(), code),
                (Probe::Edge(edge), None) => prop_assert_eq!(Some(edge.epoch), promised),
                (Probe::Unresolved, None) => prop_assert_eq!(promised, None),
                (probe, expected) => prop_assert!(false, "{probe:?}, expected {expected:?}"),
            }
        }
    }
    Ok(())
}

/// Any text as it may stand in a URI, with some needless escapes.
fn escaped(text: &str, also: u8) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if matches!(c, '%' | '?' | '&') || (c as u32).is_multiple_of(u32::from(also)) {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes).bytes().for_each(|byte| escaped.push_str(&format!("%{byte:02x}")));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_semaphore_does_what_its_model_does(
        initial in prop_oneof![4 => 0..5_u64, 1 => any::<u64>()],
        steps in prop::collection::vec(step(), 0..60),
    ) {
        check_semaphore(initial, steps)?;
    }

    #[test]
    fn waiting_for_any_gives_a_point_that_is_reached(
        payloads in prop::collection::vec((0..6_u64, any::<bool>()), 1..5),
        values in prop::collection::vec(0..6_u64, 5),
    ) {
        let semaphores: Vec<_> = payloads.iter().map(|(payload, failed)| {
            let semaphore = Semaphore::new(*payload);
            if *failed {
                semaphore.fail(Error::data_loss("planned"));
            }
            semaphore
        }).collect();
        let points: Vec<_> =
            semaphores.iter().zip(&values).map(|(semaphore, value)| semaphore.at(*value)).collect();
        let reached: Vec<_> =
            payloads.iter().zip(&values).map(|((payload, _), value)| payload >= value).collect();
        match wait_any(&points, Deadline::now(), WaitPolicy::Block) {
            Ok(index) => prop_assert!(reached[index]),
            Err(error) => {
                prop_assert!(!reached.contains(&true), "{error} though one is reached");
                let failed = payloads.iter().any(|(_, failed)| *failed);
                let expected = if failed { Code::DataLoss } else { Code::DeadlineExceeded };
                prop_assert_eq!(error.code(), expected);
            }
        }
    }

    #[test]
    fn a_fence_is_the_greatest_value_of_each_semaphore(
        points in prop::collection::vec((0..4_usize, 0..10_u64), 0..20),
        cut in any::<Index>(),
        payloads in prop::array::uniform4(0..10_u64),
    ) {
        let semaphores = payloads.map(Semaphore::new);
        let fence = |points: &[(usize, u64)]| -> Fence {
            points.iter().map(|(semaphore, value)| semaphores[*semaphore].at(*value)).collect()
        };
        let content = |fence: &Fence| -> BTreeMap<usize, u64> {
            let place = |semaphore: &Semaphore| semaphores.iter().position(|known| known.same(semaphore));
            fence.iter().map(|point| (place(&point.semaphore).unwrap(), point.value)).collect()
        };
        let mut expected = BTreeMap::new();
        for (semaphore, value) in &points {
            let known = expected.entry(*semaphore).or_insert(*value);
            *known = *value.max(known);
        }
        let whole = fence(&points);
        prop_assert_eq!(whole.len(), expected.len(), "each semaphore once");
        prop_assert_eq!(&content(&whole), &expected);
        let (left, right) = points.split_at(cut.index(points.len() + 1));
        let (left, right) = (fence(left), fence(right));
        prop_assert_eq!(&content(&Fence::join([&left, &right])), &expected);
        prop_assert_eq!(&content(&Fence::join([&right, &left, &left])), &expected);

        let passed = expected.iter().all(|(semaphore, value)| payloads[*semaphore] >= *value);
        prop_assert_eq!(whole.query().unwrap(), passed);
        let waited = whole.wait_blocking(Deadline::now()).map_err(|error| error.code());
        prop_assert_eq!(waited, if passed { Ok(()) } else { Err(Code::DeadlineExceeded) });
        let mut wait = whole.wait();
        let polled = Pin::new(&mut wait).poll(&mut Context::from_waker(Waker::noop()));
        prop_assert_eq!(polled.is_ready(), passed);
        whole.signal().unwrap();
        prop_assert!(whole.query().unwrap());
        let polled = Pin::new(&mut wait).poll(&mut Context::from_waker(Waker::noop()));
        prop_assert!(matches!(polled, Poll::Ready(Ok(()))));
    }

    #[test]
    fn a_uri_reads_back_what_was_written(
        scheme in "[a-z][a-z0-9-]{0,8}",
        path in any::<String>(),
        parameters in prop::collection::btree_map("[a-z_]{1,6}", any::<String>(), 0..4),
        over in prop::option::of(any::<String>()),
        also in 1..9_u8,
    ) {
        let mut text = format!("{scheme}://{}", escaped(&path, also));
        let mut items: Vec<(String, String)> =
            parameters.into_iter().filter(|(key, _)| key != "over").collect();
        let mut queries: Vec<_> =
            items.iter().map(|(key, value)| format!("{key}={}", escaped(value, also))).collect();
        if let Some(over) = over {
            queries.push(format!("over={over}"));
            items.push(("over".to_owned(), over));
        }
        if !queries.is_empty() {
            text = format!("{text}?{}", queries.join("&"));
        }
        let uri: Uri = text.parse().unwrap();
        prop_assert_eq!(uri.scheme(), scheme);
        prop_assert_eq!(uri.path(), path);
        prop_assert_eq!(uri.parameters(), items);
        prop_assert_eq!(&uri.to_string().parse::<Uri>().unwrap(), &uri, "printed as {}", uri);
    }

    #[test]
    fn any_text_is_a_uri_or_a_clear_error(text in any::<String>(), tail in "[%?&=a-f0-9:/]{0,24}") {
        for text in [text.clone(), format!("hip://{text}"), format!("hip://{tail}"), tail] {
            match text.parse::<Uri>() {
                Ok(uri) => prop_assert_eq!(uri.to_string().parse::<Uri>().unwrap(), uri),
                Err(error) => prop_assert_eq!(error.code(), Code::InvalidArgument),
            }
        }
    }
}
