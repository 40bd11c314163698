//! Names: of the resource and of its Kubernetes namespaces.

use lowwater_model::facts::{Facts, Resource};

use super::{Clue, words};

pub(super) fn clues(_: &Facts, resource: &Resource) -> Vec<Clue> {
    let names = resource.name.iter().map(|name| ("name", name));
    let namespaces = resource.clues.namespaces.iter().map(|name| ("namespace", name));
    let named = names.chain(namespaces).flat_map(|(what, text)| {
        let spoken = words::spoken(text).into_iter();
        spoken.map(move |(word, weights)| Clue::new(format!("its {what} holds `{word}`"), weights))
    });
    named.collect()
}
