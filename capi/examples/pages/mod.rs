// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages of the header: cbindgen's one text, in parts by the modules of this package. A page is `windlass/MODULE.h`,
//! its title is the first sentence of the module, and it includes the pages that declare the names that it uses.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The page of the crate's root.
const ROOT: &str = "version";
/// The page that all others include.
const BASE: &str = "base";
const BASE_TITLE: &str = "Included by the other pages: standard headers and macros.";
/// Lines of comments are no longer.
const WIDTH: usize = 110;

type Error = Box<dyn std::error::Error>;

/// A comment with a declaration, a macro or an inline function.
struct Item {
    text: String,
    /// The text without comments.
    code: String,
}

/// A module of the package.
struct Module {
    page: String,
    title: String,
    names: BTreeSet<String>,
}

/// All files of the header by their path in the include folder.
pub(crate) fn pages(package: &Path) -> Result<BTreeMap<PathBuf, String>, Error> {
    let config = cbindgen::Config::from_file(package.join("cbindgen.toml"))?;
    let rules = config.header.clone().unwrap_or_default();
    let macros = config.after_includes.clone().unwrap_or_default();
    let inline = config.trailer.clone().unwrap_or_default();
    let mut made = Vec::new();
    cbindgen::Builder::new().with_crate(package).with_config(config).generate()?.write(&mut made);
    let made = String::from_utf8(made)?;
    let modules = modules(package)?;

    let mut base = macros.trim().to_owned();
    let mut items: Vec<Vec<Item>> = modules.iter().map(|_| Vec::new()).collect();
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    for (index, module) in modules.iter().enumerate() {
        owners.extend(module.names.iter().map(|name| (name.clone(), index)));
    }
    let start = made.find(macros.trim()).ok_or("cbindgen's text lacks the macros")? + macros.trim().len();
    let end = made.find(inline.trim()).unwrap_or(made.len());
    for item in split(&made[start..end]) {
        let name = declared(&item.code).ok_or_else(|| format!("no name in {}", item.text))?;
        let owner = owners.get(&name).ok_or_else(|| format!("no module declares {name}"))?;
        items[*owner].push(item);
    }
    for item in split(&inline) {
        let used = names(&item.code).filter_map(|name| owners.get(name)).max().copied();
        if used.is_none() && item.code.starts_with("#define") {
            base.push_str("\n\n");
            base.push_str(&item.text);
            continue;
        }
        let owner = used.ok_or_else(|| format!("no page for {}", item.text))?;
        if let Some(name) = declared(&item.code) {
            owners.insert(name, owner);
        }
        // One comment stands over all of them.
        let text = match item.code.starts_with("WINDLASS_INIT_(") {
            true => format!("// All zeros except the size.\n{}", item.code.trim_end()),
            false => item.text,
        };
        items[owner].push(Item { text, code: item.code });
    }

    let mut files = BTreeMap::new();
    let standard = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>";
    files.insert(path_of(BASE), page(BASE, BASE_TITLE, &format!("{standard}\n\n{base}"), false));
    let mut includes: Vec<BTreeSet<usize>> = Vec::new();
    for (index, items) in items.iter().enumerate() {
        let used = items.iter().flat_map(|item| names(&item.code)).filter_map(|name| owners.get(name));
        includes.push(used.copied().filter(|owner| *owner != index).collect());
    }
    let order = sorted(&includes).map_err(|circle| {
        let circle: Vec<_> = circle.iter().map(|index| modules[*index].page.as_str()).collect();
        format!("the pages {circle:?} need each other; move a declaration")
    })?;
    let mut table = String::new();
    let mut all = String::new();
    for index in order {
        let (module, items) = (&modules[index], &items[index]);
        if items.is_empty() {
            continue;
        }
        let needs =
            includes[index].iter().map(|needed| format!("#include \"{}.h\"\n", modules[*needed].page));
        let needs: String = std::iter::once(format!("#include \"{BASE}.h\"\n")).chain(needs).collect();
        let mut body = String::new();
        for item in items {
            let gap = if item.text.starts_with("WINDLASS_ARG_(") { "\n" } else { "\n\n" };
            body.push_str(if body.is_empty() { "" } else { gap });
            body.push_str(&item.text);
        }
        let body = format!(
            "{needs}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{body}\n\n#ifdef __cplusplus\n}}\n#endif"
        );
        files.insert(path_of(&module.page), page(&module.page, &module.title, &body, true));
        table.push_str(&wrapped(
            &format!(" *   {:<20} ", module.page),
            " *                        ",
            &module.title,
        ));
        all.push_str(&format!("#include \"windlass/{}.h\"\n", module.page));
    }
    let rules = rules.trim();
    let rules = rules.strip_suffix("*/").ok_or("the header of cbindgen.toml ends with its comment")?;
    let rules = rules.trim_end();
    let whole = format!(
        "{rules}\n *\n * Pages. Each can be included alone, as \"windlass/PAGE.h\":\n *\n{table} */\n#ifndef WINDLASS_H\n#define WINDLASS_H\n\n{all}\n#endif\n"
    );
    files.insert("windlass.h".into(), whole);
    Ok(files)
}

fn path_of(page: &str) -> PathBuf {
    Path::new("windlass").join(format!("{page}.h"))
}

fn page(name: &str, title: &str, body: &str, generated: bool) -> String {
    let guard = format!("WINDLASS_{}_H", name.to_uppercase());
    let rules = if generated { " windlass.h has the rules for all functions." } else { "" };
    let comment =
        wrapped("/* ", " * ", &format!("windlass/{name}.h: {title}{rules} Generated by cbindgen. */"));
    let spdx = "/* SPDX-License-Identifier: MIT OR Apache-2.0 */";
    format!("{spdx}\n{comment}#ifndef {guard}\n#define {guard}\n\n{body}\n\n#endif\n")
}

/// Words in lines of [`WIDTH`].
fn wrapped(first: &str, next: &str, text: &str) -> String {
    let (mut lines, mut line) = (String::new(), first.to_owned());
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.len() + 1 + word.len() > WIDTH {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line = next.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines + &line + "\n"
}

/// The modules in the order of the crate's root, which comes first itself.
fn modules(package: &Path) -> Result<Vec<Module>, Error> {
    let source = package.join("src");
    let root = fs::read_to_string(source.join("lib.rs"))?;
    let title = "The version of the interface and of the library.".to_owned();
    let mut modules = vec![Module { page: ROOT.to_owned(), title, names: names_of(&root) }];
    for line in root.lines() {
        let Some(name) =
            line.trim_start_matches("pub ").strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'))
        else {
            continue;
        };
        let file = source.join(format!("{name}.rs"));
        let (first, texts) = if file.exists() {
            let text = fs::read_to_string(file)?;
            (text.clone(), vec![text])
        } else {
            let folder = source.join(name);
            let mut paths: Vec<_> =
                fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Error>>()?;
            paths.sort();
            let texts = paths.iter().map(fs::read_to_string).collect::<Result<_, _>>()?;
            (fs::read_to_string(folder.join("mod.rs"))?, texts)
        };
        let names = texts.iter().flat_map(|text: &String| names_of(text)).collect();
        modules.push(Module { page: name.to_owned(), title: title_of(&first), names });
    }
    Ok(modules)
}

/// The first sentence of a module's documentation.
fn title_of(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.starts_with("//!"));
    let lines = lines.map_while(|line| line.strip_prefix("//!")).take_while(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().concat();
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text[..end].trim().replace('`', "")
}

/// The names for C that a source declares.
fn names_of(text: &str) -> BTreeSet<String> {
    let declared = |line: &str| {
        let rest = line.strip_prefix("pub ")?;
        let rest = ["struct ", "type ", "const ", "unsafe extern \"C\" fn ", "extern \"C\" fn "]
            .iter()
            .find_map(|kind| rest.strip_prefix(kind))?;
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        rest.to_lowercase().starts_with("windlass_").then(|| rest[..end].to_owned())
    };
    text.lines().filter_map(declared).collect()
}

/// The items of a text, each with the comment before it. Guards and linkage are left out.
fn split(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let (mut text_so_far, mut code) = (String::new(), String::new());
    let mut lines = text.lines();
    let mut depth = 0_i32;
    while let Some(line) = lines.next() {
        let is_comment =
            line.trim_start().starts_with("//") || line.starts_with("/*") && line.ends_with("*/");
        if code.is_empty() {
            if line.starts_with("/*") && !line.ends_with("*/") {
                text_so_far.push_str(line);
                text_so_far.push('\n');
                for line in lines.by_ref() {
                    text_so_far.push_str(line);
                    text_so_far.push('\n');
                    if line.ends_with("*/") {
                        break;
                    }
                }
                continue;
            }
            if line.starts_with("#ifdef __cplusplus") {
                while lines.next().is_some_and(|line| !line.starts_with("#endif")) {}
                text_so_far.clear();
                continue;
            }
            let is_guard = line.starts_with("#ifndef WINDLASS_") && line.ends_with("_H");
            if line.starts_with("#if") && !is_guard {
                // Declarations under a condition stay together.
                let mut open = 0;
                let mut next = Some(line);
                while let Some(line) = next {
                    open += i32::from(line.starts_with("#if")) - i32::from(line.starts_with("#endif"));
                    text_so_far.push_str(line);
                    text_so_far.push('\n');
                    next = if open > 0 { lines.next() } else { None };
                }
                let text = text_so_far.trim_end().to_owned();
                items.push(Item { code: text.clone(), text });
                text_so_far.clear();
                continue;
            }
            let is_guard = is_guard || line.starts_with("#define WINDLASS_") && line.ends_with("_H");
            if line.is_empty() || line.starts_with("#endif") || line.starts_with("#undef") || is_guard {
                text_so_far.clear();
                continue;
            }
        }
        text_so_far.push_str(line);
        text_so_far.push('\n');
        if is_comment {
            continue;
        }
        let plain = line.split(" //").next().unwrap_or(line);
        code.push_str(plain);
        code.push('\n');
        depth += plain.matches(['{', '(']).count() as i32 - plain.matches(['}', ')']).count() as i32;
        let ends = if code.starts_with('#') {
            !line.ends_with('\\')
        } else {
            depth == 0
                && (line.ends_with(';')
                    || line.ends_with('}')
                    || line.starts_with("WINDLASS_") && line.ends_with(')'))
        };
        if ends {
            let text = text_so_far.trim_end().to_owned();
            items.push(Item { text, code: std::mem::take(&mut code) });
            text_so_far.clear();
            depth = 0;
        }
    }
    items
}

/// The names of this library in a text.
fn names(code: &str) -> impl Iterator<Item = &str> {
    let words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("windlass_") || word.starts_with("WINDLASS_"))
}

/// The name that an item declares.
fn declared(code: &str) -> Option<String> {
    let own = |name: &str| names(name).last().map(str::to_owned);
    if code.starts_with("#if") {
        return None;
    }
    if let Some(rest) = code.strip_prefix("#define ") {
        return own(rest.split_whitespace().next()?);
    }
    if let Some(rest) = code.strip_prefix("WINDLASS_INIT_(").or_else(|| code.strip_prefix("WINDLASS_ARG_(")) {
        return own(rest);
    }
    if code.starts_with("typedef") {
        if let Some(place) = code.find("(*windlass_") {
            return names(&code[place..]).next().map(str::to_owned);
        }
        return own(code);
    }
    own(code.split('(').next()?)
}

/// The pages so that each comes behind those that it includes, otherwise in their order; or a circle.
fn sorted(includes: &[BTreeSet<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < includes.len() {
        let ready = |index: &usize| {
            !order.contains(index) && includes[*index].iter().all(|needed| order.contains(needed))
        };
        match (0..includes.len()).find(ready) {
            Some(next) => order.push(next),
            None => return Err((0..includes.len()).filter(|index| !order.contains(index)).collect()),
        }
    }
    Ok(order)
}
