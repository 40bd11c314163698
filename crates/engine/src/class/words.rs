//! Words that people use for kinds of work, in tags and names.

use lowwater_model::workload::Class;

use Class::{BatchInference, Ci, Development, Experiment, FineTuning, RealtimeInference, Training};

/// A word, what it says, and how strongly.
type Word = (&'static str, &'static [(Class, f64)]);

/// Words are looked for as they stand and as two that stand side by side: `fine-tune` is `finetune`.
const WORDS: &[Word] = &[
    ("train", &[(Training, 3.0), (FineTuning, 0.5)]),
    ("training", &[(Training, 3.0), (FineTuning, 0.5)]),
    ("trainer", &[(Training, 3.0), (FineTuning, 0.5)]),
    ("pretrain", &[(Training, 3.5)]),
    ("pretraining", &[(Training, 3.5)]),
    ("ddp", &[(Training, 2.5)]),
    ("fsdp", &[(Training, 2.5)]),
    ("deepspeed", &[(Training, 2.5), (FineTuning, 0.8)]),
    ("megatron", &[(Training, 3.0)]),
    ("horovod", &[(Training, 3.0)]),
    ("torchrun", &[(Training, 2.5), (FineTuning, 0.8)]),
    ("pytorchjob", &[(Training, 2.5), (FineTuning, 0.8)]),
    ("slurm", &[(Training, 1.2), (Experiment, 0.8)]),
    ("finetune", &[(FineTuning, 3.5)]),
    ("finetuning", &[(FineTuning, 3.5)]),
    ("finetuned", &[(FineTuning, 1.0), (RealtimeInference, 1.0)]),
    ("lora", &[(FineTuning, 3.0)]),
    ("qlora", &[(FineTuning, 3.5)]),
    ("sft", &[(FineTuning, 3.0)]),
    ("dpo", &[(FineTuning, 2.5)]),
    ("rlhf", &[(FineTuning, 3.0)]),
    ("peft", &[(FineTuning, 3.0)]),
    ("axolotl", &[(FineTuning, 3.0)]),
    ("serve", &[(RealtimeInference, 3.0)]),
    ("serving", &[(RealtimeInference, 3.0)]),
    ("server", &[(RealtimeInference, 1.0)]),
    ("inference", &[(RealtimeInference, 2.5), (BatchInference, 1.5)]),
    ("infer", &[(RealtimeInference, 2.0), (BatchInference, 1.5)]),
    ("endpoint", &[(RealtimeInference, 3.0)]),
    ("predictor", &[(RealtimeInference, 3.0)]),
    ("online", &[(RealtimeInference, 2.5)]),
    ("realtime", &[(RealtimeInference, 3.5)]),
    ("vllm", &[(RealtimeInference, 3.0), (BatchInference, 0.8)]),
    ("sglang", &[(RealtimeInference, 3.0), (BatchInference, 0.8)]),
    ("triton", &[(RealtimeInference, 3.0), (BatchInference, 0.5)]),
    ("tgi", &[(RealtimeInference, 3.0)]),
    ("kserve", &[(RealtimeInference, 3.5)]),
    ("seldon", &[(RealtimeInference, 3.5)]),
    ("bentoml", &[(RealtimeInference, 3.0)]),
    ("chat", &[(RealtimeInference, 2.0)]),
    ("api", &[(RealtimeInference, 2.5)]),
    ("batch", &[(BatchInference, 2.0), (Training, 0.5)]),
    ("batchinference", &[(BatchInference, 3.5)]),
    ("batchinfer", &[(BatchInference, 3.5)]),
    ("offline", &[(BatchInference, 2.0)]),
    ("scoring", &[(BatchInference, 2.5)]),
    ("embed", &[(BatchInference, 1.5), (RealtimeInference, 1.0)]),
    ("embeddings", &[(BatchInference, 1.5), (RealtimeInference, 1.0)]),
    ("backfill", &[(BatchInference, 3.0)]),
    ("nightly", &[(BatchInference, 2.0), (Ci, 1.0)]),
    ("bulk", &[(BatchInference, 2.0)]),
    ("nb", &[(Development, 2.5)]),
    ("notebook", &[(Development, 3.5)]),
    ("notebooks", &[(Development, 3.5)]),
    ("jupyter", &[(Development, 3.5)]),
    ("jupyterhub", &[(Development, 3.5)]),
    ("jupyterlab", &[(Development, 3.5)]),
    ("devbox", &[(Development, 3.5)]),
    ("dev", &[(Development, 2.0)]),
    ("development", &[(Development, 2.5)]),
    ("workspace", &[(Development, 2.5)]),
    ("workstation", &[(Development, 3.0)]),
    ("vscode", &[(Development, 3.0)]),
    ("codespace", &[(Development, 3.0)]),
    ("sandbox", &[(Development, 2.0), (Experiment, 1.0)]),
    ("ci", &[(Ci, 3.0)]),
    ("cirunner", &[(Ci, 3.5)]),
    ("runner", &[(Ci, 2.5)]),
    ("buildkite", &[(Ci, 3.5)]),
    ("jenkins", &[(Ci, 3.5)]),
    ("gitlab", &[(Ci, 2.5)]),
    ("github", &[(Ci, 2.5)]),
    ("e2e", &[(Ci, 3.0)]),
    ("build", &[(Ci, 2.0)]),
    ("exp", &[(Experiment, 2.5)]),
    ("experiment", &[(Experiment, 3.5)]),
    ("experiments", &[(Experiment, 3.5)]),
    ("sweep", &[(Experiment, 3.0)]),
    ("hpo", &[(Experiment, 3.0)]),
    ("optuna", &[(Experiment, 3.0)]),
    ("ablation", &[(Experiment, 3.0)]),
    ("benchmark", &[(Experiment, 2.5)]),
    ("poc", &[(Experiment, 2.5)]),
    ("trial", &[(Experiment, 2.0)]),
];

/// Lower-case words of a text and every two that stand side by side, joined. Digits end a word, except in `e2e`.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut words = Vec::new();
    for part in lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
    {
        if part == "e2e" {
            words.push(part.to_owned());
        } else {
            let letters = part.split(|c: char| c.is_ascii_digit()).filter(|word| !word.is_empty());
            words.extend(letters.map(ToOwned::to_owned));
        }
    }
    let pairs: Vec<String> = words.windows(2).map(<[String]>::concat).collect();
    words.extend(pairs);
    words
}

/// The words of a text that say what kind of work it is; where a joined pair says it, its parts are not counted again.
pub(super) fn spoken(text: &str) -> Vec<(&'static str, &'static [(Class, f64)])> {
    let tokens = tokens(text);
    let mut found: Vec<Word> = WORDS
        .iter()
        .filter(|(word, _)| tokens.iter().any(|token| token == word))
        .copied()
        .collect();
    let all: Vec<&str> = found.iter().map(|(word, _)| *word).collect();
    found.retain(|(word, _)| {
        !all.iter()
            .any(|longer| longer.len() > word.len() && longer.contains(word))
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&'static str> {
        spoken(text).into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn words_are_whole_words() {
        assert_eq!(words("train-llama-07"), ["train"]);
        assert_eq!(words("Fine_Tune-3"), ["finetune"]);
        assert_eq!(words("fine-tune"), ["finetune"]);
        assert_eq!(words("nb07"), ["nb"]);
        assert_eq!(words("gpu-ci-runner-12"), ["cirunner"]);
        assert_eq!(words("e2e-tests"), ["e2e"]);
        assert_eq!(words("batch-inference"), ["batchinference"]);
        assert!(words("constraint-webserver-restraining-i-0abc").is_empty());
        assert!(words("").is_empty() && words("ip-10-0-3-7").is_empty());
    }

    #[test]
    fn each_word_stands_once_and_speaks() {
        let mut seen = std::collections::BTreeSet::new();
        for (word, weights) in WORDS {
            assert!(seen.insert(word), "{word} stands twice");
            assert!(word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
            assert!(!weights.is_empty() && weights.iter().all(|(_, weight)| (0.5..=3.5).contains(weight)));
        }
    }
}
