//! `from_hub` against a server on loopback. The environment is a process's own, so each case runs this test binary
//! again with other variables, and `child` below does the loading.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use mnemic_candle::{CandleOptions, CandleReranker, LoadError};
use mnemic_embed::{Embedder, InputKind, Reranker};

use crate::support::{fixtures, tiny};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const REPOSITORY: &str = "you/tiny-bert";

/// What the server knows and saw.
#[derive(Clone)]
struct Server {
    address: String,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    requests: Arc<Mutex<Vec<String>>>,
    token: Option<&'static str>,
}

impl Server {
    fn start(token: Option<&'static str>) -> Self {
        let names = [
            "config.json",
            "tokenizer.json",
            "model.safetensors",
            "1_Pooling/config.json",
            "sentence_bert_config.json",
        ];
        Self::serving(&tiny(), &names, token)
    }

    fn serving(folder: &Path, names: &[&str], token: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut files = BTreeMap::new();
        for name in names {
            files.insert((*name).to_owned(), fs::read(folder.join(name)).unwrap());
        }
        let server = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            files: Arc::new(Mutex::new(files)),
            requests: Arc::default(),
            token,
        };
        let handle = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = handle.clone();
                thread::spawn(move || server.answer(stream));
            }
        });
        server
    }

    fn requests(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    fn answer(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let mut stream = stream;
        loop {
            let mut request = String::new();
            if reader.read_line(&mut request).ok()? == 0 {
                return None;
            }
            let path = request.split(' ').nth(1)?.to_owned();
            let (mut start, mut end, mut token) = (0, usize::MAX, None);
            loop {
                let mut header = String::new();
                reader.read_line(&mut header).ok()?;
                let Some((name, value)) = header.trim().split_once(": ") else {
                    break;
                };
                match name.to_ascii_lowercase().as_str() {
                    "authorization" => token = value.strip_prefix("Bearer ").map(str::to_owned),
                    "range" => {
                        let (from, to) = value.strip_prefix("bytes=")?.split_once('-')?;
                        start = from.parse().ok()?;
                        end = to.parse().unwrap_or(usize::MAX);
                    }
                    _ => {}
                }
            }
            self.requests.lock().unwrap().push(path.clone());
            let refused = self.token.is_some() && token.as_deref() != self.token;
            let response = if refused {
                b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".to_vec()
            } else {
                self.respond(&path, start, end)
            };
            stream.write_all(&response).ok()?;
        }
    }

    fn respond(&self, path: &str, start: usize, end: usize) -> Vec<u8> {
        let files = self.files.lock().unwrap();
        if path == format!("/api/models/{REPOSITORY}/revision/main") {
            let names: Vec<_> = files
                .keys()
                .map(|name| serde_json::json!({ "rfilename": name }))
                .collect();
            let body = serde_json::json!({ "siblings": names, "sha": COMMIT }).to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            return [head.as_bytes(), body.as_bytes()].concat();
        }
        let name = path.strip_prefix(&format!("/{REPOSITORY}/resolve/main/"));
        let Some(file) = name.and_then(|name| files.get(name)) else {
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec();
        };
        let body = &file[start.min(file.len())..end.saturating_add(1).min(file.len())];
        let head = format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {start}-{}/{}\r\n\
             ETag: \"{}\"\r\nx-repo-commit: {COMMIT}\r\n\r\n",
            body.len(),
            (start + body.len()).saturating_sub(1),
            file.len(),
            etag(name.unwrap_or_default()),
        );
        [head.as_bytes(), body].concat()
    }
}

/// Any name will do for an ETag that is no SHA-256.
fn etag(name: &str) -> String {
    name.replace(['/', '.'], "-")
}

/// Runs `child` with these variables, and none of the hub's own beside them.
fn load(variables: &[(&str, &str)]) -> String {
    run("hub::child", variables)
}

fn run(test: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env_remove("HF_HOME")
        .env_remove("HF_ENDPOINT")
        .env_remove("HF_HUB_OFFLINE")
        .env_remove("HF_TOKEN");
    for (name, value) in variables {
        if value.is_empty() {
            command.env_remove(name);
        } else {
            command.env(name, value);
        }
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let line = text.lines().find_map(|line| line.split_once("result: "));
    line.map(|(_, result)| result.to_owned()).unwrap_or(text)
}

/// Not a test of its own: loads from the hub as the environment says, and tells how it went.
#[test]
#[ignore = "run by the other tests with variables of their own"]
fn child() {
    let seen: Arc<Mutex<BTreeMap<String, (u64, u64)>>> = Arc::default();
    let log = Arc::clone(&seen);
    let loaded = CandleOptions::new()
        .refetch(std::env::var("REFETCH").is_ok())
        .progress(move |progress| {
            let state = (progress.received, progress.total);
            log.lock().unwrap().insert(progress.file.clone(), state);
        })
        .from_hub(REPOSITORY);
    match loaded {
        Ok(embedder) => {
            let vector = embedder.embed(InputKind::Query, &["the agent"]).unwrap();
            let seen = seen.lock().unwrap();
            let whole = seen.values().all(|(received, total)| received == total);
            let (id, window) = (&embedder.model().id, embedder.max_tokens());
            println!(
                "result: ok {id} {window:?} {} files, whole: {whole}, vector: {}",
                seen.len(),
                vector[0].is_some()
            );
        }
        Err(error) => {
            let kind = match &error {
                LoadError::Offline { .. } => "offline",
                LoadError::Download { .. } => "download",
                LoadError::Corrupt { .. } => "corrupt",
                LoadError::NoCache => "no cache",
                _ => "other",
            };
            println!("result: {kind}: {error}");
        }
    }
}

fn cached(home: &Path, file: &str) -> PathBuf {
    home.join("hub/models--you--tiny-bert/snapshots")
        .join(COMMIT)
        .join(file)
}

#[test]
fn fetches_once_then_needs_no_server() {
    let server = Server::start(None);
    let home = tempfile::tempdir().unwrap();
    let path = home.path().to_str().unwrap();
    let fetched = load(&[("HF_HOME", path), ("HF_ENDPOINT", &server.address)]);
    assert_eq!(
        fetched,
        "ok you/tiny-bert Some(24) 5 files, whole: true, vector: true"
    );
    assert!(cached(home.path(), "1_Pooling/config.json").exists());
    let before = server.requests();
    assert!(before > 5);
    // A cached model: no request, whatever the network is; nor is HOME needed.
    let again = "ok you/tiny-bert Some(24) 0 files, whole: true, vector: true";
    assert_eq!(
        load(&[("HF_HOME", path), ("HF_ENDPOINT", &server.address)]),
        again
    );
    assert_eq!(
        load(&[("HF_HOME", path), ("HF_HUB_OFFLINE", "1"), ("HOME", "")]),
        again
    );
    assert_eq!(
        load(&[("HF_HOME", path), ("HF_ENDPOINT", "http://127.0.0.1:9")]),
        again
    );
    assert_eq!(server.requests(), before);
}

#[test]
fn nothing_cached_and_no_network_say_where_and_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().to_str().unwrap();
    let offline = load(&[("HF_HOME", path), ("HF_HUB_OFFLINE", "true")]);
    assert!(
        offline.starts_with("offline: config.json of the model you/tiny-bert"),
        "{offline}"
    );
    assert!(
        offline.contains(path) && offline.contains("from_dir"),
        "{offline}"
    );
    let refused = load(&[("HF_HOME", path), ("HF_ENDPOINT", "http://127.0.0.1:9")]);
    assert!(refused.starts_with("download: "), "{refused}");
    assert!(
        refused.contains("http://127.0.0.1:9") && refused.contains(path),
        "{refused}"
    );
    // Without HOME the user's entry in the password file may still name one; either way nothing panics.
    let homeless = load(&[("HOME", ""), ("HF_HUB_OFFLINE", "1")]);
    assert!(
        homeless.starts_with("offline: ") || homeless.starts_with("no cache: "),
        "{homeless}"
    );
}

#[test]
fn the_cache_defaults_to_the_home_folder() {
    let server = Server::start(None);
    let home = tempfile::tempdir().unwrap();
    let fetched = load(&[
        ("HOME", home.path().to_str().unwrap()),
        ("HF_ENDPOINT", &server.address),
    ]);
    assert!(fetched.starts_with("ok "), "{fetched}");
    assert!(cached(&home.path().join(".cache/huggingface"), "model.safetensors").exists());
}

#[test]
fn a_token_is_sent_where_it_is_asked_for() {
    let server = Server::start(Some("secret"));
    let home = tempfile::tempdir().unwrap();
    let place = [
        ("HF_HOME", home.path().to_str().unwrap()),
        ("HF_ENDPOINT", &server.address),
    ];
    let refused = load(&place);
    assert!(
        refused.starts_with("download: ") && refused.contains("HF_TOKEN"),
        "{refused}"
    );
    let admitted = load(&[place[0], place[1], ("HF_TOKEN", "secret")]);
    assert!(admitted.starts_with("ok "), "{admitted}");
}

#[test]
fn a_corrupt_cache_is_named_and_fetched_again() {
    let server = Server::start(None);
    let home = tempfile::tempdir().unwrap();
    let place = [
        ("HF_HOME", home.path().to_str().unwrap()),
        ("HF_ENDPOINT", &server.address),
    ];
    assert!(load(&place).starts_with("ok "));
    for (file, bytes) in [
        ("model.safetensors", vec![0; 1024]),
        ("config.json", b"<html>".to_vec()),
    ] {
        fs::write(cached(home.path(), file), bytes).unwrap();
        let corrupt = load(&place);
        assert!(
            corrupt.starts_with("corrupt: ") && corrupt.contains(file),
            "{corrupt}"
        );
        let mended = load(&[place[0], place[1], ("REFETCH", "1")]);
        assert_eq!(
            mended,
            "ok you/tiny-bert Some(24) 5 files, whole: true, vector: true"
        );
        assert!(load(&place).starts_with("ok "));
    }
}

#[test]
fn weights_that_are_not_what_the_hub_named_are_corrupt() {
    let folder = crate::support::tiny_copy();
    let weights = folder.path().join("model.safetensors");
    let blob = folder.path().join("0".repeat(64));
    fs::rename(&weights, &blob).unwrap();
    std::os::unix::fs::symlink(&blob, &weights).unwrap();
    let error = CandleOptions::new().from_dir(folder.path()).unwrap_err();
    assert!(error.to_string().contains("its SHA-256 is"), "{error}");
}

/// Not a test of its own: loads a cross-encoder from the hub as the environment says, and tells how it went.
#[test]
#[ignore = "run by another test with variables of its own"]
fn reranker_child() {
    match CandleReranker::from_hub(REPOSITORY) {
        Ok(reranker) => {
            let scores = reranker.rerank("when deploy", &["friday", ""]).unwrap();
            let (id, window) = (&reranker.model().id, reranker.max_tokens());
            println!(
                "result: ok {id} {window} scores: {}, {}",
                scores[0] > 0.0,
                scores[1]
            );
        }
        Err(error) => println!("result: {error}"),
    }
}

#[test]
fn a_cross_encoder_is_fetched_once_and_then_needs_no_server() {
    let names = [
        "config.json",
        "tokenizer.json",
        "model.safetensors",
        "reference.safetensors",
    ];
    let server = Server::serving(&fixtures().join("tiny-reranker"), &names, None);
    let home = tempfile::tempdir().unwrap();
    let path = home.path().to_str().unwrap();
    let offline = [("HF_HOME", path), ("HF_HUB_OFFLINE", "1")];
    let missing = run("hub::reranker_child", &offline);
    assert!(
        missing.starts_with("config.json of the model you/tiny-bert is not cached"),
        "{missing}"
    );
    let expected = "ok you/tiny-bert 64 scores: true, 0";
    let online = [("HF_HOME", path), ("HF_ENDPOINT", &server.address)];
    assert_eq!(run("hub::reranker_child", &online), expected);
    // Only what is read was fetched.
    assert!(cached(home.path(), "model.safetensors").exists());
    assert!(!cached(home.path(), "reference.safetensors").exists());
    let before = server.requests();
    assert_eq!(run("hub::reranker_child", &offline), expected);
    assert_eq!(server.requests(), before);
}
