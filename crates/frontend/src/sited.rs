//! Links units of one program and marks every LLVM instruction with its site: what instrumentation starts from.
//!
//! The program is lowered from the very bytes that are handed out as [`Sited::bitcode`], so whoever loads them later gets the same
//! site ids. Marks are metadata of the kind [`SITE_KIND`]; an instruction without one is no access and no call in the program.

use std::path::PathBuf;

use raddle_ir::{DataModel, Program};

use crate::llvm::{Module, new_context};
use crate::lower::{SourceNames, lower_with_origins};
use crate::{FrontendError, Release, Request, bitcode, compile, inputs};

/// The kind of metadata that holds a site id: `!{i32 id}`.
pub const SITE_KIND: &str = "raddle.site";

/// Bitcode of one translation unit.
#[derive(Clone, Copy, Debug)]
pub struct SitedUnit<'a> {
    pub source: &'a str,
    pub bitcode: &'a [u8],
}

#[derive(Debug)]
pub struct Sited {
    pub program: Program,
    /// The linked program as it was given.
    pub bitcode: Vec<u8>,
    /// The same after mem2reg, with marks.
    pub marked: Vec<u8>,
    pub warnings: Vec<String>,
    pub release: Release,
}

/// The program that [`crate::load`] makes of the request, with the same site ids, marked. 64-bit programs only.
pub fn load_sited(request: &Request) -> Result<Sited, FrontendError> {
    let plan = inputs::plan(request)?;
    let compiled = compile::compile(&plan, request)?;
    let context = new_context();
    let bitcode::Linked { module, data_model, warnings: linking, withheld } =
        bitcode::link(&context, &compiled, request)?;
    if data_model != DataModel::Lp64 {
        let path = request.inputs.first().cloned().unwrap_or_default();
        return Err(FrontendError::DataModel { path, found: data_model, wanted: DataModel::Lp64 });
    }
    let names = SourceNames {
        working_directory: std::env::current_dir().unwrap_or_default(),
        primary: compiled.primary_sources(),
        withheld,
    };
    let bitcode = module.write();
    let (program, more, origins) = lower_with_origins(&module, data_model, names);
    let sites: Vec<_> = origins.into_iter().map(|(inst, site)| (inst, site.0)).collect();
    module.attach(SITE_KIND, &sites);
    let marked = module.write();
    module.leave_to_context();
    let warnings = compiled.warnings.into_iter().chain(linking).chain(more).collect();
    Ok(Sited { program, bitcode, marked, warnings, release: Release::of(context) })
}

/// Links 64-bit units; their order decides the site ids.
pub fn link_sited(units: &[SitedUnit<'_>]) -> Result<Sited, FrontendError> {
    let context = new_context();
    let mut linked: Option<(PathBuf, Module<'_>)> = None;
    for unit in units {
        let path = PathBuf::from(unit.source);
        let problem = |message| FrontendError::Bitcode { path: path.clone(), message };
        let mut module = Module::read_bytes(&context, unit.bitcode).map_err(problem)?;
        if module.verify().is_err() {
            module.strip();
            module.verify().map_err(problem)?;
        }
        match bitcode::data_model(&module) {
            Some(DataModel::Lp64) => {}
            Some(found) => {
                return Err(FrontendError::DataModel { path, found, wanted: DataModel::Lp64 });
            }
            None => return Err(FrontendError::ForeignTarget { path, triple: module.triple() }),
        }
        match &mut linked {
            None => linked = Some((path, module)),
            Some((first, whole)) => {
                if whole.layout_text() != module.layout_text() {
                    return Err(FrontendError::MixedTargets { first: first.clone(), second: path });
                }
                whole.link(module).map_err(|message| FrontendError::Link { path, message })?;
            }
        }
    }
    let (path, whole) = linked.ok_or(FrontendError::NoInputs)?;
    let bitcode = whole.write();
    drop(whole);
    let mut module =
        Module::read_bytes(&context, &bitcode).map_err(|message| FrontendError::Bitcode { path, message })?;
    module.promote_locals().map_err(|reason| FrontendError::Tool { what: "mem2reg".to_owned(), reason })?;
    let names = SourceNames {
        working_directory: std::env::current_dir().unwrap_or_default(),
        ..SourceNames::default()
    };
    let (program, warnings, origins) = lower_with_origins(&module, DataModel::Lp64, names);
    let sites: Vec<_> = origins.into_iter().map(|(inst, site)| (inst, site.0)).collect();
    module.attach(SITE_KIND, &sites);
    let marked = module.write();
    module.leave_to_context();
    Ok(Sited { program, bitcode, marked, warnings, release: Release::of(context) })
}
