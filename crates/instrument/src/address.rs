//! Addresses in a common form, so that equal ones are seen to be equal: a root, plus a constant number of bytes.
//!
//! No pass has merged equal computations yet (it would merge racy reads, too), so they are numbered here: a pure operation is known
//! by its kind and the numbers of its operands. A root is a base and scaled indices; two addresses with one root differ by a constant.

use std::collections::HashMap;

use inkwell::llvm_sys::LLVMOpcode;

use crate::llvm::{Module, Type, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Number(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Root(pub(crate) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) root: Root,
    pub(crate) offset: i64,
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Leaf(Value),
    Operation(u32, Type, Option<Type>, Vec<Number>),
}

type Terms = Vec<(Number, i64)>;

pub(crate) struct Addresses<'a> {
    module: &'a Module,
    numbers: HashMap<Key, Number>,
    known: HashMap<Value, Number>,
    roots: HashMap<(Number, Terms), Root>,
}

/// One summand of an address.
pub(crate) enum Summand {
    Bytes(i64),
    /// An index, and the bytes that one of it stands for.
    Index(Value, i64),
}

/// The summands of a `getelementptr`, instruction or constant; `None` for what is not understood.
pub(crate) fn summands(module: &Module, gep: Value) -> Option<Vec<Summand>> {
    let source = gep.gep_source()?;
    let mut list = Vec::new();
    let mut ty = source;
    for position in 1..gep.operand_count() {
        let index = gep.operand(position)?;
        let scale = if position == 1 {
            module.stride(source)?
        } else if ty.is_struct() {
            let field = u32::try_from(index.int_signed()?).ok()?;
            list.push(Summand::Bytes(module.field_offset(ty, field)? as i64));
            ty = ty.field(field)?;
            continue;
        } else {
            ty = ty.element()?;
            module.stride(ty)?
        };
        let scale = i64::try_from(scale).ok()?;
        list.push(match index.int_signed() {
            Some(constant) => Summand::Bytes(constant.wrapping_mul(scale)),
            None => {
                index.ty().int_width()?;
                Summand::Index(index, scale)
            }
        });
    }
    Some(list)
}

const DEEPEST: u32 = 64;

impl<'a> Addresses<'a> {
    pub(crate) fn new(module: &'a Module) -> Self {
        Self { module, numbers: HashMap::new(), known: HashMap::new(), roots: HashMap::new() }
    }

    pub(crate) fn of(&mut self, pointer: Value) -> Address {
        let (mut base, mut offset, mut terms) = (pointer, 0i64, Vec::new());
        for _ in 0..DEEPEST {
            let cast = [base.opcode(), base.constant_opcode()].contains(&Some(LLVMOpcode::LLVMBitCast));
            if cast && let Some(inner) = base.operand(0) {
                base = inner;
                continue;
            }
            let Some(list) = summands(self.module, base) else { break };
            let Some(inner) = base.operand(0) else { break };
            for summand in list {
                match summand {
                    Summand::Bytes(bytes) => offset = offset.wrapping_add(bytes),
                    Summand::Index(index, scale) => {
                        let (index, more) = without_constant(index);
                        offset = offset.wrapping_add(more.wrapping_mul(scale));
                        terms.push((self.number(index, 0), scale));
                    }
                }
            }
            base = inner;
        }
        terms.sort_unstable();
        let base = self.number(base, 0);
        let next = Root(self.roots.len() as u32);
        let root = *self.roots.entry((base, terms)).or_insert(next);
        Address { root, offset }
    }

    fn number(&mut self, value: Value, depth: u32) -> Number {
        if let Some(number) = self.known.get(&value) {
            return *number;
        }
        let key = match value.opcode() {
            Some(opcode) if depth < DEEPEST && is_pure(opcode) => {
                let operands = (0..value.operand_count())
                    .filter_map(|index| value.operand(index))
                    .map(|operand| self.number(operand, depth + 1))
                    .collect();
                Key::Operation(opcode as u32, value.ty(), value.gep_source(), operands)
            }
            _ => Key::Leaf(value),
        };
        let next = Number(self.numbers.len() as u32);
        let number = *self.numbers.entry(key).or_insert(next);
        self.known.insert(value, number);
        number
    }
}

/// Operations without flags that distinguish them: equal operands give equal results.
fn is_pure(opcode: LLVMOpcode) -> bool {
    matches!(
        opcode,
        LLVMOpcode::LLVMAdd
            | LLVMOpcode::LLVMSub
            | LLVMOpcode::LLVMMul
            | LLVMOpcode::LLVMShl
            | LLVMOpcode::LLVMAnd
            | LLVMOpcode::LLVMOr
            | LLVMOpcode::LLVMXor
            | LLVMOpcode::LLVMSExt
            | LLVMOpcode::LLVMZExt
            | LLVMOpcode::LLVMTrunc
            | LLVMOpcode::LLVMGetElementPtr
            | LLVMOpcode::LLVMPtrToInt
            | LLVMOpcode::LLVMIntToPtr
            | LLVMOpcode::LLVMSelect
    )
}

/// `x + c` as `x` and `c`, where the sum is of the width of an address.
fn without_constant(index: Value) -> (Value, i64) {
    if index.ty().int_width() == Some(64)
        && index.is(LLVMOpcode::LLVMAdd)
        && let (Some(a), Some(c)) = (index.operand(0), index.operand(1).and_then(Value::int_signed))
    {
        return (a, c);
    }
    (index, 0)
}
