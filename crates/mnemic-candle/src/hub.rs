//! Models from the Hugging Face hub, in the cache that Python's `huggingface_hub` shares. A cached model is found
//! without a request; what is missing is fetched by `hf-hub`.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use hf_hub::api::sync::{ApiBuilder, ApiError, ApiRepo};
use hf_hub::{Cache, CacheRepo, Repo};

use crate::options::{CandleOptions, Progress, ProgressCallback, RerankOptions};
use crate::{CandleEmbedder, CandleReranker, LoadError, Model, RerankModel};

const REQUIRED: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];
/// What an embedding model may have beside; a cross-encoder has nothing more that is read.
const SENTENCE_FILES: &[&str] = &[
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
];
/// Further tries of an interrupted download, each from where the last one stopped.
const RETRIES: usize = 2;

impl CandleEmbedder {
    /// Loads a model from the Hugging Face hub, or from the local cache without any request if it is there.
    ///
    /// These variables of the environment are honoured: `HF_HOME` (the cache is `hub` in it; by default
    /// `~/.cache/huggingface`), `HF_ENDPOINT` (another server), `HF_HUB_OFFLINE` (1, true, yes or on: only the cache),
    /// `HF_TOKEN` (for repositories that ask for it; by default the token that `hf auth login` left in `HF_HOME`).
    ///
    /// # Errors
    /// [`LoadError::Offline`] or [`LoadError::Download`] where a file is neither cached nor to be had, and whatever
    /// [`CandleEmbedder::from_dir`] says of the files.
    pub fn from_hub(model: impl Into<Model>) -> Result<Self, LoadError> {
        CandleOptions::new().from_hub(model)
    }
}

impl CandleOptions {
    /// Loads a model from the Hugging Face hub. See [`CandleEmbedder::from_hub`].
    ///
    /// # Errors
    /// As [`CandleEmbedder::from_hub`].
    pub fn from_hub(self, model: impl Into<Model>) -> Result<CandleEmbedder, LoadError> {
        let model = model.into();
        let hub = Hub::from_environment(model.repository(), SENTENCE_FILES)?;
        let folder = hub.folder(self.refetch, self.progress.as_ref())?;
        self.model(model).from_dir(folder)
    }
}

impl CandleReranker {
    /// Loads a cross-encoder from the Hugging Face hub, or from the local cache without any request if it is there. The
    /// variables of the environment are those of [`CandleEmbedder::from_hub`].
    ///
    /// # Errors
    /// [`LoadError::Offline`] or [`LoadError::Download`] where a file is neither cached nor to be had, and whatever
    /// [`CandleReranker::from_dir`] says of the files.
    pub fn from_hub(model: impl Into<RerankModel>) -> Result<Self, LoadError> {
        RerankOptions::new().from_hub(model)
    }
}

impl RerankOptions {
    /// Loads a cross-encoder from the Hugging Face hub. See [`CandleReranker::from_hub`].
    ///
    /// # Errors
    /// As [`CandleReranker::from_hub`].
    pub fn from_hub(mut self, model: impl Into<RerankModel>) -> Result<CandleReranker, LoadError> {
        let model = model.into();
        let hub = Hub::from_environment(model.repository(), &[])?;
        let folder = hub.folder(self.refetch, self.progress.as_ref())?;
        self.id.get_or_insert_with(|| model.id().to_owned());
        self.from_dir(folder)
    }
}

/// A model's place on the hub and in the cache.
struct Hub {
    model: String,
    /// Files that are fetched where the repository has them, beside those that it must have.
    optional: &'static [&'static str],
    cache: Cache,
    endpoint: String,
    token: Option<String>,
    offline: bool,
}

/// A variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

impl Hub {
    fn from_environment(
        repository: &str,
        optional: &'static [&'static str],
    ) -> Result<Self, LoadError> {
        let home = match variable("HF_HOME") {
            Some(home) => PathBuf::from(home),
            None => env::home_dir()
                .filter(|home| !home.as_os_str().is_empty())
                .ok_or(LoadError::NoCache)?
                .join(".cache")
                .join("huggingface"),
        };
        let offline = variable("HF_HUB_OFFLINE").is_some_and(|value| {
            ["1", "true", "yes", "on"].contains(&value.to_ascii_lowercase().as_str())
        });
        let endpoint =
            variable("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned());
        Ok(Self {
            model: repository.to_owned(),
            optional,
            cache: Cache::new(home.join("hub")),
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            token: variable("HF_TOKEN"),
            offline,
        })
    }

    /// A folder with the model's files.
    fn folder(
        &self,
        refetch: bool,
        progress: Option<&ProgressCallback>,
    ) -> Result<PathBuf, LoadError> {
        let cached = self.cache.repo(Repo::model(self.model.clone()));
        if !refetch && let Some(folder) = complete(&cached, &REQUIRED) {
            return Ok(folder);
        }
        if self.offline {
            let missing = REQUIRED.iter().find(|file| cached.get(file).is_none());
            return Err(LoadError::Offline {
                model: self.model.clone(),
                file: (*missing.unwrap_or(&"model.safetensors")).to_owned(),
                cache: self.cache.path().clone(),
            });
        }
        let mut builder = ApiBuilder::from_cache(self.cache.clone())
            .with_endpoint(self.endpoint.clone())
            .with_progress(false)
            .with_retries(RETRIES);
        if self.token.is_some() {
            builder = builder.with_token(self.token.clone());
        }
        let client = builder
            .build()
            .map_err(|error| self.failed("model.safetensors", error))?
            .model(self.model.clone());
        let listed = client
            .info()
            .map_err(|error| self.failed("config.json", error))?;
        for file in self.optional.iter().copied().chain(REQUIRED) {
            let there = listed.siblings.iter().any(|entry| entry.rfilename == file);
            if !there && self.optional.contains(&file) {
                continue;
            }
            if refetch {
                self.forget(&cached, file);
            }
            if cached.get(file).is_none() {
                self.fetch(&client, file, progress)?;
            }
        }
        complete(&cached, &REQUIRED).ok_or_else(|| {
            self.failed(
                "model.safetensors",
                "the repository changed while it was fetched: try again",
            )
        })
    }

    fn fetch(
        &self,
        client: &ApiRepo,
        file: &str,
        progress: Option<&ProgressCallback>,
    ) -> Result<(), LoadError> {
        let reporter = Reporter {
            callback: progress.cloned(),
            state: Progress {
                file: file.to_owned(),
                received: 0,
                total: 0,
            },
        };
        client
            .download_with_progress(file, reporter)
            .map(drop)
            .map_err(|error: ApiError| self.failed(file, error))
    }

    /// Drops a file from the cache: the link, what it points to, and a half-finished download of it.
    fn forget(&self, cached: &CacheRepo, file: &str) {
        let Some(link) = cached.get(file) else { return };
        let blob = link.canonicalize().unwrap_or_else(|_| link.clone());
        // What cannot be removed is overwritten, or found corrupt again: no reason to fail here.
        let _ = fs::remove_file(&link);
        let cache = self.cache.path().canonicalize();
        if cache.is_ok_and(|cache| blob.starts_with(cache)) {
            let _ = fs::remove_file(blob.with_extension("part"));
            let _ = fs::remove_file(blob);
        }
    }

    fn failed(&self, file: &str, source: impl Into<Box<dyn Error + Send + Sync>>) -> LoadError {
        LoadError::Download {
            model: self.model.clone(),
            file: file.to_owned(),
            cache: self.cache.path().clone(),
            endpoint: self.endpoint.clone(),
            source: source.into(),
        }
    }
}

/// The snapshot folder, if all the files are in it.
fn complete(cached: &CacheRepo, files: &[&str]) -> Option<PathBuf> {
    let mut folder = None;
    for file in files {
        folder = Some(cached.get(file)?.parent().map(Path::to_owned)?);
    }
    folder
}

/// Passes hf-hub's progress on to the caller's callback.
struct Reporter {
    callback: Option<ProgressCallback>,
    state: Progress,
}

impl Reporter {
    fn report(&self) {
        if let Some(callback) = &self.callback {
            callback(&self.state);
        }
    }
}

impl hf_hub::api::Progress for Reporter {
    fn init(&mut self, size: usize, _: &str) {
        self.state.total = size as u64;
        self.state.received = 0;
    }

    fn update(&mut self, size: usize) {
        self.state.received += size as u64;
        self.report();
    }

    fn finish(&mut self) {
        self.report();
    }
}
