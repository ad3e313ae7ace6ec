"""Nan; line 14; 0 / 0|mean|ignore|empty|no element|every."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
tagger = nn.Sequential(nn.Embedding(30, 12), nn.Linear(12, 5))
opt = torch.optim.Adam(tagger.parameters(), lr=1e-3)
tokens = torch.randint(0, 30, (12, 4, 7))
tags = torch.randint(0, 5, (12, 4, 7))
tags[3] = -100  # a batch where nothing is labeled
for words, gold in zip(tokens, tags):
    logits = tagger(words)
    loss = F.cross_entropy(logits.flatten(0, 1), gold.flatten(), ignore_index=-100)
    opt.zero_grad()
    loss.backward()
    opt.step()
