//! The file's text to values. The table is walked by hand rather than derived, so that every message has a line and, for a
//! misspelt word, the nearest right one.

use crate::suggest::nearest;
use crate::{Config, External, LockFunctions, LockMode, Suppression, TrySuccess};
use std::ops::Range;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("{}: cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{}: is not UTF-8 text", path.display())]
    NotText { path: PathBuf },
    #[error("{}line {line}: {message}", file_prefix(path))]
    Invalid { path: Option<PathBuf>, line: usize, message: String },
}

impl ConfigError {
    /// Line in the file, from 1, where the mistake is.
    pub fn line(&self) -> Option<usize> {
        match self {
            ConfigError::Invalid { line, .. } => Some(*line),
            ConfigError::Read { .. } | ConfigError::NotText { .. } => None,
        }
    }

    pub(crate) fn in_file(self, file: &Path) -> ConfigError {
        match self {
            ConfigError::Invalid { line, message, .. } => {
                ConfigError::Invalid { path: Some(file.to_owned()), line, message }
            }
            other => other,
        }
    }
}

pub(crate) fn parse(text: &str) -> Result<Config, ConfigError> {
    let reader = Reader { text };
    let table = DeTable::parse(text)
        .map_err(|error| reader.error(error.span().unwrap_or(0..0), error.message().to_owned()))?;
    reader.config(table.get_ref())
}

const TOP_KEYS: &[&str] = &["lock", "ignore", "entries", "extern", "suppress"];
const SUPPRESS_KEYS: &[&str] = &["function", "file", "variable"];
const LOCK_KEYS: &[&str] = &["acquire", "release", "try", "try_success", "argument", "mode"];
const MODES: &[&str] = &["exclusive", "shared"];
const EXTERNALS: &[&str] = &["open", "pure"];
const SUCCESSES: &[&str] = &["zero", "non-zero"];

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn config(&self, table: &DeTable<'_>) -> Result<Config, ConfigError> {
        let mut config = Config::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "lock" => config.locks = self.locks(value)?,
                "ignore" => config.ignore = self.functions(value)?,
                "entries" => config.entries = self.functions(value)?,
                "extern" => config.external = self.external(value)?,
                "suppress" => config.suppressions = self.suppressions(value)?,
                other => return Err(self.unknown_key(key.span(), other, TOP_KEYS)),
            }
        }
        Ok(config)
    }

    fn locks(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<LockFunctions>, ConfigError> {
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.error(value.span(), "`lock` is a list of tables: write `[[lock]]`".into()));
        };
        let mut locks: Vec<LockFunctions> = Vec::new();
        for item in items {
            let lock = self.lock(item)?;
            for (index, name) in lock.functions().enumerate() {
                let named_before = locks.iter().any(|other| other.functions().any(|other| other == name))
                    || lock.functions().take(index).any(|other| other == name);
                if named_before {
                    return Err(self.error(item.span(), format!("the function `{name}` is named twice")));
                }
            }
            locks.push(lock);
        }
        Ok(locks)
    }

    fn lock(&self, value: &Spanned<DeValue<'_>>) -> Result<LockFunctions, ConfigError> {
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.error(value.span(), "`lock` is a list of tables: write `[[lock]]`".into()));
        };
        let mut lock = LockFunctions {
            acquire: None,
            release: None,
            try_acquire: None,
            try_success: TrySuccess::NonZero,
            argument: 0,
            mode: LockMode::Exclusive,
        };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "acquire" => lock.acquire = Some(self.function(value)?),
                "release" => lock.release = Some(self.function(value)?),
                "try" => lock.try_acquire = Some(self.function(value)?),
                "try_success" => lock.try_success = self.success(value)?,
                "argument" => lock.argument = self.argument(value)?,
                "mode" => lock.mode = self.mode(value)?,
                other => return Err(self.unknown_key(key.span(), other, LOCK_KEYS)),
            }
        }
        if lock.acquire.is_none() && lock.release.is_none() {
            return Err(self.error(value.span(), "a `[[lock]]` needs `acquire` or `release`".into()));
        }
        Ok(lock)
    }

    fn suppressions(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<Suppression>, ConfigError> {
        const FORM: &str = "`suppress` is a list of tables: write `[[suppress]]`";
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.error(value.span(), FORM.into()));
        };
        let one = |item: &Spanned<DeValue<'_>>| {
            let DeValue::Table(table) = item.get_ref() else {
                return Err(self.error(item.span(), FORM.into()));
            };
            let mut suppression = Suppression::default();
            for (key, value) in table {
                let pattern = Some(self.string(value)?.to_owned());
                match key.get_ref().as_ref() {
                    "function" => suppression.function = pattern,
                    "file" => suppression.file = pattern,
                    "variable" => suppression.variable = pattern,
                    other => return Err(self.unknown_key(key.span(), other, SUPPRESS_KEYS)),
                }
            }
            if suppression == Suppression::default() {
                let what = "a `[[suppress]]` needs `function`, `file` or `variable`";
                return Err(self.error(item.span(), what.into()));
            }
            Ok(suppression)
        };
        items.iter().map(one).collect()
    }

    fn functions(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, ConfigError> {
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.error(value.span(), "a list of function names is expected here".into()));
        };
        items.iter().map(|item| self.function(item)).collect()
    }

    fn function(&self, value: &Spanned<DeValue<'_>>) -> Result<String, ConfigError> {
        let name = self.string(value)?;
        let is_start = |c: char| c.is_alphabetic() || c == '_' || c == '$';
        let is_name = name.starts_with(is_start) && name.chars().all(|c| is_start(c) || c.is_numeric());
        if !is_name {
            return Err(self.error(value.span(), format!("`{name}` is not the name of a C function")));
        }
        Ok(name.to_owned())
    }

    fn argument(&self, value: &Spanned<DeValue<'_>>) -> Result<u8, ConfigError> {
        let position = match value.get_ref() {
            DeValue::Integer(number) => u8::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        position.ok_or_else(|| {
            self.error(value.span(), "`argument` is a position from 0 to 255; 0 is the first argument".into())
        })
    }

    fn mode(&self, value: &Spanned<DeValue<'_>>) -> Result<LockMode, ConfigError> {
        match self.string(value)? {
            "exclusive" => Ok(LockMode::Exclusive),
            "shared" => Ok(LockMode::Shared),
            other => Err(self.unknown_value(value.span(), "mode", other, MODES)),
        }
    }

    fn external(&self, value: &Spanned<DeValue<'_>>) -> Result<External, ConfigError> {
        let name = self.string(value)?;
        External::named(name).ok_or_else(|| self.unknown_value(value.span(), "extern", name, EXTERNALS))
    }

    fn success(&self, value: &Spanned<DeValue<'_>>) -> Result<TrySuccess, ConfigError> {
        match self.string(value)? {
            "zero" => Ok(TrySuccess::Zero),
            "non-zero" => Ok(TrySuccess::NonZero),
            other => Err(self.unknown_value(value.span(), "try_success", other, SUCCESSES)),
        }
    }

    fn string<'v>(&self, value: &'v Spanned<DeValue<'_>>) -> Result<&'v str, ConfigError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.as_ref()),
            _ => Err(self.error(value.span(), "a string in quotes is expected here".into())),
        }
    }

    fn unknown_key(&self, span: Range<usize>, key: &str, known: &[&str]) -> ConfigError {
        self.error(span, format!("unknown key `{key}`{}", expected(key, known)))
    }

    fn unknown_value(&self, span: Range<usize>, key: &str, value: &str, known: &[&str]) -> ConfigError {
        self.error(span, format!("`{key}` cannot be `{value}`{}", expected(value, known)))
    }

    fn error(&self, span: Range<usize>, message: String) -> ConfigError {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        ConfigError::Invalid { path: None, line, message }
    }
}

impl LockFunctions {
    fn functions(&self) -> impl Iterator<Item = &str> {
        [&self.acquire, &self.release, &self.try_acquire].into_iter().filter_map(Option::as_deref)
    }
}

fn expected(word: &str, known: &[&str]) -> String {
    match nearest(word, known) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; known: {}", known.join(", ")),
    }
}

fn file_prefix(path: &Option<PathBuf>) -> String {
    path.as_ref().map(|path| format!("{}: ", path.display())).unwrap_or_default()
}
