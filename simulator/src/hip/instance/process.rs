// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator of a call: the simulator that the thread selected, else the one that the whole process shares.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use super::runtime::Runtime;
use super::setup::set_up;
use super::thread::{self, ThreadState};
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::{explain, remind};
use crate::options::Options;
use crate::visible;

/// The simulator for this thread's current call, and the state that it keeps of the thread.
///
/// # Errors
/// `DEINITIALIZED` if the selected simulator is gone. `NO_DEVICE`, with an explanation, if `WINDLASS_SIM` is wrong or the
/// process's simulator cannot be set up.
pub(crate) fn current() -> Outcome<(Arc<Runtime>, Rc<ThreadState>)> {
    let runtime = thread::selected()?.map_or_else(own, Ok)?;
    let state = thread::state(&runtime);
    Ok((runtime, state))
}

/// The process's own simulator, which the first call sets up.
fn own() -> Outcome<Arc<Runtime>> {
    static RUNTIME: OnceLock<Result<Arc<Runtime>, String>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        make().map_err(|error| {
            // All later calls fail for the same reason. The log has it once.
            let why = format!("there is no simulated GPU: {error} (WINDLASS_SIM)");
            explain(why.clone());
            why
        })
    });
    made.clone().map_err(|why| {
        remind(&why);
        Code::NO_DEVICE
    })
}

fn make() -> Result<Arc<Runtime>, String> {
    let options = Options::from_environment().map_err(|error| error.to_string())?;
    let hidden = ["HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"];
    let list = hidden.iter().find_map(|name| std::env::var(name).ok().filter(|list| !list.is_empty()));
    let slots = visible::slots(options.devices as usize, list.as_deref());
    set_up(options, &slots).map_err(|error| error.to_string())
}
