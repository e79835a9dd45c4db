// SPDX-License-Identifier: MIT OR Apache-2.0
//! The symbols of device code, and their addresses.

use windlass_hal::{Code, Executable, QueueAffinity, SymbolBinding, SymbolInfo, SymbolKind};

use crate::{
    check::{ensure, ensure_eq, refused},
    context::Context,
    kernels,
    outcome::{Outcome, Stop},
};

suite! { "executable_symbols";
    #[smoke] kernels_and_variables [Dispatch, Globals, Symbols]: "Each kernel and each variable is listed once, with its kind.";
    device_functions [Dispatch, Symbols]: "Functions that kernels call are listed apart from kernels, with size and binding.";
    variables_lie_where_they_are_found [Dispatch, Globals, Symbols]: "A variable's symbol has its size, and the address of its looked-up buffer.";
    code_lies_apart [Dispatch, Symbols]: "Symbols with known addresses do not overlap.";
    one_copy_for_a_queue [Dispatch, Symbols]: "Symbols have one address for a queue; a list for queues with different addresses is FAILED_PRECONDITION.";
}

/// The symbols with the addresses that queue 0 uses.
fn symbols(executable: &Executable) -> Outcome<Vec<SymbolInfo>> {
    Ok(executable.symbols_on(QueueAffinity::queue(0))?)
}

/// The only symbol of this name.
fn only<'s>(symbols: &'s [SymbolInfo], name: &str) -> Outcome<&'s SymbolInfo> {
    let found: Vec<_> = symbols.iter().filter(|symbol| symbol.name == name).collect();
    match found[..] {
        [symbol] => Ok(symbol),
        _ => Err(Stop::fail(format!("{} symbols are called `{name}`", found.len()))),
    }
}

fn kernels_and_variables(ctx: &Context) -> Outcome {
    let symbols = symbols(&ctx.load(&kernels::GLOBALS)?)?;
    for (name, kind) in [
        ("use_globals", SymbolKind::Kernel),
        ("read_counter", SymbolKind::Kernel),
        ("counter", SymbolKind::Variable),
        ("table", SymbolKind::Variable),
        ("biases", SymbolKind::Variable),
    ] {
        ensure_eq!(only(&symbols, name)?.kind, kind, "the kind of `{name}`");
    }
    ensure_eq!(symbols.len(), 5, "symbols, without those that the compiler adds");
    Ok(())
}

fn device_functions(ctx: &Context) -> Outcome {
    let symbols = symbols(&ctx.load(&kernels::FUNCTIONS)?)?;
    ensure_eq!(only(&symbols, "use_functions")?.kind, SymbolKind::Kernel, "the kind of `use_functions`");
    for name in ["twofold", "threefold"] {
        let symbol = only(&symbols, name)?;
        ensure_eq!(
            (symbol.kind, symbol.binding),
            (SymbolKind::Function, SymbolBinding::Global),
            "the kind and the binding of `{name}`"
        );
        ensure!(symbol.size > 0, "`{name}` has no size");
    }
    Ok(())
}

fn variables_lie_where_they_are_found(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let symbols = symbols(&executable)?;
    for name in ["counter", "table", "biases"] {
        let (symbol, buffer) = (only(&symbols, name)?, executable.global_on(name, QueueAffinity::queue(0))?);
        ensure_eq!(
            (symbol.address, symbol.size),
            (Some(buffer.device_address()), buffer.len()),
            "the address and the size of `{name}`"
        );
    }
    Ok(())
}

fn code_lies_apart(ctx: &Context) -> Outcome {
    let symbols = symbols(&ctx.load(&kernels::GLOBALS)?)?;
    let mut places: Vec<(u64, u64, &str)> = symbols
        .iter()
        .filter_map(|symbol| Some((symbol.address?, symbol.size, symbol.name.as_str())))
        .collect();
    places.sort_unstable();
    for pair in places.windows(2) {
        let ((first, size, one), (second, _, other)) = (pair[0], pair[1]);
        ensure!(first != second && first + size <= second, "`{one}` and `{other}` overlap");
    }
    Ok(())
}

fn one_copy_for_a_queue(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let of = |queue| Ok(executable.symbols_on(QueueAffinity::queue(queue))?);
    let copies = (0..ctx.device().limits().queues).map(of).collect::<Outcome<Vec<_>>>()?;
    if copies.iter().all(|copy| *copy == copies[0]) {
        ensure_eq!(executable.symbols()?, copies[0], "the one copy");
    } else {
        drop(refused(executable.symbols(), Code::FailedPrecondition, "symbols of several copies")?);
    }
    Ok(())
}
