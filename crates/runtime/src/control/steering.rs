//! How a run goes on where its schedule ends, as a value and as text: a preference among threads, and places at which threads meet.

use std::fmt;

/// After the last step of a schedule whose program took another way. The run depends on nothing else, so it can be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steering {
    pub preference: Preference,
    /// Places of operations before which a thread is held until each of them has one, as often as it is here. The accesses of a wanted
    /// race are such places without being named.
    pub meet: Vec<u32>,
}

/// Which of the threads goes next that can go on and are not held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preference {
    /// The first of the one list, then whoever is in none by its number, then those of the other. It runs as long as it can.
    Ranked { first: Vec<u32>, last: Vec<u32> },
    /// By pseudo-random numbers that begin with this one; mostly the one that went last.
    Random(u64),
}

impl Steering {
    /// From the words of its line after the key.
    pub fn parse(words: &[&str]) -> Option<Steering> {
        let numbers =
            |words: &[&str]| words.iter().map(|word| word.parse().ok()).collect::<Option<Vec<u32>>>();
        let at = words.iter().position(|word| *word == "meet")?;
        let meet = numbers(&words[at + 1..])?;
        let preference = match &words[..at] {
            ["random", seed] => Preference::Random(seed.parse().ok()?),
            ["ranked", ranks @ ..] => {
                let rest = ranks.iter().position(|word| *word == "others")?;
                Preference::Ranked { first: numbers(&ranks[..rest])?, last: numbers(&ranks[rest + 1..])? }
            }
            _ => return None,
        };
        Some(Steering { preference, meet })
    }
}

impl fmt::Display for Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &[u32]| numbers.iter().map(|number| format!(" {number}")).collect::<String>();
        match &self.preference {
            Preference::Ranked { first, last } => {
                write!(f, "ranked{} others{}", list(first), list(last))?;
            }
            Preference::Random(seed) => write!(f, "random {seed}")?,
        }
        write!(f, " meet{}", list(&self.meet))
    }
}

#[cfg(test)]
mod tests {
    use super::{Preference, Steering};

    #[test]
    fn text_and_back() {
        let ranked =
            |first: &[u32], last: &[u32]| Preference::Ranked { first: first.into(), last: last.into() };
        let preferences =
            [ranked(&[], &[]), ranked(&[2, 1], &[]), ranked(&[3], &[1, 2]), Preference::Random(7)];
        for preference in preferences {
            for meet in [&[][..], &[4, 9, 9]] {
                let steering = Steering { preference: preference.clone(), meet: meet.to_vec() };
                let text = steering.to_string();
                let words: Vec<&str> = text.split(' ').collect();
                assert_eq!(Steering::parse(&words), Some(steering), "{text}");
            }
        }
        for bad in ["", "ranked 1 meet", "ranked others", "random x meet", "random 1 meet x", "meet"] {
            assert_eq!(Steering::parse(&bad.split(' ').collect::<Vec<_>>()), None, "{bad}");
        }
    }
}
