"""Makes tests/fixtures/tiny/: a random BERT of two layers and its reference vectors, by transformers in f64.

    python tools/candle-reference/tiny.py

Its sizes fit no vector width on purpose (hidden 36, heads of 12, intermediate 84), and its tokenizer.json presets
truncation and padding to 16, which an embedder must override: the window is 24.
"""

import json
import pathlib

import numpy as np
import torch
from safetensors.torch import save_file
from safetensors.numpy import save_file as save_numpy
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, decoders
from transformers import BertConfig, BertModel

from texts import TEXTS, WORDS
from windows import pool, spans

out = pathlib.Path(__file__).parents[2] / "crates/mnemic-candle/tests/fixtures/tiny"
(out / "1_Pooling").mkdir(parents=True, exist_ok=True)
torch.manual_seed(7)
torch.set_num_threads(1)

letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
digits = list("0123456789")
vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
vocabulary += letters + ["##" + x for x in letters] + digits + ["##" + x for x in digits]
vocabulary += list(".,:;?!'\"()/-_=&%#@*+<>") + ["日", "本", "今", "東", "京"]
vocabulary += sorted(set(WORDS)) + ["the", "of", "and", "##ing", "##ed", "##s", "##er"]
tokenizer = Tokenizer(models.WordPiece({v: i for i, v in enumerate(vocabulary)}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer()
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
tokenizer.decoder = decoders.WordPiece()
tokenizer.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
)
tokenizer.add_special_tokens(vocabulary[:5])
tokenizer.enable_truncation(16)
tokenizer.enable_padding(length=16)
tokenizer.save(str(out / "tokenizer.json"), pretty=False)
tokenizer.no_truncation()
tokenizer.no_padding()

config = BertConfig(
    vocab_size=len(vocabulary),
    hidden_size=36,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=84,
    max_position_embeddings=64,
    type_vocab_size=2,
    layer_norm_eps=1e-12,
)
model = BertModel(config, add_pooling_layer=False)
with torch.no_grad():
    for name, weight in model.named_parameters():
        if "LayerNorm.weight" in name:
            weight.copy_(1 + 0.2 * torch.randn_like(weight))
        else:
            weight.copy_(0.25 * torch.randn_like(weight))
model.eval()
save_file(
    {name: weight.contiguous() for name, weight in model.state_dict().items() if "position_ids" not in name},
    str(out / "model.safetensors"),
    metadata={"format": "pt"},
)
shape = {
    "model_type": "bert",
    "hidden_act": "gelu",
    **{k: getattr(config, k) for k in (
        "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
        "max_position_embeddings", "type_vocab_size", "layer_norm_eps",
    )},
}
(out / "config.json").write_text(json.dumps(shape, indent=1) + "\n")
(out / "1_Pooling/config.json").write_text(
    json.dumps({"word_embedding_dimension": 36, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}) + "\n"
)
(out / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 24}) + "\n")

references = {}
for activation in ("gelu", "gelu_new", "relu"):
    shape["hidden_act"] = config.hidden_act = activation
    exact = BertModel(config, add_pooling_layer=False)
    exact.load_state_dict(model.state_dict())
    exact = exact.double().eval()

    def embed(text, pooling):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        vectors = []
        for a, b in spans(len(ids), 22):
            with torch.no_grad():
                states = exact(torch.tensor([[2, *ids[a:b], 3]])).last_hidden_state[0]
            vector = (states.mean(dim=0) if pooling == "mean" else states[0]).numpy()
            vectors.append(vector / np.linalg.norm(vector))
        return pool(vectors)

    poolings = ("mean", "cls") if activation == "gelu" else ("mean",)
    for pooling in poolings:
        references[f"{activation} {pooling}"] = np.stack([embed(text, pooling) for text in TEXTS]).astype(np.float32)
save_numpy(references, str(out / "reference.safetensors"))
sizes = {path.name: path.stat().st_size for path in out.rglob("*") if path.is_file()}
print(sizes, sum(sizes.values()), len(vocabulary))
