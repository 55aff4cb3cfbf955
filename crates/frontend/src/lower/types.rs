//! LLVM types as lists of scalar pieces.

use std::collections::HashMap;
use std::rc::Rc;

use raddle_ir::{FloatTy, Ty};

use super::Lowered;
use crate::llvm::{Layout, Type, TypeKind};

/// One scalar of a value, and where it lies when the value is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) ty: Ty,
    pub(super) offset: u64,
}

/// A first-class aggregate with more pieces than this is refused: nobody writes one, and each piece is a register.
const MOST_PIECES: usize = 1024;

pub(super) struct Types<'m> {
    pub(super) layout: Layout<'m>,
    pieces: HashMap<Type<'m>, Lowered<Rc<[Piece]>>>,
}

impl<'m> Types<'m> {
    pub(super) fn new(layout: Layout<'m>) -> Self {
        Self { layout, pieces: HashMap::new() }
    }

    pub(super) fn pieces(&mut self, ty: Type<'m>) -> Lowered<Rc<[Piece]>> {
        if let Some(known) = self.pieces.get(&ty) {
            return known.clone();
        }
        let mut list = Vec::new();
        let result = self.flatten(ty, 0, &mut list).map(|()| Rc::from(list));
        self.pieces.insert(ty, result.clone());
        result
    }

    /// The type of a scalar; refuses vectors and aggregates.
    pub(super) fn scalar(&self, ty: Type<'m>) -> Lowered<Ty> {
        scalar_type(ty.kind()).ok_or_else(|| refusal(ty.kind()))
    }

    /// Whether the elements of a vector do not lie on byte boundaries (`<8 x i1>`).
    pub(super) fn is_bit_packed(&self, ty: Type<'m>) -> bool {
        match (ty.kind(), ty.element()) {
            (TypeKind::Vector(_), Some(element)) => !self.layout.bits(element).is_multiple_of(8),
            _ => false,
        }
    }

    fn flatten(&self, ty: Type<'m>, offset: u64, list: &mut Vec<Piece>) -> Lowered<()> {
        if list.len() > MOST_PIECES {
            return Err("aggregate value with too many parts".to_owned());
        }
        match ty.kind() {
            TypeKind::Void => {}
            TypeKind::Struct => {
                for (index, field) in ty.fields().into_iter().enumerate() {
                    let inner = self
                        .layout
                        .field_offset(ty, index as u32)
                        .ok_or_else(|| "struct without a layout".to_owned())?;
                    self.flatten(field, offset + inner, list)?;
                }
            }
            TypeKind::Array(count) => {
                let element = ty.element().ok_or_else(|| refusal(ty.kind()))?;
                let stride = self.layout.size(element);
                for index in 0..count {
                    self.flatten(element, offset + index * stride, list)?;
                    if list.is_empty() {
                        break;
                    }
                }
            }
            TypeKind::Vector(count) => {
                let element = ty.element().ok_or_else(|| refusal(ty.kind()))?;
                let bits = self.layout.bits(element);
                for index in 0..u64::from(count) {
                    list.push(Piece { ty: self.scalar(element)?, offset: offset + index * bits / 8 });
                }
            }
            kind => list.push(Piece { ty: scalar_type(kind).ok_or_else(|| refusal(kind))?, offset }),
        }
        Ok(())
    }
}

pub(super) fn mask(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// Bits of a scalar in a register.
pub(super) fn scalar_bits(ty: Ty, pointer_bytes: u32) -> u32 {
    match ty {
        Ty::Int(bits) => u32::from(bits),
        Ty::Float(float) => float.access_bytes() * 8,
        Ty::Ptr => pointer_bytes * 8,
    }
}

fn scalar_type(kind: TypeKind) -> Option<Ty> {
    Some(match kind {
        TypeKind::Integer(width @ 1..=128) => Ty::Int(width as u8),
        TypeKind::Half => Ty::Float(FloatTy::F16),
        TypeKind::BFloat => Ty::Float(FloatTy::BF16),
        TypeKind::Float => Ty::Float(FloatTy::F32),
        TypeKind::Double => Ty::Float(FloatTy::F64),
        TypeKind::X86Fp80 => Ty::Float(FloatTy::F80),
        TypeKind::Fp128 => Ty::Float(FloatTy::F128),
        TypeKind::Pointer(0) => Ty::Ptr,
        _ => return None,
    })
}

fn refusal(kind: TypeKind) -> String {
    match kind {
        TypeKind::Integer(_) => "integer wider than 128 bits".to_owned(),
        TypeKind::Pointer(_) => "pointer into another address space".to_owned(),
        TypeKind::Other(name) => format!("type {name}"),
        TypeKind::Vector(_) => "vector where a scalar is expected".to_owned(),
        TypeKind::Struct | TypeKind::Array(_) => "aggregate where a scalar is expected".to_owned(),
        _ => "type without values".to_owned(),
    }
}
