// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass manual`: a page for `man` for the command and each subcommand, and completions of shells.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Arg, ArgAction, Args, Command, builder::PossibleValuesParser};
use clap_complete::Shell;

use super::{
    environment, escape,
    failure::{self, Failure, Outcome},
};

/// The shells, each with its completions' place below `share`.
const SHELLS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/windlass"),
    (Shell::Fish, "fish/vendor_completions.d/windlass.fish"),
    (Shell::Zsh, "zsh/site-functions/_windlass"),
];

#[derive(Args)]
pub(crate) struct Manual {
    /// The folder `share` of an installation
    #[arg(value_name = "FOLDER")]
    share: PathBuf,
}

impl Manual {
    /// Writes the files of `command`.
    pub(crate) fn run(self, command: Command) -> Outcome {
        let mut command = for_readers(&command);
        command.build();
        pages(&command, &self.share.join("man/man1"))?;
        for (shell, place) in SHELLS {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut command.clone(), "windlass", &mut text);
            write(&self.share.join(place), &text)?;
        }
        Ok(())
    }
}

/// The command with the subcommands that people call. Its version tells no commit, so that pages of a version are the same.
fn for_readers(command: &Command) -> Command {
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
    let subcommands = shown.map(|sub| if sub.get_name() == "cts" { of_the_suite() } else { sub.clone() });
    Command::new("windlass")
        .version(env!("CARGO_PKG_VERSION"))
        .about(command.get_about().cloned().unwrap_or_default())
        .disable_help_subcommand(true)
        .subcommands(subcommands.collect::<Vec<_>>())
}

/// `cts` with the options that the runner reads.
fn of_the_suite() -> Command {
    let options = windlass_cts::command_options().into_iter().map(|option| {
        let mut argument = Arg::new(option.name.clone()).help(option.help);
        if !option.is_positional {
            argument = argument.long(option.name);
        }
        match (option.values.is_empty(), option.repeats || option.is_positional) {
            (true, _) => argument = argument.action(ArgAction::SetTrue),
            (false, false) => argument = argument.value_names(option.values),
            (false, true) => argument = argument.value_names(option.values).action(ArgAction::Append),
        }
        if !option.possible.is_empty() {
            argument = argument.value_parser(PossibleValuesParser::new(option.possible));
        }
        argument
    });
    Command::new("cts").about("Run the conformance suite over a device").args(options)
}

fn pages(command: &Command, folder: &Path) -> Outcome {
    let main = page(command.clone(), "windlass")?;
    let codes = failure::exit_codes();
    let mut main = String::from_utf8_lossy(&main).into_owned();
    // The first page also tells what `windlass help environment` prints.
    main.push_str(&format!(".SH \"EXIT STATUS\"\n{}\n.SH ENVIRONMENT\n", roff(&codes)));
    for [name, effect, example] in environment::VARIABLES {
        main.push_str(&format!(".TP\n\\fB{name}\\fR\n{}; for example {}\n", roff(effect), roff(example)));
    }
    write(&folder.join("windlass.1"), main.as_bytes())?;
    for sub in command.get_subcommands() {
        let name = format!("windlass-{}", sub.get_name());
        let text = page(sub.clone().bin_name(format!("windlass {}", sub.get_name())), &name)?;
        write(&folder.join(format!("{name}.1")), &text)?;
    }
    Ok(())
}

fn page(command: Command, name: &str) -> Outcome<Vec<u8>> {
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command.display_name(name.to_owned())).date("").manual("Windlass");
    page.render(&mut text).map_err(|error| Failure::failed(format!("the page {name}: {error}")))?;
    Ok(text)
}

/// A text with roff's characters escaped.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

fn write(path: &Path, text: &[u8]) -> Outcome {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|error| Failure::failed(format!("cannot write {}: {error}", escape::path(path))))
}
