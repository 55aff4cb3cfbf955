//! `getopt` and `getopt_long` as in glibc: arguments that are no options move to the end of `argv` unless the option string starts with
//! `+` or `-`. Its public variables are memory of the program, so two threads that parse options race on them.

use super::values::int;
use super::{Family, Host, Outcome};

pub(super) const FUNCTIONS: Family =
    &[("getopt", |h| getopt(h, Long::None)), ("getopt_long", |h| getopt(h, Long::WithTwoDashes))];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Long {
    None,
    WithTwoDashes,
}

/// What happens to arguments that are no options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    MoveToTheEnd,
    Stop,
    Return,
}

const END: i32 = -1;
const UNKNOWN: i32 = b'?' as i32;

struct Parser {
    count: i32,
    argv: u64,
    letters: Vec<u8>,
    others: Others,
    /// Messages are off when the option string starts with a colon.
    quiet: bool,
    index_at: u64,
    argument_at: u64,
    letter_at: u64,
}

fn getopt(host: &mut dyn Host, long: Long) -> Outcome<u128> {
    let mut parser = Parser::new(host)?;
    parser.next(host, long).map(int)
}

/// The program's variable, or one of the library's own when the program does not look at it.
fn variable(host: &mut dyn Host, name: &str, initial: &[u8]) -> Outcome<u64> {
    match host.variable(name) {
        Some(address) => Ok(address),
        None => host.library_block(name, initial),
    }
}

impl Parser {
    fn new(host: &mut dyn Host) -> Outcome<Parser> {
        let (count, argv, letters) = (host.int(0), host.pointer(1), host.pointer(2));
        let mut letters = host.read_string(letters)?;
        let others = match letters.first() {
            Some(b'+') => Others::Stop,
            Some(b'-') => Others::Return,
            _ => Others::MoveToTheEnd,
        };
        if others != Others::MoveToTheEnd {
            letters.remove(0);
        }
        let shows_at = variable(host, "opterr", &1i32.to_le_bytes())?;
        let quiet = letters.first() == Some(&b':') || host.read_int(shows_at)? == 0;
        Ok(Parser {
            count,
            argv,
            letters,
            others,
            quiet,
            index_at: variable(host, "optind", &1i32.to_le_bytes())?,
            argument_at: variable(host, "optarg", &[0; 8])?,
            letter_at: variable(host, "optopt", &UNKNOWN.to_le_bytes())?,
        })
    }

    fn next(&mut self, host: &mut dyn Host, long: Long) -> Outcome<i32> {
        if self.count < 1 {
            return Ok(END);
        }
        host.write_pointer(self.argument_at, 0)?;
        let mut index = host.read_int(self.index_at)?;
        if index == 0 || !host.state().options.started {
            index = index.max(1);
            let place = &mut host.state().options;
            *place = super::state::OptionPlace {
                started: true,
                letter: None,
                first_other: index,
                last_other: index,
            };
        }
        if host.state().options.letter.is_none() {
            match self.next_element(host, &mut index)? {
                Element::Option => {}
                Element::Result(result) => {
                    host.write_int(self.index_at, index)?;
                    return Ok(result);
                }
            }
            let text = self.element(host, index)?;
            if long == Long::WithTwoDashes && text.starts_with(b"--") {
                return self.long_option(host, index, &text[2..]);
            }
            host.state().options.letter = Some((index, 1));
        }
        self.short_option(host, index)
    }

    /// Goes to the next element that is an option.
    fn next_element(&self, host: &mut dyn Host, index: &mut i32) -> Outcome<Element> {
        let mut place = host.state().options;
        place.last_other = place.last_other.min(*index);
        place.first_other = place.first_other.min(*index);
        if self.others == Others::MoveToTheEnd {
            self.gather(host, &mut place, *index)?;
            while *index < self.count && !self.is_option(host, *index)? {
                *index += 1;
            }
            place.last_other = *index;
        }
        if *index < self.count && self.element(host, *index)? == b"--" {
            *index += 1;
            if place.first_other == place.last_other {
                place.first_other = *index;
            } else {
                self.gather(host, &mut place, *index)?;
            }
            place.last_other = self.count;
            *index = self.count;
        }
        host.state().options = place;
        if *index >= self.count {
            if place.first_other != place.last_other {
                *index = place.first_other;
            }
            return Ok(Element::Result(END));
        }
        if !self.is_option(host, *index)? {
            if self.others == Others::Stop {
                return Ok(Element::Result(END));
            }
            let argument = self.pointer(host, *index)?;
            host.write_pointer(self.argument_at, argument)?;
            *index += 1;
            return Ok(Element::Result(1));
        }
        Ok(Element::Option)
    }

    /// Moves the elements passed over behind the options that followed them.
    fn gather(&self, host: &mut dyn Host, place: &mut super::state::OptionPlace, index: i32) -> Outcome<()> {
        let (first, last) = (place.first_other, place.last_other);
        if first != last && last != index {
            let mut pointers = Vec::new();
            for element in first..index {
                pointers.push(self.pointer(host, element)?);
            }
            pointers.rotate_left((last - first) as usize);
            for (element, pointer) in (first..index).zip(pointers) {
                let at = self.element_at(host, element);
                host.write_pointer(at, pointer)?;
            }
            place.first_other = first + (index - last);
            place.last_other = index;
        } else if last != index {
            place.first_other = index;
        }
        Ok(())
    }

    fn short_option(&self, host: &mut dyn Host, mut index: i32) -> Outcome<i32> {
        let Some((element, offset)) = host.state().options.letter.take() else { return Ok(END) };
        let text = self.element(host, element)?;
        let letter = text[offset as usize];
        let rest = text.len() as u64 > offset + 1;
        if rest {
            host.state().options.letter = Some((element, offset + 1));
        } else {
            index += 1;
        }
        let known =
            self.letters.iter().position(|known| *known == letter).filter(|_| !matches!(letter, b':' | b';'));
        let Some(known) = known else {
            self.complain(host, &format!("invalid option -- '{}'", char::from(letter)))?;
            host.write_int(self.letter_at, i32::from(letter))?;
            host.write_int(self.index_at, index)?;
            return Ok(UNKNOWN);
        };
        let colons = self.letters[known + 1..].iter().take_while(|byte| **byte == b':').count();
        let mut result = i32::from(letter);
        if colons > 0 {
            host.state().options.letter = None;
            if rest {
                let argument = self.pointer(host, element)?;
                let argument = host.offset(argument, offset + 1);
                host.write_pointer(self.argument_at, argument)?;
                index += 1;
            } else if colons == 1 && index >= self.count {
                self.complain(host, &format!("option requires an argument -- '{}'", char::from(letter)))?;
                host.write_int(self.letter_at, i32::from(letter))?;
                result = self.missing_argument();
            } else if colons == 1 {
                let argument = self.pointer(host, index)?;
                host.write_pointer(self.argument_at, argument)?;
                index += 1;
            }
        }
        host.write_int(self.index_at, index)?;
        Ok(result)
    }

    fn missing_argument(&self) -> i32 {
        if self.letters.first() == Some(&b':') { i32::from(b':') } else { UNKNOWN }
    }

    /// `text` is what follows the two dashes.
    fn long_option(&self, host: &mut dyn Host, mut index: i32, text: &[u8]) -> Outcome<i32> {
        let element = index;
        index += 1;
        let name_len = text.iter().position(|byte| *byte == b'=').unwrap_or(text.len());
        let (name, has_value) = (&text[..name_len], name_len < text.len());
        let shown = String::from_utf8_lossy(name).into_owned();
        let result = match self.find_long(host, name)? {
            Found::None => {
                self.complain(host, &format!("unrecognized option '--{}'", String::from_utf8_lossy(text)))?;
                host.write_int(self.letter_at, 0)?;
                UNKNOWN
            }
            Found::Several => {
                self.complain(host, &format!("option '--{}' is ambiguous", String::from_utf8_lossy(text)))?;
                host.write_int(self.letter_at, 0)?;
                UNKNOWN
            }
            Found::One(option) => {
                if has_value && option.takes == 0 {
                    self.complain(host, &format!("option '--{shown}' doesn't allow an argument"))?;
                    host.write_int(self.letter_at, option.value)?;
                    host.write_int(self.index_at, index)?;
                    return Ok(UNKNOWN);
                }
                if has_value {
                    let start = self.pointer(host, element)?;
                    let argument = host.offset(start, 2 + name_len as u64 + 1);
                    host.write_pointer(self.argument_at, argument)?;
                } else if option.takes == 1 && index >= self.count {
                    self.complain(host, &format!("option '--{shown}' requires an argument"))?;
                    host.write_int(self.letter_at, option.value)?;
                    host.write_int(self.index_at, index)?;
                    return Ok(self.missing_argument());
                } else if option.takes == 1 {
                    let argument = self.pointer(host, index)?;
                    host.write_pointer(self.argument_at, argument)?;
                    index += 1;
                }
                let number_at = host.pointer(4);
                if number_at != 0 {
                    host.write_int(number_at, option.number)?;
                }
                if option.flag == 0 {
                    option.value
                } else {
                    host.write_int(option.flag, option.value)?;
                    0
                }
            }
        };
        host.write_int(self.index_at, index)?;
        Ok(result)
    }

    /// The option of this name, or the only one that starts with it.
    fn find_long(&self, host: &mut dyn Host, name: &[u8]) -> Outcome<Found> {
        let (table, word) = (host.pointer(3), host.word_bytes());
        let mut found = Found::None;
        for number in 0.. {
            let entry = host.offset(table, u64::from(number as u32) * 4 * word);
            let known = host.read_pointer(entry)?;
            if known == 0 {
                break;
            }
            let known = host.read_string(known)?;
            if !known.starts_with(name) {
                continue;
            }
            let [takes_at, flag_at, value_at] = [1, 2, 3].map(|field| host.offset(entry, field * word));
            let option = LongOption {
                number,
                takes: host.read_int(takes_at)?,
                flag: host.read_pointer(flag_at)?,
                value: host.read_int(value_at)?,
            };
            if known.len() == name.len() {
                return Ok(Found::One(option));
            }
            found = match found {
                Found::None => Found::One(option),
                Found::One(other) if other.same_effect(&option) => Found::One(other),
                Found::One(_) | Found::Several => Found::Several,
            };
        }
        Ok(found)
    }

    fn complain(&self, host: &mut dyn Host, message: &str) -> Outcome<()> {
        if self.quiet {
            return Ok(());
        }
        let mut line = self.element(host, 0)?;
        line.extend_from_slice(format!(": {message}\n").as_bytes());
        host.output(2, &line);
        Ok(())
    }

    fn element_at(&self, host: &dyn Host, index: i32) -> u64 {
        host.offset(self.argv, u64::from(index as u32) * host.word_bytes())
    }

    fn pointer(&self, host: &mut dyn Host, index: i32) -> Outcome<u64> {
        let at = self.element_at(host, index);
        host.read_pointer(at)
    }

    fn element(&self, host: &mut dyn Host, index: i32) -> Outcome<Vec<u8>> {
        let text = self.pointer(host, index)?;
        host.read_string(text)
    }

    fn is_option(&self, host: &mut dyn Host, index: i32) -> Outcome<bool> {
        let text = self.element(host, index)?;
        Ok(text.len() > 1 && text[0] == b'-')
    }
}

enum Element {
    Option,
    Result(i32),
}

enum Found {
    None,
    One(LongOption),
    Several,
}

struct LongOption {
    number: i32,
    /// 0: no argument, 1: required, 2: optional.
    takes: i32,
    flag: u64,
    value: i32,
}

impl LongOption {
    fn same_effect(&self, other: &LongOption) -> bool {
        (self.takes, self.flag, self.value) == (other.takes, other.flag, other.value)
    }
}
