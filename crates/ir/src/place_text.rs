//! Access paths as C text.

use crate::{Place, PlaceBase, PlaceStep, Program};

pub(crate) fn render(program: &Program, place: &Place) -> String {
    let mut text = match &place.base {
        PlaceBase::Global(global) => {
            let global = &program.globals[*global];
            program.text(global.name.unwrap_or(global.symbol)).to_owned()
        }
        PlaceBase::Local(name) | PlaceBase::Value { name, .. } => program.text(*name).to_owned(),
        PlaceBase::Unnamed(_) => String::new(),
    };
    let mut steps = place.steps.iter().peekable();
    while let Some(step) = steps.next() {
        match step {
            PlaceStep::Deref => match steps.peek() {
                Some(PlaceStep::Field(name)) => {
                    text.push_str("->");
                    text.push_str(program.text(*name));
                    steps.next();
                }
                Some(PlaceStep::Index(_) | PlaceStep::IndexBy(_) | PlaceStep::IndexAny) => {}
                _ if text.is_empty() => {}
                _ => text = format!("*{text}"),
            },
            PlaceStep::Field(name) => {
                text.push('.');
                text.push_str(program.text(*name));
            }
            PlaceStep::Index(index) => text.push_str(&format!("[{index}]")),
            PlaceStep::IndexBy(name) => text.push_str(&format!("[{}]", program.text(*name))),
            PlaceStep::IndexAny => text.push_str("[...]"),
            PlaceStep::Offset(bytes) => text.push_str(&format!("{bytes:+}")),
        }
    }
    text
}
