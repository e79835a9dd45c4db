// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes `src/bindings.rs` and `src/entry_points.rs` from HIP's own headers.
//!
//! ```text
//! cargo run -p windlass-hip-sys --example regenerate -- HEADERS [--check]
//! ```
//!
//! `HEADERS` is an include folder with `hip/hip_runtime_api.h`, for example `/opt/rocm/include`. libclang must be
//! installed (`LIBCLANG_PATH` names its folder). With `--check` nothing is written: the exit code is 1 if a file
//! differs.

mod functions;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use quote::ToTokens;

use functions::{CONSTANTS, EXTRA_DECLARATIONS, FUNCTIONS};

fn main() -> Result<()> {
    let mut headers = None;
    let mut check = false;
    for argument in std::env::args_os().skip(1) {
        if argument == "--check" {
            check = true;
        } else if headers.replace(PathBuf::from(argument)).is_some() {
            bail!("one include folder is expected: regenerate HEADERS [--check]");
        }
    }
    let headers = headers.context("an include folder is expected: regenerate HEADERS [--check]")?;

    let origin = HeaderOrigin::read(&headers)?;
    let parsed = syn::parse_file(&bind(&headers)?).context("bindgen's output does not parse")?;
    let (types, declarations) = split(parsed);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let outputs = [
        (source.join("bindings.rs"), render_types(&origin, &types)),
        (source.join("entry_points.rs"), render_entry_points(&origin, &declarations)?),
    ];

    let mut stale = Vec::new();
    for (path, text) in outputs {
        if !check {
            std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        } else if std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?
            != text
        {
            stale.push(path.display().to_string());
        }
    }
    ensure!(
        stale.is_empty(),
        "{} would change by the headers of HIP {} in {}; run the example without --check",
        stale.join(" and "),
        origin.version,
        headers.display()
    );
    Ok(())
}

/// The origin of the headers, for the generated files.
struct HeaderOrigin {
    version: String,
    notice: Vec<String>,
}

impl HeaderOrigin {
    fn read(headers: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = headers.join("hip").join(name);
            std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
        };
        let text = read("hip_version.h")?;
        let number = |name: &str| {
            let rest = text.lines().find_map(|line| line.trim().strip_prefix("#define ")?.strip_prefix(name));
            rest.map(|value| value.trim().to_owned())
                .with_context(|| format!("hip_version.h does not define {name}"))
        };
        let version = format!(
            "{}.{}.{}",
            number("HIP_VERSION_MAJOR")?,
            number("HIP_VERSION_MINOR")?,
            number("HIP_VERSION_PATCH")?
        );
        let text = read("hip_runtime_api.h")?;
        let notice = text
            .strip_prefix("/*")
            .and_then(|rest| rest.split_once("*/"))
            .map(|(notice, _)| notice)
            .filter(|notice| notice.contains("Permission is hereby granted"))
            .context("hip_runtime_api.h does not begin with AMD's licence notice")?;
        Ok(Self { version, notice: notice.trim().lines().map(|line| line.trim_end().to_owned()).collect() })
    }

    fn preamble(&self) -> String {
        let mut text = String::from("// SPDX-License-Identifier: MIT\n");
        for line in &self.notice {
            text.push_str(format!("// {line}").trim_end());
            text.push('\n');
        }
        let _ = writeln!(
            text,
            "//\n// Generated from the headers of HIP {} by examples/regenerate: do not edit.",
            self.version
        );
        text
    }
}

fn bind(headers: &Path) -> Result<String> {
    let wrapper =
        format!("#include <hip/hip_runtime_api.h>\n#include <hip/hip_deprecated.h>\n{EXTRA_DECLARATIONS}");
    let mut builder = bindgen::Builder::default()
        .header_contents("windlass_hip.h", &wrapper)
        .clang_args(["-x", "c", "-std=c11", "-D__HIP_PLATFORM_AMD__", "--target=x86_64-unknown-linux-gnu"])
        .clang_arg(format!("-I{}", headers.display()))
        .allowlist_recursively(true)
        .default_enum_style(bindgen::EnumVariation::NewType { is_bitfield: false, is_global: false })
        .generate_comments(false)
        .derive_debug(true)
        .derive_default(true)
        .impl_debug(true)
        .layout_tests(true)
        .rust_target(bindgen::RustTarget::stable(88, 0).map_err(|error| anyhow::anyhow!("{error}"))?)
        .rust_edition(bindgen::RustEdition::Edition2024)
        .formatter(bindgen::Formatter::None);
    for name in FUNCTIONS.iter().flat_map(|(_, names)| names.iter()) {
        builder = builder.allowlist_function(format!("^{name}$"));
    }
    for pattern in CONSTANTS {
        builder = builder.allowlist_var(format!("^{pattern}$"));
    }
    let bindings = builder.generate().context("bindgen could not read HIP's headers")?.to_string();
    Ok(bindings.replace(":: std :: os :: raw :: ", ""))
}

type Declarations = BTreeMap<String, syn::Signature>;

/// Separates the function declarations from the types and constants.
fn split(file: syn::File) -> (syn::File, Declarations) {
    let mut declarations = Declarations::new();
    let mut types = syn::File { shebang: None, attrs: Vec::new(), items: Vec::new() };
    for item in file.items {
        match item {
            syn::Item::ForeignMod(block) => {
                for item in block.items {
                    if let syn::ForeignItem::Fn(function) = item {
                        declarations.insert(function.sig.ident.to_string(), function.sig);
                    }
                }
            }
            item => types.items.push(item),
        }
    }
    (types, declarations)
}

/// C's types by their bare names, so that declarations stay readable and a glob import of the bindings suffices.
const C_TYPES: &str =
    "pub use core::ffi::{c_char, c_int, c_longlong, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};";

fn render_types(origin: &HeaderOrigin, types: &syn::File) -> String {
    let mut text = origin.preamble();
    text.push_str("//! HIP's types and constants, as its headers spell them.\n\n");
    let _ = writeln!(text, "{C_TYPES}\n\n{}", prettyplease::unparse(types));
    text.push_str("/// The status codes with their names, ascending.\n");
    text.push_str("pub(crate) const STATUS_NAMES: &[(hipError_t, &core::ffi::CStr)] = &[\n");
    for (value, name) in status_names(types) {
        let _ = writeln!(text, "    (hipError_t({value}), c\"{name}\"),");
    }
    text.push_str("];\n");
    text
}

/// Each status code under the first name that the header gives it; later names of the same value are old spellings.
fn status_names(types: &syn::File) -> BTreeMap<u32, String> {
    let mut names = BTreeMap::new();
    let blocks = types.items.iter().filter_map(|item| match item {
        syn::Item::Impl(block) if block.trait_.is_none() => Some(block),
        _ => None,
    });
    for constant in blocks.flat_map(|block| &block.items).filter_map(|item| match item {
        syn::ImplItem::Const(constant) if constant.ty.to_token_stream().to_string() == "hipError_t" => {
            Some(constant)
        }
        _ => None,
    }) {
        // The last enumerator is a sentinel, which moves from version to version.
        if let (syn::Expr::Call(call), false) = (&constant.expr, constant.ident == "hipErrorTbd")
            && let Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(value), .. })) = call.args.first()
            && let Ok(value) = value.base10_parse()
        {
            names.entry(value).or_insert_with(|| constant.ident.to_string());
        }
    }
    names
}

/// Writes the declarations as one macro, so that the table, its methods, and code that exports or counts entry points
/// expand the same list.
fn render_entry_points(origin: &HeaderOrigin, declarations: &Declarations) -> Result<String> {
    let mut text = origin.preamble();
    text.push_str(
        "//! HIP's function declarations, as one list.\n\
         \n\
         /// Hands every declaration of the table to the macro `$expand`, as `fn name(parameter: type, ...) -> type;`.\n\
         ///\n\
         /// The types are spelled as in [`bindings`](crate::bindings), which the caller must have in scope. The order is\n\
         /// that of [`EntryPoints`](crate::EntryPoints).\n\
         #[macro_export]\n\
         macro_rules! for_each_entry_point {\n    \
         ($expand:path) => {\n        \
         $expand! {\n",
    );
    for (theme, names) in FUNCTIONS {
        let _ = writeln!(text, "            // {theme}");
        for name in *names {
            let signature =
                declarations.get(*name).with_context(|| format!("the headers do not declare {name}"))?;
            ensure!(signature.variadic.is_none(), "{name} is variadic, which the table cannot hold");
            let _ = writeln!(text, "            {}", render_declaration(signature));
        }
    }
    text.push_str("        }\n    };\n}\n");
    Ok(text)
}

fn render_declaration(signature: &syn::Signature) -> String {
    let parameters: Vec<_> = signature
        .inputs
        .iter()
        .filter_map(|input| match input {
            syn::FnArg::Typed(parameter) => {
                Some(format!("{}: {}", parameter.pat.to_token_stream(), render_type(&parameter.ty)))
            }
            syn::FnArg::Receiver(_) => None,
        })
        .collect();
    let result = match &signature.output {
        syn::ReturnType::Default => "()".to_owned(),
        syn::ReturnType::Type(_, ty) => render_type(ty),
    };
    format!("fn {}({}) -> {result};", signature.ident, parameters.join(", "))
}

fn render_type(ty: &syn::Type) -> String {
    match ty {
        syn::Type::Ptr(pointer) => {
            let mutability = if pointer.mutability.is_some() { "mut" } else { "const" };
            format!("*{mutability} {}", render_type(&pointer.elem))
        }
        other => other.to_token_stream().to_string().replace(" :: ", "::"),
    }
}
