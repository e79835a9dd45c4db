// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recorded lists: their size, the objects that they keep, their commands by position, and edited lists.

mod common;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use windlass_hal::{Argument, Buffer, Command, CommandList, Position, Semaphore};

struct Counting;

thread_local! {
    static LIVE_BYTES: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    let _ = LIVE_BYTES.try_with(|live| live.set(live.get() + bytes));
}

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: the caller's contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn text(list: &CommandList) -> Vec<String> {
    list.commands().map(|command| format!("{command:?}")).collect()
}

#[test]
fn a_list_keeps_each_buffer_and_function_once() {
    let (_instance, device) = common::open();
    let (commands, _) = common::record(&device, 1000, false);
    let list = commands.list();
    assert_eq!((list.buffers().len(), list.functions().len()), (3, 1));
    assert_eq!((list.commands().len(), list.size()), (2000, 80 * 1000));
}

#[test]
fn a_dispatch_and_a_barrier_keep_at_most_112_bytes() {
    let (_instance, device) = common::open();
    for (by_table, most) in [(false, 112), (true, 112)] {
        let kept = |n| {
            let before = LIVE_BYTES.get();
            let recorded = common::record(&device, n, by_table);
            let kept = LIVE_BYTES.get() - before;
            drop(recorded);
            kept
        };
        // The first recording fills caches.
        kept(1);
        let (short, long) = (kept(1000), kept(2000));
        assert!(
            long - short <= 1000 * most,
            "{} bytes for each, by table: {by_table}",
            (long - short) / 1000
        );
    }
}

/// A list of every kind of command.
fn mixed(device: &windlass_hal::Device) -> windlass_hal::CommandBuffer {
    let function = common::vector_add(device);
    let buffer = device.allocate_device(4096).expect("4 KiB");
    let mut recorder = device.record_with_slots(2).expect("a recorder");
    let slot = |slot, offset| Argument::Slot { slot, offset, length: 1024 };
    let part = |offset| buffer.subspan(offset, 16).expect("a part");
    recorder.barrier();
    recorder.barrier();
    recorder.fill(part(16), 7_u16).expect("a fill");
    recorder.barrier();
    let event = recorder.event();
    recorder.update(&[5; 16], part(32)).expect("an update");
    recorder.signal_event(event).expect("a signal");
    recorder.update(&[6; 8], common::slot(1, 8)).expect("an update of a slot");
    recorder.copy(part(0), common::slot(0, 16)).expect("a copy");
    recorder.begin_debug_group("group");
    let arguments = [slot(0, 64), buffer.arg(), slot(1, 0), 1024_i32.into()];
    recorder.dispatch(&function, common::grid(), &arguments).expect("a dispatch");
    recorder.barrier();
    recorder.barrier();
    recorder.end_debug_group().expect("an open group");
    recorder.wait_events(&[event]).expect("a signalled event");
    let arguments = [buffer.arg(), buffer.arg(), Argument::Null, 1024_i32.into()];
    recorder.dispatch(&function, common::grid(), &arguments).expect("a dispatch");
    recorder.barrier();
    recorder.finish().expect("a list")
}

#[test]
fn a_position_leads_to_its_command() {
    let (_instance, device) = common::open();
    let commands = mixed(&device);
    let list = commands.list();
    let whole = text(list);
    assert_eq!(whole.len(), 16);
    let positions: Vec<_> = list.positions().map(|(position, _)| position).collect();
    assert!(positions.is_sorted_by(|one, next| one < next), "{positions:?}");
    for (index, position) in positions.iter().enumerate() {
        assert_eq!(format!("{:?}", list.at(*position).expect("a command")), whole[index]);
        assert_eq!(list.index(*position), index);
    }
    assert!(list.at(Position::END).is_none());
    // In order, a command is found from each position on, and up to each.
    let work = |command: &Command<'_>| !matches!(command, Command::Barrier);
    for (index, position) in positions.iter().enumerate() {
        let before = list.in_order(Position::START..*position).map(|(_, command)| command);
        let after = list.in_order(*position..Position::END).map(|(_, command)| command);
        let found: Vec<_> = before.chain(after).filter(work).map(|command| format!("{command:?}")).collect();
        let expected: Vec<_> = whole.iter().filter(|command| *command != "Barrier").cloned().collect();
        assert_eq!(found, expected, "split at command {index}");
    }
}

#[test]
fn an_edited_list_has_the_pushed_commands() {
    let (_instance, device) = common::open();
    let commands = mixed(&device);
    let list = commands.list();
    let same = list.edited(|mut commands, edited| commands.try_for_each(|command| edited.push(command)));
    let same = same.expect("a list");
    assert_eq!(text(&same), text(list));
    assert_eq!((same.data(), same.size()), (list.data(), list.size()));
    assert_eq!(same.predecessors(), list.predecessors());
    assert_eq!((same.buffers().len(), same.slots().len()), (list.buffers().len(), list.slots().len()));
    let blocks = |list: &CommandList| {
        let dispatches = list.commands().filter_map(|command| match command {
            Command::Dispatch(dispatch) => {
                Some((dispatch.arguments.to_vec(), dispatch.patches.iter().collect::<Vec<_>>()))
            }
            _ => None,
        });
        dispatches.collect::<Vec<_>>()
    };
    assert_eq!(blocks(&same), blocks(list));
    let fewer = list.edited(|mut commands, edited| {
        commands.try_for_each(|command| match command {
            Command::Barrier => Ok(()),
            other => edited.push(other),
        })
    });
    let left: Vec<_> = text(list).into_iter().filter(|command| command != "Barrier").collect();
    assert_eq!(text(&fewer.expect("a list")), left);
}

#[test]
fn dispatches_with_and_without_slots_alternate() {
    let (instance, device) = common::open();
    let function = common::vector_add(&device);
    let buffers: Vec<Buffer> = (0..3).map(|_| device.allocate_device(4096).expect("4 KiB")).collect();
    let mut recorder = device.record_with_slots(1).expect("a recorder");
    let slot = Argument::Slot { slot: 0, offset: 0, length: 4096 };
    for round in 0..10 {
        for first in [buffers[0].arg(), slot, slot, buffers[0].arg()] {
            let arguments = [first, buffers[1].arg(), buffers[2].arg(), round.into()];
            recorder.dispatch(&function, common::grid(), &arguments).expect("a dispatch");
        }
        recorder.fill(&buffers[2], 0_u8).expect("a fill");
    }
    let commands = recorder.finish().expect("a list");
    let done = Semaphore::new(0);
    let queue = device.queue(0).expect("a queue");
    queue.execute(&[], &[done.at(1)], &commands, [buffers[0].clone()]).expect("submits");
    done.wait_blocking(1, common::SOON).expect("completes");
    let launches = instance.calls().into_iter().find(|(name, _)| *name == "hipModuleLaunchKernel");
    assert_eq!(launches.map(|(_, count)| count), Some(40));
}
