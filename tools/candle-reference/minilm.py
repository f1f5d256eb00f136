"""Makes tests/fixtures/minilm-reference.{json,safetensors}: what sentence-transformers gives for the reference texts.

    python tools/candle-reference/minilm.py DIR     (DIR: all-MiniLM-L6-v2, see tools/fetch-minilm.sh)

`vectors` are `SentenceTransformer.encode` as it is, long texts cut at 256 tokens by it. `windowed` are the vectors of
the texts longer than that, by windows.py over the same torch model.
"""

import json
import pathlib
import sys

import numpy as np
import torch
from safetensors.numpy import save_file
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

from texts import TEXTS
from windows import pool, spans

folder = sys.argv[1]
out = pathlib.Path(__file__).parents[2] / "crates/mnemic-candle/tests/fixtures"
torch.set_num_threads(1)
model = SentenceTransformer(folder, device="cpu")
vectors = np.stack(
    [model.encode(text, normalize_embeddings=True, convert_to_numpy=True) for text in TEXTS]
).astype(np.float32)

tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
tokenizer.no_truncation()
tokenizer.no_padding()
bert = model[0].auto_model if hasattr(model[0], "auto_model") else model[0].model
bert.eval()


def sequence(ids):
    with torch.no_grad():
        states = bert(input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids)).long())
    mean = states.last_hidden_state[0].double().mean(dim=0).numpy()
    return mean / np.linalg.norm(mean)


entries, windowed = [], []
for text in TEXTS:
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    cut = spans(len(ids), 254)
    entries.append({"text": text, "tokens": len(ids), "windows": len(cut) if ids else 0})
    if len(cut) > 1:
        windowed.append(pool([sequence([101, *ids[a:b], 102]) for a, b in cut]))

# The same model by both ways, as a check of this script.
for i, entry in enumerate(entries):
    if 0 < entry["tokens"] <= 254:
        ids = tokenizer.encode(entry["text"], add_special_tokens=False).ids
        assert np.abs(sequence([101, *ids, 102]) - vectors[i]).max() < 2e-6, entry

out.mkdir(parents=True, exist_ok=True)
save_file(
    {"vectors": vectors, "windowed": np.stack(windowed).astype(np.float32)},
    str(out / "minilm-reference.safetensors"),
)
(out / "minilm-reference.json").write_text(json.dumps(entries, ensure_ascii=True, indent=1) + "\n")
print(len(entries), "texts,", len(windowed), "of them in windows")
