// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of executables of several pieces, and of the symbols that executables list.

use std::{
    any::Any,
    sync::{Arc, Mutex},
};

use windlass_hal::{
    Error, FunctionInfo, GlobalInfo, QueueAffinity, Result, SymbolInfo, SymbolKind, driver, edge::Domain,
};

use super::{
    executable::copied,
    sabotage::{Inner, Sabotage, link, load, lock},
};

type Raw = Arc<dyn driver::RawExecutable>;

saboteurs! {
    links_nothing: "Several pieces are refused.",
        Links(|_, _| Err(Error::invalid_argument("one piece at a time"))),
        [
            "executable_linked.calls_across", "executable_linked.independent_pieces",
            "executable_linked.missing_symbols_are_named",
        ];
    links_the_first_piece: "The first piece is loaded and the others are forgotten.",
        Links(|inner, parts| load(inner, parts[0])),
        [
            "executable_linked.calls_across", "executable_linked.pieces_in_any_order",
            "executable_linked.independent_pieces",
        ];
    links_what_is_good: "Pieces that cannot be loaded are left out.", Links(|inner, parts| {
        let good: Vec<&[u8]> = parts.iter().copied().filter(|part| !fails(inner, part)).collect();
        link(inner, if good.is_empty() { parts } else { &good })
    }), ["executable_linked.damaged_piece_refused"];
    links_the_first_again: "Whatever pieces are linked, those that were linked first are what comes back.",
        LinksOnce::default(),
        ["executable_linked.same_pieces_same_executable"];
    missing_symbols_have_no_name: "What cannot be linked is refused without naming symbols.", Nameless,
        ["executable_linked.missing_symbols_are_named", "executable_linked.circles_refused"];
    linked_variables_are_snapshots: "A variable of linked pieces is found as other memory, with what it held.",
        Links(|inner, parts| Ok(copied(link(inner, parts)?, inner))), ["executable_linked.variable_is_one"];
    loads_the_first_bundle: "Of several bundles in a file the first alone is loaded.", FirstBundle,
        ["executable_linked.bundles_of_one_file"];
    hides_symbols: "No symbol is listed.", Names(|raw, queues| changed(raw, queues, Vec::clear)),
        ["executable_symbols.kernels_and_variables", "executable_symbols.device_functions"];
    lists_markers: "What the compiler adds for itself is listed.",
        Names(|raw, queues| changed(raw, queues, |symbols| {
            symbols.push(SymbolInfo::new("__hip_cuid_0", SymbolKind::Variable));
        })),
        ["executable_symbols.kernels_and_variables"];
    takes_functions_for_kernels: "Functions that kernels call are listed as kernels.",
        Names(|raw, queues| changed(raw, queues, |symbols| symbols.iter_mut().for_each(|symbol| {
            if symbol.kind == SymbolKind::Function { symbol.kind = SymbolKind::Kernel }
        }))), ["executable_symbols.device_functions"];
    misplaces_symbols: "Symbols are said to lie four bytes behind their place.",
        Names(|raw, queues| changed(raw, queues, |symbols| symbols.iter_mut().for_each(|symbol| {
            symbol.address = symbol.address.map(|address| address + 4);
        }))), ["executable_symbols.variables_lie_where_they_are_found"];
    piles_symbols_up: "All symbols are said to lie where the first one does.",
        Names(|raw, queues| changed(raw, queues, |symbols| {
            let first = symbols.iter().find_map(|symbol| symbol.address);
            symbols.iter_mut().for_each(|symbol| symbol.address = first);
        })), ["executable_symbols.code_lies_apart"];
    symbols_of_any_queue: "Asked for the symbols as all queues see them, the first one's first is listed.",
        Names(|raw, queues| match queues {
            QueueAffinity::ANY => changed(raw, QueueAffinity::queue(0), |symbols| symbols.truncate(1)),
            queues => raw.symbols(queues),
        }), ["executable_symbols.one_copy_for_a_queue"];
}

/// Whether code cannot be loaded on its own, because it is none.
fn fails(inner: &Inner, code: &[u8]) -> bool {
    load(inner, code).is_err_and(|error| error.code() == windlass_hal::Code::InvalidArgument)
}

struct Links(fn(&Inner, &[&[u8]]) -> Result<Raw>);

impl Sabotage for Links {
    fn link(&self, inner: &Inner, parts: &[&[u8]]) -> Result<Raw> {
        (self.0)(inner, parts)
    }
}

/// What was linked first.
#[derive(Default)]
struct LinksOnce(Mutex<Option<Raw>>);

impl Sabotage for LinksOnce {
    fn link(&self, inner: &Inner, parts: &[&[u8]]) -> Result<Raw> {
        let mut first = lock(&self.0);
        if let Some(raw) = first.as_ref().filter(|raw| raw.domain() == inner.domain()) {
            return Ok(raw.clone());
        }
        let raw = link(inner, parts)?;
        *first = Some(raw.clone());
        Ok(raw)
    }
}

/// Keeps the code of an error and nothing else.
struct Nameless;

impl Sabotage for Nameless {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        load(inner, code).map_err(|error| Error::new(error.code(), "cannot load this"))
    }

    fn link(&self, inner: &Inner, parts: &[&[u8]]) -> Result<Raw> {
        link(inner, parts).map_err(|error| Error::new(error.code(), "cannot link this"))
    }
}

/// Cuts a file off behind its first compressed bundle of version 2.
struct FirstBundle;

impl Sabotage for FirstBundle {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        let stated = code.strip_prefix(b"CCOB\x02\x00").and_then(|rest| rest.get(2..6)?.try_into().ok());
        let size = stated.map_or(code.len(), |size| u32::from_le_bytes(size) as usize);
        load(inner, code.get(..size).unwrap_or(code))
    }
}

/// Changes the symbols that executables list.
struct Names(fn(&Raw, QueueAffinity) -> Result<Vec<SymbolInfo>>);

impl Sabotage for Names {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        Ok(Arc::new(Named { raw: load(inner, code)?, symbols: self.0 }))
    }
}

fn changed(raw: &Raw, queues: QueueAffinity, change: fn(&mut Vec<SymbolInfo>)) -> Result<Vec<SymbolInfo>> {
    let mut symbols = raw.symbols(queues)?;
    change(&mut symbols);
    Ok(symbols)
}

struct Named {
    raw: Raw,
    symbols: fn(&Raw, QueueAffinity) -> Result<Vec<SymbolInfo>>,
}

// SAFETY: the descriptions are forwarded with the code.
unsafe impl driver::RawExecutable for Named {
    fn domain(&self) -> Domain {
        self.raw.domain()
    }

    fn functions(&self) -> &[FunctionInfo] {
        self.raw.functions()
    }

    fn globals(&self) -> &[GlobalInfo] {
        self.raw.globals()
    }

    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Result<Arc<dyn driver::RawBuffer>> {
        self.raw.clone().global(index, affinity)
    }

    fn symbols(&self, affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        (self.symbols)(&self.raw, affinity)
    }

    fn as_any(&self) -> &dyn Any {
        self.raw.as_any()
    }
}
