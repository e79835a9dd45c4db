// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waves that do the same work on the same memory, as compilers emit them.

use super::*;
use crate::exec::machine::wave::WaveStatus;
use crate::exec::run::TurnEnd;

/// `ds_read_b32 v1, v0`, `v_add_u32 v1, 1, v1`, `ds_write_b32 v0, v1`; all of it twice, then the end.
const COUNT_TWICE: [u32; 11] = [
    0xd86c_0000,
    0x0100_0000,
    0x6802_0281,
    0xd81a_0000,
    0x0000_0100,
    0xd86c_0000,
    0x0100_0000,
    0x6802_0281,
    0xd81a_0000,
    0x0000_0100,
    0xbf81_0000,
];

/// Runs two waves that increment the same words, interpreted or translated. Returns the first word, and the turns.
fn count(abreast: bool, cold: Option<u32>) -> (u32, Vec<TurnEnd>) {
    let program = Arc::new(Program::new(&isa::GFX942, 0x1000, COUNT_TWICE.to_vec()));
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let (mut lds, mut windows, stop) = (Lds::new(), Windows::default(), AtomicBool::new(false));
    lds.reset(1024);
    for lane in 0..LANES as u64 {
        lds.store(4 * lane, [0; 4]);
    }
    let mut waves =
        [(); 2].map(|()| (Wave::new(), Counter { position: program.find(0x1000), visited: None }));
    for (wave, _) in &mut waves {
        wave.set_exec(LaneMask::of_bits(!0));
        wave.set_mode(0x3f0);
        wave.v[0] = words(|lane| 4 * lane as u32);
        wave.status = WaveStatus::Ready;
    }
    let mut turns = Vec::new();
    while waves.iter().any(|(wave, _)| wave.status == WaveStatus::Ready) {
        for (wave, counter) in waves.iter_mut().filter(|(wave, _)| wave.status == WaveStatus::Ready) {
            let core = Core::new(wave, &mut lds, &memory, &mut windows);
            let mut runner = Runner { core, counter, program: &program, abreast, cold, stop: &stop };
            turns.push(runner.run(1000).unwrap());
        }
    }
    (u32::from_le_bytes(lds.load(0)), turns)
}

#[test]
fn what_waves_do_twice_is_done_once() {
    for cold in [None, Some(0)] {
        let (value, turns) = count(true, cold);
        assert_eq!(value, 2);
        let expected = [TurnEnd::Abreast, TurnEnd::Abreast, TurnEnd::Over];
        assert_eq!(turns, expected.into_iter().flat_map(|turn| [turn; 2]).collect::<Vec<_>>());
    }
}

#[test]
fn a_wave_alone_does_not_wait() {
    for cold in [None, Some(0)] {
        assert_eq!(count(false, cold), (4, vec![TurnEnd::Over; 2]));
    }
}
