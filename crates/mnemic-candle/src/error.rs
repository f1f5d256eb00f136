//! Why a model could not be loaded: which file, which tensor, and what to do about it.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use mnemic_embed::EmbedError;

/// Why a model could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file that a model needs is not there.
    #[error(
        "{} is missing: a model's folder holds config.json, tokenizer.json and model.safetensors",
        path.display()
    )]
    Missing {
        /// The file that was looked for.
        path: PathBuf,
    },
    /// A file is there but could not be read.
    #[error("{} could not be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// A file is cut short, damaged, or something else than its name says.
    #[error("{} is truncated or corrupt: {reason}; fetch it again", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
        /// The parser's error, where there is one.
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The weights have another layout than a BERT encoder of this configuration.
    #[error("{}: the tensor {tensor} {reason}", path.display())]
    Tensor {
        /// The weight file.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The files are sound, but the model is of a kind this crate does not run.
    #[error("{}: {reason}", path.display())]
    Unsupported {
        /// The file that says so.
        path: PathBuf,
        /// What it asks for, and what is supported.
        reason: String,
    },
    /// The options contradict the model.
    #[error("the options do not fit the model: {reason}")]
    Options {
        /// Which option, and what it should be.
        reason: String,
    },
    /// The device is not there, or this build has no support for it.
    #[error("the device {device} cannot be used")]
    Device {
        /// The device that was asked for.
        device: String,
        /// What candle said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// Nothing is cached and the network is not to be used.
    #[error(
        "{file} of the model {model} is not cached under {}, and HF_HUB_OFFLINE forbids fetching it: \
         unset HF_HUB_OFFLINE, point HF_HOME to a cache that has the model, or load a folder with from_dir",
        cache.display()
    )]
    Offline {
        /// The model's repository.
        model: String,
        /// The file that was needed.
        file: String,
        /// The cache that was searched.
        cache: PathBuf,
    },
    /// Nothing is cached and the hub could not be asked, or refused.
    #[error(
        "{file} of the model {model} is not cached under {} and could not be fetched from {endpoint}: \
         check the network, HF_ENDPOINT and HF_TOKEN, or load a folder with from_dir",
        cache.display()
    )]
    Download {
        /// The model's repository.
        model: String,
        /// The file that was needed.
        file: String,
        /// The cache that was searched.
        cache: PathBuf,
        /// The server that was asked.
        endpoint: String,
        /// What the client said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// There is no folder for the cache.
    #[error(
        "no folder for downloaded models: neither HF_HOME nor a home directory is known; set HF_HOME"
    )]
    NoCache,
}

impl LoadError {
    pub(crate) fn corrupt(
        path: impl Into<PathBuf>,
        reason: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Corrupt {
            path: path.into(),
            reason: reason.into(),
            source: Some(source.into()),
        }
    }

    pub(crate) fn damaged(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self::Corrupt {
            path: path.into(),
            reason: reason.into(),
            source: None,
        }
    }

    pub(crate) fn unsupported(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self::Unsupported {
            path: path.into(),
            reason: reason.into(),
        }
    }
}

impl From<LoadError> for EmbedError {
    fn from(error: LoadError) -> Self {
        let model = match &error {
            LoadError::Missing { path }
            | LoadError::Unreadable { path, .. }
            | LoadError::Corrupt { path, .. }
            | LoadError::Tensor { path, .. }
            | LoadError::Unsupported { path, .. } => path.display().to_string(),
            LoadError::Offline { model, .. } | LoadError::Download { model, .. } => model.clone(),
            LoadError::Options { .. } | LoadError::Device { .. } | LoadError::NoCache => {
                "candle".to_owned()
            }
        };
        EmbedError::load(model, "its files or options are not usable").caused_by(error)
    }
}
