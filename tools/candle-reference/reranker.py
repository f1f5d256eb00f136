"""Makes tests/fixtures/tiny-reranker/: a random cross-encoder of two layers and its reference logits, by transformers'
BertForSequenceClassification in f64. Run it after tiny.py, whose tokenizer it takes.

    python tools/candle-reference/reranker.py

As no real weights are in it, it tells whether the arithmetic is that of transformers, and nothing about quality.
"""

import json
import pathlib

import numpy as np
import torch
from safetensors.torch import save_file
from safetensors.numpy import save_file as save_numpy
from tokenizers import Tokenizer, processors
from transformers import BertConfig, BertForSequenceClassification

from texts import TEXTS
from windows import spans

WINDOW = 64
# Questions, as indices of TEXTS: short ones, other scripts, one of 30 words (half a window) and one of 100.
QUESTIONS = [0, 3, 11, 12, 34, 33, 44, 45, 46]

fixtures = pathlib.Path(__file__).parents[2] / "crates/mnemic-candle/tests/fixtures"
out = fixtures / "tiny-reranker"
out.mkdir(parents=True, exist_ok=True)
torch.manual_seed(11)
torch.set_num_threads(1)

tokenizer = Tokenizer.from_file(str(fixtures / "tiny/tokenizer.json"))
tokenizer.post_processor = processors.TemplateProcessing(
    single="[CLS]:0 $A:0 [SEP]:0",
    pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
    special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
)
tokenizer.save(str(out / "tokenizer.json"), pretty=False)
tokenizer.no_truncation()
tokenizer.no_padding()

config = BertConfig(
    vocab_size=json.loads((fixtures / "tiny/config.json").read_text())["vocab_size"],
    hidden_size=36,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=84,
    max_position_embeddings=WINDOW,
    type_vocab_size=2,
    layer_norm_eps=1e-12,
    num_labels=1,
)
model = BertForSequenceClassification(config)
with torch.no_grad():
    for name, weight in model.named_parameters():
        if "LayerNorm.weight" in name:
            weight.copy_(1 + 0.2 * torch.randn_like(weight))
        elif name == "classifier.weight":
            # Logits of about ±4: at ±12 the rounding of f32 alone, torch's too, is more than a hundred-thousandth.
            weight.copy_(0.4 * torch.randn_like(weight))
        else:
            weight.copy_(0.25 * torch.randn_like(weight))
model.eval()
save_file(
    {name: weight.contiguous() for name, weight in model.state_dict().items() if "position_ids" not in name},
    str(out / "model.safetensors"),
    metadata={"format": "pt"},
)
shape = {
    "architectures": ["BertForSequenceClassification"],
    "model_type": "bert",
    "hidden_act": "gelu",
    "id2label": {"0": "LABEL_0"},
    **{k: getattr(config, k) for k in (
        "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
        "max_position_embeddings", "type_vocab_size", "layer_norm_eps",
    )},
}
(out / "config.json").write_text(json.dumps(shape, indent=1) + "\n")


def pairs(question, passage):
    """mnemic-candle's documented way with pairs longer than the window, written again from its description."""
    capacity = WINDOW - 3
    if len(question) + len(passage) <= capacity:
        return [(question, passage)]
    half = capacity // 2
    cut = []
    for a, b in spans(len(question), half):
        for c, d in spans(len(passage), capacity - (b - a)):
            cut.append((question[a:b], passage[c:d]))
    return cut


references = {}
counts = np.zeros((len(QUESTIONS), len(TEXTS)), dtype=np.uint32)
for activation in ("gelu", "gelu_new", "relu"):
    config.hidden_act = activation
    exact = BertForSequenceClassification(config)
    exact.load_state_dict(model.state_dict())
    exact = exact.double().eval()

    def logit(question, passage):
        ids, types = [2, *question, 3, *passage, 3], [0] * (len(question) + 2) + [1] * (len(passage) + 1)
        with torch.no_grad():
            return exact(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits.item()

    logits = np.full(counts.shape, np.nan, dtype=np.float32)
    encoded = [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS]
    for i, question in enumerate(QUESTIONS):
        for j, passage in enumerate(encoded):
            # A pair without tokens on one side has no logit in mnemic-candle.
            if encoded[question] and passage:
                cut = pairs(encoded[question], passage)
                counts[i, j] = len(cut)
                logits[i, j] = max(logit(a, b) for a, b in cut)
                # What fits is encoded by the tokenizer's own template too.
                if len(cut) == 1:
                    whole = tokenizer.encode(TEXTS[question], TEXTS[j])
                    assert whole.ids == [2, *encoded[question], 3, *passage, 3]
                    assert whole.type_ids == [0] * (len(encoded[question]) + 2) + [1] * (len(passage) + 1)
    references[activation] = logits
    print(activation, "logits from", np.nanmin(logits), "to", np.nanmax(logits), "sd", np.nanstd(logits))
references["windows"] = counts
references["questions"] = np.array(QUESTIONS, dtype=np.uint32)
save_numpy(references, str(out / "reference.safetensors"))
sizes = {path.name: path.stat().st_size for path in out.rglob("*") if path.is_file()}
print(sizes, sum(sizes.values()), "most windows", counts.max())
