// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes that copy from and to global variables, which the client names by their symbols.

use std::ffi::c_void;

use windlass_hip_sys::bindings::{hipError_t, hipGraph_t, hipGraphExec_t, hipGraphNode_t, hipMemcpyKind};

use super::copy::{direction, symbol};
use super::graph::node;
use super::graph_edit::set_in_exec;
use super::graph_exec::find;
use super::graph_node::{Place, add, copy_line};
use crate::hip::boundary::call::Call;
use crate::hip::graphs::operation::Operation;
use crate::hip::words::code::{Code, Outcome};

/// The direction of a copy, seen from the variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    From,
    To,
}

/// A copy between a variable and other memory.
#[derive(Clone, Copy)]
struct SymbolCopy {
    way: Way,
    variable: *const c_void,
    other: *mut c_void,
    size: usize,
    offset: usize,
    kind: hipMemcpyKind,
}

impl SymbolCopy {
    fn operation(self, call: &Call) -> Outcome<Operation> {
        if self.other.is_null() || self.size == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let address = symbol(call, self.variable, self.size, self.offset)? as *mut c_void;
        match self.way {
            Way::From => copy_line(call, self.other, address, self.size, self.kind),
            Way::To => copy_line(call, address, self.other, self.size, self.kind),
        }
    }

    /// The operation for a node that exists: HIP checks more then.
    fn checked(self, call: &Call) -> Outcome<Operation> {
        if self.variable.is_null() {
            return Err(Code::INVALID_SYMBOL);
        }
        let is_symbol = || symbol(call, self.other, self.size, self.offset).is_ok();
        if self.other.is_null() || self.size == 0 || self.other.cast_const() == self.variable || is_symbol() {
            return Err(Code::INVALID_VALUE);
        }
        symbol(call, self.variable, self.size, self.offset)?;
        if !self.is_told_right(call) {
            return Err(match self.way {
                Way::From => Code::INVALID_MEMCPY_DIRECTION,
                Way::To => Code::INVALID_VALUE,
            });
        }
        self.operation(call)
    }

    /// Whether the kind suits the other memory.
    fn is_told_right(self, call: &Call) -> bool {
        let host = match self.way {
            Way::From => hipMemcpyKind::hipMemcpyDeviceToHost,
            Way::To => hipMemcpyKind::hipMemcpyHostToDevice,
        };
        let as_host = self.kind == host;
        let as_device = matches!(
            self.kind,
            hipMemcpyKind::hipMemcpyDeviceToDevice | hipMemcpyKind::hipMemcpyDeviceToDeviceNoCU
        );
        let holding = call.runtime.machine.ledger.find(self.other as u64);
        self.kind == hipMemcpyKind::hipMemcpyDefault
            || match holding {
                None => as_host,
                Some(holding) => as_device || as_host && holding.is_host_accessible(),
            }
    }

    /// Gives a node of an instantiated graph this copy. The other memory must stay on its device.
    fn set_in(self, call: &Call, exec: hipGraphExec_t, handle: hipGraphNode_t) -> Outcome<()> {
        let checked = self.checked(call);
        let Operation::Copy(old, _) = find(call, exec)?.operation(handle as u64)? else {
            return checked.and(Err(Code::INVALID_VALUE));
        };
        // HIP looks for another direction than the node's before it looks whether the direction suits the memory.
        let turns = !direction(self.kind.0).is_ok_and(|new| new == old.direction);
        let operation = checked.map_err(|code| match code {
            Code::INVALID_MEMCPY_DIRECTION if turns => Code::INVALID_VALUE,
            code => code,
        })?;
        let old = match self.way {
            Way::From => old.to.0,
            Way::To => old.from.0,
        };
        let device = |address| call.runtime.machine.ledger.find(address).map(|holding| holding.device);
        match (device(old), device(self.other as u64)) {
            (Some(old), Some(new)) if old != new => Err(Code::INVALID_VALUE),
            _ => set_in_exec(call, exec, handle, operation),
        }
    }
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddMemcpyNodeFromSymbol(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    to: *mut c_void,
    variable: *const c_void,
    size: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    let copy = SymbolCopy { way: Way::From, variable, other: to, size, offset, kind };
    let place = Place { graph, after, count };
    hip!(hipGraphAddMemcpyNodeFromSymbol, |call| add(call, made, place, copy.operation(call)?))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddMemcpyNodeToSymbol(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    variable: *const c_void,
    from: *const c_void,
    size: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    let copy = SymbolCopy { way: Way::To, variable, other: from.cast_mut(), size, offset, kind };
    let place = Place { graph, after, count };
    hip!(hipGraphAddMemcpyNodeToSymbol, |call| add(call, made, place, copy.operation(call)?))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphMemcpyNodeSetParamsFromSymbol(
    handle: hipGraphNode_t,
    to: *mut c_void,
    variable: *const c_void,
    size: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    let copy = SymbolCopy { way: Way::From, variable, other: to, size, offset, kind };
    hip!(hipGraphMemcpyNodeSetParamsFromSymbol, |call| {
        let operation = copy.checked(call)?;
        node(call, handle)?.0.set(operation)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphMemcpyNodeSetParamsToSymbol(
    handle: hipGraphNode_t,
    variable: *const c_void,
    from: *const c_void,
    size: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    let copy = SymbolCopy { way: Way::To, variable, other: from.cast_mut(), size, offset, kind };
    hip!(hipGraphMemcpyNodeSetParamsToSymbol, |call| {
        let operation = copy.checked(call)?;
        node(call, handle)?.0.set(operation)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphExecMemcpyNodeSetParamsFromSymbol(
    exec: hipGraphExec_t,
    handle: hipGraphNode_t,
    to: *mut c_void,
    variable: *const c_void,
    size: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    let copy = SymbolCopy { way: Way::From, variable, other: to, size, offset, kind };
    hip!(hipGraphExecMemcpyNodeSetParamsFromSymbol, |call| copy.set_in(call, exec, handle))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphExecMemcpyNodeSetParamsToSymbol(
    exec: hipGraphExec_t,
    handle: hipGraphNode_t,
    variable: *const c_void,
    from: *const c_void,
    size: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    let copy = SymbolCopy { way: Way::To, variable, other: from.cast_mut(), size, offset, kind };
    hip!(hipGraphExecMemcpyNodeSetParamsToSymbol, |call| copy.set_in(call, exec, handle))
}
