// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compilation by AMD's `libamd_comgr`, as AMD's hipRTC does it. It has clang, lld and the device libraries in itself.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::comgr_library::{BITCODE, EXECUTABLE, Library, OBJECT_FILE, Refused, SOURCE, library};
use super::unit::{Link, Made, Unit};
use crate::folder::Folder;
use crate::headers;
use crate::options::Options;
use crate::target::Target;

pub(crate) struct Comgr {
    library: &'static Library,
    /// Whether it has the device libraries. Debian has them in a package of their own.
    has_libraries: bool,
}

/// A unit that needs a device library.
const NEEDS_LIBRARIES: &str = "extern \"C\" __attribute__((device, const)) double __ocml_sin_f64(double);\n\
     extern \"C\" __attribute__((global)) void probe(double *x) { *x = __ocml_sin_f64(*x); }\n";

/// The library, if it is installed and knows the target.
pub(crate) fn find(target: &Target) -> Result<Comgr, String> {
    let library = library().map_err(str::to_owned)?;
    // It lists processors without their features.
    if library.knows(&format!("amdgcn-amd-amdhsa--{}", target.processor())) {
        /// Of each target that was asked for.
        static HAS_LIBRARIES: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
        let mut known = HAS_LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
        let comgr = Comgr { library, has_libraries: true };
        let has_libraries = *known.entry(target.id().to_owned()).or_insert_with(|| comgr.probe(target));
        Ok(Comgr { library, has_libraries })
    } else {
        Err(format!("the installed libamd_comgr does not know {}", target.processor()))
    }
}

impl Comgr {
    /// Whether a unit that needs the device libraries becomes code.
    fn probe(&self, target: &Target) -> bool {
        let options = Options::plain(target.clone());
        let unit = Unit {
            name: "probe.hip",
            source: NEEDS_LIBRARIES,
            headers: &[],
            options: &options,
            has_names: false,
            brings_new: false,
        };
        let probed = Folder::new().ok().map(|folder| self.try_compile(&unit, &folder, &mut String::new()));
        matches!(probed, Some(Ok(_)))
    }

    pub(super) fn compile(&self, unit: &Unit<'_>, messages: &mut String) -> Option<Made> {
        let folder = match Folder::new() {
            Ok(folder) => folder,
            Err(error) => {
                messages.push_str(&format!("error: a folder for the source: {error}\n"));
                return None;
            }
        };
        let mut log = String::new();
        let made = self.try_compile(unit, &folder, &mut log);
        messages.push_str(&folder.strip(&log));
        made.inspect_err(|reason| messages.push_str(&format!("error: {reason}\n"))).ok()
    }

    fn try_compile(&self, unit: &Unit<'_>, folder: &Folder, log: &mut String) -> Result<Made, String> {
        let failed = |error: std::io::Error| error.to_string();
        for (name, text) in unit.headers {
            folder.write_source(name, text.as_bytes()).map_err(failed)?;
        }
        let mut own = folder.sources().to_owned();
        for (name, text) in headers::all() {
            own = folder.write_own(name, text).map_err(failed)?;
        }
        let options = unit.options;
        let mut given: Vec<_> =
            ["-O3", "-Wno-missing-prototypes", "-Wno-gnu-line-marker", "-nogpuinc"].map(str::to_owned).into();
        given.extend(headers::DEFINITIONS.map(str::to_owned));
        // Its device libraries are for the version that it makes by itself, which is 4 or later.
        given.push(headers::code_object(options.code_object.unwrap_or(4)));
        if options.own_header {
            if !self.has_libraries {
                given.push(headers::WITHOUT_LIBRARIES.to_owned());
            }
            if unit.brings_new {
                given.push(headers::WITHOUT_NEW.to_owned());
            }
            let before_source = headers::before_source(&options.passed);
            folder.write_own(headers::BEFORE_SOURCE, &before_source).map_err(failed)?;
            given.extend(["-D__HIPCC_RTC__".to_owned(), "-I".to_owned()]);
            given.push(own.join(headers::SYSTEM).display().to_string());
            given.extend(["-include".to_owned(), own.join(headers::BEFORE_SOURCE).display().to_string()]);
        }
        given.extend(folder.names());
        given.extend(["-I".to_owned(), folder.sources().display().to_string()]);
        if options.bitcode {
            given.push("-fgpu-rdc".to_owned());
        }
        given.extend(options.passed.iter().cloned());
        if options.own_header {
            given.extend(["-idirafter".to_owned(), own.display().to_string()]);
        }
        let refused = |Refused| "libamd_comgr does not compile the source".to_owned();
        let numbers = self.library.numbers;
        let input = self.library.set().map_err(refused)?;
        input.add(SOURCE, unit.name, unit.source.as_bytes()).map_err(refused)?;
        let compiled = self
            .library
            .run(numbers.compile, &options.target.isa(), Some(numbers.hip), &given, &input, log)
            .map_err(refused)?;
        let bitcode = compiled.first(BITCODE).ok_or("libamd_comgr made no bitcode")?;
        let level = ["-O3".to_owned()];
        if !options.bitcode {
            let code = self.generate(&options.target, &[&bitcode], &level, true, log)?;
            return Ok(Made { code, bitcode: Vec::new() });
        }
        let code = match unit.has_names {
            true => self.generate(&options.target, &[&bitcode], &level, false, log)?,
            false => Vec::new(),
        };
        Ok(Made { code, bitcode })
    }

    /// Code of bitcode: a code object, or an object file that is not linked.
    fn generate(
        &self,
        target: &Target,
        bitcode: &[&[u8]],
        options: &[String],
        linked: bool,
        log: &mut String,
    ) -> Result<Vec<u8>, String> {
        let refused = |Refused| "libamd_comgr does not link the bitcode".to_owned();
        let (isa, numbers) = (target.isa(), self.library.numbers);
        let input = self.library.set().map_err(refused)?;
        for (index, bytes) in bitcode.iter().enumerate() {
            input.add(BITCODE, &format!("{index}.bc"), bytes).map_err(refused)?;
        }
        let joined = match bitcode.len() {
            1 => input,
            _ => self
                .library
                .run(numbers.link_bitcode, &isa, Some(numbers.hip), &[], &input, log)
                .map_err(refused)?,
        };
        let code =
            self.library.run(numbers.generate_code, &isa, None, options, &joined, log).map_err(refused)?;
        if !linked {
            return code.first(OBJECT_FILE).ok_or_else(|| "libamd_comgr made no object file".to_owned());
        }
        let code = self.library.run(numbers.link_code, &isa, None, &[], &code, log).map_err(refused)?;
        code.first(EXECUTABLE).ok_or_else(|| "libamd_comgr made no code".to_owned())
    }

    pub(super) fn link(&self, link: &Link<'_>, messages: &mut String) -> Option<Vec<u8>> {
        let bitcode: Vec<_> = link.bitcode.iter().map(Vec::as_slice).collect();
        let made = self.generate(link.target, &bitcode, link.options, true, messages);
        made.inspect_err(|reason| messages.push_str(&format!("error: {reason}\n"))).ok()
    }
}
