//! The models this crate knows by name, and what a model wants done with its hidden states and its inputs.

use std::fmt;

/// How the hidden states of a text's tokens become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pooling {
    /// The mean over all tokens, the special ones too.
    Mean,
    /// The hidden state of the first token, `[CLS]`.
    Cls,
}

impl fmt::Display for Pooling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
        })
    }
}

/// A model on the hub: one of those known here, or any repository with a BERT-like model.
///
/// ```
/// use mnemic_candle::Model;
///
/// assert_eq!(Model::AllMiniLmL6V2.repository(), "sentence-transformers/all-MiniLM-L6-v2");
/// assert_eq!(Model::from("BAAI/bge-small-en-v1.5"), Model::BgeSmallEnV15);
/// assert_eq!(Model::from("you/your-bert").repository(), "you/your-bert");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Model {
    /// sentence-transformers/all-MiniLM-L6-v2: English, 384 dimensions, 256 tokens, 90 MB. Shares its space with the
    /// table that mnemic bundles.
    AllMiniLmL6V2,
    /// BAAI/bge-small-en-v1.5: English, 384 dimensions, 512 tokens, 133 MB. Queries carry an instruction.
    BgeSmallEnV15,
    /// intfloat/multilingual-e5-small: about 100 languages, 384 dimensions, 512 tokens, 471 MB. Queries and passages
    /// carry a prefix.
    MultilingualE5Small,
    /// Any other repository, as `owner/name`. Pooling, window and prefixes are read from its files.
    Repository(String),
}

/// What is known of a model beside what its files say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preset {
    pub(crate) pooling: Pooling,
    pub(crate) max_tokens: usize,
    pub(crate) query_prefix: &'static str,
    pub(crate) passage_prefix: &'static str,
}

impl Model {
    const KNOWN: [Self; 3] = [
        Self::AllMiniLmL6V2,
        Self::BgeSmallEnV15,
        Self::MultilingualE5Small,
    ];

    /// The model's repository on the hub, as `owner/name`.
    #[must_use]
    pub fn repository(&self) -> &str {
        match self {
            Self::AllMiniLmL6V2 => "sentence-transformers/all-MiniLM-L6-v2",
            Self::BgeSmallEnV15 => "BAAI/bge-small-en-v1.5",
            Self::MultilingualE5Small => "intfloat/multilingual-e5-small",
            Self::Repository(name) => name,
        }
    }

    /// The id that a file of memories records: the repository, without its owner for the models known here.
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Repository(name) => name,
            known => last_part(known.repository()),
        }
    }

    pub(crate) fn preset(&self) -> Option<Preset> {
        match self {
            Self::AllMiniLmL6V2 => Some(Preset {
                pooling: Pooling::Mean,
                max_tokens: 256,
                query_prefix: "",
                passage_prefix: "",
            }),
            Self::BgeSmallEnV15 => Some(Preset {
                pooling: Pooling::Cls,
                max_tokens: 512,
                query_prefix: "Represent this sentence for searching relevant passages: ",
                passage_prefix: "",
            }),
            Self::MultilingualE5Small => Some(Preset {
                pooling: Pooling::Mean,
                max_tokens: 512,
                query_prefix: "query: ",
                passage_prefix: "passage: ",
            }),
            Self::Repository(_) => None,
        }
    }

    /// The known model a folder is named after: `bge-small-en-v1.5`, `models--BAAI--bge-small-en-v1.5`.
    pub(crate) fn named(folder: &str) -> Option<Self> {
        let name = folder.rsplit("--").next().unwrap_or(folder);
        Self::KNOWN
            .into_iter()
            .find(|model| model.id().eq_ignore_ascii_case(name))
    }
}

impl From<&str> for Model {
    fn from(repository: &str) -> Self {
        Self::KNOWN
            .into_iter()
            .find(|model| model.repository() == repository)
            .unwrap_or_else(|| Self::Repository(repository.to_owned()))
    }
}

impl From<String> for Model {
    fn from(repository: String) -> Self {
        Self::from(repository.as_str())
    }
}

/// A cross-encoder on the hub: one of those known here, or any repository with a one-label BERT.
///
/// ```
/// use mnemic_candle::RerankModel;
///
/// assert_eq!(RerankModel::MsMarcoMiniLmL6V2.repository(), "cross-encoder/ms-marco-MiniLM-L6-v2");
/// assert_eq!(RerankModel::from("you/your-cross-encoder").repository(), "you/your-cross-encoder");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RerankModel {
    /// cross-encoder/ms-marco-MiniLM-L6-v2: English, six layers, 512 tokens, 91 MB.
    MsMarcoMiniLmL6V2,
    /// cross-encoder/ms-marco-MiniLM-L12-v2: English, twelve layers, 512 tokens, 133 MB.
    MsMarcoMiniLmL12V2,
    /// Any other repository, as `owner/name`.
    Repository(String),
}

impl RerankModel {
    const KNOWN: [Self; 2] = [Self::MsMarcoMiniLmL6V2, Self::MsMarcoMiniLmL12V2];

    /// The model's repository on the hub, as `owner/name`.
    #[must_use]
    pub fn repository(&self) -> &str {
        match self {
            Self::MsMarcoMiniLmL6V2 => "cross-encoder/ms-marco-MiniLM-L6-v2",
            Self::MsMarcoMiniLmL12V2 => "cross-encoder/ms-marco-MiniLM-L12-v2",
            Self::Repository(name) => name,
        }
    }

    /// The id by which messages name it: the repository, without its owner for the models known here.
    #[cfg(feature = "hub")]
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Repository(name) => name,
            known => last_part(known.repository()),
        }
    }
}

impl From<&str> for RerankModel {
    fn from(repository: &str) -> Self {
        Self::KNOWN
            .into_iter()
            .find(|model| model.repository() == repository)
            .unwrap_or_else(|| Self::Repository(repository.to_owned()))
    }
}

impl From<String> for RerankModel {
    fn from(repository: String) -> Self {
        Self::from(repository.as_str())
    }
}

fn last_part(repository: &str) -> &str {
    repository.rsplit('/').next().unwrap_or(repository)
}

/// The SHA-256 of the weights that define the space `all-MiniLM-L6-v2`.
pub(crate) const MINILM_WEIGHTS: &str =
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_name_known_models() {
        assert_eq!(
            Model::named("bge-small-en-v1.5"),
            Some(Model::BgeSmallEnV15)
        );
        assert_eq!(
            Model::named("models--intfloat--multilingual-e5-small"),
            Some(Model::MultilingualE5Small)
        );
        assert_eq!(Model::named("all-minilm-l6-v2"), Some(Model::AllMiniLmL6V2));
        assert_eq!(Model::named("bge-small-en"), None);
        assert_eq!(Model::named(""), None);
    }
}
