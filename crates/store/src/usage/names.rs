//! Texts as small numbers: a million samples of a thousand GPUs name their GPU a thousand times, not a million.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::format::Sample;

/// Numbers of things in the order in which they were first seen.
#[derive(Debug)]
struct Ids<T> {
    of: HashMap<T, u32>,
    all: Vec<T>,
}

impl<T> Default for Ids<T> {
    fn default() -> Self {
        Self {
            of: HashMap::new(),
            all: Vec::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> Ids<T> {
    fn id(&mut self, thing: T) -> u32 {
        let next = self.all.len() as u32;
        let all = &mut self.all;
        *self.of.entry(thing).or_insert_with_key(|thing| {
            all.push(thing.clone());
            next
        })
    }

    fn get(&self, id: u32) -> &T {
        &self.all[id as usize]
    }
}

/// What a sample says beside its numbers, as numbers of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct LabelIds {
    profile: u32,
    model: u32,
    namespace: u32,
}

/// The number of the empty text: the instance of a whole GPU.
pub(crate) const NAMELESS: u32 = 0;

/// Every text of a load: hosts, GPUs, instances, labels.
#[derive(Debug)]
pub(crate) struct Names {
    texts: Ids<Arc<str>>,
    gpus: Ids<(u32, u32)>,
    labels: Ids<LabelIds>,
    last: Last,
}

/// The texts of the last sample: in most files the next one has the same.
#[derive(Debug, Default)]
struct Last {
    texts: [String; 6],
    ids: Option<SampleIds>,
}

/// The numbers of a sample's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleIds {
    pub gpu: u32,
    pub instance: u32,
    pub labels: u32,
}

impl Default for Names {
    fn default() -> Self {
        let mut texts = Ids::default();
        texts.id(Arc::from(""));
        Self {
            texts,
            gpus: Ids::default(),
            labels: Ids::default(),
            last: Last::default(),
        }
    }
}

impl Names {
    /// Numbers for a sample's texts.
    pub(crate) fn ids(&mut self, sample: &Sample<'_>) -> SampleIds {
        let texts = [
            sample.host,
            sample.gpu,
            sample.mig_instance,
            sample.mig_profile,
            sample.model,
            sample.namespace,
        ];
        if let Some(ids) = self.last.ids
            && self.last.texts == texts
        {
            return ids;
        }
        for (known, text) in self.last.texts.iter_mut().zip(texts) {
            text.clone_into(known);
        }
        let ids = self.new_ids(sample);
        self.last.ids = Some(ids);
        ids
    }

    fn new_ids(&mut self, sample: &Sample<'_>) -> SampleIds {
        let gpu = (self.text_id(sample.host), self.text_id(sample.gpu));
        let labels = LabelIds {
            profile: self.text_id(sample.mig_profile),
            model: self.text_id(sample.model),
            namespace: self.text_id(sample.namespace),
        };
        SampleIds {
            gpu: self.gpus.id(gpu),
            instance: self.text_id(sample.mig_instance),
            labels: self.labels.id(labels),
        }
    }

    /// The number of a text.
    pub(crate) fn text_id(&mut self, text: &str) -> u32 {
        match self.texts.of.get(text) {
            Some(id) => *id,
            None => self.texts.id(Arc::from(text)),
        }
    }

    /// A text.
    pub(crate) fn text(&self, id: u32) -> &Arc<str> {
        self.texts.get(id)
    }

    /// Host and GPU.
    pub(crate) fn gpu(&self, id: u32) -> [&Arc<str>; 2] {
        let (host, gpu) = *self.gpus.get(id);
        [self.text(host), self.text(gpu)]
    }

    /// MIG profile, GPU model and namespace.
    pub(crate) fn labels(&self, id: u32) -> [&Arc<str>; 3] {
        let ids = self.labels.get(id);
        [ids.profile, ids.model, ids.namespace].map(|text| self.text(text))
    }

    /// Of two sets of labels the one that says more, then the first by name: the same whichever came first.
    pub(crate) fn better_labels(&self, a: u32, b: u32) -> u32 {
        let key = |id| self.labels(id).map(|text| (text.is_empty(), Arc::clone(text)));
        if a == b || key(a) <= key(b) { a } else { b }
    }

    /// The places of GPUs and texts in alphabetical order. Places change as names are added, their order does not.
    pub(crate) fn ranks(&self) -> Ranks {
        Ranks {
            gpu: ranks(self.gpus.all.len(), |id| self.gpu(id)),
            text: ranks(self.texts.all.len(), |id| self.text(id)),
        }
    }
}

/// Places in alphabetical order, by number.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    pub gpu: Vec<u32>,
    pub text: Vec<u32>,
}

fn ranks<T: Ord>(count: usize, name: impl Fn(u32) -> T) -> Vec<u32> {
    let mut ids: Vec<u32> = (0..count as u32).collect();
    ids.sort_by_cached_key(|id| name(*id));
    let mut ranks = vec![0; count];
    for (rank, id) in ids.into_iter().enumerate() {
        ranks[id as usize] = rank as u32;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::tests::sample;

    #[test]
    fn the_same_texts_get_the_same_numbers() {
        let mut names = Names::default();
        let a = names.ids(&sample("b", "GPU-1", 0));
        let b = names.ids(&sample("a", "GPU-1", 0));
        assert_eq!(names.ids(&sample("b", "GPU-1", 7)), a);
        assert_eq!(a.instance, NAMELESS);
        assert_ne!(a.gpu, b.gpu);
        assert_eq!(names.gpu(a.gpu).map(ToString::to_string), ["b", "GPU-1"]);
        let ranks = names.ranks();
        assert!(
            ranks.gpu[b.gpu as usize] < ranks.gpu[a.gpu as usize],
            "host a comes before host b"
        );
    }

    #[test]
    fn better_labels_do_not_depend_on_the_order() {
        let mut names = Names::default();
        let mut of = |namespace: &'static str| {
            let mut s = sample("h", "g", 0);
            s.namespace = namespace;
            names.ids(&s).labels
        };
        let (none, search, ml) = (of(""), of("search"), of("ml"));
        for (a, b, want) in [(none, ml, ml), (search, ml, ml), (search, none, search), (ml, ml, ml)] {
            assert_eq!((names.better_labels(a, b), names.better_labels(b, a)), (want, want));
        }
    }
}
