//! `math.h`: a few functions have a second result behind a pointer, `nan` reads a string.

use super::Extent;
use super::build::{A0, A1, Entries, bytes, nothing};

pub(super) fn entries() -> Entries {
    let numbers = NUMBERS.split_whitespace().map(|name| (name, nothing()));
    let with_pointer = [
        ("frexp", bytes(4)),
        ("frexpf", bytes(4)),
        ("frexpl", bytes(4)),
        ("modf", bytes(8)),
        ("modff", bytes(4)),
        ("modfl", bytes(10)),
    ]
    .map(|(name, extent)| (name, nothing().writes(A1, extent)));
    let from_text = ["nan", "nanf", "nanl"].map(|name| (name, nothing().reads(A0, Extent::CString)));
    numbers.chain(with_pointer).chain(from_text).collect()
}

/// Whether the function is one from numbers to a number.
pub(crate) fn is_of_numbers(name: &str) -> bool {
    NUMBERS.split_whitespace().any(|known| known == name)
}

/// From numbers to a number.
const NUMBERS: &str = "
    __finite __finitef __finitel __fpclassify __fpclassifyf __fpclassifyl __isinf __isinff __isinfl __isnan __isnanf
    __isnanl __signbit __signbitf __signbitl acos acosf acosh acoshf asin asinf asinh asinhf atan atan2 atan2f atanf atanh
    atanhf cbrt cbrtf ceil ceilf ceill copysign copysignf copysignl cos cosf cosh coshf exp exp10 exp2 exp2f expf expm1
    expm1f fabs fabsf fabsl fdim fdimf fdiml floor floorf floorl fma fmaf fmax fmaxf fmaxl fmin fminf fminl fmod fmodf
    fmodl hypot hypotf ilogb ilogbf ldexp ldexpf ldexpl llrint llrintf llround llroundf log log10 log10f log1p log1pf log2
    log2f logb logbf logf lrint lrintf lround lroundf nextafter nextafterf pow powf remainder remainderf
    rint rintf rintl round roundeven roundevenf roundevenl roundf roundl scalbln scalblnf sin sinf sinh sinhf sqrt sqrtf
    sqrtl tan tanf tanh tanhf trunc truncf truncl
";
