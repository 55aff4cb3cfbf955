//! Values that the environment chooses (`__VERIFIER_nondet_*`): which of them are tried, and whether they stand for all.
//!
//! [`ValueSource`] is the seam: a solver can take the place of [`Representatives`], the source that comes along. That one tries
//! all values of small types. Of larger ones, when the value is only compared with constants (after extensions at most), it tries the
//! constants, their neighbours and the ends of the type: between two neighbouring values of these no comparison changes its
//! answer, so every other value goes the way of one of them and all are covered. Otherwise it tries a few ends of the type,
//! constants that the function compares with and a random one, and says that this is not all. [`SmallFirst`] tries numbers of threads, tasks
//! and cells instead of those, for a search that is after races alone.
//!
//! Errs towards "not all": any use that is not a comparison, an extension or a switch counts as one that may tell any two values apart.

use raddle_base::{SiteId, StableHasher};
use raddle_ir::{Callee, CastOp, Function, FunctionId, Inst, Operand, Program, Reg, Terminator, Ty};
use raddle_libmodel::{Effect, Meaning, Models, VerifierOp};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// Says which values to try.
pub trait ValueSource: Debug + Send + Sync {
    /// Asked once for each call in the program, and for calls through pointers.
    fn values(&self, asked: &Asked<'_>) -> Values;
}

/// A call whose result is any value of an integer type.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub bits: u8,
    pub sign: Sign,
    /// Where, and the register of the result; `None` for a call through a pointer.
    pub call: Option<(&'a Function, SiteId, Option<Reg>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Signed,
    Unsigned,
}

/// What to try; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    pub tried: Vec<i128>,
    pub coverage: Coverage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Whatever can happen with any value happens with one of those tried.
    All,
    Some,
}

/// Ends, constants of the program, a random value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Representatives {
    pub seed: u64,
}

/// Like [`Representatives`]; but where its values do not stand for all, small numbers come first, then the constants of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmallFirst {
    constants: Vec<i128>,
}

impl SmallFirst {
    pub fn of(program: &Program) -> SmallFirst {
        let mut found: Vec<i128> = Vec::new();
        for constant in program.functions.values().flat_map(constants) {
            if !found.contains(&constant) {
                found.push(constant);
            }
        }
        SmallFirst { constants: found }
    }
}

/// Two first: most races need two threads, tasks or cells.
const SMALL: [i128; 6] = [2, 1, 3, 0, 4, 5];
/// So many constants of the program are tried after the small numbers.
const MORE_CONSTANTS: usize = 24;

impl ValueSource for SmallFirst {
    fn values(&self, asked: &Asked<'_>) -> Values {
        let values = Representatives::default().values(asked);
        if values.coverage == Coverage::All {
            return values;
        }
        let domain = Domain::new(asked.bits, asked.sign);
        let own = asked.call.map(|(function, ..)| constants(function)).unwrap_or_default();
        let near =
            own.iter().chain(&self.constants).flat_map(|constant| [*constant, constant + 1, constant - 1]);
        let mut tried: Vec<i128> = SMALL.to_vec();
        for value in near.filter(|value| domain.holds(*value)) {
            if !tried.contains(&value) && tried.len() < SMALL.len() + MORE_CONSTANTS {
                tried.push(value);
            }
        }
        for value in values.tried {
            if !tried.contains(&value) {
                tried.push(value);
            }
        }
        Values { tried, coverage: Coverage::Some }
    }
}

/// Types with so many values are tried whole.
const WHOLE: i128 = 16;
/// So many values may stand for all.
const CLASSES: usize = 64;
/// So many constants of the function are tried when the values do not stand for all.
const CONSTANTS: usize = 4;

impl ValueSource for Representatives {
    fn values(&self, asked: &Asked<'_>) -> Values {
        let domain = Domain::new(asked.bits, asked.sign);
        if domain.high - domain.low < WHOLE {
            return Values { tried: domain.zero_first().collect(), coverage: Coverage::All };
        }
        match asked.call {
            None => domain.some([], None),
            Some((_, _, None)) => Values { tried: vec![0], coverage: Coverage::All },
            Some((function, site, Some(result))) => {
                if let Some(tried) = compared_only(function, result, domain) {
                    return Values { tried, coverage: Coverage::All };
                }
                let mut random = StableHasher::new();
                random.word(self.seed);
                random.word(u64::from(site.0));
                let any = (random.finish128() >> 1) as i128;
                domain.some(constants(function), Some(any))
            }
        }
    }
}

/// What each direct call in the program tries.
pub(crate) fn of_calls(
    program: &Program,
    models: &Models,
    source: &dyn ValueSource,
) -> BTreeMap<SiteId, Values> {
    let mut found = BTreeMap::new();
    for function in program.functions.values() {
        for block in function.blocks.values() {
            for (index, inst) in block.insts.iter().enumerate() {
                let Inst::Call { dsts, callee: Callee::Direct(callee), .. } = inst else { continue };
                let Some((bits, sign)) = nondet(models, *callee) else { continue };
                let site = SiteId(block.first_site.0 + index as u32);
                let call = Some((function, site, dsts.first().copied()));
                found.insert(site, source.values(&Asked { bits, sign, call }));
            }
        }
    }
    found
}

fn nondet(models: &Models, callee: FunctionId) -> Option<(u8, Sign)> {
    match models.meanings.get(callee)? {
        Meaning::Effect(Effect::Verifier(VerifierOp::Nondet { bits, signed, boolean: false }), _) => {
            Some((*bits, if *signed { Sign::Signed } else { Sign::Unsigned }))
        }
        _ => None,
    }
}

#[derive(Clone, Copy)]
struct Domain {
    bits: u8,
    sign: Sign,
    low: i128,
    high: i128,
}

impl Domain {
    fn new(bits: u8, sign: Sign) -> Domain {
        let bits = bits.clamp(1, 126);
        let (low, high) = match sign {
            Sign::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            Sign::Unsigned => (0, (1i128 << bits) - 1),
        };
        Domain { bits, sign, low, high }
    }

    fn holds(&self, value: i128) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// All values, zero first.
    fn zero_first(self) -> impl Iterator<Item = i128> {
        (0..=self.high).chain((self.low..0).rev())
    }

    /// Where the sign changes, and the ends.
    fn ends(&self) -> Vec<i128> {
        match self.sign {
            Sign::Signed => vec![0, 1, -1, self.high, self.low],
            Sign::Unsigned => vec![0, 1, self.high, self.high / 2, self.high / 2 + 1],
        }
    }

    /// A few values that do not stand for all.
    fn some(&self, constants: impl IntoIterator<Item = i128>, random: Option<i128>) -> Values {
        let mut tried = self.ends();
        if self.sign == Sign::Unsigned {
            tried.truncate(3);
        }
        let constants = constants.into_iter().filter(|value| self.holds(*value));
        let random = random.map(|value| self.low + value.rem_euclid(self.high - self.low));
        for value in constants.take(CONSTANTS).chain(random) {
            if !tried.contains(&value) {
                tried.push(value);
            }
        }
        Values { tried, coverage: Coverage::Some }
    }

    /// The values at which a comparison of this width with this constant may change its answer, each with its neighbours.
    fn around(&self, constant: u128, width: u8, points: &mut BTreeSet<i128>) {
        let period = 1i128 << self.bits;
        let [unsigned, signed] = readings(constant, width);
        for point in [unsigned, signed, unsigned - period, signed + period] {
            points.extend([point - 1, point, point + 1].into_iter().filter(|value| self.holds(*value)));
        }
    }
}

/// A constant of this width as an unsigned and as a signed number.
fn readings(constant: u128, width: u8) -> [i128; 2] {
    let unsigned = constant as i128;
    let half = 1i128 << (width - 1);
    [unsigned, if unsigned >= half { unsigned - 2 * half } else { unsigned }]
}

/// Values that stand for all, if the register is only compared with constants.
fn compared_only(function: &Function, result: Reg, domain: Domain) -> Option<Vec<i128>> {
    let mut points: BTreeSet<i128> = domain.ends().into_iter().collect();
    let mut same = vec![result];
    let mut next = 0;
    while let Some(&reg) = same.get(next) {
        next += 1;
        let is = |operand: Operand| operand == Operand::Reg(reg);
        for block in function.blocks.values() {
            if block.phis.iter().any(|phi| phi.incoming.iter().any(|(_, operand)| is(*operand))) {
                return None;
            }
            for inst in &block.insts {
                let mut uses = false;
                inst.each_operand(|operand| uses |= is(operand));
                match inst {
                    _ if !uses => {}
                    Inst::Icmp { ty, a, b, .. } => {
                        let (width, constant) = (narrow(*ty)?, constant(*a, *b)?);
                        domain.around(constant, width, &mut points);
                    }
                    Inst::Cast { dst, op: CastOp::ZExt | CastOp::SExt, to, .. } => {
                        narrow(*to)?;
                        same.push(*dst);
                    }
                    Inst::Copy { dst, .. } => same.push(*dst),
                    _ => return None,
                }
            }
            let mut uses = false;
            block.terminator.each_operand(|operand| uses |= is(operand));
            match &block.terminator {
                _ if !uses => {}
                Terminator::Switch { ty, cases, .. } => {
                    let width = narrow(*ty)?;
                    for (constant, _) in cases {
                        domain.around(*constant, width, &mut points);
                    }
                }
                _ => return None,
            }
        }
    }
    let mut tried: Vec<i128> = points.into_iter().collect();
    // Small values first, as a person would try them.
    tried.sort_by_key(|value| (value.unsigned_abs(), *value < 0));
    (tried.len() <= CLASSES).then_some(tried)
}

/// The width of an integer type that leaves room for neighbours in 128 bits.
fn narrow(ty: Ty) -> Option<u8> {
    match ty {
        Ty::Int(width) if (1..=64).contains(&width) => Some(width),
        _ => None,
    }
}

fn constant(a: Operand, b: Operand) -> Option<u128> {
    match (a, b) {
        (Operand::Const(constant), Operand::Reg(_)) | (Operand::Reg(_), Operand::Const(constant)) => {
            Some(constant)
        }
        _ => None,
    }
}

/// What the function compares integers with, in order.
fn constants(function: &Function) -> Vec<i128> {
    let mut found = Vec::new();
    for block in function.blocks.values() {
        for inst in &block.insts {
            if let Inst::Icmp { ty, a, b, .. } = inst
                && let (Some(width), Some(constant)) = (narrow(*ty), constant(*a, *b))
            {
                found.extend(readings(constant, width));
            }
        }
        if let Terminator::Switch { ty, cases, .. } = &block.terminator
            && let Some(width) = narrow(*ty)
        {
            found.extend(cases.iter().flat_map(|(constant, _)| readings(*constant, width)));
        }
    }
    found
}
