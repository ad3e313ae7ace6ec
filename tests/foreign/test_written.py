"""What the remedies of findings are in a PyTorch script's text."""
from __future__ import annotations

import linecache
from pathlib import Path

import pytest

from autodiff.core.graph import Graph
from autodiff.core.site import Site
from autodiff.debug.analysis.advice import advice_of
from autodiff.debug.analysis.findings import Finding
from autodiff.debug.engine.questions.patches import patch_of_lines
from autodiff.debug.facts.records import Place
from autodiff.foreign.model import tf
from autodiff.foreign.torch.batches import source_of_batches
from autodiff.foreign.torch.of_losses import logarithms_at
from autodiff.foreign.torch.uncut import connected
from autodiff.foreign.torch.written import Known, slower, thawed, written

EPOCHS = ["for e in n:", "    for x in l:", "        f(x).backward()", "        o.step()", "        s.step()", "    p"]
# kind, or "kind of an op"; the line it is about; those of step, call and backward; the text, and as it is remedied
CASES = [
    ("gradients accumulate", 1, (2, 0, 0), "l.backward()|self.o.step()  # all", "l.backward()|self.o.step()  # all|"
     "self.o.zero_grad()"),
    ("gradients accumulate", 1, (2, 0, 0), "l.backward()|scaler.step(o)", "l.backward()|scaler.step(o)|o.zero_grad()"),
    ("gradients accumulate", 1, (2, 0, 0), "l.backward()|o.step(); i += 1", ""),
    ("not in the optimizer", 1, (), "self.a = []|self.a.append([f(),|    g()])",
     "self.a = torch.nn.ModuleList([])|self.a.append(torch.nn.ModuleList([f(),|    g()]))"),
    ("not in the optimizer", 1, (), "a = []|a.append((f(), g()))",
     "a = torch.nn.ModuleList([])|a.append(torch.nn.ModuleList((f(), g())))"),
    ("nothing to step by", 2, (3, 0, 1), "l.backward()|o.zero_grad()|o.step()", "o.zero_grad()|l.backward()|o.step()"),
    ("never stepped", 3, (0, 0, 3), "for x in l:|    o.zero_grad()|    f(x).backward()",
     "for x in l:|    o.zero_grad()|    f(x).backward()|    o.step()"),
    ("never stepped", 4, (0, 0, 4), "for x in l:|    o.zero_grad()|    q.zero_grad()|    f(x).backward()", ""),
    ("tested in training mode", 2, (), "net.train()|h = net(x)", "net.train()|net.eval()|h = net(x)"),
    ("tested in training mode", 1, (), "h = net(x)", ""),
    ("momentum too high", 1, (), "o = SGD(p, momentum=0.9995)", "o = SGD(p, momentum=0.9)"),
    ("clipped to nothing", 1, (), "clip_grad_norm_(p, 1e-9)", "clip_grad_norm_(p, 1.0)"),
    ("eval mode of self.net.bn", 1, (0, 2, 0), "self.net.eval()|h = f(self.net(x), y)",
     "self.net.eval()|self.net.train()|h = f(self.net(x), y)"),
    ("eval mode of net.bn", 1, (0, 2, 0), "net.eval()|h = other(x)", ""),
    ("rate fades", 5, (4, 0, 3), "|".join(EPOCHS), "|".join([*EPOCHS[:4], "    s.step()", EPOCHS[5]])),
    ("rate fades", 4, (5, 0, 3), "|".join([*EPOCHS[:3], EPOCHS[4], EPOCHS[3], EPOCHS[5]]),
     "|".join([*EPOCHS[:4], "    s.step()", EPOCHS[5]])),
    ("rate fades", 2, (), "for x in l:|    s.step()", ""),
    ("broadcast of column", 1, (), "l = loss(net(x, 1), y)", "l = loss(net(x, 1).squeeze(1), y)"),
    ("broadcast of column", 1, (), "l = ((a * b - y) ** 2).mean()", "l = (((a * b).squeeze(1) - y) ** 2).mean()"),
    ("broadcast of rows", 1, (), "l = loss(net(x), y)", ""),
    ("no gradient of cut", 1, (), "h = f(x).detach() * 2", "h = f(x) * 2"),
    ("no gradient of cut", 1, (), "h = f(x.data)", "h = f(x)"),
    ("no gradient of cut", 2, (), "s.p.append(f(x))|h = torch.tensor(s.p) * a",
     "s.p.append(f(x))|h = torch.stack(s.p) * a"),
    ("no gradient of cut", 1, (), "h = torch.as_tensor(np.array([float(a) for a in b]))",
     "h = torch.stack([a for a in b])"),
    ("no gradient of cut", 1, (), "a = mse(q.detach(), z)|b = mse(q.detach(), z)|l = a + 0.25 * b",
     "a = mse(q, z.detach())|b = mse(q.detach(), z)|l = a + 0.25 * b"),
    ("no gradient of cut", 1, (), "a = ((q.detach() - z) ** 2).mean()|b = 0.25 * ((q.detach() - z) ** 2).mean()",
     "a = ((q - z.detach()) ** 2).mean()|b = 0.25 * ((q.detach() - z) ** 2).mean()"),
    ("no gradient of cut", 2, (), "with torch.no_grad(), f:|    h = n(x)", "with torch.enable_grad(), f:|    h = n(x)"),
    ("no gradient of cut", 3, (), "for x in l:|    with torch.no_grad():|        h = g(x)|    a = d(h)|"
     "    a.backward(); o.step()|    d(h).backward()", "for x in l:|    with torch.enable_grad():|        h = g(x)|"
     "    a = d(h.detach())|    a.backward(); o.step()|    d(h).backward()"),
    ("no gradient of chosen", 2, (), "with torch.no_grad():|    h = n(x)", ""),
    ("no gradient of cut", 2, (), "for x in l:|    h = g(x).detach()|    a = d(h)|    a.backward()|"
     "    b = d(h)|    b.backward()", "for x in l:|    h = g(x)|    a = d(h.detach())|    a.backward()|    b = d(h)|"
     "    b.backward()"),
    ("sample cut", 1, (), "z = Normal(m, s).sample()", "z = Normal(m, s).rsample()"),
    ("sample cut", 1, (), "z[t] = torch.normal(mean=m, std=f(v))", "z[t] = m + f(v) * torch.randn_like(m)"),
    ("sample cut", 1, (), "z = 2 * torch.normal(f(x), s + 1)", ""), ("sample cut", 1, (), "z = a.normal(m, s)", ""),
    ("sample cut", 1, (), "z = 2 * torch.normal(m, s - 1)", "z = 2 * (m + (s - 1) * torch.randn_like(m))"),
    ("targets out of range of shares", 2, (), "m = Sequential(nn.Linear(), nn.Sigmoid())|l = f(m(x))",
     "m = Sequential(nn.Linear(), nn.Identity())|l = f(m(x))"),
    ("targets out of range of shares", 1, (), "h = g(torch.sigmoid(f(x)))", "h = g(f(x))"),
    ("equal initial values", 1, (), "nn.init.zeros_(m.weight)", "nn.init.xavier_uniform_(m.weight)"),
    ("equal initial values", 1, (), "init.constant_(p, 0.5)", "init.normal_(p, std=0.1)"),
    ("equal initial values", 1, (), "w = P(torch.zeros(3, n))", "w = P(0.1 * torch.randn(3, n))"),
    ("equal initial values", 1, (), "p.data.fill_(0.5)", "p.data.normal_(0, 0.1)"),
    ("empty mean", 1, (), "l = abs(p[m] - y).mean()", "l = abs(p[m] - y).sum() / max(p[m].numel(), 1)"),
    ("empty mean", 1, (), "l = 2 * F.nll_loss(p, y, ignore_index=k)", "l = 2 * (F.nll_loss(p, y, ignore_index=k, "
     'reduction="sum") / (y != k).sum().clamp(min=1))'),
    ("empty mean", 2, (), "self.c = nn.HuberLoss()|l = self.c(p, y + 1)", 'self.c = nn.HuberLoss(reduction="sum")|'
     "l = self.c(p, y + 1) / max((y + 1).numel(), 1)"),
    ("empty mean", 2, (), "c = nn.MSELoss()|l = c(p, y)|t = c(q, y)", ""),
    ("axes of batch and time", 1, (), "r = nn.GRU(4, 5)", "r = nn.GRU(4, 5, batch_first=True)"),
    ("axes of batch and time", 1, (), "r = nn.GRU(4, batch_first=False)", "r = nn.GRU(4, batch_first=True)"),
    ("axes of batch and time", 1, (), "r = nn.MultiheadAttention(4, 2)",
     "r = nn.MultiheadAttention(4, 2, batch_first=True)"),
    ("divergence too heavy", 1, (), "l = F.mse_loss(g(z), x) / 2", "l = 40 * F.mse_loss(g(z), x) / 2"),
    ("one for all", 1, (), "y = r + n(x).max()", "y = r + n(x).max(dim=1).values"),
    ("one for all", 1, (), "y = r + torch.amax(n(x))", "y = r + torch.amax(n(x), dim=1)"),
    ("one for all", 1, (), "y = r + max(a.max(), b.max())", ""),
    ("inputs not scaled", 3, (), "x = f()|x = x.float()|o = 0", "x = f()|x = x.float()|"
     "x = (x - x.mean(0)) / (x.std(0) + 1e-8)|o = 0"),
    ("inputs not scaled", 1, (), "for i in j:|    x = f()", ""),
    ("inputs not scaled", 3, (), "a = f()|for i in j:|    x = a[i].float()", "a = f()|a = (a.float() - a.float().mean(0"
     ")) / (a.float().std(0) + 1e-8)|for i in j:|    x = a[i].float()"),
    ("inputs not scaled", 3, (), "a = f()|for i in j:|    l = (n(a[i]) - b[i]).mean()",
     "a = f()|a = (a - a.mean(0)) / (a.std(0) + 1e-8)|for i in j:|    l = (n(a[i]) - b[i]).mean()"),
    ("no logarithms", 1, (), "l = loss(h, y)", "l = loss(h.log_softmax(1), y)"),
    ("losses keep their graphs", 1, (), "total += loss", "total += loss.item()"),
    ("dropout in evaluation", 3, (), "class N:|  def forward(self, x):|    return F.dropout(x, 0.5)",
     "class N:|  def forward(self, x):|    return F.dropout(x, 0.5, training=self.training)"),
    ("frozen parameters", 1, (), "p.requires_grad = False", "p.requires_grad = True"),
    ("not in the optimizer", 1, (), "self.h = [f(i) for i in n]", "self.h = torch.nn.ModuleList([f(i) for i in n])"),
    ("not in the optimizer", 1, (), "s.h = {i: f(i) for i in n}", "s.h = torch.nn.ModuleDict({i: f(i) for i in n})"),
    ("not in the optimizer", 1, (), "self.h = [nn.Parameter(i)]", "self.h = torch.nn.ParameterList([nn.Parameter(i)])"),
    ("not in the optimizer", 1, (0, 0, 0, 0, 3), "o = SGD(m.parameters())|x = f()|m.fc = nn.Linear(3, 4)|t = f(x)",
     "x = f()|m.fc = nn.Linear(3, 4)|o = SGD(m.parameters())|t = f(x)"),
    ("not in the optimizer", 1, (0, 0, 0, 0, 3), "o = SGD(m.parameters())|s = Step(o)|m.fc = nn.Linear(3, 4)",
     "m.fc = nn.Linear(3, 4)|o = SGD(m.parameters())|s = Step(o)"),
    ("not in the optimizer", 1, (0, 0, 0, 0, 4), "o = SGD([|  {'params': m.fc.parameters(), 'lr': .1}])|t(m, o)|"
     "m.fc = nn.Linear(3, 4)", "o = SGD([|  {'params': m.fc.parameters(), 'lr': .1}])|t(m, o)|m.fc = nn.Linear(3, 4)|"
     "o.add_param_group({\"params\": m.fc.parameters(), 'lr': 0.1})"),
    ("not in the optimizer", 1, (0, 0, 0, 0, 4), "o = SGD([|  {'params': m.fc.parameters()}])|n = 4|"
     "m.fc = nn.Linear(3, n)", "o = SGD([|  {'params': m.fc.parameters()}])|n = 4|m.fc = nn.Linear(3, n)|"
     'o.add_param_group({"params": m.fc.parameters()})'),
    ("not in the optimizer", 1, (0, 0, 0, 0, 3), "o = SGD([|  {'params': m.fc.parameters()}])|"
     "m.fc = nn.Linear(3, 4)", "m.fc = nn.Linear(3, 4)|o = SGD([|  {'params': m.fc.parameters()}])"),
    ("not in the optimizer", 1, (0, 0, 0, 0, 3), "o, s = both(m, 'a')|n = 4|swap(m)",
     "n = 4|swap(m)|o, s = both(m, 'a')"),
    ("not in the optimizer", 1, (0, 0, 0, 0, 3), "o = f(m)|if n:|    swap(m)", ""),
    ("not in the optimizer", 3, (0, 0, 0, 0, 4), "def swap(m):|    o.param_groups = m.new|o = f(m)|swap(m)", ""),
    ("clipped in vain", 2, (4, 0, 3), "for b in d:|    clip(p)|    f(b).backward()|    o.step()",
     "for b in d:|    f(b).backward()|    clip(p)|    o.step()"),
    ("clipped in vain", 4, (3, 0, 2), "for b in d:|    f(b).backward()|    o.step()|    clip(p)",
     "for b in d:|    f(b).backward()|    clip(p)|    o.step()"),
    ("clipped in vain", 3, (5, 0, 4), "for b in d:|    if c:|        clip(p)|    f(b).backward()|    o.step()",
     "for b in d:|    f(b).backward()|    if c: clip(p)|    o.step()"),
    ("clipped in vain", 2, (3, 0, 5), "def f(b):|    clip(p)|    o.step()|def g(b):|    b.backward()",
     "def f(b):|    clip(p)|    o.step()|def g(b):|    b.backward()".replace("clip(p)|    o", "clip(p)|    o")),
    ("clipped in vain", 2, (5, 0, 4), "def f(b):|    clip(p)|def g(b):|    b.backward()|    o.step()", ""),
    ("mean before square", 1, (), "l = (p - y).mean() ** 2", "l = ((p - y) ** 2).mean()"),
    ("mean before square", 3, (), "import torch|m = torch.mean(r, 0)|l = 3 * m.pow(2) + k",
     "import torch|m = torch.mean(r, 0)|l = 3 * (r ** 2).mean(0) + k"),
    ("mean before square", 2, (), "import torch|l = torch.norm(torch.mean(a - b, dim=0))",
     "import torch|l = ((a - b) ** 2).mean(dim=0)"),
    ("mean before square", 1, (), "l = a.mean() ** 2 + b.mean() ** 2", ""),
    ("mean before square", 1, (), "l = f(a) ** 2", ""),
    ("reshape for transpose of units", 1, (), "x = c(h).view(-1, 5)", "x = c(h).permute(0, 2, 1).reshape(-1, 5)"),
    ("reshape for transpose of units", 1, (), "x = torch.reshape(h, n)", "x = torch.reshape(h.permute(0, 2, 1), n)"),
    ("reshape for transpose of states", 1, (), "x = h.view(b, -1)", "x = h.permute(1, 0, 2).reshape(b, -1)"),
    ("result not used of h", 1, (), "F.normalize(h, dim=1)", "h = F.normalize(h, dim=1)"),
    ("result not used of w[m]", 1, (), "w[m].clamp_(0)", "w[m] = w[m].clamp(0)"),
    ("result not used of h", 1, (), "h = F.normalize(h)", ""),
    ("mixed derivatives", 2, (), "import torch|h = torch.autograd.grad(torch.sum(g), x, create_graph=True)[0]",
     "import torch|h = torch.stack([torch.autograd.grad(g[:, i].sum(), x, create_graph=True)[0][:, i] "
     "for i in range(40)], 1)"),
    ("derivatives added up", 1, (), "h = torch.autograd.grad(f(g), x, torch.ones_like(g))[0]",
     "h = torch.autograd.grad(f(g)[:, 40].sum(), x)[0]"),
    ("derivatives added up", 1, (), "h = grad(g(x), x, grad_outputs=torch.ones(3), create_graph=True)[0]",
     "h = grad(g(x)[:, 40], x, create_graph=True)[0]"),
    ("mixed derivatives", 3, (), "import torch|from torch import autograd|h = autograd.grad(g, x, ones_like(g))[0]",
     "import torch|from torch import autograd|h = torch.stack([autograd.grad(g[:, i].sum(), x)[0][:, i] "
     "for i in range(40)], 1)"),
    ("not in the optimizer", 3, (), "import torch as th|s.c = [|    th.nn.Conv1d(3),|    th.nn.Conv1d(4)]|",
     "import torch as th|s.c = th.nn.ModuleList([|    th.nn.Conv1d(3),|    th.nn.Conv1d(4)])|"),
    ("mixed derivatives", 1, (), "h, = torch.autograd.grad(g.sum(), x)", ""),
    ("added after backward", 4, (0, 0, 2), "l = f(x)|l.backward()|p = g(w)|l = l + p",
     "l = f(x)|p = g(w)|l = l + p|l.backward()"),
    ("added after backward", 5, (0, 0, 2), "l = f(x)|l.backward()|p = 0|p += g(w)|l = l + p", ""),
    ("not in the optimizer", 1, (), "w = nn.Parameter(torch.randn(3)).to(d) * 0.1",
     "w = nn.Parameter(torch.randn(3).to(d) * 0.1)"),
    ("not in the optimizer", 1, (), "m = [nn.Parameter(x) * 2, 1][0]", ""),
    ("not in the optimizer", 1, (), "m = Module(nn.Parameter(x))", ""),
    ("frozen embeddings", 1, (), "e = Embedding.from_pretrained(v)", "e = Embedding.from_pretrained(v, freeze=False)"),
    ("weight decay", 1, (), "o = SGD(p, lr=0.1, weight_decay=2.0)", "o = SGD(p, lr=0.1, weight_decay=1e-4)"),
    ("single deviation", 1, (), "r = (r - m) / (r.std() + e)", "r = (r - m) / (r.std(unbiased=False) + e)"),
    ("single deviation", 1, (), "v = torch.var(x, 0)", "v = torch.var(x, 0, unbiased=False)"),
    ("single deviation", 1, (), "v = x.var(0) + y.var(0)", ""),
    ("sorted by class", 2, (), "d = DataLoader(s, 5, shuffle=False)|f(d)", "d = DataLoader(s, 5, shuffle=True)|f(d)"),
    ("sorted by class", 2, (), "d = DataLoader(s, n=5)|f(d)", "d = DataLoader(s, n=5, shuffle=True)|f(d)"),
    ("sorted by class", 2, (), "d = DataLoader(s, sampler=5)|f(d)", ""),
    ("sorted by class", 2, (), "d = DataLoader(s)|e = DataLoader(s)|f(d)", ""),
    ("reshape for transpose of viewed", 1, (), "x = x.view(4, -1, 2)", "x = x.permute(0, 2, 1)"),
    ("reshape for transpose of viewed", 1, (), "x = torch.reshape(f(x), n)", "x = f(x).permute(0, 2, 1)"),
    ("double sigmoid of loss", 2, (), "m = Sequential(nn.Linear(), nn.Sigmoid())|l = f(m(x))",
     "m = Sequential(nn.Linear(), nn.Identity())|l = f(m(x))"),
    ("learning rate too high", 1, (0, 0, 0, 2), "l.backward()|o = SGD(p, lr=0.5)", "l.backward()|o = SGD(p, lr=0.05)"),
    ("steps too large", 1, (0, 0, 0, 1), "o = optim.Adam(p, c['lr'] + a)", "o = optim.Adam(p, (c['lr'] + a) * 0.1)"),
    ("softmax over the batch of scores", 1, (), "w = F.softmax(s, dim=0)", "w = F.softmax(s, dim=1)"),
    ("softmax over the batch of classes", 1, (), "w = s.softmax(0)", "w = s.softmax(-1)"),
    ("never stepped", 3, (0, 0, 3), "def f(x):|    o.zero_grad()|    f(x).backward()",
     "def f(x):|    o.zero_grad()|    f(x).backward()|    o.step()"),
    ("copied the wrong way", 2, (), "if i:|    a.net.load_state_dict(self.b.state_dict())",
     "if i:|    self.b.load_state_dict(a.net.state_dict())"),
    ("copied the wrong way", 1, (), "a.load_state_dict(kept)", ""),
    ("nan", 1, (), "l = loss(h, y)", "")]


@pytest.mark.parametrize("kind, line, lines, old, new", CASES)
def test_lines_as_the_remedy_has_them(kind: str, line: int, lines: tuple[int, ...], old: str, new: str, tmp_path: Path,
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (text.replace("|", "\n") for text in (old, new))
    file = _file(old, tmp_path, monkeypatch)
    with (graph := Graph()).as_default():
        column, row = tf.placeholder(tf.float32, [3, 1]), tf.placeholder(tf.float32, [3])
        for made in (tf.subtract(column, row, name="column"), tf.subtract(row, row, name="rows"),
                     tf.argmax(row, name="chosen"), tf.stop_gradient(row, name="cut")):
            assert made is not None
        tf.reshape(tf.placeholder(tf.float32, [4, 2, 3]), [4, 3, 2], name="viewed")
        tf.reshape(tf.transpose(tf.layers.dense(tf.zeros([2, 7, 3]), 5), [0, 2, 1]), [-1, 5], name="units")
        tf.reshape(tf.placeholder(tf.float32, [2, 4, 3]), [4, 6], name="states")
        tf.square(tf.sigmoid(row, name="shares"), name="loss")
        advice_of(graph).makers["shares"] = f"Sigmoid made at {Path(file).name}:1"
        for name, last in (("scores", 1), ("classes", 4)):
            tf.nn.softmax(tf.transpose(tf.placeholder(tf.float32, [5, 3, last]), [2, 1, 0]), name=name)
    kind, _, op = kind.rpartition(" of ") if kind[-5:] != " time" and " of " in kind else (kind, "", "")
    remedy = "tf.transpose(x, [1, 0, 2])" if op == "states" else ""
    finding = Finding(90, kind, op, "", "x:0", "", remedy, "", Place(file, line, "", ""),
                      written="40" * (kind != "gradients accumulate"))
    *sites, late = (Site(file, at, "") if at else None for at in [*lines, 0, 0, 0, 0, 0][:5])
    found = written(finding, Known(graph, *sites, late=late))
    assert _patched(found, file, old) == f"{new or old}\n" and bool(found) == bool(new)


@pytest.mark.parametrize("old, new", [
    ("def f(x):|    e = g(x)|    e = e.detach().numpy()|    e = e / np.linalg.norm(e, axis=1, keepdims=True)|"
     "    return torch.from_numpy(e)", "def f(x):|    e = g(x)|    e = e / torch.linalg.norm(e, dim=1, keepdim=True)|"
     "    return e"),
    ("def f(x):|    e = g(x).detach().numpy()|    n = np.sqrt(np.sum(e ** 2, axis=1))|    return torch.tensor(e / n)",
     "def f(x):|    e = g(x)|    n = torch.sqrt(torch.sum(e ** 2, axis=1))|    return e / n"),
    ("def f(x):|    e = g(x).detach().numpy()|    e = np.median(e)|    return torch.tensor(e)", "")])
def test_what_numpy_computes_in_between_is_computed_by_torch(old: str, new: str, tmp_path: Path,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (text.replace("|", "\n") for text in (old, new))
    file = _file(old, tmp_path, monkeypatch)
    found = connected(file, next(i for i, line in enumerate(old.split("\n"), 1) if "detach" in line))
    assert _patched(found, file, old) == f"{new or old}\n" and bool(found) == bool(new)


@pytest.mark.parametrize("old, new", [
    ("l = torch.tensor(l.item(), requires_grad=True)", "l = l"), ("l = -(torch.tensor(logs) * r).sum()",
     "l = -(torch.stack(logs) * r).sum()"), ("l = torch.tensor([a.item(), float(b)])", "l = torch.stack([a, b])"),
    ("l = Variable(l.data)", "l = l"), ("l = f(a)", ""), ("l = torch.tensor(f(a), requires_grad=True)", "l = f(a)"),
    ("l = f(a).item()|l = torch.tensor(l)", "l = f(a)"), ("for a in b:|    s += f(a).item()|l = torch.tensor(s)",
     "for a in b:|    s += f(a)|l = s"), ("for a in b:|    s.append(f(a).item())|l = torch.tensor(s).mean()",
     "for a in b:|    s.append(f(a))|l = torch.stack(s).mean()"),
    ("p = f(a).detach().numpy()|e = np.mean((p - y.numpy()) ** 2)|l = torch.tensor(e)",
     "p = f(a)|e = torch.mean((p - y) ** 2)|l = e"), ("x = f(a).item(); l = torch.tensor(x)", "")])
def test_the_tensors_themselves_in_place_of_their_numbers(old: str, new: str, tmp_path: Path,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (text.replace("|", "\n") for text in (old, new))
    file = _file(old, tmp_path, monkeypatch)
    found = connected(file, old.count("\n") + 1)
    assert _patched(found, file, old) == f"{new or old}\n" and bool(found) == bool(new)


@pytest.mark.parametrize("old, new", [
    ("o = Adam(ps, 0.01)", "o = Adam(ps, 0.001)"), ("o = Adam(ps, lr=a + b)", "o = Adam(ps, lr=(a + b) * 0.1)"),
    ("s = LambdaLR(o, lambda e: 2 ** e)", "s = LambdaLR(o, lambda e: (2 ** e) * 0.1)"),
    ("s = LambdaLR(o, f)", "s = LambdaLR(o, lambda *at: f(*at) * 0.1)"),
    ("s = ExponentialLR(o, 2.0)", "s = ExponentialLR(o, 0.5)"), ("s = StepLR(o, 3, 4.0)", "s = StepLR(o, 3, 0.25)"),
    ("s = OneCycleLR(o, max_lr=2.0)", "s = OneCycleLR(o, max_lr=0.2)")])
def test_a_lower_rate_stands_where_the_rate_comes_from(old: str, new: str, tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    file = _file(old, tmp_path, monkeypatch)
    assert _patched(slower(0.1, Known(Graph(), rated=Site(file, 1, ""))), file, old) == f"{new}\n"


@pytest.mark.parametrize("old, new", [
    ("w += r * w.grad", "w -= r * w.grad"), ("w.data = w.data + r * (g + d)", "w.data = w.data - r * (g + d)"),
    ("w = w - (m + g)", "w = w + (m + g)"), ("w.copy_(w - r * m)", "w.copy_(w + r * m)"),
    ("w.add_(w.grad, alpha=r)", "w.add_(w.grad, alpha=-r)"), ("w.data.sub_(m * r)", "w.data.add_(m * r)"),
    ("torch._foreach_add_(ws, gs, alpha=r + s)", "torch._foreach_add_(ws, gs, alpha=-(r + s))"), ("f(w)", "")])
def test_a_step_uphill_has_the_other_sign(old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _file(f"o = SGD(ps, lr=-0.1)\n{old}", tmp_path, monkeypatch)
    finding = Finding(90, "uphill", "w", "", "w", "", "", "", Place(file, 2, "", ""))
    assert [*written(finding, Known(Graph())).values()] == [new] * bool(new)
    assert [*written(finding, Known(Graph(), rated=Site(file, 1, ""))).values()] == ["o = SGD(ps, lr=0.1)"]


def test_a_decorator_that_records_nothing_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = "class A:\n    @torch.no_grad()\n    def f(self, x):\n        return g(x)"
    file = _file(old, tmp_path, monkeypatch)
    found = connected(file, 4)
    assert found == {(file, 2): ""} and "no_grad" not in _patched(found, file, old)


@pytest.mark.parametrize("made, old, new", [
    (0, "for p in m.parameters():|    p.requires_grad = False", "for p in m.parameters():|    p.requires_grad = True"),
    (3, "for p in m.parameters():|    p.requires_grad_(False)|o = SGD(m.fc.parameters(), 1)",
     "for p in m.parameters():|    p.requires_grad_(False)|for p in m.fc.parameters(): p.requires_grad_(True)|"
     "o = SGD(m.fc.parameters(), 1)"),
    (3, "for p in m.parameters():|    p.requires_grad_(False)|o = SGD(ps, 1)", "")])
def test_parameters_that_are_all_frozen(made: int, old: str, new: str, tmp_path: Path,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (text.replace("|", "\n") for text in (old, new))
    file = _file(old, tmp_path, monkeypatch)
    found = thawed(Place(file, 2, "", ""), [Place(file, made, "", "")] if made else [])
    assert _patched(found, file, old) == f"{new or old}\n" and bool(found) == bool(new)


@pytest.mark.parametrize("old, new", [
    ("m = S(nn.Softmax(1))|p = m(x)|l = -torch.log(p)[i, y].mean()|a = p.argmax(1) == y",
     "m = S(nn.LogSoftmax(1))|p = m(x)|l = -p[i, y].mean()|a = p.argmax(1) == y"),
    ("def f(x):|  return F.softmax(g(x), 1)|l = -f(x)[i, y].log().mean()",
     "def f(x):|  return F.log_softmax(g(x), 1)|l = -f(x)[i, y].mean()"),
    ("def f(x):|  return F.softmax(g(x), 1)|def h(p, y):|  return -(y * torch.log(p)).sum()|q = f(x)|l = h(q, y)|"
     "a = q.argmax(1)", "def f(x):|  return F.log_softmax(g(x), 1)|def h(p, y):|  return -(y * p).sum()|q = f(x)|"
     "l = h(q, y)|a = q.argmax(1)"),
    ("def f(x):|  return F.softmax(g(x), 1)|def h(p, y):|  return -(y * torch.log(p)).sum()|q = f(x)|l = h(q, y) + q",
     ""),
    ("m = S(nn.Softmax(1))|p = m(x)|l = -torch.log(p)[i, y].mean()|e = (p * q).sum()", ""),
    ("m = S(nn.Softmax(1))|p = m(x)|l = -torch.log(p)[i, y].mean()|show(m(z))", ""),
    ("m = S(nn.Softmax(1), nn.Softmax(1))|p = m(x)|l = -torch.log(p)[i, y].mean()", ""),
    ("m = S(nn.Softmax(1))|p = m(x) + 1|l = -torch.log(p)[i, y].mean()", "")])
def test_a_logarithm_of_what_a_softmax_elsewhere_gave(old: str, new: str, tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (text.replace("|", "\n") for text in (old, new))
    file, lines = _file(old, tmp_path, monkeypatch), old.split("\n")
    found = logarithms_at(file, *(1 + next(i for i, line in enumerate(lines) if word in line) for word in (
        "oftmax", "log")))
    assert _patched(found, file, old) == f"{new or old}\n" and bool(found) == bool(new)


@pytest.mark.parametrize("text, expected", [
    ("for i in n:|  x, y = a[i:i + 2].float(), b[i]", ("a", True)), ("for i in n:|  x = a[:, 1:]", ("x", False)),
    ("d = TensorDataset(a, b)|l = DataLoader(d, 3)|for e in n:|  for i, (x, y) in enumerate(l):|    f(x)",
     ("a", False)), ("x, z = a[:i], a[i:]", ("a", False)),
    ("x = a.float()", ("x", False)), ("for x, y in l:|  f(x)", ("x", False)),
    ("for k in n:|  x = a[k]|for k in n:|  x = b[k]", ("x", False))])
def test_what_batches_are_taken_from(text: str, expected: tuple[str, bool], tmp_path: Path,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    assert source_of_batches(_file(text.replace("|", "\n"), tmp_path, monkeypatch), "x") == expected


def _file(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(folder)
    Path("train.py").write_text(f"{text}\n")
    linecache.checkcache()
    return str(folder / "train.py")


def _patched(found: object, file: str, old: str) -> str:
    return patch_of_lines(found, file).new.decode() if found else f"{old}\n"  # type: ignore[arg-type]
