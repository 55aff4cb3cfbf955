//! Program points that every engine names alike.

crate::define_id! {
    /// One instruction or terminator of the program, numbered through the whole program in layout order by the IR.
    pub struct SiteId, "@"
}

impl SiteId {
    /// What has no place in the program: the start of `main`, the end of the process.
    pub const NONE: SiteId = SiteId(u32::MAX);
}
