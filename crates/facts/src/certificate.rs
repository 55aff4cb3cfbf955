//! A static proof as data: the recipe of the expansion and the solved facts about the expanded program. `certify` checks them point by
//! point and then that they exclude every pair of conflicting accesses.

use crate::{LockFacts, OrderFacts, PointsTo, ThreadFacts, Values};
use raddle_ir::FunctionId;
use raddle_ir::expand::Recipe;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StaticProof {
    /// Hash of the original program's IR, in hexadecimal.
    pub program: String,
    /// `LP64` or `ILP32`.
    pub data_model: String,
    /// Functions of the original program that clients may call at any time.
    pub entries: Vec<FunctionId>,
    /// Ids of the assumptions that the proof rests on.
    pub assumptions: Vec<String>,
    pub recipe: Recipe,
    pub facts: Facts,
}

/// The solved facts, all about the expanded program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub values: Values,
    pub points_to: PointsTo,
    pub threads: ThreadFacts,
    pub order: OrderFacts,
    pub locks: LockFacts,
}
