//! The program's own lock functions, as `raddle.toml` names them: each gets a function around it that tells the runtime.
//!
//! What such a function does inside is not looked at, as in all other engines: no check in its body, and none that counts in what it calls.
//! Calls through pointers reach the function around it too; calls from code without bitcode do not.

use crate::hooks::PREFIX;
use crate::llvm::{Builder, Module, Type, Value};

/// A function that acts on the lock which one of its arguments points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnLock {
    pub function: String,
    pub argument: u32,
    pub mode: Mode,
    pub does: Does,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Exclusive,
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    Acquire,
    Release,
    /// Returns at once; what it returns says whether it got the lock.
    Try(Success),
    /// Is one atomic section from beginning to end. It has no lock among its arguments, and what it does inside is looked at.
    Section,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    Zero,
    NonZero,
}

/// Writes the functions around those that the module has. What cannot be followed comes back as warnings.
pub(crate) fn surround(module: &Module, locks: &[OwnLock]) -> Vec<String> {
    let mut warnings = Vec::new();
    for lock in locks {
        let Some(function) = module.function(&lock.function) else { continue };
        let written = match lock.does {
            Does::Section => section(module, function, lock),
            Does::Acquire | Does::Release | Does::Try(_) => one(module, function, lock),
        };
        if let Err(why) = written {
            warnings.push(format!("the lock function `{}` of raddle.toml {why}", lock.function));
        }
    }
    warnings
}

fn one(module: &Module, function: Value, lock: &OwnLock) -> Result<(), &'static str> {
    let parameters = function.parameters();
    let Some(address) = parameters.get(lock.argument as usize).filter(|value| value.ty().is_plain_pointer())
    else {
        return Err("has no pointer where its lock should be");
    };
    let position = parameters.iter().position(|parameter| parameter == address).unwrap_or_default();
    if function.is_variadic() {
        return Err("takes a variable number of arguments, which is not followed");
    }
    if matches!(lock.does, Does::Try(_)) && function.result().int_width().is_none() {
        return Err("does not return a number that says whether it got the lock");
    }
    if !function.is_declaration() {
        for attribute in ["noinline", "disable_sanitizer_instrumentation"] {
            module.set_attribute(function, None, attribute, 0);
        }
        module.remove_attribute(function, "alwaysinline");
    }
    let around = module.stand_in(function, &format!("{PREFIX}own.{}", lock.function));
    let builder = Builder::new(module);
    let arguments = around.parameters();
    builder.at_end(module.add_block(around));
    let hook_with = |name: &str, result: Type, arguments: &[Value]| {
        let types: Vec<_> = arguments.iter().map(|argument| argument.ty()).collect();
        let function = module.declare(&format!("{PREFIX}own_{name}"), result, &types);
        module.set_attribute(function, None, "nounwind", 0);
        builder.call(function, arguments)
    };
    let hook = |name: &str, arguments: &[Value]| {
        hook_with(name, module.void(), arguments);
    };
    let address = arguments[position];
    let mode = builder.int32(u32::from(lock.mode == Mode::Shared));
    let does = builder.int32(match lock.does {
        Does::Acquire | Does::Section => 0,
        Does::Release => 1,
        Does::Try(_) => 2,
    });
    let depth = hook_with("begin", module.int(32), &[address, mode, does]);
    let result = builder.call(function, &arguments);
    hook("end", &[depth]);
    match lock.does {
        Does::Release | Does::Section => {}
        Does::Acquire => hook("acquired", &[address, mode]),
        Does::Try(success) => {
            let value = builder.sign_cast(result, module.int(64));
            let zero = builder.int32(u32::from(success == Success::Zero));
            hook("tried", &[address, mode, value, zero]);
        }
    }
    builder.ret(result);
    Ok(())
}

fn section(module: &Module, function: Value, lock: &OwnLock) -> Result<(), &'static str> {
    if function.is_variadic() {
        return Err("takes a variable number of arguments, which is not followed");
    }
    let around = module.stand_in(function, &format!("{PREFIX}own.{}", lock.function));
    let builder = Builder::new(module);
    builder.at_end(module.add_block(around));
    let enter = |enter: u32| {
        let flag = builder.int32(enter);
        let hook = module.declare(&format!("{PREFIX}section"), module.void(), &[flag.ty()]);
        builder.call(hook, &[flag]);
    };
    enter(1);
    let result = builder.call(function, &around.parameters());
    enter(0);
    builder.ret(result);
    Ok(())
}
