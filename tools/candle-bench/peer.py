"""ONNX Runtime as the peer of `cargo bench --bench candle`: embeds what it is told and says how long it took.

    python peer.py MODEL_DIR MODEL.onnx THREADS

Reads a line of JSON: {"texts": [...], "repeat": n}. Answers a line of JSON: {"all": seconds, "model": seconds, "first": vector}
for one repetition: with tokenising and pooling, and the session's run alone.
"""

import json
import sys
import time

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

folder, path, threads = sys.argv[1:]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(threads)
options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
tokenizer.enable_truncation(256)
tokenizer.enable_padding()
names = {i.name for i in session.get_inputs()}


def embed(texts):
    encoded = tokenizer.encode_batch(texts)
    ids = np.array([e.ids for e in encoded], dtype=np.int64)
    mask = np.array([e.attention_mask for e in encoded], dtype=np.int64)
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    if any("int32" in i.type for i in session.get_inputs()):
        feed = {k: v.astype(np.int32) for k, v in feed.items()}
    begin = time.perf_counter()
    states = session.run(None, {k: v for k, v in feed.items() if k in names})[0]
    model = time.perf_counter() - begin
    vectors = (states * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), model


for line in sys.stdin:
    request = json.loads(line)
    begin, model = time.perf_counter(), 0.0
    for _ in range(request["repeat"]):
        vectors, inner = embed(request["texts"])
        model += inner
    repeat = request["repeat"]
    seconds = (time.perf_counter() - begin) / repeat
    print(json.dumps({"all": seconds, "model": model / repeat, "first": vectors[0].tolist()}), flush=True)
