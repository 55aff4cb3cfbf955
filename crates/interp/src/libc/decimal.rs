//! Exact decimal expansion of binary floating-point numbers, and rounding of it to any number of digits, half to even, as glibc
//! prints them.

/// `0.d1 d2 d3 … × 10^exponent`, without leading or trailing zero digits; zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: Vec<u8>,
    exponent: i64,
}

const CHUNK: u32 = 1_000_000_000;
const CHUNK_DIGITS: usize = 9;

impl Decimal {
    /// `mantissa × 2^power`, exactly.
    pub(super) fn from_binary(mantissa: u64, power: i32) -> Decimal {
        if mantissa == 0 {
            return Decimal { digits: Vec::new(), exponent: 0 };
        }
        // Few factors of two left: short numbers stay short.
        let zeros = mantissa.trailing_zeros();
        let (mantissa, power) = (mantissa >> zeros, power + zeros as i32);
        let mut big = Big::new(mantissa);
        let fives = u32::try_from(-i64::from(power)).unwrap_or(0);
        if power > 0 {
            big.multiply_by_power(2, power as u32);
        } else {
            // m / 2^k = m · 5^k / 10^k
            big.multiply_by_power(5, fives);
        }
        let digits = big.into_digits();
        let exponent = digits.len() as i64 - i64::from(fives);
        let mut decimal = Decimal { digits, exponent };
        decimal.trim();
        decimal
    }

    /// The power of ten of the first digit; 0 for zero.
    pub(super) fn magnitude(&self) -> i64 {
        if self.digits.is_empty() { 0 } else { self.exponent - 1 }
    }

    /// Rounded to that many digits behind the point.
    pub(super) fn rounded_behind_point(mut self, places: usize) -> Decimal {
        self.round(self.exponent.saturating_add(places as i64));
        self
    }

    /// Rounded to that many digits in all.
    pub(super) fn rounded_to_digits(mut self, count: usize) -> Decimal {
        self.round(count as i64);
        self
    }

    /// Digits before the point, at least one.
    pub(super) fn integer_part(&self) -> String {
        if self.exponent <= 0 || self.digits.is_empty() {
            return "0".to_owned();
        }
        (0..self.exponent as usize).map(|index| self.digit(index)).collect()
    }

    /// The first digits behind the point.
    pub(super) fn fraction_part(&self, places: usize) -> String {
        (0..places as i64).map(|place| self.exponent + place).map(|at| self.digit_at(at)).collect()
    }

    /// The first digits, from the first that is not zero.
    pub(super) fn leading_digits(&self, count: usize) -> String {
        (0..count).map(|index| self.digit(index)).collect()
    }

    /// Number of digits that are not trailing zeros.
    pub(super) fn len(&self) -> usize {
        self.digits.len()
    }

    fn digit(&self, index: usize) -> char {
        char::from(b'0' + self.digits.get(index).copied().unwrap_or(0))
    }

    fn digit_at(&self, index: i64) -> char {
        usize::try_from(index).map_or('0', |index| self.digit(index))
    }

    /// Keeps the first `keep` digits (none if negative), rounding half to even.
    fn round(&mut self, keep: i64) {
        if keep >= self.digits.len() as i64 {
            return;
        }
        if keep < 0 {
            self.digits.clear();
            self.exponent = 0;
            return;
        }
        let keep = keep as usize;
        let rest = self.digits.split_off(keep);
        let above_half = rest[0] > 5 || (rest[0] == 5 && rest[1..].iter().any(|digit| *digit != 0));
        let odd = self.digits.last().is_some_and(|digit| digit % 2 == 1);
        if above_half || (rest[0] == 5 && odd) {
            self.increment();
        }
        self.trim();
    }

    /// Adds one to the last digit kept.
    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.exponent += 1;
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.exponent = 0;
        }
    }
}

/// A natural number in chunks of nine decimal digits, lowest first.
struct Big {
    chunks: Vec<u32>,
}

impl Big {
    fn new(mut value: u64) -> Big {
        let mut chunks = Vec::new();
        while value > 0 {
            chunks.push((value % u64::from(CHUNK)) as u32);
            value /= u64::from(CHUNK);
        }
        Big { chunks }
    }

    fn multiply_by_power(&mut self, base: u32, mut power: u32) {
        // The largest power of the base below 2^32.
        let (step, per_step) = match base {
            2 => (1 << 31, 31),
            _ => (5u32.pow(13), 13),
        };
        while power >= per_step {
            self.multiply(step);
            power -= per_step;
        }
        self.multiply(base.pow(power));
    }

    fn multiply(&mut self, factor: u32) {
        let mut carry = 0;
        for chunk in &mut self.chunks {
            let product = u64::from(*chunk) * u64::from(factor) + carry;
            *chunk = (product % u64::from(CHUNK)) as u32;
            carry = product / u64::from(CHUNK);
        }
        while carry > 0 {
            self.chunks.push((carry % u64::from(CHUNK)) as u32);
            carry /= u64::from(CHUNK);
        }
    }

    /// Decimal digits, highest first, no leading zeros.
    fn into_digits(self) -> Vec<u8> {
        let mut digits = Vec::with_capacity(self.chunks.len() * CHUNK_DIGITS);
        for mut chunk in self.chunks {
            for _ in 0..CHUNK_DIGITS {
                digits.push((chunk % 10) as u8);
                chunk /= 10;
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        digits.reverse();
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn expansions_are_exact() {
        let tenth = Decimal::from_binary(0x0019_9999_9999_999a, -56);
        assert_eq!(tenth.leading_digits(40), "1000000000000000055511151231257827021181");
        assert_eq!(tenth.magnitude(), -1);
        let large = Decimal::from_binary(1, 100);
        assert_eq!(large.integer_part(), (1u128 << 100).to_string());
        assert_eq!(Decimal::from_binary(0, 5).integer_part(), "0");
    }

    #[test]
    fn ties_go_to_even() {
        for (eighths, rounded) in [(1, "0.12"), (3, "0.38"), (5, "0.62"), (7, "0.88"), (8, "1.00")] {
            let decimal = Decimal::from_binary(eighths, -3).rounded_behind_point(2);
            assert_eq!(format!("{}.{}", decimal.integer_part(), decimal.fraction_part(2)), rounded);
        }
        assert_eq!(Decimal::from_binary(1, -1).rounded_behind_point(0).integer_part(), "0");
        assert_eq!(Decimal::from_binary(3, -1).rounded_behind_point(0).integer_part(), "2");
        assert_eq!(Decimal::from_binary(999, 0).rounded_to_digits(2).integer_part(), "1000");
    }
}
