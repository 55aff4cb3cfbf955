//! Union-find over classes of memory; each points to at most one other class and has at most one signature.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Class(u32);

/// Parameters and results of the functions of a class, as variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    pub params: Vec<Class>,
    pub returns: Vec<Class>,
}

#[derive(Default)]
pub(super) struct Classes {
    parent: Vec<Class>,
    size: Vec<u32>,
    pointee: Vec<Option<Class>>,
    signature: Vec<Option<Box<Signature>>>,
    joined: usize,
}

impl Classes {
    pub(super) fn class(&mut self) -> Class {
        let class = Class(u32::try_from(self.parent.len()).expect("fewer than 2^32 classes"));
        self.parent.push(class);
        self.size.push(1);
        self.pointee.push(None);
        self.signature.push(None);
        class
    }

    pub(super) fn find(&mut self, class: Class) -> Class {
        let mut root = class;
        while self.parent[root.0 as usize] != root {
            root = self.parent[root.0 as usize];
        }
        let mut at = class;
        while at != root {
            at = std::mem::replace(&mut self.parent[at.0 as usize], root);
        }
        root
    }

    /// What the class points to.
    pub(super) fn pointee(&mut self, class: Class) -> Class {
        let root = self.find(class);
        match self.pointee[root.0 as usize] {
            Some(pointee) => self.find(pointee),
            None => {
                let pointee = self.class();
                self.pointee[root.0 as usize] = Some(pointee);
                pointee
            }
        }
    }

    pub(super) fn pointee_if_any(&mut self, class: Class) -> Option<Class> {
        let root = self.find(class);
        let pointee = self.pointee[root.0 as usize]?;
        Some(self.find(pointee))
    }

    /// How often two classes became one.
    pub(super) fn joined(&self) -> usize {
        self.joined
    }

    /// The same memory from now on.
    pub(super) fn join(&mut self, a: Class, b: Class) {
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            let (mut a, mut b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            if self.size[a.0 as usize] < self.size[b.0 as usize] {
                (a, b) = (b, a);
            }
            let (into, other) = (a.0 as usize, b.0 as usize);
            self.parent[other] = a;
            self.joined += 1;
            self.size[into] += self.size[other];
            match (self.pointee[into], self.pointee[other].take()) {
                (Some(x), Some(y)) => work.push((x, y)),
                (None, y) => self.pointee[into] = y,
                (Some(_), None) => {}
            }
            match (self.signature[into].take(), self.signature[other].take()) {
                (Some(mut x), Some(y)) => {
                    merge_lists(self, &mut x.params, y.params, &mut work);
                    merge_lists(self, &mut x.returns, y.returns, &mut work);
                    self.signature[into] = Some(x);
                }
                (x, y) => self.signature[into] = x.or(y),
            }
        }
    }

    /// `to` may hold what `from` holds.
    pub(super) fn assign(&mut self, to: Class, from: Class) {
        let (x, y) = (self.pointee(to), self.pointee(from));
        self.join(x, y);
    }

    /// The signature of the functions of a class, with at least so many parameters and results.
    pub(super) fn signature(&mut self, class: Class, params: usize, returns: usize) -> Signature {
        let root = self.find(class).0 as usize;
        let mut signature = self.signature[root].take().unwrap_or_default();
        while signature.params.len() < params {
            signature.params.push(self.class());
        }
        while signature.returns.len() < returns {
            signature.returns.push(self.class());
        }
        let copy = (*signature).clone();
        self.signature[root] = Some(signature);
        copy
    }
}

/// Variables at the same position hold the same; what one list lacks is taken over.
fn merge_lists(
    classes: &mut Classes,
    into: &mut Vec<Class>,
    other: Vec<Class>,
    work: &mut Vec<(Class, Class)>,
) {
    for (index, class) in other.into_iter().enumerate() {
        match into.get(index) {
            Some(known) => {
                let (x, y) = (classes.pointee(*known), classes.pointee(class));
                work.push((x, y));
            }
            None => into.push(class),
        }
    }
}
